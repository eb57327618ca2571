/*
 * Start-up, clean-up at signals, and messages of the programs.
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

static bool lost; /* a message said that the result is incomplete */

/*
 * Remove the unfinished output and exit with 2, because memory ran out.  A
 * program that has stopped processes must not call this.
 */
void
program_nomem(void)
{
	output_cleanup();
	errx(2, "out of memory");
}

/*
 * Return p, the result of an allocation; if it is NULL, call program_nomem.
 */
void *
must(void *p)
{
	if (p == NULL)
		program_nomem();
	return p;
}

/*
 * Call program_nomem if rc, the result of a function that fails only when
 * memory runs out, is -1.
 */
void
must_do(int rc)
{
	if (rc == -1)
		program_nomem();
}

/*
 * Open /dev/null as each standard descriptor that is closed, so that no other
 * file gets its number.  They are opened for reading only.
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
 * Raise the soft limit of open files to the hard limit.
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
 * Return true if s consists of digits, so that it is a process ID and not a
 * name.
 */
bool
program_isnumber(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/*
 * Set path, of PATH_MAX bytes, to the path of this program.  Return 0, or -1
 * with errstr set.
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
 * Return the path of the program called name in the directory of this program,
 * to be freed by the caller; NULL if it is not there.
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
	/* SA_RESETHAND has restored the default action, so this kills us */
	raise(sig);
}

/*
 * Have SIGHUP, SIGINT and SIGTERM remove the unfinished output before they end
 * us.  Ignore SIGPIPE and SIGXFSZ, so that a pipe without a reader and a file
 * that is too large are errors of write(2).
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
 * Print a message, formatted as by printf(3), to standard error as warnx(3)
 * does.  Clear the progress line first, and replace control characters.
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
 * Print text, which says what is missing from the result, and note that the
 * result is incomplete: the warn callback of readers and writers.  arg is not
 * used.
 */
void
program_lose(void *arg, const char *text)
{
	(void)arg;
	lost = true;
	program_warn("%s", text);
}

/*
 * Return true if program_lose was called.
 */
bool
program_lost(void)
{
	return lost;
}

/*
 * Set the C library's character encoding to UTF-8 whatever the user's locale
 * is, as text_harmless assumes it.
 */
void
text_locale(void)
{
	(void)setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Confine this program to what c lists, before it reads untrusted input; if
 * verbose, print which kernel features for that are missing.  Exit with 1 if
 * the helper process for work outside cannot be started.  The limit of open
 * files is raised first: reading CRIU images keeps a file of each process open.
 */
void
program_confine(const struct confined *c, bool verbose)
{
	program_files();
	text_locale(); /* the locale's files cannot be read after confine */
	if (confine(c) == -1) {
		program_warn("%s", snap_errstr());
		exit(1);
	}
	if (verbose && confine_lacks() != NULL)
		program_warn("not confined: the kernel has no %s",
		    confine_lacks());
}
