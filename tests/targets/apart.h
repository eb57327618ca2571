/*
 * Functions for targets that are checkpointed and restored.  These have a
 * session of their own, no terminal, and no descriptors but standard ones and a
 * log.  The lines of the log are
 *
 *	WHO COUNT WRONG
 *
 * COUNT goes up by one from line to line of the same WHO, also across a
 * restore; WRONG is the number of things that are wrong.
 */
#ifndef APART_H
#define APART_H

#include "target.h"

#include <fcntl.h>
#include <stdbool.h>
#include <time.h>

enum { TICK = 50 };		/* milliseconds from count to count */

static int logfile;

static inline void
apart(const char *path)
{
	int null, fd;

	if ((logfile = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) == -1)
		err(1, "%s", path);
	if (logfile == 0 || (null = open("/dev/null", O_RDWR)) == -1)
		errx(1, "cannot stand alone");
	if (setsid() == -1 || chdir("/") == -1)
		err(1, "cannot stand alone");
	for (fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)dup2(logfile, 3);
	for (logfile = fd = 3; fd < 1024; )
		(void)close(++fd);
}

/*
 * Write a line at once: lines of several threads or processes do not mix.
 */
static inline void
tell(const char *who, uint64_t count, long wrong)
{
	char line[80];
	int n;

	n = snprintf(line, sizeof line, "%s %ju %ld\n", who, (uintmax_t)count,
	    wrong);
	if (write(logfile, line, (size_t)n) != n)
		abort();
}

/*
 * Unless good, log the error and exit.
 */
static inline void
must(bool good)
{
	if (!good) {
		tell("must", 0, errno == 0 ? 1 : errno);
		_exit(4);
	}
}

static inline void
tick(void)
{
	struct timespec t = { 0, TICK * 1000000L };

	while (nanosleep(&t, &t) == -1 && errno == EINTR)
		continue;
}

#endif
