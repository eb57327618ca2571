/*
 * What programs have in common: how they begin and end, classes of mappings,
 * tables and JSON, totals, and how far they are.
 */
#ifndef COMMON_H
#define COMMON_H

#include "space.h"
#include "vec.h"

/* amount.c: numbers with units */
bool		 amount_bytes(const char *s, uint64_t *v);
bool		 amount_read(const char *s, const char *units,
		    const uint64_t *scale, uint64_t *v);
const char	*amount_text(char *s, size_t n, uint64_t bytes);

/* class.c: what mappings are for, and how much of them is taken */
enum class {
	CLASS_HEAP, CLASS_STACK, CLASS_ANONYMOUS, CLASS_FILE, CLASS_SHARED,
	CLASS_KERNEL, CLASS_COUNT
};

enum class	 class_of(const struct vma *v);
const char	*class_word(enum class c);
uint64_t	 mapping_takes(const struct space *sp, size_t i);
uint64_t	 space_takes(const struct space *sp);

/* json.c: to standard output */
void		 json_open(const char *key, char bracket);
void		 json_close(char bracket);
void		 json_end(void);
void		 json_text(const char *key, const char *s);
void		 json_number(const char *key, uint64_t v);
void		 json_flag(const char *key, bool v);
void		 json_address(const char *key, uint64_t at, bool end);

/* options.c */
enum { OPT_LONG = 0x100 };	/* letters from here on are not typed */

struct sources;

struct opt {			/* the last of a table has no letter */
	int		 letter;
	const char	*name;	/* the long one, without "--" */
	const char	*arg;	/* the name of its argument, or NULL */
	const char	*text;	/* what it does; NULL: not in --help */
	/* it sets or calls one of these; all NULL: it is ignored */
	bool		*flag;	/* to true */
	char		**word;	/* to its argument */
	const char	**outfile; /* a file to be written */
	double		*seconds; /* more than 0 */
	uint64_t	*number; /* from least, not negative, to most */
	int64_t		 least;
	int64_t		 most;
	struct exclude	**exclude; /* the argument is added; made if NULL */
	void		(*source)(struct sources *, char *arg);
	void		(*call)(int letter, char *arg);
};

struct cmdline {
	const char	*about;	/* what the program does, in a line */
	const char *const *synopsis; /* lines without the program's name, but
				   those that begin with a blank go on; NULL
				   behind the last */
	const struct opt *opts;
	struct sources	*sources; /* borrowed; of its options */
	bool		 ordered; /* the first operand ends the options */
};

uint64_t	 options_number(int letter, const char *s, int64_t least,
		    int64_t most);
char		**options_take(const struct cmdline *u, int argc, char *argv[]);
void		 options_misuse(const struct cmdline *u)
		    __attribute__((noreturn));

/* program.c */
void		*must(void *p);
void		 must_do(int rc);
void		 program_descriptors(void);
void		 program_files(void);
bool		 program_isnumber(const char *s);
int		 program_self(char *path);
char		*program_beside(const char *name);
void		 program_signals(void);
void		 program_warn(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));
void		 program_lose(void *arg, const char *text);
void		 program_nomem(void)
		    __attribute__((noreturn));
bool		 program_lost(void);
void		 program_confine(const struct confined *c, bool verbose);

/* VEC_ROOM, or the program ends as must has it */
#define MUST_ROOM(v, n)							\
	do								\
		if (VEC_ROOM(v, n) == -1)				\
			program_nomem();				\
	while (0)

/* progress.c */
void		 progress_show(struct progress *p, const char *name);
void		 progress_clear(void);
void		 progress_hide(void);

/* source.c: files, and live processes, that a command line names */
struct words {
	char		**v;	/* owned; its strings are borrowed */
	size_t		 n;
};

struct sources {
	struct words	 file;	/* "-" is standard input */
	struct words	 live;	/* numbers and names of live processes */
	struct words	 cgroup; /* live processes of these: -c */
	struct words	 pick;	/* numbers and names: -p */
	bool		*found;	/* owned; as many, or NULL: none was found */
	size_t		 at;	/* so many files come before live processes */
	bool		 kernel; /* 0 is the number of the kernel */
	bool		 user;	/* only live processes of uid: -u */
	uid_t		 uid;
};

/* options for live processes, of the sources of a command line */
#define LIVE_OPTIONS							\
	{ 'c', "cgroup", "group",					\
	    "processes of a unit, container, pod or cgroup",		\
	    .source = sources_cgroup },					\
	{ 'p', "pid", "pid|name", "this process, or those of that name", \
	    .source = sources_pick },					\
	{ 'u', "user", "user",						\
	    "only processes of user; alone: all of them",		\
	    .source = sources_user }

enum sources_kind {		/* operands are */
	SOURCES_LIVE,		/* live processes alone, */
	SOURCES_FILES,		/* or files as well, and what is not there */
	SOURCES_MAPS		/* is a file; or is a process */
};

void		 words_add(struct words *w, char *word);
void		 sources_user(struct sources *s, char *arg);
void		 sources_cgroup(struct sources *s, char *arg);
void		 sources_pick(struct sources *s, char *arg);
void		 sources_file(struct sources *s, char *path);
void		 sources_inside(struct sources *s);
const uid_t	*sources_whose(const struct sources *s);
void		 sources_operands(struct sources *s, char *const operand[],
		    enum sources_kind kind);
void		 sources_input(struct sources *s);
bool		 sources_live(const struct sources *s);
void		 sources_free(struct sources *s);

/* live.c: the live processes among them */
/* found: not named by its number */
typedef int	 (*sources_fn)(void *arg, pid_t pid, bool found);

int		 sources_one(const struct sources *s, const char *word,
		    sources_fn fn, void *arg);
bool		 sources_each(const struct sources *s, sources_fn fn,
		    void *arg);
int		 sources_add(const struct sources *s, struct live *l);
void		 sources_capture(struct sources *s);

/* pick.c: processes of files */
bool		 source_is(const char *word, struct snap *snap,
		    const struct proc *p);
bool		 sources_wants(struct sources *s, struct snap *snap,
		    const struct proc *p);
void		 sources_check(const struct sources *s);
struct snap	*sources_keep(struct sources *s, struct snap *snap);

/* join.c: one snapshot of all that is named */
struct joining {
	struct sources	*from;	/* borrowed, as the others */
	const char	*path;	/* of the snapshot; NULL: standard output */
	char		*exe;	/* the executable of cores; NULL: look for it */
	struct exclude	*exclude; /* secrets that are left out; or NULL */
	bool		 salvage; /* take what is whole of damaged files */
	bool		 compress;
	bool		 verbose; /* print what was written */
};

int		 join_run(const struct joining *j);

/* status.c: of Plan 9, where its words begin */
enum { STATUS_NAME = 0, STATUS_USER = 28, STATUS_STATE = 56 };

void		 status_word(const struct proc *p, size_t at, size_t width,
		    char *word);

/* table.c: lines of columns, for people and as JSON */
enum {				/* bits of struct column */
	RIGHT = 1,		/* as numbers are */
	CUT = 2,		/* a line that is too long is cut here */
	SHOW = 4		/* by default */
};

struct column {
	const char	*name;	/* its heading; NULL: in JSON only */
	const char	*key;	/* in JSON; NULL: for people only */
	unsigned int	 flags;
};

struct tableopts {		/* of the command line; all zero: none */
	char		*list;	/* names of columns, with commas between them;
				   NULL: the default ones; "+...": those and
				   more */
	bool		 bare;	/* no headings */
	bool		 bytes;	/* sizes are exact */
	bool		 json;	/* an object a line */
};

/* options for a struct tableopts */
#define TABLE_OPTIONS(t)						\
	{ 'b', "bytes", NULL, "sizes in bytes", .flag = &(t).bytes },	\
	{ 'J', "json", NULL, NULL, .flag = &(t).json },			\
	{ 'j', "json", NULL, "as JSON, an object a line, for programs",	\
	    .flag = &(t).json },					\
	{ 'n', "noheadings", NULL, "no headings and totals",		\
	    .flag = &(t).bare },					\
	{ 'o', "columns", "list", "these columns; +list: more",		\
	    .word = &(t).list }

struct table;

struct table	*table_new(const struct column *columns, size_t n,
		    const struct tableopts *o, const char *type);
struct table	*table_array(const struct column *columns, size_t n,
		    const struct tableopts *o, const char *key);
void		 table_line(struct table *t);
void		 table_text(struct table *t, size_t i, const char *s);
void		 table_number(struct table *t, size_t i, uint64_t v);
void		 table_bytes(struct table *t, size_t i, uint64_t bytes);
void		 table_range(struct table *t, size_t i, uint64_t first,
		    uint64_t last);
void		 table_print(struct table *t);

/* text.c */
void		 text_locale(void);
void		 text_put(const char *s);
size_t		 utf8_make(char s[4], uint32_t c);

/* totals.c */
bool		 totals_plan9(const struct snap *s, char *text, size_t n);
void		 totals_text(const struct snap *s, const struct output *o,
		    char *text, size_t n);

#endif
