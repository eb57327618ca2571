/*
 * Threads that work for others: signals go to those who started them.
 */
#include "worker.h"

#include <signal.h>

/*
 * Start a thread that runs fn with arg and takes no signals.  Return 0, with *t
 * set to it; or what errno would be.
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
