/*
 * The view of an image: which of its segments is visible at an address. Where
 * segments overlap, segments of a later section hide those of earlier ones;
 * within a section, the first segment hides the others (man6/snap.6).
 *
 *	first section	[ a      ]   [ b ]
 *	second section	      [ c ]
 *	              [ d       ]
 *	view		[d ][ c ][d]   [b ]
 *	taken		[ c and d  ]
 *
 * The tree taken has the address ranges covered by the present section, without
 * their segments, so that inserting a segment takes only as many steps as there
 * are gaps between these ranges.
 */
#include "bisect.h"
#include "model.h"
#include "rbtree.h"
#include "vec.h"

CMP(piece_cmp, struct piece, first)
TREE_GENERATE(view, piece, entry, piece_cmp)

/*
 * Free all pieces of view v, and leave it empty.
 */
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
 * Return the last piece of v that begins at or before addr, or NULL if there is
 * none.
 */
static struct piece *
piece_below(struct view *v, uint64_t addr)
{
	struct piece key = { .first = addr }, *p;

	if ((p = RB_NFIND(view, v, &key)) == NULL)
		return RB_MAX(view, v);
	return p->first == addr ? p : RB_PREV(view, v, p);
}

/*
 * Return the piece of im that contains addr, or NULL if there is none.
 */
struct piece *
image_find(struct image *im, uint64_t addr)
{
	struct piece *p;

	p = piece_below(&im->view, addr);
	return p != NULL && addr <= p->last ? p : NULL;
}

/*
 * Return the piece of im that contains addr, or else the first one after addr.
 * Return NULL if there is none.
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
 * Return the piece of im with the lowest addresses. Return NULL if there is
 * none or im is NULL.
 */
struct piece *
image_first(struct image *im)
{
	return im == NULL ? NULL : RB_MIN(view, &im->view);
}

/*
 * Return the piece of im with the highest addresses. Return NULL if there is
 * none or im is NULL.
 */
struct piece *
image_last(struct image *im)
{
	return im == NULL ? NULL : RB_MAX(view, &im->view);
}

/*
 * Return the piece that follows p in address order, or NULL if p is the last.
 */
struct piece *
piece_next(struct piece *p)
{
	return RB_NEXT(view, NULL, p);
}

static int
piece_add(struct view *v, uint64_t first, uint64_t last, struct segment *s)
{
	struct piece *p;

	if ((p = mem_new(1, sizeof *p)) == NULL)
		return -1;
	p->first = first;
	p->last = last;
	p->seg = s;
	RB_INSERT(view, v, p);
	return 0;
}

/*
 * Remove the addresses from first to last (inclusive) from view v. Return 0, or
 * -1 with errstr set.
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
 * Make segment s visible at the addresses from first to last (inclusive), in
 * front of all other segments.
 */
static int
view_lay(struct image *im, uint64_t first, uint64_t last, struct segment *s)
{
	struct piece *p;

	if ((p = piece_below(&im->view, first)) == NULL)
		p = RB_MIN(view, &im->view);
	for (; p != NULL && p->first <= last; p = RB_NEXT(view, NULL, p))
		if (p->last >= first)
			p->seg->hidden = im->overlaps = true;
	return view_cut(&im->view, first, last) == -1 ? -1 :
	    piece_add(&im->view, first, last, s);
}

/*
 * Make segment s of im visible at its addresses, except those that another
 * segment of the current section covers. Return 0, or -1 with errstr set.
 */
int
view_insert(struct image *im, struct segment *s)
{
	struct piece *p, *next;
	uint64_t at, first, last, end;

	at = first = s->base;
	last = end = s->base + (s->len - 1);
	if ((p = piece_below(&im->taken, at)) == NULL)
		p = RB_MIN(view, &im->taken);
	for (; p != NULL && p->first <= last; p = next) {
		next = RB_NEXT(view, NULL, p);
		if (p->last < at)
			continue;
		s->hidden = im->overlaps = true;
		if (p->first > at && view_lay(im, at, p->first - 1, s) == -1)
			return -1;
		/* join the ranges of taken that s touches */
		first = p->first < first ? p->first : first;
		end = p->last > end ? p->last : end;
		at = p->last + 1;
		RB_REMOVE(view, &im->taken, p);
		free(p);
		if (at > last || at == 0)
			return piece_add(&im->taken, first, end, NULL);
	}
	return view_lay(im, at, last, s) == -1 ? -1 :
	    piece_add(&im->taken, first, end, NULL);
}
