/*
 * Snapshots that are cut or whose bits flip during transport, plain and
 * compressed. That is an error which names the place, or makes no difference.
 * All data that is read or salvaged is right.
 */
#include "io/io.h"
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PAGES = 1600,
	CUTS = 300,
	FLIPS = 12,
	RECORDS = 64		/* maximum */
};

struct region {			/* a record, or part of a member */
	uint64_t	 at;
	uint64_t	 len;
};

static struct buf plain, packed;
static struct snap *whole;	/* contents of both */
static struct region rec[RECORDS];	/* of plain, in order */
static size_t nrec;
static struct region member[RECORDS];
static size_t nmember;

static void
note_record(void *arg, uint64_t pid, const char *name, uint64_t at,
    uint64_t len)
{
	(void)arg;
	(void)pid;
	(void)name;
	assert_true(nrec < RECORDS);
	rec[nrec].at = at;
	rec[nrec++].len = len;
}

static struct snap *
snap_some(struct rng *r)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	size_t i;

	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, PAGES, KB);
	for (i = 0; i < PAGES; i++)
		if (i % 3 == 0)
			rng_bytes(r, memsource_kb(m, i), KB);
		else if (i % 100 != 1)
			snprintf((char *)memsource_kb(m, i), KB, "page %zu",
			    i);
	p = snap_add(s, 12);
	file_set(p, "status", "cat", 3);
	file_set(p, "odd", "12345 ", 6);
	segment_add(p, IMAGE_TEXT, 0, 20 * KB + 5, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x10000, 600 * KB, &m->src, 5 * KB);
	segment_add(p, IMAGE_MEM, 0x7fff00000000, 401 * KB - 9, &m->src,
	    700 * KB);
	p = snap_add(s, 13);
	file_set(p, "noteid", "          7 ", 12);
	segment_add(p, IMAGE_MEM, 0x20000, 200 * KB, &m->src, 500 * KB);
	segment_add(p, IMAGE_MEM, 0x7ffe00000000, 600 * KB, &m->src,
	    1000 * KB);
	p = snap_add(s, 14);
	file_set(p, "status", "dog", 3);
	return s;
}

/*
 * Compress plain, and find the members.
 */
static void
pack(void)
{
	char path[] = "/tmp/t_travel.XXXXXX";
	struct output *o;
	uint8_t *p;
	FILE *f;
	size_t i;
	int fd;

	assert_int_not_equal(fd = mkstemp(path), -1);
	close(fd);
	assert_non_null(o = output_open(path));
	assert_int_equal(output_compress(o, 2), 0);
	output_put(o, plain.data, plain.len);
	assert_int_equal(output_commit(o), 0);
	assert_non_null(f = fopen(path, "r"));
	assert_non_null(p = buf_room(&packed, plain.len));
	packed.len = fread(p, 1, plain.len, f);
	fclose(f);
	unlink(path);
	for (i = 0; i < packed.len; i += member[nmember++].len) {
		assert_true(nmember < RECORDS);
		p = packed.data + i + 16;
		member[nmember].at = i;
		member[nmember].len = p[0] | (size_t)p[1] << 8 |
		    (size_t)p[2] << 16;
	}
	assert_true(nmember >= 3);
}

static int
setup(void **state)
{
	struct readopts o = { .scan = true, .record = note_record };
	struct stream st;
	struct snap *s;
	struct rng r;

	(void)state;
	rng_init(&r, "travel", 601);
	s = snap_some(&r);
	snap_bytes(s, &plain);
	snap_free(s);
	stream_file(&st, plain.data, plain.len);
	whole = snap_load(st.path, &o);
	stream_close(&st);
	pack();
	return whole == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	snap_free(whole);
	buf_free(&plain);
	buf_free(&packed);
	return 0;
}

/*
 * All data of an image that can be read is right.
 */
static void
check_image(struct image *got, struct image *want)
{
	uint8_t a[KB], b[KB];
	struct piece *pc;
	uint64_t at;
	size_t n;

	for (pc = image_first(got); pc != NULL; pc = piece_next(pc))
		for (at = pc->first; at <= pc->last; at += n) {
			n = pc->last - at < KB ? (size_t)(pc->last - at + 1) :
			    KB;
			if (image_read(got, at, a, n) == -1) {
				assert_contains(snap_errstr(), "byte ");
				continue;
			}
			assert_int_equal(image_read(want, at, b, n), 0);
			if (memcmp(a, b, n) != 0)
				fail_msg("wrong bytes at %jx", (uintmax_t)at);
		}
}

/*
 * All contents of a snapshot are right. A salvaged one may have a Linux record
 * that lists missing memory. Its first line has no checksum.
 */
static void
check_right(struct snap *s, bool saved)
{
	const struct file *f;
	struct proc *p, *q;
	size_t i, k;

	if (!saved)
		assert_string_equal(s->header, whole->header);
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (saved && p->pid == 0 && p->nfile == 0)
			continue;	/* left of a damaged trailer */
		assert_non_null(q = snap_find(whole, p->pid));
		for (k = 0; k < p->nfile; k++) {
			f = proc_file(q, p->file[k].name);
			if (saved && f == NULL &&
			    strcmp(p->file[k].name, "proc") == 0)
				continue;
			assert_non_null(f);
			assert_int_equal(p->file[k].len, f->len);
			assert_memory_equal(p->file[k].data, f->data, f->len);
		}
		if (p->text != NULL)
			check_image(p->text, q->text);
		if (p->mem != NULL)
			check_image(p->mem, q->mem);
	}
}

/*
 * The error names the place.
 */
static void
check_error(void)
{
	if (strstr(snap_errstr(), "byte ") == NULL)
		fail_msg("no place: %s", snap_errstr());
}

static bool
is_boundary(uint64_t n)
{
	size_t i;

	for (i = 0; i < nrec; i++)
		if (rec[i].at == n)
			return true;
	return false;
}

/*
 * A pipe cut at random places. A plain stream that is cut between records is
 * indistinguishable from one of Plan 9.
 */
static void
test_cut(void **state)
{
	const struct buf *b[2] = { &plain, &packed };
	struct stream st;
	struct snap *s;
	struct rng r;
	size_t i, n, kind;

	(void)state;
	rng_init(&r, "cut", 602);
	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < CUTS; i++) {
			n = rng_below(&r, b[kind]->len);
			stream_pipe(&st, b[kind]->data, n, 65536);
			s = snap_load(st.path, NULL);
			if (s == NULL)
				check_error();
			else {
				assert_true(kind == 0 && is_boundary(n));
				assert_false(s->verified);
				check_right(s, false);
			}
			snap_free(s);
			stream_close(&st);
		}
}

enum way { WAY_SCAN, WAY_INDEX, WAY_SALVAGE, WAY_PIPE };

/*
 * Read a damaged stream in one way. Return true if it was read without an
 * error.
 */
static bool
read_damaged(const struct buf *b, enum way way)
{
	struct readopts o = { .scan = way == WAY_SCAN,
	    .salvage = way == WAY_SALVAGE };
	struct stream st;
	struct snap *s;
	bool read;

	if (way == WAY_PIPE)
		stream_pipe(&st, b->data, b->len, 65536);
	else
		stream_file(&st, b->data, b->len);
	s = snap_load(st.path, &o);
	read = s != NULL;
	if (read)
		check_right(s, way == WAY_SALVAGE);
	else
		check_error();
	read = read && !s->damaged;
	snap_free(s);
	stream_close(&st);
	return read;
}

/*
 * Flip a bit of a region, read, and flip it back. Every n-th flip is read in
 * all ways. Return how many of those ways that read everything did not find it.
 */
static int
flip(struct buf *b, struct rng *r, uint64_t at, uint64_t len)
{
	static unsigned int n;
	size_t bit;
	int unseen;

	bit = (size_t)(at * 8 + rng_below(r, len * 8));
	b->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	unseen = read_damaged(b, WAY_SCAN);
	if (n % 4 == 0)
		unseen += read_damaged(b, WAY_PIPE);
	if (n % 4 == 1)
		(void)read_damaged(b, WAY_INDEX);
	if (n++ % 4 == 2)
		(void)read_damaged(b, WAY_SALVAGE);
	b->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	return unseen;
}

/*
 * In each record: its header, the following bytes, and the rest; more in the
 * trailer, which is the last one.
 */
static void
test_flips(void **state)
{
	struct rng r;
	uint64_t part;
	size_t i, k, times;

	(void)state;
	rng_init(&r, "flips", 603);
	for (i = 0; i < nrec; i++) {
		times = i + 1 == nrec ? 80 : 8;
		for (k = 0; k < times; k++) {
			part = rec[i].len < 60 ? rec[i].len : 60;
			assert_int_equal(flip(&plain, &r, rec[i].at, part), 0);
			assert_int_equal(flip(&plain, &r, rec[i].at,
			    rec[i].len), 0);
			part = rec[i].len < 24 ? rec[i].len : 24;
			assert_int_equal(flip(&plain, &r, rec[i].at +
			    rec[i].len - part, part), 0);
		}
	}
}

/*
 * In each member: its header, the deflate data, and the end. Some bits have no
 * meaning, such as padding of the last byte.
 */
static void
test_packedflips(void **state)
{
	struct rng r;
	size_t i, k;
	int unseen;

	(void)state;
	rng_init(&r, "packed flips", 604);
	for (i = 0, unseen = 0; i < nmember; i++)
		for (k = 0; k < FLIPS; k++) {
			assert_int_equal(flip(&packed, &r, member[i].at, 24),
			    0);
			unseen += flip(&packed, &r, member[i].at + 24,
			    member[i].len - 32);
			assert_int_equal(flip(&packed, &r, member[i].at +
			    member[i].len - 8, 8), 0);
		}
	assert_true(unseen < FLIPS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_packedflips),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
