/*
 * Trailers: a stream read by its index is the same as one that is scanned. Cut,
 * damaged or false trailers are an error that names the place, or make no
 * difference.
 */
#include "io/io.h"
#include "model.h"
#include "util.h"
#include "../../fmt/snap6/index.h"
#include "../../fmt/snap6/trailer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 1500 };

/*
 * Make a snapshot of more than a megabyte with raw pages, zeros, references
 * within and between processes, short pages and odd records.
 */
static void
make_big(struct buf *b, uint64_t seed)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct rng r;

	rng_init(&r, "trailer", seed);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, PAGES, KB);
	rng_bytes(&r, m->data, PAGES * KB);
	memset(memsource_kb(m, 700), 0, 40 * KB);
	p = snap_add(s, 12);
	file_set(p, "status", "cat", 3);
	file_set(p, "odd", "12345 ", 6);
	segment_add(p, IMAGE_TEXT, 0, 20 * KB + 5, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x10000, 500 * KB, &m->src, 5 * KB);
	segment_add(p, IMAGE_MEM, 0x7fff00000000, 301 * KB - 9, &m->src,
	    600 * KB);
	p = snap_add(s, 13);
	file_set(p, "noteid", "          7 ", 12);
	segment_add(p, IMAGE_MEM, 0x20000, 100 * KB, &m->src, 650 * KB);
	segment_add(p, IMAGE_MEM, 0x7ffe00000000, 600 * KB, &m->src,
	    880 * KB);
	p = snap_add(s, 14);
	file_set(p, "status", "dog", 3);
	snap_bytes(s, b);
	snap_free(s);
}

/*
 * Store a hash of all contents in *sum. Return false if they cannot be read.
 */
static bool
snap_sum(struct snap *s, uint64_t *sum)
{
	static uint8_t page[64 * KB];
	const struct proc *p;
	const struct image *im;
	struct piece *pc;
	uint64_t at, n, h;
	size_t i, k;

	h = sums_of(s->header, strlen(s->header));
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		h = h * 31 + p->pid;
		for (k = 0; k < p->nfile; k++)
			h = h * 31 + sums_of(p->file[k].data, p->file[k].len) +
			    sums_of(p->file[k].name, strlen(p->file[k].name));
		for (k = 0; k < 2; k++) {
			im = k == 0 ? p->text : p->mem;
			for (pc = image_first((struct image *)(uintptr_t)im);
			    pc != NULL; pc = piece_next(pc))
				for (at = pc->first; at <= pc->last; at += n) {
					n = pc->last - at < sizeof page ?
					    pc->last - at + 1 : sizeof page;
					if (image_read((struct image *)
					    (uintptr_t)im, at, page, n) == -1)
						return false;
					h = h * 31 + sums_of(page, n) + at;
				}
		}
	}
	*sum = h;
	return true;
}

/*
 * Read a damaged stream: it fails with a place, or has the original content.
 * Return true if it has that and no trailer error.
 */
static bool
same_or_error(const struct buf *b, size_t len, bool pipe, uint64_t want)
{
	struct snap *s;
	uint64_t sum;
	bool read;

	if ((s = stream_read(b->data, len, pipe)) == NULL) {
		assert_contains(snap_errstr(), "byte ");
		return false;
	}
	read = snap_sum(s, &sum);
	if (!read)
		assert_contains(snap_errstr(), "byte ");
	else if (sum != want)
		fail_msg("%zu bytes: something else was read", len);
	if (s->damaged) {
		assert_contains(s->trailer_error, "byte ");
		read = false;
	}
	snap_free(s);
	return read;
}

static struct snap *
read_scan(const struct buf *b, bool scan)
{
	struct readopts o = { .scan = scan };
	struct stream st;
	struct snap *s;

	stream_file(&st, b->data, b->len);
	s = snap_load(st.path, &o);
	stream_close(&st);
	return s;
}

static bool
has_index(const struct buf *b)
{
	return memmem(b->data, b->len, "\nindex\n", 7) != NULL ||
	    memmem(b->data, b->len, "index\n   ", 9) != NULL;
}

/*
 * The index and a scan give the same snapshot, page for page.
 */
static void
test_same(void **state)
{
	struct snap *s, *t;
	struct buf b;

	(void)state;
	make_big(&b, 1);
	assert_true(has_index(&b));
	s = read_scan(&b, true);
	t = read_scan(&b, false);
	assert_true(s != NULL && t != NULL);
	assert_true(s->verified);
	assert_false(t->verified);
	assert_int_equal(snap_compare(s, t), 0);
	assert_snaps_equal(s, t);
	snap_free(s);
	snap_free(t);
	buf_free(&b);
}

/*
 * Random snapshots, most of them small: an index gives the same as a scan.
 */
static void
test_random(void **state)
{
	struct snap *s, *t;
	struct rng r;
	struct buf b;
	int i, n;

	(void)state;
	rng_init(&r, "random", 2);
	for (i = n = 0; i < 300; i++) {
		s = snap_make(&r, i % 2 == 0);
		snap_bytes(s, &b);
		snap_free(s);
		n += has_index(&b);
		s = read_scan(&b, true);
		t = read_scan(&b, false);
		assert_true(s != NULL && t != NULL);
		assert_int_equal(snap_compare(s, t), 0);
		snap_free(s);
		snap_free(t);
		buf_free(&b);
	}
	print_message("# %d of 300 have an index\n", n);
}

/*
 * Cut at random places and at each byte of the trailer.
 */
static void
test_cut(void **state)
{
	struct buf b, whole;
	struct snap *s;
	struct rng r;
	uint64_t want;
	size_t i, at;

	(void)state;
	make_big(&whole, 3);
	b = whole;
	assert_non_null(s = read_scan(&b, false));
	assert_true(snap_sum(s, &want));
	snap_free(s);
	trailer_strip(&b);
	/* without its trailer, a snapshot is valid */
	assert_true(same_or_error(&b, b.len, false, want));
	for (at = b.len + 1; at < whole.len; at++)
		if (same_or_error(&whole, at, at % 8 == 0, want))
			fail_msg("cut at %zu of %zu: a snapshot", at,
			    whole.len);
	rng_init(&r, "cut", 4);
	for (i = 0; i < 200; i++) {
		at = 2000 + rng_below(&r, b.len - 2000);
		assert_false(same_or_error(&whole, at, i % 2, want));
	}
	buf_free(&whole);
}

/*
 * Flip any bit: from a pipe it is an error; from a file it is an error at the
 * latest when the page is read. In the trailer it is noted, and the trailer is
 * not used.
 */
static void
test_flip(void **state)
{
	struct snap *s;
	struct rng r;
	struct buf b;
	uint64_t want;
	uint8_t bit;
	size_t i, at, body;

	(void)state;
	make_big(&b, 5);
	assert_non_null(s = read_scan(&b, false));
	assert_true(snap_sum(s, &want));
	snap_free(s);
	body = b.len;
	trailer_strip(&b);
	at = b.len;
	b.len = body;
	body = at;
	rng_init(&r, "flip", 6);
	for (i = 0; i < 700; i++) {
		at = i % 3 == 0 ? rng_below(&r, b.len) : i % 3 == 1 ?
		    rng_below(&r, 400) : body + rng_below(&r, b.len - body);
		bit = (uint8_t)(1 << rng_below(&r, 8));
		b.data[at] ^= bit;
		if (same_or_error(&b, b.len, i % 2, want))
			fail_msg("bit 0x%02x of byte %zu: it does not matter",
			    bit, at);
		b.data[at] ^= bit;
	}
	buf_free(&b);
}

static void
put64(uint8_t *p, uint64_t v)
{
	int i;

	for (i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> i * 8);
}

/*
 * Update the checksum of the trailer that begins at at.
 */
static void
sum_again(struct buf *b, size_t at)
{
	put64(b->data + b->len - 16, sums_of(b->data + at, b->len - at - 16));
}

/*
 * A false trailer with a right checksum: an error, at the latest when a page is
 * read, or the same bytes. If a reference leads to another page, a scan
 * differs.
 */
static void
test_lie(void **state)
{
	static const uint8_t flip[] = { 1, 4, 0x7f, 0x80 };
	struct snap *s, *t;
	struct buf b;
	uint64_t want, sum;
	uint8_t *copy;
	size_t at, body, k, same, found;

	(void)state;
	make_big(&b, 7);
	assert_non_null(s = read_scan(&b, true));
	assert_true(snap_sum(s, &want));
	body = b.len;
	trailer_strip(&b);
	at = b.len;
	b.len = body;
	body = at;
	copy = malloc(b.len - body);
	memcpy(copy, b.data + body, b.len - body);
	for (same = found = 0; at < b.len - 16; at++)
		for (k = 0; k < sizeof flip; k++) {
			b.data[at] ^= flip[k];
			sum_again(&b, body);
			if ((t = read_scan(&b, false)) == NULL)
				assert_contains(snap_errstr(), "byte ");
			else if (!snap_sum(t, &sum))
				assert_contains(snap_errstr(), "byte ");
			else if (sum == want)
				same += !t->damaged;
			else {
				assert_int_equal(snap_compare(s, t), -1);
				found++;
			}
			snap_free(t);
			memcpy(b.data + body, copy, b.len - body);
		}
	print_message("# %zu lies make no difference, %zu need a scan\n",
	    same, found);
	assert_true(same < 50 && found < 60);
	free(copy);
	snap_free(s);
	buf_free(&b);
}

/*
 * References are to earlier raw pages, even if later raw pages follow a few
 * runs on.
 */
static void
test_ahead(void **state)
{
	/* 32 raw pages, 5 references to the first ones, 300 raw pages */
	static const uint8_t runs[] = { 0x80, 1, 22, 0, 0, 0xb0, 9 };
	struct memsource *m;
	struct snap *s;
	struct buf b;
	struct rng r;
	uint8_t *p;
	size_t trailer, len;

	(void)state;
	rng_init(&r, "ahead", 71);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, 337, KB);
	rng_bytes(&r, m->data, 337 * KB);
	memcpy(memsource_kb(m, 32), memsource_kb(m, 0), 5 * KB);
	segment_add(snap_add(s, 12), IMAGE_MEM, 0x10000, 337 * KB, &m->src, 0);
	snap_bytes(s, &b);
	snap_free(s);
	len = b.len;
	trailer_strip(&b);
	trailer = b.len;
	b.len = len;
	p = memmem(b.data + trailer, len - trailer, runs, sizeof runs);
	assert_non_null(p);
	p[4] = 2 * 27;		/* to the last of the 32 */
	sum_again(&b, trailer);
	s = read_scan(&b, false);
	assert_non_null(s);
	snap_free(s);
	p[4] = 2 * 28;
	sum_again(&b, trailer);
	assert_null(read_scan(&b, false));
	assert_contains(snap_errstr(), "a reference to raw page 32, which "
	    "is not an earlier full page");
	buf_free(&b);
}

/*
 * There is no index if it would be larger than a hundredth of the stream.
 */
static void
test_dear(void **state)
{
	struct memsource *m;
	struct buf b, body;
	struct segment *g;
	struct image *im;
	struct snap *s;
	struct proc *p;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "dear", 8);
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 600, KB);
	rng_bytes(&r, m->data, 600 * KB);
	p = snap_add(s, 1);
	im = p->mem = image_new(p, IMAGE_MEM);
	g = segment_new(0, 4000 * KB);
	for (i = 0; i < 4000; i++)
		assert_int_equal(segment_append(g, 1, &m->src,
		    i < 600 ? i * KB : rng_below(&r, 600) * KB), 0);
	assert_int_equal(image_insert(im, g), 0);
	snap_bytes(s, &b);
	body = b;
	trailer_strip(&body);
	assert_false(has_index(&b));
	assert_true(b.len - body.len < 200);
	snap_free(s);
	s = read_scan(&b, false);
	assert_true(s != NULL && s->verified);
	snap_free(s);
	buf_free(&b);
}

/*
 * Read a stream with an invalid trailer: its other records are a snapshot
 * without a trailer, and the reason is noted.
 */
static void
check_unsummed(const struct buf *b, const char *why, bool damaged,
    uint64_t want)
{
	struct readopts o = { .salvage = true };
	struct stream st;
	struct snap *s;
	uint64_t sum;
	int way;

	for (way = 0; way < 4; way++) {
		stream_file(&st, b->data, b->len);
		s = way == 0 ? read_scan(b, true) : way == 1 ?
		    read_scan(b, false) : way == 2 ?
		    stream_read(b->data, b->len, true) : snap_load(st.path, &o);
		stream_close(&st);
		if (s == NULL)
			fail_msg("way %d: %s", way, snap_errstr());
		assert_false(s->verified);
		assert_int_equal(s->damaged, damaged);
		assert_contains(s->trailer_error, "byte ");
		assert_contains(s->trailer_error, why);
		assert_true(snap_sum(s, &sum));
		assert_int_equal(sum, want);
		snap_free(s);
	}
}

/*
 * A trailer that is not the last record, was rewritten by a Plan 9 program, or
 * is damaged is ignored. It is not a process either.
 */
static void
test_none(void **state)
{
	static const char more[] = "         12 noteid\n          3 two";
	struct buf whole, body, b = { 0 };
	struct snap *s;
	uint64_t want;
	size_t at;

	(void)state;
	make_big(&whole, 10);
	body = whole;
	trailer_strip(&body);
	at = body.len;
	assert_non_null(s = read_scan(&whole, false));
	assert_true(snap_sum(s, &want));
	snap_free(s);

	buf_add(&b, whole.data, whole.len);
	b.data[b.len - 12] ^= 1;
	check_unsummed(&b, "no trailer: its checksum", true, want);
	b.data[b.len - 12] ^= 1;
	memcpy(b.data + at, "0           proc", 16);
	check_unsummed(&b, "another program has rewritten it", false, want);
	memcpy(b.data + at, "        000 proc", 16);
	check_unsummed(&b, "no trailer: its checksum", true, want);

	b.len = at;
	buf_puts(&b, more);
	assert_non_null(s = read_scan(&b, false));
	assert_true(snap_sum(s, &want));
	snap_free(s);
	b.len = 0;
	buf_add(&b, whole.data, whole.len);
	buf_puts(&b, more);
	check_unsummed(&b, "records follow it", false, want);
	buf_add(&b, whole.data + at, whole.len - at);
	check_unsummed(&b, "records follow it", false, want);
	buf_free(&b);
	buf_free(&whole);
}

/*
 * A process 0 keeps its number, and there is no trailer.
 */
static void
test_zero(void **state)
{
	struct snap *s;
	struct buf b;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	file_set(snap_add(s, 0), "proc", "Plan 9's", 8);
	snap_bytes(s, &b);
	assert_null(memmem(b.data, b.len, "SNAPEND", 7));
	snap_free(s);
	s = read_scan(&b, false);
	assert_non_null(s);
	assert_non_null(snap_find(s, 0));
	snap_free(s);
	buf_free(&b);
}

/*
 * A file of process 0 that looks like a trailer is not written.
 */
static void
test_false(void **state)
{
	struct output *out;
	struct snap *s;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	file_set(snap_add(s, 0), "proc", "linux index 1\n", 14);
	assert_non_null(out = output_open("/dev/null"));
	assert_int_equal(snap6_write(s, out, NULL, NULL), -1);
	assert_contains(snap_errstr(), "taken for a trailer");
	output_abort(out);
	snap_free(s);
}

/*
 * Nor is a last record of process 0 that ends like a trailer.
 */
static void
test_false_end(void **state)
{
	static const char end[] = "0123456789abcdefSNAPEND\n";
	struct output *out;
	struct snap *s;
	struct proc *p;
	struct buf b;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	file_set(p = snap_add(s, 0), "x", end, sizeof end - 1);
	file_set(p, "status", "x", 1);		/* comes first */
	assert_non_null(out = output_open("/dev/null"));
	assert_int_equal(snap6_write(s, out, NULL, NULL), -1);
	assert_contains(snap_errstr(), "taken for a damaged trailer");
	output_abort(out);
	file_set(snap_add(s, 1), "status", "x", 1);	/* after it */
	snap_bytes(s, &b);
	snap_free(s);
	s = read_scan(&b, false);
	assert_non_null(s);
	snap_free(s);
	buf_free(&b);
}

/*
 * An empty file has data that is not NULL, so that it can be passed to
 * memcpy(3).
 */
static void
test_empty_file(void **state)
{
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	assert_int_equal(proc_setfile(p, "noteid", NULL, 0), 0);
	assert_non_null(proc_file(p, "noteid")->data);
	snap_free(s);
}

/*
 * Salvage: all undamaged megabytes are kept.
 */
static void
note(void *arg, const char *text)
{
	buf_printf(arg, "%s\n", text);
}

static void
test_salvage(void **state)
{
	struct buf b, log = { 0 };
	struct readopts o = { .salvage = true, .warn = note, .arg = &log };
	struct stream st;
	struct snap *s, *t;
	struct image *im;
	uint8_t x[KB], y[KB];
	uint64_t i, lost;

	(void)state;
	make_big(&b, 9);
	assert_non_null(t = read_scan(&b, true));
	b.data[SUM_BYTES + 1000] ^= 1;
	stream_file(&st, b.data, b.len);
	assert_non_null(s = snap_load(st.path, &o));
	buf_add(&log, "", 1);
	assert_contains((char *)log.data, "megabyte 1 (from byte 1048576) is "
	    "damaged\n");
	assert_contains((char *)log.data, "process 14: lost: status\n");
	assert_contains((char *)log.data, "process 13: lost with megabyte 1: ");
	assert_int_equal(s->nproc, 3);
	im = snap_find(s, 13)->mem;
	for (i = lost = 0; i < 600; i++) {
		if (image_read(im, 0x7ffe00000000 + i * KB, x, KB) == -1) {
			lost++;
			continue;
		}
		assert_int_equal(image_read(snap_find(t, 13)->mem,
		    0x7ffe00000000 + i * KB, y, KB), 0);
		assert_memory_equal(x, y, KB);
	}
	assert_true(lost > 100 && lost < 600);
	assert_int_equal(image_read(snap_find(s, 12)->mem, 0x10000, x, KB), 0);
	assert_non_null(memmem(proc_file(snap_find(s, 13), "proc")->data,
	    proc_file(snap_find(s, 13), "proc")->len, " damaged\n", 9));
	stream_close(&st);
	snap_free(s);
	snap_free(t);
	buf_free(&log);
	buf_free(&b);
}

/*
 * A page that begins in one megabyte and ends in the next one is not read if
 * either is damaged, neither alone nor with its neighbors.
 */
static void
test_border(void **state)
{
	enum { LEN = 4096 * KB };
	static uint8_t x[LEN];
	size_t k, lost, step[] = { KB, LEN };
	struct memsource *m;
	struct stream st;
	struct snap *s, *t;
	struct rng r;
	struct buf b;
	ssize_t n;
	int i;

	(void)state;
	rng_init(&r, "border", 1);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, LEN / KB, KB);
	rng_bytes(&r, m->data, LEN);
	segment_add(snap_add(s, 12), IMAGE_MEM, 0, LEN, &m->src, 0);
	snap_bytes(s, &b);
	for (i = 0; i < 4; i++) {
		/* the third megabyte's first byte, or the second's last */
		k = (size_t)(2 + i % 2) * SUM_BYTES - (size_t)(i % 2);
		b.data[k] ^= 1;
		stream_file(&st, b.data, b.len);
		b.data[k] ^= 1;
		assert_non_null(t = snap_load(st.path, NULL));
		for (k = lost = 0; k < LEN; k += (size_t)n) {
			n = image_readsome(snap_find(t, 12)->mem, k, x,
			    step[i / 2]);
			if (n == -1) {
				lost++;
				n = KB;
			} else
				assert_memory_equal(x, m->data + k,
				    (size_t)n);
		}
		assert_true(lost > 1023 && lost < LEN / KB);
		stream_close(&st);
		snap_free(t);
	}
	buf_free(&b);
	snap_free(s);
}

/*
 * The largest number of an index, the next one, and one without an end.
 */
static void
test_number(void **state)
{
	uint8_t p[10];
	struct cursor c = { .p = p, .left = 10 };
	uint64_t n;

	(void)state;
	memset(p, 0xff, sizeof p);
	p[9] = 1;
	assert_int_equal(get_num(&c, &n), 0);
	assert_true(n == UINT64_MAX);
	assert_int_equal(c.left, 0);
	c = (struct cursor){ .p = p, .left = 10 };
	p[9] = 2;
	assert_int_equal(get_num(&c, &n), -1);
	assert_string_equal(snap_errstr(), "the number has more than 64 bits");
	c.left = 9;
	assert_int_equal(get_num(&c, &n), -1);
	assert_string_equal(snap_errstr(), "the index ends too early");
}

/*
 * If the trailer of a series is removed while it is read, there is no trailer,
 * and what precedes it is read to the new end.
 */
static void
test_removed(void **state)
{
	char path[] = "/tmp/t_trailer.XXXXXX";
	struct buf b = { 0 };
	struct trailer t;
	struct input *in;
	struct snap *s;
	uint64_t len;
	int fd;

	(void)state;
	make_big(&b, 71);
	fd = mkstemp(path);
	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	assert_non_null(in = input_open(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(trailer_find(&t, in), 1);
	len = t.pos;
	trailer_free(&t);
	/* its end was read and states its length */
	assert_int_equal(input_seek(in, b.len - TRAILER_END), 0);
	assert_non_null(input_peek(in, TRAILER_END));
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(trailer_find(&t, in), 0);
	assert_non_null(s = snap6_read(in, NULL));
	assert_int_equal(s->nproc, 3);
	assert_false(s->verified);
	snap_free(s);
	input_close(in);
	close(fd);
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flip),
		cmocka_unit_test(test_lie),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_dear),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_zero),
		cmocka_unit_test(test_false),
		cmocka_unit_test(test_false_end),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(test_border),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
