/*
 * Is there memory for the clone of a process (clone.c) in the cgroups that it
 * is in?  What the clone takes counts for them:
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
 * What a cgroup has left is read again after some milliseconds, for others, and
 * our own copies of shared memory, make it less.  Between, it is what clones
 * were promised that does.
 */
#include "cgroup.h"
#include "clock.h"
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
	FRESH_MS = 10		/* what was read of a cgroup is right so long */
};

struct room {			/* in a cgroup */
	struct room	*next;	/* owned */
	char		*dir;	/* owned */
	uint64_t	 limit;	/* bytes, as these */
	uint64_t	 left;	/* when it was read */
	uint64_t	 tables; /* promised to clones since then */
	uint64_t	 copies; /* promised to all clones */
};

struct group {			/* those who have the same to tell of theirs */
	struct group	*next;	/* owned */
	char		*text;	/* owned; /proc/PID/cgroup */
	struct cgroup	 cgroup; /* owned */
	uint64_t	 read;	/* when, ms */
	struct room	**room;	/* owned; where there are limits; borrowed */
	size_t		 nroom;
};

struct headroom {
	char		*mounts; /* owned; our mountinfo, or NULL */
	struct room	*rooms;	/* owned, as these */
	struct group	*groups;
};

struct finding {		/* the rooms of a group */
	struct headroom	*head;	/* borrowed */
	struct group	*group;	/* borrowed */
};

/*
 * Return the room of cgroup c, as it is now; NULL with errstr.
 */
static struct room *
room_get(struct headroom *h, const struct cglevel *c)
{
	struct room *r;

	for (r = h->rooms; r != NULL && strcmp(r->dir, c->dir) != 0;)
		r = r->next;
	if (r == NULL) {
		if ((r = calloc(1, sizeof *r)) == NULL ||
		    (r->dir = strdup(c->dir)) == NULL) {
			free(r);
			errstr_set("out of memory");
			return NULL;
		}
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
	struct group *g = f->group;
	struct room *r;

	if (c->limit == UINT64_MAX)
		return 0;
	if (VEC_ROOM(g->room, g->nroom) == -1 ||
	    (r = room_get(f->head, c)) == NULL)
		return -1;
	g->room[g->nroom++] = r;
	return 0;
}

static void
group_free(struct group *g)
{
	if (g == NULL)
		return;
	free(g->text);
	free(g->room);
	cgroup_free(&g->cgroup);
	free(g);
}

/*
 * Read what group g has left, unless that was done some milliseconds ago.
 * Return 0, or -1 with errstr.
 */
static int
group_read(struct headroom *h, struct group *g)
{
	struct finding f = { h, g };
	const uint64_t now = now_ms();

	if (g->read != 0 && now - g->read < FRESH_MS)
		return 0;
	g->read = now;
	g->nroom = 0;
	return cgroup_levels(&g->cgroup, room_find, &f);
}

/*
 * Add the group of those whose /proc/PID/cgroup has a text, which it takes
 * over.  Return it, or NULL with errstr.
 */
static struct group *
group_add(struct headroom *h, char *text)
{
	struct group *g;

	if ((g = calloc(1, sizeof *g)) == NULL) {
		free(text);
		errstr_set("out of memory");
		return NULL;
	}
	g->text = text;
	if (cgroup_find(&g->cgroup, text, h->mounts) == -1 ||
	    group_read(h, g) == -1) {
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
 * Remember in process p the limit that leaves least, to tell of it if its clone
 * is killed.  Return 0, or -1 with errstr.
 */
static int
limit_note(struct lproc *p, const struct group *g)
{
	const struct room *least;
	size_t i;

	for (least = g->room[0], i = 1; i < g->nroom; i++)
		if (g->room[i]->left < least->left)
			least = g->room[i];
	free(p->limit);
	if (asprintf(&p->limit, "%s has a limit of %ju kilobytes", least->dir,
	    (uintmax_t)least->limit / KB) == -1) {
		p->limit = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Promise so many bytes of the rooms of group g, for what a clone takes at once
 * and for copies.  Return 0, or -1 with errstr where one has less.
 */
static int
group_promise(struct group *g, uint64_t tables, uint64_t copies)
{
	const uint64_t bytes = tables + copies;
	struct room *r;
	uint64_t left;
	size_t i;

	for (i = 0; i < g->nroom; i++) {
		r = g->room[i];
		left = r->tables + r->copies;
		left = r->left > left ? r->left - left : 0;
		if (bytes > left)
			return errstr_set("it may take %ju kilobytes, and %s "
			    "has %ju left of its limit of %ju",
			    (uintmax_t)bytes / KB, r->dir,
			    (uintmax_t)left / KB, (uintmax_t)r->limit / KB);
	}
	for (i = 0; i < g->nroom; i++) {
		g->room[i]->tables += tables;
		g->room[i]->copies += copies;
	}
	return 0;
}

/*
 * Set aside memory for a clone of process p, which is stopped and has nvma
 * mappings, in all cgroups that p is in: clones of other processes are yet to
 * be made.  Return 0, or -1 with errstr, which tells where there is no room; 1,
 * where there are limits and no room is looked for, unless p is the first of
 * those that are cloned at once: what clones take, and copies of what they
 * lack, is not known before they are made.
 */
int
headroom_claim(struct live *l, struct lproc *p, size_t nvma, bool first)
{
	struct bytes b;
	struct group *g;
	uint64_t tables, copies;

	if (l->headroom == NULL &&
	    (l->headroom = calloc(1, sizeof *l->headroom)) == NULL)
		return errstr_set("out of memory");
	if (group_get(l->headroom, p->mmtid, &g) == -1)
		return -1;
	if (g == NULL || g->nroom == 0)
		return 0;
	if (!first)
		return 1;
	if (proc_read(p->mmtid, 0, "status", &b) == -1)
		return errstr_sys("/proc/%d/status", p->mmtid);
	tables = status_bytes(&b, "VmPTE") + nvma * MAPPING + TASK;
	copies = status_bytes(&b, "RssAnon") + status_bytes(&b, "VmSwap");
	free(b.data);
	return limit_note(p, g) == -1 ? -1 : group_promise(g, tables, copies);
}

/*
 * Lessen the bytes at arg to what cgroup c has left.
 */
static int
room_lessen(void *arg, const struct cglevel *c)
{
	uint64_t *left = arg;

	if (c->limit != UINT64_MAX && c->left < *left)
		*left = c->left;
	return 0;
}

/*
 * Return how many bytes this machine has available, without swap:
 * proc_meminfo(5).
 */
static uint64_t
machine_left(void)
{
	struct buf b = { 0 };
	uint64_t kb;

	kb = full_readfile(AT_FDCWD, "/proc/meminfo", &b) == -1 ? 0 :
	    status_first(b.data, b.len, "MemAvailable", 10);
	buf_free(&b);
	return kb * KB;
}

/*
 * Return how many bytes this process may take: what the machine has available,
 * and the cgroups that we are in; 0 if that is not told.
 */
uint64_t
headroom_ours(void)
{
	struct cgroup c;
	char *text = NULL, *mounts;
	uint64_t left;
	int rc;

	rc = (mounts = proc_text(getpid(), "mountinfo")) == NULL ||
	    (text = proc_text(getpid(), "cgroup")) == NULL ? -1 :
	    cgroup_find(&c, text, mounts);
	free(text);
	free(mounts);
	if (rc == -1)
		return 0;
	left = machine_left();
	(void)cgroup_levels(&c, room_lessen, &left);
	cgroup_free(&c);
	return left;
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
	free(h->mounts);
	free(h);
	l->headroom = NULL;
}
