/*
 * Install and remove snapcrash as the core handler of the machine:
 * kernel.core_pattern and kernel.core_pipe_limit (core(5)). The values before
 * are saved, to be restored by remove; a file for sysctl(8) sets ours again at
 * boot.
 */
#include "crash.h"
#include "full.h"

#include <err.h>
#include <fcntl.h>
#include <unistd.h>

#define PATTERN	"/proc/sys/kernel/core_pattern"
#define LIMIT	"/proc/sys/kernel/core_pipe_limit"
#define MODES	"/proc/sys/kernel/core_modes"
#define BOOT	"/etc/sysctl.d/50-snapcrash.conf"
#define BEFORE	"/var/lib/snapcrash.before"

enum {
	MAX_PATTERN = 128,	/* CORENAME_MAX_SIZE in the kernel */
	LISTENS = 1 << 16	/* __SO_ACCEPTCON, in column Flags of
				   /proc/net/unix */
};

/*
 * Write a core_pattern to s, which has room for size bytes. It makes the kernel
 * run this program with the configuration file at path. Return 0, or -1 with
 * errstr set.
 */
static int
pattern_make(char *s, size_t size, const char *path)
{
	const bool usual = strcmp(path, CONFIG) == 0;
	char self[PATH_MAX];
	int len;

	if (program_self(self) == -1)
		return -1;
	len = snprintf(s, size, "|%s%s%s take %%P %%I %%s %%d %%u %%F", self,
	    usual ? "" : " -c", usual ? "" : path);
	if (len >= MAX_PATTERN || (size_t)len >= size)
		return errstr_set("%s: path too long: core_pattern is limited "
		    "to %d bytes", self, MAX_PATTERN - 1);
	if (strpbrk(self, " \t\n%") != NULL ||
	    strpbrk(path, " \t\n%") != NULL)
		return errstr_set(
		    "paths in core_pattern cannot contain blanks or %%");
	return 0;
}

/*
 * Return true if the kernel can send cores to sockets.
 */
static bool
sockets_can(void)
{
	struct buf b = { 0 };
	bool can;

	can = full_readfile(AT_FDCWD, MODES, &b) == 0 &&
	    memmem(b.data, b.len, "socket\n", 7) != NULL;
	buf_free(&b);
	return can;
}

/*
 * Set the kernel's core_pattern to pattern. However, if by_socket is true, set
 * it to the socket of c, and store the new core_pattern in pattern, which has
 * room for size bytes. With "@@", which Linux 6.17 and later accept, the kernel
 * sends the core only if we request it. With "@", for earlier kernels, it sends
 * the core without a request. Return 0, or -1 with errstr set.
 */
static int
pattern_set(char *pattern, size_t size, const struct config *c, bool by_socket)
{
	if (!by_socket)
		return file_write(PATTERN, "%s\n", pattern);
	snprintf(pattern, size, "@@%s", c->socket);
	if (file_write(PATTERN, "%s\n", pattern) == 0)
		return 0;
	snprintf(pattern, size, "@%s", c->socket);
	if (file_write(PATTERN, "%s\n", pattern) == 0)
		return 0;
	return errno != EINVAL ? -1 : errstr_set("%s: the kernel accepts a "
	    "socket only from the initial mount namespace (run this there)",
	    PATTERN);
}

/*
 * Return true if core_pattern s names the socket of c.
 */
static bool
pattern_isserved(const struct config *c, const char *s)
{
	return *s == '@' && strcmp(s + strspn(s, "@"), c->socket) == 0;
}

static bool
pattern_isours(const struct config *c, const char *s)
{
	return pattern_isserved(c, s) || (*s == '|' &&
	    strstr(s, "/snapcrash ") != NULL && strstr(s, " take %P") != NULL);
}

/*
 * Return true if core_pattern s is ours, or if handler_install() has written s
 * to BOOT. In the latter case the configuration may name another socket now.
 */
static bool
pattern_isinstalled(const struct config *c, const char *s)
{
	char line[MAX_PATTERN + 32];
	struct buf b = { 0 };
	bool is;

	snprintf(line, sizeof line, "\nkernel.core_pattern=%s\n", s);
	is = pattern_isours(c, s) ||
	    (full_readfile(AT_FDCWD, BOOT, &b) == 0 &&
	    memmem(b.data, b.len, line, strlen(line)) != NULL);
	buf_free(&b);
	return is;
}

/*
 * Return true if a process is listening on the socket of c. See unix in
 * proc_net(5).
 */
static bool
served(const struct config *c)
{
	unsigned int flags;
	char line[256];
	bool is;
	FILE *f;
	int at;

	if ((f = fopen("/proc/net/unix", "re")) == NULL)
		return false;
	for (is = false; !is && fgets(line, sizeof line, f) != NULL;) {
		line[strcspn(line, "\n")] = '\0';
		is = sscanf(line, "%*x: %*x %*x %x %*x %*x %*u %n", &flags,
		    &at) == 1 && (flags & LISTENS) != 0 &&
		    strcmp(line + at, c->socket) == 0;
	}
	fclose(f);
	return is;
}

/*
 * Make the kernel hand each crash to us, now and after every boot. The kernel
 * runs this program with configuration c, which was read from the file at path.
 * If by_socket is true, the kernel sends cores to the socket of c instead.
 * Return the exit status.
 */
int
handler_install(const struct config *c, const char *path, bool by_socket)
{
	char pattern[MAX_PATTERN + 1], was[MAX_PATTERN + 1], limit[32], n[32];
	char full[PATH_MAX];

	if (by_socket && !sockets_can())
		errx(1, "-s requires Linux 6.16 or newer (without -s, the "
		    "kernel runs snapcrash for each crash)");
	/* the handler's current directory is another one */
	if (strcmp(path, CONFIG) != 0) {
		if (realpath(path, full) == NULL)
			err(1, "%s", path);
		path = full;
	}
	if ((!by_socket && pattern_make(pattern, sizeof pattern, path) == -1) ||
	    line_read(PATTERN, was, sizeof was) == -1 ||
	    line_read(LIMIT, limit, sizeof limit) == -1)
		errx(1, "%s", snap_errstr());
	snprintf(n, sizeof n, "%ju", (uintmax_t)claim_most(c));
	/* save the old values, unless they are ours */
	if ((!pattern_isinstalled(c, was) && file_write(BEFORE, "%s\n%s\n",
	    was, limit) == -1) || store_open(c) == -1)
		errx(1, "%s", snap_errstr());
	(void)unlink(DROPPED);
	if (!by_socket)
		units_remove();
	else
		units_install(c, path);
	if (by_socket && !served(c))
		program_warn("no process is listening on %s yet: start "
		    "snapcrash serve now and at each boot", c->socket);
	(void)mkdir("/etc/sysctl.d", 0755);
	if (pattern_set(pattern, sizeof pattern, c, by_socket) == -1) {
		units_remove();
		errx(1, "%s", snap_errstr());
	}
	if (file_write(LIMIT, "%s\n", n) == -1 ||
	    file_write(BOOT, "# made by snapcrash install\n"
	    "kernel.core_pattern=%s\nkernel.core_pipe_limit=%s\n", pattern,
	    n) == -1)
		errx(1, "%s", snap_errstr());
	return 0;
}

/*
 * Restore the settings saved by handler_install(). Return the exit status.
 */
int
handler_remove(const struct config *c)
{
	char now[MAX_PATTERN + 1], was[MAX_PATTERN + 1] = "core";
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
	if (!pattern_isinstalled(c, now))
		program_warn("snapcrash is not the core handler "
		    "(kernel.core_pattern is \"%s\"); left unchanged",
		    text_sanitize(now));
	else if (file_write(PATTERN, "%s\n", was) == -1 ||
	    file_write(LIMIT, "%s\n", limit) == -1)
		errx(1, "%s", snap_errstr());
	units_remove();
	if ((unlink(BOOT) == -1 && errno != ENOENT) ||
	    (unlink(BEFORE) == -1 && errno != ENOENT))
		err(1, "%s", BOOT);
	return 0;
}

/*
 * Print which program handles cores now, and how many snapshots are in the
 * directory of c, which l lists. Return the exit status, which is 1 if
 * snapcrash is not the handler.
 */
int
handler_status(const struct config *c, const struct crashes *l)
{
	char now[MAX_PATTERN + 1];
	uint64_t sum, dropped;
	size_t i;

	if (line_read(PATTERN, now, sizeof now) == -1)
		errx(1, "%s", snap_errstr());
	for (sum = 0, i = 0; i < l->n; i++)
		sum += l->v[i].size;
	if (pattern_isserved(c, now) && !served(c))
		printf("cores are sent to the socket %s, but no process is "
		    "listening: start snapcrash serve\n", c->socket);
	else if (pattern_isours(c, now))
		printf("cores are handled by snapcrash: at most %ju at once, "
		    "%ju waiting\n", (uintmax_t)c->atonce,
		    (uintmax_t)c->waiting);
	else if (*now == '|')
		printf("cores are piped to %.*s\n",
		    (int)strcspn(text_sanitize(now) + 1, " "), now + 1);
	else if (*now == '@')
		printf("cores are sent to the socket %s\n",
		    text_sanitize(now));
	else
		printf("cores are written by the kernel to files named %s\n",
		    *now == '\0' ? "core" : text_sanitize(now));
	printf("%s has %zu of %ju snapshots, %ju of %ju MiB\n", c->directory,
	    l->n, (uintmax_t)c->count, (uintmax_t)(sum >> 20),
	    (uintmax_t)(c->bytes >> 20));
	if ((dropped = claim_dropped(c)) > 0)
		printf("%ju crash%s dropped without a snapshot: too many at "
		    "once\n",
		    (uintmax_t)dropped, dropped == 1 ? " was" : "es were");
	return pattern_isours(c, now) && (!pattern_isserved(c, now) ||
	    served(c)) ? 0 : 1;
}
