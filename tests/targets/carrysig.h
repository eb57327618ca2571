/*
 * The signals and timers of carryon.  One thread, the worker, runs the
 * handlers, on an alternate stack; all others have their signals blocked.
 */
#ifndef CARRYSIG_H
#define CARRYSIG_H

#include "apart.h"

#include <sys/syscall.h>
#include <sys/time.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { ALTBYTES = 64 << 10, LONG = 100000 /* seconds */, VALUE = 0x5eed };

#define SIG_POSIX	(SIGRTMIN + 1)	/* of a POSIX timer */
#define SIG_THREAD	(SIGRTMIN + 2)	/* of a POSIX timer of a thread */
#define SIG_PENDING	(SIGRTMIN + 3)	/* for the process, blocked */
#define SIG_OWN		(SIGRTMIN + 4)	/* for a thread, blocked */
#define SIG_MASKED	(SIGRTMIN + 5)	/* blocked in handlers only */

enum { S_ITIMER, S_POSIX, S_THREAD, S_PENDING, S_OWN, S_MAX };

static struct tally {
	const char *name;
	atomic_ulong count;
	atomic_ulong wrong;
	uint64_t told;
} tally[S_MAX] = {
	[S_ITIMER] = { .name = "itimer" },
	[S_POSIX] = { .name = "timer" },
	[S_THREAD] = { .name = "threadtimer" },
	[S_PENDING] = { .name = "pending" },
	[S_OWN] = { .name = "own" }
};

static char altstack[ALTBYTES];
static timer_t once;			/* expires late */
static pid_t worker;
static volatile sig_atomic_t asked;	/* by SIGUSR1 */

static void
on_asked(int sig)
{
	(void)sig;
	asked = 1;
}

static struct tally *
tally_of(int sig)
{
	if (sig == SIGALRM)
		return &tally[S_ITIMER];
	if (sig == SIG_POSIX)
		return &tally[S_POSIX];
	if (sig == SIG_THREAD)
		return &tally[S_THREAD];
	return &tally[sig == SIG_PENDING ? S_PENDING : S_OWN];
}

/*
 * Check the stack, the mask, the thread and the value.
 */
static void
on_signal(int sig, siginfo_t *si, void *context)
{
	struct tally *t = tally_of(sig);
	sigset_t mask;
	long wrong;
	char here;

	(void)context;
	t->count++;
	wrong = &here < altstack || &here >= altstack + ALTBYTES;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	wrong += sigismember(&mask, SIG_MASKED) != 1;
	wrong += sigismember(&mask, sig) != 1;
	wrong += gettid() != worker || si->si_signo != sig;
	if (sig == SIGALRM)
		wrong += si->si_code != SI_KERNEL;
	else if (sig == SIG_POSIX || sig == SIG_THREAD)
		wrong += si->si_code != SI_TIMER ||
		    si->si_value.sival_ptr != (void *)t;
	else
		wrong += si->si_code != SI_QUEUE ||
		    si->si_value.sival_int != VALUE + (int)t->count;
	t->wrong += (unsigned long)wrong;
}

static void
handlers_set(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal }, ask = {
		.sa_handler = on_asked, .sa_flags = SA_RESTART
	};

	sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIG_MASKED);
	(void)sigaction(SIGALRM, &sa, NULL);
	(void)sigaction(SIG_POSIX, &sa, NULL);
	(void)sigaction(SIG_THREAD, &sa, NULL);
	(void)sigaction(SIG_PENDING, &sa, NULL);
	(void)sigaction(SIG_OWN, &sa, NULL);
	(void)sigaction(SIGUSR1, &ask, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

/*
 * Return the set of the timers' signals, with those of waiting signals if
 * waiting is set.
 */
static sigset_t
signals_of(bool waiting)
{
	sigset_t s;

	sigemptyset(&s);
	if (waiting) {
		sigaddset(&s, SIG_PENDING);
		sigaddset(&s, SIG_OWN);
		sigaddset(&s, SIGUSR2);
	}
	sigaddset(&s, SIGALRM);
	sigaddset(&s, SIG_POSIX);
	sigaddset(&s, SIG_THREAD);
	return s;
}

static timer_t
timer_make(int sig, struct tally *t, int notify)
{
	struct sigevent ev = { .sigev_signo = sig, .sigev_notify = notify };
	timer_t timer;

	ev.sigev_value.sival_ptr = t;
#ifdef sigev_notify_thread_id
	ev.sigev_notify_thread_id = worker;
#else
	ev._sigev_un._tid = worker;
#endif
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) == -1)
		_exit(5);
	return timer;
}

/*
 * Arm all timers; with late_only, none expires soon; with lesser, those of
 * setitimer(2) are periodic.
 */
static void
timers_arm(bool late_only, bool lesser)
{
	struct itimerspec often = {
		{ 0, 30 * 1000000 }, { 0, 30 * 1000000 }
	}, late = { .it_value.tv_sec = LONG };
	struct itimerval real = { { 0, 20000 }, { 0, 20000 } },
	    long_time = { .it_value.tv_sec = LONG };
	timer_t t;

	if (late_only) {
		often.it_value.tv_sec = LONG;
		real.it_value.tv_sec = LONG;
	}
	t = timer_make(SIG_POSIX, &tally[S_POSIX], SIGEV_SIGNAL);
	(void)timer_settime(t, 0, &often, NULL);
	/* timer IDs with a gap */
	t = timer_make(SIG_POSIX, &tally[S_POSIX], SIGEV_SIGNAL);
	once = timer_make(SIG_POSIX, &tally[S_POSIX], SIGEV_SIGNAL);
	(void)timer_settime(once, 0, &late, NULL);
	(void)timer_delete(t);
	t = timer_make(SIG_THREAD, &tally[S_THREAD], SIGEV_THREAD_ID);
	often.it_interval.tv_nsec += 5000000;
	(void)timer_settime(t, 0, &often, NULL);
	if (lesser)
		long_time.it_interval.tv_sec = LONG;
	(void)setitimer(ITIMER_REAL, &real, NULL);
	(void)setitimer(ITIMER_VIRTUAL, &long_time, NULL);
	(void)setitimer(ITIMER_PROF, &long_time, NULL);
}

/*
 * Check that the remaining time decreases, and that no long timer restarted.
 */
static long
timers_check(void)
{
	static long left = LONG + 1;
	struct itimerspec t;
	struct itimerval v;
	long wrong;

	wrong = timer_gettime(once, &t) == -1 || t.it_value.tv_sec > left ||
	    t.it_value.tv_sec < LONG - 1000 || t.it_interval.tv_sec != 0;
	left = t.it_value.tv_sec;
	wrong += getitimer(ITIMER_VIRTUAL, &v) == -1 ||
	    v.it_value.tv_sec < LONG - 1000 || v.it_value.tv_sec > LONG;
	wrong += getitimer(ITIMER_PROF, &v) == -1 ||
	    v.it_value.tv_sec < LONG - 1000 || v.it_value.tv_sec > LONG;
	return wrong;
}

/*
 * Queue signals that stay pending: two for the process, and SIG_OWN for the
 * worker.
 */
static void
signals_queue(void)
{
	siginfo_t si = { .si_signo = SIG_OWN };
	union sigval v;

	v.sival_int = VALUE + 1;
	(void)sigqueue(getpid(), SIG_PENDING, v);
	si.si_code = SI_QUEUE;
	si.si_pid = getpid();
	si.si_uid = getuid();
	si.si_value = v;
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIG_OWN, &si);
	v.sival_int = VALUE + 2;
	(void)sigqueue(getpid(), SIG_PENDING, v);
}

static void
tally_record(void)
{
	unsigned long n;
	struct tally *t;

	for (t = tally; t < tally + S_MAX; t++)
		for (n = t->count; t->told < n; )
			tell(t->name, ++t->told, (long)t->wrong);
}

#endif
