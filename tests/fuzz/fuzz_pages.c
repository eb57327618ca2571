/*
 * Any bytes as one or two snap(6) streams: the lists of their pages, and of
 * changes from one to the other, agree with their memory. A snapshot equals the
 * one that is read back.
 */
#include "fuzz_snap.h"
#include "model.h"
#include "space.h"
#include "state/state.h"

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

enum { RUNS = 500 };		/* of a list that are checked */

/*
 * Return the byte at an address; -1: not mapped or missing.
 */
static int
byte_at(struct image *im, uint64_t addr)
{
	uint8_t c;

	return im == NULL || image_read(im, addr, &c, 1) == -1 ? -1 : c;
}

static void
check_order(const struct pagelist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		MUST(l->v[i].start < l->v[i].end);
		MUST(l->v[i].kind < PAGES_KINDS);
		MUST(pagespan_kb(&l->v[i]) > 0);
		MUST(i == 0 || l->v[i - 1].end <= l->v[i].start);
	}
}

/*
 * Check the edges of each run of the list against the image.
 */
static void
check_list(struct pagelist *l, struct image *im)
{
	const struct pagespan *p;
	size_t i;
	int a, b;

	check_order(l);
	for (i = 0; i < l->n && i < RUNS; i++) {
		p = &l->v[i];
		a = byte_at(im, p->start);
		b = byte_at(im, p->end - 1);
		switch (p->kind) {
		case PAGES_RAW:
			MUST(a != -1 && b != -1);
			break;
		case PAGES_ZERO:
			MUST(a == 0 && b == 0);
			break;
		default:
			MUST(p->kind == PAGES_MISSING);
			MUST(a == -1 && b == -1);
		}
	}
}

static void
check_change(struct pagelist *l, struct image *old, struct image *new)
{
	const struct pagespan *p;
	size_t i;
	int a, b;

	check_order(l);
	for (i = 0; i < l->n && i < RUNS; i++) {
		p = &l->v[i];
		a = byte_at(old, p->start);
		b = byte_at(new, p->start);
		switch (p->kind) {
		case PAGES_SAME:
			MUST(a == b && a != -1);
			break;
		case PAGES_CHANGED:
			MUST(a != -1 && b != -1);
			break;
		case PAGES_NEW:
			MUST(b != -1);
			break;
		case PAGES_GONE:
			MUST(a != -1);
			break;
		default:
			MUST(p->kind == PAGES_MISSING);
			MUST(a == -1 || b == -1);
		}
	}
}

static void
check_pair(struct proc *old, struct proc *new)
{
	struct pagelist l = { 0 };
	struct vmas was = { 0 }, is = { 0 };

	if (image_bytes(old->mem) < WRITEMOST &&
	    image_bytes(new->mem) < WRITEMOST && proc_vmas(old, &was) == 0 &&
	    proc_vmas(new, &is) == 0) {
		MUST(pages_compare(&l, old->mem, &was, new->mem, &is) == 0);
		check_change(&l, old->mem, new->mem);
	}
	pagelist_free(&l);
	vmas_free(&was);
	vmas_free(&is);
}

static void
check_lists(struct snap *s, struct sharing *sh)
{
	struct pagelist l = { 0 };
	size_t i;

	for (i = 0; i < s->nproc && i < 20; i++) {
		if (s->proc[i]->mem == NULL)
			continue;
		MUST(pages_snap(&l, s->proc[i]->mem) == 0);
		check_list(&l, s->proc[i]->mem);
		MUST(sharing_add(sh, &l, s->proc[i]->pid) == 0);
		MUST(sharing_record(sh, &l, s->proc[i]->pid) == 0);
		check_order(&l);
		pagelist_free(&l);
	}
}

/*
 * Read back a snapshot twice: both are the same.
 */
static void
check_again(struct snap *s)
{
	static const struct readopts scan = { .scan = true };
	struct snap *a, *b;
	int fd;

	fd = write_back(s);
	MUST((a = read_fd(dup(fd), NULL)) != NULL);
	MUST((b = read_fd(fd, &scan)) != NULL);
	MUST(snap_compare(a, b) == 0);
	snap_free(a);
	snap_free(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s[2];
	struct sharing *sh;
	size_t i;

	read_two(data, n, s);
	MUST((sh = sharing_new()) != NULL);
	for (i = 0; i < 2; i++)
		if (s[i] != NULL)
			check_lists(s[i], sh);
	for (i = 0; s[0] != NULL && s[1] != NULL && i < s[0]->nproc &&
	    i < s[1]->nproc && i < 8; i++)
		check_pair(s[0]->proc[i], s[1]->proc[i]);
	if (s[0] != NULL && snap_kb(s[0]) < WRITEMOST / KB)
		check_again(s[0]);
	sharing_free(sh);
	snap_free(s[0]);
	snap_free(s[1]);
	return 0;
}
