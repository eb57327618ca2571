/*
 * Declarations shared by the files of pagestat.
 */
#ifndef PAGESTAT_H
#define PAGESTAT_H

#include "common/common.h"

struct process {
	uint64_t	 pid;
	bool		 named;	/* the process was found only by name, so it is
				   no error if it has ended */
	uint64_t	 began;	/* start time, as proc_began() returns it; 0:
				   any process with this ID is shown */
};

struct processes {		/* processes to show */
	struct process	*v;	/* owned; no duplicates */
	size_t		 n;
};

struct usetable {		/* table of processes, or of their mappings */
	struct frames	*counts; /* owned; reader of /proc/kpagecount; NULL: not
				    readable */
	struct frames	*flags;	/* owned; reader of /proc/kpageflags; NULL: not
				   readable */
	struct tableopts opts;
	struct table	*list;	/* owned */
	bool		 mappings; /* print one line per mapping */
	bool		 touched; /* show the column TOUCHED */
	bool		 hidden; /* PSS cannot be determined */
	struct pageuse	 sum;	/* sum over all processes */
	uint64_t	 sumtouched; /* sum of column TOUCHED, in kilobytes */
	size_t		 n;	/* number of processes shown */
};

/* table.c: lines of processes and mappings */
void		 table_begin(struct usetable *, bool many);
int		 table_add(struct usetable *, const struct space *);
void		 table_end(struct usetable *);

/* flags.c: page flags */
struct table	*flags_begin(const struct tableopts *, bool many);
int		 flags_add(struct table *, const struct tableopts *,
		    const struct space *, struct frames *, bool *);

/* matrix.c: memory that processes share */
struct matrix {
	struct sharing	*sharing; /* owned */
	uint64_t	*pid;	/* owned; process IDs */
	uint64_t	*kb;	/* owned; memory of each process in kilobytes */
	char		(*name)[64];
	size_t		 n;
	bool		 hidden; /* some page frame numbers cannot be read */
};

void		 matrix_add(struct matrix *, const struct space *,
		    const struct pagelist *);
void		 matrix_show(const struct matrix *, const struct tableopts *);

#endif
