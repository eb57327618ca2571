/*
 * A connection with a 9P2000 client: ninep.c receives requests, answer.c
 * answers them, and message.c has the form of messages.
 */
#ifndef NINEP_H
#define NINEP_H

#include "snapfs.h"

#include "rbtree.h"

enum {
	HEADER = 4 + 1 + 2,	/* bytes of the size, type and tag of a
				   message */
	READ_HEADER = HEADER + 4,
	MSIZE_MIN = 1024,	/* holds any answer but that to Tread */
	MSIZE_MAX = 128 * 1024 + 24,
	WALK_MAX = 16		/* maximum number of names in a Twalk */
};

struct fid {			/* a file, by a number of the client's choice */
	RB_ENTRY(fid)	 entry;
	uint64_t	 id;
	uint64_t	 ino;
	char		 name[NAME_MAX + 1];
	bool		 open;
	bool		 dir;	/* an open directory */
	/* the next read of a directory: */
	uint64_t	 at;	/* its offset */
	uint64_t	 pos;	/* position of its first entry in the tree */
};

RB_HEAD(fids, fid);

struct str {
	const uint8_t	*s;	/* borrowed; len bytes */
	size_t		 len;
};

struct client {
	struct served	*sv;	/* borrowed */
	int		 fd;	/* borrowed */
	struct fids	 fids;	/* owned */
	size_t		 nfid;
	size_t		 msize;	/* maximum size of a message; 0: the client
				   has not sent Tversion yet */
	/* the request: */
	uint64_t	 num[4];
	struct str	 str[WALK_MAX];
	size_t		 nstr;
	uint8_t		 in[MSIZE_MAX];
	/* the answer, and room for a directory entry that does not fit: */
	size_t		 n;
	uint8_t		 out[MSIZE_MAX + MSIZE_MIN];
};

/*
 * message.c
 */
void		 msg_put(struct client *, uint64_t, size_t);
void		 msg_putat(struct client *, size_t, uint64_t, size_t);
void		 msg_putstring(struct client *, const char *);
void		 msg_putqid(struct client *, uint64_t, bool);
bool		 msg_parse(struct client *, const char *, size_t);

/*
 * answer.c
 */
void		 fids_free(struct client *);
int		 answer_version(struct client *);
int		 answer_attach(struct client *);
int		 answer_walk(struct client *);
int		 answer_open(struct client *);
int		 answer_read(struct client *);
int		 answer_clunk(struct client *);
int		 answer_remove(struct client *);
int		 answer_stat(struct client *);

#endif
