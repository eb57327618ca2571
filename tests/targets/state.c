/*
 * State that only the process itself can read: signal actions, alternate
 * stacks, timers and more.  It makes the system calls directly, and prints a
 * line "record FILE LINE" for each line that a record must have, and "thread
 * TID" before those of another thread.  Afterwards its state and its mappings
 * must be the same.
 */
#include "target.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#ifndef sigev_notify_thread_id	/* glibc has no other name for it */
#define sigev_notify_thread_id	_sigev_un._tid
#endif

enum { TID_ADDRESS = 40 };

static atomic_bool told_other;
static char stack[2][64 * 1024];

static void
handler(int sig)
{
	(void)sig;
}

static void
told(FILE *f, const char *name, const char *text)
{
	fprintf(f, "record %s %s\n", name, text);
}

static void
tell_prctl(FILE *f, const char *name, int option, size_t size, const char *fmt)
{
	unsigned long v = 0;
	char s[64];
	long rc;

	rc = syscall(SYS_prctl, option, size > 0 ? &v : 0, 0, 0, 0);
	if (rc == -1)
		return;
	snprintf(s, sizeof s, *fmt == 'x' ? "%lx" : "%lu",
	    size > 0 ? v : (unsigned long)rc);
	told(f, name, s);
}

static void
tell_thread(FILE *f)
{
	stack_t ss;
	struct sched_param sp;
	void *head;
	size_t len;

	syscall(SYS_sigaltstack, NULL, &ss);
	fprintf(f, "record sigaltstack %lx %zu %x\n",
	    (unsigned long)ss.ss_sp, ss.ss_size, (unsigned)ss.ss_flags);
	tell_prctl(f, "tid_address", TID_ADDRESS, 8, "x");
	tell_prctl(f, "pdeath_signal", PR_GET_PDEATHSIG, 4, "u");
	tell_prctl(f, "securebits", PR_GET_SECUREBITS, 0, "x");
	syscall(SYS_sched_getparam, 0, &sp);
	fprintf(f, "record scheduling %ld %d %ld\n",
	    syscall(SYS_sched_getscheduler, 0), sp.sched_priority,
	    20 - syscall(SYS_getpriority, 0, 0));
	syscall(SYS_get_robust_list, 0, &head, &len);
	fprintf(f, "record robust_list %lx %zu\n", (unsigned long)head, len);
}

static void
tell_process(FILE *f)
{
	struct {
		unsigned long handler, flags, restorer, mask;
	} sa;
	long v;
	int i;

	for (i = 1; i <= 64; i++)
		if (i != SIGKILL && i != SIGSTOP &&
		    syscall(SYS_rt_sigaction, i, NULL, &sa, 8) == 0)
			fprintf(f, "record sigaction %d %lx %lx %lx %lx\n", i,
			    sa.handler, sa.flags, sa.restorer, sa.mask);
	fprintf(f, "record brk %lx\n", syscall(SYS_brk, 0));
	tell_prctl(f, "dumpable", PR_GET_DUMPABLE, 0, "u");
	tell_prctl(f, "child_subreaper", PR_GET_CHILD_SUBREAPER, 4, "u");
	tell_prctl(f, "thp_disable", PR_GET_THP_DISABLE, 0, "u");
	if ((v = syscall(SYS_membarrier, 1 << 9, 0, 0)) >= 0)
		fprintf(f, "record membarrier %lx\n", v);
}

static void
set_stack(int i, int flags)
{
	stack_t ss = { .ss_sp = stack[i], .ss_size = sizeof stack[i],
	    .ss_flags = flags };

	if (sigaltstack(&ss, NULL) == -1)
		err(1, "sigaltstack");
}

static void
set_actions(void)
{
	struct sigaction sa = { .sa_handler = handler };

	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaddset(&sa.sa_mask, 40);
	sa.sa_flags = SA_RESTART | SA_ONSTACK | SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = SA_SIGINFO | SA_RESETHAND;
	sigaction(63, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_DFL;
	sa.sa_flags = SA_NOCLDWAIT;
	sigaction(SIGCHLD, &sa, NULL);
}

static void
set_timers(void)
{
	struct itimerval it = { { 7, 500000 }, { 50000, 0 } };
	struct sigevent se = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGUSR1 };
	struct itimerspec ts = { { 0, 125000000 }, { 100000, 0 } };
	timer_t t;

	setitimer(ITIMER_REAL, &it, NULL);
	it.it_interval.tv_sec = 0;
	setitimer(ITIMER_PROF, &it, NULL);
	se.sigev_value.sival_ptr = stack;
	syscall(SYS_timer_create, CLOCK_MONOTONIC, &se, &t);
	syscall(SYS_timer_settime, t, 0, &ts, NULL);
	printf("timer %d 1 10 0 %lx 0 0 125000000 100000000000000\n",
	    *(int *)&t, (unsigned long)stack);
	se.sigev_notify = SIGEV_THREAD_ID;
	se.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	se.sigev_signo = 63;
	syscall(SYS_timer_create, CLOCK_REALTIME, &se, &t);
	printf("timer %d 0 63 4 %lx %d 0 0 0\n", *(int *)&t,
	    (unsigned long)stack, (int)getpid());
	se.sigev_notify = SIGEV_NONE;
	syscall(SYS_timer_create, CLOCK_BOOTTIME, &se, &t);
	printf("timer %d 7 63 1 %lx 0 0 0 0\n", *(int *)&t,
	    (unsigned long)stack);
	puts("itimer real 7500000 50000000000");
	puts("itimer virtual 0 0");
	puts("itimer prof 500000 50000000000");
}

static void *
other(void *arg)
{
	set_stack(1, 0);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	setpriority(PRIO_PROCESS, 0, 5);
	printf("thread %ld\n", syscall(SYS_gettid));
	tell_thread(stdout);
	fflush(stdout);
	told_other = true;
	pause();
	return arg;
}

/*
 * Write the state of the process and its mappings to buf.
 */
static size_t
look(char *buf, size_t size)
{
	FILE *f;
	ssize_t n;
	size_t len;
	int fd;

	memset(buf, 0, size);
	if ((f = fmemopen(buf, size / 2, "w")) == NULL)
		err(1, "fmemopen");
	setvbuf(f, NULL, _IONBF, 0);
	tell_thread(f);
	tell_process(f);
	fclose(f);
	len = strlen(buf);
	fd = open("/proc/self/maps", O_RDONLY);
	while ((n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	return len;
}

int
main(void)
{
	static char before[128 * 1024], after[128 * 1024];
	struct sched_param sp = { 0 };
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	set_stack(0, (int)(1U << 31));
	set_actions();
	prctl(PR_SET_PDEATHSIG, SIGUSR2);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	sched_setscheduler(0, SCHED_BATCH, &sp);
	syscall(SYS_membarrier, 1 << 4, 0, 0);
	set_timers();
	tell_thread(stdout);
	if (pthread_create(&t, NULL, other, NULL) != 0)
		err(1, "pthread_create");
	while (!told_other)
		usleep(1000);
	/* twice: the first may allocate */
	look(before, sizeof before);
	look(before, sizeof before);
	printf("thread %d\n", (int)getpid());
	tell_process(stdout);
	ready();
	await();
	report("eintr", eintr);
	look(after, sizeof after);
	report("changed", memcmp(before, after, sizeof before) != 0);
	return 0;
}
