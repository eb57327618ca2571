/*
 * Worker threads, which block all signals.
 */
#include "worker.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

/*
 * Return the number of processors that this process may use.
 */
int
processors_count(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}

/*
 * Start a thread that blocks all signals and calls fn with arg. Return 0 with
 * *t set, or an error number.
 */
int
worker_start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(t, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/*
 * Call fn(arg) in n threads at the same time, and wait until all calls have
 * returned. The caller is one of the threads. Use fewer threads if n is above
 * MAX_WORKERS, or if not all can be created.
 */
void
workers_run(size_t n, void *(*fn)(void *), void *arg)
{
	pthread_t thread[MAX_WORKERS];
	size_t i, made;

	for (made = 0; made + 1 < n && made + 1 < MAX_WORKERS &&
	    worker_start(&thread[made], fn, arg) == 0; made++)
		continue;
	(void)fn(arg);
	for (i = 0; i < made; i++)
		pthread_join(thread[i], NULL);
}
