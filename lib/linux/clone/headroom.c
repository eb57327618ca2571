/*
 * Are there memory and a place for the clone of a process (clone.c)?  What a
 * clone takes counts for the cgroups that the process is in:
 *
 *	tables		its page tables, as VmPTE has them; half a kilobyte
 *			for each mapping; 256 kilobytes for the task itself,
 *			its stack in the kernel, and what the kernel takes from
 *			the cgroup in advance
 *	copies		each page that the process writes to, before its clone
 *			has been read, is copied; all of its own pages, at the
 *			worst, and those in swap, which reading brings back
 *
 * So much was measured (Linux 6.18): 0.2 MB for a python of 8 or 45 MB,
 * 1.0 MB for one of 400 MB, 0.4 MB for 524 mappings; and, of a process that
 * writes 100 MB all the time, 92 MB.  Room for all copies must be left.  It
 * would be the clone that the kernel kills first, but while the pages of that
 * are not free yet it kills once more, and then the process; that was seen,
 * with room for half.  It also kills all of a cgroup with memory.oom.group.
 *
 * A cgroup or a user may have a limit of processes and threads (RLIMIT_NPROC of
 * getrlimit(2)).  Clones take at most a quarter of what is left of it, for the
 * process may want to fork as long as its clone is there.
 *
 * The user may have a limit as well (struct liveopts): of what all clones take,
 * and of the copies of shared memory.
 *
 * What is used is read when the first clone is to be made, and what clones were
 * promised is added to it.
 */
#include "cloning.h"
#include "full.h"
#include "state/state.h"
#include "vec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAPPING = 512,		/* bytes */
	TASK = 256 * 1024,
	PART = 4		/* of the places left, for clones */
};

struct room {			/* what some processes may have together */
	struct room	*next;	/* owned */
	enum cgkind	 kind;
	char		*name;	/* owned; the directory of a cgroup, or whose */
	uint64_t	 limit;	/* bytes, or processes and threads, as these;
				   UINT64_MAX: none */
	uint64_t	 used;	/* before the first clone */
	uint64_t	 promised; /* to clones */
};

struct headroom {
	struct bytes	 mounts; /* owned; our mountinfo */
	struct room	*rooms;	/* owned */
	uint64_t	 tasks;	/* of all users; 0: not read yet */
	uint64_t	 clones; /* that were promised a place */
};

struct claim {			/* what the clone of a process is to have */
	struct headroom	*head;	/* borrowed, as these */
	const struct filelist *rec; /* of the process */
	const struct room *least; /* of memory, which leaves least; or NULL */
	uint64_t	 bytes;
};

/*
 * Return the room of a kind and name, or NULL.
 */
static struct room *
room_find(const struct headroom *h, enum cgkind kind, const char *name)
{
	struct room *r;

	for (r = h->rooms; r != NULL && (r->kind != kind ||
	    strcmp(r->name, name) != 0);)
		r = r->next;
	return r;
}

/*
 * Add a room, of which this much is used.  Return it, or NULL with errstr.
 */
static struct room *
room_add(struct headroom *h, enum cgkind kind, const char *name,
    uint64_t limit, uint64_t used)
{
	struct room *r;

	if ((r = calloc(1, sizeof *r)) == NULL ||
	    (r->name = strdup(name)) == NULL) {
		free(r);
		errstr_set("out of memory");
		return NULL;
	}
	r->kind = kind;
	r->limit = limit;
	r->used = used;
	r->next = h->rooms;
	h->rooms = r;
	return r;
}

static uint64_t
room_left(const struct room *r, uint64_t used)
{
	return r->limit > used ? r->limit - used : 0;
}

/*
 * Return true if this many clones take no more than their part of the places
 * that were left before them.
 */
static bool
places_enough(uint64_t left, uint64_t clones)
{
	return left / PART >= clones;
}

/*
 * Promise what claim c needs in room r: memory, or a place.  Return 0, or -1
 * with errstr where there is less.
 */
static int
room_take(struct room *r, const struct claim *c)
{
	const uint64_t left = room_left(r, r->used + r->promised);

	if (r->kind == CGROUP_MEMORY && c->bytes > left)
		return errstr_set("it may take %ju kilobytes, and %s has %ju "
		    "left of its limit of %ju", (uintmax_t)c->bytes / KB,
		    r->name, (uintmax_t)left / KB, (uintmax_t)r->limit / KB);
	if (r->kind == CGROUP_TASKS &&
	    !places_enough(room_left(r, r->used), r->promised + 1))
		return errstr_set("%s may have %ju processes and threads, "
		    "and has room for %ju more", r->name,
		    (uintmax_t)r->limit, (uintmax_t)left);
	r->promised += r->kind == CGROUP_MEMORY ? c->bytes : 1;
	return 0;
}

/*
 * Promise what claim arg needs in cgroup c, if that has a limit.
 */
static int
level_take(void *arg, const struct cglevel *c)
{
	struct claim *cl = arg;
	struct room *r;
	uint64_t left, limit;

	if ((r = room_find(cl->head, c->kind, c->dir)) == NULL) {
		left = cgroup_left(c, &limit);
		r = room_add(cl->head, c->kind, c->dir, limit, limit - left);
	}
	if (r == NULL)
		return -1;
	if (r->limit == UINT64_MAX)
		return 0;
	if (c->kind == CGROUP_MEMORY && (cl->least == NULL ||
	    room_left(r, r->used) < room_left(cl->least, cl->least->used)))
		cl->least = r;
	return room_take(r, cl);
}

/*
 * Return the text of a file of a record; it is empty if the record has none.
 */
static struct scan
record_text(const struct filelist *rec, const char *name)
{
	const struct file *f = filelist_find(rec, name);

	return f == NULL ? scan_begin("", 0) : scan_begin(f->data, f->len);
}

/*
 * Return the number behind a key of status in a record.
 */
static uint64_t
record_number(const struct filelist *rec, const char *key)
{
	const struct scan t = record_text(rec, "status");

	return status_first(t.s, (size_t)(t.end - t.s), key, 10);
}

/*
 * Return how many processes and threads there are, proc_loadavg(5); UINT64_MAX
 * if that cannot be read.
 */
static uint64_t
tasks_all(void)
{
	struct buf b = { 0 };
	struct scan t;
	uint64_t n;

	n = UINT64_MAX;
	if (full_readfile(AT_FDCWD, "/proc/loadavg", &b) == 0) {
		t = scan_begin(b.data, b.len);
		while (t.s < t.end && *t.s != '/')
			t.s++;
		if (!scan_byte(&t, '/') || !scan_number(&t, 10, &n))
			n = UINT64_MAX;
	}
	buf_free(&b);
	return n;
}

struct counting {
	uint64_t	 uid;
	uint64_t	 tasks;
};

/*
 * Add the threads of process pid, if its user is that of arg.
 */
static int
tasks_add(void *arg, long pid)
{
	struct counting *u = arg;
	struct bytes b;

	if (proc_read((pid_t)pid, 0, "status", &b) == -1)
		return 0;
	if (status_first(b.data, b.len, "Uid", 10) == u->uid)
		u->tasks += status_first(b.data, b.len, "Threads", 10);
	free(b.data);
	return 0;
}

/*
 * Promise a place among the processes and threads that the user of claim c may
 * have.  The kernel does not say how many it has: there are no more than all
 * users have, and they are counted only if the limit is not far above that.
 * The limit does not hold for root (copy_process of the kernel's
 * kernel/fork.c).  Return 0, or -1 with errstr.
 */
static int
user_take(struct claim *c)
{
	struct counting u = { .uid = record_number(c->rec, "Uid") };
	struct scan t = record_text(c->rec, "limits");
	struct headroom *h = c->head;
	struct room *r, all = { .limit = UINT64_MAX };
	struct limit l;
	char name[32];

	while (limits_next(&t, &l))
		if (strcmp(l.name, "Max processes") == 0)
			all.limit = l.cur;
	if (all.limit == UINT64_MAX || u.uid == 0)
		return 0;
	if (h->tasks == 0)
		h->tasks = tasks_all();
	if (places_enough(room_left(&all, h->tasks), ++h->clones))
		return 0;
	snprintf(name, sizeof name, "user %ju", (uintmax_t)u.uid);
	if ((r = room_find(h, CGROUP_TASKS, name)) == NULL &&
	    (proc_list(0, NULL, tasks_add, &u) == -1 || (r = room_add(h,
	    CGROUP_TASKS, name, all.limit, u.tasks)) == NULL))
		return -1;
	r->limit = all.limit;
	return room_take(r, c);
}

/*
 * Return what set l has left, with the user's limit, of which copies of shared
 * memory take a part, as the first room; NULL with errstr.
 */
static struct headroom *
headroom_get(struct live *l)
{
	const uint64_t limit = l->opts.memory == 0 ? UINT64_MAX :
	    l->opts.memory;

	if (l->headroom != NULL)
		return l->headroom;
	if ((l->headroom = mem_new(1, sizeof *l->headroom)) == NULL)
		return NULL;
	(void)proc_read(getpid(), 0, "mountinfo", &l->headroom->mounts);
	if (room_add(l->headroom, CGROUP_MEMORY, "the snapshot", limit,
	    l->shmem) == NULL)
		headroom_free(l);
	return l->headroom;
}

/*
 * Set aside memory and a place for a clone of process p, which is stopped and
 * has nvma mappings, in all cgroups that p is in, among what its user may have,
 * and within the user's limit: clones of other processes are yet to be made.
 * Note in p which limit of memory leaves least, in case its clone is killed.
 * Return 0; or -1 with errstr, which says where there is no room.
 */
int
headroom_claim(struct live *l, struct lproc *p, size_t nvma)
{
	struct claim c = { .rec = &TAILQ_FIRST(&p->threads)->rec };
	struct scan mounts, own;
	enum cgkind kind;
	int rc;

	if ((c.head = headroom_get(l)) == NULL)
		return -1;
	c.bytes = (record_number(c.rec, "VmPTE") +
	    record_number(c.rec, "RssAnon") +
	    record_number(c.rec, "VmSwap")) * KB + nvma * MAPPING + TASK;
	own = record_text(c.rec, "cgroup");
	mounts = scan_begin(c.head->mounts.data, c.head->mounts.len);
	for (kind = 0, rc = 0; kind < CGROUP_KINDS && rc == 0; kind++)
		rc = cgroup_levels(kind, own, mounts, level_take, &c);
	free(p->limit);
	p->limit = NULL;
	if (c.least != NULL && asprintf(&p->limit,
	    "%s has a limit of %ju kilobytes", c.least->name,
	    (uintmax_t)c.least->limit / KB) == -1) {
		p->limit = NULL;
		return errstr_set("out of memory");
	}
	return rc == 0 && (rc = user_take(&c)) == 0 ? room_take(room_find(
	    c.head, CGROUP_MEMORY, "the snapshot"), &c) : rc;
}

void
headroom_free(struct live *l)
{
	struct headroom *h = l->headroom;
	struct room *r;

	if (h == NULL)
		return;
	while ((r = h->rooms) != NULL) {
		h->rooms = r->next;
		free(r->name);
		free(r);
	}
	free(h->mounts.data);
	free(h);
	l->headroom = NULL;
}

/*
 * Lessen the bytes at arg to what cgroup c has left.
 */
static int
room_lessen(void *arg, const struct cglevel *c)
{
	uint64_t *least = arg, left, limit;

	left = cgroup_left(c, &limit);
	if (left < *least)
		*least = left;
	return 0;
}

/*
 * Return how many bytes this process may take: what the machine has available
 * without swap, proc_meminfo(5), and the cgroups that we are in; 0 if that
 * cannot be read.
 */
uint64_t
headroom_ours(void)
{
	struct bytes mounts = { 0 }, own = { 0 };
	struct buf b = { 0 };
	uint64_t left;

	left = 0;
	if (proc_read(getpid(), 0, "cgroup", &own) == 0 &&
	    proc_read(getpid(), 0, "mountinfo", &mounts) == 0 &&
	    full_readfile(AT_FDCWD, "/proc/meminfo", &b) == 0) {
		left = status_first(b.data, b.len, "MemAvailable", 10) * KB;
		if (cgroup_levels(CGROUP_MEMORY, scan_begin(own.data, own.len),
		    scan_begin(mounts.data, mounts.len), room_lessen,
		    &left) == -1)
			left = 0;
	}
	free(own.data);
	free(mounts.data);
	buf_free(&b);
	return left;
}
