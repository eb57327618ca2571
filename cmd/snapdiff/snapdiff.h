/*
 * What the files of snapdiff share.
 */
#ifndef SNAPDIFF_H
#define SNAPDIFF_H

#include "common/common.h"

struct options {
	bool	 runs;		/* -l: addresses of what changed */
	bool	 bytes;		/* -x: the bytes, too */
	bool	 sums;		/* -s: a line a class in place of a mapping */
	bool	 all;		/* -a: all measures */
	struct tableopts table;
};

/* match.c: which process is which */
struct side {			/* a process at one moment */
	struct snap	*snap;	/* borrowed, as proc */
	struct proc	*proc;	/* NULL: there was none */
	struct identity	 who;	/* part: 0, if parts are moments */
};

struct moment {
	const char	*path;	/* borrowed */
	uint64_t	 part;	/* of the snapshot in path, if several of
				   these are moments */
	bool		 timed;
	uint64_t	 time;	/* as time(2) */
	struct side	*side;	/* owned; by part, number and start */
	size_t		 n;
};

struct moments {
	struct moment	*v;	/* owned; in order */
	size_t		 n;
};

struct couple {			/* a process as it was, and as it is */
	struct side	 was;
	struct side	 is;
};

typedef void	 (*couple_fn)(void *, const struct couple *);

int		 moments_add(struct moments *, struct snap *, const char *,
		    bool parts);
void		 moments_free(struct moments *);
void		 couples_each(const struct moment *, const struct moment *,
		    couple_fn, void *);
const struct side *moment_find(const struct moment *, uint64_t);
const struct side *moment_same(const struct moment *, const struct side *);
int		 couple_pids(const struct moment *, const struct moment *,
		    uint64_t, uint64_t, struct couple *);

/* memory.c: what an address holds at a moment */
enum content {
	CONTENT_NOTHING,	/* zeros, or never touched */
	CONTENT_FILE,		/* a page of a file, not modified */
	CONTENT_BYTES,		/* of the process */
	CONTENT_LOST		/* not captured */
};

struct memory {
	const struct side *side; /* borrowed */
	struct image	*im;	/* borrowed; NULL: none */
	struct vmas	 vma;	/* owned */
	struct pagelist	 page;	/* owned */
	struct pagelist	 own;	/* owned; private pages of the process */
	bool		 owntold;
	char		 exe[4096]; /* the name of its executable */
};

struct here {			/* what is at an address */
	enum content	 content;
	bool		 data;	/* the image has its bytes */
	uint64_t	 end;	/* as far as this it is alike */
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
struct kbchange {		/* kilobytes */
	uint64_t	 changed;
	uint64_t	 added;	/* that held nothing before */
	uint64_t	 removed; /* that hold nothing now */
	uint64_t	 unknown; /* that one of both does not tell */
};

struct row {			/* a mapping */
	enum how	 how;
	struct vma	 was;	/* borrows its name; end 0: it was not there */
	struct vma	 is;	/* likewise */
	struct kbchange	 kb;
	struct pagelist	 run;	/* owned; if they are wanted */
};

struct rows {
	struct row	*v;	/* owned; ascending */
	size_t		 n;
};

void		 rows_get(struct rows *, const struct memory *,
		    const struct memory *, bool runs);
bool		 row_differs(const struct row *);
void		 kbchange_add(struct kbchange *, const struct kbchange *);
const struct vma *row_vma(const struct row *);
void		 rows_free(struct rows *);

/* heap.c: chunks of glibc's malloc; heapclass.c: by their size */
enum { HEAP_CLASSES = 4096 + 48 };

struct heapclass {		/* chunks */
	uint64_t	 used;
	uint64_t	 free;
};

struct heap {			/* of all arenas; chunks, and bytes */
	size_t		 arenas;
	uint64_t	 chunks;
	uint64_t	 system; /* from the kernel */
	uint64_t	 used;
	uint64_t	 free;	/* but for the tops */
	uint64_t	 cached; /* of these, by threads */
	uint64_t	 top;	/* the rest of each arena */
	struct heapclass class[HEAP_CLASSES];
};

void		 heap_get(struct heap *, const struct memory *);
uint64_t	 heapclass_size(size_t);

/* what is known of how a process changed */
struct result {
	const struct couple *couple; /* borrowed, as all here */
	const struct changes *changes;
	const struct rows *rows;
	const struct memory *was;
	const struct memory *is;
	bool		 differs;
};

/* measure.c: numbers of a process at a moment; grow.c: those that only grow */
enum unit {
	UNIT_COUNT,
	UNIT_BYTES
};

struct measure {
	unsigned int	 order;
	uint64_t	 rank;	/* among those of one order */
	char		*text;	/* owned; what is measured */
	enum unit	 unit;
	uint64_t	 value;
};

struct measures {
	struct measure	*v;	/* owned; by order, rank and text */
	size_t		 n;
};

struct series {			/* a measure at all moments */
	const struct measure *what; /* borrowed */
	uint64_t	*value;	/* owned; as many as there are moments */
};

struct growth {
	const struct side *side; /* borrowed; at the last moment */
	size_t		 moments;
	struct series	*v;	/* owned */
	size_t		 n;
	bool		 grew;	/* any of them */
};

int		 measures_get(struct measures *, const struct memory *,
		    const struct vmas *last);
uint64_t	 measure_value(const struct measures *,
		    const struct measure *);
bool		 measure_isready(const struct measure *);
void		 measures_free(struct measures *);
int		 growth_each(const struct moments *, uint64_t pid, bool all,
		    void (*fn)(void *, const struct growth *), void *);

/* print.c: for people; bytes.c: what changed */
void		 print_result(const struct result *, const struct options *);
void		 print_moments(const struct moments *);
void		 print_growth(const struct growth *, bool bytes);
void		 print_bytes(const struct result *, const struct row *);

/* table.c */
const char	*how_text(enum how, bool json);
void		 mappings_print(const struct result *,
		    const struct options *);
void		 classes_print(const struct result *, const struct options *);

/* objects.c: for programs */
void		 objects_head(const struct moment *, const struct moment *);
void		 objects_moments(const struct moments *);
void		 objects_growth(const struct growth *);
void		 objects_result(const struct result *,
		    const struct options *);

#endif
