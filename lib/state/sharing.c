/*
 * Who else has the pages of a process: in lists of runs that tell where the
 * bytes are, what several processes have in the same place.
 */
#include "bisect.h"
#include "state.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

struct sharer {			/* pages of a process in a store */
	uint64_t	 store;
	uint64_t	 at;	/* the first kilobyte */
	uint64_t	 end;	/* exclusive */
	uint64_t	 pid;
};

struct cell {			/* a piece of a store: who has some has all */
	uint64_t	 store;
	uint64_t	 at;
	uint64_t	 end;	/* exclusive */
	uint64_t	 pid[2]; /* the lowest that have it; 0: none */
	size_t		 skip;	/* the next that may have room for a pid */
};

struct sharing {
	struct sharer	*v;	/* owned */
	size_t		 n;
	struct cell	*cell;	/* owned; ascending; made when first asked */
	size_t		 ncell;
};

/*
 * Make a table of which pages processes share, empty.  Return it, which
 * sharing_free frees, or NULL with errstr.
 */
struct sharing *
sharing_new(void)
{
	struct sharing *s;

	if ((s = calloc(1, sizeof *s)) == NULL)
		(void)errstr_set("out of memory");
	return s;
}

/*
 * Note in s the pages in l of process pid whose bytes are in a known place.
 * Return 0, or -1 with errstr.
 */
int
sharing_add(struct sharing *s, const struct pagelist *l, uint64_t pid)
{
	size_t i;

	free(s->cell);
	s->cell = NULL;
	for (i = 0; i < l->n; i++) {
		if (l->v[i].store == 0)
			continue;
		if (VEC_ADD(s->v, s->n, (struct sharer){ l->v[i].store,
		    l->v[i].at, l->v[i].at + pagespan_kb(&l->v[i]),
		    pid }) == -1)
			return -1;
	}
	return 0;
}

CMP2(store_cmp, struct sharer, store, at)
CMP_BY(sharer_cmp, struct sharer, ORDER(x->pid, y->pid) != 0 ?
    ORDER(x->pid, y->pid) : store_cmp(x, y))
CMP2(cell_cmp, struct cell, store, at)

/*
 * The first cell of a store, or one behind it, that ends behind a kilobyte.
 */
static size_t
cell_find(const struct sharing *s, uint64_t store, uint64_t at)
{
	return BISECT_WHILE(i, s->ncell, s->cell[i].store < store ||
	    (s->cell[i].store == store && s->cell[i].end <= at));
}

/*
 * The first cell from one on that has room.  Those on the way are made to
 * skip to it, so that those that are full cost nothing after a while.
 */
static size_t
cell_room(struct sharing *s, size_t i)
{
	size_t room, next;

	for (room = i; room < s->ncell && s->cell[room].skip != room;)
		room = s->cell[room].skip;
	for (; i < room; i = next) {
		next = s->cell[i].skip;
		s->cell[i].skip = room;
	}
	return room;
}

/*
 * Note a process in all cells from one kilobyte of a store to another.
 */
static void
cells_note(struct sharing *s, const struct sharer *h, uint64_t from)
{
	struct cell *c;
	size_t i;

	for (i = cell_room(s, cell_find(s, h->store, from)); i < s->ncell;
	    i = cell_room(s, i + 1)) {
		c = &s->cell[i];
		if (c->store != h->store || c->at >= h->end)
			break;
		if (c->pid[0] == 0)
			c->pid[0] = h->pid;
		else if (c->pid[0] != h->pid) {
			c->pid[1] = h->pid;
			c->skip = i + 1;
		}
	}
}

/*
 * Cut the stores at all places where what someone has begins or ends.
 */
static int
cells_cut(struct sharing *s)
{
	struct cell *c;
	size_t i, n;

	if ((c = mem_new(s->n + 1, 2 * sizeof *c)) == NULL)
		return -1;
	for (i = n = 0; i < s->n; i++) {
		c[n].store = c[n + 1].store = s->v[i].store;
		c[n++].at = s->v[i].at;
		c[n++].at = s->v[i].end;
	}
	SORT(c, n, cell_cmp);
	s->cell = c;
	for (i = s->ncell = 0; i + 1 < n; i++) {
		if (c[i].store != c[i + 1].store || c[i].at == c[i + 1].at)
			continue;
		c[s->ncell] = c[i];
		c[s->ncell].end = c[i + 1].at;
		c[s->ncell].skip = s->ncell;
		s->ncell++;
	}
	return 0;
}

/*
 * Note in all cells the two lowest processes that have them.  What a process
 * has twice is looked at once.
 */
static int
cells_make(struct sharing *s)
{
	const struct sharer *h;
	uint64_t upto;
	size_t i;

	if (s->cell != NULL)
		return 0;
	if (cells_cut(s) == -1)
		return -1;
	SORT(s->v, s->n, sharer_cmp);
	for (upto = 0, i = 0; i < s->n; i++) {
		h = &s->v[i];
		if (i == 0 || h->pid != h[-1].pid || h->store != h[-1].store)
			upto = 0;
		if (h->end > upto) {
			cells_note(s, h, h->at > upto ? h->at : upto);
			upto = h->end;
		}
	}
	return 0;
}

/*
 * Which process but pid has a kilobyte, the lowest of them, or 0; *end is
 * set to how far that holds, at most as far as it was.
 */
static uint64_t
sharing_find(const struct sharing *s, uint64_t store, uint64_t at,
    uint64_t pid, uint64_t *end)
{
	const struct cell *c;
	uint64_t edge;
	size_t i;

	i = cell_find(s, store, at);
	if (i == s->ncell || s->cell[i].store != store)
		return 0;
	c = &s->cell[i];
	edge = c->at > at ? c->at : c->end;
	if (edge < *end)
		*end = edge;
	return c->at > at ? 0 : c->pid[0] != pid ? c->pid[0] : c->pid[1];
}

/*
 * Tell in l, the list of process pid, which pages are shared, and with whom, by
 * what s knows.  Return 0, or -1 with errstr.
 */
int
sharing_tell(struct sharing *s, struct pagelist *l, uint64_t pid)
{
	struct pagelist out = { 0 };
	struct pagespan p;
	uint64_t end, with;
	size_t i;

	if (cells_make(s) == -1)
		return -1;
	for (i = 0; i < l->n; i++) {
		p = l->v[i];
		while (p.start < l->v[i].end) {
			p.end = l->v[i].end;
			p.kind = l->v[i].kind;
			p.with = l->v[i].with;
			end = p.at + pagespan_kb(&p);
			with = p.store == 0 ? 0 :
			    sharing_find(s, p.store, p.at, pid, &end);
			if (with != 0) {
				p.kind = PAGES_SHARED;
				p.with = with;
			}
			if (p.store != 0 && end - p.at < pagespan_kb(&p))
				p.end = p.start + (end - p.at) * KB;
			if (pagelist_add(&out, &p) == -1) {
				pagelist_free(&out);
				return -1;
			}
			p.at = end;
			p.start = p.end;
		}
	}
	pagelist_free(l);
	*l = out;
	return 0;
}

struct edge {			/* where a run of a process begins or ends */
	uint64_t	 store;
	uint64_t	 at;
	size_t		 who;
	bool		 begins;
};

CMP2(edge_cmp, struct edge, store, at)

/*
 * The edges of what n processes have; *ne of them.  The caller frees them;
 * NULL when memory runs out.
 */
static struct edge *
sharing_edges(const struct sharing *s, const uint64_t *pid, size_t n,
    size_t *ne)
{
	const struct sharer *h;
	struct edge *e;
	size_t i, k;

	*ne = 0;
	if ((e = calloc(s->n + 1, 2 * sizeof *e)) == NULL)
		return NULL;
	for (i = k = 0; i < s->n; i++) {
		h = &s->v[i];
		if (k == n || pid[k] != h->pid)
			for (k = 0; k < n && pid[k] != h->pid; k++)
				continue;
		if (k == n)
			continue;
		e[(*ne)++] = (struct edge){ h->store, h->at, k, true };
		e[(*ne)++] = (struct edge){ h->store, h->end, k, false };
	}
	SORT(e, *ne, edge_cmp);
	return e;
}

struct active {			/* who has the place that is looked at */
	size_t		*who;	/* owned; in no order */
	size_t		 n;
	uint64_t	*depth;	/* owned; how often each has it */
	uint64_t	 all;	/* the sum of these */
};

static void
active_edge(struct active *a, const struct edge *e)
{
	size_t i;

	if (e->begins) {
		a->all++;
		if (a->depth[e->who]++ == 0)
			a->who[a->n++] = e->who;
		return;
	}
	a->all--;
	if (--a->depth[e->who] > 0)
		return;
	for (i = 0; a->who[i] != e->who; i++)
		continue;
	a->who[i] = a->who[--a->n];
}

/*
 * Tell which of the n processes pid, which are different, have how many
 * kilobytes in common, by what s knows: kb[i * n + k] is set for i and k, and
 * with i = k to how many different ones there are of one.  *repeated is set to
 * how many there are more than once, by one process or several.  Return 0, or
 * -1 with errstr.
 */
int
sharing_matrix(const struct sharing *s, const uint64_t *pid, size_t n,
    uint64_t *kb, uint64_t *repeated)
{
	struct active a = { 0 };
	struct edge *e = NULL;
	uint64_t len;
	size_t i, j, k, ne = 0;
	int rc = -1;

	memset(kb, 0, n * n * sizeof *kb);
	*repeated = 0;
	a.who = calloc(n + 1, sizeof *a.who);
	a.depth = calloc(n + 1, sizeof *a.depth);
	if (a.who == NULL || a.depth == NULL ||
	    (e = sharing_edges(s, pid, n, &ne)) == NULL) {
		(void)errstr_set("out of memory");
		goto out;
	}
	for (i = 0; i + 1 < ne; i++) {
		active_edge(&a, &e[i]);
		len = e[i + 1].at - e[i].at;
		if (a.n == 0 || len == 0)
			continue;
		*repeated += (a.all - 1) * len;
		for (j = 0; j < a.n; j++)
			for (k = 0; k < a.n; k++)
				kb[a.who[j] * n + a.who[k]] += len;
	}
	rc = 0;
out:
	free(a.who);
	free(a.depth);
	free(e);
	return rc;
}

/*
 * Free s, or NULL.
 */
void
sharing_free(struct sharing *s)
{
	if (s == NULL)
		return;
	free(s->v);
	free(s->cell);
	free(s);
}
