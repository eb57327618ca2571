/*
 * snap(6): snap6/, with made-up snapshots, complete, cut and damaged.
 */
#include "model.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char first[] = "process snapshot 1 a@b amd64 2 \"c\"\n";

static struct snap *
must_read(const struct buf *b, bool pipe)
{
	struct snap *s;

	if ((s = stream_read(b->data, b->len, pipe)) == NULL)
		fail_msg("%s", snap_errstr());
	return s;
}

/*
 * A snapshot is the same after it was read from a file and from a pipe. Written
 * again, it has the same bytes.
 */
static void
round_trip(struct snap *s)
{
	struct buf b, again;
	struct snap *t;
	int pipe;

	snap_bytes(s, &b);
	for (pipe = 0; pipe < 2; pipe++) {
		t = must_read(&b, pipe);
		assert_snaps_equal(s, t);
		snap_bytes(t, &again);
		assert_int_equal(again.len, b.len);
		assert_memory_equal(again.data, b.data, b.len);
		buf_free(&again);
		snap_free(t);
	}
	buf_free(&b);
}

static void
test_roundtrip(void **state)
{
	struct snap *s;
	struct rng r;
	int i;

	(void)state;
	rng_init(&r, "round trip", 60);
	for (i = 0; i < 200; i++) {
		s = snap_make(&r, false);
		round_trip(s);
		snap_free(s);
	}
}

/*
 * Segments that overlap: a reader resolves references to visible pages. Hidden
 * pages are kept.
 */
static void
test_overlap(void **state)
{
	struct snap *s;
	struct rng r;
	int i;

	(void)state;
	rng_init(&r, "overlap", 61);
	for (i = 0; i < 200; i++) {
		s = snap_make(&r, true);
		round_trip(s);
		snap_free(s);
	}
}

/*
 * A process of which only the number is known is kept.
 */
static void
test_nothing(void **state)
{
	struct buf b;
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	assert_non_null(p = snap_add(s, 7));
	p->mem = image_new(p, IMAGE_MEM);
	assert_non_null(p = snap_add(s, 8));
	p->text = image_new(p, IMAGE_TEXT);
	assert_non_null(snap_add(s, 9));
	snap_bytes(s, &b);
	snap_free(s);
	s = must_read(&b, true);
	assert_int_equal(s->nproc, 3);
	assert_int_equal(proc_file(s->proc[0], "segment")->len, 0);
	snap_free(s);
	buf_free(&b);
}

/*
 * Copy the first n visible bytes of process 7 from 0x1000 on to got.
 */
static void
front_bytes(const char *records, size_t len, char *got, size_t n, bool again)
{
	struct buf b = { 0 }, c;
	struct snap *s;

	buf_puts(&b, "process snapshot\n");
	buf_add(&b, records, len);
	s = must_read(&b, false);
	if (again) {
		snap_bytes(s, &c);
		snap_free(s);
		s = must_read(&c, true);
		buf_free(&c);
	}
	assert_int_equal(image_read(snap_find(s, 7)->mem, 0x1000, got, n), 0);
	snap_free(s);
	buf_free(&b);
}

/*
 * A later section covers an earlier one, even after both are written as one
 * record.
 */
static void
test_sections(void **state)
{
	static const char records[] =
	    "          7 mem\n          1        4096           6 raaaaaa"
	    "          7 mem\n          2        4097           2 rbb"
	    "       4098           3 rccc";
	char got[7] = "";
	int again;

	(void)state;
	for (again = 0; again < 2; again++) {
		front_bytes(records, sizeof records - 1, got, 6, again);
		assert_string_equal(got, "abbcca");
	}
}

/*
 * A hidden page cannot be referred to, but the page that hides it can.
 */
static void
test_hidden(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 5, KB);
	memset(memsource_kb(m, 0), 'a', KB);
	memset(memsource_kb(m, 1), 'b', KB);
	memset(memsource_kb(m, 2), 'b', KB);
	memset(memsource_kb(m, 3), 'a', KB);
	memset(memsource_kb(m, 4), 'c', KB);
	p = snap_add(s, 1);
	segment_add(p, IMAGE_MEM, 0x1000, KB, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x1000, KB, &m->src, KB);
	p = snap_add(s, 2);
	segment_add(p, IMAGE_MEM, 0x1000, 3 * KB, &m->src, 2 * KB);
	round_trip(s);
	assert_int_equal(p->count.raw, 2);
	assert_int_equal(p->count.same, 1);
	snap_free(s);
}

/*
 * A text whose first segment is not its lowest: memory below it cannot be
 * referred to, as offsets count from the first segment.
 */
static void
test_below(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 3, KB);
	memset(memsource_kb(m, 0), 'a', KB);
	memset(memsource_kb(m, 1), 'b', KB);
	memset(memsource_kb(m, 2), 'c', KB);
	p = snap_add(s, 1);
	segment_add(p, IMAGE_TEXT, 0x10000, KB, &m->src, 0);
	segment_add(p, IMAGE_TEXT, 0, KB, &m->src, KB);
	segment_add(p, IMAGE_MEM, 0x1000, 2 * KB, &m->src, KB);
	round_trip(s);
	snap_free(s);
}

/*
 * Behavior of large segments: many consecutive blocks, and references in both
 * directions across them.
 */
static void
test_big(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "big", 62);
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 6000, KB);
	for (i = 0; i < m->nkb; i++)
		if (i > 100 && rng_percent(&r, 30))
			memcpy(memsource_kb(m, i), memsource_kb(m,
			    rng_below(&r, i)), KB);
		else
			rng_bytes(&r, memsource_kb(m, i), 16);
	p = snap_add(s, 1);
	segment_add(p, IMAGE_TEXT, 0, 500 * KB - 7, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x400000, 6000 * KB, &m->src, 0);
	p = snap_add(s, 2);
	segment_add(p, IMAGE_MEM, 0x12340, 6000 * KB - 1, &m->src, 0);
	segment_add(p, IMAGE_MEM, 1 << 30, (uint64_t)700 * KB, NULL, 0);
	round_trip(s);
	snap_free(s);
}

/*
 * References to addresses with an additional digit, or with many digits that
 * change from one to the next.
 */
static void
test_carry(void **state)
{
	static const uint64_t at[] = {
		10000, 100000000, 200000000, 1000000000, 99999900000000,
		100000000000000, 10000000000000000
	};
	enum { N = 64 };
	struct buf b;
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct rng r;
	size_t i, k, pid;

	(void)state;
	rng_init(&r, "carry", 63);
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, sizeof at / sizeof *at * N, KB);
	for (i = 0; i < m->nkb; i++)
		rng_bytes(&r, memsource_kb(m, i), 16);
	for (pid = 1; pid <= 3; pid++) {
		p = snap_add(s, pid);
		for (i = 0; i < sizeof at / sizeof *at; i++) {
			k = at[i] / KB < N / 2 ? 0 : at[i] / KB - N / 2;
			segment_add(p, IMAGE_MEM, k * KB, N * KB, &m->src,
			    i * N * KB);
		}
	}
	round_trip(s);
	/* right-justified: a number does not begin with a zero */
	snap_bytes(s, &b);
	assert_null(memmem(b.data, b.len, " 00", 3));
	buf_free(&b);
	snap_free(s);
}

/*
 * The bytes of a small snapshot, by the format.
 */
static void
test_bytes(void **state)
{
	static const char head[] =
	    "process snapshot 1 a@b amd64 2 \"c\"\n"
	    "          7 noteid\n"
	    "         12           7 "
	    "          7 text\n"
	    "          0        1025 ";
	static const char mem[] =
	    "          7 mem\n"
	    "          2 "
	    "      65536        3072 ";
	static const char tail[] =
	    "t          7           0 "
	    "zz"
	    "18446744073709550592        1024 ";
	struct buf b, want = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	s->header = strndup(first, sizeof first - 2);
	m = memsource_new(s, 4, KB);
	memset(memsource_kb(m, 0), 'x', KB);
	memset(memsource_kb(m, 1), 'y', KB);
	p = snap_add(s, 7);
	file_set(p, "noteid", "          7 ", 12);
	segment_add(p, IMAGE_TEXT, 0, KB + 1, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x10000, 3 * KB, &m->src, 0);
	segment_free(p->mem->seg[0]);
	p->mem->seg[0] = segment_new(0x10000, 3 * KB);
	p->mem->seg[0]->image = p->mem;
	segment_append(p->mem->seg[0], 1, &m->src, 0);
	segment_append(p->mem->seg[0], 2, NULL, 0);
	segment_add(p, IMAGE_MEM, -(uint64_t)KB, KB, &m->src, 0);
	snap_bytes(s, &b);
	buf_add(&want, head, sizeof head - 1);
	buf_puts(&want, "r");
	buf_add(&want, memsource_kb(m, 0), KB);
	buf_puts(&want, "ry");
	buf_add(&want, mem, sizeof mem - 1);
	buf_add(&want, tail, sizeof tail - 1);
	buf_puts(&want, "r");
	buf_add(&want, memsource_kb(m, 0), KB);
	trailer_strip(&b);
	assert_int_equal(b.len, want.len);
	assert_memory_equal(b.data, want.data, b.len);
	assert_int_equal(p->count.raw, 3);
	assert_int_equal(p->count.zero, 2);
	assert_int_equal(p->count.same, 1);
	buf_free(&b);
	buf_free(&want);
	snap_free(s);
}

/*
 * Return the length of the stream of s without a trailer.
 */
static size_t
bytes_so_far(struct snap *s)
{
	struct buf b;
	size_t n;

	snap_bytes(s, &b);
	trailer_strip(&b);
	n = b.len;
	buf_free(&b);
	return n;
}

static void
make_small(struct buf *b, size_t *end, size_t *nend)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	size_t n;

	n = 0;
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 4, KB);
	memset(memsource_kb(m, 0), 'x', KB);
	memset(memsource_kb(m, 1), 'y', KB);
	end[n++] = bytes_so_far(s);
	p = snap_add(s, 12);
	file_set(p, "status", "cat", 3);
	end[n++] = bytes_so_far(s);
	file_set(p, "odd", "12345 ", 6);
	end[n++] = bytes_so_far(s);
	segment_add(p, IMAGE_TEXT, 0, KB + 5, &m->src, 0);
	end[n++] = bytes_so_far(s);
	p = snap_add(s, 13);
	segment_add(p, IMAGE_MEM, 0x1000, 3 * KB, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x9000, 2 * KB - 1, &m->src, 0);
	snap_bytes(s, b);
	trailer_strip(b);
	end[n++] = b->len;
	*nend = n;
	snap_free(s);
}

/*
 * Cut at each byte, from a file and from a pipe: an error that names the place
 * and the last complete record. Between records it is a shorter snapshot.
 */
static void
test_cut(void **state)
{
	struct buf b;
	struct snap *s;
	size_t end[8], nend, at, k;
	char where[64];
	bool whole;
	int pipe;

	(void)state;
	make_small(&b, end, &nend);
	for (pipe = 0; pipe < 2; pipe++)
		for (at = 0; at <= b.len; at++) {
			for (whole = false, k = 0; k < nend; k++)
				whole |= at == end[k];
			s = stream_read(b.data, at, pipe);
			if (whole) {
				assert_non_null(s);
				snap_free(s);
				continue;
			}
			if (s != NULL)
				fail_msg("cut at %zu: a model", at);
			assert_contains(snap_errstr(), "byte ");
			if (at < end[0])
				continue;
			assert_contains(snap_errstr(), at < end[1] ?
			    "(the last whole record is " :
			    at < end[2] ? "is status of process 12)" :
			    at < end[3] ? "is odd of process 12)" :
			    "is text of process 12)");
			if (strstr(snap_errstr(), "are left") != NULL)
				continue;
			assert_contains(snap_errstr(), "ends here");
			snprintf(where, sizeof where, "byte %zu (", at);
			assert_contains(snap_errstr(), where);
		}
	buf_free(&b);
}

/*
 * Read all memory of a snapshot.
 */
static void
walk(struct snap *s)
{
	static uint8_t page[64 * KB];
	struct piece *p;
	struct image *im;
	uint64_t at, n;
	size_t i;
	int k;

	for (i = 0; i < s->nproc; i++)
		for (k = 0; k < 2; k++) {
			im = k == 0 ? s->proc[i]->text : s->proc[i]->mem;
			for (p = image_first(im); p != NULL;
			    p = piece_next(p))
				for (at = p->first;; at += n) {
					n = p->last - at < sizeof page - 1 ?
					    p->last - at + 1 : sizeof page;
					assert_int_equal(image_read(im, at,
					    page, n), 0);
					if (at + (n - 1) == p->last)
						break;
				}
		}
}

/*
 * Flip each bit of each byte outside page data, and set each byte to other
 * values: an error, or a snapshot that can be written and read back.
 */
static void
test_flip(void **state)
{
	static const char set[] = " 0919zrmt\n\377-";
	struct buf b, out;
	struct snap *s, *t;
	size_t end[8], nend, at, k, models;
	uint8_t was;

	(void)state;
	make_small(&b, end, &nend);
	for (at = models = 0; at < b.len; at++) {
		was = b.data[at];
		if ((was == 'x' || was == 'y') && at % 97 != 0)
			continue;
		for (k = 0; k < 8 + sizeof set - 1; k++) {
			b.data[at] = k < 8 ? (uint8_t)(was ^ 1 << k) :
			    (uint8_t)set[k - 8];
			s = stream_read(b.data, b.len, k % 2);
			if (s == NULL) {
				assert_contains(snap_errstr(), "byte ");
				continue;
			}
			models++;
			walk(s);
			if (k % 4 == 0) {
				snap_bytes(s, &out);
				t = must_read(&out, false);
				assert_snaps_equal(s, t);
				snap_free(t);
				buf_free(&out);
			}
			snap_free(s);
		}
		b.data[at] = was;
	}
	assert_true(models > 100);
	buf_free(&b);
}

/*
 * Random damage to larger snapshots: bytes changed, removed, inserted.
 */
static void
test_damage(void **state)
{
	struct buf b;
	struct snap *s;
	struct rng r;
	size_t i, at, n, from;
	int round;

	(void)state;
	rng_init(&r, "damage", 63);
	for (round = 0; round < 300; round++) {
		if (round % 20 == 0) {
			if (round > 0)
				buf_free(&b);
			s = snap_make(&r, true);
			snap_bytes(s, &b);
			trailer_strip(&b);
			snap_free(s);
		}
		for (i = 1 + rng_below(&r, 4); i > 0; i--) {
			at = rng_below(&r, b.len);
			n = rng_below(&r, 40);
			if (n > b.len - at)
				n = b.len - at;
			from = rng_below(&r, b.len - n);
			if (rng_percent(&r, 50))
				memmove(b.data + at, b.data + from, n);
			else
				b.data[at] = (uint8_t)rng_next(&r);
		}
		s = stream_read(b.data, b.len, round % 2);
		if (s != NULL)
			walk(s);
		else
			assert_contains(snap_errstr(), "byte ");
		snap_free(s);
	}
	buf_free(&b);
}

/*
 * Read a snapshot with these records.
 */
static struct snap *
read_text(const char *body, bool pipe)
{
	struct buf b = { 0 };
	struct snap *s;

	buf_add(&b, first, sizeof first - 1);
	buf_puts(&b, body);
	s = stream_read(b.data, b.len, pipe);
	buf_free(&b);
	return s;
}

/*
 * Unknown records that parse as data are kept. Others are errors.
 */
static void
test_unknown(void **state)
{
	static const char body[] =
	    "         10 args\n"
	    "         11 cat notes  "
	    "         10 wait\n"
	    "          0 "
	    "         11 profile\n"
	    "          3 abc";
	struct snap *s;
	struct buf b;

	(void)state;
	s = read_text(body, true);
	assert_non_null(s);
	assert_int_equal(proc_file(snap_find(s, 10), "args")->len, 11);
	assert_int_equal(proc_file(snap_find(s, 10), "wait")->len, 0);
	snap_bytes(s, &b);
	trailer_strip(&b);
	assert_int_equal(b.len, sizeof first - 1 + sizeof body - 1);
	assert_memory_equal(b.data + sizeof first - 1, body, sizeof body - 1);
	buf_free(&b);
	snap_free(s);
	assert_null(read_text("         10 args\n          3 abcd", false));
	assert_contains(snap_errstr(), "unknown record type");
	assert_null(read_text("         10 args\n          0 1024 z", false));
	assert_null(read_text("         10 args\nabc", true));
}

/*
 * A process may have 1000 types of data records; each may occur again.
 */
static void
test_types(void **state)
{
	struct buf b = { 0 };
	struct snap *s;
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		buf_printf(&b, "         10 a%zu\n          0 ", i);
	buf_printf(&b, "         10 a7\n          1 x%c", 0);
	assert_non_null(s = read_text((char *)b.data, false));
	assert_int_equal(snap_find(s, 10)->nfile, 1000);
	assert_int_equal(proc_file(snap_find(s, 10), "a7")->len, 1);
	snap_free(s);
	b.len--;
	buf_printf(&b, "         10 b\n          0 %c", 0);
	assert_null(read_text((char *)b.data, false));
	assert_contains(snap_errstr(), "process 10: b: more than 1000 record "
	    "types");
	buf_free(&b);
}

/*
 * Lengths larger than the stream cost no memory.
 */
static void
test_claims(void **state)
{
	static const char *const body[] = {
		"          1 status\n 9999999999999999999 ",
		"          1 status\n18446744073709551615 x",
		"          1 proc\n99999999999 x",
		"          1 mem\n18446744073709551615 ",
		"          1 mem\n          1           0 "
		    "18446744073709551615 z",
		"          1 mem\n          1           1 "
		    "18446744073709551615 z",
		"          1 mem\n          1           2 "
		    "18446744073709551615 z",
		"          1 text\n          0 99999999999999 zzzz",
		"          1 text\n18446744073709551615           2 z",
		"          1 mem\n18446744073709551616 ",
		"          1 mem\n          1 99999999999999999999         1 z",
		"18446744073709551616 mem\n          0 ",
	};
	size_t i;
	int pipe;

	(void)state;
	for (i = 0; i < sizeof body / sizeof *body; i++)
		for (pipe = 0; pipe < 2; pipe++) {
			assert_null(read_text(body[i], pipe));
			assert_contains(snap_errstr(), "byte ");
			if (i < 11)
				assert_contains(snap_errstr(), "process 1: ");
		}
}

/*
 * References to pages that cannot be referred to.
 */
static void
test_refer(void **state)
{
	static const struct {
		const char	*body;	/* after a mem record of process 1 */
		const char	*want;	/* NULL: valid */
	} refer[] = {
		{ "2048 m 1 4096 z", NULL },
		{ "2048 zm 3 8192 ", NULL },
		{ "1024 m 1 6144 ", "but has 1024" },
		{ "1 m 1 4096 ", "but has 1" },
		{ "1 m 1 6144 ", NULL },
		{ "1024 m 2 4096 ", "is not in the snapshot" },
		{ "1024 m 1 4097 ", "not a multiple of 1024" },
		{ "1024 m 1 0 ", "nothing was described" },
		{ "1024 m 1 7168 ", "nothing was described" },
		{ "1024 m 3 8192 ", "nothing was described" },
		{ "2048 m 3 9216 z", "nothing was described" },
		{ "1024 t 1 0 ", "nothing was described" },
		{ "1024 t 1 18446744073709551615 ", "nothing was described" },
	};
	struct buf b;
	struct snap *s;
	const char *p;
	size_t i;
	int n, pipe;

	(void)state;
	for (i = 0; i < sizeof refer / sizeof *refer; i++)
		for (pipe = 0; pipe < 2; pipe++) {
			memset(&b, 0, sizeof b);
			buf_puts(&b, "          1 mem\n          1        4096"
			    "        2049 zzz"
			    "          3 mem\n          1        8192 ");
			for (p = refer[i].body; *p != '\0';)
				if (strspn(p, "0123456789") > 0) {
					n = (int)strspn(p, "0123456789");
					buf_printf(&b, "%11.*s ", n, p);
					p += n + 1;
				} else if (*p++ != ' ')
					buf_add(&b, p - 1, 1);
			buf_add(&b, "", 1);
			s = read_text((char *)b.data, pipe);
			buf_free(&b);
			if ((s != NULL) != (refer[i].want == NULL))
				fail_msg("%s: %s", refer[i].body,
				    snap_errstr());
			if (s == NULL)
				assert_contains(snap_errstr(), refer[i].want);
			snap_free(s);
		}
}

/*
 * nodata: everything is checked and counted, but pages cannot be read.
 */
static void
note_record(void *arg, uint64_t pid, const char *name, uint64_t pos,
    uint64_t len)
{
	struct buf *b = arg;

	buf_printf(b, "%" PRIu64 " %s %" PRIu64 "+%" PRIu64 "\n", pid, name,
	    pos, len);
}

static void
test_records(void **state)
{
	struct buf b, log = { 0 };
	struct readopts o = { .nodata = true, .record = note_record,
	    .arg = &log };
	size_t end[8], nend;
	struct stream st;
	struct snap *s;
	uint8_t byte;
	char want[400];

	(void)state;
	make_small(&b, end, &nend);
	stream_pipe(&st, b.data, b.len, 1000);
	s = snap_load(st.path, &o);
	stream_close(&st);
	assert_non_null(s);
	snprintf(want, sizeof want, "0 process snapshot 0+%zu\n12 status "
	    "%zu+%zu\n12 odd %zu+%zu\n12 text %zu+%zu\n13 mem %zu+%zu\n",
	    end[0], end[0], end[1] - end[0], end[1], end[2] - end[1], end[2],
	    end[3] - end[2], end[3], end[4] - end[3]);
	assert_int_equal(log.len, strlen(want));
	assert_memory_equal(log.data, want, log.len);
	assert_int_equal(snap_find(s, 12)->count.raw, 2);
	assert_int_equal(snap_find(s, 13)->count.same, 2);
	assert_int_equal(image_read(snap_find(s, 12)->text, 0, &byte, 1), -1);
	buf_free(&log);
	buf_free(&b);
	snap_free(s);
}

/*
 * Pages that cannot be read as they are written become zeros. A warning is
 * printed, and they are missing when the stream is read.
 */
static void
note_warning(void *arg, const char *msg)
{
	buf_printf(arg, "%s\n", msg);
}

static void
test_lost(void **state)
{
	static const struct file file = { NULL, NULL, 0 };
	struct buf warning = { 0 };
	struct memsource *m;
	struct output *out;
	struct snap *s, *t;
	struct proc *p;
	char path[] = "/tmp/t_snap6.XXXXXX";
	uint8_t page[KB];
	size_t i;
	int fd;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	p = snap_add(s, 9);
	m = memsource_new(s, 16, KB);
	for (i = 0; i < 16; i++)
		memset(memsource_kb(m, i), 'a' + (int)i, KB);
	for (i = 4; i < 8; i++)
		m->lost[i] = m->lost[i + 8] = true;
	segment_add(p, IMAGE_MEM, 0x10000, 16 * KB - 100, &m->src, 0);
	assert_int_equal(linuxrec_pack(p, plan9_cputype(), &file, 0), 0);
	assert_true((fd = mkstemp(path)) != -1);
	close(fd);
	out = output_open(path);
	assert_non_null(out);
	assert_int_equal(snap6_write(s, out, note_warning, &warning), 0);
	assert_int_equal(output_commit(out), 0);
	buf_puts(&warning, "");
	buf_add(&warning, "", 1);
	assert_contains((char *)warning.data, "process 9: 8 kilobytes");
	assert_contains((char *)warning.data, "is lost");
	t = snap_load(path, NULL);
	unlink(path);
	assert_non_null(t);
	p = snap_find(t, 9);
	assert_int_equal(p->mem->nmissing, 2);
	assert_int_equal(p->mem->missing[0].start, 0x11000);
	assert_int_equal(p->mem->missing[0].end, 0x12000);
	assert_int_equal(p->mem->missing[1].start, 0x13000);
	assert_int_equal(p->mem->missing[1].end, 0x14000 - 100);
	for (i = 0; i < 16; i++)
		assert_int_equal(image_read(p->mem, 0x10000 + i * KB, page,
		    KB), i / 4 % 2 == 1 ? -1 : 0);
	round_trip(t);
	buf_free(&warning);
	snap_free(s);
	snap_free(t);
}

/*
 * Lost pages at the end of the address space.
 */
static void
test_losttop(void **state)
{
	static const struct file file = { NULL, NULL, 0 };
	struct snap *s = snap_new(), *t;
	struct memsource *m;
	struct stream st;
	struct proc *p;
	struct buf b;

	(void)state;
	s->header = strdup("process snapshot");
	p = snap_add(s, 9);
	m = memsource_new(s, 4, KB);
	memset(m->lost, true, 4 * sizeof *m->lost);
	segment_add(p, IMAGE_MEM, UINT64_MAX - 4 * KB + 1, 4 * KB, &m->src, 0);
	assert_int_equal(linuxrec_pack(p, plan9_cputype(), &file, 0), 0);
	snap_bytes(s, &b);
	stream_file(&st, b.data, b.len);
	if ((t = snap_load(st.path, NULL)) == NULL)
		fail_msg("%s", snap_errstr());
	p = snap_find(t, 9);
	assert_int_equal(p->mem->nmissing, 1);
	assert_true(p->mem->missing[0].start == UINT64_MAX - 4 * KB + 1);
	assert_true(p->mem->missing[0].end == UINT64_MAX);
	stream_close(&st);
	buf_free(&b);
	snap_free(s);
	snap_free(t);
}

/*
 * A thousand sections that end with the same page, followed by one more.
 */
static void
test_manylast(void **state)
{
	struct memsource *m;
	struct snap *s;
	uint64_t i;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot");
	m = memsource_new(s, 2, KB);
	memset(memsource_kb(m, 0), 'q', KB);
	memset(memsource_kb(m, 1), 'w', KB);
	for (i = 1; i <= 1000; i++)
		segment_add(snap_add(s, i), IMAGE_TEXT, 0, KB, &m->src, 0);
	segment_add(snap_add(s, i), IMAGE_TEXT, 0, 2 * KB, &m->src, 0);
	round_trip(s);
	assert_int_equal(snap_find(s, i)->count.same, 1);
	snap_free(s);
}

/*
 * A snapshot of a process that has one file and a kilobyte of zeros.
 */
static struct snap *
one_file(uint64_t pid, const char *name, const char *data, uint64_t base)
{
	struct snap *s = snap_new();
	struct proc *p = snap_add(s, pid);

	file_set(p, name, data, strlen(data));
	segment_add(p, IMAGE_MEM, base, KB, NULL, 0);
	return s;
}

static void
test_compare(void **state)
{
	static const struct {
		uint64_t pid;
		const char *name, *data;
		uint64_t base;
		const char *why;
	} other[] = {
		{ 7, "fd", "ab", KB, "" },
		{ 8, "fd", "ab", KB, "process 7: different records" },
		{ 7, "fe", "ab", KB, "process 7: fd" },
		{ 7, "fd", "ac", KB, "process 7: fd" },
		{ 7, "fd", "abc", KB, "process 7: fd" },
		{ 7, "fd", "ab", 2 * KB,
		    "process 7: mem: the segment at 400 differs" },
	};
	struct snap *s, *t;
	size_t i;

	(void)state;
	s = one_file(7, "fd", "ab", KB);
	for (i = 0; i < sizeof other / sizeof *other; i++) {
		t = one_file(other[i].pid, other[i].name, other[i].data,
		    other[i].base);
		errstr_set("%s", "");
		assert_int_equal(snap_compare(s, t),
		    *other[i].why == '\0' ? 0 : -1);
		assert_string_equal(snap_errstr(), other[i].why);
		snap_free(t);
	}
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_roundtrip),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_carry),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flip),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_refer),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_losttop),
		cmocka_unit_test(test_manylast),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
