/*
 * Any bytes as a snap(6) stream that is written with checksums and an index and
 * is then damaged: all salvaged memory is unchanged, and the rest is missing.
 *
 * The first bytes of an input are the damage: four numbers of two bytes, the
 * places in 1/65536 of the stream. An odd number changes one byte, an even one
 * 500. The last number cuts the stream if it is odd. The stream is extended to
 * several megabytes.
 *
 * Memory that was missing before is not checked, as the list of it may be lost.
 * Nor is a stream with damage to its trailer, without which other damage is not
 * detected.
 */
#include "fuzz_snap.h"
#include "../../fmt/snap6/trailer.h"
#include "../../lib/num.h"
#include "model.h"

enum { DAMAGES = 4, PADS = 3, PADKB = 700, FIRSTPAD = 5000000 };

#ifdef LIBFUZZER
#define FUZZ_OWN_MUTATOR
#include "fuzz_items.h"

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t r, d = 2 * DAMAGES;

	mutate_seed(seed);
	if (n < d || max < d)
		return LLVMFuzzerMutate(p, n, max);
	if (mutate_pick(3) == 0) {
		num_put(p + 2 * mutate_pick(DAMAGES), mutate_random(), 2);
		return n;
	}
	r = stream_mutate(p + d, n - d, max - d);
	return d + (r > 0 ? r : LLVMFuzzerMutate(p + d, n - d, max - d));
}
#endif

/*
 * Append a process with pages that no other process has.
 */
static void
pad_add(struct buf *b, size_t which)
{
	uint8_t page[KB] = { 0 };
	size_t i;

	buf_printf(b, "%11zu mem\n%11d %11d %11d ", FIRSTPAD + which, 1, 4096,
	    PADKB * KB);
	for (i = 0; i < PADKB; i++) {
		num_put(page, which << 32 | (i + 1), 8);
		buf_puts(b, "r");
		buf_add(b, page, KB);
	}
}

/*
 * Write a stream with pads before and after the rest. Return a descriptor, or
 * -1 if it is not a stream.
 */
static int
stream_make(const uint8_t *data, size_t n)
{
	const uint8_t *body;
	struct buf b = { 0 };
	struct snap *s;
	size_t i;
	int fd;

	if ((body = memchr(data, '\n', n)) == NULL)
		return -1;
	body++;
	buf_add(&b, data, (size_t)(body - data));
	pad_add(&b, 0);
	buf_add(&b, body, n - (size_t)(body - data));
	for (i = 1; i < PADS; i++)
		pad_add(&b, i);
	MUST(buf_check(&b) == 0);
	s = read_fd(memory_file(b.data, b.len), NULL);
	buf_free(&b);
	fd = s == NULL || snap_kb(s) > 2 * WRITEMOST / KB ? -1 :
	    write_back(s);
	snap_free(s);
	return fd;
}

/*
 * Damage a stream. Set *sums to whether its trailer is undamaged.
 */
static int
stream_damage(int fd, const uint8_t *damage, bool *sums)
{
	uint8_t byte[500], *p;
	uint64_t v, at, size, body;
	struct stat st;
	ssize_t got;
	size_t i;

	MUST(fstat(fd, &st) == 0);
	size = (uint64_t)st.st_size;
	MUST(pread(fd, byte, TRAILER_END, st.st_size - TRAILER_END) ==
	    TRAILER_END);
	/* a stream with a process 0 has no trailer */
	*sums = trailer_ends(byte, TRAILER_END);
	body = size - num_get(byte, 8);
	for (i = 0; i < DAMAGES; i++) {
		v = num_get(damage + 2 * i, 2);
		at = v * size >> 16;
		if (i == DAMAGES - 1) {
			MUST(v % 2 == 0 || ftruncate(fd, (off_t)at) == 0);
			*sums &= v % 2 == 0;
			break;
		}
		if (v == 0)
			continue;
		got = pread(fd, byte, v % 2 ? 1 : sizeof byte, (off_t)at);
		for (p = byte; p < byte + got; p++)
			*p ^= 0x55;
		MUST(pwrite(fd, byte, (size_t)got, (off_t)at) == got);
		*sums &= at + (uint64_t)got <= body;
	}
	return fd;
}

/*
 * Check that all readable bytes of im that were readable in was are the same.
 */
static void
check_image(struct image *im, struct image *was)
{
	static uint8_t a[KB], b[KB];
	struct piece *p;
	uint64_t addr;
	size_t n;

	for (p = image_first(im); p != NULL; p = piece_next(p)) {
		n = p->last - p->first < KB ?
		    (size_t)(p->last - p->first) + 1 : KB;
		for (addr = p->first; addr >= p->first &&
		    addr + (n - 1) <= p->last; addr += 16 * KB)
			if (image_read(im, addr, a, n) == 0) {
				MUST(image_read(was, addr, b, n) == 0);
				MUST(memcmp(a, b, n) == 0);
			}
	}
}

/*
 * Check that all memory of was is in im or missing.
 */
static void
check_all(struct image *was, struct image *im)
{
	struct piece *p;
	uint8_t c;

	for (p = image_first(was); p != NULL; p = piece_next(p)) {
		if (im == NULL || image_read(im, p->first, &c, 1) == -1)
			continue;
		MUST(image_read(was, p->first, &c, 1) == 0);
	}
}

static void
say(void *arg, const char *text)
{
	MUST(*text != '\0');
	*(bool *)arg = true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	bool said = false, sums;
	struct readopts o = { .salvage = true, .warn = say, .arg = &said };
	struct snap *was, *is;
	struct proc *p, *q;
	size_t i;
	int fd;

	if (n < 2 * DAMAGES ||
	    (fd = stream_make(data + 2 * DAMAGES, n - 2 * DAMAGES)) == -1)
		return 0;
	MUST((was = read_fd(dup(fd), NULL)) != NULL);
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	close(fd);
	fd = write_back(was);
	is = read_fd(stream_damage(fd, data, &sums), &o);
	for (i = 0; is != NULL && sums && i < is->nproc; i++) {
		p = is->proc[i];
		if ((q = snap_find(was, p->pid)) == NULL)
			continue;
		if (p->mem != NULL && q->mem != NULL &&
		    q->mem->nmissing == 0) {
			check_image(p->mem, q->mem);
			check_all(q->mem, p->mem);
		}
	}
	if (is != NULL && snap_kb(is) < 2 * WRITEMOST / KB)
		close(write_back(is));
	snap_free(was);
	snap_free(is);
	return 0;
}
