/*
 * What the files of pagestat share.
 */
#ifndef PAGESTAT_H
#define PAGESTAT_H

#include "common/common.h"

struct process {
	uint64_t	 pid;
	bool		 named;	/* by its name alone: it may end meanwhile */
};

struct processes {		/* those to be looked at */
	struct process	*v;	/* owned; none twice */
	size_t		 n;
};

struct usetable {		/* of processes, or of their mappings */
	struct frames	*counts; /* owned; NULL: not told */
	struct frames	*flags;	/* likewise */
	struct tableopts opts;
	struct table	*list;	/* owned */
	bool		 mappings; /* a line for each */
	bool		 touched; /* that column, too */
	bool		 hidden; /* how much is shared out is not known */
	struct pageuse	 sum;	/* of all processes */
	uint64_t	 sumtouched; /* KB */
	size_t		 n;	/* processes that were shown */
};

/* table.c */
void		 table_begin(struct usetable *, bool many);
int		 table_add(struct usetable *, const struct space *);
void		 table_end(struct usetable *);

/* flags.c */
struct table	*flags_begin(const struct tableopts *, bool many);
int		 flags_add(struct table *, const struct tableopts *,
		    const struct space *, struct frames *, bool *);

/* matrix.c */
struct matrix {
	struct sharing	*sharing; /* owned */
	uint64_t	*pid;	/* owned, as all here; of those that could be
				   looked at */
	uint64_t	*kb;	/* what each has in memory */
	char		(*name)[64];
	size_t		 n;
	bool		 hidden; /* there are frames that are not told */
};

void		 matrix_add(struct matrix *, const struct space *,
		    const struct pagelist *);
void		 matrix_show(const struct matrix *, const struct tableopts *);
void		 matrix_free(struct matrix *);

#endif
