/*
 * What programs of ours do first, when they are ended, and when they print.
 */
#include "snap.h"

#include <sys/resource.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/*
 * How many processors this process may use.
 */
int
program_processors(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}

/*
 * A time as one writes it, like 10 or 0.5, in seconds; or -1: it is none.
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
 * Is a word the number of a process that lives?
 */
static bool
is_living(const char *s)
{
	const char *bad;
	pid_t pid;

	if (s[strspn(s, "0123456789")] != '\0')
		return false;
	pid = (pid_t)strtonum(s, 1, INT32_MAX, &bad);
	return bad == NULL && (kill(pid, 0) == 0 || errno == EPERM);
}

/*
 * Return the file to be written that getopt(3) has just found as the argument
 * of option c: optarg.  argv is getopt's, options are the letters it knows.
 * Where that is hardly what was meant, return NULL, with a question in the
 * error string: a process (-g 4711), other options (-ov, -o -v).  "-" is
 * standard output.
 */
const char *
program_outfile(char *const argv[], int c, const char *options)
{
	const char *s = optarg;
	bool attached = s != argv[optind - 1];

	if (strcmp(s, "-") == 0)
		return s;
	if (is_living(s))
		errstr_set("-%c %s: that is a process: which file? (a file of "
		    "that name: ./%s)", c, s, s);
	else if (*s == '-' || (attached && s[strspn(s, options)] == '\0' &&
	    strchr(s, ':') == NULL))
		errstr_set("-%c %s: did you mean -%s and -%c with a file? (a "
		    "file of that name: ./%s)", c, s, s + (*s == '-'), c, s);
	else
		return s;
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
 * How many bytes the character at s takes in UTF-8, and in *c its number;
 * 0 if it is no character.
 */
size_t
program_utf8(const char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *u = (const uint8_t *)s;
	size_t i, n;

	n = u[0] < 0x80 ? 1 : u[0] < 0xc0 ? 0 : u[0] < 0xe0 ? 2 :
	    u[0] < 0xf0 ? 3 : u[0] < 0xf8 ? 4 : 0;
	*c = n <= 1 ? u[0] : u[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (u[i] & 0x3fU);
	}
	return n == 0 || *c < least[n] || (*c >= 0xd800 && *c < 0xe000) ||
	    *c > 0x10ffff ? 0 : n;
}

/*
 * How many columns the character at *s takes, which is passed: Unicode,
 * EastAsianWidth.txt, in coarse ranges.
 */
int
program_columns(const char **s)
{
	static const uint32_t wide[][2] = { { 0x1100, 0x115f },
	    { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	    { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	    { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
	uint32_t c;
	size_t i, n;

	n = program_utf8(*s, &c);
	*s += n == 0 ? 1 : n;
	for (i = 0; i < sizeof wide / sizeof *wide; i++)
		if (c >= wide[i][0] && c <= wide[i][1])
			return 2;
	return 1;
}

/*
 * Would a terminal, or who reads what is on it, be misled by a character?
 * Those from 0x80 to 0x9f are controls, as are those below the blank, and some
 * turn around the direction in which the rest is shown or begin a new line:
 * Unicode, chapter 23.
 */
bool
program_control(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	    c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069);
}

/*
 * How many bytes at s are not to go to a terminal: those of one character, or
 * one that belongs to none; 0 if the first character is harmless.
 */
static size_t
harm_len(const char *s, size_t *len)
{
	uint32_t c;

	*len = program_utf8(s, &c);
	if (*len > 0 && !program_control(c))
		return 0;
	*len = *len == 0 ? 1 : *len;
	return *len;
}

/*
 * Would program_clean change a name?
 */
bool
program_isharmful(const char *s)
{
	size_t len;

	for (; *s != '\0'; s += len)
		if (harm_len(s, &len) > 0)
			return true;
	return false;
}

/*
 * Put another byte in the place of each byte of a name that is no UTF-8 or
 * controls a terminal, and return the name.
 */
char *
program_clean(char *s, char with)
{
	size_t len;
	char *p;

	for (p = s; *p != '\0'; p += len)
		memset(p, with, harm_len(p, &len));
	return s;
}

/*
 * Make a name such that it may go to a terminal, in place, and return it:
 * names come from snapshots of anyone, and from processes that choose them.
 * Bytes from 0x80 to 0x9f that are no UTF-8 are controls to a terminal that
 * does not know it.
 */
char *
program_harmless(char *s)
{
	return program_clean(s, '?');
}

/*
 * Print a message to standard error as warnx(3) does, harmless, in place of a
 * line that tells how far work is.
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
	warnx("%s", s == NULL ? "out of memory" : program_harmless(s));
	free(s);
}

/*
 * Confine this program to what c tells it needs, before it reads what
 * strangers wrote; if verbose, say what the kernel would not do of that.
 * Exit with 1 where there can be no process for what is done outside.
 */
void
program_confine(const struct confined *c, bool verbose)
{
	if (confine(c) == -1) {
		program_warn("%s", snap_errstr());
		exit(1);
	}
	if (verbose && confine_lacks() != NULL)
		program_warn("not confined: the kernel has no %s",
		    confine_lacks());
}
