/*
 * Snapshots of processes: the header of libsnap, in the order in which a
 * newcomer wants to read it.  libsnap(3) tells what each function does; each
 * group names the files that have it, below lib or fmt.  More is in task.h,
 * space.h and trace.h.
 *
 * A snapshot is a set of processes as they stood at one instant.  Readers
 * make a struct snap of live processes, of a snap(6) stream, of other
 * formats; writers turn it into any of them.
 */
#ifndef SNAP_H
#define SNAP_H

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/tree.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "task.h"

#define SNAP_VERSION "0.1"

/*
 * The unit of a snapshot: snap(6) describes memory in pages of 1024 bytes.
 * To tell them from the pages of the machine, names say kb.
 */
enum { KB = 1024 };

/*
 * Error strings: errstr.c
 */
const char	*snap_errstr(void);
int		 errstr_set(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));
int		 errstr_sys(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));
int		 errstr_wrap(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));

/*
 * Bytes that grow: buf.c.  A failed allocation is remembered, so that a
 * row of calls needs one look at the end.
 */
struct buf {
	uint8_t	*data;		/* owned, until someone takes it over */
	size_t	 len;
	size_t	 cap;
	bool	 failed;
};

void		 buf_add(struct buf *b, const void *data, size_t n);
void		 buf_puts(struct buf *b, const char *s);
void		 buf_printf(struct buf *b, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
int		 buf_check(const struct buf *b);
void		 buf_free(struct buf *b);
void		 shell_word(struct buf *b, const char *s);

/*
 * Text that goes to people: text.c
 */
size_t		 text_utf8(const char *s, uint32_t *c);
int		 text_columns(const char **s);
bool		 text_iscontrol(uint32_t c);
char		*text_harmless(char *s);
void		 text_bytes(char *s, size_t n, uint64_t bytes);
void		 text_time(char *s, size_t n, uint64_t us);

/*
 * The model, images: image.c, imageread.c, view.c
 */
struct piece {			/* what is visible of a segment */
	RB_ENTRY(piece)	 entry;
	uint64_t	 first;	/* address of the first byte */
	uint64_t	 last;	/* and of the last one */
	struct segment	*seg;	/* borrowed from the image */
};

struct missing {		/* mapped and present, but not captured */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	char		 reason[24];
};

enum image_kind { IMAGE_TEXT, IMAGE_MEM };

RB_HEAD(view, piece);

struct image {			/* a sparse file: text or memory */
	struct proc	*proc;	/* whose it is, borrowed */
	enum image_kind	 kind;
	struct segment **seg;	/* owned; in the order they came */
	size_t		 nseg;
	struct view	 view;	/* owned; by address, where they overlap the
				   one in front */
	struct view	 taken;	/* owned; addresses of the present section */
	uint64_t	 section; /* those begun */
	bool		 overlaps; /* some segments do */
	struct missing	*missing; /* owned; ascending */
	size_t		 nmissing;
};

uint64_t	 image_bytes(const struct image *im);
struct piece	*image_first(struct image *im);
struct piece	*piece_next(struct piece *p);
int		 image_read(struct image *im, uint64_t addr, void *buf,
		    size_t len);

/*
 * The model, processes: snap.c, carried.c, record/maps.c
 */
struct file {			/* a small file of a process */
	char		*name;	/* owned */
	uint8_t		*data;	/* owned; never NULL in a process */
	size_t		 len;
};

struct kbcount {		/* kilobytes as a stream describes them */
	uint64_t	 raw;
	uint64_t	 zero;
	uint64_t	 same;	/* references */
};

struct carried {		/* a file that was mapped, as maps names it */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned */
};

struct proc {			/* a process or a thread */
	RB_ENTRY(proc)	 entry;	/* by pid */
	uint64_t	 pid;
	uint64_t	 leader; /* of a thread: its process; else 0 */
	struct carried	*carried; /* owned; no process, but a file whose bytes
				   are text, or shared memory: mem; NULL: a
				   process */
	struct file	*file;	/* owned; in the order they came */
	size_t		 nfile;
	struct taskstate *state; /* owned; what they tell, or NULL: not asked
				   for; state/state.h */
	struct linuxrec	*record; /* owned; proc_record; NULL: not asked for */
	struct image	*text;	/* owned; NULL: none */
	struct image	*mem;	/* owned; NULL: none */
	struct kbcount	 count;	/* set by reader or writer of a stream, or
				   snap_count */
	uint64_t	 filesum; /* of all small files in a stream, where some
				   were not kept: readopts */
};

RB_HEAD(proctree, proc);

struct snap {
	char		*header; /* owned; the first line, without newline */
	struct proc	**proc;	/* owned; in order */
	size_t		 nproc;
	struct proctree	 bypid;
	size_t		*thread; /* owned; threads in proc, by their process */
	size_t		 nthread;
	size_t		*file;	/* owned; carried files in proc, by file */
	size_t		 nfile;
	size_t		 indexed; /* of so many processes */
	struct source	*sources; /* owned */
	uint32_t	 nsource;
	struct stat	 st;	/* of what it was read from; st_mode 0: of
				   nothing */
	bool		 summed; /* all of it was read, and is as its trailer
				   tells, */
	bool		 hasindex; /* which has an index, too */
	char		*broken; /* owned; the error that reading ended with, of
				    partial of struct readopts, or NULL */
	char		*unsummed; /* owned; why what was its trailer is none;
				   NULL: there was none, or it is one */
	bool		 damaged; /* that cannot be but for damage */
};

/*
 * The first line of a snapshot, taken apart: header.c
 */
struct header {
	const char	*rest;	/* borrowed; behind "process snapshot " */
	bool		 timed;	/* time is told */
	unsigned long long time; /* when it was taken, as time(2) */
	char		 cputype[16]; /* in Plan 9's words; "": not told */
};

void		 header_parse(struct header *h, const char *line);

struct snap	*snap_new(void);
void		 snap_free(struct snap *s);
bool		 proc_isthread(const struct proc *p);
bool		 proc_isprocess(const struct proc *p);
void		 proc_forget(struct proc *p);
struct proc	*snap_find(struct snap *s, uint64_t pid);
struct proc	*snap_process(struct snap *s, uint64_t pid);
int		 snap_threads(struct snap *s, uint64_t pid, const size_t **at,
		    size_t *n);
struct file	*proc_file(const struct proc *p, const char *name);
struct proc	*carried_find(struct snap *s, const struct vma *v);
struct image	*mapped_file(struct snap *s, struct proc *p, const char *exe,
		    const struct vma *v);
int		 proc_vmas(const struct proc *p, struct vmas *l);

/*
 * How far long work is: io/progress.c.  The work counts; all functions take
 * NULL where nobody wants to know.
 */
struct progress {
	atomic_ullong	 done;	/* bytes that were read */
	atomic_ullong	 total;	/* of so many; 0: not known */
	atomic_ullong	 raw;	/* kilobytes among them, or made of them */
	atomic_ullong	 zero;
	atomic_ullong	 same;
	atomic_ullong	 began;	/* milliseconds of CLOCK_MONOTONIC */
	atomic_uint	 writes; /* odd: one is under way */
	atomic_bool	 held;	/* processes stay stopped meanwhile */
};

void		 progress_phase(struct progress *p, uint64_t total);
void		 progress_read(struct progress *p, uint64_t n);
void		 progress_count(struct progress *p, uint64_t raw,
		    uint64_t zero, uint64_t same);

/*
 * Streams out: io/output.c, io/settle.c, io/gzip/out.c
 */
struct output;

struct output	*output_open(const char *path);
struct output	*output_begin(const char *path, bool compress,
		    struct progress *p);
void		 output_put(struct output *o, const void *data, size_t n);
void		 output_hole(struct output *o, uint64_t n);
int		 output_flush(struct output *o);
uint64_t	 output_pos(const struct output *o);
uint64_t	 output_written(const struct output *o);
int		 output_end(struct output *o);
int		 output_cansettle(const struct output *o);
int		 output_settle(struct output *o);
bool		 output_isnew(const struct output *o);
int		 output_fd(const struct output *o);
int		 output_commit(struct output *o);
void		 output_abort(struct output *o);
void		 output_cleanup(void);

/*
 * Programs that read what strangers wrote, confined: confine/confine.c
 */
struct confined {		/* what a program needs; all is borrowed */
	char *const	*in;	/* paths of files and directories to be read;
				   NULL and "-" among them are standard
				   input */
	size_t		 nin;
	const char	*parent; /* one more, or NULL */
	const char	*out;	/* the file to be written, or NULL */
	bool		 many;	/* it may also be out.PID, for each PID */
	const char	*outdir; /* the directory to be written into, or NULL */
	int		 (*act)(void *); /* to be done outside, once, which
				   makes a descriptor; or NULL */
	void		 (*undo)(void *); /* the contrary, at the end */
	void		*arg;	/* of both */
};

int		 confine(const struct confined *c);
const char	*confine_lacks(void);
int		 confine_act(int *fd);

/*
 * Snapshots read, by open.c, which picks the reader of a format, compared
 * (snap6/compare.c), made one (merge/merge.c), or fewer (merge/keep.c), and
 * counted (dedup/count.c)
 */
struct readopts {
	bool	 nodata;	/* page bytes will not be asked for */
	bool	 brief;		/* nor which pages are the same */
	const char *const *files; /* of small files, and those of Linux records,
				   what will be asked for, up to NULL; or
				   NULL: all */
	const char *const *unused; /* of those, what will not, up to NULL; or
				   NULL: none; of criu_readopts */
	bool	 nosizes;	/* nor the lines in kB of smaps and status, how
				   much memory there is of what */
	bool	 scan;		/* read and check all, even with an index */
	bool	 salvage;	/* take what is whole of a damaged stream */
	bool	 partial;	/* keep what was read before an error: broken
				   of struct snap */
	size_t	 unpacked;	/* MiB that may be kept unpacked of a compressed
				   file; 0: as many as help */
	void	(*record)(void *, uint64_t, const char *, uint64_t, uint64_t);
				/* arg, pid, name, position, length; at
				   position 0, the first line */
	void	(*warn)(void *, const char *); /* of what is missing */
	void	*arg;		/* the first argument of both */
	const char *exe;	/* the executable of an ELF core; NULL: look
				   where it was */
	struct pagestore *store; /* where pages go that must be copied, of
				   criu_store; NULL: to a spool */
	struct progress *progress; /* told how far reading is, or NULL */
};

/* 1: a process is wanted; 0: it is not; -1: errstr */
typedef int	 (*snap_want)(void *arg, struct snap *s, struct proc *p);

struct snap	*snap_open(const char *path, const struct readopts *o);
int		 snap_compare(struct snap *a, struct snap *b);
int		 snap_merge(struct snap *a, struct snap *b);
struct snap	*snap_keep(struct snap *s, snap_want want, void *arg);
bool		 snap_uncounted(const struct snap *s);
int		 snap_count(struct snap *s, void (*warn)(void *, const char *),
		    void *arg);

/*
 * snap(6): snap6/write.c, snap6/num.c
 */
struct snap6;			/* a snapshot being written */

struct snap6	*snap6_begin(struct output *out, const char *header,
		    void (*warn)(void *, const char *), void *arg);
int		 snap6_put(struct snap6 *w, struct proc *p);
int		 snap6_end(struct snap6 *w, bool whole);
int		 snap6_write(struct snap *s, struct output *out,
		    void (*warn)(void *, const char *), void *arg);
bool		 snap6_known(const char *name);

/*
 * The Linux record, taken apart and made: record/archive.c, record/factstate.c,
 * record/pack.c, record/edit.c
 */
struct recfile {		/* one of its files; it borrows from it */
	const char	*name;	/* namelen bytes; no NUL behind them */
	size_t		 namelen;
	const uint8_t	*data;
	size_t		 len;
};

struct linuxrec {		/* a Linux record taken apart */
	const uint8_t	*data;	/* borrowed; of the record */
	size_t		 len;
	size_t		*at;	/* owned; where its files are, by name */
	size_t		 n;
};

const struct linuxrec *proc_record(struct proc *p);
int		 linuxrec_open(struct linuxrec *r, const struct file *rec);
void		 linuxrec_close(struct linuxrec *r);
bool		 linuxrec_find(const struct linuxrec *r, const char *name,
		    struct recfile *f);
bool		 linuxrec_line(const struct linuxrec *r, const char *name,
		    char *s, size_t size);
bool		 linuxrec_opened(const struct linuxrec *r, uint64_t fd,
		    uint64_t *id);
const char	*recfile_value(const struct recfile *f, const char *key,
		    size_t *len);
const char	*linuxrec_cputype(const struct file *rec, char *word,
		    size_t n);
int		 linuxrec_pack(struct proc *p, const char *cputype,
		    const struct file *file, size_t n);

/*
 * Where a process belongs, as its Linux record tells: record/place.c
 */
enum { PLACE_NAME = 256 };

struct place {			/* of names, "" is: none */
	uint64_t	 pid;	/* in its own pid namespace */
	char		 unit[PLACE_NAME]; /* of systemd */
	char		 container[PLACE_NAME];
	char		 pod[PLACE_NAME];
};

void		 proc_place(struct place *pl, const struct proc *p);

/*
 * Who a process or thread was when it was taken: record/facts.c
 */
struct identity {
	uint64_t	 pid;	/* that it had: snapcat may give others */
	uint64_t	 part;	/* of a snapshot of several: 0 is the first */
	uint64_t	 start;	/* ticks since its machine began; 0: not told */
	char		 name[28]; /* of the program */
};

int		 proc_identity(struct identity *o, struct proc *p);

/*
 * What is known of a process beside its memory, in words, and how that differs
 * from what was known: record/facts.c, record/factlist.c
 */
enum subject {
	SUBJECT_NAME, SUBJECT_PARENT, SUBJECT_ARGUMENTS, SUBJECT_EXECUTABLE,
	SUBJECT_DIRECTORY, SUBJECT_ROOT, SUBJECT_CGROUP, SUBJECT_NAMESPACE,
	SUBJECT_THREAD, SUBJECT_DESCRIPTOR, SUBJECT_POSITION, SUBJECT_FLAGS,
	SUBJECT_ENVIRONMENT, SUBJECT_LIMIT, SUBJECT_CREDENTIAL, SUBJECT_SIGNAL,
	SUBJECT_SIGNALS, SUBJECTS
};

struct fact {
	enum subject	 subject;
	uint64_t	 order;	/* among those of its subject */
	uint64_t	 id;	/* one with another id is of another thing */
	char		*key;	/* owned; "": there is but one */
	char		*value;	/* owned */
	char		*more;	/* owned; told but not compared, or NULL */
};

struct factlist {
	struct fact	*v;	/* owned; by subject, order and key */
	size_t		 n;
	unsigned int	 told;	/* 1 << subject, of all that are known */
};

enum how {			/* what became of a thing */
	HOW_SAME,
	HOW_ADDED,
	HOW_REMOVED,
	HOW_CHANGED
};

struct change {			/* all is borrowed from facts */
	enum how	 how;
	enum subject	 subject;
	const char	*key;
	const char	*was;	/* NULL: it was not there */
	const char	*is;	/* NULL: it is not there */
	const char	*more;	/* NULL: no more is known */
};

struct changes {
	struct change	*v;	/* owned */
	size_t		 n;
};

int		 proc_facts(struct factlist *l, struct snap *s,
		    struct proc *p);
void		 factlist_free(struct factlist *l);
int		 factlist_diff(struct changes *l, const struct factlist *was,
		    const struct factlist *is);
const char	*subject_word(enum subject subject);

/*
 * Secrets that are left out of snapshots: record/exclude.c, record/environ.c
 */
struct exclude;			/* which */

struct exclude	*exclude_new(void);
int		 exclude_add(struct exclude *x, const char *words);
int		 exclude_proc(struct exclude *x, struct snap *s,
		    struct proc *p, void (*warn)(void *, const char *),
		    void *arg);
int		 exclude_snap(struct exclude *x, struct snap *s,
		    void (*warn)(void *, const char *), void *arg);
void		 exclude_free(struct exclude *x);

/*
 * A process as an ELF core, made as it is read: core/write/layout.c
 */
struct core;

struct core	*core_new(struct snap *s, struct proc *p);
void		 core_free(struct core *c);
uint64_t	 core_size(const struct core *c);
size_t		 core_left(const struct core *c);
ssize_t		 core_pread(struct core *c, void *buf, size_t len,
		    uint64_t off);
int64_t		 core_seek(const struct core *c, uint64_t off, int whence);

/*
 * CRIU images: criu/read/read.c, criu/write/write.c, criu/write/place.c and,
 * of live processes, criu/make/make.c
 */
enum criu_need {		/* what criu restore is to be told */
	CRIU_MADE = 1,		/* it is known what */
	CRIU_SHELL_JOB = 2,
	CRIU_TCP_CLOSE = 4,
	CRIU_TCP_ESTABLISHED = 8,
	CRIU_FILE_LOCKS = 16,
	CRIU_EXT_UNIX_SK = 32,
	CRIU_TERMINAL = 64	/* to stay on its terminal, which they have */
};

enum criu_cgroups {		/* of cgroups, what is restored */
	CGROUPS_IGNORE,		/* nothing: they are those that criu is in */
	CGROUPS_NONE,		/* which ones: they must be there */
	CGROUPS_PROPS,		/* the same, and their properties */
	CGROUPS_SOFT,		/* all, but no properties of those there */
	CGROUPS_FULL,		/* all */
	CGROUPS_STRICT		/* all; none may be there */
};

struct criuopts {
	const char	*parent; /* a directory to write upon, or NULL */
	bool		 overwrite; /* a directory that is not empty */
	uint64_t	 leave;	/* of live processes: kinds of what is left out
				   if it cannot be restored; of criu_leave */
	uint64_t	 root;	/* of live processes: this one and those below
				   it; 0: all */
	bool		 along;	/* connections of TCP would go along: note does
				   not hear of them */
	unsigned int	 cgroups; /* of live processes: enum criu_cgroups */
	bool		 cgroup_root; /* criu is told another root of cgroups:
				   none above those of processes is written */
	bool		 check;	/* write nothing: set by criu_check */
	void		(*warn)(void *, const char *); /* or NULL */
	void		(*note)(void *, const char *); /* or NULL: is told
				   what of live processes is restored, but not
				   as it was */
	void		*arg;	/* the first argument of both */
	unsigned int	*need;	/* or NULL: bits of enum criu_need are set in
				   it, of live processes */
	struct buf	*words;	/* or NULL: more words of criu's command are
				   added to it, each behind a blank, as sh(1)
				   takes them, of live processes */
	struct progress	*progress; /* or NULL */
	struct pagestore *store; /* that the snapshot was read with, or NULL */
};

struct criustat {		/* what was written */
	uint64_t	 kb;	/* kilobytes of all pages that are there */
	uint64_t	 parentkb; /* of those in the parent, left out */
	uint64_t	 zerokb; /* of those that are zero */
	uint64_t	 bytes;	/* of pages images */
};

void		 criu_readopts(struct readopts *o);
int		 criu_check(struct snap *s, const struct criuopts *o);
void		 criu_command(struct buf *b, const char *dir,
		    unsigned int need, const struct buf *words);
int		 criu_cgroups(const char *word, unsigned int *mode);
int		 criu_leave(const char *words, uint64_t *leave);
struct pagestore *criu_store(const char *dir, const struct criuopts *o);
void		 criu_storefree(struct pagestore *st);
int		 criu_write(struct snap *s, const char *dir,
		    const struct criuopts *o, struct criustat *st);

/*
 * Snapshots as a tree of files: tree/tree.c, tree/dir.c, tree/read.c
 */
enum { FSTREE_ROOT = 1 };	/* the inode number of the root */

struct fsattr {
	uint64_t	 size;	/* bytes */
	uint64_t	 data;	/* bytes that are no holes */
	bool		 dir;
	bool		 exec;	/* a program */
	bool		 memory; /* mem, core, or of map/ */
	void		*tag;	/* of the snapshot; NULL for the root */
};

struct fsentry {		/* one of a directory */
	const char	*name;	/* borrowed while the call lasts */
	uint64_t	 ino;
	bool		 dir;
	uint64_t	 next;	/* where the list goes on behind it */
};

struct fstree;

struct fstree	*fstree_new(void (*warn)(void *, const char *), void *arg);
void		 fstree_free(struct fstree *t);
int		 fstree_add(struct fstree *t, struct snap *s, void *tag);
int		 fstree_lookup(struct fstree *t, uint64_t dir,
		    const char *name, uint64_t *ino);
int		 fstree_attr(struct fstree *t, uint64_t ino, struct fsattr *a);
int		 fstree_list(struct fstree *t, uint64_t dir, uint64_t from,
		    bool (*fn)(void *, const struct fsentry *), void *arg);
ssize_t		 fstree_read(struct fstree *t, uint64_t ino, void *buf,
		    size_t len, uint64_t off);
int64_t		 fstree_seek(struct fstree *t, uint64_t ino, uint64_t off,
		    int whence);

/*
 * Which live processes are meant: linux/choose/name.c, linux/choose/cgroup.c
 */
typedef int	 (*choose_fn)(void *arg, pid_t pid);

int		 user_parse(const char *s, uid_t *uid);
int		 proc_named(const char *name, const uid_t *user, choose_fn fn,
		    void *arg);
int		 proc_grouped(const char *what, const uid_t *user,
		    choose_fn fn, void *arg);

/*
 * Live processes, stopped, taken and let go: linux/live.c, linux/add.c,
 * linux/freeze.c, linux/kill.c
 */
struct liveopts {
	int	 out;		/* who reads from this descriptor is left out */
	const uid_t *user;	/* of a name and a cgroup, only those of this
				   one; NULL: all, or for who is not root, his
				   own */
	bool	 descendants;	/* of all processes named, too */
	bool	 restore;	/* ask them in the stop what restoring takes */
	bool	 datafiles;	/* unmodified pages of mapped data files, too */
	bool	 observe;	/* run nothing in a process */
	bool	 clone;		/* let them go before their memory is read;
				   not with observe */
	bool	 move;		/* they are killed at the end: connections of
				   TCP are locked, and go along */
	bool	 again;		/* fail where a clone is lost: live_lost */
	bool	 flags;		/* read smaps when all are stopped */
	bool	 perfmaps;	/* names of code that they made, too */
	bool	 verbose;	/* say for how long each was stopped */
	uint64_t memory;	/* bytes that clones and copies may take, else
				   all stay stopped; 0: no limit */
	unsigned int patience;	/* seconds to wait for file servers, in all
				   while anything is stopped; 0: some */
	struct progress *progress; /* told what there is to read, or NULL */
	void	(*warn)(void *, const char *);
	void	*arg;		/* warn's first argument */
};

/* of a file that is carried along there is no task */
typedef int	 (*take_fn)(void *, struct proc *, const struct task *,
		    const struct file *, size_t);

struct live;

struct live	*live_new(const struct liveopts *o);
int		 live_addpid(struct live *l, pid_t pid);
int		 live_addcore(struct live *l, pid_t pid, int core);
void		 live_coreregs(struct live *l, pid_t pid,
		    void (*fn)(void *, uint64_t, bool), void *arg);
int		 live_addname(struct live *l, const char *name);
int		 live_addcgroup(struct live *l, const char *what);
int		 live_stop(struct live *l);
int		 live_take(struct live *l, struct snap *s, take_fn take,
		    void *arg);
int		 live_next(struct live *l, struct proc **p);
bool		 live_perfmap(struct live *l, pid_t pid, struct buf *map);
int		 live_cankill(const struct live *l);
int		 live_kill(struct live *l);
void		 live_thaw(struct live *l);
bool		 live_whole(const struct live *l);
bool		 live_incomplete(const struct live *l);
void		 live_tellmissed(struct live *l);
bool		 live_lost(const struct live *l);
void		 live_free(struct live *l);
char		*live_header(const char *cputype);

/*
 * A process of Linux as a process of Plan 9: plan9/plan9.c, plan9/regs.c
 */
int		 plan9_files(struct proc *p, const char *cputype,
		    const struct task *t);
int		 plan9_regs(struct buf *b, const char *cputype,
		    const struct task *t);
const char	*plan9_cputype(void);

#endif
