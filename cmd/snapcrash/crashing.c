/*
 * Identify the process that crashed from what the kernel passes and from /proc.
 */
#include "crash.h"
#include "full.h"
#include "machine.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <linux/nsfs.h>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum { ANCESTORS = 64 }; /* maximum number of ancestors that are examined */

/*
 * Parse s, a number from the kernel, into *n. Return 0, or -1 with errstr set.
 */
static int
number(const char *s, int *n)
{
	const char *bad;

	*n = (int)strtonum(s, 0, INT_MAX, &bad);
	return bad == NULL ? 0 : errstr_set("take %s: %s", s, bad);
}

/*
 * Copy the value of key in the status file of process pid to value, which has
 * room for size bytes. Return false if there is no such key.
 */
static bool
status_line(pid_t pid, const char *key, char *value, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	return file_line(path, key, value, size);
}

/*
 * Return the process ID of the parent of f. Return 0 if the parent is init or
 * unknown.
 */
long
crashing_parent(const struct crashing *f)
{
	const long ppid = proc_status(f->pid, 0, "PPid");

	return ppid > 1 ? ppid : 0;
}

/*
 * Return true if the four IDs in one line of the status file of process pid are
 * all equal. key names the line: Uid or Gid.
 */
static bool
status_alike(pid_t pid, const char *key)
{
	unsigned int id[4];
	char line[128];

	return status_line(pid, key, line, sizeof line) &&
	    sscanf(line, "%u %u %u %u", &id[0], &id[1], &id[2],
	    &id[3]) == 4 && id[0] == id[1] && id[0] == id[2] &&
	    id[0] == id[3];
}

/*
 * Return how many levels the user namespace of process pid is below ours, or -1
 * if this is unknown (ioctl_ns(2)). If it is below ours, set *owner to the
 * owner of the namespace directly below ours.
 */
static int
namespace_depth(pid_t pid, uid_t *owner)
{
	struct stat ours, st;
	char path[64];
	int ns, up, n, depth = -1;

	snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
	if (stat("/proc/self/ns/user", &ours) == -1 ||
	    (ns = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	for (n = 0; fstat(ns, &st) == 0; n++) {
		if (st.st_dev == ours.st_dev && st.st_ino == ours.st_ino) {
			depth = n;
			break;
		}
		if (ioctl(ns, NS_GET_OWNER_UID, owner) == -1 ||
		    (up = ioctl(ns, NS_GET_PARENT)) == -1)
			break;
		close(ns);
		ns = up;
	}
	close(ns);
	return depth;
}

/*
 * Return true if the user of process f has all the privileges of f, and so may
 * trace it (ptrace(2)). This is so if f is in our user namespace and has no
 * capabilities, or if f is in a user namespace directly below ours that the
 * user owns.
 */
static bool
rights_plain(const struct crashing *f)
{
	char caps[32];
	uid_t owner;

	switch (namespace_depth(f->pid, &owner)) {
	case 0:
		return status_line(f->pid, "CapPrm", caps, sizeof caps) &&
		    strtoull(caps, NULL, 16) == 0;
	case 1:
		return owner == f->uid;
	}
	return false;
}

/*
 * Return true if the program of process pid was started with no more rights
 * than its user has. AT_SECURE (getauxval(3)) is then 0. A set-user-ID program
 * may since have dropped its rights, but its memory may still contain what it
 * read with these rights.
 */
static bool
program_isplain(pid_t pid)
{
	const struct machine *m = machine_here();
	struct buf b = { 0 };
	char path[64];
	size_t word;
	bool plain;

	snprintf(path, sizeof path, "/proc/%d/auxv", pid);
	plain = full_readfile(AT_FDCWD, path, &b) == 0 &&
	    (word = auxv_word(m, b.data, b.len)) != 0 &&
	    auxv_get(m, b.data, b.len, word, AT_SECURE) == 0;
	buf_free(&b);
	return plain;
}

/*
 * Return the user to charge for a crash of process pid, which runs as user uid.
 * This is uid, unless the process is in a user namespace below ours. If so,
 * charge the owner of the outermost such namespace, because the owner can use
 * many user IDs there (subuid(5)). However, if that owner is root, charge uid.
 */
static uid_t
user_charged(pid_t pid, uid_t uid)
{
	uid_t owner = uid;

	(void)namespace_depth(pid, &owner);
	return owner == 0 ? uid : owner;
}

/*
 * Set f->name, the program name used in the name of the snapshot. Return 0, or
 * -1 with errstr set.
 */
static int
crashing_name(struct crashing *f)
{
	struct task t;
	char *s;

	if (proc_stat(f->pid, 0, &t) == -1)
		return errstr_sys("/proc/%d/stat", f->pid);
	strlcpy(f->name, *t.comm != '\0' ? t.comm : "unknown",
	    sizeof f->name);
	for (s = f->name; *s != '\0'; s++)
		if (strchr(NAME_BYTES, *s) == NULL)
			*s = '_';
	return 0;
}

/*
 * Return true if f->pid is still the process that f describes. Check our pidfd,
 * which was opened for that process: its process ID is -1 once the process has
 * been reaped.
 */
bool
crashing_same(const struct crashing *f)
{
	char path[64], pid[32];

	/* pidfd_open(2) */
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", f->pidfd);
	return file_line(path, "Pid", pid, sizeof pid) &&
	    strtol(pid, NULL, 10) == f->pid;
}

/*
 * Return true if ancestor is f itself or one of its ancestors.
 */
bool
crashing_descends(const struct crashing *f, pid_t ancestor)
{
	pid_t pid = f->pid;
	int i;

	for (i = 0; i < ANCESTORS && pid > 1; i++) {
		if (pid == ancestor)
			return true;
		pid = (pid_t)proc_status(pid, 0, "PPid");
	}
	return false;
}

/*
 * Check that the soft RLIMIT_CORE of process f allows a core dump. The kernel
 * ignores the limit for pipes and sockets (core(5)), so we check it. A limit of
 * less than a page counts as 0, as in systemd-coredump(8). prlimit(2) needs
 * CAP_SYS_RESOURCE, which root of a container may lack. Return 0, or -1 with
 * errstr set.
 */
int
crashing_allowed(const struct crashing *f)
{
	uint64_t most;

	if (proc_limit(f->pid, "Max core file size", &most) == -1)
		return -1;
	if (most < (uint64_t)sysconf(_SC_PAGESIZE))
		return errstr_set("its core size limit is %ju (see ulimit -c, "
		    "and core-limit in snapcrash.conf(5))", (uintmax_t)most);
	return 0;
}

/*
 * Check that process f is dumping core. Then fill in the rest of f, and choose
 * a name for its snapshot. Return 0, or -1 with errstr set.
 */
int
crashing_check(struct crashing *f)
{
	(void)fcntl(f->pidfd, F_SETFD, FD_CLOEXEC);
	if (!crashing_same(f) || proc_status(f->pid, 0, "CoreDumping") != 1)
		return errstr_set("process %d is not dumping core", f->pid);
	f->plain = f->dumpable == 1 && status_alike(f->pid, "Uid") &&
	    status_alike(f->pid, "Gid") && rights_plain(f) &&
	    program_isplain(f->pid);
	if (crashing_name(f) == -1)
		return -1;
	f->charged = user_charged(f->pid, f->uid);
	snprintf(f->id, sizeof f->id, "%s.%d.%jd.%u", f->name, f->pid,
	    (intmax_t)time(NULL), f->charged);
	return 0;
}

/*
 * Fill in f from words, the arguments that the kernel passes according to
 * core_pattern: %P %I %s %d %u %F. %F is the pidfd of the process, and is empty
 * before Linux 6.16. Return 0, or -1 with errstr set.
 */
int
crashing_learn(struct crashing *f, char *const words[])
{
	int *const to[] = { &f->pid, &f->tid, &f->signal, &f->dumpable };
	int i;

	for (i = 0; i < 5; i++)
		if (words[i] == NULL)
			return errstr_set("only the kernel can run take (use "
			    "snapcrash install)");
	for (i = 0; i < 4; i++)
		if (number(words[i], to[i]) == -1)
			return -1;
	f->uid = (uid_t)strtoul(words[4], NULL, 10);
	f->given = words[5] != NULL && *words[5] != '\0';
	if (f->given && number(words[5], &f->pidfd) == -1)
		return -1;
	if (!f->given)
		f->pidfd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	return crashing_check(f);
}
