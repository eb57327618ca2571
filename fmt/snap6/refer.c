/*
 * Write references to pages that are already in the stream: m or t, process and
 * address. There are millions of them. Each is a copy of the first in which
 * only the last four digits are replaced, or the last eight if there is a
 * carry.
 */
#include "snap6.h"
#include "model.h"

enum { REFMOST = 1 + 2 * SNAP6_NUMMOST }; /* maximum length of a reference, in
					     bytes */

/*
 * Store in r the bytes with which every reference to image im begins.
 */
static void
refer_begin(struct referred *r, const struct image *im)
{
	if (r->image == im)
		return;
	r->image = im;
	r->begin[0] = im->kind == IMAGE_TEXT ? 't' : 'm';
	r->n = (size_t)(num_format(r->begin + 1, im->proc->pid) - r->begin);
}

/*
 * Write a reference to address addr into the buffer room. If *n is not 0, saved
 * contains an earlier reference of *n bytes, which is reused if possible.
 * Update saved and *n for the next call. Return a pointer to the end of the new
 * reference.
 */
static char *
refer_first(const struct referred *r, char *room, uint64_t addr,
    char saved[REFMOST], size_t *n)
{
	char *end;

	if (*n > 0 && addr % SNAP6_LOW >= KB) {
		num_low(saved + *n - 1 - SNAP6_LOWDIGITS,
		    (uint32_t)(addr % SNAP6_LOW));
		memcpy(room, saved, REFMOST);
		return room + *n;
	}
	memcpy(room, r->begin, sizeof r->begin);
	end = num_format(room + r->n, addr);
	*n = addr < SNAP6_LOW ? 0 : (size_t)(end - room);
	memcpy(saved, room, *n);
	return end;
}

/*
 * Write references to n consecutive pages of image im to out. The first page is
 * at address addr. r must be all zero before the first call; it keeps state
 * between calls. Write errors are reported when out is flushed.
 */
void
refer_put(struct referred *r, struct output *out, const struct image *im,
    uint64_t addr, uint64_t n)
{
	char first[REFMOST], *room, *end;
	uint64_t i;
	uint32_t last;
	size_t nfirst, most;

	refer_begin(r, im);
	addr -= image_origin(im);
	last = 0;
	for (i = nfirst = 0; i < n;) {
		room = output_room(out, REFMOST, &most);
		for (; i < n && most >= REFMOST; i++, addr += KB) {
			last += KB;
			if (nfirst > 0 && last < SNAP6_LAST) {
				memcpy(room, first, REFMOST);
				num_last(room + nfirst - 1 - SNAP6_LASTDIGITS,
				    last);
				end = room + nfirst;
			} else {
				end = refer_first(r, room, addr, first,
				    &nfirst);
				last = (uint32_t)(addr % SNAP6_LAST);
			}
			most -= (size_t)(end - room);
			room = end;
		}
		output_filled(out, room);
	}
}
