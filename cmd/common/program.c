/*
 * What programs of ours do first, when they are ended, and when they print.
 */
#include "common.h"

#include <sys/resource.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool lost;		/* something is missing from the result */

/*
 * End the program with status 2, because memory ran out: remove the unfinished
 * output.  A program that has stopped processes must not call this.
 */
void
program_nomem(void)
{
	output_cleanup();
	errx(2, "out of memory");
}

/*
 * Return p, what a function that allocates memory returned.  If it is NULL,
 * call program_nomem.
 */
void *
must(void *p)
{
	if (p == NULL)
		program_nomem();
	return p;
}

/*
 * Call program_nomem if rc is -1, which a function returned that fails for want
 * of memory alone.
 */
void
must_do(int rc)
{
	if (rc == -1)
		program_nomem();
}

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

/*
 * Return true if s is a number, and no name.
 */
bool
program_isnumber(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/*
 * Set path, of PATH_MAX bytes, to this program's.  Return 0, or -1 with errstr.
 */
int
program_self(char *path)
{
	ssize_t n;

	n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (n == -1)
		return errstr_sys("/proc/self/exe");
	path[n] = '\0';
	return 0;
}

/*
 * Return the path of the program of that name that is where this one is; NULL
 * if it is not there.  The caller frees it.
 */
char *
program_beside(const char *name)
{
	char self[PATH_MAX], *slash, *path;

	if (program_self(self) == -1 || (slash = strrchr(self, '/')) == NULL)
		return NULL;
	slash[1] = '\0';
	path = must(str_printf("%s%s", self, name));
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
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
 * Print a message, made of fmt as printf(3) does, to standard error as warnx(3)
 * does, harmless, in place of a line that tells how far work is.
 */
void
program_warn(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1)
		s = NULL;
	va_end(ap);
	progress_clear();
	warnx("%s", s == NULL ? "out of memory" : text_harmless(s));
	free(s);
}

/*
 * Say in text that something is missing from the result: the warn function of
 * readers and writers. arg is not used.
 */
void
program_lose(void *arg, const char *text)
{
	(void)arg;
	lost = true;
	program_warn("%s", text);
}

/*
 * Return true if something was missing.
 */
bool
program_lost(void)
{
	return lost;
}

/*
 * Let the C library take text for UTF-8, whatever the user's locale is, as
 * text_harmless does.
 */
void
text_locale(void)
{
	(void)setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Confine this program to what c tells it needs, before it reads what
 * strangers wrote; if verbose, say what the kernel would not do of that.
 * Exit with 1 where there can be no process for what is done outside.  It may
 * have as many descriptors as may be had: of images of CRIU, a file of each
 * process stays open.
 */
void
program_confine(const struct confined *c, bool verbose)
{
	program_files();
	text_locale();		/* its files cannot be read later */
	if (confine(c) == -1) {
		program_warn("%s", snap_errstr());
		exit(1);
	}
	if (verbose && confine_lacks() != NULL)
		program_warn("not confined: the kernel has no %s",
		    confine_lacks());
}
