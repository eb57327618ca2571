/*
 * A process with pending signals: pending [LOG] cont|stop.  Its two threads
 * block all signals.  Each signal is pending once for the process and once for
 * each thread, from 32 on twice, with different origins (si_code).  A stop
 * signal discards SIGCONT, and SIGCONT stop signals, so the argument says which
 * are sent.  When asked, it takes the signals, and compares them.
 *
 * With a log it counts there, and WRONG is the number of signals that are no
 * longer pending.  SIGTRAP, and SIGCHLD for the second thread, which criu
 * loses, are then sent only with the arguments trap and chld, and alone.
 */
#include "apart.h"

#include <sys/syscall.h>

#include <pthread.h>
#include <stdbool.h>

enum { NSIG_ = 64, FIRST_RT = 32, KINDS = 3, MOST = 512 };

/* the first have a value, and can be sent to another thread */
static const int code[] = {
	SI_QUEUE, SI_MESGQ, SI_ASYNCIO, SI_USER, SI_TKILL, SI_KERNEL
};

enum { NVALUE = 3, NCODE = sizeof code / sizeof *code };

static siginfo_t sent[MOST];
static bool taken[MOST];
static size_t nsent;
static pid_t tid[KINDS];	/* of each kind; 0: the process */
static pthread_barrier_t barrier;
static long foreign;

static bool
is_sent(int sig, size_t kind, const char *which, bool logs)
{
	bool cont = strcmp(which, "cont") == 0;

	if (sig == SIGKILL || sig == SIGSTOP)
		return false;
	if (strcmp(which, "trap") == 0 || (logs && sig == SIGTRAP))
		return *which == 't' && sig == SIGTRAP;
	if (strcmp(which, "chld") == 0 ||
	    (logs && sig == SIGCHLD && kind == KINDS - 1))
		return strcmp(which, "chld") == 0 && sig == SIGCHLD;
	if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
		return !cont;
	return sig != SIGCONT || cont;
}

static void
signal_send(int sig, size_t kind)
{
	siginfo_t *si = &sent[nsent];
	size_t i;
	long rc;

	memset(si, 0, sizeof *si);
	si->si_signo = sig;
	i = nsent % (kind == KINDS - 1 ? NVALUE : NCODE);
	si->si_code = code[i];
	si->si_pid = (pid_t)(1000 + nsent);
	si->si_uid = (uid_t)(2000 + nsent);
	if (i < NVALUE)
		si->si_value.sival_int = (int)(3000 + nsent);
	if (tid[kind] == 0)
		rc = syscall(SYS_rt_sigqueueinfo, getpid(), sig, si);
	else
		rc = syscall(SYS_rt_tgsigqueueinfo, getpid(), tid[kind], sig,
		    si);
	if (rc == -1)
		err(1, "signal %d", sig);
	nsent++;
}

/*
 * Take the pending signals of the calling thread and of the process.
 */
static void
signals_take(void)
{
	const struct timespec now = { 0, 0 };
	uint64_t all = UINT64_MAX;
	siginfo_t si;
	size_t i;

	for (;;) {
		memset(&si, 0, sizeof si);
		if (syscall(SYS_rt_sigtimedwait, &all, &si, &now,
		    sizeof all) <= 0)
			return;
		for (i = 0; i < nsent; i++)
			if (!taken[i] && si.si_signo == sent[i].si_signo &&
			    si.si_code == sent[i].si_code &&
			    si.si_pid == sent[i].si_pid &&
			    si.si_uid == sent[i].si_uid &&
			    si.si_value.sival_int ==
			    sent[i].si_value.sival_int)
				break;
		if (i < nsent)
			taken[i] = true;
		else
			foreign++;
	}
}

/*
 * Block all signals, also those that the C library uses itself.
 */
static void
signals_block(void)
{
	uint64_t all = UINT64_MAX;

	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all) ==
	    -1)
		err(1, "rt_sigprocmask");
}

static void *
run(void *arg)
{
	(void)arg;
	signals_block();
	tid[2] = gettid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);	/* main() was asked */
	signals_take();
	return NULL;
}

static uint64_t
signals_waiting(void)
{
	uint64_t set;

	if (syscall(SYS_rt_sigpending, &set, sizeof set) == -1)
		abort();
	return set;
}

static void __attribute__((noreturn))
count(void)
{
	uint64_t n, set;

	set = signals_waiting();
	for (n = 1;; n++) {
		tick();
		tell("pending", n, __builtin_popcountl(set &
		    ~signals_waiting()));
	}
}

int
main(int argc, char *argv[])
{
	pthread_t thread;
	size_t i, kind;
	long lost;
	int sig;

	if (argc != 2 && argc != 3)
		errx(2, "usage: pending [log] cont|stop|trap|chld");
	if (argc == 3)
		apart(argv[1]);
	tid[1] = getpid();
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		err(1, "pthread_create");
	signals_block();
	pthread_barrier_wait(&barrier);
	for (sig = 1; sig <= NSIG_; sig++)
		for (kind = 0; kind < KINDS; kind++)
			if (is_sent(sig, kind, argv[argc - 1],
			    argc == 3)) {
				signal_send(sig, kind);
				if (sig >= FIRST_RT)
					signal_send(sig, kind);
			}
	if (argc == 3)
		count();
	ready_await();
	signals_take();
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	for (lost = 0, i = 0; i < nsent; i++)
		lost += !taken[i];
	report("lost", lost);
	report("foreign", foreign);
	return 0;
}
