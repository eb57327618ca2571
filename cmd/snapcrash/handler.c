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

static int
line_write(const char *path, const char *s)
{
	FILE *f;
	int rc;

	if ((f = fopen(path, "we")) == NULL)
		return errstr_sys("%s", path);
	rc = fprintf(f, "%s\n", s) < 0 ? -1 : 0;
	if (fclose(f) == EOF || rc == -1)
		return errstr_sys("%s", path);
	return 0;
}

/*
 * Set s to the core_pattern that has the kernel run this program, with the
 * configuration path.
 */
static int
pattern_make(char *s, size_t size, const char *path)
{
	char self[PATH_MAX], full[PATH_MAX];
	ssize_t n;
	int len;

	/* the kernel runs it in the root directory */
	if (strcmp(path, CONFIG) != 0) {
		if (realpath(path, full) == NULL)
			return errstr_sys("%s", path);
		path = full;
	}

	if ((n = readlink("/proc/self/exe", self, sizeof self - 1)) == -1)
		return errstr_sys("/proc/self/exe");
	self[n] = '\0';
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
 * Keep what is there now, unless that is ours already.
 */
static int
before_keep(const char *pattern, const char *limit)
{
	FILE *f;
	int rc;

	if ((f = fopen(BEFORE, "we")) == NULL)
		return errstr_sys(BEFORE);
	rc = fprintf(f, "%s\n%s\n", pattern, limit) < 0 ? -1 : 0;
	return fclose(f) == EOF || rc == -1 ? errstr_sys(BEFORE) : 0;
}

/*
 * Have the kernel run this program, configured by path, for each crash, from
 * now on and after each boot.  Return the exit status.
 */
int
handler_install(const struct config *c, const char *path)
{
	char pattern[PATTERN_MOST + 1], was[PATTERN_MOST + 1], limit[32], n[32];
	FILE *f;
	int rc;

	if (pattern_make(pattern, sizeof pattern, path) == -1 ||
	    line_read(PATTERN, was, sizeof was) == -1 ||
	    line_read(LIMIT, limit, sizeof limit) == -1)
		errx(1, "%s", snap_errstr());
	snprintf(n, sizeof n, "%ju", (uintmax_t)c->atonce);
	if ((!pattern_isours(was) && before_keep(was, limit) == -1) ||
	    store_open(c) == -1)
		errx(1, "%s", snap_errstr());
	(void)mkdir("/etc/sysctl.d", 0755);
	if ((f = fopen(BOOT, "we")) == NULL)
		err(1, BOOT);
	rc = fprintf(f, "# made by snapcrash install\n"
	    "kernel.core_pattern=%s\nkernel.core_pipe_limit=%s\n", pattern, n);
	if (fclose(f) == EOF || rc < 0)
		err(1, BOOT);
	if (line_write(LIMIT, n) == -1 || line_write(PATTERN, pattern) == -1)
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
	else if (line_write(PATTERN, was) == -1 ||
	    line_write(LIMIT, limit) == -1)
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
	char now[PATTERN_MOST + 1], limit[32];
	struct crashes l;
	uint64_t sum;
	size_t i;

	if (line_read(PATTERN, now, sizeof now) == -1 ||
	    line_read(LIMIT, limit, sizeof limit) == -1 ||
	    store_read(c, &l) == -1)
		errx(1, "%s", snap_errstr());
	for (sum = 0, i = 0; i < l.n; i++)
		sum += l.v[i].size;
	if (pattern_isours(now))
		printf("cores are taken by snapcrash, %s at once\n", limit);
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
	store_free(&l);
	return pattern_isours(now) ? 0 : 1;
}
