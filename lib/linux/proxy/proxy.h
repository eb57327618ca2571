/*
 * The proxy: a process of ours that does in our place what may never come
 * back.  The process that traces makes no call that can sleep on what a target,
 * a file server or another machine controls: it has the proxy run a function
 * that makes it, and goes on without an answer where none comes in time.
 *
 * proxy.c is our side, main.c the process, and ask.c what it is asked for
 * wherever targets are read; other functions that it runs stand beside those
 * who ask for them.
 */
/*
 * CALLS IN THE STOP: what the process that traces may call from when the first
 * thread stands still until the last goes on (tests/live/calls.t).  Each ends
 * by itself, or waits for a proxy, for as long as -t says, or is a nap.  Files
 * are the kernel's, or of file systems of this machine alone: those that are
 * opened by way of /proc/PID and are not, a proxy opens (file/target.c), and of
 * /proc itself those that may wait (proc/read.c).  A path begins with a word of
 * the line "paths", where - is an empty one, . any that does not begin with a
 * slash, and /tmp is for spools; of calls that have a line, an argument is a
 * word of it.
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
 *		openat2 pread64 preadv pwrite64 read write writev
 *	messages: bind getpeername getsockname pipe2 poll ppoll recvfrom
 *		recvmsg sendmsg sendto socketpair
 *	paths:	- . /proc /sys/fs/cgroup /tmp
 *	fcntl:	F_ADD_SEALS F_DUPFD F_GETFD F_GETFL F_GETOWN F_GETSIG
 *		F_GET_SEALS F_SETFD F_SETFL 0x11
 *	getsockopt: SOL_SOCKET
 *	ioctl:	0x66 FIONREAD PAGEMAP_SCAN PROCMAP_QUERY SIOCPROTOPRIVATE
 *		SIOCOUTQ TCGETS TCGETS2 TIOCGWINSZ TIOCOUTQ
 *	setsockopt: SO_RCVTIMEO
 *	setns:	CLONE_NEWCGROUP CLONE_NEWIPC CLONE_NEWNET CLONE_NEWUTS
 *	socket:	AF_NETLINK
 */
#ifndef PROXY_H
#define PROXY_H

#include "io/io.h"
#include "machine.h"
#include "snap.h"

#include <sys/stat.h>

#include <linux/openat2.h>

#include <limits.h>

/* how a name is looked up that must be no link and no mount: openat2(2) */
#define PROXY_PLAIN	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | \
			    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* bytes of a question, and of a message of an answer */
enum { MAX_PROXY = 64 * 1024 };
_Static_assert(MAX_PROXY % MAX_MACHINE_PAGE == 0, "pages fit into answers");

/*
 * A question, for the function that answers it in the proxy.
 */
struct serving {
	const void	*arg;	/* borrowed; what came with it */
	size_t		 len;	/* bytes of that */
	int		 fd;	/* the same, closed afterwards; -1: none, or
				   the function keeps it */
	int		 out;	/* what goes with the answer, closed
				   afterwards; -1: nothing */
	bool		 last;	/* no other can be answered afterwards */
	int		 sock;
	size_t		 n;	/* bytes of buf */
	uint8_t		 buf[MAX_PROXY]; /* of the answer, not sent yet */
};

/*
 * What answers a question.  It returns 0; or -1 with errno, and with errstr if
 * it has a sentence for it.
 */
typedef int	(*proxy_fn)(struct serving *s);

enum proxy_kind {		/* who is asked */
	KEY_DEVICE,
	KEY_PROC,
	KEY_WALK,
	KEY_MEMORY,
	KEY_OPEN,		/* what one open file is */
	KEY_SPACE		/* a namespace */
};

/*
 * Proxies at once.  Each answers one question at a time.
 */
enum {
	PROXY_FIRST,		/* asked where no other is named */
	PROXY_PEEKER,		/* looks into queues: socket/peek.c */
	PROXY_UNLOCKER,		/* locks connections: socket/tcpunlock.c */
	PROXY_LANES
};

struct proxy_key {		/* who is asked */
	enum proxy_kind	 kind;
	uint64_t	 id;	/* of the device, process, file ... */
	const char	*what;	/* borrowed; for the user */
	size_t		 lane;	/* which proxy is asked */
};

struct proxy_question {
	struct proxy_key key;
	proxy_fn	 fn;	/* that the proxy runs, with these: */
	const void	*arg;	/* borrowed */
	size_t		 len;
	int		 fd;	/* borrowed; -1: none */
};

struct proxy_asked {		/* one of many questions: proxy_fetchall */
	struct proxy_question q;
	struct bulk	 to;	/* owned; the answer */
	int		 rc;
	int		 error;
	char		 why[160];
	pid_t		 asked;	/* the process that was sent it; -1: none can
				   be; 0: not yet */
};

/* main.c: for functions that run in the proxy */
void		 proxy_main(int sock) __attribute__((noreturn));
void		 serve_end(void (*end)(void));
void		 serve_put(struct serving *s, const void *data, size_t n);
uint8_t		*serve_room(struct serving *s, size_t least, size_t *room);

/* program.c: programs that it runs, and lists of files */
int		 program_run(const char *const argv[], int ns, int sock,
		    const void *in, size_t len, struct buf *out);
int		 serve_files(struct serving *s, const struct filelist *l);
int		 proxy_files(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t n, int fd, struct filelist *to);

/* proxy.c */
void		 proxy_allow(unsigned int seconds);
bool		 proxy_ison(void);
void		 proxy_hold(bool held);
void		 proxy_boost(bool first);
void		 proxy_ready(void);
void		 proxy_forked(void);
void		 proxy_end(void);
bool		 proxy_isours(pid_t pid);
pid_t		 proxy_process(size_t lane);
void		 proxy_close(size_t lane);

/* call.c */
bool		 proxy_missed(size_t n, char *what, size_t size);
int		 proxy_fetch(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t len, int fd, struct bulk *to);
void		 proxy_fetchall(struct proxy_asked *v, size_t n);
ssize_t		 proxy_call(const struct proxy_key *k, proxy_fn fn,
		    const void *arg, size_t len, int fd, void *buf,
		    size_t size, int *out);

/* ask.c */
struct proxy_file {		/* a file that was opened */
	bool		 elf;	/* it begins as an ELF file */
	int		 unread; /* an errno: whether it does is not known */
	long		 type;	/* of its file system: statfs(2) */
	struct stat	 st;
};

int		 proxy_proc(pid_t pid, const char *path, struct bulk *out);
int		 proxy_fdinfo(pid_t pid, int fd, const char *what,
		    struct bulk *out);
int		 proxy_walk(int root, const char *path);
int		 proxy_step(int dir, const char *name);
int		 proxy_open(int at, uint64_t number, uint64_t dev,
		    const char *name, struct proxy_file *f);
ssize_t		 proxy_read(int at, uint64_t number, uint64_t dev,
		    const char *name, void *buf, size_t len, uint64_t off);
size_t		 proxy_fits(size_t len, uint64_t addr, uint64_t page);
ssize_t		 proxy_memory(int mem, pid_t pid, bool file, void *buf,
		    size_t len, uint64_t addr);

#endif
