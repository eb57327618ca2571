/*
 * Check whether there is enough memory, and room for one more process, for the
 * clone of a process (clone.c). A clone is charged to the cgroups of its
 * process:
 *
 *	tables		its page tables, VmPTE; half a kilobyte for each
 *			mapping; 256 kilobytes for the task, its kernel stack,
 *			and memory that the kernel charges in advance
 *	copies		each page that the process writes to before the clone
 *			was read is copied: at worst all of its anonymous
 *			pages, and those in swap, which reading brings back
 *
 * This was measured (Linux 6.18): 0.2 MB for a python of 8 or 45 MB, 1.0 MB for
 * one of 400 MB, 0.4 MB for 524 mappings; 92 MB for a process that keeps
 * writing to 100 MB. There must be room for all copies. The kernel would kill
 * the clone first, but until the pages of the clone are free, it may kill
 * again, and this may hit the process. That was seen when there was room for
 * half of the copies. With memory.oom.group it kills the whole cgroup.
 *
 * A cgroup or a user may have a limit of processes and threads (RLIMIT_NPROC of
 * getrlimit(2)). Clones take at most a quarter of what is left of it, since the
 * process may want to fork while its clone exists.
 *
 * If vm.overcommit_memory is 2 (proc_sys_vm(5)), the kernel counts all private
 * writable memory of a clone against its commit limit, even pages that nobody
 * wrote to. When the limit is reached, malloc(3) fails in every process. So
 * there must be room for twice what the clone takes.
 *
 * The user may set a limit as well (struct liveopts): for all that clones take,
 * and for copies of shared memory.
 *
 * Usage is read when the first clone is made; the amounts reserved for clones
 * since then are added to it.
 */
#include "cloning.h"
#include "full.h"
#include "state/state.h"
#include "vec.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	MAPPING = 512,		/* bytes that a clone takes for each mapping */
	TASK = 256 * 1024,
	PART = 4 /* clones take at most 1/4 of the remaining process limit */
};

struct room {			/* a limit that several processes share */
	enum cgkind	 kind;
	const char	*name;	/* directory of a cgroup, name of a user, or
				   "the snapshot" */
	/* unit of limit, used and promised: bytes, or processes and threads */
	uint64_t	 limit;	/* UINT64_MAX: no limit */
	uint64_t	 used;	/* usage before the first clone was made */
	uint64_t	 promised; /* amount reserved for clones */
};

struct headroom {
	struct bytes	 mounts; /* contents of our file "mountinfo" */
	struct room	 snapshot; /* memory limit given to snap */
	struct room	 commit; /* commit limit of the kernel */
	uint64_t	 tasks;	/* number of processes and threads of all
				   users; 0: not read yet */
	uint64_t	 clones; /* number of clones that count against the
				    limits of users */
};

struct claim {			/* what the clone of a process needs */
	struct live	*live;	/* borrowed, like "rec" and "least" */
	const struct filelist *rec; /* record of the process */
	const struct room *least; /* memory limit with the least memory left, or
				     NULL */
	uint64_t	 bytes;
};

/*
 * Return a new room with this kind, name, limit, and current usage, or NULL
 * with errstr set. Set l owns it.
 */
static struct room *
room_new(struct live *l, enum cgkind kind, const char *name, uint64_t limit,
    uint64_t used)
{
	const struct room r = { kind, pool_string(&l->pool, name), limit, used,
	    0 };

	return r.name == NULL ? NULL : pool_dup(&l->pool, &r, sizeof r);
}

static uint64_t
room_left(const struct room *r, uint64_t used)
{
	return r->limit > used ? r->limit - used : 0;
}

/*
 * Return true if this number of clones is at most a quarter of left, the number
 * of further processes that were allowed before any clone was made.
 */
static bool
places_enough(uint64_t left, uint64_t clones)
{
	return left / PART >= clones;
}

/*
 * Reserve in room r what claim c needs: memory, or one process. Return 0, or -1
 * with errstr set if not enough is left.
 */
static int
room_take(struct room *r, const struct claim *c)
{
	const uint64_t left = room_left(r, r->used + r->promised);

	if (r->kind == CGROUP_MEMORY && c->bytes > left)
		return errstr_set("its clone may need %ju kilobytes, but %s "
		    "has only %ju left of its limit of %ju",
		    (uintmax_t)c->bytes / KB, r->name, (uintmax_t)left / KB,
		    (uintmax_t)r->limit / KB);
	if (r->kind == CGROUP_TASKS &&
	    !places_enough(room_left(r, r->used), r->promised + 1))
		return errstr_set("%s is limited to %ju processes and "
		    "threads, and has room for %ju more", r->name,
		    (uintmax_t)r->limit, (uintmax_t)left);
	r->promised += r->kind == CGROUP_MEMORY ? c->bytes : 1;
	return 0;
}

/*
 * Reserve in cgroup c what the claim arg needs, if c has a limit. Return 0, or
 * -1 with errstr set if not enough is left.
 */
static int
level_take(void *arg, const struct cglevel *c)
{
	struct claim *cl = arg;
	struct room *r;
	uint64_t left, limit;
	void **place;

	if ((place = live_cell(cl->live, "room %d %s", c->kind, c->dir)) ==
	    NULL)
		return -1;
	if (*place == NULL) {
		left = cgroup_left(c, &limit);
		*place = room_new(cl->live, c->kind, c->dir, limit,
		    limit - left);
	}
	if ((r = *place) == NULL)
		return -1;
	if (r->limit == UINT64_MAX)
		return 0;
	if (c->kind == CGROUP_MEMORY && (cl->least == NULL ||
	    room_left(r, r->used) < room_left(cl->least, cl->least->used)))
		cl->least = r;
	return room_take(r, cl);
}

/*
 * Return the text of the file called name in record rec, or an empty text if
 * rec has no such file.
 */
static struct scan
record_text(const struct filelist *rec, const char *name)
{
	const struct file *f = filelist_find(rec, name);

	return f == NULL ? scan_begin("", 0) : scan_begin(f->data, f->len);
}

/*
 * Return the number after key in the status file of record rec.
 */
static uint64_t
record_number(const struct filelist *rec, const char *key)
{
	const struct scan t = record_text(rec, "status");

	return status_first(t.s, scan_len(&t), key, 10);
}

/*
 * Return the number of processes and threads on this system (proc_loadavg(5)),
 * or UINT64_MAX if it cannot be read.
 */
static uint64_t
tasks_all(void)
{
	struct buf b = { 0 };
	struct scan t, before;
	uint64_t n;

	n = UINT64_MAX;
	if (full_readfile(AT_FDCWD, "/proc/loadavg", &b) == 0) {
		t = scan_begin(b.data, b.len);
		(void)scan_until(&t, '/', &before);
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
 * Add the number of threads of process pid to the count in arg, if the process
 * belongs to the user in arg.
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
 * Reserve one process for claim c within the process limit of its user. The
 * kernel does not report how many processes and threads the user has. The
 * number for all users is an upper bound. Count those of this user only if that
 * bound is near the limit. Root has no limit (copy_process of kernel/fork.c).
 */
static int
user_take(struct claim *c)
{
	struct counting u = { .uid = record_number(c->rec, "Uid") };
	struct headroom *h = c->live->headroom;
	struct room *r, all = { .limit = UINT64_MAX };
	char name[32];
	void **place;

	(void)limits_find(record_text(c->rec, "limits"), "Max processes",
	    &all.limit);
	if (all.limit == UINT64_MAX || u.uid == 0)
		return 0;
	if (h->tasks == 0)
		h->tasks = tasks_all();
	if (places_enough(room_left(&all, h->tasks), ++h->clones))
		return 0;
	snprintf(name, sizeof name, "user %ju", (uintmax_t)u.uid);
	if ((place = live_cell(c->live, "room %s", name)) == NULL ||
	    (*place == NULL && proc_list(0, NULL, tasks_add, &u) == -1))
		return -1;
	if (*place == NULL)
		*place = room_new(c->live, CGROUP_TASKS, name, all.limit,
		    u.tasks);
	if ((r = *place) == NULL)
		return -1;
	r->limit = all.limit;
	return room_take(r, c);
}

/*
 * Set r to the commit limit of the kernel, and to the memory counted against
 * it: CommitLimit and Committed_AS of proc_meminfo(5). There is no limit unless
 * vm.overcommit_memory is 2.
 */
static void
commit_read(struct room *r)
{
	struct buf b = { 0 };

	*r = (struct room){ CGROUP_MEMORY, "vm.overcommit_memory", UINT64_MAX,
	    0, 0 };
	if (proc_setting("/proc/sys/vm/overcommit_memory", 0) == 2 &&
	    full_readfile(AT_FDCWD, "/proc/meminfo", &b) == 0) {
		r->limit = status_first(b.data, b.len, "CommitLimit", 10) * KB;
		r->used = status_first(b.data, b.len, "Committed_AS", 10) * KB;
	}
	buf_free(&b);
}

/*
 * Return the headroom of set l: the limits on clones, and the amounts reserved
 * for clones. The first call creates it. Copies of shared memory count against
 * the memory that the user allows. Return NULL with errstr set if memory runs
 * out.
 */
static struct headroom *
headroom_get(struct live *l)
{
	struct headroom *h = l->headroom;

	if (h != NULL || (h = pool_new(&l->pool, 1, sizeof *h)) == NULL)
		return h;
	h->snapshot = (struct room){ CGROUP_MEMORY, "the snapshot",
	    l->opts.memory == 0 ? UINT64_MAX : l->opts.memory, l->shmem, 0 };
	commit_read(&h->commit);
	if (proc_read(getpid(), 0, "mountinfo", &h->mounts) == 0 &&
	    pool_own(&l->pool, h->mounts.data) == NULL)
		return NULL;
	return l->headroom = h;
}

/*
 * Reserve memory and a process for a clone of process p, which is stopped. The
 * limits are those of all cgroups of p, the process limit of its user, and the
 * memory limit given to snap. nvma is the number of mappings of p. Set p->limit
 * to a description of the tightest memory limit, for the message if the clone
 * is killed. Return 0, or -1 with errstr set to a sentence that names the
 * limit.
 */
int
headroom_claim(struct live *l, struct lproc *p, size_t nvma)
{
	struct claim c = { .live = l, .rec = &TAILQ_FIRST(&p->threads)->rec },
	    commit = c;
	struct scan mounts, own;
	struct headroom *h;
	enum cgkind kind;
	int rc;

	if ((h = headroom_get(l)) == NULL)
		return -1;
	c.bytes = (record_number(c.rec, "VmPTE") +
	    record_number(c.rec, "RssAnon") +
	    record_number(c.rec, "VmSwap")) * KB + nvma * MAPPING + TASK;
	/* the clone of the set before can grow by as much; older ones exist
	   only while little memory changes */
	if (l->opts.before != NULL)
		c.bytes *= 2;
	commit.bytes = 2 * KB * (record_number(c.rec, "VmData") +
	    record_number(c.rec, "VmStk"));
	own = record_text(c.rec, "cgroup");
	mounts = scan_begin(h->mounts.data, h->mounts.len);
	for (kind = 0, rc = 0; kind < CGROUP_KINDS && rc == 0; kind++)
		rc = cgroup_levels(kind, own, mounts, level_take, &c);
	free(p->limit);
	p->limit = c.least == NULL ? NULL : str_printf("%s has a limit of %ju "
	    "kilobytes", c.least->name, (uintmax_t)c.least->limit / KB);
	if (c.least != NULL && p->limit == NULL)
		return -1;
	return rc == -1 || user_take(&c) == -1 ||
	    room_take(&h->commit, &commit) == -1 ? -1 :
	    room_take(&h->snapshot, &c);
}

/*
 * If cgroup c has less memory left than *arg, in bytes, reduce *arg to that
 * amount.
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
 * Return the number of bytes of memory that this process may still take. This
 * is the available memory without swap (proc_meminfo(5)), within the limits of
 * our cgroups. Return 0 if it cannot be read.
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
