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
 */
#include "cgroup.h"
#include "cloning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAPPING = 512,		/* bytes */
	TASK = 256 * 1024
};

struct room {			/* in a cgroup */
	struct room	*next;	/* owned */
	char		*dir;	/* owned */
	uint64_t	 promised; /* bytes, for copies */
	bool		 asked;	/* for the clone of now */
};

struct headroom {
	char		*mounts; /* owned; our mountinfo, or NULL */
	struct room	*rooms;	/* owned */
};

struct claim {			/* what a clone may take */
	struct headroom	*head;	/* borrowed, as here */
	struct lproc	*proc;
	uint64_t	 tables; /* bytes, as these */
	uint64_t	 copies;
	uint64_t	 least;	/* left in any cgroup */
};

/*
 * Return what is known of the cgroup of a directory, new if there is nothing
 * yet; NULL with errstr.
 */
static struct room *
room_get(struct headroom *h, const char *dir)
{
	struct room *r;

	for (r = h->rooms; r != NULL; r = r->next)
		if (strcmp(r->dir, dir) == 0)
			return r;
	if ((r = calloc(1, sizeof *r)) == NULL ||
	    (r->dir = strdup(dir)) == NULL) {
		free(r);
		errstr_set("out of memory");
		return NULL;
	}
	r->next = h->rooms;
	h->rooms = r;
	return r;
}

/*
 * Remember the limit that leaves least, to tell of it if the clone is killed.
 */
static int
limit_note(struct claim *a, const struct cglevel *c, uint64_t left)
{
	if (a->proc->limit != NULL && left >= a->least)
		return 0;
	a->least = left;
	free(a->proc->limit);
	if (asprintf(&a->proc->limit, "%s has a limit of %ju kilobytes",
	    c->dir, (uintmax_t)c->limit / KB) == -1) {
		a->proc->limit = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Ask cgroup c for what a clone may take: 0, or -1 with errstr if that is more
 * than it has left.
 */
static int
room_ask(void *arg, const struct cglevel *c)
{
	struct claim *a = arg;
	struct room *r;
	uint64_t left;

	if (c->limit == UINT64_MAX)
		return 0;
	if ((r = room_get(a->head, c->dir)) == NULL)
		return -1;
	r->asked = true;
	left = c->left > r->promised ? c->left - r->promised : 0;
	if (limit_note(a, c, left) == -1)
		return -1;
	return a->tables + a->copies <= left ? 0 : errstr_set("it may take %ju "
	    "kilobytes, and %s has %ju left of its limit of %ju",
	    (uintmax_t)(a->tables + a->copies) / KB, c->dir,
	    (uintmax_t)left / KB, (uintmax_t)c->limit / KB);
}

/*
 * Return what a line of /proc/PID/status tells in kilobytes, as bytes; 0 if
 * there is none.
 */
static uint64_t
status_bytes(pid_t pid, const char *key)
{
	long kb;

	kb = proc_status(pid, 0, key);
	return kb > 0 ? (uint64_t)kb * KB : 0;
}

/*
 * Find the cgroup that process pid has its memory in.  Return 0, or -1 with
 * errstr; c has no directory where the cgroup cannot be told.
 */
static int
headroom_find(struct headroom *h, pid_t pid, struct cgroup *c)
{
	struct bytes b;
	char *text;
	int rc;

	memset(c, 0, sizeof *c);
	if (h->mounts == NULL) {
		if (proc_read(getpid(), 0, "mountinfo", &b) == -1)
			return 0;
		h->mounts = strndup((char *)b.data, b.len);
		free(b.data);
	}
	if (h->mounts == NULL || proc_read(pid, 0, "cgroup", &b) == -1)
		return 0;
	text = strndup((char *)b.data, b.len);
	free(b.data);
	rc = text == NULL ? errstr_set("out of memory") :
	    cgroup_find(c, text, h->mounts);
	free(text);
	return rc;
}

/*
 * Set aside memory for a clone of process p, which is stopped and has nvma
 * mappings, in all cgroups that p is in: clones of other processes are yet to
 * be made.  Return 0, or -1 with errstr, which tells where there is no room.
 */
int
headroom_claim(struct live *l, struct lproc *p, size_t nvma)
{
	struct claim a = { .proc = p };
	struct cgroup c;
	struct room *r;
	int rc;

	if (l->headroom == NULL &&
	    (l->headroom = calloc(1, sizeof *l->headroom)) == NULL)
		return errstr_set("out of memory");
	a.head = l->headroom;
	if (headroom_find(a.head, p->mmtid, &c) == -1)
		return -1;
	a.tables = status_bytes(p->mmtid, "VmPTE") + nvma * MAPPING + TASK;
	a.copies = status_bytes(p->mmtid, "RssAnon") +
	    status_bytes(p->mmtid, "VmSwap");
	rc = cgroup_levels(&c, room_ask, &a);
	for (r = a.head->rooms; r != NULL; r = r->next) {
		if (r->asked && rc == 0)
			r->promised += a.copies;
		r->asked = false;
	}
	cgroup_free(&c);
	return rc;
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
		free(r->dir);
		free(r);
	}
	free(h->mounts);
	free(h);
	l->headroom = NULL;
}
