/*
 * What programs of ours do first, when they are ended, and when they print.
 */
#include "common.h"

#include <sys/resource.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool lost;		/* something is missing from the result */

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
 * Return the seconds that s tells, like 10 or 0.5; -1 if it is no time.
 */
double
program_seconds(const char *s)
{
	double t;
	char *end;

	t = strtod(s, &end);
	if (*s == '\0' || s[strspn(s, "0123456789.")] != '\0' ||
	    *end != '\0' || !(t > 0 && t <= 1e6))
		return -1;
	return t;
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
	if (asprintf(&path, "%s%s", self, name) == -1)
		err(1, NULL);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/*
 * Return the number that s, an argument of command line u, is: from least, not
 * negative, to most.  If it is none, tell what it is not, and exit.
 */
uint64_t
program_number(const struct cmdline *u, const char *s, int64_t least,
    int64_t most, const char *what)
{
	const char *why;
	long long n;

	n = strtonum(s, least, most, &why);
	if (why != NULL) {
		program_warn("%s is not a %s", s, what);
		options_misuse(u);
	}
	return (uint64_t)n;
}

/*
 * Return true if s is the number of a process that lives.
 */
static bool
is_living(const char *s)
{
	const char *bad;
	pid_t pid;

	if (!program_isnumber(s))
		return false;
	pid = (pid_t)strtonum(s, 1, INT32_MAX, &bad);
	return bad == NULL && (kill(pid, 0) == 0 || errno == EPERM);
}

/*
 * Return the file to be written that options_next has just found as the
 * argument of option c of command line u: optarg.  argv is getopt(3)'s.
 * Where that is hardly what was meant, exit 2 with a question: a process
 * (-g 4711), other options (-ov, -o -v).  "-" is standard output.
 */
const char *
program_outfile(char *const argv[], int c, const struct cmdline *u)
{
	const char *s = optarg;
	const char *arg = argv[optind - 1];
	bool attached = s != arg && arg[1] != '-';	/* -oFILE */

	if (strcmp(s, "-") == 0)
		return s;
	if (is_living(s))
		errx(2, "-%c %s: that is a process: which file? (a file of "
		    "that name: ./%s)", c, s, s);
	if (*s == '-' || (attached && options_are(u, s)))
		errx(2, "-%c %s: did you mean -%s and -%c with a file? (a "
		    "file of that name: ./%s)", c, s, s + (*s == '-'), c, s);
	return s;
}

/*
 * Have what the words of -x tell left out by *x, which is made if it is NULL:
 * the caller frees it.  Exit 2 where they tell nothing.
 */
void
program_exclude(struct exclude **x, const char *words)
{
	if ((*x == NULL && (*x = exclude_new()) == NULL) ||
	    exclude_add(*x, words) == -1)
		errx(2, "-x %s", snap_errstr());
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
