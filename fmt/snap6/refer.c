/*
 * Write references to pages that are already in the stream: m or t, process and
 * address. There are millions of them. Each is a copy of the first in which
 * only the last four digits are replaced, or the last eight if there is a
 * carry.
 */
#include "snap6.h"
#include "full.h"
#include "model.h"

enum {
	REFMOST = 1 + 2 * SNAP6_NUMMOST, /* maximum length of a reference, in
					    bytes */
	RUN_LEAST = 8		/* minimum number of references that are sent as
				   a frame of their own */
};

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
 * Write references to consecutive pages into the buffer room, which has "most"
 * bytes, at least REFMOST. The first page is at address *addr. Write *n
 * references, or as many as fit. Advance *addr past these pages, and reduce *n
 * by their number. Return a pointer to the end.
 */
static char *
refer_fill(const struct referred *r, char *room, size_t most, uint64_t *addr,
    uint64_t *n)
{
	char first[REFMOST], *end;
	uint32_t last = 0;
	size_t nfirst = 0;

	for (; *n > 0 && most >= REFMOST; --*n, *addr += KB) {
		last += KB;
		if (nfirst > 0 && last < SNAP6_LAST) {
			memcpy(room, first, REFMOST);
			num_last(room + nfirst - 1 - SNAP6_LASTDIGITS, last);
			end = room + nfirst;
		} else {
			end = refer_first(r, room, *addr, first, &nfirst);
			last = (uint32_t)(*addr % SNAP6_LAST);
		}
		most -= (size_t)(end - room);
		room = end;
	}
	return room;
}

/*
 * Write references to n consecutive pages of image im to out. The first page is
 * at address addr. r must be all zero before the first call; it keeps state
 * between calls. Write errors are reported when out is flushed. In a move, many
 * references are sent as one frame, which refer_write() reads.
 */
void
refer_put(struct referred *r, struct output *out, const struct image *im,
    uint64_t addr, uint64_t n)
{
	const bool run = n >= RUN_LEAST && output_mute(out);
	char text[100], *room;
	size_t most;

	if (r->image != im) {
		r->image = im;
		r->begin[0] = im->kind == IMAGE_TEXT ? 't' : 'm';
		r->n = (size_t)(num_format(r->begin + 1, im->proc->pid) -
		    r->begin);
	}
	addr -= image_origin(im);
	snprintf(text, sizeof text, "%c %ju %ju %ju", r->begin[0],
	    (uintmax_t)im->proc->pid, (uintmax_t)addr, (uintmax_t)n);
	while (n > 0) {
		room = output_room(out, REFMOST, &most);
		output_filled(out, refer_fill(r, room, most, &addr, &n));
	}
	if (run)
		output_unmute(out, FRAME_RUN, text, strlen(text));
}

/*
 * Write to fd the references that text, the data of a FRAME_RUN, describes.
 * Return 0, or -1 with errstr set.
 */
int
refer_write(int fd, const char *text)
{
	uintmax_t pid, addr, n;
	struct referred r = { .image = NULL };
	uint64_t at, left;
	char room[64 * KB];
	size_t len;

	if (sscanf(text, "%c %ju %ju %ju", r.begin, &pid, &addr, &n) != 4 ||
	    (*r.begin != 'm' && *r.begin != 't'))
		return errstr_set("standard input: invalid references in a "
		    "frame");
	r.n = (size_t)(num_format(r.begin + 1, pid) - r.begin);
	for (at = addr, left = n; left > 0;) {
		len = (size_t)(refer_fill(&r, room, sizeof room, &at, &left) -
		    room);
		if (full_write(fd, room, len) == -1)
			return errstr_sys("cannot make images");
	}
	return 0;
}
