/*
 * Who handles cores: kernel.core_pattern, which is the whole machine's, and
 * kernel.core_pipe_limit (core(5)).  What was there before is kept, to be put
 * back, and a file for sysctl(8) has it all again when the machine is booted.
 */
#include "crash.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATTERN	"/proc/sys/kernel/core_pattern"
#define LIMIT	"/proc/sys/kernel/core_pipe_limit"
#define BOOT	"/etc/sysctl.d/50-snapcrash.conf"
#define BEFORE	"/var/lib/snapcrash.before"

enum { PATTERN_MOST = 128 };	/* CORENAME_MAX_SIZE of the kernel */

/*
 * Read the line that a file has.  Return 0, or -1 with errstr.
 */
static int
line_read(const char *path, char *s, size_t size)
{
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	if (fgets(s, (int)size, f) == NULL)
		*s = '\0';
	fclose(f);
	s[strcspn(s, "\n")] = '\0';
	return 0;
}

/*
 * Write a file that has this.  Return 0, or -1 with errstr.
 */
static int __attribute__((format(printf, 2, 3)))
file_write(const char *path, const char *fmt, ...)
{
	va_list ap;
	FILE *f;
	int rc;

	if ((f = fopen(path, "we")) == NULL)
		return errstr_sys("%s", path);
	va_start(ap, fmt);
	rc = vfprintf(f, fmt, ap);
	va_end(ap);
	return fclose(f) == EOF || rc < 0 ? errstr_sys("%s", path) : 0;
}

/*
 * Set s to the core_pattern that has the kernel run this program, with the
 * configuration path.
 */
static int
pattern_make(char *s, size_t size, const char *path)
{
	char self[PATH_MAX], full[PATH_MAX];
	int len;

	/* the kernel runs it in the root directory */
	if (strcmp(path, CONFIG) != 0) {
		if (realpath(path, full) == NULL)
			return errstr_sys("%s", path);
		path = full;
	}

	if (program_self(self) == -1)
		return -1;
	len = snprintf(s, size, "|%s%s%s take %%P %%I %%s %%d %%u %%F", self,
	    strcmp(path, CONFIG) == 0 ? "" : " -c",
	    strcmp(path, CONFIG) == 0 ? "" : path);
	if (len >= PATTERN_MOST || (size_t)len >= size)
		return errstr_set("%s: the kernel takes no more than %d bytes "
		    "of core_pattern", self, PATTERN_MOST - 1);
	if (strpbrk(self, " \t\n%") != NULL ||
	    strpbrk(path, " \t\n%") != NULL)
		return errstr_set("the kernel divides core_pattern at blanks, "
		    "and has a meaning for %%");
	return 0;
}

static bool
pattern_isours(const char *s)
{
	return *s == '|' && strstr(s, "/snapcrash ") != NULL &&
	    strstr(s, " take %P") != NULL;
}

/*
 * Have the kernel run this program, configured by path, for each crash, from
 * now on and after each boot.  Return the exit status.
 */
int
handler_install(const struct config *c, const char *path)
{
	char pattern[PATTERN_MOST + 1], was[PATTERN_MOST + 1], limit[32], n[32];

	if (pattern_make(pattern, sizeof pattern, path) == -1 ||
	    line_read(PATTERN, was, sizeof was) == -1 ||
	    line_read(LIMIT, limit, sizeof limit) == -1)
		errx(1, "%s", snap_errstr());
	snprintf(n, sizeof n, "%ju", (uintmax_t)claim_most(c));
	/* what is there now is kept, unless it is ours already */
	if ((!pattern_isours(was) && file_write(BEFORE, "%s\n%s\n", was,
	    limit) == -1) || store_open(c) == -1)
		errx(1, "%s", snap_errstr());
	claim_forget();
	(void)mkdir("/etc/sysctl.d", 0755);
	if (file_write(BOOT, "# made by snapcrash install\n"
	    "kernel.core_pattern=%s\nkernel.core_pipe_limit=%s\n", pattern,
	    n) == -1 || file_write(LIMIT, "%s\n", n) == -1 ||
	    file_write(PATTERN, "%s\n", pattern) == -1)
		errx(1, "%s", snap_errstr());
	return 0;
}

/*
 * Put back what was there before.  Return the exit status.
 */
int
handler_remove(void)
{
	char now[PATTERN_MOST + 1], was[PATTERN_MOST + 1] = "core";
	char limit[32] = "0";
	FILE *f;

	if (line_read(PATTERN, now, sizeof now) == -1)
		errx(1, "%s", snap_errstr());
	if ((f = fopen(BEFORE, "re")) != NULL) {
		if (fgets(was, sizeof was, f) != NULL &&
		    fgets(limit, sizeof limit, f) != NULL)
			limit[strcspn(limit, "\n")] = '\0';
		was[strcspn(was, "\n")] = '\0';
		fclose(f);
	}
	if (!pattern_isours(now))
		program_warn("cores are not ours to handle: "
		    "kernel.core_pattern is \"%s\", and stays",
		    text_harmless(now));
	else if (file_write(PATTERN, "%s\n", was) == -1 ||
	    file_write(LIMIT, "%s\n", limit) == -1)
		errx(1, "%s", snap_errstr());
	if ((unlink(BOOT) == -1 && errno != ENOENT) ||
	    (unlink(BEFORE) == -1 && errno != ENOENT))
		err(1, "%s", BOOT);
	return 0;
}

/*
 * Say who handles cores now.  Return the exit status: 1 if it is not us.
 */
int
handler_status(const struct config *c)
{
	char now[PATTERN_MOST + 1];
	struct crashes l;
	uint64_t sum, dropped;
	size_t i;

	if (line_read(PATTERN, now, sizeof now) == -1 ||
	    store_read(c, &l) == -1)
		errx(1, "%s", snap_errstr());
	for (sum = 0, i = 0; i < l.n; i++)
		sum += l.v[i].size;
	if (pattern_isours(now))
		printf("cores are taken by snapcrash, %ju at once, and %ju "
		    "wait\n", (uintmax_t)c->atonce, (uintmax_t)c->waiting);
	else if (*now == '|')
		printf("cores are piped to %.*s\n",
		    (int)strcspn(text_harmless(now) + 1, " "), now + 1);
	else if (*now == '@')
		printf("cores are sent to the socket %s\n",
		    text_harmless(now));
	else
		printf("cores are written by the kernel to files named %s\n",
		    *now == '\0' ? "core" : text_harmless(now));
	printf("%s has %zu of %ju snapshots, %ju of %ju MiB\n", c->directory,
	    l.n, (uintmax_t)c->count, (uintmax_t)(sum >> 20),
	    (uintmax_t)(c->bytes >> 20));
	if ((dropped = claim_dropped(c)) > 0)
		printf("%ju crash%s let go without one: too many at once\n",
		    (uintmax_t)dropped, dropped == 1 ? " was" : "es were");
	store_free(&l);
	return pattern_isours(now) ? 0 : 1;
}
