/*
 * Many processes at once.  One that was let run, to make a system call, stops
 * after some microseconds, or where others want the processor after some
 * milliseconds; meanwhile the next ones are let run.
 *
 * What is done to a process is a job, with a stack of its own (makecontext(3)),
 * that gives way where it waits: inject_wait.  All jobs are of the one thread
 * that traces, so nothing happens between two waits but what one job does.
 */
#include "run.h"

#include <sys/mman.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

enum {
	WIDTH = 16,		/* jobs at once */
	STACK = 256 * 1024,	/* bytes, of a job */
	NAP_NS = 100000
};

struct job {
	ucontext_t	 context;
	void		*stack;	/* owned */
	bool		 lives;
	bool		 ends;	/* its function has returned */
	bool		 idle;	/* it waits for what it waited for before */
	int		 error;	/* errno, while it gives way */
	char		 why[1024]; /* errstr, likewise */
};

struct group {
	job_fn		 fn;
	void		*arg;
	size_t		 next;	/* that is to begin */
	ucontext_t	 context; /* of who runs them */
	struct job	*job;	/* owned; WIDTH */
	struct job	*now;	/* borrowed; one of them, or NULL */
};

static struct group *running;	/* borrowed; NULL: none */

/*
 * Sleep until a thread that we trace stops, which the kernel tells by SIGCHLD,
 * or for a tenth of a millisecond, if that is not blocked.  To yield instead
 * (sched_yield(2)) costs milliseconds where others want the processor.
 */
static void
stop_await(void)
{
	const struct timespec most = { 0, NAP_NS };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigtimedwait(&set, NULL, &most);
}

/*
 * Wait a moment for a thread to stop that had not: for the time number so many
 * since it was let run, from 0 on.  Other jobs go on meanwhile.
 */
void
together_wait(int times)
{
	enum { SPINS = 30 };
	struct group *g = running;
	struct job *j;

	if (g == NULL || g->now == NULL) {
		if (times >= SPINS)
			stop_await();
		return;
	}
	j = g->now;
	j->idle = times > 0;
	j->error = errno;
	strlcpy(j->why, snap_errstr(), sizeof j->why);
	(void)swapcontext(&j->context, &g->context);
	errstr_set("%s", j->why);
	errno = j->error;
}

static void
job_main(void)
{
	struct group *g = running;

	g->next++;
	g->fn(g->arg);
	running->now->ends = true;
}

/*
 * Begin the next job with j.  Return false if that cannot be.
 */
static bool
job_begin(struct group *g, struct job *j)
{
	if (j->stack == NULL) {
		j->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (j->stack == MAP_FAILED) {
			j->stack = NULL;
			return false;
		}
		/* below it, nothing may be written to */
		(void)mprotect(j->stack, (size_t)sysconf(_SC_PAGESIZE),
		    PROT_NONE);
	}
	if (getcontext(&j->context) == -1)
		return false;
	j->context.uc_stack.ss_sp = j->stack;
	j->context.uc_stack.ss_size = STACK;
	j->context.uc_link = &g->context;
	makecontext(&j->context, job_main, 0);
	j->ends = false;
	j->lives = true;
	return true;
}

/*
 * Let each job of g go on until it waits, or ends, and begin others, up to
 * number n, in the place of those that have ended.  Return false if there are
 * none any more.
 */
static bool
group_round(struct group *g, size_t n)
{
	struct job *j;
	bool any, idle;

	any = false;
	idle = true;
	for (j = g->job; j < g->job + WIDTH; j++) {
		if (!j->lives && (g->next >= n || !job_begin(g, j)))
			continue;
		any = true;
		j->idle = false;
		g->now = j;
		(void)swapcontext(&g->context, &j->context);
		g->now = NULL;
		j->lives = !j->ends;
		idle &= j->lives && j->idle;
	}
	if (any && idle)
		stop_await();
	return any;
}

/*
 * Call fn with arg n times, and begin the next while some wait.  What fn leaves
 * in errno and errstr is lost.
 */
void
together(job_fn fn, void *arg, size_t n)
{
	struct group g = { .fn = fn, .arg = arg };
	sigset_t all, old;
	size_t i;

#ifndef __SANITIZE_ADDRESS__	/* it takes each for a stack that overflows */
	g.job = n > 1 && running == NULL ? calloc(WIDTH, sizeof *g.job) : NULL;
#endif
	if (g.job != NULL) {
		/* each job would give back the mask that it found */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		running = &g;
		while (group_round(&g, n))
			continue;
		running = NULL;
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		for (i = 0; i < WIDTH; i++)
			if (g.job[i].stack != NULL)
				(void)munmap(g.job[i].stack, STACK);
		free(g.job);
	}
	for (; g.next < n; g.next++)
		fn(arg);
}

#else

void
together(job_fn fn, void *arg, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		fn(arg);
}

#endif
