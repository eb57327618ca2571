/*
 * Write rings of io_setup(2) as CRIU images. criu creates a new ring,
 * completes as many requests as bring head and tail to their old places, copies
 * the events into it, and moves it to its old address.
 *
 * A ring begins with eight 32-bit numbers (fs/aio.c of Linux):
 *
 *	ID, room for events, head, tail, magic,
 *	compatible features, incompatible features, size of this header
 */
#include "criumake.h"
#include "num.h"

enum { RING_ROOM = 1, RING_HEAD, RING_TAIL, RING_MAGIC, RING_WORDS = 8 };

enum {
	HEAD_SIZE = RING_WORDS * 4,
	EVENT_SIZE = 32 /* size in bytes of struct io_event: see
			   linux/aio_abi.h */
};

static const uint32_t magic = 0xa10a10a1;

/*
 * Return the reason why the aio ring that t has mapped at v cannot be restored.
 * Return NULL if it can. criu creates only rings that fill whole pages with
 * events.
 */
static const char *
ring_obstacle(const struct maketask *t, const struct vma *v)
{
	const uint64_t room = (v->end - v->start - HEAD_SIZE) / EVENT_SIZE;
	uint8_t b[HEAD_SIZE];
	uint64_t w[RING_WORDS];
	size_t i;

	if (t->proc->mem == NULL ||
	    image_read(t->proc->mem, v->start, b, sizeof b) == -1)
		return "a ring of io_setup(2) that is not in the snapshot";
	for (i = 0; i < RING_WORDS; i++)
		w[i] = num_get(b + i * 4, 4);
	if (w[RING_MAGIC] != magic || w[RING_ROOM] != room ||
	    w[RING_WORDS - 1] != HEAD_SIZE || w[RING_HEAD] >= room ||
	    w[RING_TAIL] >= room || v->end - v->start > UINT32_MAX)
		return "an invalid ring of io_setup(2)";
	return NULL;
}

/*
 * Append the aio ring that process t has mapped at v to mm. Return 1 on
 * success, 0 if the ring cannot be restored (the reason is recorded), or -1
 * with errstr set.
 */
int
makering_add(struct criumake *m, const struct maketask *t, const struct vma *v,
    Criu__Mm *mm)
{
	Criu__AioRing *e;
	const char *why;

	if ((why = ring_obstacle(t, v)) != NULL)
		return make_unmapped(m, t, v, WHY_AIO, why);
	if (mm->n_aios == 0 && make_note(m, t, NULL, "pending requests of "
	    "io_submit(2) are not recorded, and never complete") == -1)
		return -1;
	if ((e = MSG_PUSH(&m->msgs, mm, aios)) == NULL)
		return -1;
	e->id = v->start;
	e->ring_len = (uint32_t)(v->end - v->start);
	/* the kernel allocates 2 * nr_req + 2 events */
	e->nr_req = ((e->ring_len - HEAD_SIZE) / EVENT_SIZE - 2) / 2;
	return 1;
}
