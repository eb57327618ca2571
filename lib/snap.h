/*
 * Snapshots of processes: the one header of libsnap.
 *
 * A snapshot is a set of processes as they stood at one instant.  Readers
 * make a struct snap of live processes, of a snap(6) stream, of other
 * formats; writers turn it into any of them.  This header has the order in
 * which a newcomer wants to read it, and each group names the file that
 * implements it.
 *
 * Functions that can fail return -1 or NULL and leave a sentence in
 * snap_errstr().  Nothing here prints or exits.
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

/*
 * The unit of a snapshot: snap(6) describes memory in pages of 1024 bytes.
 * To tell them from the pages of the machine, names say kb.
 */
enum { KB = 1024 };

/*
 * Error strings: errstr.c
 */
const char	*snap_errstr(void);
int		 errstr_set(const char *, ...)
		    __attribute__((format(printf, 1, 2)));
int		 errstr_sys(const char *, ...)
		    __attribute__((format(printf, 1, 2)));
int		 errstr_wrap(const char *, ...)
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

void		 buf_add(struct buf *, const void *, size_t);
void		 buf_puts(struct buf *, const char *);
void		 buf_printf(struct buf *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
uint8_t		*buf_room(struct buf *, size_t);
int		 buf_check(const struct buf *);
void		 buf_free(struct buf *);

/*
 * Text that goes to people: text.c
 */
size_t		 text_utf8(const char *, uint32_t *);
int		 text_columns(const char **);
bool		 text_iscontrol(uint32_t);
bool		 text_isharmful(const char *);
char		*text_clean(char *, char);
char		*text_harmless(char *);

int		 processors_count(void);	/* processors.c */

/*
 * Where the bytes of pages are read from: source.c, spool.c, nothing.c,
 * and linux/take/source.c for a stopped process.  A run is n kilobytes that
 * lie one after another at loc, pitch bytes apart.
 */
struct run {
	uint64_t	 loc;	/* in bytes, or an address */
	uint64_t	 n;	/* kilobytes */
};

enum {
	SOURCE_OK = 0,
	SOURCE_LOST = 1		/* some of it cannot be read; errstr says why */
};

enum { IDENTITY_KB = 4 };	/* kilobytes that have one identity */

struct source;

struct source_ops {
	int	(*read)(struct source *, const struct run *, size_t, uint8_t *);
	int	(*identify)(struct source *, uint64_t, size_t, uint64_t *);
	void	(*free)(struct source *);
};

struct source {
	const struct source_ops	*ops;
	char			*name;	/* owned; for messages */
	uint32_t		 pitch;	/* from one kilobyte to the next */
	uint32_t		 id;	/* 1 and up, within the snapshot */
	struct source		*next;	/* owned by the snapshot's list */
};

struct snap;
struct input;

void		 source_add(struct snap *, struct source *);
void		 source_drop(struct snap *);
void		 source_move(struct snap *, struct snap *);
struct source	*source_file(struct snap *, int, const char *, uint32_t);
struct source	*source_open(struct snap *, const char *);
int		 source_fd(const struct source *);
uint64_t	 source_size(const struct source *);
bool		 source_data(const struct source *, uint64_t, uint64_t *,
		    uint64_t *);
struct source	*source_input(struct snap *, struct input *);
int		 spool_file(void);
struct source	*source_spool(struct snap *);
int64_t		 spool_add(struct source *, const void *, size_t);
int		 spool_finish(struct source *);
struct source	*source_nothing(struct snap *);
int		 source_read(struct source *, const struct run *, size_t,
		    uint8_t *);

/*
 * The model: image.c, and view.c, which tells what is seen at an address
 */
struct extent {			/* a run of kilobytes in a segment */
	uint64_t	 kb;	/* the first, from the segment's base */
	uint64_t	 n;
	struct source	*src;	/* borrowed; NULL: all zero */
	uint64_t	 loc;	/* where in src the first lies */
};

struct segment {		/* one piece of an image, without holes */
	uint64_t	 base;	/* address of the first byte */
	uint64_t	 len;	/* bytes; base + len is at most 2^64 */
	struct extent	*ext;	/* owned; ascending, covering 0..kb */
	size_t		 next;
	size_t		 cap;
	uint64_t	 kb;	/* kilobytes described so far */
	struct image	*image;	/* the one it is in, borrowed */
	uint64_t	 section; /* of the image: see image_section */
	bool		 hidden;	/* in part at least, by another */
};

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
	size_t		 cap;
	struct view	 view;	/* owned; by address, where they overlap the
				   one in front */
	struct view	 taken;	/* owned; addresses of the present section */
	uint64_t	 section; /* those begun */
	bool		 overlaps; /* some segments do */
	struct missing	*missing; /* owned; ascending */
	size_t		 nmissing;
};

struct image	*image_new(struct proc *, enum image_kind);
struct image	*image_whole(struct proc *, enum image_kind, struct source *,
		    uint64_t);
void		 image_free(struct image *);
void		 image_section(struct image *);
int		 image_insert(struct image *, struct segment *);
int		 image_miss(struct image *, uint64_t, uint64_t, const char *);
void		 image_sortmissing(struct image *);
int		 image_punch(struct image *, uint64_t, uint64_t);
uint64_t	 image_origin(const struct image *);
uint64_t	 image_bytes(const struct image *);
struct piece	*image_find(struct image *, uint64_t);
struct piece	*image_next(struct image *, uint64_t);
struct piece	*image_first(struct image *);
struct piece	*image_last(struct image *);
struct piece	*piece_next(struct piece *);

struct segment	*segment_new(uint64_t, uint64_t);
void		 segment_free(struct segment *);
int		 segment_append(struct segment *, uint64_t, struct source *,
		    uint64_t);
const struct extent *segment_extent(const struct segment *, uint64_t);
uint64_t	 segment_kb(const struct segment *);
size_t		 segment_kblen(const struct segment *, uint64_t);

/*
 * Reading images: imageread.c
 */
struct span {			/* what lies at an address */
	uint64_t	 last;	/* as far as this */
	bool		 mapped;
	bool		 data;	/* and not unmapped, nor many zeros */
};

int		 image_read(struct image *, uint64_t, void *, size_t);
ssize_t		 image_readsome(struct image *, uint64_t, void *, size_t);
void		 image_span(struct image *, uint64_t, struct span *);

/*
 * Images from runs of pages in ascending order: builder.c
 */
struct builder {
	struct image	*image;	/* borrowed */
	struct segment **seg;	/* owned until builder_finish */
	size_t		 nseg;
	size_t		 cap;
};

int		 builder_run(struct builder *, uint64_t, uint64_t,
		    struct source *, uint64_t);
int		 builder_finish(struct builder *);

/*
 * The model: snap.c
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
	struct image	*text;	/* owned; NULL: none */
	struct image	*mem;	/* owned; NULL: none */
	struct kbcount	 count;	/* set by reader or writer of a stream, or
				   snap_count */
};

RB_HEAD(proctree, proc);

struct snap {
	char		*header; /* owned; the first line, without newline */
	struct proc	**proc;	/* owned; in order */
	size_t		 nproc;
	size_t		 cap;
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
	char		*unsummed; /* owned; why what was its trailer is none;
				   NULL: there was none, or it is one */
	bool		 damaged; /* that cannot be but for damage */
};

struct snap	*snap_new(void);
void		 snap_free(struct snap *);
bool		 proc_isthread(const struct proc *);
bool		 proc_isempty(const struct proc *);
uint64_t	 snap_kb(const struct snap *);
struct proc	*snap_find(struct snap *, uint64_t);
struct proc	*snap_process(struct snap *, uint64_t);
struct proc	*snap_add(struct snap *, uint64_t);
void		 snap_drop(struct snap *);
int		 snap_move(struct snap *, struct snap *, const bool *);
int		 snap_index(struct snap *);
int		 snap_threads(struct snap *, uint64_t, const size_t **, size_t *);
struct file	*proc_file(const struct proc *, const char *);
int		 proc_setfile(struct proc *, const char *, uint8_t *, size_t);

/*
 * Mappings: state/maps.c
 */
enum vma_flag {
	VMA_READ = 1,
	VMA_WRITE = 2,
	VMA_EXEC = 4,
	VMA_SHARED = 8,
	VMA_DEVICE = 16,	/* VM_IO or VM_PFNMAP: no memory behind it */
	VMA_GROWSDOWN = 32,
	VMA_UFFD = 64,		/* under userfaultfd(2) */
	VMA_DONTDUMP = 128	/* MADV_DONTDUMP of madvise(2) */
};

struct vma {			/* a mapping: proc_pid_maps(5) */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	uint64_t	 off;	/* in the file, bytes */
	uint64_t	 dev;	/* as makedev(3) gives it; 0: no file */
	uint64_t	 ino;
	unsigned int	 flags;	/* of enum vma_flag */
	char		*name;	/* owned; "" for none */
};

struct vmas {			/* the mappings of a process */
	struct vma	*v;	/* owned */
	size_t		 n;
};

int		 vmas_parse(struct vmas *, const void *, size_t);
int		 vmas_add(struct vmas *, const struct vma *);
int		 vmas_sort(struct vmas *);
void		 vma_perms(const struct vma *, char [5]);
const struct vma *vmas_next(const struct vmas *, uint64_t);
const struct vma *vmas_find(const struct vmas *, uint64_t);
void		 vmas_free(struct vmas *);

/*
 * Mappings that change: vmaedit.c
 */
int		 vmas_map(struct vmas *, const struct vma *);
int		 vmas_unmap(struct vmas *, uint64_t, uint64_t);
int		 vmas_protect(struct vmas *, uint64_t, uint64_t, unsigned int);
int		 vmas_move(struct vmas *, uint64_t, uint64_t, uint64_t,
		    uint64_t);
int		 vmas_copy(struct vmas *, const struct vmas *);

/*
 * The whole address space of a process, with what smaps, status, stat and
 * limits tell of it: space.c, and for where that comes from
 * linux/pages/livespace.c, linux/pages/kernspace.c and record/space.c
 */
enum mapping_flag {
	MAPPING_FLAGS = 1,	/* VmFlags are told; else max is a guess */
	MAPPING_SIZES = 2,	/* the sizes are told */
	MAPPING_STACK = 4,	/* it grows down, or is a shadow stack */
	MAPPING_SEALED = 8,	/* mseal(2) */
	MAPPING_WIRED = 16,	/* mlock(2) */
	MAPPING_DONTFORK = 32,	/* madvise(2), these and what follows */
	MAPPING_WIPEONFORK = 64,
	MAPPING_RANDOM = 128,
	MAPPING_SEQUENTIAL = 256,
	MAPPING_DONTDUMP = 512,
	MAPPING_NORESERVE = 1024, /* MAP_NORESERVE of mmap(2) */
	MAPPING_HUGETLB = 2048	/* MAP_HUGETLB, or a file of hugetlbfs */
};

struct mapping {		/* what smaps tells of a struct vma */
	unsigned int	 flags;	/* of enum mapping_flag */
	unsigned int	 max;	/* VMA_READ and others: mprotect(2) may */
	uint64_t	 rss;	/* these in kilobytes */
	uint64_t	 shared;
	uint64_t	 private;
	uint64_t	 anon;
	uint64_t	 swap;
	uint64_t	 touched; /* since touched_forget */
};

struct space {
	uint64_t	 pid;
	uint64_t	 tid;	/* of a live one: a thread that has memory */
	char		 name[64]; /* of the program, as status has it */
	struct vmas	 vma;
	struct mapping	*m;	/* owned; as many, in the same order */
	uint64_t	 threads;
	uint64_t	 rss, text, data, stack; /* kilobytes, of status */
	uint64_t	 startcode, startdata, startstack, startbrk;
	uint64_t	 stacklimit, datalimit;	/* bytes; 0: not known, UINT64_MAX:
				   none */
	bool		 gone;	/* it failed because there is no process */
	bool		 denied; /* because that of another may not be seen */
	bool		 moving; /* its mappings changed all the time */
	bool		 brief;	/* sizes and most flags are not asked for */
};

int		 space_smaps(struct space *, const void *, size_t);
int		 space_vmas(struct space *);
void		 space_status(struct space *, const void *, size_t);
void		 space_stat(struct space *, const void *, size_t);
void		 space_limits(struct space *, const void *, size_t);
int		 space_live(struct space *, pid_t);
int		 space_maps(struct space *, pid_t);
int		 space_kernel(struct space *);
int		 space_snap(struct space *, struct snap *, uint64_t);
void		 space_free(struct space *);

/*
 * Names of mappings in the words of OpenBSD, on a terminal: name.c
 */
void		 name_terminal(void);
void		 name_make(char *, size_t, const struct vma *);
const char	*name_fit(const char *, int);

/*
 * What is known of the pages of mappings: pages.c, sharing.c,
 * linux/pages/livepages.c, record/pages.c
 */
enum pagekind {
	PAGES_NONE,		/* nothing is there */
	PAGES_RAW,
	PAGES_ZERO,
	PAGES_SHARED,		/* with another process */
	PAGES_SWAPPED,
	PAGES_GUARD,		/* MADV_GUARD_INSTALL of madvise(2) */
	PAGES_MISSING,		/* not captured */
	PAGES_SAME,		/* of two snapshots: as it was */
	PAGES_CHANGED,
	PAGES_NEW,
	PAGES_GONE,
	PAGES_KINDS
};

struct pagespan {			/* a run of pages that are alike */
	uint64_t	 start;
	uint64_t	 end;	/* exclusive */
	enum pagekind	 kind;
	uint64_t	 with;	/* SHARED: a process, or 0: not known */
	uint64_t	 store;	/* where the bytes are; 0: not known */
	uint64_t	 at;	/* kilobyte in that store of the first */
};

struct pagelist {
	struct pagespan	*v;	/* owned; ascending */
	size_t		 n;
	size_t		 cap;
};

struct sharing;			/* who has which pages of which store */

uint64_t	 pagespan_kb(const struct pagespan *);
int		 pagelist_add(struct pagelist *, const struct pagespan *);
void		 pagelist_free(struct pagelist *);
struct sharing	*sharing_new(void);
int		 sharing_add(struct sharing *, const struct pagelist *,
		    uint64_t);
int		 sharing_tell(struct sharing *, struct pagelist *, uint64_t);
int		 sharing_matrix(const struct sharing *, const uint64_t *,
		    size_t, uint64_t *, uint64_t *);
void		 sharing_free(struct sharing *);
int		 pages_live(struct pagelist *, const struct space *);
int		 pages_snap(struct pagelist *, struct image *);
int		 pages_compare(struct pagelist *, struct image *,
		    const struct vmas *, struct image *, const struct vmas *);

/*
 * How much memory mappings take, by their page tables, what the kernel
 * tells of the frames behind them, and what is touched in a window of time:
 * linux/pages/pageuse.c, linux/pages/pageflags.c, linux/pages/frames.c, linux/pages/touched.c; and
 * which processes there are of a name: linux/proc/byname.c
 */
struct pageuse {		/* kilobytes, but for pss */
	uint64_t	 rss;	/* as smaps counts it: no zero page, no
				   huge ones of hugetlbfs */
	uint64_t	 uss;	/* of it, mapped nowhere else */
	uint64_t	 shared; /* and the rest */
	uint64_t	 pss;	/* in 1/4096 of a byte, as the kernel sums it */
	uint64_t	 swap;
	uint64_t	 huge;	/* of hugetlbfs */
	uint64_t	 zero;	/* where nothing was written; these in
				   detail only */
	uint64_t	 guard;	/* MADV_GUARD_INSTALL of madvise(2) */
	uint64_t	 thp;	/* mapped with others by one entry */
};

enum { PSS_KB = 4096 * KB };	/* pss of a kilobyte */

struct flagcount {		/* pages that are alike */
	uint64_t	 flags;	/* 1 << the place in a list of names */
	uint64_t	 kb;
};

struct flagcounts {
	struct flagcount *v;	/* owned */
	size_t		 n;
	size_t		 last;	/* where the last one was found */
};

struct frames;			/* what the kernel tells of frames */

struct frames	*frames_open(const char *);
int		 frames_want(struct frames *, uint64_t);
int		 frames_get(struct frames *, uint64_t, uint64_t *);
int		 frames_once(const struct frames *, uint64_t, uint64_t *);
void		 frames_free(struct frames *);
int		 pageuse_live(struct pageuse *, const struct space *,
		    struct frames *, const struct frames *, bool, bool *);
int		 pageflags_live(struct flagcounts *, const struct space *,
		    struct frames *, bool *);
const char	*pageflag_name(unsigned int);
int		 touched_forget(pid_t);
int		 proc_named(const char *, int (*)(void *, pid_t), void *,
		    size_t *);
pid_t		 proc_leader(pid_t);
bool		 proc_ended(pid_t);

/*
 * Files that are carried along, so that a snapshot can be debugged where
 * they are not: carried.c
 */
struct proc	*carried_new(struct snap *, const struct vma *);
struct proc	*carried_add(struct snap *, const struct vma *,
		    struct source *, uint64_t);
struct proc	*carried_addmem(struct snap *, const struct vma *,
		    struct source *, uint64_t);
struct proc	*carried_find(struct snap *, const struct vma *);
int		 carried_set(struct proc *, uint64_t, uint64_t, const char *);
int		 carried_cmp(const struct carried *, const struct carried *);
void		 carried_free(struct carried *);

/*
 * Sums of a stream, megabyte by megabyte: sums.c
 */
enum { SUM_BYTES = 1024 * 1024 };

struct sums {
	uint64_t	*sum;	/* owned */
	size_t		 n;
	size_t		 cap;
	uint64_t	 bytes;	/* so far */
	size_t		 part;	/* of these, in the megabyte begun */
	struct XXH3_state_s *state; /* owned; of that megabyte */
	bool		 failed; /* out of memory */
};

struct sums	*sums_new(void);
void		 sums_free(struct sums *);
void		 sums_add(struct sums *, const void *, size_t);
int		 sums_end(struct sums *);
uint64_t	 sums_of(const void *, size_t);

/*
 * How far long work is: progress.c.  Who does it counts; all but progress_show
 * take NULL where nobody wants to know.
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

void		 progress_phase(struct progress *, uint64_t);
void		 progress_read(struct progress *, uint64_t);
void		 progress_count(struct progress *, uint64_t, uint64_t,
		    uint64_t);
void		 progress_write(struct progress *);
void		 progress_show(struct progress *, const char *);
void		 progress_clear(void);
void		 progress_hide(void);

/*
 * Streams in: input.c.  Bytes are looked at, then skipped.  io/gzip/in.c,
 * io/gzip/file.c and io/gzip/table.c inflate what is compressed; input_spool is in
 * spool.c.
 */
struct input {
	int		 fd;
	char		*name;	/* owned */
	uint8_t		*buf;	/* owned */
	size_t		 cap;
	size_t		 start;	/* of what is not skipped yet */
	size_t		 end;
	uint64_t	 pos;	/* of buf[start] in the stream */
	uint64_t	 size;	/* of the stream, or UINT64_MAX: a pipe */
	uint64_t	 real;	/* bytes of the file on disk, or UINT64_MAX */
	off_t		 origin; /* of the stream in a regular file */
	struct stat	 st;	/* when it was opened */
	bool		 eof;
	struct gunzip	*gunzip; /* owned; NULL: it is not compressed */
	struct gzipfile	*gzfile; /* owned; NULL: not to be read at random */
	bool		 random; /* read from where it is, not in order */
	uint64_t	 most;	/* the stream is taken to end here */
	struct sums	*sums;	/* borrowed; of what is skipped, or NULL */
	size_t		 summed; /* buf as far as this is in them */
	struct progress	*progress; /* borrowed; told what is read, or NULL */
};

struct input	*input_open(const char *);
struct input	*input_fd(const char *, int);
struct input	*input_memory(const char *, const void *, size_t);
void		 input_close(struct input *);
int		 input_gunzip(struct input *, bool);
bool		 input_plain(const struct input *);
size_t		 input_fill(struct input *, size_t);
const uint8_t	*input_peek(struct input *, size_t);
void		 input_skip(struct input *, size_t);
int		 input_pread(struct input *, void *, size_t, uint64_t);
struct source	*input_source(struct snap *, struct input *, uint32_t);
int		 input_seek(struct input *, uint64_t);
void		 input_guess(struct input *, size_t);
int		 input_widen(struct input *, uint64_t);
void		 input_cut(struct input *, uint64_t);
int		 input_spool(struct input *);
void		 input_sum(struct input *, struct sums *);
uint64_t	 input_room(const struct input *);

/*
 * Streams out: output.c, and io/gzip/out.c, which compresses.  A file appears
 * under its name when it is whole.
 */
struct output;

struct output	*output_open(const char *);
struct output	*output_begin(const char *, bool, struct progress *);
int		 output_compress(struct output *, int);
void		 output_watch(struct output *, struct progress *);
struct progress	*output_progress(const struct output *);
void		 output_put(struct output *, const void *, size_t);
void		 output_hole(struct output *, uint64_t);
void		 output_refer(struct output *, const void *, size_t);
char		*output_room(struct output *, size_t, size_t *);
void		 output_filled(struct output *, const char *);
int		 output_flush(struct output *);
uint64_t	 output_pos(const struct output *);
uint64_t	 output_written(const struct output *);
int		 output_end(struct output *);
int		 output_sum(struct output *, struct sums *);
bool		 output_isnew(const struct output *);
int		 output_fd(const struct output *);
int		 output_commit(struct output *);
void		 output_abort(struct output *);
void		 output_cleanup(void);

/*
 * What programs have in common: program.c, totals.c
 */
void		 program_descriptors(void);
void		 program_files(void);
double		 program_seconds(const char *);
const char	*program_outfile(char *const [], int, const char *);
void		 program_signals(void);
void		 program_warn(const char *, ...)
		    __attribute__((format(printf, 1, 2)));
bool		 totals_plan9(const struct snap *, char *, size_t);
void		 totals_text(const struct snap *, const struct output *,
		    char *, size_t);

/*
 * Programs that read what strangers wrote, confined: confine.c, helper.c
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

int		 confine(const struct confined *);
const char	*confine_lacks(void);
int		 confine_act(void);
void		 program_confine(const struct confined *, bool);

/*
 * A directory out: outdir.c.  One file, written last, makes it whole.
 */
struct outdir;

int		 outdir_check(const char *, bool);
struct outdir	*outdir_open(const char *, const char *, bool);
int		 outdir_file(struct outdir *, const char *);
int		 outdir_put(struct outdir *, const char *, const void *,
		    size_t);
int		 outdir_clear(struct outdir *, bool (*)(const char *));
int		 outdir_link(struct outdir *, const char *, const char *);
int		 outdir_commit(struct outdir *, const char *, const void *,
		    size_t);
void		 outdir_abort(struct outdir *);

/*
 * The same kilobyte once: dedup.c, over the index of index.c and the
 * readers of fetch.c.
 */
enum verdict {
	VERDICT_RAW,		/* seen for the first time */
	VERDICT_ZERO,
	VERDICT_SAME,		/* seen before, at image and addr */
	VERDICT_LOST		/* could not be read */
};

struct finding {		/* what a run of kilobytes turned out to be */
	enum verdict	 verdict;
	const struct segment *seg;	/* borrowed, as all here */
	uint64_t	 kb;	/* the first, from the segment's base */
	uint64_t	 n;
	uint64_t	 place;	/* of the first in the order of description */
	const uint8_t	*data;	/* RAW: n * KB bytes; see final */
	const struct image *image; /* SAME: where it was described first */
	uint64_t	 addr;
	uint64_t	 same;	/* SAME: the place of that */
	const char	*why;	/* LOST: the reason */
	bool		 final;	/* data since the last final one dies now */
};

typedef int	 (*finding_fn)(void *, const struct finding *);

struct dedup;

struct dedup	*dedup_new(finding_fn, void *);
void		 dedup_free(struct dedup *);
int		 dedup_segment(struct dedup *, const struct segment *, bool);
size_t		 dedup_bytes(const struct dedup *);

/*
 * What a stream would count of what was read from elsewhere: count.c
 */
bool		 snap_uncounted(const struct snap *);
int		 snap_count(struct snap *, void (*)(void *, const char *),
		    void *);

/*
 * snap(6): snap6/read.c, snap6/write.c, and open.c, which looks at the first
 * bytes and picks the reader.
 */
struct readopts {
	bool	 nodata;	/* page bytes will not be asked for */
	bool	 brief;		/* nor which pages are the same */
	bool	 scan;		/* read and check all, though there is an index */
	bool	 salvage;	/* take what is whole of a damaged stream */
	void	(*record)(void *, uint64_t, const char *, uint64_t, uint64_t);
				/* arg, pid, name, position, length; at
				   position 0, the first line */
	void	(*warn)(void *, const char *); /* of what is missing */
	void	*arg;		/* the first argument of both */
	int	(*keep)(void *, struct snap *, struct proc *, uint64_t,
		    const uint8_t *, size_t, struct source **, uint64_t *);
	void	*keeper;	/* keep's first argument */
	struct progress *progress; /* told how far reading is, or NULL */
};

struct snap	*snap_open(const char *, const struct readopts *);
struct snap	*snap6_read(struct input *, const struct readopts *);
int		 snap_compare(struct snap *, struct snap *);
int		 snap_merge(struct snap *, struct snap *);

struct snap6;			/* a snapshot being written */

struct snap6	*snap6_begin(struct output *, const char *,
		    void (*)(void *, const char *), void *);
int		 snap6_put(struct snap6 *, struct proc *);
int		 snap6_end(struct snap6 *, bool);
int		 snap6_write(struct snap *, struct output *,
		    void (*)(void *, const char *), void *);
bool		 snap6_known(const char *);

/*
 * The Linux record, and what is made of it: record/archive.c
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

int		 linuxrec_open(struct linuxrec *, const struct file *);
void		 linuxrec_close(struct linuxrec *);
void		 linuxrec_get(const struct linuxrec *, size_t,
		    struct recfile *);
bool		 linuxrec_find(const struct linuxrec *, const char *,
		    struct recfile *);
const char	*linuxrec_cputype(const struct file *, char *, size_t);
int		 path_cmp(const char *, size_t, const char *, size_t);
int		 linuxrec_pack(struct proc *, const char *, const struct file *,
		    size_t);
int		 linuxrec_apply(struct proc *);
int		 linuxrec_update(struct proc *);

/*
 * The mappings of a process of a snapshot: maps.c
 */
int		 proc_vmas(const struct proc *, struct vmas *);

/*
 * A process as an ELF core, made as it is read: core/write/layout.c (the layout),
 * core/write/load.c, core/write/note.c, core/write/thread.c, core/write/arch.c
 */
struct core;

struct core	*core_new(struct snap *, struct proc *);
void		 core_free(struct core *);
uint64_t	 core_size(const struct core *);
size_t		 core_left(const struct core *);
ssize_t		 core_pread(struct core *, void *, size_t, uint64_t);
int64_t		 core_seek(const struct core *, uint64_t, int);

/*
 * ELF cores as a snapshot: core/read/read.c, core/read/parse.c and core/read/machine.c (the
 * ELF file), core/read/facts.c and core/read/task.c (threads), core/read/maps.c, core/read/memory.c,
 * core/read/files.c (executable and libraries), buildid.c
 */
struct coreopts {
	const char	*exe;	/* the executable's path, or NULL: look */
	void		(*warn)(void *, const char *);
	void		*arg;	/* warn's first argument */
	struct progress	*progress; /* told how far reading is, or NULL */
};

int		 core_read(struct snap *, const char *,
		    const struct coreopts *);
int		 core_load(struct snap *, struct input *,
		    const struct coreopts *);

struct buildid {		/* NT_GNU_BUILD_ID; len 0: none */
	uint8_t	 id[64];
	size_t	 len;
};

int		 buildid_parse(struct buildid *, const uint8_t *, size_t);
bool		 buildid_same(const struct buildid *, const struct buildid *);

/*
 * Names of what is in an ELF file: elf/symbols.c
 */
struct elfsyms;

struct elfsyms	*elfsyms_read(int);
const char	*elfsyms_find(const struct elfsyms *, uint64_t, uint64_t *);
void		 elfsyms_free(struct elfsyms *);

/*
 * CRIU images: criu/read/read.c, criu/replay/write.c and criu/make/make.c, with what criu/read/read.h,
 * criu/replay/replay.h and criu/make/make.h list, over the framing of criu/img/img.c and the pages
 * of criu/img/pages.c
 */
struct criuopts {
	const char	*parent; /* a directory to write upon, or NULL */
	bool		 overwrite; /* a directory that is not empty */
	uint64_t	 leave;	/* of live processes: kinds of what is left out
				   if it cannot be restored; of criu_leave */
	uint64_t	 root;	/* of live processes: this one and those below
				   it; 0: all */
	bool		 shelljob; /* whose session leader may be elsewhere */
	void		(*warn)(void *, const char *); /* or NULL */
	void		*arg;	/* warn's first argument */
	struct progress	*progress; /* or NULL */
};

struct criustat {		/* what was written */
	uint64_t	 pages;	/* all that are there, of 4096 bytes */
	uint64_t	 parent; /* those in the parent, not written again */
	uint64_t	 zerokb; /* kilobytes of them that are zero */
	uint64_t	 bytes;	/* of pages images */
};

int		 criu_read(struct snap *, const char *,
		    void (*)(void *, const char *), void *);
int		 criu_leave(const char *, uint64_t *);
int		 criu_write(const char *, const char *,
		    const struct criuopts *, struct criustat *);

/*
 * Snapshots as a tree of files: tree/tree.c, tree/read.c, paths.c, sysroot.c,
 * linkmap.c.  An inode number tells what a file is; nothing is kept for
 * files that were looked at.  When all snapshots are added, any number of
 * threads may look.
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

struct fstree	*fstree_new(void (*)(void *, const char *), void *);
void		 fstree_free(struct fstree *);
int		 fstree_add(struct fstree *, struct snap *, void *);
int		 fstree_lookup(struct fstree *, uint64_t, const char *,
		    uint64_t *);
int		 fstree_attr(struct fstree *, uint64_t, struct fsattr *);
int		 fstree_list(struct fstree *, uint64_t, uint64_t,
		    bool (*)(void *, const struct fsentry *), void *);
ssize_t		 fstree_read(struct fstree *, uint64_t, void *, size_t,
		    uint64_t);
int64_t		 fstree_seek(struct fstree *, uint64_t, uint64_t, int);

/*
 * Live processes: linux/live.c, linux/freeze.c, linux/take/take.c.  A struct
 * live is a set of processes to be stopped, taken and let go.
 */
#include "linux/task.h"

struct liveopts {
	int	 out;		/* who reads from this descriptor is left out */
	bool	 descendants;	/* of all processes named, too */
	bool	 datafiles;	/* unmodified pages of mapped data files, too */
	bool	 observe;	/* run nothing in a process */
	bool	 clone;		/* let them go before their memory is read */
	bool	 again;		/* fail where a clone is lost: live_lost */
	bool	 verbose;	/* say for how long each was stopped */
	unsigned int patience;	/* seconds to wait for file servers, in all
				   while anything is stopped; 0: some */
	struct progress *progress; /* told what there is to read, or NULL */
	void	(*warn)(void *, const char *);
	void	*arg;		/* warn's first argument */
};

/* without a task, but with a record, for a file that is carried along */
typedef int	 (*take_fn)(void *, struct proc *, const struct task *,
		    const struct file *, size_t);

struct live;

struct live	*live_new(const struct liveopts *);
int		 live_addpid(struct live *, pid_t);
int		 live_addname(struct live *, const char *);
int		 live_stop(struct live *);
int		 live_take(struct live *, struct snap *, take_fn, void *);
int		 live_next(struct live *, struct proc **);
void		 live_thaw(struct live *);
bool		 live_incomplete(const struct live *);
bool		 live_lost(const struct live *);
void		 live_free(struct live *);
char		*live_header(const char *);

/*
 * A process of Linux as a process of Plan 9: plan9.c, plan9/regs.c
 */
int		 plan9_files(struct proc *, const struct task *);
int		 plan9_regs(struct buf *, const struct task *);
int		 plan9_fpregs(struct buf *, const struct task *);
const char	*plan9_cputype(void);

#endif
