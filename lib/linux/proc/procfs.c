/*
 * Files below /proc: reading whole ones, links, lists of numbers, stat and
 * status (proc(5)).
 */
#include "clock.h"
#include "full.h"
#include "proc.h"
#include "linux/proxy/proxy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 };	/* bytes that most files below /proc fit into */

/*
 * The path of a file of a process (tid 0) or of one of its threads.
 */
static void
proc_path(char *path, size_t size, pid_t pid, pid_t tid, const char *name)
{
	if (tid == 0)
		snprintf(path, size, "/proc/%d/%s", pid, name);
	else
		snprintf(path, size, "/proc/%d/task/%d/%s", pid, tid, name);
}

/*
 * Open a file of a process or thread: a descriptor, or -1 with errno.
 */
int
proc_open(pid_t pid, pid_t tid, const char *name, int flags)
{
	char path[PATH_MAX];

	proc_path(path, sizeof path, pid, tid, name);
	return open(path, flags | O_CLOEXEC | O_NOCTTY);
}

/*
 * Return true if the read of a file may never end.  For some, the kernel reads
 * memory of the process, which chooses where that is, or waits while one of
 * its threads changes the mappings: proc_pid_cmdline(5).
 */
static bool
proc_waits(const char *name)
{
	static const char *const waits[] = {
		"cmdline", "environ", "maps", "smaps"
	};
	size_t i;

	for (i = 0; i < sizeof waits / sizeof *waits; i++)
		if (strcmp(name, waits[i]) == 0)
			return true;
	return false;
}

/*
 * Read all that is left of a file that fits into room, of size bytes, and put
 * a copy of it, which takes no more memory than it has bytes, into *out; what
 * is longer grows there.  Return 0, or -1 with errno.
 */
static int
read_fitted(int fd, uint8_t *room, size_t size, struct bytes *out)
{
	struct buf b = { 0 };
	ssize_t got;
	size_t n;

	for (n = 0; n < size && (got = read(fd, room + n, size - n)) != 0;)
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			return -1;
	if (buf_room(&b, n + 1) == NULL) {
		errno = ENOMEM;
		return -1;
	}
	buf_add(&b, room, n);
	if (n == size && full_read(fd, &b) == -1) {
		buf_free(&b);
		return -1;
	}
	out->data = b.data;
	out->len = b.len;
	return 0;
}

/*
 * Add to k what a file has that is left of it.  Return 0, or -1 with errno.
 */
static int
read_bulk(int fd, struct bulk *k)
{
	uint8_t piece[16 * KB];
	ssize_t n;

	while ((n = read(fd, piece, sizeof piece)) != 0)
		if (n > 0)
			bulk_add(k, piece, (size_t)n);
		else if (errno != EINTR)
			return -1;
	return 0;
}

/*
 * Set *out to what was added to k, unless rc is -1.  Return rc, with errno; -1
 * if it cannot be had.
 */
static int
bulk_give(struct bulk *k, int rc, struct bytes *out)
{
	const int e = errno;

	if (rc == -1)
		bulk_free(k);
	else if (bulk_finish(k, &out->data, &out->len) == -1) {
		errno = ENOMEM;
		return -1;
	}
	errno = e;
	return rc;
}

/*
 * Read a whole file that may have very many bytes, as proc_read; the caller
 * frees what comes with data_free.
 */
int
proc_readmany(pid_t pid, pid_t tid, const char *name, struct bytes *out)
{
	struct bulk k = { 0 };
	char path[PATH_MAX];
	int e, fd, rc;

	out->data = NULL;
	out->len = 0;
	proc_path(path, sizeof path, pid, tid, name);
	if (pid != getpid() && proc_waits(name) && proxy_ison())
		return bulk_give(&k, proxy_proc(pid, path, &k), out);
	if ((fd = proc_open(pid, tid, name, O_RDONLY)) == -1)
		return -1;
	rc = read_bulk(fd, &k);
	e = errno;
	close(fd);
	errno = e;
	return bulk_give(&k, rc, out);
}

/*
 * Read a whole file.  The caller frees what comes; -1 with errno when it
 * cannot be read, ETIMEDOUT where that takes too long.
 */
int
proc_read(pid_t pid, pid_t tid, const char *name, struct bytes *out)
{
	struct bulk k = { .full = true };	/* in memory */
	char path[PATH_MAX];
	uint8_t room[ROOM];
	int fd, e, rc;

	out->data = NULL;
	out->len = 0;
	if (pid != getpid() && proc_waits(name) && proxy_ison()) {
		proc_path(path, sizeof path, pid, tid, name);
		return bulk_give(&k, proxy_proc(pid, path, &k), out);
	}
	if ((fd = proc_open(pid, tid, name, O_RDONLY)) == -1)
		return -1;
	rc = read_fitted(fd, room, sizeof room, out);
	e = errno;
	close(fd);
	errno = e;
	return rc;
}

/*
 * The target of a link, or NULL.  The caller frees it.
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
 * Return whether the kernel says that a file's name is deleted.  Others may
 * lead to it: it may have links.
 */
bool
path_isdeleted(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n;

	n = strlen(path);
	return n > sizeof deleted - 1 &&
	    strcmp(path + n - (sizeof deleted - 1), deleted) == 0;
}

/*
 * Return 1 if a directory of process pid is gone, as errno tells; else -1 with
 * errstr.
 */
static int
list_failed(pid_t pid, const char *path)
{
	return pid != 0 && (errno == ENOENT || errno == ESRCH) ? 1 :
	    errstr_sys("%s", path);
}

/*
 * Call fn for each number that a directory of process pid (or /proc itself,
 * with pid 0) has as a name, until it returns -1.  Return 0; 1 if the directory
 * is gone; -1 with errstr, also where fn returned that.
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
 * The number behind a key of /proc/PID/status, or -1 with errno, which is 0
 * where there is no such key.
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
 * Set *st to what stat tells of a process (tid 0) or of one of its threads.
 * Return the number of the last field that is told, as stat_parse does; -1
 * with errno if it cannot be read, ESRCH when it is gone.
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

/*
 * Since this system was started: what start times are told in.
 */
static uint64_t
uptime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
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
	t->age = uptime_ms();
	t->age -= start < t->age ? start : t->age;
	t->memkb = st->v[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE) / KB;
}

/*
 * Fill in what a text of stat tells of a process or thread: proc_pid_stat(5).
 * Return 0, or -1 with errno ESRCH where it tells too little.
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
 * Fill in what stat tells of a process or thread now.  Return 0, or -1 with
 * errno, ESRCH when it is gone.
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
 * The state of a process or thread: a letter of proc_pid_stat(5), or '\0'
 * with errno, ESRCH when it is gone.
 */
char
proc_state(pid_t pid, pid_t tid)
{
	struct procstat st;

	if (proc_readstat(pid, tid, &st) != -1)
		errno = ESRCH;
	return st.state;
}

/*
 * Return true if a process has died, or the thread of it; false also if it
 * cannot be looked at for another reason.
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
 * Return true if the errno e is that of a file which is there, and ours to
 * read, but cannot be had now.
 */
bool
proc_islost(int e)
{
	return e == EIO || e == EINTR || e == EAGAIN || e == ENOMEM ||
	    e == EMFILE || e == ENFILE;
}

/*
 * Note that a file below /proc could not be read, with errno, if it is there:
 * proc_islost.
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
 * Add a file below /proc, if it is there, and ours to read.
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
 * Add the target of a link below /proc, likewise.
 */
void
filelist_link(struct filelist *l, pid_t pid, pid_t tid, const char *name)
{
	char *s;

	if ((s = proc_link(pid, tid, name)) != NULL)
		filelist_add(l, name, (uint8_t *)s, strlen(s));
	else
		filelist_lose(l, name);
}
