/*
 * What the files of snapls share.
 */
#ifndef SNAPLS_H
#define SNAPLS_H

#include "common/common.h"

struct listing {
	struct sources *sources; /* borrowed */
	bool	 segments;
	bool	 records;
	bool	 check;
	bool	 damaged; /* the file is, which is reported after the list */
	struct tableopts table;
};

/* facts.c: what is told of a process, of a stranger's snapshot */
struct facts {
	char		 name[28];
	char		 comm[64]; /* the name with any bytes; "": not told */
	char		 user[28]; /* "-": not told */
	char		 state[16]; /* in the words of its machine */
	size_t		 threads;
	uint64_t	 part;	/* of the snapshot: 0 is the first */
	uint64_t	 origin; /* its number there, if it is another; */
	char		*excluded; /* owned; lines on what was left out of it,
				   or NULL */
	char		*header; /* owned; the first line there, or NULL */
	struct factlist	 list;	/* its command line, descriptors, and more */
};

struct range {			/* of text or memory */
	uint64_t	 first;
	uint64_t	 last;
	char		 perm[5]; /* "": not told */
	const char	*name;	/* borrowed; NULL: a gap */
};

struct sums {			/* of all that a snapshot has */
	struct kbcount	 count;
	struct kbcount	 carried; /* of it, that of files */
	uint64_t	 mem;	/* bytes of processes */
	size_t		 processes;
	size_t		 threads;
	size_t		 files;
};

enum {				/* what is told of the taking */
	TAKEN_TIME, TAKEN_USER, TAKEN_LOGIN, TAKEN_HOST, TAKEN_KERNEL,
	TAKEN_VERSION, TAKEN_COMMAND, TAKEN_NOTE, TAKEN_KEYS
};

struct taken {
	uint64_t	 part;
	char		*value[TAKEN_KEYS]; /* owned; NULL: not told */
};

typedef void	 (*range_fn)(void *, const struct range *);

void		 facts_get(struct facts *, struct snap *, struct proc *,
		    const struct listing *);
const char	*facts_value(const struct facts *, enum subject);
void		 facts_free(struct facts *);
void		 ranges_each(struct proc *, range_fn, void *);
void		 sums_get(struct sums *, const struct snap *);

/* taken.c */
void		 part_get(const struct linuxrec *, uint64_t *part);
bool		 taken_get(struct taken *, struct proc *);
void		 taken_free(struct taken *);
const char	*taken_key(size_t);
void		 taken_print(struct taken *, bool all);

/* list.c */
void		 list_snap(struct snap *, const char *path,
		    const struct listing *);

/* place.c */
void		 list_place(const struct place *, uint64_t pid);

/* objects.c: JSON */
void		 object_snap(const struct snap *, const char *path);
void		 object_process(const struct proc *, const struct facts *);
void		 objects_carried(const struct snap *, const char *path);

#endif
