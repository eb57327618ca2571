/*
 * Read files below /proc: links, lists of numbers, stat and status (proc(5)).
 */
#include "clock.h"
#include "proc.h"

#include <dirent.h>
#include <unistd.h>

/*
 * Return the target of the symbolic link called name in /proc/pid (if tid is 0)
 * or /proc/pid/task/tid. The caller frees it. Return NULL with errno set on
 * failure.
 */
char *
proc_link(pid_t pid, pid_t tid, const char *name)
{
	char path[PATH_MAX], target[PATH_MAX + 16];
	ssize_t n;

	proc_path(path, sizeof path, pid, tid, name);
	n = readlink(path, target, sizeof target);
	return n <= 0 ? NULL : strndup(target, (size_t)n);
}

/*
 * Return true if the kernel has marked path as deleted. The file may still have
 * other links.
 */
bool
path_isdeleted(const char *path)
{
	return path[path_stem(path)] != '\0';
}

/*
 * Return 1 if errno says that a directory of process pid no longer exists.
 * Otherwise return -1 with errstr set. path is the path of the directory.
 */
static int
list_failed(pid_t pid, const char *path)
{
	return pid != 0 && (errno == ENOENT || errno == ESRCH) ? 1 :
	    errstr_sys("%s", path);
}

/*
 * Call fn(arg, number) for each numeric file name in a directory. Stop when fn
 * returns -1. The directory is the one called name in /proc/pid, or /proc
 * itself if pid is 0. Return 0, or 1 if the directory no longer exists. Return
 * -1 if fn returned -1. On an error, return -1 with errstr set.
 */
int
proc_list(pid_t pid, const char *name, int (*fn)(void *, long), void *arg)
{
	char path[PATH_MAX], *end;
	struct dirent *d;
	DIR *dir;
	long num;
	int rc;

	if (pid == 0)
		strlcpy(path, "/proc", sizeof path);
	else
		proc_path(path, sizeof path, pid, 0, name);
	if ((dir = opendir(path)) == NULL)
		return list_failed(pid, path);
	for (rc = 0; rc == 0 && (errno = 0, d = readdir(dir)) != NULL;) {
		num = strtol(d->d_name, &end, 10);
		if (end != d->d_name && *end == '\0')
			rc = fn(arg, num);
	}
	if (rc == 0 && errno != 0)
		rc = list_failed(pid, path);
	closedir(dir);
	return rc;
}

/*
 * Return the number after key in the status file of process pid (if tid is 0)
 * or of its thread tid. Return -1 with errno set on failure. errno is 0 if the
 * file has no such key.
 */
long
proc_status(pid_t pid, pid_t tid, const char *key)
{
	struct bytes b;
	uint64_t v;

	if (proc_read(pid, tid, "status", &b) == -1)
		return -1;
	if (status_list(b.data, b.len, key, 10, &v, 1) == 0)
		v = UINT64_MAX;
	free(b.data);
	errno = 0;
	return (long)v;
}

/*
 * Set *num to the ID of process pid (if tid is 0) or of its thread tid in its
 * own, innermost pid namespace (pid_namespaces(7)). Return the number of pid
 * namespaces in which we see the process or thread. Return 0 with *num
 * unchanged if that is unknown.
 */
size_t
proc_inner(pid_t pid, pid_t tid, uint64_t *num)
{
	struct bytes b;
	size_t n;

	if (proc_read(pid, tid, "status", &b) == -1)
		return 0;
	n = status_inner(b.data, b.len, "NSpid", num);
	free(b.data);
	return n;
}

/*
 * Check that /proc shows our own PID namespace. If it does not, an ID is of one
 * process in /proc, and of another one for ptrace(2). Return 0, also if there
 * is no /proc, or -1 with errstr set.
 */
int
proc_checkns(void)
{
	char self[24];
	ssize_t n;

	if ((n = readlink("/proc/self", self, sizeof self - 1)) == -1)
		return 0;
	self[n] = '\0';
	return strtol(self, NULL, 10) == getpid() ? 0 : errstr_set("/proc "
	    "shows another PID namespace; mount one for this namespace");
}

/*
 * Parse the stat file of process pid (if tid is 0) or of its thread tid into
 * *st. Return the number of the last field, as stat_parse() does. Return -1
 * with errno set on failure; errno is ESRCH if the process is gone.
 */
int
proc_readstat(pid_t pid, pid_t tid, struct procstat *st)
{
	struct bytes b;
	int last;

	memset(st, 0, sizeof *st);
	if (proc_read(pid, tid, "stat", &b) == -1) {
		errno = errno == ENOENT ? ESRCH : errno;
		return -1;
	}
	last = stat_parse(st, b.data, b.len);
	free(b.data);
	return last;
}

static uint64_t
ticks_ms(uint64_t ticks)
{
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void
task_fill(struct task *t, const struct procstat *st)
{
	uint64_t start;

	memcpy(t->comm, st->comm, sizeof t->comm);
	t->state = st->state;
	t->ppid = (pid_t)st->v[STAT_PPID];
	t->pgrp = (pid_t)st->v[STAT_PGRP];
	t->kernel = (st->v[STAT_FLAGS] & PF_KTHREAD) != 0;
	t->exiting = (st->v[STAT_FLAGS] & PF_EXITING) != 0;
	t->worker = (st->v[STAT_FLAGS] & (PF_IO_WORKER | PF_USER_WORKER)) != 0;
	t->utime = ticks_ms(st->v[STAT_UTIME]);
	t->stime = ticks_ms(st->v[STAT_STIME]);
	t->cutime = ticks_ms(st->v[STAT_CUTIME]);
	t->cstime = ticks_ms(st->v[STAT_CSTIME]);
	t->nice = (int)st->v[STAT_NICE];
	start = ticks_ms(st->v[STAT_START]);
	t->age = boot_ms();
	t->age -= start < t->age ? start : t->age;
	t->memkb = st->v[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE) / KB;
}

/*
 * Parse the len bytes at text, from a stat file (proc_pid_stat(5)), into t.
 * Return 0, or -1 with errno ESRCH if fields are missing.
 */
int
task_stat(struct task *t, const void *text, size_t len)
{
	struct procstat st = { 0 };

	if (stat_parse(&st, text, len) < STAT_RSS) {
		errno = ESRCH;
		return -1;
	}
	task_fill(t, &st);
	return 0;
}

/*
 * Read the stat file of process pid (if tid is 0) or of its thread tid into t.
 * Return 0, or -1 with errno set; errno is ESRCH if the process or thread is
 * gone.
 */
int
proc_stat(pid_t pid, pid_t tid, struct task *t)
{
	struct procstat st;
	int last;

	if ((last = proc_readstat(pid, tid, &st)) < STAT_RSS) {
		errno = last == -1 ? errno : ESRCH;
		return -1;
	}
	task_fill(t, &st);
	return 0;
}

/*
 * Return the state of process pid (if tid is 0) or of its thread tid, as a
 * letter of proc_pid_stat(5). It is read from status, because reads of stat
 * wait for threads inside execve(2). Return '\0' with errno set on failure;
 * errno is ESRCH if the process or thread is gone.
 */
char
proc_state(pid_t pid, pid_t tid)
{
	struct bytes b;
	char state;

	if (proc_read(pid, tid, "status", &b) == -1) {
		errno = errno == ENOENT ? ESRCH : errno;
		return '\0';
	}
	state = status_state(b.data, b.len);
	free(b.data);
	errno = ESRCH;
	return state;
}

/*
 * Return true if process pid (if tid is 0) or its thread tid has died. Return
 * false if that cannot be determined.
 */
bool
proc_died(pid_t pid, pid_t tid)
{
	struct task t;

	if (proc_stat(pid, tid, &t) == -1)
		return errno == ESRCH;
	return t.state == 'Z' || t.state == 'X' || t.exiting;
}

/*
 * Set *caught and *ignored to the signals that process pid (if tid is 0) or its
 * thread tid catches and ignores (proc_pid_status(5)). Bit 0 represents signal
 * 1. Return false if they cannot be read.
 */
bool
proc_signals(pid_t pid, pid_t tid, uint64_t *caught, uint64_t *ignored)
{
	struct bytes b;
	bool known;

	if (proc_read(pid, tid, "status", &b) == -1)
		return false;
	known = status_list(b.data, b.len, "SigCgt", 16, caught, 1) == 1 &&
	    status_list(b.data, b.len, "SigIgn", 16, ignored, 1) == 1;
	free(b.data);
	return known;
}

/*
 * Set *soft to the soft limit of process pid that is called name in its limits
 * file (proc_pid_limits(5)), or to UINT64_MAX if there is no limit. Unlike
 * prlimit(2), this needs no CAP_SYS_RESOURCE. Return 0, or -1 with errstr set.
 */
int
proc_limit(pid_t pid, const char *name, uint64_t *soft)
{
	struct bytes b;
	bool found;

	if (proc_read(pid, 0, "limits", &b) == -1)
		return errstr_sys("cannot read its limits");
	found = limits_find(scan_begin(b.data, b.len), name, soft);
	free(b.data);
	return found ? 0 : errstr_set("/proc/%d/limits: no \"%s\"", pid, name);
}

/*
 * Return true if errno e of a failed read means that the contents of the file
 * are lost. Return false if it only means that the file does not exist or that
 * we may not read it.
 */
bool
proc_islost(int e)
{
	return e == EIO || e == EINTR || e == EAGAIN || e == ENOMEM ||
	    e == EMFILE || e == ENFILE;
}

/*
 * Record in l that a file could not be read, and the reason, which is in errno.
 * name is the path of the file below /proc. Do nothing if errno only means that
 * the file does not exist or that we may not read it (proc_islost()).
 */
void
filelist_lose(struct filelist *l, const char *name)
{
	if (l->why != 0 || !proc_islost(errno))
		return;
	l->why = errno;
	strlcpy(l->lost, name, sizeof l->lost);
}

/*
 * Append the contents of a file to l, if it exists and is readable. The file is
 * called name in /proc/pid (if tid is 0) or /proc/pid/task/tid.
 */
void
filelist_read(struct filelist *l, pid_t pid, pid_t tid, const char *name)
{
	struct bytes b;

	if (proc_read(pid, tid, name, &b) == 0)
		filelist_add(l, name, b.data, b.len);
	else
		filelist_lose(l, name);
}

/*
 * Append the target of the symbolic link called name in /proc/pid to l, if the
 * link exists and is readable.
 */
void
filelist_link(struct filelist *l, pid_t pid, const char *name)
{
	char *s;

	if ((s = proc_link(pid, 0, name)) != NULL)
		filelist_add(l, name, (uint8_t *)s, strlen(s));
	else
		filelist_lose(l, name);
}

/*
 * Return the process that thread tid belongs to, or -1 if there is no such
 * thread.
 */
pid_t
proc_leader(pid_t tid)
{
	const long pid = proc_status(tid, 0, "Tgid");

	/* 0 if the thread ends while its status is read */
	return pid > 0 ? (pid_t)pid : -1;
}

/*
 * Return true if process pid has ended: it does not exist, or it is a zombie
 * whose last thread has exited.
 */
bool
proc_ended(pid_t pid)
{
	return proc_died(pid, 0) && proc_status(pid, 0, "Threads") <= 1;
}

/*
 * Return the time at which thread tid began, in ticks after boot, or 0 if that
 * is unknown. Another thread that has the same ID later began later.
 */
uint64_t
proc_began(pid_t tid)
{
	struct procstat st;

	return proc_readstat(tid, 0, &st) >= STAT_START ? st.v[STAT_START] : 0;
}
