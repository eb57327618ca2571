/*
 * Are there memory and a place for the clone of a process (clone.c) in the
 * cgroups that it is in?  What the clone takes counts for them:
 *
 *	tables		its page tables, as VmPTE tells them; half a kilobyte
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
 * Of the processes and threads that a cgroup may have, clones take a quarter of
 * what is left at the most, for the process may want to fork as long as its
 * clone is there.
 *
 * The user may have a limit as well (struct liveopts): of what all clones take,
 * and of the copies of shared memory.
 *
 * What a cgroup has left is read again after some milliseconds, for others, and
 * our own copies of shared memory, make it less.  Between, it is what clones
 * were promised that does.
 */
#include "cgroup.h"
#include "clock.h"
#include "cloning.h"
#include "state/state.h"
#include "vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAPPING = 512,		/* bytes */
	TASK = 256 * 1024,
	FRESH_MS = 10		/* what was read of a cgroup is right so long */
};

struct room {			/* in a cgroup */
	struct room	*next;	/* owned */
	char		*dir;	/* owned */
	enum cgkind	 kind;
	uint64_t	 limit;	/* bytes, or processes, as these */
	uint64_t	 left;	/* when it was read */
	uint64_t	 tables; /* promised to clones since then */
	uint64_t	 copies; /* promised to all clones */
};

struct rooms {
	struct room	**v;	/* owned; what they lead to is borrowed */
	size_t		 n;
};

struct group {			/* those who have the same to tell of theirs */
	struct group	*next;	/* owned */
	char		*text;	/* owned; /proc/PID/cgroup */
	uint64_t	 read;	/* when, ms */
	struct cgroup	 cgroup[CGROUP_KINDS]; /* owned */
	struct rooms	 room[CGROUP_KINDS]; /* where there are limits */
};

struct headroom {
	char		*mounts; /* owned; our mountinfo, or NULL */
	struct places	*places; /* owned; places.c */
	struct room	*rooms;	/* owned, as these */
	struct group	*groups;
	struct room	 user;	/* the user's limit, if it is not 0 */
};

struct finding {		/* the rooms of a group */
	struct headroom	*head;	/* borrowed */
	struct group	*group;	/* borrowed */
	enum cgkind	 kind;
};

/*
 * Return the room of a kind in cgroup c, as it is now; NULL with errstr.
 */
static struct room *
room_get(struct headroom *h, enum cgkind kind, const struct cglevel *c)
{
	struct room *r;

	for (r = h->rooms; r != NULL && (r->kind != kind ||
	    strcmp(r->dir, c->dir) != 0);)
		r = r->next;
	if (r == NULL) {
		if ((r = calloc(1, sizeof *r)) == NULL ||
		    (r->dir = strdup(c->dir)) == NULL) {
			free(r);
			errstr_set("out of memory");
			return NULL;
		}
		r->kind = kind;
		r->next = h->rooms;
		h->rooms = r;
	}
	r->limit = c->limit;
	r->left = c->left;
	r->tables = 0;
	return r;
}

static int
room_find(void *arg, const struct cglevel *c)
{
	struct finding *f = arg;
	struct rooms *l = &f->group->room[f->kind];
	struct room *r;

	if (c->limit == UINT64_MAX)
		return 0;
	if (VEC_ROOM(l->v, l->n) == -1 ||
	    (r = room_get(f->head, f->kind, c)) == NULL)
		return -1;
	l->v[l->n++] = r;
	return 0;
}

static void
group_free(struct group *g)
{
	int k;

	if (g == NULL)
		return;
	free(g->text);
	for (k = 0; k < CGROUP_KINDS; k++) {
		free(g->room[k].v);
		cgroup_free(&g->cgroup[k]);
	}
	free(g);
}

/*
 * Read what group g has left, unless that was done some milliseconds ago.
 * Return 0, or -1 with errstr.
 */
static int
group_read(struct headroom *h, struct group *g)
{
	struct finding f = { .head = h, .group = g };
	const uint64_t now = now_ms();
	int rc;

	if (g->read != 0 && now - g->read < FRESH_MS)
		return 0;
	g->read = now;
	for (rc = 0; f.kind < CGROUP_KINDS && rc == 0; f.kind++) {
		g->room[f.kind].n = 0;
		rc = cgroup_levels(&g->cgroup[f.kind], room_find, &f);
	}
	return rc;
}

/*
 * Add the group of those whose /proc/PID/cgroup has a text, which it takes
 * over.  Return it, or NULL with errstr.
 */
static struct group *
group_add(struct headroom *h, char *text)
{
	struct group *g;
	int k, rc;

	if ((g = calloc(1, sizeof *g)) == NULL) {
		free(text);
		errstr_set("out of memory");
		return NULL;
	}
	g->text = text;
	for (rc = k = 0; k < CGROUP_KINDS && rc == 0; k++)
		rc = cgroup_find(&g->cgroup[k], (enum cgkind)k, text,
		    h->mounts);
	if (rc == -1 || group_read(h, g) == -1) {
		group_free(g);
		return NULL;
	}
	g->next = h->groups;
	h->groups = g;
	return g;
}

/*
 * Read a file of process pid as a string, which the caller frees; NULL if it
 * cannot be had.
 */
static char *
proc_text(pid_t pid, const char *name)
{
	struct bytes b;
	char *text;

	if (proc_read(pid, 0, name, &b) == -1)
		return NULL;
	text = strndup((char *)b.data, b.len);
	free(b.data);
	return text;
}

/*
 * Set *g to the group of process pid; to NULL where its cgroup cannot be told.
 * Return 0, or -1 with errstr.
 */
static int
group_get(struct headroom *h, pid_t pid, struct group **g)
{
	char *text;

	*g = NULL;
	if (h->mounts == NULL)
		h->mounts = proc_text(getpid(), "mountinfo");
	if (h->mounts == NULL || (text = proc_text(pid, "cgroup")) == NULL)
		return 0;
	for (*g = h->groups; *g != NULL; *g = (*g)->next)
		if (strcmp((*g)->text, text) == 0) {
			free(text);
			return group_read(h, *g);
		}
	return (*g = group_add(h, text)) == NULL ? -1 : 0;
}

/*
 * Return how many bytes a text of status tells behind a key.
 */
static uint64_t
status_bytes(const struct bytes *b, const char *key)
{
	return status_first(b->data, b->len, key, 10) * KB;
}

/*
 * Remember in process p which of the rooms l, of memory, leaves least, to tell
 * of it if its clone is killed.  Return 0, or -1 with errstr.
 */
static int
limit_note(struct lproc *p, const struct rooms *l)
{
	const struct room *least;
	size_t i;

	for (least = l->v[0], i = 1; i < l->n; i++)
		if (l->v[i]->left < least->left)
			least = l->v[i];
	free(p->limit);
	if (asprintf(&p->limit, "%s has a limit of %ju kilobytes", least->dir,
	    (uintmax_t)least->limit / KB) == -1) {
		p->limit = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Return 0 if room r, of memory, has so many bytes left, else -1 with errstr.
 */
static int
room_has(const struct room *r, uint64_t bytes)
{
	uint64_t left;

	left = r->tables + r->copies;
	left = r->left > left ? r->left - left : 0;
	return bytes <= left ? 0 : errstr_set("it may take %ju kilobytes, and "
	    "%s has %ju left of its limit of %ju", (uintmax_t)bytes / KB,
	    r->dir, (uintmax_t)left / KB, (uintmax_t)r->limit / KB);
}

/*
 * Promise so many bytes of the rooms l, and of the user's limit, for what a
 * clone takes at once and for copies.  Return 0, or -1 with errstr where one
 * has less.
 */
static int
memory_promise(struct headroom *h, struct rooms *l, uint64_t tables,
    uint64_t copies)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (room_has(l->v[i], tables + copies) == -1)
			return -1;
	if (h->user.limit != 0 && room_has(&h->user, tables + copies) == -1)
		return -1;
	for (i = 0; i < l->n; i++) {
		l->v[i]->tables += tables;
		l->v[i]->copies += copies;
	}
	h->user.copies += tables + copies;
	return 0;
}

/*
 * Return what set l has left in cgroups and of the user's limit, of which
 * copies of shared memory take a part; NULL with errstr.
 */
static struct headroom *
headroom_get(struct live *l)
{
	static char name[] = "the snapshot";
	const uint64_t limit = l->opts.memory, shared = shmems_sum(l);

	if (l->headroom != NULL)
		return l->headroom;
	if ((l->headroom = calloc(1, sizeof *l->headroom)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	l->headroom->user = (struct room){ .dir = name, .limit = limit,
	    .left = limit > shared ? limit - shared : 0 };
	return l->headroom;
}

/*
 * Promise a place for a clone in the rooms l, of processes and threads: those
 * that are there already count in what is left.  Return 0, or -1 with errstr
 * where clones would take more than their part.
 */
static int
place_promise(struct rooms *l)
{
	const struct room *r;
	uint64_t left;
	size_t i;

	for (i = 0; i < l->n; i++) {
		r = l->v[i];
		left = r->left > r->tables ? r->left - r->tables : 0;
		if (!places_enough(left + r->copies, r->copies + 1))
			return errstr_set("%s may have %ju processes and "
			    "threads, and %ju more are too few", r->dir,
			    (uintmax_t)r->limit, (uintmax_t)left);
	}
	for (i = 0; i < l->n; i++) {
		l->v[i]->tables++;
		l->v[i]->copies++;
	}
	return 0;
}

/*
 * Set aside memory and a place for a clone of process p, which is stopped and
 * has nvma mappings, in all cgroups that p is in, and within the user's limit:
 * clones of other processes are yet to be made.  Return 0; -1 with errstr,
 * which says where there is no room; 1 if there are limits of memory and p is
 * not the first of the processes that are cloned at once: what clones take, and
 * copies of what they lack, is not known before they are made.
 */
int
headroom_claim(struct live *l, struct lproc *p, size_t nvma, bool first)
{
	struct rooms none = { 0 }, *memory;
	struct headroom *h;
	struct bytes b;
	struct group *g;
	uint64_t tables, copies;

	if ((h = headroom_get(l)) == NULL ||
	    group_get(h, p->mmtid, &g) == -1)
		return -1;
	memory = g == NULL ? &none : &g->room[CGROUP_MEMORY];
	if (memory->n > 0 && !first)
		return 1;
	if (places_claim(&h->places, p->mmtid) == -1 ||
	    (g != NULL && place_promise(&g->room[CGROUP_TASKS]) == -1))
		return -1;
	if (memory->n == 0 && h->user.limit == 0)
		return 0;
	if (proc_read(p->mmtid, 0, "status", &b) == -1)
		return errstr_sys("/proc/%d/status", p->mmtid);
	tables = status_bytes(&b, "VmPTE") + nvma * MAPPING + TASK;
	copies = status_bytes(&b, "RssAnon") + status_bytes(&b, "VmSwap");
	free(b.data);
	return memory->n > 0 && limit_note(p, memory) == -1 ? -1 :
	    memory_promise(h, memory, tables, copies);
}

void
headroom_free(struct live *l)
{
	struct headroom *h = l->headroom;
	struct group *g;
	struct room *r;

	if (h == NULL)
		return;
	while ((g = h->groups) != NULL) {
		h->groups = g->next;
		group_free(g);
	}
	while ((r = h->rooms) != NULL) {
		h->rooms = r->next;
		free(r->dir);
		free(r);
	}
	places_free(h->places);
	free(h->mounts);
	free(h);
	l->headroom = NULL;
}
