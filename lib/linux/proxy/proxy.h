/*
 * The proxy: a process of ours that makes calls that may never return. The
 * tracer makes no call that can block on something that a target, a file server
 * or another machine controls. Instead the proxy runs a function that makes it,
 * and the tracer continues without an answer if none comes in time.
 *
 * proxy.c is the tracer's side, main.c the process, and ask.c has the functions
 * needed wherever targets are read. Other functions that the proxy runs are
 * beside their callers.
 */
/*
 * CALLS IN THE STOP: what the tracing process may call while threads are
 * stopped (tests/live/calls.t). Each call returns without help from outside,
 * waits for a proxy, for as long as -t says, or is a short sleep. With -s and
 * -k, write(2) also waits for the reader of the output. Files are the
 * kernel's, or on local file systems. Others that are reached through /proc/PID
 * are opened by a proxy (file/target.c), and it reads files of /proc that may
 * block (proc/read.c). If a target decides which files may be opened, none is
 * (files_refuse()). A path must begin with a word of the line "paths", where
 * - is the empty path, . any relative one, and /tmp is for temporary files. If
 * a call has a line of its own, one argument must be a word of that line.
 *
 *	memory:	brk madvise mmap mprotect mremap munmap
 *	ours:	clock_gettime clock_nanosleep clone clone3 exit futex getcpu
 *		getegid geteuid getgid getpid getppid getrandom getrlimit
 *		gettid getuid membarrier nanosleep prlimit64
 *		restart_syscall rseq rt_sigaction rt_sigprocmask
 *		rt_sigqueueinfo rt_sigreturn rt_sigtimedwait
 *		sched_setaffinity sched_setscheduler sched_yield
 *		set_robust_list setpgid sysinfo uname
 *	threads: get_robust_list getpriority ioprio_get kcmp kill pidfd_getfd
 *		pidfd_open process_vm_readv process_vm_writev ptrace
 *		sched_getaffinity sched_getattr sched_getparam
 *		sched_getscheduler tgkill tkill wait4 waitid waitpid
 *	files:	close close_range copy_file_range dup fallocate fstat fstatfs
 *		ftruncate getdents64 lseek memfd_create open_by_handle_at
 *		openat2 pread64 preadv pwrite64 read timerfd_gettime write
 *		writev
 *	messages: bind getpeername getsockname pipe2 poll ppoll recvfrom
 *		recvmsg sendmsg sendto socketpair
 *	paths:	- . /proc /sys/fs/cgroup /tmp
 *	fcntl:	F_ADD_SEALS F_DUPFD F_GETFD F_GETFL F_GETOWN F_GETSIG
 *		F_GET_SEALS F_SETFD F_SETFL 0x11
 *	getsockopt: SOL_SOCKET
 *	ioctl:	0x66 FIONREAD PAGEMAP_SCAN PROCMAP_QUERY SIOCGSKNS
 *		SIOCPROTOPRIVATE SIOCOUTQ TCGETS TCGETS2 TIOCGWINSZ TIOCOUTQ
 *	setsockopt: SO_RCVTIMEO
 *	setns:	CLONE_NEWCGROUP CLONE_NEWIPC CLONE_NEWNET CLONE_NEWUTS
 *	socket:	AF_NETLINK AF_UNIX
 */
#ifndef PROXY_H
#define PROXY_H

#include "io/io.h"
#include "machine.h"
#include "library.h"

#include <linux/openat2.h>

/* openat2(2) flags to look up a name that must not be a link or mount point */
#define PROXY_PLAIN	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | \
			    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* maximum bytes of a question, and of each message of an answer */
enum { MAX_PROXY = 64 * 1024 };
_Static_assert(MAX_PROXY % MAX_MACHINE_PAGE == 0, "pages fit into answers");

/*
 * A question, as passed to the function that answers it in the proxy.
 */
struct serving {
	const void	*arg;	/* borrowed; argument of the question */
	size_t		 len;	/* length of arg, in bytes */
	int		 fd;	/* descriptor that came with the question,
				   closed after the answer; -1: none. A function
				   that keeps the descriptor sets this to -1 */
	int		 out;	/* descriptor to send with the answer, and then
				   to close; -1: none */
	bool		 last;	/* set to end the proxy after this answer */
	int		 sock;
	size_t		 n;	/* number of bytes in buf */
	uint8_t		 buf[MAX_PROXY]; /* part of the answer that is not yet
					    sent */
};

/*
 * A function that answers a question. It returns 0, or -1 with errno set, and
 * with errstr set if it has a message.
 */
typedef int	(*proxy_fn)(struct serving *s);

enum proxy_kind {		/* kind of object that may block the proxy */
	KEY_DEVICE,
	KEY_PROC,
	KEY_EXEC,		/* a process that may be inside execve(2) */
	KEY_WALK,
	KEY_MEMORY,
	KEY_OPEN,		/* an open file */
	KEY_SPACE		/* a namespace */
};

/*
 * The proxies, which run at the same time. Each answers one question at a time.
 */
enum {
	PROXY_FIRST, /* answers all questions that the other proxies do not */
	PROXY_PEEKER,		/* peeks at socket queues; see socket/peek.c */
	PROXY_UNLOCKER, /* locks and unlocks connections; see
			   socket/tcpunlock.c */
	PROXY_LANES
};

struct proxy_key {		/* object that may block the proxy */
	enum proxy_kind	 kind;
	uint64_t	 id;	/* number of the device, process, file etc. */
	const char	*what;	/* borrowed; description of the object, for
				   messages */
	size_t		 lane;	/* index of the proxy to ask */
};

struct proxy_question {
	struct proxy_key key;
	proxy_fn	 fn; /* function that the proxy runs with arg and fd */
	const void	*arg;	/* borrowed */
	size_t		 len;
	int		 fd;	/* borrowed; -1: none */
};

struct proxy_asked {		/* one of several questions for
				   proxy_fetchall() */
	struct proxy_question q;
	struct bulk	 to;	/* owned; the answer */
	int		 rc;
	char		 why[160];
	pid_t		 asked;	/* process that the question was sent to; -1:
				   sending failed; 0: not yet sent */
};

/* main.c: for functions that run in the proxy */
void		 proxy_main(int sock) __attribute__((noreturn));
void		 serve_end(void (*end)(void));
void		 serve_put(struct serving *s, const void *data, size_t n);
uint8_t		*serve_room(struct serving *s, size_t min, size_t *room);

/* program.c: run other programs in the proxy, and return lists of files */
int		 program_run(const char *const argv[], int ns, int sock, int ms,
		    const void *in, size_t len, struct buf *out);
int		 serve_files(struct serving *s, const struct filelist *l);
int		 proxy_files(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t n, int fd, struct filelist *files);

/* proxy.c: start and end proxies */
void		 proxy_allow(unsigned int seconds);
bool		 proxy_ison(void);
void		 proxy_hold(bool held);
void		 proxy_boost(bool realtime);
void		 proxy_ready(void);
void		 proxy_forked(void);
void		 proxy_end(void);
bool		 proxy_isours(pid_t pid);
pid_t		 proxy_process(size_t lane);
void		 proxy_close(size_t lane);

/* call.c: ask a proxy */
bool		 proxy_missed(size_t n, struct proxy_key *k, char *buf,
		    size_t size);
int		 proxy_fetch(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t len, int fd, struct bulk *bytes);
void		 proxy_fetchall(struct proxy_asked *v, size_t n);
ssize_t		 proxy_call(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t len, int fd, void *buf,
		    size_t size, int *out);

/* ask.c: questions about files and memory of targets */
struct proxy_file {		/* a file opened by the proxy */
	bool		 elf;	/* the file starts with an ELF header */
	int		 unread; /* errno if the start of the file could not be
				    read, else 0 */
	long		 type;	/* type of the file system, as in statfs(2) */
	struct stat	 st;
};

int		 proxy_proc(enum proxy_kind kind, pid_t pid, const char *path,
		    struct bulk *out);
int		 proxy_fdinfo(pid_t pid, int fd, const char *desc,
		    struct bulk *out);
int		 proxy_walk(int dir, const char *path, uint64_t resolve);
int		 proxy_open(int fd, uint64_t number, uint64_t dev,
		    const char *name, struct proxy_file *f);
ssize_t		 proxy_read(int fd, uint64_t number, uint64_t dev,
		    const char *name, void *buf, size_t len, uint64_t off);
size_t		 proxy_fits(size_t len, uint64_t addr, uint64_t page);
ssize_t		 proxy_memory(int mem, pid_t pid, bool file, void *buf,
		    size_t len, uint64_t addr);

#endif
