/*
 * What the files share that make CRIU images of processes that snap(1) took.
 *
 * The lowest first:
 *
 *	images.c	the images in the making
 *	why.c		what cannot be restored, and is left out or not
 *	task.c		processes and threads, as the record has them
 *	find.c		open files by number, inode and descriptor
 *	inetread.c	what the record tells of a socket of the internet
 *	socketread.c	likewise of other sockets
 *	open.c		open files and descriptors, as the record has them
 *	ghost.c		deleted files
 *	regular.c	files with a name
 *	memory.c	pages, and shared memory
 *	mm.c		mappings: mm
 *	queue.c		what waits in UNIX sockets
 *	judge.c		what of the open files can be restored
 *	unix.c		UNIX sockets
 *	tty.c		terminals
 *	pidfd.c		descriptors of processes
 *	inotify.c	what is watched
 *	sockopt.c	options of sockets
 *	netlink.c	netlink sockets
 *	packet.c	packet sockets
 *	tcp.c		connections of TCP
 *	inet.c		sockets of the internet
 *	file.c		files.img, an entry for each
 *	locks.c		locks on files
 *	fd.c		descriptors
 *	rseq.c		restartable sequences
 *	regs.c		registers, by machine: amd64.c, arm64.c
 *	signal.c	signals that wait
 *	seccomp.c	filters of system calls
 *	process.c	what a process has beside what its threads have
 *	core.c		and these: core
 *	check.c		whether a process, and its threads, can be restored
 *	tree.c		how they hang together: pstree, ids, inventory
 *	make.c		all images, one after another
 */
#ifndef CRIUMAKER_H
#define CRIUMAKER_H

#include "make.h"
#include "record/record.h"

enum {
	MAKESHARES = 4,		/* what processes can share */
	USEC = 1000000, NSEC = 1000000000 /* in a second */
};

enum makewhy {			/* kinds of what cannot be restored */
	WHY_NEVER,		/* and cannot be left out */
	WHY_AIO, WHY_CREDENTIALS, WHY_DELETED, WHY_DEVICE, WHY_EPOLL,
	WHY_EVENTFD, WHY_FANOTIFY, WHY_HUGETLB, WHY_INOTIFY, WHY_IO_URING,
	WHY_LOCKS, WHY_MQUEUE, WHY_MULTICAST, WHY_NAMESPACES, WHY_NETLINK,
	WHY_OTHER, WHY_PACKET, WHY_PAGES, WHY_PIDFD, WHY_PIPE, WHY_RAW,
	WHY_SECRETMEM, WHY_SHM, WHY_SHSTK, WHY_SOCKOPT, WHY_SYSV, WHY_TCP,
	WHY_TIMER, WHY_TTY, WHY_UDP, WHY_UNIX, WHY_USERFAULTFD, WHY_USERNS,
	WHY_KINDS
};

struct makereason {		/* why something cannot be restored */
	char		*text;	/* owned */
	enum makewhy	 kind;
};

struct maketask {		/* a process or a thread */
	struct proc	*proc;	/* borrowed */
	struct linuxrec	 rec;	/* owned */
	struct recfile	 status; /* borrowed, of rec; len 0: not told */
	struct procstat	 stat;
	uint64_t	 part;	/* of the snapshot: what was taken at once */
	uint32_t	 pid;	/* these as it sees them itself */
	uint32_t	 pgid;
	uint32_t	 sid;
	struct maketask	*parent; /* borrowed, as the next; NULL: of the root */
	struct maketask	*child;	/* the first */
	struct maketask	*sibling; /* the next */
	struct maketask	*files;	/* borrowed; whose descriptors it has */
	struct maketask	*first[MAKESHARES]; /* borrowed; of those chosen that
					share something with this one */
	size_t		 place;	/* in order */
	bool		 chosen;
	bool		 ring;	/* it was told that it has one of io_uring */
	struct makefd	*fd;	/* owned; ascending */
	size_t		 nfd;
	struct makefd	**byopen; /* owned; the same by what they lead to */
	struct vmas	 maps;	/* owned */
	unsigned int	*pages;	/* owned; one for each: flags of its pages
				   (enum criu_page), 0: none are restored as
				   private memory */
};

enum openkey {			/* keys of file/ID with numbers */
	OK_FLAGS, OK_POS, OK_MODE, OK_UID, OK_GID, OK_SIZE, OK_NLINK, OK_INO,
	OK_DEV, OK_RDEV, OK_DELETED, OK_OWNER, OK_CAPACITY, OK_ALONE, OK_SEALS,
	OK_COUNT, OK_SEMAPHORE, OK_MASK, OK_CLOCK, OK_SETTIME, OK_INTERVAL,
	OK_LEFT, OK_TICKS, OK_SOCKET, OK_OPTIONS, OK_TIMEOUTS,
	OK_INDEX, OK_MASTER, OK_TERMIOS, OK_TERMLOCK, OK_WINSIZE, OK_EXCLUSIVE,
	OK_PACKET, OK_SHUT, OK_WAITING, OK_HUNGUP, OK_PID, OK_TIMES, OK_UNREAD,
	OK_PROTOCOL, OK_FAMILY, OK_STREAM, OK_AGREED, OK_WINDOW,
	OK_LOCK, OK_NETLINK, OK_BOUND, OK_FRAMES, OK_RXRING, OK_TXRING,
	OK_FANOUT, OK_MAX
};

enum { OPEN_NUMBERS = 7 };	/* most that a key has */

enum {				/* numbers of OK_SOCKET */
	SOCK_TYPE, SOCK_STATE, SOCK_PEER, SOCK_BACKLOG, SOCK_SHUTDOWN
};

struct maketarget {		/* what an epoll set waits for */
	uint64_t	 fd;
	uint64_t	 events;
	uint64_t	 data;
	uint64_t	 id;	/* of the record; NOFILE: none in it */
};

#define NOFILE	UINT64_MAX

struct makewatch {		/* of an inotify set */
	uint64_t	 wd;
	uint64_t	 mask;
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 type;	/* of its handle */
	uint8_t		*handle; /* owned */
	size_t		 len;	/* bytes */
	char		*path;	/* owned; NULL: not known */
};

struct makepassed {		/* a descriptor that waits in a socket */
	uint64_t	 packet; /* with which: from 0 */
	uint64_t	 id;	/* of the record, of its open file */
};

struct makelistens {		/* what a packet socket listens for */
	uint64_t	 interface;
	uint64_t	 count;	/* how often it was asked to */
	uint64_t	 type;	/* of packet_mreq: packet(7) */
	uint8_t		*address; /* owned */
	size_t		 len;
};

struct makeopen {		/* an open file description */
	uint64_t	 key;	/* its number in the record */
	uint32_t	 id;	/* and in files.img; 0: not written */
	char		*type;	/* owned, as all pointers here */
	char		*path;
	char		*link;	/* another path of it; or NULL */
	char		*leads;	/* where a deleted symbolic link leads */
	char		*why;	/* it cannot be told in full, or restored; or
				   NULL */
	enum makewhy	 kind;	/* of why */
	uint8_t		*name;	/* of a socket */
	size_t		 namelen;
	uint8_t		*peer;	/* the name of the one it is connected to */
	size_t		 peerlen;
	uint8_t		*cc[2];	/* of a terminal: OK_TERMIOS, OK_TERMLOCK */
	size_t		 cclen[2];
	uint64_t	 v[OK_MAX][OPEN_NUMBERS];
	uint64_t	 has;	/* a bit for each key */
	struct makeinet	*inet;	/* of a socket of the internet; or NULL */
	uint64_t	 members; /* groups of a netlink socket: bits; the 33rd
				     is that of all others */
	struct makelistens *listens; /* of a packet socket */
	size_t		 nlistens;
	struct maketarget *target;
	size_t		 ntarget;
	struct makewatch *watch;
	size_t		 nwatch;
	uint64_t	 *caller; /* inodes of connections that wait to be
				     accepted by a socket */
	size_t		 ncaller;
	struct makepassed *passed; /* by packet */
	size_t		 npassed;
	bool		 sender; /* it was told who sent what waits in it */
	bool		 passing; /* no process has it: it waits in a socket */
	bool		 there;	/* criu has it, of those that wait */
	bool		 turn;	/* it is among those of struct criumake */
	size_t		 senders; /* sockets that are connected to it */
	size_t		 awaited; /* those of them that are to be there first */
	unsigned int	 ends;	/* of its inode that are restored: bits */
	bool		 data;	/* of its inode is written, of the first */
	bool		 locked; /* its own locks are written */
	bool		 linked; /* path is another than it was opened by */
	bool		 used;	/* by a chosen process */
	bool		 noted;	/* that it is not quite as it was */
	const struct maketask *user; /* borrowed; the first that has it */
};

struct makefd {			/* a descriptor */
	uint64_t	 fd;
	bool		 cloexec;
	struct makeopen	*open;	/* borrowed */
};

struct maketext {		/* a file that has a name, in files.img */
	uint32_t	 id;
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned */
};

struct makeghost {		/* a deleted file */
	uint32_t	 id;
	uint64_t	 dev;
	uint64_t	 ino;
};

struct makefilter {		/* of system calls, as one thread has it */
	const uint8_t	*code;	/* borrowed, of a record */
	size_t		 len;	/* bytes */
	uint32_t	 flags;
	bool		 chained; /* the one before it in the image was set
				   behind it */
};

struct makeshm {		/* shared memory */
	struct proc	*proc;	/* borrowed; carried along */
	uint32_t	 file;	/* the id it is mapped by; 0: not mapped */
	const struct makeopen *open; /* borrowed; one that is open, or NULL */
	const struct maketask *user; /* borrowed; the first that has it */
};

enum {				/* numbers of struct makesysv */
	SYSV_ID, SYSV_KEY, SYSV_MODE, SYSV_SIZE, SYSV_UID, SYSV_GID, SYSV_CUID,
	SYSV_CGID, SYSV_ATTACHED, SYSV_NUMBERS
};

enum { MADE_ID = 2 };		/* of a namespace that criu makes */

struct makesysv {		/* memory of System V */
	uint64_t	 v[SYSV_NUMBERS];
	struct proc	*proc;	/* borrowed; carried along; or NULL */
	uint64_t	 mapped; /* mappings of those chosen */
	bool		 used;	/* by one that is restored */
	const struct maketask *whole; /* borrowed; who has all of it mapped, */
	uint64_t	 wholeend; /* up to this address */
};

struct makeaccept {		/* a connection that waits to be accepted */
	uint64_t	 caller; /* its inode */
	struct makeopen	*open;	/* borrowed; the socket at which it waits */
};

struct criumake {
	struct snap	*snap;	/* borrowed, as all pointers here but where it
				   says so */
	const struct criuopts *opts;
	struct mades	*out;
	struct maketask	**task;	/* owned; one for each of snap's, NULL for
				   what is carried along */
	struct maketask	**bypid; /* owned; those that are not NULL */
	size_t		 nbypid;
	struct maketask	*root;
	struct maketask	**order; /* owned; processes, parents first */
	size_t		 norder;
	struct makeopen	**open;	/* owned; by key */
	struct makeopen	**byino; /* owned; the same by type and inode */
	size_t		 nopen;
	struct makeaccept *accept; /* owned; ascending */
	size_t		 naccept;
	struct maketext	*text;	/* owned; mapped files */
	size_t		 ntext;
	struct makeghost *ghost; /* owned */
	size_t		 nghost;
	struct makeshm	*shm;	/* owned */
	size_t		 nshm;
	struct makesysv	*sysv;	/* owned */
	size_t		 nsysv;
	uint32_t	 lastsysv; /* the greatest number of those used */
	struct maketask	*space;	/* that tells of the IPC namespace; or NULL */
	uint64_t	 queued; /* bytes of messages, of the fullest queue */
	struct makefilter *filter; /* owned; in seccomp.img */
	size_t		 nfilter;
	struct makeopen	**turn;	/* owned; in which descriptors wait, by turn */
	size_t		 nturn;
	uint32_t	 *tty;	/* owned; those in tty-info.img */
	size_t		 ntty;
	struct buf	*files;	/* files.img */
	struct made	*common[16]; /* borrowed; images there is one of */
	size_t		 ncommon;
	uint32_t	 lastid; /* of files */
	struct makereason *reason; /* owned */
	size_t		 nreason;
	bool		 fatal;	/* one of them is about a process as a whole */
	char		**note;	/* owned; what is not quite as it was */
	size_t		 nnote;
	size_t		 nclosed; /* connections that are not restored */
	char		*lock;	/* owned; of the table of nft(8) by which
				   connections are locked; NULL: they are not */
	unsigned int	 need;	/* enum criu_need: what restoring takes */
};

/* images.c */
struct made	*make_image(struct criumake *, uint32_t, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
struct buf	*make_common(struct criumake *, uint32_t, const char *);
int		 mades_check(struct mades *);

/* task.c */
int		 maketask_read(struct criumake *);
struct maketask	*maketask_find(const struct criumake *, uint64_t);
struct maketask	*maketask_process(const struct criumake *, uint64_t);
bool		 maketask_ended(const struct maketask *);
bool		 maketask_isinit(const struct maketask *);
bool		 maketask_runs(const struct maketask *);
uint32_t	 maketask_id(const struct maketask *);
size_t		 maketask_status(const struct maketask *, const char *,
		    unsigned int, uint64_t *, size_t);
int		 maketask_one(const struct maketask *, const char *,
		    const char *, const char *, uint64_t *);
int		 maketask_must(struct criumake *, const struct maketask *,
		    const char *, const char *, const char *, uint64_t *);
void		 maketask_free(struct criumake *);

/* spaces.c */
enum { CRIUS_IDS = 1 };		/* of criu itself */

int		 makespaces_check(struct criumake *);
void		 makespaces_ids(const struct criumake *, Criu__Ids *, bool);
int		 makespaces_write(struct criumake *);

/* tree.c */
int		 maketree_choose(struct criumake *);
int		 maketree_roots(struct criumake *, uint64_t **, size_t *);
int		 maketree_ids(struct criumake *, struct maketask *);
int		 maketree_write(struct criumake *);

/* check.c */
int		 makecheck_process(struct criumake *, struct maketask *);

/* rseq.c */
void		 makeregs_abort(struct image *, const uint64_t *, uint64_t *);

/*
 * regs.c: all that is of one kind of machine; amd64.c, arm64.c
 */
struct makeregs {		/* the first member of those of a machine */
	/* put them, which must outlive it, into a core, with the address that
	   the kernel clears when the thread ends: set_tid_address(2) */
	void		(*put)(Criu__Core *, struct makeregs *, uint64_t);
};

int		 makeregs_amd64(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, struct makeregs **);
int		 makeregs_arm64(struct criumake *, struct maketask *,
		    struct maketask *, const struct recfile *,
		    const uint64_t *, struct makeregs **);
enum { AUXV_MOST = 44 };	/* of what makeregs_auxv returns */
size_t		 makeregs_auxv(const struct maketask *);
void		 makeregs_machine(Criu__Core *, const struct maketask *);
int		 makeregs_get(struct criumake *, struct maketask *,
		    struct maketask *, const uint64_t *, struct makeregs **);

/* seccomp.c */
int		 makeseccomp_set(struct criumake *, struct maketask *,
		    struct maketask *, Criu__ThreadCore *);
int		 makeseccomp_write(struct criumake *);

/*
 * Cores: signal.c, process.c and core.c
 */
enum {
	SIGNALS = 64,
	SIGACTIONS = SIGNALS - 2,	/* but of SIGKILL and SIGSTOP */
	SIGINFO = 128,			/* bytes of a siginfo_t */
	LIMITS = 16,
	GROUPS = 65536,			/* NGROUPS_MAX */
	ALIVE = 1, ENDED = 2, STOPPED = 3	/* task_state */
};

struct corebits {		/* what a core is made of */
	Criu__Core	 core;
	Criu__TaskCore	 tc;
	Criu__ThreadCore th;
	struct makeregs	 *regs;	/* owned; NULL: it has none */
	Criu__Creds	 creds;
	uint32_t	 caps[5][2];
	Criu__Sas	 sas;
	Criu__Rseq	 rseq;
	Criu__Timers	 timers;
	Criu__Itimer	 itimer[3];
	Criu__Rlimits	 rlimits;
	Criu__Rlimit	 rlimit[LIMITS];
	Criu__Rlimit	 *rlimitp[LIMITS];
	Criu__SaEntry	 sa[SIGACTIONS];
	Criu__SaEntry	 *sap[SIGACTIONS];
	Criu__SignalQueue pending[2];	/* of the process, of the thread */
	Criu__Siginfo	 *siginfo[2];	/* owned */
	char		 comm[32];
	uint32_t	 *groups;	/* owned */
};

uint64_t	 corebits_blocked(const struct maketask *);
int		 corebits_stops(const struct criumake *, struct maketask *);
int		 corebits_pending(struct criumake *, struct corebits *,
		    struct maketask *, struct maketask *, bool);
int		 corebits_task(struct criumake *, struct corebits *,
		    struct maketask *);
int		 makecore_write(struct criumake *, struct maketask *,
		    struct maketask *);

/* mm.c */
int		 makemm_write(struct criumake *, struct maketask *);

/* memory.c */
int		 makemem_pages(struct criumake *, struct maketask *);
struct makeshm	*makemem_shm(struct criumake *, uint64_t, uint64_t,
		    const struct maketask *);
int		 makemem_mapped(struct criumake *, struct makeshm *,
		    uint32_t *);
int		 makemem_content(struct criumake *, struct proc *, uint32_t);
int		 makemem_write(struct criumake *);

/* sysv.c */
bool		 makesysv_is(const struct vma *);
int		 makesysv_read(struct criumake *);
int		 makesysv_mapped(struct criumake *, struct maketask *,
		    const struct vma *, Criu__Vma *);
bool		 makesysv_space(const struct criumake *);
int		 makesysv_write(struct criumake *);

/* sysvspace.c */
int		 makespace_read(struct criumake *);
int		 makespace_write(struct criumake *);

/* open.c */
int		 makeopen_read(struct criumake *);
int		 makeopen_fds(struct criumake *, struct maketask *);
bool		 makeopen_is(const struct makeopen *, const char *);
bool		 makeopen_dir(const struct makeopen *, char *, size_t);
bool		 makeopen_written(const struct makeopen *);
bool		 makeopen_has(const struct makeopen *, enum openkey);
void		 makeopen_fown(const struct criumake *, const struct makeopen *,
		    Criu__Fown *);
void		 makeopen_free(struct criumake *);

/* find.c */
int		 makefind_opens(struct criumake *);
struct makeopen	*makefind_open(const struct criumake *, uint64_t);
struct makeopen	*makefind_inode(const struct criumake *, const char *,
		    uint64_t);
struct makeopen	*makefind_peer(const struct criumake *,
		    const struct makeopen *);
struct makeopen	*makefind_accepter(const struct criumake *,
		    const struct makeopen *);
int		 makefind_inodecmp(const struct makeopen *,
		    const struct makeopen *);
int		 makefind_fds(struct maketask *);
const struct makefd *makefind_fd(const struct maketask *, uint64_t, uint64_t);
bool		 makefind_data(const struct criumake *, const char *, uint64_t,
		    struct recfile *);

/* judge.c */
unsigned int	 makejudge_type(const struct makeopen *);
int		 makejudge_opens(struct criumake *);

/* inetread.c */
int		 makeinet_read(struct makeopen *, struct words *);
void		 makeinet_free(struct makeinet *);

/* sockopt.c */
void		 makesocket_options(const struct makeopen *,
		    Criu__SocketOptions *);
int		 makesocket_note(struct criumake *, const struct maketask *,
		    const struct makefd *);

/* netlink.c */
const char	*makenetlink_hinders(const struct makeopen *);
void		 makenetlink_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* packet.c */
const char	*makepacket_hinders(const struct makeopen *);
int		 makepacket_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);
int		 makepacket_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* tcp.c: connections of TCP */
int		 maketcp_judge(struct criumake *);
int		 maketcp_write(struct criumake *, const struct makeopen *);
bool		 maketcp_is(const struct makeopen *);
bool		 maketcp_ended(const struct makeopen *);
bool		 maketcp_goes(const struct criumake *, const struct makeopen *);

/* inet.c */
const char	*makeinet_hinders(const struct makeopen *);
enum makewhy	 makeinet_kind(const struct makeopen *);
int		 makeinet_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makeinet_rest(struct criumake *);
int		 makeinet_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* fd.c */
int		 makefd_write(struct criumake *, struct maketask *);

/* socketread.c */
int		 makesocket_read(struct makeopen *, struct words *);
void		 makesocket_free(struct makeopen *);

/* queue.c: what waits in UNIX sockets */
int		 makequeue_use(struct criumake *);
const char	*makequeue_hinders(const struct criumake *,
		    const struct makeopen *);
int		 makequeue_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
int		 makequeue_refuse(struct criumake *);
int		 makequeue_order(struct criumake *);
int		 makequeue_write(struct criumake *);

/* unix.c */
bool		 makeunix_external(const struct criumake *,
		    const struct makeopen *);
int		 makeunix_note(struct criumake *, const struct maketask *,
		    const struct makefd *);
void		 makeunix_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* tty.c */
const char	*maketty_hinders(const struct criumake *,
		    const struct makeopen *);
int		 maketty_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* pidfd.c */
const char	*makepidfd_hinders(const struct criumake *,
		    const struct makeopen *);
void		 makepidfd_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* inotify.c */
int		 makewatch_read(struct makeopen *, struct words *);
void		 makewatch_free(struct makeopen *);
const char	*makeinotify_hinders(const struct makeopen *);
int		 makeinotify_write(struct criumake *, const struct makeopen *,
		    Criu__FileEntry, Criu__Fown *);

/* file.c */
int		 makefile_write(struct criumake *);

/* locks.c */
int		 makelocks_write(struct criumake *, struct maketask *);

/* ghost.c */
struct makeinode {		/* of a deleted file */
	uint64_t	 dev;
	uint64_t	 ino;
	uint32_t	 mode;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 rdev;
	bool		 timed;	/* the next two are told */
	uint64_t	 atime;	/* ns */
	uint64_t	 mtime;	/* ns */
	bool		 sized;	/* the next is */
	uint64_t	 size;	/* bytes */
	char		*leads;	/* borrowed; where a symbolic link leads */
};

struct proc	*makereg_content(struct criumake *, uint64_t, uint64_t);
uint64_t	 makereg_size(const struct proc *);
uint64_t	 makeghost_names(const struct proc *);
void		 makeghost_inode(struct makeinode *, const struct makeopen *);
int		 makeghost_add(struct criumake *, uint32_t, struct proc *,
		    const struct makeinode *);

/* regular.c */
int		 makereg_open(struct criumake *, const struct makeopen *,
		    uint32_t, bool);
int		 makereg_path(struct criumake *, const char *, uint32_t *);
int		 makereg_mapped(struct criumake *, struct maketask *,
		    const struct vma *, uint32_t *);

/* why.c */
int		 make_refuse(struct criumake *, enum makewhy, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
int		 make_never(struct criumake *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
int		 make_note(struct criumake *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));
int		 makewhy_judge(const struct criumake *);
void		 makewhy_free(struct criumake *);

#endif
