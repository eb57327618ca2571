/*
 * Declarations shared by the files of procmap.
 */
#ifndef PROCMAP_H
#define PROCMAP_H

#include "common/common.h"

#include <unistd.h>

enum style {			/* output styles, which may be combined */
	STYLE_MAP = 1,		/* -m */
	STYLE_LINUX = 2,	/* -l */
	STYLE_DDB = 4,		/* -d */
	STYLE_SOLARIS = 8,	/* -s */
	STYLE_ALL = 16,		/* -a */
	STYLE_RESIDENT = 32,	/* -x */
	STYLE_RESERVED = 64,	/* -r */
	STYLE_LINES = 31 /* all styles that print a line for each mapping */
};

enum debug {			/* bits of the number that -D takes */
	DEBUG_VMSPACE = 1,
	DEBUG_MAP = 2,
	DEBUG_ENTRY = 8,
	DEBUG_ALL = 31
};

/* page size of this machine in kilobytes, assumed for snapshots as well */
#define PAGE_KB ((uint64_t)sysconf(_SC_PAGESIZE) / KB)

struct slots {			/* numbers of amap slots */
	uint64_t	 mapped;
	uint64_t	 used;
};

struct options {
	unsigned int	 styles; /* bits of enum style */
	uint64_t	 debug;	/* bits of enum debug */
	bool		 amap;
	bool		 verbose;
	bool		 everything;
	bool		 json;
	const char	*picture; /* borrowed; output file of -g, or NULL */
};

/* name.c: format names of mappings for a terminal, as OpenBSD does */
void		 name_make(char *s, size_t size, const struct vma *v);
const char	*name_fit(const char *name, int used);

/* facts.c: express facts about mappings in terms of UVM */
const char	*prot_letters(unsigned int flags, bool known, char s[4]);
const char	*prot_words(unsigned int flags, char s[32]);
char		 max_digit(const struct mapping *m);
bool		 entry_needscopy(const struct space *, size_t);
int		 entry_inherit(const struct space *, size_t);
int		 entry_advice(const struct space *, size_t);
uint64_t	 entry_kb(const struct vma *);
uint64_t	 space_bytes(const struct space *);
void		 debug_vmspace(const struct space *);
void		 debug_map(const struct space *);
void		 debug_entry(const struct space *, size_t);

/* styles.c */
void		 space_print(const struct space *, const struct options *,
		    struct slots *);

/* reserve.c */
void		 resident_print(const struct space *);
void		 reserved_print(const struct space *);

/* figure.c: collect what a picture shows */
struct row {			/* a mapping in a picture */
	uint64_t	 start;
	uint64_t	 end;	/* end address, exclusive */
	char		 perm[5];
	char		*name;	/* owned */
	char		 note[32];
	bool		 same;	/* the mapping did not change between two
				   snapshots */
};

struct figure {			/* a process in a picture */
	uint64_t	 pid;
	char		 name[64];
	struct row	*row;	/* owned; sorted by address */
	size_t		 n;
	struct pagelist	 pages;
	size_t		 nsame;	/* number of unchanged rows */
};

enum { PARTNERS = 8 };		/* maximum number of sharing processes that
				   are drawn in their own colour */

struct partner {
	uint64_t	 pid;
	uint64_t	 kb;
	char		 name[64];
};

struct album {			/* contents of a picture */
	struct figure	*fig;	/* owned */
	size_t		 n;
	struct partner	 partner[PARTNERS];
	size_t		 npartner;
	bool		 compare;
	bool		 everything; /* also draw unchanged mappings and
					processes */
	char		 times[160]; /* times of the two compared snapshots; "":
					unknown */
};

int		 album_live(struct album *, const struct space *, size_t);
int		 album_snap(struct album *, struct snap *,
		    const struct space *, size_t);
void		 album_free(struct album *);
bool		 row_isshown(const struct album *, const struct row *);
size_t		 rows_hidden(const struct album *, const struct figure *,
		    size_t);
void		 row_add(struct figure *, const struct vma *, const char *);
struct figure	*figure_add(struct album *, const struct space *);

/* compare.c */
int		 album_compare(struct album *, struct snap *, struct snap *,
		    const struct space *, size_t);
uint64_t	 pid_before(struct snap *, struct snap *, uint64_t);

/* picture.c */
int		 picture_write(const struct album *, const char *,
		    const char *);

/* strip.c */
enum { CLASSES = PAGES_KINDS + PARTNERS }; /* number of classes of pages, each
					      with its colour */

void		 strip_count(const struct album *, const struct figure *,
		    uint64_t [CLASSES]);
void		 strip_draw(struct buf *, const struct album *,
		    const struct figure *, const struct row *, int, int, int);

/* svg.c */
void		 svg_rect(struct buf *, unsigned int, int, int, int, int);
void		 svg_begin(struct buf *, const char *, int, int);
void		 svg_text(struct buf *, const char *);
void		 svg_end(struct buf *, const char *, int);
void		 svg_size(struct buf *, uint64_t);
extern const char svg_style[];	/* style sheet for pictures */

#endif
