/*
 * What programs of ours do first, when they are ended, and when they print.
 */
#include "snap.h"

#include <sys/resource.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * Have all three standard descriptors, so that no file becomes one of them:
 * those that were closed can be read, not written.
 */
void
program_descriptors(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDONLY)) != -1 && fd <= STDERR_FILENO)
		continue;
	if (fd != -1)
		close(fd);
}

/*
 * Have as many descriptors as may be had.
 */
void
program_files(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static void
on_signal(int sig)
{
	output_cleanup();
	/* SA_RESETHAND: this time it ends us */
	raise(sig);
}

/*
 * Leave no unfinished file behind when a signal ends us; a pipe that nobody
 * reads and a file that may not grow are errors.
 */
void
program_signals(void)
{
	static const int sig[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = on_signal,
	    .sa_flags = (int)SA_RESETHAND };
	size_t i;

	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		if (signal(sig[i], SIG_IGN) != SIG_IGN)
			sigaction(sig[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * A name as it may go to a terminal, changed in place: a snapshot may come
 * from anyone.
 */
char *
program_harmless(char *s)
{
	char *p;

	for (p = s; *p != '\0'; p++)
		if ((*p >= 0 && *p < ' ') || *p == 0x7f)
			*p = '?';
	return s;
}
