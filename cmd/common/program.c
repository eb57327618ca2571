/*
 * Start-up, clean-up at signals, and messages of the programs.
 */
#include "common.h"
#include "model.h"

#include <sys/resource.h>

#include <err.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static bool lost; /* a message said that the result is incomplete */

/*
 * Exit with status 2 because memory ran out. First remove the unfinished
 * output. A program that has stopped processes must not call this function.
 */
void
program_nomem(void)
{
	output_cleanup();
	errx(2, "out of memory");
}

/*
 * Return p, the result of an allocation, or call program_nomem() if p is NULL.
 */
void *
must(void *p)
{
	if (p == NULL)
		program_nomem();
	return p;
}

/*
 * Call program_nomem() if rc is -1. rc must come from a function that fails
 * only when memory runs out.
 */
void
must_do(int rc)
{
	if (rc == -1)
		program_nomem();
}

/*
 * Open /dev/null read-only as each closed standard descriptor, so that no other
 * file gets its number.
 */
void
program_descriptors(void)
{
	int fd;

	while ((fd = open("/dev/null", O_RDONLY)) != -1 && fd <= STDERR_FILENO)
		continue;
	fd_drop(fd);
}

/*
 * Raise the soft limit on open files to the hard limit.
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
 * Set the soft limit on the private memory of this process, and of programs
 * that it starts, to the given number of bytes. Return the limit before. Do not
 * set it for AddressSanitizer, which reserves terabytes.
 */
uint64_t
program_memory(uint64_t bytes)
{
	struct rlimit rl;
	uint64_t was;

	if (getrlimit(RLIMIT_DATA, &rl) == -1)
		return UINT64_MAX;
	was = rl.rlim_cur;
#ifndef SANITIZED
	rl.rlim_cur = bytes;
	(void)setrlimit(RLIMIT_DATA, &rl);
#else
	(void)bytes;
#endif
	return was;
}

/*
 * Return true if s consists of digits only, and thus is a process ID, not a
 * name.
 */
bool
program_isnumber(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/*
 * Copy the path of this program to path, which has room for PATH_MAX bytes.
 * Return 0, or -1 with errstr set.
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
 * or NULL if there is no such program. The caller frees the path.
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

/*
 * Return the path of snap(1) in the directory of this program, or NULL with
 * errstr set. The caller frees the path. Debian calls it psnap, because snap is
 * the client of snapd.
 */
char *
program_snap(void)
{
	char *path;

	if ((path = program_beside("psnap")) == NULL &&
	    (path = program_beside("snap")) == NULL)
		(void)errstr_set(
		    "cannot find snap in the directory of this program");
	return path;
}

static void
on_signal(int sig)
{
	output_cleanup();
	/* SA_RESETHAND has restored the default action, so this kills us */
	raise(sig);
}

/*
 * Make SIGHUP, SIGINT and SIGTERM call fn. flags are those of sigaction(2).
 * Signals that are ignored stay ignored. Also ignore SIGPIPE, so that write(2)
 * fails if a pipe has no reader.
 */
void
program_catch(void (*fn)(int), int flags)
{
	static const int sig[] = { SIGHUP, SIGINT, SIGTERM };
	const struct sigaction sa = { .sa_handler = fn, .sa_flags = flags };
	size_t i;

	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		if (signal(sig[i], SIG_IGN) != SIG_IGN)
			sigaction(sig[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * Make SIGHUP, SIGINT and SIGTERM remove the unfinished output before they end
 * the program. Ignore SIGPIPE and SIGXFSZ, so that write(2) fails if a pipe has
 * no reader or a file is too large.
 */
void
program_signals(void)
{
	program_catch(on_signal, (int)SA_RESETHAND);
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * Print a message, formatted as by printf(3), to standard error as warnx(3)
 * does, but replace control characters. Erase the progress line first.
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
	warnx("%s", s == NULL ? "out of memory" : text_sanitize(s));
	free(s);
}

/*
 * Print the sentence text. This is a warn callback; arg is not used.
 */
void
program_say(void *arg, const char *text)
{
	(void)arg;
	program_warn("%s", text);
}

/*
 * Print text, which says what is missing from the result, and mark the result
 * as incomplete. This is the warn callback of readers and writers; arg is not
 * used.
 */
void
program_lose(void *arg, const char *text)
{
	lost = true;
	program_say(arg, text);
}

/*
 * Return true if program_lose() was called.
 */
bool
program_lost(void)
{
	return lost;
}

/*
 * Read len bytes, at most a megabyte, of image im at address addr into buf.
 * Report the first failure to read bytes that the image has, because the
 * snapshot is damaged. Return 0, or -1 with errstr set.
 */
int
program_read(struct image *im, uint64_t addr, void *buf, size_t len)
{
	static bool reported;

	if (image_read(im, addr, buf, len) == 0)
		return 0;
	if (!reported && image_find(im, addr) != NULL &&
	    image_find(im, addr + len - 1) != NULL) {
		reported = true;
		program_lose(NULL, snap_errstr());
	}
	return -1;
}

/*
 * Confine this program to the resources in c before it reads untrusted input.
 * First raise the limit on open files, because reading CRIU images keeps a file
 * open for each process. If verbose is true, print which kernel features for
 * confinement are missing. Exit with status 1 if the helper process outside the
 * confinement cannot be started.
 */
void
program_confine(const struct confined *c, bool verbose)
{
	program_files();
	/* read the file of the locale before confine() hides it;
	   text_sanitize() requires UTF-8, whatever the user's locale is */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	if (confine(c) == -1) {
		program_warn("%s", snap_errstr());
		exit(1);
	}
	if (verbose && confine_lacks() != NULL)
		program_warn("not confined: the kernel has no %s",
		    confine_lacks());
}
