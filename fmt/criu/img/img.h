/*
 * CRIU images, as protobuf messages one after another:
 *
 *	u32 0x54564319	(not in inventory.img)
 *	u32 magic	the kind of image
 *	u32 length, message
 *	...
 *
 * All numbers are little-endian. pages-N.img has only pages, without any
 * framing.
 */
#ifndef CRIUIMG_H
#define CRIUIMG_H

#include "io/io.h"
#include "pool.h"
#include "tar/tar.h"

#include "criu/img/criu.pb-c.h"

enum criu_magic {		/* magic numbers; see magic.h of criu */
	CRIU_COMMON = 0x54564319,
	CRIU_INVENTORY = 0x58313116,
	CRIU_PSTREE = 0x50273030,
	CRIU_CORE = 0x55053847,
	CRIU_IDS = 0x54432030,
	CRIU_MM = 0x57492820,
	CRIU_FS = 0x51403912,
	CRIU_FDINFO = 0x56213732,
	CRIU_FILES = 0x56303138,
	CRIU_PAGEMAP = 0x56084025,
	CRIU_MEMFD = 0x48453499,
	CRIU_PIPES_DATA = 0x56453709,
	CRIU_FIFO_DATA = 0x59333054,
	CRIU_SK_QUEUES = 0x56264026,
	CRIU_REMAP_FPATH = 0x59133954,
	CRIU_GHOST_FILE = 0x52583605,
	CRIU_FILELOCKS = 0x54323616,
	CRIU_SECCOMP = 0x64413049,
	CRIU_TTY_INFO = 0x59453036,
	CRIU_TIMENS = 0x43114433,
	CRIU_UTSNS = 0x54473203,
	CRIU_USERNS = 0x55474906,
	CRIU_NETNS = 0x55933752,
	CRIU_NETDEV = 0x57373951,
	CRIU_RAW = 0,		/* image without a magic number */
	CRIU_MNTS = 0x55563928,
	CRIU_TCP_STREAM = 0x51465506,
	CRIU_CGROUP = 0x59383330,
	CRIU_IPC_VAR = 0x53115007,
	CRIU_IPC_SHM = 0x46283044,
	CRIU_IPC_MSG = 0x55453737,
	CRIU_IPC_SEM = 0x59573019
};

enum criu_version { PREDUMP, OLD, CURRENT, COMPRESSED }; /* img_version */

enum criu_machine { /* values of mtype; see images/core.proto of criu */
	CRIU_AMD64 = 1,
	CRIU_ARM64 = 3
};

enum criu_lock { /* values of network_lock_method; see cr_options.h of criu */
	CRIU_LOCK_IPTABLES = 0,
	CRIU_LOCK_NFT = 1,
	CRIU_LOCK_NONE = 2
};

enum criu_page {		/* flags of a pagemap entry */
	PE_PARENT = 1,
	PE_LAZY = 2,
	PE_PRESENT = 4,
	PE_ALIGNED = 8,	/* the bytes begin at a multiple of the page size;
			   struct pages that were read never have this bit */
	PE_ZERO = 16	/* all bytes are zero and are not in the pages image;
			   only struct pages has this bit */
};

enum criu_status { /* status bits of a mapping; see include/image.h of criu */
	CRIU_REGULAR = 1 << 0,
	CRIU_VSYSCALL = 1 << 2,
	CRIU_VDSO = 1 << 3,
	CRIU_HEAP = 1 << 5,
	CRIU_FILE_PRIVATE = 1 << 6,
	CRIU_FILE_SHARED = 1 << 7,
	CRIU_ANON_SHARED = 1 << 8,
	CRIU_ANON_PRIVATE = 1 << 9,
	CRIU_SYSVIPC = 1 << 10,
	CRIU_SOCKET = 1 << 11,
	CRIU_VVAR = 1 << 12,
	CRIU_AIORING = 1 << 13,
	CRIU_MAPS_MEMFD = 1 << 14,
	CRIU_GUARD = 1 << 16
};

enum criu_fdtype { /* file types; see images/fdinfo.proto of criu */
	FD_REG = 1, FD_PIPE, FD_FIFO, FD_INETSK, FD_UNIXSK, FD_EVENTFD,
	FD_EVENTPOLL, FD_INOTIFY, FD_SIGNALFD, FD_PACKETSK, FD_TTY,
	FD_FANOTIFY, FD_NETLINKSK, FD_NS, FD_TUN, FD_EXT, FD_TIMERFD,
	FD_MEMFD, FD_BPFMAP, FD_PIDFD, FD_TYPES
};

/* imgstack.c */
struct imgunknown {		/* reports of unknown fields */
	warn_fn		 warn;
	void		*arg;
	struct imgfield {
		const ProtobufCMessageDescriptor *d;
		uint32_t	 tag;
	}		 field[16]; /* fields that were reported */
	size_t		 n;
};

struct imgdir {			/* a directory of images */
	int		 fd;	/* owned; -1: the directory is in an archive */
	char		*path;	/* owned; path as the user gave it, for
				   messages */
	struct imgdir	*parent; /* owned; directory that this one is stacked
				    on, or NULL */
	char		*why;	/* owned; reason why the parent cannot be
				   opened, or NULL */
	struct tar	*tar;	/* borrowed; archive with the directory, or
				   NULL */
	char		*at; /* owned; path in the archive: "a/b/", or "" */
	struct imgunknown *unknown; /* borrowed; NULL: unknown fields are not
				       reported */
};

struct imgsource {		/* a file, as a range of bytes of a source */
	struct source	*src;	/* borrowed */
	uint64_t	 loc;	/* offset of the file's first byte in src */
	uint64_t	 size;	/* file size in bytes */
};

enum { MAX_STACK = 256 };	/* maximum number of stacked directories */

typedef int	(*imgdir_fn)(void *, const char *);
typedef int	(*imgparent_fn)(struct imgdir *top, struct imgdir *d,
		    size_t depth);

struct imgdir	*imgdir_new(int fd, char *path);
struct imgdir	*imgdir_stack(struct imgdir *top, imgparent_fn parent);
void		 imgdir_free(struct imgdir *d);
bool		 img_isname(const char *name);

/* imgdir.c */
struct imgdir	*imgdir_open(const char *path);
int		 imgdir_list(const struct imgdir *d, imgdir_fn fn, void *arg);
int		 imgdir_input(const struct imgdir *d, const char *name,
		    struct input **in);
int		 imgdir_source(const struct imgdir *d, const char *name,
		    struct snap *s, struct imgsource *src);

/* imgtar.c */
struct imgdir	*imgtar_open(struct tar *t);
int		 imgtar_list(const struct imgdir *d, imgdir_fn fn, void *arg);
int		 imgtar_input(const struct imgdir *d, const char *name,
		    const char *path, struct input **in);
int		 imgtar_source(const struct imgdir *d, const char *name,
		    struct snap *s, struct imgsource *src);

struct criuimg {		/* an image being read */
	struct input	*in;	/* owned */
	size_t		 entry;	/* number of messages read so far */
	struct imgunknown *unknown; /* borrowed, or NULL */
};

/* img.c */
int		 criuimg_open(struct criuimg *im, const struct imgdir *dir,
		    const char *name, uint32_t magic);
int		 criuimg_memory(struct criuimg *im, const char *name,
		    const void *data, size_t len, uint32_t magic);
int		 criuimg_next(struct criuimg *im,
		    const ProtobufCMessageDescriptor *d, void *m);
int		 criuimg_known(const struct criuimg *im,
		    const ProtobufCMessage *m);
int		 criuimg_error(const struct criuimg *im, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
void		 criuimg_close(struct criuimg *im);
typedef int	 criuimg_fn(void *, const struct criuimg *, void *);
int		 criuimg_each(const struct imgdir *dir, const char *name,
		    uint32_t magic, const ProtobufCMessageDescriptor *d,
		    criuimg_fn *fn, void *arg);
void		 criuimg_begin(struct buf *b, uint32_t magic);
void		 criuimg_pack(struct buf *b, const ProtobufCMessage *m);
void		 criuimg_add(struct buf *b, const ProtobufCMessage *m);

struct made {			/* an image to be written */
	char		*name;	/* owned */
	struct buf	 b;	/* owned, unless "lent" is set */
	bool		 lent; /* the data in "b" is borrowed from the
				  snapshot */
	struct proc	*pages;	/* borrowed; process that the pagemap is for,
				   or NULL */
	struct proc	*body;	/* borrowed; embedded file whose content,
				   without holes, is written after b; or NULL */
	uint64_t	 bodylen; /* size of the content of "body", with its
				     holes */
};

struct mades {			/* the images of a directory */
	struct made	**v;	/* owned */
	size_t		 n;
};

int		 mades_check(struct mades *l);
void		 mades_free(struct mades *l);

/* message.c */
/*
 * PART is for a field that is a message; MANY, PUSH, BYTES for a repeated one
 */
#define MSG_PART(a, m, field) \
	msg_part((a), &(m)->base, offsetof(__typeof__(*(m)), field))
#define MSG_MANY(a, m, field, n) \
	msg_many((a), &(m)->base, offsetof(__typeof__(*(m)), field), (n))
#define MSG_PUSH(a, m, field) \
	msg_push((a), &(m)->base, offsetof(__typeof__(*(m)), field))
#define MSG_BYTES(a, m, field, p, n) \
	msg_bytes((a), &(m)->base, offsetof(__typeof__(*(m)), field), (p), (n))
#define MSG_FILL(m, fields, v) msg_fill(&(m)->base, (fields), (v))

void		*msg_part(struct pool *a, ProtobufCMessage *m, size_t off);
void		*msg_many(struct pool *a, ProtobufCMessage *m, size_t off,
		    size_t n);
void		*msg_push(struct pool *a, ProtobufCMessage *m, size_t off);
int		 msg_bytes(struct pool *a, ProtobufCMessage *m, size_t off,
		    const uint8_t *p, size_t n);
void		 msg_fill(ProtobufCMessage *m, const char *fields,
		    const uint64_t *v);
size_t		 msg_take(const ProtobufCMessage *m, const char *fields,
		    uint64_t *v);

/*
 * Names of register fields, in the order of the register sets of ptrace(2).
 * GPREGS is struct user_regs_struct of amd64, GPREGS32 user_regs_struct32 of
 * the kernel's asm/user32.h. FXSAVE has what that instruction stores first,
 * and FXBYTES the size of each field. PACA and PACG are pointer authentication
 * keys of arm64.
 */
#define CRIU_GPREGS "r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di " \
	"orig_ax ip cs flags sp ss fs_base gs_base ds es fs gs"
#define CRIU_GPREGS32 "bx cx dx si di bp ax ds es fs gs orig_ax ip cs " \
	"flags sp ss"
#define CRIU_FXSAVE "cwd swd twd fop rip rdp mxcsr mxcsr_mask"
#define CRIU_FXBYTES "22228844"
#define CRIU_PACA "apiakey_lo apiakey_hi apibkey_lo apibkey_hi apdakey_lo " \
	"apdakey_hi apdbkey_lo apdbkey_hi"
#define CRIU_PACG "apgakey_lo apgakey_hi"

/*
 * Names of fields. UIDS and GIDS are in the order of /proc/PID/status. BOUNDS
 * are addresses of code, data, stack, arguments and environment, and STATS are
 * the fields of /proc/PID/stat with the same values.
 */
#define CRIU_UIDS "uid euid suid fsuid"
#define CRIU_GIDS "gid egid sgid fsgid"
#define CRIU_BOUNDS "start_code end_code start_data end_data start_stack " \
	"start_brk arg_start arg_end env_start env_end"
#define CRIU_STATS STAT_STARTCODE, STAT_ENDCODE, STAT_STARTDATA, \
	STAT_ENDDATA, STAT_STARTSTACK, STAT_BRK, STAT_ARGSTART, STAT_ARGEND, \
	STAT_ENVSTART, STAT_ENVEND

/* blocks.c */
#define BLOCK_RAW UINT32_MAX	/* size of a block that is not compressed */

struct block {			/* a part of a pages image */
	uint64_t	 off;	/* offset of its pages, if nothing was
				   compressed */
	uint64_t	 at;	/* offset in the pages image */
	uint32_t	 size;	/* number of bytes in the pages image; 0: all
				   zero; BLOCK_RAW: the size of its pages */
};

struct blocks {
	struct block	*v;	/* owned; sorted by off */
	size_t		 n;
	uint64_t	 len;	/* bytes of all pages */
	uint64_t	 stored; /* size that the pages image must have */
	uint64_t	 most;	/* actual size of the pages image */
	bool		 packed; /* a block is compressed */
};

int		 blocks_add(struct blocks *t, const Criu__PagemapEntry *e,
		    uint64_t len, uint64_t page);
bool		 blocks_plain(const struct blocks *t);
uint64_t	 blocks_zeros(const struct blocks *t, uint64_t off,
		    uint64_t len, bool *zero);
struct source	*blocks_source(struct snap *s, struct blocks *t,
		    const struct imgsource *in, const char *name);

/* inventory.c */
int		 inventory_pack(struct buf *b, uint32_t block);

/* pages.c */
struct pages {			/* an entry of a pagemap */
	uint64_t	 addr;	/* address of the first byte */
	uint64_t	 len; /* length in bytes, a multiple of the page size */
	uint64_t	 off;	/* offset in the pages image or, after
				   pagemap_open(), in src; valid if PE_PRESENT
				   is set */
	unsigned int	 flags;	/* bits of enum criu_page */
	struct source	*src;	/* borrowed; set by pagemap_open(): source of
				   the pages; NULL unless PE_PRESENT is set,
				   or if PE_ZERO is set */
};

struct pagemap {		/* a pagemap image */
	uint64_t	 page;	/* page size in bytes */
	uint32_t	 id;	/* the number N in pages-N.img */
	struct pages	*v;	/* owned; sorted by address, without overlaps */
	size_t		 n;
	struct blocks	 blocks; /* of the pages image, until pagemap_open()
				    returns */
	bool		 packed; /* these or parents' pages are compressed */
};

int		 pagemap_parse(struct pagemap **out, const char *name,
		    const void *data, size_t len, uint64_t page,
		    uint64_t *bytes);
int		 pagemap_open(struct pagemap **out, struct snap *s,
		    const struct imgdir *dir, const char *name, uint64_t page);
int		 pages_join(struct pagemap *m, const struct pages *p);
size_t		 pagemap_behind(const struct pagemap *m, uint64_t addr);
void		 pagemap_free(struct pagemap *m);

/* pageput.c */
void		 pagemap_begin(struct buf *b, uint32_t id);
void		 pagemap_put(struct buf *b, const struct pages *p,
		    uint64_t page, const Criu__PagemapBlocks *blocks);
void		 pagemap_copy(struct buf *b, const struct pagemap *m,
		    uint32_t id);

#endif
