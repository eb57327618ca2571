/*
 * Functions and types of the library that the programs of this project use, in
 * the order in which a newcomer wants to read them; other programs use
 * snap/snap.h. The comment above a group names the files that implement it,
 * below lib or fmt. More is in task.h, space.h and trace.h. The headers of ISO
 * C come with this file; a file includes other headers of the system itself.
 *
 * A snapshot is a set of processes as they stood at one instant. Readers make
 * a struct snap from live processes, from a snap(6) stream or from another
 * format; writers turn a struct snap into any of these.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <sys/types.h>
#include <sys/stat.h>
#include <sys/tree.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"

/*
 * The unit of a snapshot: snap(6) describes memory in pages of 1024 bytes.
 * Names say kb for these, and page for the pages of the machine.
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
 * Close a descriptor, unless it is -1, and keep errno: full.c
 */
void		 fd_drop(int fd);

/*
 * Growing byte arrays: buf.c. A buffer remembers a failed allocation, so that
 * a row of calls needs one check at the end.
 */
struct buf {
	uint8_t	*data;		/* owned, until a function takes it over */
	size_t	 len;
	size_t	 cap;
	bool	 failed;
};

void		 buf_add(struct buf *b, const void *data, size_t n);
void		 buf_puts(struct buf *b, const char *s);
void		 buf_printf(struct buf *b, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
void		 buf_hex(struct buf *b, const void *data, size_t n);
int		 buf_check(const struct buf *b);
char		*buf_text(struct buf *b);
int		 buf_report(struct buf *b,
		    void (*report)(void *, const char *), void *arg);
void		 buf_free(struct buf *b);
void		 shell_word(struct buf *b, const char *s);

/*
 * Text for people to read: text.c
 */
size_t		 text_utf8(const char *s, uint32_t *c);
size_t		 path_stem(const char *path);
int		 text_columns(const char **s);
bool		 text_iscontrol(uint32_t c);
char		*text_sanitize(char *s);
void		 text_bytes(char *s, size_t n, uint64_t bytes);
void		 text_time(char *s, size_t n, uint64_t us);

/*
 * The model, images: image.c, imageread.c, view.c
 */
struct piece {			/* range of addresses where one segment is
				   visible */
	RB_ENTRY(piece)	 entry;
	uint64_t	 first;	/* address of the first byte */
	uint64_t	 last;	/* address of the last byte */
	struct segment	*seg; /* borrowed; the segment that is visible there */
};

struct missing {		/* range of addresses that were mapped and
				   present, but not captured */
	uint64_t	 start;
	uint64_t	 end;	/* end address (exclusive) */
	char		 reason[24];
};

enum image_kind { IMAGE_TEXT, IMAGE_MEM };

RB_HEAD(view, piece);

struct image {			/* text or memory of a process, as a sparse
				   file */
	struct proc	*proc;	/* borrowed; process to which the image
				   belongs */
	enum image_kind	 kind;
	struct segment **seg;	/* owned; in the order of insertion */
	size_t		 nseg;
	struct view	 view;	/* owned; visible pieces, sorted by address */
	struct view	 taken;	/* owned; addresses that segments of the current
				   section cover */
	uint64_t	 section; /* number of sections started */
	bool		 overlaps; /* true if some segments overlap */
	struct missing	*missing; /* owned; in ascending order of address */
	size_t		 nmissing;
	const struct image *before; /* borrowed; an earlier copy of the same
				       memory, which was written before; NULL:
				       none */
};

uint64_t	 image_bytes(const struct image *im);
struct piece	*image_first(struct image *im);
struct piece	*piece_next(struct piece *p);
int		 image_read(struct image *im, uint64_t addr, void *buf,
		    size_t len);

/*
 * The model, processes: snap.c, embedded.c, record/maps.c
 */
struct file {			/* small file of a process */
	char		*name;	/* owned */
	uint8_t		*data;	/* owned; never NULL in a file of a process */
	size_t		 len;
};

struct kbcount {		/* kilobytes of images, by how a stream
				   stores them */
	uint64_t	 raw;
	uint64_t	 zero;
	uint64_t	 same;	/* kilobytes stored as references to earlier
				   kilobytes */
};

struct embedded {		/* identity of a mapped file, as in the file
				   "maps" */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned */
};

struct proc {			/* process, thread or embedded file */
	RB_ENTRY(proc)	 entry;	/* node in the tree of processes, sorted by
				   pid */
	uint64_t	 pid;
	uint64_t	 leader; /* process that a thread belongs to; 0: not
				    a thread */
	struct embedded	*embedded; /* owned; identity of an embedded file, whose
				      bytes are in "text", or in "mem" if it is
				      shared memory; NULL: not an embedded
				      file */
	struct file	*file;	/* owned; in the order in which they were
				   added */
	size_t		 nfile;
	struct taskstate *state; /* owned; parsed small files
				    (state/state.h); NULL until first used */
	struct linuxrec	*record; /* owned; the parsed file "proc"; NULL until
				    proc_record() is called */
	struct image	*text;	/* owned, or NULL */
	struct image	*mem;	/* owned, or NULL */
	struct kbcount	 count;	/* kilobytes of the images; set by the reader or
				   writer of a stream, or by snap_count() */
	uint64_t	 filesum; /* checksum of all small files read, including
				     dropped ones; 0 if readopts does not ask to
				     drop any */
};

RB_HEAD(proctree, proc);

struct snap {
	char		*header; /* owned; first line of the stream, without
				    newline */
	struct proc	**proc;	/* owned; in the order of the stream */
	size_t		 nproc;
	struct proctree	 bypid;
	size_t		*thread; /* owned; indices of threads in the array
				    "proc", sorted by process */
	size_t		 nthread;
	size_t		*file;	/* owned; indices of embedded files in the array
				   "proc", sorted by file */
	size_t		 nfile;
	size_t		 indexed; /* number of entries of "proc" that the arrays
				     "thread" and "file" cover */
	struct source	*sources; /* owned */
	uint32_t	 nsource;
	struct stat	 st; /* status of the input file; st_mode is 0 if
				there is none */
	bool		 verified; /* all bytes were read and match the
				      checksums in the trailer */
	bool		 verified_index; /* the verified trailer has an index */
	char		*broken; /* owned; error that ended reading early, if
				    readopts.partial was set; else NULL */
	char		*trailer_error; /* owned; reason why bytes that look
					   like a trailer are not a valid one;
					   NULL: no such error */
	bool		 damaged; /* only damage can explain the error in
				     trailer_error */
	uint64_t	 moment; /* number of this moment of a series, from 1;
				    0: not a moment of a series */
	uint64_t	 moments; /* number of moments in the series */
	struct snap	*whole;	/* borrowed; member of struct momentset that has
				   the sources of this moment; NULL: this
				   snapshot has them */
};

/*
 * The first line of a snapshot, parsed: header.c
 */
struct header {
	const char	*rest;	/* borrowed; text after "process snapshot " */
	bool		 timed;	/* the line contains a time */
	unsigned long long time; /* when the snapshot was taken, as returned by
				    time(2) */
	char		 cputype[16]; /* Plan 9's name for the machine; "" if
					 not recorded */
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
ssize_t		 embedded_index(struct snap *s, const struct vma *v);
struct proc	*embedded_find(struct snap *s, const struct vma *v);
struct image	*mapped_file(struct snap *s, struct proc *p, const char *exe,
		    const struct vma *v);
int		 proc_vmas(const struct proc *p, struct vmas *l);

/*
 * Progress of long work: io/progress.c. The worker counts; all functions
 * accept NULL, if nobody watches.
 */
struct progress {
	atomic_ullong	 done;	/* bytes read so far */
	atomic_ullong	 total;	/* bytes to read; 0: unknown */
	atomic_ullong	 raw;	/* kilobytes of memory found, by kind */
	atomic_ullong	 zero;
	atomic_ullong	 same;
	atomic_ullong	 began;	/* start time in milliseconds, from
				   CLOCK_MONOTONIC */
	atomic_uint	 writes; /* counter; odd during a write that may wait
				    for a reader */
	atomic_bool	 held;	/* processes stay stopped until the work ends */
};

void		 progress_phase(struct progress *p, uint64_t total);
void		 progress_read(struct progress *p, uint64_t n);
void		 progress_count(struct progress *p, uint64_t raw,
		    uint64_t zero, uint64_t same);

/*
 * Output streams: io/output.c, io/outlife.c, io/settle.c, io/gzip/out.c
 */
struct output;

struct output	*output_open(const char *path);
struct output	*output_begin(const char *path, bool compress,
		    struct progress *p);
void		 output_put(struct output *o, const void *data, size_t n);
void		 output_hole(struct output *o, uint64_t n);
int		 output_flush(struct output *o);
int		 output_sync(struct output *o);
uint64_t	 output_pos(const struct output *o);
uint64_t	 output_written(const struct output *o);
int		 output_end(struct output *o);
void		 output_frames(struct output *o);
bool		 output_mute(struct output *o);
void		 output_unmute(struct output *o, char letter, const void *data,
		    size_t n);
int		 output_candrain(const struct output *o);
int		 output_drain(struct output *o);
bool		 output_isnew(const struct output *o);
int		 output_fd(const struct output *o);
int		 output_commit(struct output *o);
void		 output_abort(struct output *o);
void		 output_cleanup(void);

/* io/outdir.c */
int		 outdir_check(const char *path, bool force);

/*
 * Frames of a move between two machines: io/frame.c
 */
enum {
	MAX_FRAME = 1 << 20,	/* maximum length of the data in a frame, in
				   bytes */
	FRAME_QUESTION = 'q',	/* lines that say what the processes need on the
				   other machine; an empty frame ends them */
	FRAME_DATA = 'd',	/* bytes of the snapshot */
	FRAME_PACKED = 'p',	/* the same, compressed with zstd */
	FRAME_RUN = 'r',	/* references to consecutive pages: see
				   refer.c */
	FRAME_END = 'e',	/* end of the snapshot; no data */
	FRAME_GO = 'g'		/* order to resume the processes on the other
				   machine; no data */
};

/* fmt/snap6/refer.c */
int		 refer_write(int fd, const char *text);

int		 frame_write(int fd, char letter, const void *data, size_t n);
int		 frame_read(int fd, char *letter, void *buf, size_t *n);

/* AddressSanitizer's runtime needs more system calls, and terabytes of address
   space */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/*
 * Confine a program that reads files written by strangers: confine/confine.c
 */
struct confined { /* files that a program needs; all pointers are borrowed */
	char *const	*in;	/* paths of files and directories to read;
				   NULL or "-" is standard input */
	size_t		 nin;
	const char	*parent; /* one more path to read, or NULL */
	const char	*out;	/* file to write, or NULL */
	bool		 many;	/* also allow writing paths that append .PID to
				   "out", for any PID */
	const char	*outdir; /* directory to write into, or NULL */
	bool		 far;	/* files of live processes are read from file
				   servers; see lib/linux/proxy/ */
	int		 (*act)(void *); /* called once by the unconfined
					    helper; returns a descriptor;
					    NULL: no such function */
	void		 (*undo)(void *); /* undoes, when the program ends, what
					     act() did */
	void		*arg;	/* argument of act() and undo() */
};

int		 confine(const struct confined *c);
const char	*confine_lacks(void);
int		 confine_act(int *fd);

/*
 * Read snapshots (open.c picks the reader of a format), compare them
 * (snap6/compare.c), merge them (merge/merge.c), drop processes from them
 * (merge/keep.c) and count their memory (dedup/count.c).
 */
struct readpart {		/* consecutive bytes of a snap(6) stream */
	enum {
		PART_LINE,	/* first line, at "data" */
		PART_HEAD,	/* header of a record of process "pid"; "data"
				   is its type, with a NUL */
		PART_DATA,	/* length and bytes of a data record; the "n"
				   bytes are at "data" */
		PART_COUNT,	/* count of "n" segments */
		PART_SEGMENT,	/* base "addr" and length "n" of a segment */
		PART_RAW,	/* "n" raw pages at "addr" */
		PART_ZERO,	/* "n" zero pages at "addr" */
		PART_MEM,	/* "n" references at "addr" to pages of memory
				   of process "pid" from address "to" on */
		PART_TEXT	/* the same, to pages of text from offset "to"
				   on */
	}		 kind;
	uint64_t	 at;	/* byte offset in the stream */
	uint64_t	 len;	/* length in bytes */
	const void	*data;	/* borrowed */
	uint64_t	 pid;
	uint64_t	 addr;
	uint64_t	 n;
	uint64_t	 to;
	uint64_t	 raw;	/* byte offset of the first raw page that is
				   referred to; 0: a zero page */
};

struct readopts {
	bool	 nodata;	/* contents of pages will not be read */
	bool	 brief;		/* like "nodata", but references between pages
				   are not resolved either */
	const char *const *files; /* names of the small files and record files
				     to keep, ended by NULL; or NULL: keep
				     all */
	const char *const *unused; /* names of small files and record files to
				      drop, ended by NULL, as set by
				      criu_readopts(); or NULL: drop none */
	bool	 nosizes;	/* drop the lines of the files "smaps" and
				   "status" that give sizes in kB */
	bool	 scan;		/* read and check the whole stream, even if
				   it has an index */
	bool	 salvage; /* read the undamaged parts of a damaged stream */
	bool	 moments;	/* return all moments of a series */
	const char *moment;	/* return this moment of a series: a number, a
				   time of day (HH:MM or HH:MM:SS), "first" or
				   "last"; NULL: the last */
	bool	 partial;	/* after an error, return the processes read
				   before it, and put the error in the member
				   "broken" of struct snap; drop invalid Linux
				   records in the same way */
	size_t	 unpacked;	/* MiB of decompressed data to keep in memory
				   for a compressed file; 0: choose
				   automatically */
	void	(*record)(void *, uint64_t, const char *, uint64_t, uint64_t);
				/* called for each record, with arg, pid,
				   name, position and length; the first line
				   has position 0 */
	void	(*part)(void *, const struct readpart *); /* called with arg
				   for each part of a stream that is scanned;
				   needs "nodata" */
	void	(*warn)(void *, const char *); /* called with a sentence for
						  each thing missing from the
						  input */
	void	(*note)(void *, const char *); /* called with a sentence if the
				   last moment of a series is not whole */
	void	*arg;		/* first argument of the functions above */
	const char *exe;	/* path of the executable of an ELF core;
				   NULL: use the path in the core */
	struct pagestore *store; /* made by criu_store(); receives pages that
				    must be copied; NULL: use a spool */
	struct progress *progress; /* receives the progress of reading, or
				      NULL */
};

/* return 1 to keep process p, 0 to drop it, or -1 with errstr set */
typedef int	 (*snap_want)(void *arg, struct snap *s, struct proc *p);

struct snap	*snap_load(const char *path, const struct readopts *o);

/* moments.c: the moments of a series */
struct momentset {
	struct snap	**v;	/* owned; the moments in order, or the only
				   snapshot of an input that is not a series */
	size_t		 n;
	struct snap	*whole;	/* owned; has the sources of all moments; NULL:
				   not a series */
};

struct instant {
	char		*header; /* owned; first line of a snapshot of it */
	time_t		 time;
	size_t		 processes;
	uint64_t	 kb;	/* number of kilobytes that no earlier moment
				   has */
};

struct snap	*moment_keep(struct snap *s, const char *name,
		    const struct readopts *o);
int		 momentset_make(struct momentset *l, struct snap *s,
		    const struct readopts *o);
int		 momentset_load(struct momentset *l, const char *path,
		    const struct readopts *o);
long		 day_seconds(const char *s);
ssize_t		 momentset_find(const struct momentset *l,
		    const char *moment);
void		 momentset_close(struct momentset *l);
int		 snap_instants(struct snap *s, struct instant **v, size_t *n);
void		 instants_free(struct instant *v, size_t n);

int		 snap_compare(struct snap *a, struct snap *b);
int		 snap_merge(struct snap *a, struct snap *b);
struct snap	*snap_keep(struct snap *s, snap_want want, void *arg);
bool		 snap_uncounted(const struct snap *s);
int		 snap_count(struct snap *s, void (*warn)(void *, const char *),
		    void *arg);

/*
 * Write snap(6) streams: snap6/write.c, snap6/num.c
 */
struct snap6;			/* writer of one snapshot */

struct snap6	*snap6_begin(struct output *out, const char *header,
		    void (*warn)(void *, const char *), void *arg);
int		 snap6_put(struct snap6 *w, struct proc *p);
void		 snap6_copy(struct snap6 *w, bool all);
int		 snap6_end(struct snap6 *w, bool whole);
int		 snap6_series(struct snap6 *w);
int		 snap6_pause(struct snap6 *w, uint64_t n, const char *header,
		    const char *cputype);
int		 snap6_resume(struct snap6 *w, bool all);
int		 snap6_undo(struct snap6 *w);
int		 snap6_retire(struct snap6 *w, struct snap *s);
int		 snap6_write(struct snap *s, struct output *out,
		    void (*warn)(void *, const char *), void *arg);
bool		 snap6_known(const char *name);

/*
 * Read and make Linux records: record/archive.c, record/factstate.c,
 * record/pack.c, record/edit.c
 */
struct recfile {		/* one file of a Linux record; all pointers are
				   borrowed from the record */
	const char	*name;	/* name of the file: "namelen" bytes without a
				   terminating NUL */
	size_t		 namelen;
	const uint8_t	*data;
	size_t		 len;
};

struct linuxrec {		/* parsed Linux record */
	const uint8_t	*data;	/* borrowed; bytes of the record */
	size_t		 len;
	size_t		*at; /* owned; offsets of the files in the record,
				sorted by name */
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
 * Unit, container and pod of a process, from its Linux record: record/place.c
 */
enum { PLACE_NAME = 256 };

struct place {			/* where a process runs; strings that are not
				   known are "" */
	uint64_t	 pid;	/* process ID in its own PID namespace */
	char		 unit[PLACE_NAME]; /* systemd unit */
	char		 container[PLACE_NAME];
	char		 pod[PLACE_NAME];
};

void		 proc_place(struct place *pl, const struct proc *p);

/*
 * Identity of a process or thread when it was captured: record/facts.c
 */
struct identity {
	uint64_t	 pid;	/* process ID before snap_merge(), which may
				   change the ID in struct proc */
	uint64_t	 part;	/* index of the part in a merged snapshot; 0:
				   the first part */
	uint64_t	 start;	/* start time in ticks since boot; 0: not
				   recorded */
	char		 name[28]; /* name of the program */
};

int		 proc_identity(struct identity *o, struct proc *p);

/*
 * Facts of a process other than its memory, in words, and their changes from
 * one snapshot to another: record/facts.c, record/factlist.c
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
	uint64_t	 order;	/* sort key among facts of one subject */
	uint64_t	 id;	/* number of the thing described; facts with the
				   same key but different numbers describe
				   different things */
	char		*key;	/* owned; "": the subject has only one fact */
	char		*value;	/* owned */
	char		*more;	/* owned; further text, which is shown but not
				   compared; or NULL */
};

struct factlist {
	struct fact	*v;	/* owned; sorted by subject, order and key */
	size_t		 n;
	unsigned int	 told;	/* mask of the subjects that the snapshot
				   records: bits 1 << subject */
};

enum change_kind {			/* kind of a change */
	CHANGE_SAME,
	CHANGE_ADDED,
	CHANGE_REMOVED,
	CHANGE_CHANGED
};

struct change {			/* all pointers are borrowed from the facts */
	enum change_kind	 how;
	enum subject	 subject;
	const char	*key;
	const char	*was;	/* old value; NULL: the fact was added */
	const char	*is;	/* new value; NULL: the fact was removed */
	const char	*more;	/* further text to show, or NULL */
};

struct changes {
	struct change	*v;	/* owned */
	size_t		 n;
};

int		 proc_facts(struct factlist *l, struct snap *s,
		    struct proc *p);
void		 factlist_free(struct factlist *l);
int		 factlist_diff(struct changes *l, const struct factlist *old,
		    const struct factlist *new);
const char	*subject_word(enum subject subject);

/*
 * Leave secrets out of snapshots: record/exclude.c, record/environ.c
 */
struct exclude;			/* set of exclusions */

struct exclude	*exclude_new(void);
bool		 exclude_dontdump(const struct exclude *x);
int		 exclude_add(struct exclude *x, const char *words);
int		 exclude_proc(struct exclude *x, struct snap *s,
		    struct proc *p, void (*warn)(void *, const char *),
		    void *arg);
int		 exclude_snap(struct exclude *x, struct snap *s,
		    void (*warn)(void *, const char *), void *arg);
void		 exclude_free(struct exclude *x);

/*
 * Check an ELF file before libelf reads it: elf/head.c
 */
int		 elf_sections(int fd);

/*
 * Present a process as an ELF core or a minidump, built as it is read:
 * core/write/layout.c, core/write/minidump.c, core/write/copy.c
 */
struct core;

struct core	*core_new(struct snap *s, struct proc *p);
struct core	*minidump_new(struct snap *s, struct proc *p);
struct core	*minidump_full(struct snap *s, struct proc *p);
void		 core_free(struct core *c);
uint64_t	 core_size(const struct core *c);
size_t		 core_left(const struct core *c);
ssize_t		 core_pread(struct core *c, void *buf, size_t len,
		    uint64_t off);
int64_t		 core_seek(const struct core *c, uint64_t off, int whence);
int		 core_copy(struct core *c, struct output *out,
		    struct progress *p, uint64_t *data);

/*
 * CRIU images: criu/read/read.c, criu/write/write.c, criu/write/place.c and,
 * for live processes, criu/make/make.c
 */
enum criu_need { /* bits for the options that criu restore needs */
	CRIU_MADE = 1,		/* the other bits are valid */
	CRIU_SHELL_JOB = 2,
	CRIU_TCP_CLOSE = 4,
	CRIU_TCP_ESTABLISHED = 8,
	CRIU_FILE_LOCKS = 16,
	CRIU_EXT_UNIX_SK = 32,
	CRIU_TERMINAL = 64	/* restore in the foreground: the processes use
				   criu's terminal */
};

enum criu_cgroups {		/* how to restore cgroups */
	CGROUPS_IGNORE, /* restore no cgroups: use those of criu */
	CGROUPS_NONE,		/* use existing cgroups unchanged; fail if
				   one is missing */
	CGROUPS_PROPS, /* use existing cgroups and set their properties */
	CGROUPS_SOFT, /* create missing cgroups with their properties; do not
			 change others */
	CGROUPS_FULL, /* create missing cgroups; set the properties of all
			 cgroups */
	CGROUPS_STRICT		/* create all cgroups; fail if one exists */
};

/*
 * The process IDs in an early copy of memory are those of the processes plus
 * the number of the copy, counted from one, times EARLY_PID. EARLY_PID is
 * higher than any process ID of Linux. Processes in a copy have no Linux
 * record.
 */
enum { EARLY_PID = 1 << 24 };
#define MOMENT_FILE "moment"	/* record file of the mark of a moment */
#define EARLY_DIR "early"	/* subdirectory for images of early copies */

/* number of bytes at the start of an ELF file that are searched for the build
   ID */
enum { ELF_HEAD = 4096 };

struct criuopts {
	const char	*parent; /* directory of earlier images, or NULL; pages
				    unchanged since those images are not written
				    again */
	bool		 overwrite; /* also accept a directory that is not
				       empty */
	bool		 early;	/* write early copies of memory to the
				   subdirectory EARLY_DIR; sync no image, since
				   all are restored at once */
	bool		 compress; /* compress the pages with LZ4; not with
				      early */
	bool		 lazy;	/* with early: prepare for criu restore
				   --lazy-pages, if possible */
	uint64_t	 leave;	/* only for live processes: kinds of things to
				   leave out if they cannot be restored (bits
				   from criu_leave()) */
	uint64_t	 root;	/* only for live processes: ID of the process to
				   restore with its descendants; 0: all
				   processes */
	bool		 along;	/* TCP connections will be moved, so do not
				   report them with note() */
	bool		 tcp_close; /* only for live processes: close all TCP
				       connections when they are restored */
	unsigned int	 cgroups; /* only for live processes: one of enum
				     criu_cgroups */
	bool		 cgroup_root; /* criu will get a different cgroup root,
					 so write no cgroups above those of the
					 processes */
	bool		 check;	/* only check, write nothing; set by
				   criu_check() */
	/* called with a sentence for each error; or NULL */
	void		(*warn)(void *, const char *);
	/* live processes: called with a sentence for each thing that is
	   restored differently; or NULL */
	void		(*note)(void *, const char *);
	void		*arg;	/* first argument of warn() and note() */
	unsigned int	*need;	/* only for live processes: receives further
				   bits of enum criu_need; or NULL */
	struct buf	*words;	/* only for live processes: more criu arguments
				   are appended here, each quoted for sh(1) and
				   preceded by a blank; or NULL */
	struct progress	*progress; /* receives the progress, or NULL */
	struct pagestore *store; /* the store with which the snapshot was
				    read, or NULL */
};

struct criustat {		/* amounts of memory, and bytes written */
	uint64_t	 kb;	/* size of all present pages in kilobytes */
	uint64_t	 parentkb; /* kilobytes left out because the parent
				      has them */
	uint64_t	 zerokb; /* kilobytes of zero pages */
	uint64_t	 bytes;	/* size of all pages images, in bytes */
	bool		 lazy;	/* criu lazy-pages can supply the memory */
};

void		 criu_readopts(struct readopts *o);
int		 criu_check(struct snap *s, const struct criuopts *o);
void		 criu_command(struct buf *b, const char *dir,
		    unsigned int need, const struct buf *words);
int		 criu_cgroups(const char *word, unsigned int *mode);
int		 criu_leave(const char *words, uint64_t *leave);
const char	*criu_uring(const char *comm);
struct pagestore *criu_store(const char *dir, const struct criuopts *o);
void		 criu_storefree(struct pagestore *st);
int		 criu_write(struct snap *s, const char *dir,
		    const struct criuopts *o, struct criustat *st);

/*
 * Show snapshots as a tree of files: tree/tree.c, tree/dir.c, tree/read.c
 */
enum { FSTREE_ROOT = 1 };	/* inode number of the root directory */

struct fsattr {
	uint64_t	 size;	/* size in bytes */
	uint64_t	 data;	/* number of bytes outside of holes */
	bool		 dir;
	bool		 exec;	/* true for a program */
	bool		 memory; /* true for "mem", "core", and the files in the
				    directory "map" */
	void		*tag;	/* the tag that fstree_add() received with the
				   snapshot; NULL for the root directory */
};

struct fsentry {		/* directory entry */
	const char	*name;	/* borrowed; valid during the call */
	uint64_t	 ino;
	bool		 dir;
	uint64_t	 next;	/* position after this entry, from which
				   fstree_list() can continue */
};

struct fstree;

struct fstree	*fstree_new(void (*warn)(void *, const char *), void *arg);
void		 fstree_free(struct fstree *t);
int		 fstree_add(struct fstree *t, struct snap *s, void *tag);
void		 fstree_moment(struct fstree *t);
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
 * Find live processes by name or cgroup: linux/choose/name.c,
 * linux/choose/cgroup.c
 */
typedef int	 (*choose_fn)(void *arg, pid_t pid);

int		 user_parse(const char *s, uid_t *uid);
int		 proc_named(const char *name, const uid_t *user, choose_fn fn,
		    void *arg);
int		 proc_grouped(const char *name, const uid_t *user,
		    choose_fn fn, void *arg);

/*
 * Stop, capture and release live processes: linux/live.c, linux/add.c,
 * linux/freeze.c, linux/kill.c
 */
struct liveopts {
	int	 out;		/* descriptor of the output; processes that read
				   what is written to it are left out */
	const uid_t *user;	/* restrict names and cgroups to processes of
				   this user; NULL: any user or, if the caller
				   is not root, the caller */
	bool	 descendants;	/* also capture the descendants of all named
				   processes */
	bool	 restore;	/* during the stop, also record the state that
				   restoring needs */
	bool	 datafiles;	/* also save unmodified pages of mapped data
				   files */
	bool	 no_inject;	/* inject no calls into a process */
	bool	 clone;		/* use clones, so that the processes are
				   released before their memory is read; not
				   with no_inject */
	bool	 yield;		/* with clone: after the release, raise our
				   nice value */
	bool	 move;		/* the processes will be killed at the end:
				   lock their TCP connections so that they
				   can move */
	bool	 heads;		/* save only the first ELF_HEAD bytes of an ELF
				   file that has a name */
	unsigned int early;	/* number of an early copy: capture private
				   anonymous memory only, and add EARLY_PID
				   times this to the process IDs; 0: capture
				   everything */
	unsigned int moment;	/* number of the moment in a series, from 1: add
				   EARLY_PID times the number of earlier moments
				   to the process IDs; 0: not a series */
	const struct live *before; /* previous set of the same snapshot, whose
				      clones still exist, or NULL */
	bool	 again;		/* the caller can capture again, so fail if a
				   clone is lost: see live_lost() */
	bool	 flags;		/* read the files "smaps" while all processes
				   are stopped */
	bool	 perfmaps;	/* also save perf maps: names of code that
				   the processes generated */
	bool	 verbose; /* report how long each process was stopped */
	uint64_t memory;	/* memory that clones and copies may take, in
				   bytes; if they need more, all processes stay
				   stopped; 0: no limit */
	unsigned int timeout;	/* total seconds to wait for file servers
				   while anything is stopped; 0: use a
				   default */
	struct progress *progress; /* receives the number of bytes to read,
				      or NULL */
	void	(*warn)(void *, const char *);
	void	*arg;		/* first argument of warn() */
};

/* the task is NULL for an embedded file */
typedef int	 (*take_fn)(void *, struct proc *, const struct task *,
		    const struct file *, size_t);

struct live;

struct live	*live_new(const struct liveopts *o);
int		 live_addpid(struct live *l, pid_t pid);
int		 live_addcore(struct live *l, pid_t pid, int core);
void		 live_coreregs(struct live *l, pid_t pid,
		    void (*fn)(void *, uint64_t, bool), void *arg);
int		 live_addname(struct live *l, const char *name);
int		 live_addcgroup(struct live *l, const char *name);
void		 live_output(struct live *l, int fd);
int		 live_each(struct live *l, choose_fn fn, void *arg);
unsigned int	 live_trees(struct live *l);
int		 live_stop(struct live *l);
int		 live_take(struct live *l, struct snap *s, take_fn take,
		    void *arg);
int		 live_next(struct live *l, struct proc **p);
bool		 live_grew(const struct live *l);
bool		 live_isclone(const struct live *l, pid_t pid);
bool		 live_hasclones(const struct live *l);
bool		 live_framesfixed(void);
bool		 live_cankeep(const struct live *l);
void		 live_keep(struct live *l);
bool		 live_perfmap(struct live *l, pid_t pid, struct buf *map);
int		 live_cankill(const struct live *l);
int		 live_unsignaled(const struct live *l);
int		 live_park(struct live *l, struct buf *pids, struct buf *ran);
void		 live_unpark(struct live *l);
void		 live_moved(struct live *l);
int		 live_kill(struct live *l);
void		 live_thaw(struct live *l);
bool		 live_whole(const struct live *l);
bool		 live_incomplete(const struct live *l);
bool		 live_tcpcloses(const struct live *l);
bool		 live_isempty(const struct live *l);
void		 live_warnmissed(struct live *l);
bool		 live_lost(const struct live *l);
void		 live_free(struct live *l);
size_t		 late_release(void);
char		*live_header(const char *cputype);

/*
 * Make the small files of Plan 9 from a Linux process: plan9/plan9.c,
 * plan9/regs.c
 */
int		 plan9_files(struct proc *p, const char *cputype,
		    const struct task *t);
int		 plan9_regs(struct buf *b, const char *cputype,
		    const struct task *t);
const char	*plan9_cputype(void);

#endif
