/*
 * Act as an attacker, for tests of confinement.  This is preloaded into a
 * program.  When the program first reads, it makes the system calls that an
 * attacker would make.  It prints those that succeeded to descriptor 9, and
 * whether it has tried enough.
 *
 * PROBE_DIR is a directory with a file "secret", PROBE_VICTIM a process of the
 * same user.  Without PROBE_VICTIM, it tries files only.
 */
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT = 9 };

static bool done;
static unsigned int tried;
static char secret[512], other[512];

static void
tell(const char *what, long rc)
{
	tried++;
	if (rc != -1)
		dprintf(REPORT, "possible: %s\n", what);
}

#define TRY(what, ...)	tell(what, syscall(__VA_ARGS__))

static void
probe_files(const char *dir)
{
	uint64_t how[3] = { O_RDONLY, 0, 0 };
	uint64_t make[3] = { O_WRONLY | O_CREAT, 0600, 0 };

	TRY("read /etc/shadow", SYS_openat, AT_FDCWD, "/etc/shadow", O_RDONLY);
	TRY("read /etc/passwd", SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
	TRY("read a file", SYS_openat, AT_FDCWD, secret, O_RDONLY);
	TRY("read a file, openat2", SYS_openat2, AT_FDCWD, secret, how,
	    sizeof how);
	TRY("read /proc", SYS_openat, AT_FDCWD, "/proc/1/environ", O_RDONLY);
	TRY("list", SYS_openat, AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	TRY("write", SYS_openat, AT_FDCWD, secret, O_WRONLY);
	TRY("append", SYS_openat, AT_FDCWD, secret, O_WRONLY | O_APPEND);
	TRY("truncate", SYS_openat, AT_FDCWD, secret, O_RDONLY | O_TRUNC);
	TRY("truncate by path", SYS_truncate, secret, 0);
	TRY("create", SYS_openat, AT_FDCWD, other, O_WRONLY | O_CREAT, 0600);
	TRY("create, openat2", SYS_openat2, AT_FDCWD, other, make,
	    sizeof make);
	TRY("tmpfile", SYS_openat, AT_FDCWD, dir, O_TMPFILE | O_RDWR, 0600);
	TRY("remove", SYS_unlinkat, AT_FDCWD, secret, 0);
	TRY("rename", SYS_renameat2, AT_FDCWD, secret, AT_FDCWD, other, 0);
	TRY("link", SYS_linkat, AT_FDCWD, secret, AT_FDCWD, other, 0);
	TRY("symlink", SYS_symlinkat, "/etc", AT_FDCWD, other);
	TRY("mkdir", SYS_mkdirat, AT_FDCWD, other, 0700);
	TRY("chmod", SYS_fchmodat, AT_FDCWD, secret, 0666);
	TRY("chown", SYS_fchownat, AT_FDCWD, secret, 1, 1, 0);
	TRY("xattr", SYS_setxattr, secret, "user.a", "b", 1, 0);
	TRY("fifo", SYS_mknodat, AT_FDCWD, other, S_IFIFO | 0600, 0);
#ifdef SYS_open
	TRY("old open", SYS_open, secret, O_RDONLY);
	TRY("old write", SYS_open, secret, O_RDWR);
	TRY("old create", SYS_creat, other, 0600);
	TRY("old remove", SYS_unlink, secret);
	TRY("old rename", SYS_rename, secret, other);
#endif
}

static void
probe_processes(pid_t victim)
{
	char *argv[] = { (char *)(uintptr_t)"true", NULL };
	char buf[8];
	struct iovec here = { buf, sizeof buf }, there = { &tried, 4 };
	long pid;

	TRY("signal", SYS_kill, victim, 0);
	TRY("kill", SYS_kill, victim, SIGKILL);
	TRY("kill a thread", SYS_tgkill, victim, victim, SIGKILL);
	TRY("kill a thread, tkill", SYS_tkill, victim, SIGKILL);
	TRY("queue a signal", SYS_rt_sigqueueinfo, victim, 0, NULL);
	TRY("signal a group", SYS_kill, 0, 0);
	TRY("be told of input", SYS_fcntl, REPORT, F_SETOWN, victim);
	TRY("pidfd", SYS_pidfd_open, victim, 0);
	TRY("trace", SYS_ptrace, PTRACE_SEIZE, victim, 0, 0);
	TRY("be traced", SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
	TRY("read memory", SYS_process_vm_readv, victim, &here, 1UL, &there,
	    1UL, 0UL);
	TRY("limit", SYS_prlimit64, victim, 7, NULL, NULL);
	TRY("exec", SYS_execve, "/bin/true", argv, NULL);
	TRY("execveat", SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0);
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	tell("fork", pid);
#ifdef SYS_fork
	pid = syscall(SYS_fork);
	if (pid == 0)
		syscall(SYS_exit_group, 0);
	tell("old fork", pid);
#endif
}

static void
probe_kernel(void)
{
	struct sockaddr_in far = { .sin_family = AF_INET, .sin_port = 1 };
	int sock;

	TRY("socket", SYS_socket, AF_INET, SOCK_STREAM, 0);
	TRY("unix socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	TRY("netlink", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
	for (sock = 0; sock < 16; sock++)
		if (sock != REPORT) {
			TRY("connect", SYS_connect, sock, &far, sizeof far);
			TRY("bind", SYS_bind, sock, &far, sizeof far);
			TRY("type on a terminal", SYS_ioctl, sock, 0x5412, "");
		}
	TRY("setuid", SYS_setuid, 0);
	TRY("setgroups", SYS_setgroups, 0, NULL);
	TRY("capset", SYS_capset, NULL, NULL);
	TRY("prctl", SYS_prctl, 38, 1, 0, 0, 0);
	TRY("unshare", SYS_unshare, 0x10000000);
	TRY("setns", SYS_setns, 0, 0);
	TRY("chroot", SYS_chroot, "/");
	TRY("mount", SYS_mount, "none", "/mnt", "tmpfs", 0, NULL);
	TRY("umount", SYS_umount2, "/mnt", MNT_DETACH);
	TRY("io_uring", SYS_io_uring_setup, 1, NULL);
	TRY("bpf", SYS_bpf, 0, NULL, 0);
	TRY("perf", SYS_perf_event_open, NULL, 0, 0, -1, 0);
	TRY("userfaultfd", SYS_userfaultfd, 0);
	TRY("keys", SYS_keyctl, 0, 0, 0);
	TRY("name_to_handle", SYS_open_by_handle_at, 0, NULL, 0);
	TRY("shared memory", SYS_shmget, 0, 4096, 01600);
	TRY("reboot", SYS_reboot, 0, 0, 0, NULL);
}

/*
 * Ask the helper, as an attacker could; report if it returns a descriptor or
 * success.
 */
static void
ask(const char *what, int sock, const char *q)
{
	char buf[1024], room[CMSG_SPACE(sizeof(int))];
	struct iovec v = { buf, sizeof buf };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = room, .msg_controllen = sizeof room };
	int rc;

	if (syscall(SYS_write, sock, q, strlen(q)) == -1 ||
	    syscall(SYS_recvmsg, sock, &m, 0) == -1)
		return;
	memcpy(&rc, buf, sizeof rc);
	tell(what, m.msg_controllen > 0 || rc != -1 ? 0 : -1);
}

static void
probe_helper(void)
{
	char q[600];
	struct stat st;
	int fd;

	for (fd = 3; fd < 16; fd++) {
		if (fd == REPORT || fstat(fd, &st) == -1 ||
		    !S_ISSOCK(st.st_mode))
			continue;
		ask("have /etc/shadow read", fd, "E/etc/shadow");
		ask("have a device opened", fd, "E/dev/zero");
		snprintf(q, sizeof q, "E%s", secret);
		ask("have a file read", fd, q);
		snprintf(q, sizeof q, "N%s", secret);
		ask("have a file written", fd, q);
		snprintf(q, sizeof q, "N%s", other);
		ask("have a file made", fd, q);
		ask("have something unknown done", fd, "Z");
	}
}

static void
probe(void)
{
	const char *dir, *victim;
	int e;

	if (done || (dir = getenv("PROBE_DIR")) == NULL)
		return;
	done = true;
	e = errno;
	snprintf(secret, sizeof secret, "%s/secret", dir);
	snprintf(other, sizeof other, "%s/other", dir);
	probe_files(dir);
	if ((victim = getenv("PROBE_VICTIM")) != NULL) {
		probe_processes((pid_t)strtol(victim, NULL, 10));
		probe_kernel();
		probe_helper();
	}
	dprintf(REPORT, "%s\n", tried > 60 ? "tried" : "tried too little");
	errno = e;
}

/*
 * Do not probe in a forked process: the helper is not confined.
 */
static void
forked(void)
{
	done = true;
}

static void __attribute__((constructor))
begin(void)
{
	pthread_atfork(NULL, NULL, forked);
}

#define HOOK(name, ret, params, args)					\
ret name params;							\
ret									\
name params								\
{									\
	ret (*next) params;						\
									\
	probe();							\
	*(void **)&next = dlsym(RTLD_NEXT, #name);			\
	return next args;						\
}

/* a C library may define these as other names of pread and preadv */
#undef pread64
#undef preadv64

HOOK(read, ssize_t, (int fd, void *buf, size_t n), (fd, buf, n))
HOOK(__read_chk, ssize_t, (int fd, void *buf, size_t n, size_t m),
    (fd, buf, n, m))
HOOK(pread, ssize_t, (int fd, void *buf, size_t n, off_t at),
    (fd, buf, n, at))
HOOK(pread64, ssize_t, (int fd, void *buf, size_t n, off_t at),
    (fd, buf, n, at))
HOOK(__pread_chk, ssize_t, (int fd, void *buf, size_t n, off_t at, size_t m),
    (fd, buf, n, at, m))
HOOK(__pread64_chk, ssize_t, (int fd, void *buf, size_t n, off_t at,
    size_t m), (fd, buf, n, at, m))
HOOK(preadv, ssize_t, (int fd, const struct iovec *v, int n, off_t at),
    (fd, v, n, at))
