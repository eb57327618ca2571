/*
 * What the files of snapls share.
 */
#ifndef SNAPLS_H
#define SNAPLS_H

#include "common/common.h"

struct listing {
	bool	 segments;
	bool	 records;
	bool	 check;
	bool	 json;
};

/* facts.c: what is told of a process, of a stranger's snapshot */
struct facts {
	char		 name[28];
	char		 comm[64]; /* the name with any bytes; "": not told */
	char		 user[28]; /* "-": not told */
	char		 state[16]; /* in the words of its machine */
	size_t		 threads;
};

struct range {			/* of text or memory */
	uint64_t	 first;
	uint64_t	 last;
	char		 perm[5]; /* "": not told */
	const char	*name;	/* borrowed; NULL: a gap */
};

struct sums {			/* of all that a snapshot has */
	struct kbcount	 count;
	uint64_t	 mem;	/* bytes of processes */
	size_t		 processes;
	size_t		 threads;
	size_t		 files;
};

typedef void	 (*range_fn)(void *, const struct range *);

void		 facts_get(struct facts *, struct snap *, const struct proc *);
void		 ranges_each(struct proc *, range_fn, void *);
void		 sums_get(struct sums *, const struct snap *);

/* list.c: for people */
void		 list_snap(struct snap *, const struct listing *);

/* place.c */
void		 list_place(const struct proc *);

/* json.c */
void		 json_open(const char *key, char bracket);
void		 json_close(char bracket);
void		 json_end(void);
void		 json_text(const char *key, const char *s);
void		 json_number(const char *key, uint64_t v);
void		 json_address(const char *key, uint64_t last, bool end);

/* objects.c: for programs */
void		 objects_snap(struct snap *, const char *path);

#endif
