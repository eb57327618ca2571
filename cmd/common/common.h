/*
 * Code that the programs share: command lines, messages, classes of mappings,
 * tables, JSON, totals, and progress reports.
 */
#ifndef COMMON_H
#define COMMON_H

#include "space.h"
#include "vec.h"

/* amount.c: parse and print numbers with units */
bool		 amount_bytes(const char *s, uint64_t *v);
bool		 amount_read(const char *s, const char *units,
		    const uint64_t *scale, uint64_t *v);
const char	*amount_text(char *s, size_t n, uint64_t bytes);

/* class.c: what a mapping is used for, and how much memory it occupies */
enum class {
	CLASS_HEAP, CLASS_STACK, CLASS_ANONYMOUS, CLASS_FILE, CLASS_SHARED,
	CLASS_KERNEL, CLASS_COUNT
};

enum class	 class_of(const struct vma *v);
const char	*class_word(enum class c);
uint64_t	 space_takes(const struct space *sp, bool dontdump);

/* json.c: JSON on standard output */
void		 json_open(const char *key, char bracket);
void		 json_close(char bracket);
void		 json_begin(const char *type);
void		 json_end(void);
void		 json_text(const char *key, const char *s);
void		 json_number(const char *key, uint64_t v);
void		 json_flag(const char *key, bool v);
void		 json_address(const char *key, uint64_t addr, bool end);

/* options.c */
enum { OPT_LONG = 0x100 };	/* first value for options with no short name */

struct sources;

struct opt {			/* a command-line option; in the last element of
				   a table, "letter" is 0 */
	int		 letter;
	const char	*name;	/* long name of the option, without "--" */
	const char	*arg;	/* name of the option's argument, for --help;
				   NULL: none */
	const char	*text;	/* description of the option in --help; NULL:
				   not listed */
	/* set one of the members below; an option without any is ignored */
	bool		*flag;	/* set to true if the option is given */
	char		**word;	/* set to the option's argument */
	const char	**outfile; /* set to the option's argument, the name of
				      an output file */
	double		*seconds; /* set to the option's argument, a number
				     greater than 0 */
	uint64_t	*number; /* set to the option's argument, a number from
				    "least" (>= 0) to "most" */
	int64_t		 least;
	int64_t		 most;
	struct exclude	**exclude; /* the option's argument is added to
				      *exclude, which is allocated if NULL */
	void		(*source)(struct sources *, char *arg);
	void		(*call)(int letter, char *arg);
};

struct cmdline {
	const char	*about;	/* what the program does, in one line */
	/* usage lines, NULL-terminated; getprogname() is put before each,
	   except before lines that begin with a blank */
	const char *const *synopsis;
	const struct opt *opts;
	struct sources	*sources; /* borrowed; filled in by options that have a
				     "source" function */
	bool		 ordered; /* the first operand ends the options */
};

uint64_t	 options_number(int letter, const char *s, int64_t min,
		    int64_t max);
char		**options_take(const struct cmdline *u, int argc, char *argv[]);
void		 options_misuse(const struct cmdline *u)
		    __attribute__((noreturn));

/* program.c */
void		*must(void *p);
void		 must_do(int rc);
void		 program_descriptors(void);
uint64_t	 program_memory(uint64_t bytes);
void		 program_files(void);
bool		 program_isnumber(const char *s);
int		 program_self(char *path);
char		*program_beside(const char *name);
char		*program_snap(void);
void		 program_catch(void (*fn)(int), int flags);
void		 program_signals(void);
void		 program_warn(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));
void		 program_say(void *arg, const char *text);
void		 program_lose(void *arg, const char *text);
void		 program_nomem(void)
		    __attribute__((noreturn));
bool		 program_lost(void);
int		 program_read(struct image *im, uint64_t addr, void *buf,
		    size_t len);
void		 program_confine(const struct confined *c, bool verbose);

/*
 * Make room for one more element as VEC_ROOM does; out of memory ends the
 * program
 */
#define MUST_ROOM(v, n)							\
	do								\
		if (VEC_ROOM(v, n) == -1)				\
			program_nomem();				\
	while (0)

/* progress.c */
void		 progress_show(struct progress *p);
void		 progress_say(const char *text);
void		 progress_clear(void);
void		 progress_hide(void);

/* source.c: files and live processes named on the command line */
struct words {
	char		**v;	/* owned array of borrowed strings */
	size_t		 n;
};

struct sources {
	struct words	 file;	/* input files; "-" is standard input */
	struct words	 live;	/* process IDs and names of live processes */
	struct words	 cgroup; /* -c: cgroups whose live processes are
				    selected */
	struct words	 pick;	/* -p: IDs and names of processes to select */
	char		*moment; /* -@: moment of a series; NULL: the last */
	bool		*found;	/* owned; whether each word of "pick" matched a
				   process; NULL until a process is checked */
	size_t		 at;	/* number of files named before the first
				   live process */
	bool		 absent; /* ignore live processes that do not exist */
	bool		 kernel; /* accept process ID 0, which stands for the
				    kernel */
	bool		 user;	/* -u: select only live processes of user
				   "uid" */
	uid_t		 uid;
};

/* options that select live processes; .source is applied to cmdline.sources */
#define LIVE_OPTIONS							\
	{ 'c', "cgroup", "group",					\
	    "processes of a unit, container, pod or cgroup",		\
	    .source = sources_cgroup },					\
	{ 'p', "pid", "pid|name",					\
	    "process with this ID, or all of this name",		\
	    .source = sources_pick },					\
	{ 'u', "user", "user",						\
	    "only this user's processes; alone: all of them",		\
	    .source = sources_user }

/* the option that chooses a moment of a series */
#define MOMENT_OPTION(s)						\
	{ '@', "moment", "moment",					\
	    "moment of a series: number, time, or last (default)",	\
	    .word = &(s).moment }

/* members of struct readopts that read the chosen moment */
#define MOMENT_OF(s)	.moment = (s).moment, .note = program_say

enum sources_kind {		/* how to interpret an operand */
	SOURCES_LIVE,		/* an operand names a live process */
	SOURCES_FILES,		/* an operand names a live process if no such
				   file exists and it is a number or a process
				   name; otherwise, it names a file */
	SOURCES_MAPS		/* an operand names a live process if no such
				   file exists and it has no slash; otherwise,
				   it names a file */
};

void		 words_add(struct words *w, char *word);
void		 sources_user(struct sources *s, char *arg);
void		 sources_cgroup(struct sources *s, char *arg);
void		 sources_pick(struct sources *s, char *arg);
void		 sources_file(struct sources *s, char *path);
void		 sources_inside(struct sources *s);
const uid_t	*sources_uid(const struct sources *s);
void		 sources_operands(struct sources *s, char *const operand[],
		    enum sources_kind kind);
void		 sources_input(struct sources *s);
bool		 sources_live(const struct sources *s);
bool		 sources_now(const struct sources *s);

/* live.c: find the live processes of struct sources */
/*
 * Called with each process; found is false if the user named it by its process
 * ID
 */
typedef int	 (*sources_fn)(void *arg, pid_t pid, bool found);

bool		 sources_each(const struct sources *s, sources_fn fn,
		    void *arg);
int		 sources_add(const struct sources *s, struct live *l);
void		 sources_capture(struct sources *s);

/* pick.c: select processes of snapshots */
bool		 source_is(const char *word, struct snap *snap,
		    const struct proc *p);
bool		 sources_wants(struct sources *s, struct snap *snap,
		    const struct proc *p);
void		 sources_check(const struct sources *s);
struct snap	*sources_keep(struct sources *s, struct snap *snap);

/* join.c: write one snapshot of all inputs */
struct joining {
	struct sources	*from;	/* borrowed; input files, and processes selected
				   by -p */
	const char	*path;	/* borrowed; output file; NULL: standard
				   output */
	char		*exe;	/* borrowed; executable the cores came from;
				   NULL: search for it */
	struct exclude	*exclude; /* borrowed; secrets to leave out, or NULL */
	bool		 salvage; /* read the intact parts of damaged files */
	bool		 compress;
	bool		 verbose; /* print totals at the end */
};

int		 join_run(const struct joining *j);

/* status.c: start columns of words in Plan 9's status file */
enum { STATUS_NAME = 0, STATUS_USER = 28, STATUS_STATE = 56 };

void		 status_word(const struct proc *p, size_t col, size_t width,
		    char *word);

/* table.c: tables for people, or JSON */
enum {				/* flags of struct column */
	RIGHT = 1,		/* right-aligned */
	CUT = 2,		/* truncated if the line is too long */
	SHOW = 4		/* shown by default */
};

struct column {
	const char	*name;	/* heading of the column; NULL: only in JSON */
	const char	*key;	/* key in JSON; NULL: not in JSON */
	unsigned int	 flags;
};

struct tableopts {		/* options for tables; all zero: the defaults */
	char		*list;	/* column names separated by commas; "+..."
				   adds to the default columns; NULL: the
				   default columns */
	const char	*option; /* option that sets "list"; NULL: -o */
	bool		 bare;	/* print no headings */
	bool		 bytes;	/* print exact sizes, in bytes */
	bool		 json;	/* print JSON, one object per line */
};

/* options that fill in t, a struct tableopts */
#define TABLE_OPTIONS(t)						\
	{ 'b', "bytes", NULL, "print sizes in bytes",			\
	    .flag = &(t).bytes },					\
	{ 'J', "json", NULL, NULL, .flag = &(t).json },			\
	{ 'j', "json", NULL, "print JSON, one object per line",		\
	    .flag = &(t).json },					\
	{ 'n', "noheadings", NULL, "omit headings and totals",		\
	    .flag = &(t).bare },					\
	{ 'o', "columns", "list",					\
	    "print these columns (+list: add these)",			\
	    .word = &(t).list }

struct table;

struct table	*table_new(const struct column *columns, size_t n,
		    const struct tableopts *o, const char *type);
void		 table_check(const struct column *columns, size_t n,
		    const struct tableopts *o);
struct table	*table_array(const struct column *columns, size_t n,
		    const struct tableopts *o, const char *key);
bool		 table_shows(const struct table *t, size_t i);
void		 table_line(struct table *t);
void		 table_text(struct table *t, size_t i, const char *s);
void		 table_number(struct table *t, size_t i, uint64_t v);
void		 table_bytes(struct table *t, size_t i, uint64_t bytes);
void		 table_range(struct table *t, size_t i, uint64_t first,
		    uint64_t last);
void		 table_print(struct table *t);

/* text.c */
const char	*path_base(const char *path);
int		 terminal_width(void);
void		 text_put(const char *s);
int		 text_width(const char *s);
size_t		 utf8_make(char s[4], uint32_t c);

/* totals.c */
bool		 totals_plan9(const struct snap *s, char *text, size_t n);
void		 totals_text(const struct snap *s, const struct output *o,
		    char *text, size_t n);

#endif
