/*
 * Restrict which files this process may open: landlock(7). The kernel reports
 * a version; constants are from include/uapi/linux/landlock.h, since the
 * system's headers may be too old.
 */
#include "io/io.h"
#include "confine.h"

#include <sys/syscall.h>

#include <fcntl.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset	444
#define SYS_landlock_add_rule		445
#define SYS_landlock_restrict_self	446
#endif

enum {
	CREATE_RULESET_VERSION = 1,
	RULE_PATH_BENEATH = 1,

	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_FILE = 1 << 5,
	MAKE_REG = 1 << 8,
	MAKE_SYM = 1 << 12,
	TRUNCATE = 1 << 14,

	NET_ALL = 3,		/* rights to bind and connect TCP sockets */
	SCOPE_ALL = 3, /* scopes of abstract UNIX sockets, and of signals */

	READ = READ_FILE | READ_DIR,
	WRITE = READ | WRITE_FILE | REMOVE_FILE | MAKE_REG | MAKE_SYM |
	    TRUNCATE,

	PARENTS = 1000		/* limit on the depth of stacked CRIU images */
};

struct ruleset {
	uint64_t	 fs;
	uint64_t	 net;	/* network rights; since Landlock version 4 */
	uint64_t	 scoped;	/* scopes; since Landlock version 6 */
};

struct beneath {
	uint64_t	 access;
	int32_t		 fd;
} __attribute__((packed));

/*
 * Add a rule for file fd. It grants the rights in access that are also in
 * known. If fd is a directory, the rule covers everything below it. Ignore
 * errors: if the rule was needed, opening the file fails later. A file outside
 * of file systems, such as a pipe, needs no rule.
 */
static void
rule_add(int rules, uint64_t known, int fd, uint64_t access)
{
	struct beneath b = { .access = access & known, .fd = fd };
	struct stat st;

	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		b.access &= READ_FILE;
	(void)syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &b, 0);
}

/*
 * Allow reading the parent directories of the CRIU images in directory dir. A
 * link called "parent" leads from each directory to the next.
 */
static void
rule_parents(int rules, uint64_t known, int dir)
{
	int i, fd, up;

	fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	for (i = 0; fd != -1 && i < PARENTS; i++) {
		up = openat(fd, "parent", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up != -1 && link_istrusted(fd, "parent", up))
			rule_add(rules, known, up, READ);
		close(fd);
		fd = up;
	}
	fd_drop(fd);
}

static void
rule_path(int rules, uint64_t known, const char *path, uint64_t access)
{
	struct stat st;
	int fd;

	if (path == NULL || (fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return;
	rule_add(rules, known, fd, access);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		rule_parents(rules, known, fd);
	close(fd);
}

/*
 * Allow this thread, and the threads it creates later, to open only the files
 * that c needs. Return 0, or -1 if Landlock is not available.
 */
int
landlock_apply(const struct confined *c)
{
	struct ruleset set = { 0, NET_ALL, SCOPE_ALL };
	long version;
	size_t i;
	int rules, rc;

	version = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    CREATE_RULESET_VERSION);
	if (version <= 0)
		return -1;
	/* all access rights to files that this version supports */
	set.fs = version >= 5 ? 0xffff : version >= 3 ? 0x7fff :
	    version == 2 ? 0x3fff : 0x1fff;
	rules = (int)syscall(SYS_landlock_create_ruleset, &set, version >= 6 ?
	    sizeof set : version >= 4 ? offsetof(struct ruleset, scoped) :
	    offsetof(struct ruleset, net), 0);
	if (rules == -1)
		return -1;
	for (i = 0; i < c->nin; i++)
		rule_path(rules, set.fs, c->in[i], READ);
	rule_path(rules, set.fs, c->parent, READ);
	rule_path(rules, set.fs, c->outdir, WRITE);
#ifdef SANITIZED
	rule_path(rules, set.fs, "/proc", READ);
#endif
	rc = (int)syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return rc;
}
