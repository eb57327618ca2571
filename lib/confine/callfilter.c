/*
 * Filter system calls by a table, with seccomp(2): only calls for reading,
 * computing, threads and writing to open files are allowed.
 *
 * A call missing from the table fails with ENOSYS, as on a kernel without it,
 * so that C libraries of any age use another way (clone(2) in place of
 * clone3(2), whose flags a filter cannot see), or fail with a message; a
 * process that was killed could not report anything. A call in the table with
 * other arguments fails with EPERM.
 */
#include "calls.h"
#include "confine.h"
#include "machine.h"

#include <asm/termbits.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

enum {
	ANY = -1,
	ALL = 0,
	NEWSPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
	    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	CHANGES = ACCESS_MODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)
};

struct call {
	int		 nr;
	unsigned int	 programs; /* programs that may make the call: bits
				      CALLS_..., or ALL */
	int		 arg;	/* number of the argument to check, or ANY */
	uint32_t	 mask;	/* bits of the argument to check */
	uint32_t	 value;	/* value that the bits in mask must have */
};

#define CALL(n)			{ SYS_##n, ALL, ANY, 0, 0 }
#define FOR(n, programs)	{ SYS_##n, programs, ANY, 0, 0 }
#define ARG(n, arg, value)	{ SYS_##n, ALL, arg, UINT32_MAX, value }
#define MASK(n, arg, mask, value) { SYS_##n, ALL, arg, mask, value }

/* 32-bit machines have other calls */
#if defined SYS_mmap && defined SYS_newfstatat
static const struct call calls[] = {
	/* most frequent calls first */
	CALL(read), CALL(pread64), CALL(write), CALL(writev), CALL(futex),
	CALL(preadv), CALL(readv), CALL(lseek), CALL(mmap), CALL(munmap),
	CALL(brk), CALL(madvise), CALL(close), CALL(fstat),

	/* memory */
	CALL(mprotect), CALL(mremap),

	/* files that are open, and files opened for reading */
	CALL(newfstatat), CALL(pwrite64), CALL(pwritev), CALL(ftruncate),
	CALL(fsync), CALL(fadvise64), CALL(getdents64), CALL(dup),
	CALL(dup3), CALL(ppoll), CALL(faccessat), CALL(readlinkat),
	CALL(getcwd), CALL(sync_file_range),
	MASK(openat, 2, CHANGES, O_RDONLY),
	ARG(fcntl, 1, F_DUPFD), ARG(fcntl, 1, F_DUPFD_CLOEXEC),
	ARG(fcntl, 1, F_GETFD), ARG(fcntl, 1, F_SETFD),
	ARG(fcntl, 1, F_GETFL),
	ARG(ioctl, 1, TCGETS), ARG(ioctl, 1, TIOCGWINSZ),
	ARG(ioctl, 1, TIOCGPGRP),
#ifdef TCGETS2		/* isatty(3) of glibc 2.43 and newer */
	ARG(ioctl, 1, TCGETS2),
#endif
#ifdef SYS_statx
	CALL(statx),
#endif
#ifdef SYS_faccessat2
	CALL(faccessat2),
#endif
#ifdef SYS_open
	CALL(stat), CALL(lstat), CALL(access), CALL(readlink), CALL(dup2),
	CALL(poll), CALL(getpgrp),
	MASK(open, 1, CHANGES, O_RDONLY),
#endif
#ifdef SYS_time
	CALL(time),
#endif

	/* threads and their signals, clock, exit */
	MASK(clone, 0, CLONE_THREAD | NEWSPACES, CLONE_THREAD),
	CALL(set_robust_list), CALL(set_tid_address), CALL(sched_yield),
	CALL(sched_getaffinity), CALL(gettid), CALL(getpid), CALL(getpgid),
	CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn),
	CALL(rt_sigtimedwait), CALL(sigaltstack), CALL(restart_syscall),
	CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday),
	CALL(clock_nanosleep), CALL(nanosleep), CALL(getrandom),
	CALL(getuid), CALL(geteuid), CALL(getgid), CALL(getegid),
	CALL(getgroups),
	CALL(uname), CALL(sysinfo), CALL(exit), CALL(exit_group),
	ARG(prlimit64, 0, 0), ARG(getrusage, 0, RUSAGE_SELF),
#ifdef SYS_rseq
	CALL(rseq),
#endif
#ifdef SYS_getrlimit
	CALL(getrlimit),
#endif

	/* the helper's answers, and its end */
	CALL(recvmsg), CALL(shutdown), CALL(wait4),

#ifdef SYS_openat2
	FOR(openat2, CALLS_BENEATH | CALLS_MAKE),
#endif
	FOR(openat, CALLS_MAKE), FOR(mkdirat, CALLS_MAKE),
	FOR(unlinkat, CALLS_MAKE), FOR(symlinkat, CALLS_MAKE),
#ifdef SYS_open
	FOR(open, CALLS_MAKE), FOR(mkdir, CALLS_MAKE),
	FOR(rmdir, CALLS_MAKE),
#endif
	FOR(setsid, CALLS_SERVE), FOR(chdir, CALLS_SERVE),
	FOR(accept4, CALLS_SERVE), FOR(sendmsg, CALLS_ASK),
	{ SYS_prctl, CALLS_SERVE, 0, UINT32_MAX, PR_SET_PDEATHSIG },
#ifdef SANITIZED
	/* calls of the sanitizers' runtime, mostly at exit */
	CALL(clone), CALL(ptrace), CALL(prctl), CALL(getppid), CALL(tgkill),
	CALL(pipe2), CALL(tkill), CALL(kill), CALL(personality),
	CALL(process_vm_readv),
#ifdef SYS_getdents
	CALL(getdents),
#endif
#endif
};

enum { NCALLS = sizeof calls / sizeof *calls };

struct program {
	struct sock_filter code[8 * (NCALLS + 4)];
	unsigned short	 n;
};

static void
put(struct program *p, unsigned int code, uint32_t k, unsigned int jt,
    unsigned int jf)
{
	p->code[p->n++] = (struct sock_filter){ (uint16_t)code, (uint8_t)jt,
	    (uint8_t)jf, k };
}

static void
put_load(struct program *p, size_t at)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at, 0, 0);
}

static void
put_return(struct program *p, uint32_t action)
{
	put(p, BPF_RET | BPF_K, action, 0, 0);
}

/*
 * Append code that allows call c. The accumulator contains the number of the
 * call both before and after this code.
 */
static void
put_call(struct program *p, const struct call *c)
{
	const unsigned int equal = BPF_JMP | BPF_JEQ | BPF_K;
	size_t arg;

	if (c->arg == ANY) {
		put(p, equal, (uint32_t)c->nr, 0, 1);
		put_return(p, SECCOMP_RET_ALLOW);
		return;
	}
	arg = offsetof(struct seccomp_data, args) +
	    (size_t)c->arg * sizeof(uint64_t);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	arg += sizeof(uint32_t);
#endif
	put(p, equal, (uint32_t)c->nr, 0, 5);
	put_load(p, arg);
	put(p, BPF_ALU | BPF_AND | BPF_K, c->mask, 0, 0);
	put(p, equal, c->value, 0, 1);
	put_return(p, SECCOMP_RET_ALLOW);
	put_load(p, offsetof(struct seccomp_data, nr));
}

/*
 * Build in p a filter that allows the calls that every program needs, and the
 * groups of calls that the CALLS_ bits in programs select. All other calls
 * fail, and so do calls of an architecture other than machine, such as 32-bit
 * ones.
 */
static void
make(struct program *p, unsigned int programs, uint32_t machine)
{
	const struct call own = ARG(tgkill, 0, (uint32_t)getpid());
	size_t i;

	put_load(p, offsetof(struct seccomp_data, arch));
	put(p, BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
	put_return(p, SECCOMP_RET_ERRNO | ENOSYS);
	put_load(p, offsetof(struct seccomp_data, nr));
	for (i = 0; i < NCALLS; i++)
		if (calls[i].programs == ALL ||
		    (calls[i].programs & programs) != 0)
			put_call(p, &calls[i]);
	put_call(p, &own);
	for (i = 0; i < NCALLS; i++)
		if (calls[i].arg != ANY) {
			put(p, BPF_JMP | BPF_JEQ | BPF_K,
			    (uint32_t)calls[i].nr, 0, 1);
			put_return(p, SECCOMP_RET_ERRNO | EPERM);
		}
	put_return(p, SECCOMP_RET_ERRNO | ENOSYS);
}

/*
 * Restrict this process, and threads that it creates later, to the system calls
 * that every program needs, and to the groups of calls that the CALLS_ bits in
 * programs select. The process must have one thread and no_new_privs. Return 0,
 * or -1 with errno set. This fails if the kernel does not support filters. It
 * also fails on untested machines: on some, clone(2) takes its flags in a
 * different argument.
 */
int
callfilter_apply(unsigned int programs)
{
	const struct machine *here = machine_here();
	struct program p;
	struct sock_fprog prog = { .filter = p.code };

	if (strcmp(here->name, "amd64") != 0 &&
	    strcmp(here->name, "arm64") != 0) {
		errno = ENOSYS;
		return -1;
	}
	p.n = 0;
	make(&p, programs, machine_audit(here));
	prog.len = p.n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}
#else
int
callfilter_apply(unsigned int programs)
{
	(void)programs;
	errno = ENOSYS;
	return -1;
}
#endif
