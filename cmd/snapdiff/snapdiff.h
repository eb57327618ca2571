/*
 * Declarations shared by the files of snapdiff.
 */
#ifndef SNAPDIFF_H
#define SNAPDIFF_H

#include "common/common.h"

struct options {
	bool	 runs;		/* -l: print changed address ranges */
	bool	 bytes;		/* -x: also print the changed bytes */
	bool	 sums;		/* -s: print one line per class of mappings */
	bool	 all;		/* -a: print all measures */
	struct tableopts table;
};

/* match.c: find the same process in several snapshots */
struct side {			/* a process at one moment */
	struct snap	*snap;	/* borrowed */
	struct proc	*proc;	/* borrowed; NULL: no such process */
	struct identity	 id;	/* id.part is 0 if parts of a snapshot are
				   compared */
};

struct moment {
	const char	*path;	/* borrowed; path of the snapshot */
	uint64_t	 part;	/* number of the part if parts of a snapshot
				   are compared; else 0 */
	bool		 timed;
	uint64_t	 time;	/* seconds since the Epoch */
	struct side	*side;	/* owned; sorted by part, process ID and
				   start time */
	size_t		 n;
};

struct moments {
	struct moment	*v;	/* owned; in the order of the command line */
	size_t		 n;
};

struct couple {			/* a process at two moments */
	struct side	 was;
	struct side	 is;
};

typedef void	 (*couple_fn)(void *, const struct couple *);

int		 moments_add(struct moments *, struct snap *, const char *,
		    bool parts);
void		 couples_each(const struct moment *, const struct moment *,
		    couple_fn, void *);
const struct side *moment_find(const struct moment *, uint64_t);
const struct side *moment_same(const struct moment *, const struct side *);
int		 couple_pids(const struct moment *, const struct moment *,
		    uint64_t, uint64_t, struct couple *);

/* memory.c: what an address holds at a moment */
enum content {
	CONTENT_NOTHING,	/* zeros, or memory that was never touched */
	CONTENT_FILE,		/* unmodified page of a file */
	CONTENT_BYTES,		/* the process's own bytes */
	CONTENT_LOST		/* memory that was not captured */
};

struct memory {
	const struct side *side; /* borrowed */
	struct image	*im;	/* borrowed; NULL: none */
	struct vmas	 vma;	/* owned */
	struct pagelist	 page;	/* owned */
	struct pagelist	 own;	/* owned; private pages of the process */
	bool		 own_known;
	char		 exe[4096]; /* path of the executable */
};

struct here {			/* what is at an address */
	enum content	 content;
	bool		 data;	/* the image contains the bytes at this
				   address */
	uint64_t	 end; /* end of the address range for which this
				 holds */
	const struct pagespan *span; /* borrowed; NULL: none */
};

int		 memory_open(struct memory *, const struct side *);
void		 memory_close(struct memory *);
void		 memory_at(const struct memory *, const struct vma *,
		    uint64_t, struct here *);
bool		 memory_file(const struct memory *, const struct vma *,
		    uint64_t, struct here *);
int		 memory_read(const struct memory *, const struct vma *,
		    uint64_t, uint8_t *, size_t);
bool		 memory_stored(const struct memory *, const struct here *,
		    const struct memory *, const struct here *, uint64_t);

/* rows.c: mappings, and how many kilobytes of each changed */
struct kbchange {		/* numbers of kilobytes, by kind of change */
	uint64_t	 changed;
	uint64_t	 added;	/* kilobytes that held nothing before */
	uint64_t	 removed; /* kilobytes that hold nothing now */
	uint64_t	 unknown; /* kilobytes not captured at one of the
				     moments */
};

struct row {			/* how a mapping changed */
	enum change_kind	 how;
	struct vma	 was;	/* old mapping, with a borrowed name; end is 0
				   if there is none */
	struct vma	 is;	/* new mapping, with a borrowed name; end is 0
				   if there is none */
	struct kbchange	 kb;
	struct pagelist	 run;	/* owned; changed ranges, if they are to be
				   printed */
};

struct rows {
	struct row	*v;	/* owned; in ascending order of addresses */
	size_t		 n;
};

void		 rows_get(struct rows *, const struct memory *,
		    const struct memory *, bool runs);
bool		 row_differs(const struct row *);
void		 kbchange_add(struct kbchange *, const struct kbchange *);
const struct vma *row_vma(const struct row *);
void		 rows_free(struct rows *);

/* heap.c: chunks of glibc's malloc; heapclass.c: classes of chunk sizes */
enum { HEAP_CLASSES = 4096 + 48 };

struct heapclass {		/* numbers of chunks of one class of sizes */
	uint64_t	 used;
	uint64_t	 free;
};

struct heap { /* sums over all arenas, in bytes unless otherwise noted */
	size_t		 arenas;
	uint64_t	 system; /* memory obtained from the kernel */
	uint64_t	 used;
	uint64_t	 free;	/* free chunks, except the top chunk of each
				   arena */
	uint64_t	 cached; /* chunks in thread caches; also counted in
				    "free" */
	uint64_t	 top;	/* top chunks of the arenas */
	struct heapclass class[HEAP_CLASSES];
};

void		 heap_get(struct heap *, const struct memory *);
uint64_t	 heapclass_size(size_t);

/* how a process changed */
struct result {
	const struct couple *couple; /* borrowed, as are the pointers below */
	const struct changes *changes;
	const struct rows *rows;
	const struct memory *was;
	const struct memory *is;
	bool		 differs;
};

/* measure.c: measure a process at a moment; grow.c: find what only grows */
enum unit {
	UNIT_COUNT,
	UNIT_BYTES
};

struct measure {
	unsigned int	 order;
	uint64_t	 rank;	/* sort key among measures of the same order */
	char		*text;	/* owned; name of the measure */
	enum unit	 unit;
	uint64_t	 value;
};

struct measures {
	struct measure	*v;	/* owned; sorted by order, rank and text */
	size_t		 n;
};

struct series {			/* a measure at all moments */
	const struct measure *what; /* borrowed */
	uint64_t	*value;	/* owned; one value for each moment */
};

struct growth {
	const struct side *side; /* borrowed; the process in the last
				    snapshot */
	size_t		 moments;
	struct series	*v;	/* owned */
	size_t		 n;
	bool		 grew;	/* at least one measure grew */
};

int		 measures_get(struct measures *, const struct memory *,
		    const struct vmas *last);
uint64_t	 measure_value(const struct measures *,
		    const struct measure *);
bool		 measure_isknown(const struct measures *,
		    const struct measure *);
bool		 measure_isready(const struct measure *);
void		 measures_free(struct measures *);
int		 growth_each(const struct moments *, uint64_t pid, bool all,
		    void (*fn)(void *, const struct growth *), void *);

/* print.c: print for people; bytes.c: print changed bytes */
void		 print_result(const struct result *, const struct options *);
void		 print_moments(const struct moments *);
void		 print_growth(const struct growth *, bool bytes);
void		 print_bytes(const struct result *, const struct row *);

/* table.c: tables of mappings */
const char	*how_text(enum change_kind, bool json);
void		 columns_check(const struct options *);
void		 mappings_print(const struct result *,
		    const struct options *);
void		 classes_print(const struct result *, const struct options *);

/* objects.c: print JSON */
void		 objects_head(const struct moment *, const struct moment *);
void		 objects_moments(const struct moments *);
void		 objects_growth(const struct growth *);
void		 objects_result(const struct result *,
		    const struct options *);

#endif
