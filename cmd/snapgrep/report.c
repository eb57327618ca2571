/*
 * Print matches: one line for each, but only the first of those that are the
 * same stored bytes, with the number and processes of the others; or with
 * options, all matches, counts, or processes.
 */
#include "snapgrep.h"
#include "bisect.h"

enum {
	HELD = 512 * KB,	/* maximum number of matches held back to find
				   identical ones */
	OWNERS = 8 /* maximum number of processes printed after a match */
};

struct origin {			/* where a byte is stored */
	const struct source *src; /* NULL: the byte is zero */
	uint64_t	 loc;
	size_t		 skip;
};

struct held {
	const struct plan *p;	/* borrowed */
	size_t		 stretch;
	size_t		 number;
	uint64_t	 start;
	uint64_t	 end;
	struct origin	 first;	/* where the first byte of the match is
				   stored */
	struct origin	 last;
	bool		 apart;	/* the bytes of the match are not stored
				   contiguously */
};

struct reporting {
	struct report	*r;	/* borrowed */
	struct search	*s;
	const struct plan *p;
	uint64_t	 n;	/* number of matches in the current process */
	struct held	*v;	/* owned; matches held back */
	size_t		 nv;
};

struct others {			/* identical matches */
	const struct held **v;	/* borrowed */
	size_t		 n;
};

CMP_BY(place_cmp, struct origin,
    x->src != y->src ? (x->src == NULL || (y->src != NULL &&
    x->src->id < y->src->id) ? -1 : 1) :
    x->loc != y->loc ? ORDER(x->loc, y->loc) : ORDER(x->skip, y->skip))

/*
 * Find where the byte at offset off of stretch st is stored, and set *place to
 * it. Return the number of bytes stored contiguously from there.
 */
static uint64_t
place_set(const struct plan *p, const struct stretch *st, uint64_t off,
    struct origin *place)
{
	const struct stored *s = plan_stored(p, st, off);

	memset(place, 0, sizeof *place);
	if (stored_place(s, off - s->at, &place->loc, &place->skip))
		place->src = s->src;
	return s->len - (off - s->at);
}

/*
 * Compare the places where the bytes of two matches of equal length are stored.
 */
static int
places_cmp(const struct held *a, const struct held *b)
{
	struct origin x, y;
	uint64_t n, m, off;
	int rc;

	for (off = a->start; off < a->end; off += n < m ? n : m) {
		n = place_set(a->p, &a->p->stretch[a->stretch], off, &x);
		m = place_set(b->p, &b->p->stretch[b->stretch],
		    b->start + (off - a->start), &y);
		if ((rc = place_cmp(&x, &y)) != 0)
			return rc;
	}
	return 0;
}

/*
 * Compare two matches. Return 0 if they are the same stored bytes.
 */
static int
match_cmp(const struct held *a, const struct held *b)
{
	uint64_t x = a->end - a->start, y = b->end - b->start;
	int rc;

	if ((rc = place_cmp(&a->first, &b->first)) != 0 ||
	    (rc = place_cmp(&a->last, &b->last)) != 0)
		return rc;
	if (x != y)
		return ORDER(x, y);
	if ((a->apart || b->apart) && (rc = places_cmp(a, b)) != 0)
		return rc;
	/* zeros never count as the same */
	return a->first.src != NULL && a->last.src != NULL ? 0 :
	    ORDER(a->number, b->number);
}

static int
sort_cmp(const void *a, const void *b)
{
	const struct held *x = *(const struct held *const *)a;
	const struct held *y = *(const struct held *const *)b;
	int rc;

	rc = match_cmp(x, y);
	return rc != 0 ? rc : ORDER(x->number, y->number);
}

/*
 * Print how many matches follow the first in o, and the IDs of their processes.
 */
static void
print_others(const struct plan *p, const struct others *o)
{
	uint64_t pid, last;
	size_t i, shown;

	if (o->n < 2)
		return;
	printf("  (+%zu:", o->n - 1);
	for (i = 1, shown = 0, last = 0; i < o->n; i++) {
		pid = p->owner[p->stretch[o->v[i]->stretch].owner].proc->pid;
		if (i > 1 && pid == last)
			continue;
		if (shown++ == OWNERS) {
			printf(" ...");
			break;
		}
		printf(" %" PRIu64, pid);
		last = pid;
	}
	printf(")");
}

/*
 * Print, as r says, the match between offsets start and end (exclusive) of
 * stretch st of p. If o is not NULL, also print how many other matches are
 * identical, and their processes. Use s to read the bytes.
 */
void
report_one(struct report *r, struct search *s, const struct plan *p,
    const struct stretch *st, uint64_t start, uint64_t end,
    const struct others *o)
{
	if (r->only) {
		show_only(r, s, p, st, start, end);
		return;
	}
	if (r->dump && r->printed)
		printf("--\n");
	r->printed = true;
	show_prefix(r, p, st, start);
	if (r->label != NULL)
		printf("%s", r->label);
	show_match(r, s, p, st, start, end);
	if (o != NULL)
		print_others(p, o);
	putchar('\n');
	if (r->dump)
		dump_match(r, s, st, start, end);
}

/*
 * Print the matches held back, in the order in which they were found. Print
 * identical matches only once, in the place of the first of them.
 */
static void
print_held(struct reporting *rp)
{
	const struct held **v;
	struct others o;
	size_t *count, i, k;

	if (rp->nv == 0)
		return;
	v = must(calloc(rp->nv, sizeof *v));
	/* by number: 1 + index in v of the first of equal matches; 0 for the
	   others */
	count = must(calloc(rp->nv, sizeof *count));
	for (i = 0; i < rp->nv; i++)
		v[i] = &rp->v[i];
	qsort(v, rp->nv, sizeof *v, sort_cmp);
	for (i = 0; i < rp->nv; i = k) {
		for (k = i + 1; k < rp->nv && match_cmp(v[i], v[k]) == 0; k++)
			continue;
		count[v[i]->number] = i + 1;
	}
	for (i = 0; i < rp->nv; i++) {
		if (count[i] == 0)
			continue;
		k = count[i] - 1;
		o = (struct others){ &v[k], 1 };
		while (k + o.n < rp->nv && match_cmp(v[k], v[k + o.n]) == 0)
			o.n++;
		report_one(rp->r, rp->s, rp->p, &rp->p->stretch[
		    rp->v[i].stretch], rp->v[i].start, rp->v[i].end, &o);
	}
	rp->nv = 0;
	free(v);
	free(count);
}

static void
hold(struct reporting *rp, const struct stretch *st, uint64_t start,
    uint64_t end)
{
	struct held *m;

	if (rp->nv == HELD)
		print_held(rp);
	MUST_ROOM(rp->v, rp->nv);
	m = &rp->v[rp->nv];
	m->number = rp->nv++;
	m->stretch = (size_t)(st - rp->p->stretch);
	m->p = rp->p;
	m->start = start;
	m->end = end;
	m->apart = place_set(rp->p, st, start, &m->first) < end - start;
	(void)place_set(rp->p, st, end - 1, &m->last);
}

/*
 * Handle a match. This is a walk_fn.
 */
static bool
found(void *arg, const struct stretch *st, uint64_t start, uint64_t end)
{
	struct reporting *rp = arg;
	struct report *r = rp->r;

	if (rp->n >= r->most)
		return false;
	rp->n++;
	r->found = true;
	if (r->quiet || r->list)
		return false;
	if (r->count)
		return rp->n < r->most;
	if (r->all || r->only)
		report_one(r, rp->s, rp->p, st, start, end, NULL);
	else
		hold(rp, st, start, end);
	return rp->n < r->most;
}

/*
 * Print the line of -c or -l for process o, which has n matches, as r says.
 */
void
report_process(const struct report *r, const struct owner *o, uint64_t n)
{
	if (r->quiet || !(r->list ? n > 0 : r->count))
		return;
	if (r->path != NULL) {
		text_put(r->path);
		printf(": ");
	}
	printf("%" PRIu64, o->proc->pid);
	if (!r->list)
		printf(": %" PRIu64, n);
	printf("\n");
}

/*
 * Print the matches of search s in p as r says.
 */
void
report(struct report *r, struct search *s, const struct plan *p)
{
	struct reporting rp = { .r = r, .s = s, .p = p };
	const struct stretch *st, *end;
	size_t i;

	st = p->stretch;
	end = st + p->nstretch;
	for (i = 0; i < p->nowner; i++) {
		rp.n = 0;
		for (; st < end && st->owner == i; st++)
			if (rp.n < r->most && !(r->list && rp.n > 0) &&
			    !(r->quiet && r->found))
				walk(s, p, st, found, &rp);
		report_process(r, &p->owner[i], rp.n);
	}
	print_held(&rp);
	free(rp.v);
}
