/*
 * Find pages that several processes share: from lists of runs with the store
 * and position of their bytes, the ranges of stores that several processes
 * have.
 */
#include "bisect.h"
#include "state.h"
#include "vec.h"

struct sharer {			/* range of a store that a process has */
	uint64_t	 store;
	uint64_t	 at;	/* index of the first kilobyte */
	uint64_t	 end;	/* exclusive */
	uint64_t	 pid;
};

struct cell {			/* range of a store of which each process has
				   either all or nothing */
	uint64_t	 store;
	uint64_t	 at;
	uint64_t	 end;	/* exclusive */
	uint64_t	 pid[2]; /* the two lowest IDs of processes that have
				    the range; 0: none */
};

struct sharing {
	struct sharer	*v;	/* owned */
	size_t		 n;
	struct cell	*cell;	/* owned; in ascending order; NULL until
				   first needed */
	size_t		 ncell;
};

/*
 * Return an empty table of pages that processes share, or NULL with errstr set.
 * The caller frees it with sharing_free().
 */
struct sharing *
sharing_new(void)
{
	return mem_new(1, sizeof(struct sharing));
}

/*
 * Add to s those runs of l whose store is known. l is the page list of process
 * pid. Return 0, or -1 with errstr set.
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

struct edge {			/* start or end of a range that a process has */
	uint64_t	 store;
	uint64_t	 at;
	size_t		 proc;
	bool		 begins;
};

CMP2(edge_cmp, struct edge, store, at)

struct sweep {			/* sweep over the edges of n processes, in
				   ascending order */
	struct edge	*e;	/* owned, as are the other pointers */
	size_t		 ne;
	size_t		 i; /* index of the edge that ends the current range */
	size_t		 n;
	uint64_t	*depth;	/* for each process, how often it has the
				   current range */
	uint64_t	*has;	/* bit set of processes that have the current
				   range */
	uint64_t	 all;	/* sum of all elements of depth */
};

static void
sweep_free(struct sweep *w)
{
	free(w->e);
	free(w->depth);
	free(w->has);
}

/*
 * Begin sweep w over the ranges that n processes have in s; pid lists their
 * IDs. The sweep is then before the first range. The caller must free w, even
 * on failure.
 */
static int
sweep_begin(struct sweep *w, const struct sharing *s, const uint64_t *pid,
    size_t n)
{
	const struct sharer *h;
	size_t i, k;

	memset(w, 0, sizeof *w);
	w->n = n;
	if ((w->e = mem_new(s->n, 2 * sizeof *w->e)) == NULL ||
	    (w->depth = mem_new(n, sizeof *w->depth)) == NULL ||
	    (w->has = mem_new(n / 64 + 1, sizeof *w->has)) == NULL)
		return -1;
	for (i = k = 0; i < s->n; i++) {
		h = &s->v[i];
		if (k == n || pid[k] != h->pid)
			for (k = 0; k < n && pid[k] != h->pid; k++)
				continue;
		if (k == n)
			continue;
		w->e[w->ne++] = (struct edge){ h->store, h->at, k, true };
		w->e[w->ne++] = (struct edge){ h->store, h->end, k, false };
	}
	SORT(w->e, w->ne, edge_cmp);
	return 0;
}

/*
 * Go to the next range that at least one process has. Return false at the end.
 */
static bool
sweep_next(struct sweep *w)
{
	const struct edge *e;

	while (w->i + 1 < w->ne) {
		e = &w->e[w->i++];
		if (e->begins ? w->depth[e->proc]++ == 0 :
		    --w->depth[e->proc] == 0)
			w->has[e->proc / 64] ^= (uint64_t)1 << e->proc % 64;
		w->all = e->begins ? w->all + 1 : w->all - 1;
		if (w->all > 0 && e[1].at > e->at)
			return true;
	}
	return false;
}

/*
 * Return the lowest index, k or higher, of a process that has the current
 * range. If there is none, return the number of processes.
 */
static size_t
sweep_proc(const struct sweep *w, size_t k)
{
	uint64_t has;

	for (; k < w->n; k = (k | 63) + 1)
		if ((has = w->has[k / 64] >> k % 64) != 0)
			return k + (size_t)__builtin_ctzll(has);
	return w->n;
}

CMP(sharer_cmp, struct sharer, pid)

/*
 * Set pid, which has room for s->n entries, to the pids of the processes in s,
 * in ascending order. Return their number.
 */
static size_t
sharing_pids(struct sharing *s, uint64_t *pid)
{
	size_t i, n;

	SORT(s->v, s->n, sharer_cmp);
	for (i = n = 0; i < s->n; i++)
		if (n == 0 || pid[n - 1] != s->v[i].pid)
			pid[n++] = s->v[i].pid;
	return n;
}

/*
 * Make the cells of s: cut each store wherever a range begins or ends. Record
 * in each cell the two processes with the lowest IDs that have it.
 */
static int
cells_make(struct sharing *s)
{
	struct sweep w = { 0 };
	struct cell *c;
	uint64_t *pid;
	size_t k, n;
	int rc = -1;

	if (s->cell != NULL)
		return 0;
	pid = mem_new(s->n, sizeof *pid);
	c = mem_new(s->n, 2 * sizeof *c);
	n = pid == NULL ? 0 : sharing_pids(s, pid);
	if (pid != NULL && c != NULL)
		rc = sweep_begin(&w, s, pid, n);
	if (rc == 0)
		s->cell = c;
	else
		free(c);
	for (s->ncell = 0; rc == 0 && sweep_next(&w); s->ncell++, c++) {
		c->store = w.e[w.i].store;
		c->at = w.e[w.i - 1].at;
		c->end = w.e[w.i].at;
		k = sweep_proc(&w, 0);
		c->pid[0] = pid[k];
		if ((k = sweep_proc(&w, k + 1)) < n)
			c->pid[1] = pid[k];
	}
	sweep_free(&w);
	free(pid);
	return rc;
}

/*
 * Return the index of the first cell of this store that ends after kilobyte kb.
 * If there is none, return the index of the first cell of a later store, or the
 * number of cells.
 */
static size_t
cell_find(const struct sharing *s, uint64_t store, uint64_t kb)
{
	return BISECT_WHILE(i, s->ncell, s->cell[i].store < store ||
	    (s->cell[i].store == store && s->cell[i].end <= kb));
}

/*
 * Return the lowest ID of a process, other than pid, that has kilobyte kb of
 * this store. Return 0 if there is none. If the answer may change before
 * kilobyte *end, lower *end to the first kilobyte for which it may.
 */
static uint64_t
sharing_find(const struct sharing *s, uint64_t store, uint64_t kb,
    uint64_t pid, uint64_t *end)
{
	const struct cell *c;
	uint64_t edge;
	size_t i;

	i = cell_find(s, store, kb);
	if (i == s->ncell || s->cell[i].store != store)
		return 0;
	c = &s->cell[i];
	edge = c->at > kb ? c->at : c->end;
	if (edge < *end)
		*end = edge;
	return c->at > kb ? 0 : c->pid[0] != pid ? c->pid[0] : c->pid[1];
}

/*
 * Mark in l, the page list of process pid, the pages that other processes in s
 * share. Record one of these processes for each page. Return 0, or -1 with
 * errstr set.
 */
int
sharing_record(struct sharing *s, struct pagelist *l, uint64_t pid)
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

/*
 * Count the kilobytes that n different processes have in common in s; pid lists
 * their IDs. Set kb[i * n + k] to the number that processes i and k have in
 * common. Set kb[i * n + i] to the number of different kilobytes of process i.
 * Set *repeated to the number of kilobytes that repeat an earlier one, in the
 * same process or another. Return 0, or -1 with errstr set.
 */
int
sharing_matrix(const struct sharing *s, const uint64_t *pid, size_t n,
    uint64_t *kb, uint64_t *repeated)
{
	struct sweep w;
	uint64_t len;
	size_t j, k;
	int rc;

	memset(kb, 0, n * n * sizeof *kb);
	*repeated = 0;
	rc = sweep_begin(&w, s, pid, n);
	while (rc == 0 && sweep_next(&w)) {
		len = w.e[w.i].at - w.e[w.i - 1].at;
		*repeated += (w.all - 1) * len;
		for (j = sweep_proc(&w, 0); j < n; j = sweep_proc(&w, j + 1))
			for (k = sweep_proc(&w, 0); k < n;
			    k = sweep_proc(&w, k + 1))
				kb[j * n + k] += len;
	}
	sweep_free(&w);
	return rc;
}

/*
 * Free s, which may be NULL.
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
