/*
 * The view of an image: who is visible at which address, as pieces of its
 * segments.  Where segments overlap, the view shows the later one
 * (man6/snap.6).
 */
#include "tree.h"
#include "view.h"

#include <stdlib.h>

static int
piece_cmp(struct piece *a, struct piece *b)
{
	return a->first < b->first ? -1 : a->first > b->first;
}

TREE_GENERATE(view, piece, entry, piece_cmp)

void
view_free(struct view *v)
{
	struct piece *p, *next;

	RB_FOREACH_SAFE(p, view, v, next) {
		RB_REMOVE(view, v, p);
		free(p);
	}
}

/*
 * The piece with the greatest first address at or below addr, or NULL.
 */
static struct piece *
piece_below(struct view *v, uint64_t addr)
{
	struct piece *p, *best;

	best = NULL;
	for (p = RB_ROOT(v); p != NULL;) {
		if (p->first <= addr) {
			best = p;
			p = RB_RIGHT(p, entry);
		} else
			p = RB_LEFT(p, entry);
	}
	return best;
}

/*
 * The piece of the view in which an address lies, or NULL.
 */
struct piece *
image_find(struct image *im, uint64_t addr)
{
	struct piece *p;

	p = piece_below(&im->view, addr);
	return p != NULL && addr <= p->last ? p : NULL;
}

/*
 * The piece in which an address lies, or else the first one behind it; NULL
 * where there is none.
 */
struct piece *
image_next(struct image *im, uint64_t addr)
{
	struct piece *p;

	if ((p = piece_below(&im->view, addr)) == NULL)
		return RB_MIN(view, &im->view);
	return addr <= p->last ? p : RB_NEXT(view, &im->view, p);
}

/*
 * The first and the last piece of an image (NULL for an image that is NULL)
 * and the one behind a piece, in the order of their addresses; NULL behind
 * the last.
 */
struct piece *
image_first(struct image *im)
{
	return im == NULL ? NULL : RB_MIN(view, &im->view);
}

struct piece *
image_last(struct image *im)
{
	return im == NULL ? NULL : RB_MAX(view, &im->view);
}

struct piece *
piece_next(struct piece *p)
{
	return RB_NEXT(view, NULL, p);
}

static int
piece_add(struct view *v, uint64_t first, uint64_t last, struct segment *s)
{
	struct piece *p;

	if ((p = calloc(1, sizeof *p)) == NULL)
		return errstr_set("out of memory");
	p->first = first;
	p->last = last;
	p->seg = s;
	RB_INSERT(view, v, p);
	return 0;
}

/*
 * Take the addresses first..last out of the view.
 */
int
view_cut(struct view *v, uint64_t first, uint64_t last)
{
	struct piece *p, *next;
	uint64_t end;

	p = piece_below(v, first);
	if (p == NULL)
		p = RB_MIN(view, v);
	for (; p != NULL && p->first <= last; p = next) {
		next = RB_NEXT(view, v, p);
		if (p->last < first)
			continue;
		end = p->last;
		if (p->first < first)
			p->last = first - 1;
		else {
			RB_REMOVE(view, v, p);
			if (end <= last) {
				free(p);
				continue;
			}
			p->first = last + 1;
			RB_INSERT(view, v, p);
			continue;
		}
		if (end > last && piece_add(v, last + 1, end, p->seg) == -1)
			return -1;
	}
	return 0;
}

/*
 * Note which segments a new one lies over.
 */
static void
mark_overlaps(struct image *im, struct segment *s)
{
	struct piece *p;
	uint64_t last;

	last = s->base + (s->len - 1);
	if ((p = piece_below(&im->view, s->base)) == NULL)
		p = RB_MIN(view, &im->view);
	for (; p != NULL && p->first <= last; p = RB_NEXT(view, NULL, p))
		if (p->last >= s->base)
			p->seg->overlaps = s->overlaps = true;
}

/*
 * Let a segment be seen at all its addresses.
 */
int
view_insert(struct image *im, struct segment *s)
{
	uint64_t last;

	last = s->base + (s->len - 1);
	mark_overlaps(im, s);
	if (view_cut(&im->view, s->base, last) == -1)
		return -1;
	return piece_add(&im->view, s->base, last, s);
}
