/*
 * A set of live processes: which they are, and what is taken of them.
 */
#include "live.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * An empty set.
 */
struct live *
live_new(const struct liveopts *o)
{
	struct live *l;

	if ((l = calloc(1, sizeof *l)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	l->opts = *o;
	TAILQ_INIT(&l->procs);
	return l;
}

/*
 * Let all processes of a set go, and free it.
 */
void
live_free(struct live *l)
{
	struct lproc *p;
	struct lthread *t;

	if (l == NULL)
		return;
	live_thaw(l);
	while ((p = TAILQ_FIRST(&l->procs)) != NULL) {
		while ((t = TAILQ_FIRST(&p->threads)) != NULL) {
			TAILQ_REMOVE(&p->threads, t, entry);
			filelist_free(&t->before);
			free(t);
		}
		TAILQ_REMOVE(&l->procs, p, entry);
		free(p);
	}
	free(l->user);
	free(l);
}

void
live_warn(const struct live *l, const char *fmt, ...)
{
	char s[1024];
	va_list ap;

	if (l->opts.warn == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	l->opts.warn(l->opts.arg, s);
}

/*
 * Was something that was asked for left out?
 */
bool
live_incomplete(const struct live *l)
{
	return l->incomplete;
}

struct pipes {
	pid_t		 pid;
	ino_t		 ino[2];	/* of our output and our messages */
	bool		 reads;
};

static int
pipes_fd(void *arg, long fd)
{
	struct pipes *pi = arg;
	char name[32], link[64], *target;
	struct bytes b;
	const char *flags;
	int i;

	snprintf(name, sizeof name, "fd/%ld", fd);
	if ((target = proc_link(pi->pid, 0, name)) == NULL)
		return 0;
	for (i = 0; i < 2; i++) {
		snprintf(link, sizeof link, "pipe:[%ju]",
		    (uintmax_t)pi->ino[i]);
		if (pi->ino[i] == 0 || strcmp(target, link) != 0)
			continue;
		snprintf(name, sizeof name, "fdinfo/%ld", fd);
		if (proc_read(pi->pid, 0, name, &b) == -1)
			continue;
		flags = memmem(b.data, b.len, "flags:", 6);
		if (flags != NULL && (strtol(flags + 6, NULL, 8) &
		    O_ACCMODE) != O_WRONLY)
			pi->reads = true;
		free(b.data);
	}
	free(target);
	return 0;
}

/*
 * Does a process read what we write?  If it were stopped we would wait for
 * it, and it for us.
 */
static bool
reads_us(pid_t pid)
{
	struct pipes pi = { pid, { 0, 0 }, false };
	struct stat st;
	int i;

	for (i = 0; i < 2; i++)
		if (fstat(i + 1, &st) == 0 && S_ISFIFO(st.st_mode))
			pi.ino[i] = st.st_ino;
	if (pi.ino[0] != 0 || pi.ino[1] != 0)
		(void)proc_list(pid, "fd", pipes_fd, &pi);
	return pi.reads;
}

static int
live_add(struct live *l, pid_t pid, bool found)
{
	char user[32];

	if (pid == getpid()) {
		live_warn(l, "process %d is this one: left out", pid);
		l->incomplete = true;
		return 0;
	}
	if (lproc_find(l, pid) != NULL)
		return 0;
	if (reads_us(pid)) {
		live_warn(l, "process %d reads what this one writes: "
		    "left out", pid);
		l->incomplete = true;
		return 0;
	}
	live_user(l, (uid_t)proc_status(pid, 0, "Uid"), user, sizeof user);
	return lproc_add(l, pid, found) == NULL ? -1 : 0;
}

/*
 * Add a process that was found among the descendants.
 */
int
live_found(struct live *l, pid_t pid)
{
	return live_add(l, pid, true);
}

/*
 * Add a process, or the process that a thread belongs to, by number.
 */
int
live_addpid(struct live *l, pid_t pid)
{
	long tgid;

	if ((tgid = proc_status(pid, 0, "Tgid")) == -1)
		return errstr_set("no such process: %d", pid);
	return live_add(l, (pid_t)tgid, false);
}

struct byname {
	struct live	*live;
	const char	*name;
	size_t		 found;
	size_t		 foreign;	/* of other users */
};

/*
 * Is a process called so?  The kernel keeps 15 bytes of a name; a longer
 * one is compared with what the process was started as.
 */
static bool
is_called(pid_t pid, const char *name)
{
	enum { COMMLEN = 15 };
	struct task t;
	struct bytes b;
	bool is;

	if (proc_stat(pid, 0, &t) == -1 || t.kernel ||
	    strncmp(t.comm, name, COMMLEN) != 0)
		return false;
	if (strlen(name) <= COMMLEN)
		return strcmp(t.comm, name) == 0;
	if (proc_read(pid, 0, "cmdline", &b) == -1)
		return false;
	is = b.len > 0 && memchr(b.data, '\0', b.len) != NULL &&
	    strcmp(basename((char *)b.data), name) == 0;
	free(b.data);
	return is;
}

static int
byname_pid(void *arg, long pid)
{
	struct byname *by = arg;

	if (pid == getpid() || !is_called((pid_t)pid, by->name))
		return 0;
	if (proc_status((pid_t)pid, 0, "Uid") != (long)getuid()) {
		by->foreign++;
		return 0;
	}
	by->found++;
	return live_add(by->live, (pid_t)pid, true);
}

/*
 * Add all processes of a name that the user owns.
 */
int
live_addname(struct live *l, const char *name)
{
	struct byname by = { l, name, 0, 0 };

	if (proc_list(0, NULL, byname_pid, &by) == -1)
		return -1;
	if (by.found == 0)
		return errstr_set("no process of yours is called \"%s\"%s",
		    name, by.foreign > 0 ? " (others' are; use their pids)" :
		    "");
	if (by.foreign > 0) {
		live_warn(l, "%zu processes called \"%s\" belong to other "
		    "users: left out (use their pids)", by.foreign, name);
		l->incomplete = true;
	}
	return 0;
}

/*
 * Take one thread: what take makes of it goes into a process of the
 * snapshot, with text and memory where it leads its process.
 */
static int
thread_take(struct live *l, struct snap *s, struct lproc *lp,
    struct lthread *th, take_fn take, void *arg)
{
	struct filelist rec = { 0 };
	struct task t;
	struct proc *p;
	int rc;

	if (task_read(l, lp, th, &t) == -1)
		return th->tid == lp->pid ? -1 : 0;
	rc = -1;
	if ((p = snap_add(s, (uint64_t)th->tid)) == NULL)
		goto out;
	p->leader = th->tid == lp->pid ? 0 : (uint64_t)lp->pid;
	if (th->tid == lp->pid && lp->mmtid != 0 &&
	    (text_image(l, lp, s, p) == -1 ||
	    memory_image(l, lp, s, p, &t) == -1))
		goto out;
	task_record(lp, th, &t, &rec);
	if (rec.failed)
		errstr_set("out of memory");
	else
		rc = take(arg, p, &t, rec.file, rec.n);
	if (th->hold == HOLD_FOREIGN || th->hold == HOLD_BUSY)
		l->incomplete = true;
out:
	task_free(&t);
	filelist_free(&rec);
	return rc;
}

/*
 * Take a snapshot of what is stopped.  take is called for each thread, the
 * one that leads its process first, with what /proc and ptrace tell of it
 * and the files of its Linux record, to make its small files.  The
 * processes must stay stopped until the pages have been read.
 */
int
live_take(struct live *l, struct snap *s, take_fn take, void *arg)
{
	struct lthread kernel = { 0 };
	struct lproc *lp;
	struct lthread *th;
	int rc;

	rc = 0;
	TAILQ_FOREACH(lp, &l->procs, entry) {
		if (lp->skip)
			continue;
		if (lp->kernel) {
			kernel.tid = lp->pid;
			rc = thread_take(l, s, lp, &kernel, take, arg);
		}
		TAILQ_FOREACH(th, &lp->threads, entry)
			if (rc == 0 && th->tid == lp->pid)
				rc = thread_take(l, s, lp, th, take, arg);
		TAILQ_FOREACH(th, &lp->threads, entry)
			if (rc == 0 && th->tid != lp->pid &&
			    th->hold != HOLD_GONE)
				rc = thread_take(l, s, lp, th, take, arg);
		if (rc == -1)
			return errstr_wrap("process %d", lp->pid);
	}
	if (s->nproc == 0)
		return errstr_set("nothing to take a snapshot of");
	return 0;
}

/*
 * When this system was started, in seconds.
 */
static uint64_t
boot_time(void)
{
	unsigned long long t;
	char line[256];
	FILE *f;

	t = 0;
	if ((f = fopen("/proc/stat", "re")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "btime %llu", &t) == 1)
			break;
	fclose(f);
	return t;
}

/*
 * What a snapshot's first line tells of this machine and moment, behind
 * "process snapshot ": the caller frees it.  NULL when memory runs out.
 */
char *
live_header(const char *cputype)
{
	struct live l = { 0 };
	struct utsname u;
	char user[32], *s;

	if (uname(&u) == -1)
		strlcpy(u.nodename, "unknown", sizeof u.nodename);
	live_user(&l, getuid(), user, sizeof user);
	free(l.user);
	if (asprintf(&s, "%lld %s@%.64s %s %ju \"Linux %.40s\"",
	    (long long)time(NULL), user, u.nodename, cputype,
	    (uintmax_t)boot_time(), u.release) == -1) {
		errstr_set("out of memory");
		return NULL;
	}
	return s;
}
