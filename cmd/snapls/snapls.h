/*
 * Declarations shared by the files of snapls.
 */
#ifndef SNAPLS_H
#define SNAPLS_H

#include "common/common.h"

struct listing {
	struct sources *sources; /* borrowed */
	bool	 segments;
	bool	 records;
	bool	 parts;
	bool	 check;
	bool	 damaged; /* the file is damaged; the caller reports that */
	struct tableopts table;
};

/* facts.c: facts about a process, from an untrusted snapshot */
struct facts {
	char		 name[28];
	char		 comm[64]; /* name of the process with all bytes as
				      recorded; "": unknown */
	char		 user[28]; /* user of the process; "-": unknown */
	char		 state[16]; /* state of the process, as its operating
				       system names it */
	size_t		 threads;
	uint64_t	 part;	/* number of the part of the snapshot, from 0 */
	uint64_t	 origin; /* process ID in the original snapshot */
	char		*excluded; /* owned; values left out, one per line, or
				      NULL */
	char		*header; /* owned; first line of the original snapshot,
				    or NULL */
	struct factlist	 list;	/* command line, descriptors, and more */
};

struct range {			/* address range in program text or in memory */
	uint64_t	 first;
	uint64_t	 last;
	char		 perm[5]; /* permissions; "": unknown */
	const char	*name;	/* borrowed; name of the mapping; NULL: no
				   mapping */
};

struct sums {			/* totals of a snapshot */
	struct kbcount	 count;
	struct kbcount	 embedded; /* counts for embedded files only; also
				      included in "count" */
	uint64_t	 mem;	/* size of process memory, in bytes */
	size_t		 processes;
	size_t		 threads;
	size_t		 files;
};

enum {				/* keys of the file "taken" */
	TAKEN_TIME, TAKEN_USER, TAKEN_LOGIN, TAKEN_HOST, TAKEN_KERNEL,
	TAKEN_VERSION, TAKEN_COMMAND, TAKEN_NOTE, TAKEN_KEYS
};

struct taken {
	uint64_t	 part;
	char		*value[TAKEN_KEYS]; /* owned; NULL: missing */
};

typedef void	 (*range_fn)(void *, const struct range *);

void		 facts_get(struct facts *, struct snap *, struct proc *,
		    const struct listing *);
const char	*facts_value(const struct facts *, enum subject);
void		 facts_free(struct facts *);
void		 ranges_each(struct proc *, range_fn, void *);
void		 sums_get(struct sums *, const struct snap *);

/* taken.c: how the snapshot was taken */
void		 part_get(const struct linuxrec *, uint64_t *part);
bool		 taken_get(struct taken *, struct proc *);
void		 taken_free(struct taken *);
const char	*taken_key(size_t);
void		 taken_print(struct taken *, bool all);

/* list.c: the listing */
void		 list_check(const struct listing *);
void		 list_snap(struct snap *, const char *path,
		    const struct listing *);

/* series.c: the moments of a series */
bool		 list_moments(struct snap *, const char *,
		    const struct listing *);

/* parts.c: the parts of a stream */
void		 parts_print(void *, const struct readpart *);

/* place.c: unit, container and pod */
void		 list_place(const struct place *, uint64_t pid);

/* objects.c: members of JSON objects */
void		 object_snap(const struct snap *, const char *path);
void		 object_arguments(const struct proc *);
void		 object_process(const struct facts *);
void		 objects_embedded(const struct snap *, const char *path);

#endif
