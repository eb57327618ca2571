/*
 * Records of perf events and formats of tracepoints: perfrec.c, tracefs.c,
 * tpflags.c. Their users: threadset.c, kallsyms.c, vmaedit.c.
 */
#include "state/state.h"
#include "util.h"
#include "linux/observe/perf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
put_at(uint8_t *p, uint64_t v, size_t n)
{
	number_put(machine_here(), p, v, n);
}

static void
put(struct buf *b, uint64_t v, size_t n)
{
	uint8_t s[8];

	put_at(s, v, n);
	buf_add(b, s, n);
}

static void
finish(struct buf *b, size_t start)
{
	uint16_t len = (uint16_t)(b->len - start);

	assert_int_equal(buf_check(b), 0);
	memcpy(b->data + start + 6, &len, sizeof len);
}

/*
 * Append a sample with raw bytes of raw data, after their length.
 */
static void
sample(struct buf *b, uint64_t time, size_t raw)
{
	size_t start = b->len, i;

	put(b, PERFREC_SAMPLE, 4);
	put(b, 1, 2);
	put(b, 0, 2);
	put(b, 7, 8);
	put(b, 0x1000, 8);
	put(b, 10, 4);
	put(b, 11, 4);
	put(b, time, 8);
	put(b, 0x2000, 8);
	if (raw > 0) {
		put(b, raw, 4);
		for (i = 0; i < raw; i++)
			put(b, i, 1);
	}
	finish(b, start);
}

static void
trailer(struct buf *b, size_t start, uint64_t time)
{
	put(b, 10, 4);
	put(b, 11, 4);
	put(b, time, 8);
	put(b, 7, 8);
	finish(b, start);
}

static void
mmap2(struct buf *b, uint64_t time, const char *name)
{
	size_t start = b->len;

	put(b, PERFREC_MMAP2, 4);
	put(b, 0, 4);
	put(b, 10, 4);
	put(b, 11, 4);
	put(b, 0x7000, 8);
	put(b, 0x3000, 8);
	put(b, 0x1000, 8);
	put(b, 8, 4);
	put(b, 1, 4);
	put(b, 99, 8);
	put(b, 0, 8);
	put(b, 5, 4);
	put(b, 2, 4);
	buf_add(b, name, 8);
	trailer(b, start, time);
}

static void
numbers(struct buf *b, uint32_t type, size_t n, uint64_t time)
{
	size_t start = b->len, i;

	put(b, type, 4);
	put(b, 0, 4);
	for (i = 0; i < n; i++)
		put(b, 100 + i, 4);
	trailer(b, start, time);
}

static void
test_records(void **state)
{
	struct buf b = { 0 };
	struct perfrec r;

	(void)state;
	sample(&b, 5, 0);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(r.type, PERFREC_SAMPLE);
	assert_int_equal(r.misc, 1);
	assert_int_equal(r.id, 7);
	assert_int_equal(r.ip, 0x1000);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time, 5);
	assert_int_equal(r.addr, 0x2000);
	assert_null(r.raw);
	b.len = 0;
	sample(&b, 5, 12);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(r.rawlen, 12);
	assert_int_equal(r.raw[11], 11);
	b.len = 0;
	mmap2(&b, 6, "/lib/x\0");
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_string_equal(r.name, "/lib/x");
	assert_int_equal(r.addr, 0x7000);
	assert_int_equal(r.len, 0x3000);
	assert_int_equal(r.off, 0x1000);
	assert_int_equal(r.ino, 99);
	assert_int_equal(r.prot, 5);
	assert_int_equal(r.flags, 2);
	assert_int_equal(r.time, 6);
	assert_int_equal(r.id, 7);
	b.len = 0;
	numbers(&b, PERFREC_FORK, 6, 8);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(r.child, 100);
	assert_int_equal(r.parent, 101);
	assert_int_equal(r.ctid, 102);
	b.len = 0;
	numbers(&b, PERFREC_LOST, 4, 8);
	put_at(b.data + 16, 102 | 103ULL << 32, 8);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(r.lost, 102 | 103ULL << 32);
	b.len = 0;
	numbers(&b, PERFREC_LOSTSAMPLES, 2, 8);
	put_at(b.data + 8, 100 | 101ULL << 32, 8);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(r.lost, 100 | 101ULL << 32);
	b.len = 0;
	numbers(&b, 77, 2, 9);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), 0);
	assert_int_equal(perfrec_time(b.data, b.len), 9);
	buf_free(&b);
}

/*
 * Each record cut at each byte, with its length set to what is left.
 */
static void
test_cut(void **state)
{
	static const struct {
		uint32_t	 type;
		size_t		 least;	/* smallest valid length */
	} kinds[] = { { PERFREC_SAMPLE, 48 }, { PERFREC_MMAP2, 97 },
	    { PERFREC_COMM, 41 }, { PERFREC_FORK, 56 },
	    { PERFREC_EXIT, 56 }, { PERFREC_LOST, 40 },
	    { PERFREC_LOSTSAMPLES, 40 }, { 77, 32 } };
	uint8_t *p;
	struct perfrec r;
	uint16_t len;
	size_t i;
	int rc;

	(void)state;
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (len = 0; len < 130; len++) {
			/* exact size for sanitizers */
			p = calloc(1, len == 0 ? 1 : len);
			assert_non_null(p);
			if (len >= 8) {
				memcpy(p, &kinds[i].type, 4);
				memcpy(p + 6, &len, 2);
			}
			rc = perfrec_parse(&r, p, len);
			assert_int_equal(rc, len < kinds[i].least ? -1 : 0);
			(void)perfrec_time(p, len);
			free(p);
		}
}

static void
test_malformed(void **state)
{
	struct buf b = { 0 };
	struct perfrec r;
	uint32_t n;

	(void)state;
	sample(&b, 5, 12);
	n = 13;
	memcpy(b.data + 48, &n, 4);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), -1);
	assert_contains(snap_errstr(), "raw data of 13 bytes");
	n = UINT32_MAX;
	memcpy(b.data + 48, &n, 4);
	assert_int_equal(perfrec_parse(&r, b.data, b.len), -1);
	b.len = 0;
	mmap2(&b, 1, "12345678");
	assert_int_equal(perfrec_parse(&r, b.data, b.len), -1);
	assert_contains(snap_errstr(), "unterminated name");
	assert_int_equal(perfrec_parse(&r, b.data, b.len - 1), -1);
	assert_contains(snap_errstr(), "different length");
	buf_free(&b);
}

/*
 * Records that wrap around at the end of a ring, at each position.
 */
static void
test_ring(void **state)
{
	enum { SIZE = 256 };
	struct buf b = { 0 }, out = { 0 };
	uint8_t ring[SIZE];
	uint64_t tail;
	size_t i;

	(void)state;
	sample(&b, 1, 4);
	sample(&b, 2, 20);
	numbers(&b, PERFREC_FORK, 6, 3);
	for (tail = UINT64_MAX - 299; tail != 300; tail += 4) {
		for (i = 0; i < b.len; i++)
			ring[(tail + i) % SIZE] = b.data[i];
		out.len = 0;
		assert_int_equal(ring_copy(&out, ring, SIZE, tail,
		    tail + b.len), 0);
		assert_int_equal(out.len, b.len);
		assert_memory_equal(out.data, b.data, b.len);
	}
	out.len = 0;
	assert_int_equal(ring_copy(&out, ring, SIZE, 5, 5), 0);
	assert_int_equal(ring_copy(&out, ring, SIZE, 0, SIZE + 1), -1);
	memset(ring, 0, sizeof ring);
	assert_int_equal(ring_copy(&out, ring, SIZE, 0, 64), -1);
	assert_contains(snap_errstr(), "a record of 0 bytes");
	put_at(ring + 6, 65, 2);
	assert_int_equal(ring_copy(&out, ring, SIZE, 0, 64), -1);
	put_at(ring + 6, 60, 2);
	assert_int_equal(ring_copy(&out, ring, SIZE, 0, 64), -1);
	put_at(ring + 6, 64, 2);
	assert_int_equal(ring_copy(&out, ring, SIZE, 0, 64), 0);
	assert_int_equal(out.len, 64);
	buf_free(&b);
	buf_free(&out);
}

static void
order_is(const struct perforder *o, const char *want)
{
	char got[64] = "", one[8];
	size_t i;

	for (i = 0; i < o->n; i++) {
		snprintf(one, sizeof one, "%d ", (int)o->slot[i].time);
		strlcat(got, one, sizeof got);
		assert_int_equal(o->slot[i].time, perfrec_time(o->bytes.data +
		    o->slot[i].at, 48));
	}
	assert_string_equal(got, want);
}

static void
test_order(void **state)
{
	struct perforder o = { 0 }, old = { 0 };

	(void)state;
	sample(&o.bytes, 5, 0);
	sample(&o.bytes, 9, 0);
	sample(&o.bytes, 2, 0);
	assert_int_equal(order_note(&o), 0);
	sample(&o.bytes, 4, 0);
	sample(&o.bytes, 8, 0);
	assert_int_equal(order_note(&o), 0);
	assert_int_equal(order_split(&o, 5, &old), 0);
	order_is(&old, "2 4 5 ");
	order_free(&old);
	sample(&o.bytes, 6, 0);
	assert_int_equal(order_note(&o), 0);
	assert_int_equal(order_split(&o, 1, &old), 0);
	order_is(&old, "");
	order_free(&old);
	assert_int_equal(order_split(&o, UINT64_MAX, &old), 0);
	order_is(&old, "6 8 9 ");
	order_free(&old);
	assert_int_equal(order_split(&o, UINT64_MAX, &old), 0);
	order_is(&old, "");
	order_free(&old);
	order_free(&o);
}

static const char format[] =
    "name: odd\n"
    "ID: 190\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\n"
    "\tfield:int code;\toffset:9;\tsize:4;\tsigned:1;\n"
    "\tfield:const void * ptr;\toffset:3;\tsize:8;\tsigned:0;\n"
    "\tfield:const void *bare;\toffset:5;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
    "\tfield:__data_loc char[] name;\toffset:13;\tsize:4;\tsigned:0;\n"
    "\tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:0;\n"
    "\tfield:int wrong;\toffset:;\tsize:4;\tsigned:1;\n"
    "\tfield:int none;\toffset:4;\tsize:0;\tsigned:1;\n"
    "\tfield:int wide;\toffset:4;\tsize:99999;\tsigned:1;\n"
    "\nprint fmt: \"code=%d\", REC->code\n";

static void
test_format(void **state)
{
	static const struct {
		const char	*name;
		size_t		 off, size;
		bool		 sign, loc;
	} want[] = { { "code", 9, 4, true, false },
	    { "ptr", 3, 8, false, false }, { "bare", 5, 1, false, false },
	    { "args", 16, 48, false, false },
	    { "name", 13, 4, false, true }, { "comm", 20, 16, false, false } };
	static const char *const no[] = { "ode", "cod", "code;", "wrong",
	    "none", "wide", "long", "void", "" };
	struct tpfield f;
	uint64_t id;
	size_t i;

	(void)state;
	assert_int_equal(format_id(format, &id), 0);
	assert_int_equal(id, 190);
	assert_int_equal(format_id("name: x\n", &id), -1);
	assert_int_equal(format_id("name: x\nID: y\n", &id), -1);
	assert_int_equal(format_id("ID: 12", &id), -1);
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		assert_int_equal(format_field(format, want[i].name, &f), 0);
		assert_int_equal(f.off, want[i].off);
		assert_int_equal(f.size, want[i].size);
		assert_int_equal(f.sign, want[i].sign);
		assert_int_equal(f.loc, want[i].loc);
	}
	for (i = 0; i < sizeof no / sizeof *no; i++) {
		assert_int_equal(format_field(format, no[i], &f), -1);
		assert_int_equal(f.size, 0);
	}
}

static void
test_fields(void **state)
{
	uint8_t raw[64];
	struct tpfield f = { .off = 9, .size = 4, .sign = true };
	char s[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof raw; i++)
		raw[i] = (uint8_t)i;
	memset(raw + 9, 0xff, 4);
	assert_int_equal(field_get(&f, raw, sizeof raw, 0), UINT64_MAX);
	f.sign = false;
	assert_int_equal(field_get(&f, raw, sizeof raw, 0), UINT32_MAX);
	assert_int_equal(field_get(&f, raw, 12, 0), 0);
	assert_int_equal(field_get(&f, raw, 0, 0), 0);
	assert_int_equal(field_get(&f, raw, sizeof raw, 1), 0);
	f = (struct tpfield){ .off = 16, .size = 48 };
	for (i = 0; i < 48 / sizeof(long); i++)
		assert_int_equal(field_get(&f, raw, sizeof raw, i),
		    machine_get(machine_here(), raw + 16 + i * sizeof(long),
		    sizeof(long)));
	assert_int_equal(field_get(&f, raw, sizeof raw, i), 0);
	assert_int_equal(field_get(&f, raw, 40, 4), 0);

	put_at(raw, 5 << 16 | 8, 4);
	put_at(raw + 4, 2 << 16 | 63, 4);
	memcpy(raw + 8, "abcd", 5);
	f = (struct tpfield){ .off = 0, .size = 4, .loc = true };
	field_string(&f, raw, sizeof raw, s, sizeof s);
	assert_string_equal(s, "abcd");
	field_string(&f, raw, sizeof raw, s, 3);
	assert_string_equal(s, "ab");
	field_string(&f, raw, 12, s, sizeof s);
	assert_string_equal(s, "");
	f.off = 4;
	field_string(&f, raw, sizeof raw, s, sizeof s);
	assert_string_equal(s, "");
	f = (struct tpfield){ .off = 8, .size = 5 };
	field_string(&f, raw, sizeof raw, s, sizeof s);
	assert_string_equal(s, "abcd");
}

/*
 * Fields that are wider than their destination.
 */
static void
test_decode(void **state)
{
	uint8_t raw[256] = { 0 };
	struct perfrec r = { .raw = raw, .rawlen = sizeof raw };
	struct trace *t = calloc(1, sizeof *t);
	struct tpformat f = { 0 };

	(void)state;
	assert_non_null(t);
	put_at(raw, 9, 8);
	put_at(raw + 8, 7, sizeof(long));
	t->rec = &r;
	t->kind = TRACE_CALL;
	f.field[0] = (struct tpfield){ .off = 0, .size = 8 };
	f.field[1] = (struct tpfield){ .off = 8, .size = 48 };
	tracepoint_decode(t, &f);
	assert_int_equal(t->arg[0], 9);
	assert_int_equal(t->arg[1], 7);
	f.field[0].size = f.field[1].size = 200;
	t->name[0] = 'x';
	tracepoint_decode(t, &f);
	assert_int_equal(t->arg[1], 7);
	assert_int_equal(t->arg[TRACE_ARGS - 1], 0);
	assert_int_equal(t->name[0], 'x');
	free(t);
}

static void
test_flags(void **state)
{
	static const char text[] = "print fmt: \"%s\", (REC->gfp_flags) ? "
	    "__print_flags(REC->gfp_flags, \"|\", {( unsigned long)((( gfp_t)"
	    "(((((1UL))) << (10))|((((1UL))) << (11)))) & ~(( gfp_t)((((1UL)))"
	    " << (11)))), \"TEN\"}, {( unsigned long)0x3u, \"BOTH\"}, {1, "
	    "\"ONE\"}, {0, \"NONE\"}, {1 << 64, \"NEVER\"}, {2 << 1, \"FOUR\"}"
	    ", { 0, ((void *)0) } ) : \"none\"";
	static const char *const bad[] = { "", "__print_flags(",
	    "__print_flags(x, {", "__print_flags(x, {1, \"A", "__print_flags("
	    "x, {1", "__print_flags(x, {1 + 1, \"A\"}", "__print_flags(x, {"
	    "(a, \"A\"}", "__print_flags(x, {(1, \"A\"}", "__print_flags(x, "
	    "{1, \"ANAMETHATISLONGERTHANTHEREISROOMFOR\"}" };
	static char deep[100000];
	struct tpflags f = { 0 };
	char s[64], *cut;
	size_t i;

	(void)state;
	tpflags_parse(&f, text);
	assert_int_equal(f.n, 4);
	assert_string_equal(tpflags_string(&f, 0x407, s, sizeof s),
	    "TEN|BOTH|FOUR");
	assert_string_equal(tpflags_string(&f, 0x801, s, sizeof s),
	    "ONE|0x800");
	assert_string_equal(tpflags_string(&f, 0, s, sizeof s), "0x0");
	assert_string_equal(tpflags_string(NULL, 5, s, sizeof s), "0x5");
	assert_string_equal(tpflags_string(&f, 0x407, s, 6), "TEN|B");
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		tpflags_parse(&f, bad[i]);
		assert_int_equal(f.n, 0);
	}
	for (i = 0; i < sizeof text; i++) {
		assert_non_null(cut = strndup(text, i));
		tpflags_parse(&f, cut);
		free(cut);
	}
	for (i = 0; i < 2; i++) {
		memset(deep, "~("[i], sizeof deep - 1);
		memcpy(deep, "__print_flags({", 15);
		tpflags_parse(&f, deep);
		assert_int_equal(f.n, 0);
	}
}

static void
test_threads(void **state)
{
	struct threadset all = { 0 }, *s = &all;

	(void)state;
	assert_int_equal(threadset_owner(s, 5), 0);
	assert_int_equal(threadset_add(s, 5, 4), 0);
	assert_int_equal(threadset_owner(s, 5), 4);
	assert_int_equal(threadset_add(s, 5, 5), 0);
	assert_int_equal(threadset_add(s, 5, 4), 0);
	assert_int_equal(threadset_owner(s, 5), 5);
	/* two events, with their own IDs and times, or each other's */
	assert_true(threadset_counts(s, 5, 5, TRACE_MINOR, 1));
	assert_false(threadset_counts(s, 5, 4, TRACE_MINOR, 2));
	assert_false(threadset_counts(s, 5, 4, TRACE_MINOR, 3));
	assert_true(threadset_counts(s, 5, 5, TRACE_MINOR, 4));
	assert_false(threadset_counts(s, 5, 5, TRACE_MINOR, 4));
	assert_false(threadset_counts(s, 5, 4, TRACE_MINOR, 5));
	assert_true(threadset_counts(s, 5, 4, TRACE_MINOR, 5));
	assert_false(threadset_counts(s, 5, 4, TRACE_MINOR, 5));
	assert_true(threadset_counts(s, 5, 5, TRACE_MAJOR, 5));
	assert_true(threadset_counts(s, 5, 5, TRACE_USER, 5));
	assert_true(threadset_counts(s, 5, 5, TRACE_USER, 5));
	assert_false(threadset_counts(s, 5, 4, TRACE_USER, 5));
	assert_false(threadset_counts(s, 6, 6, TRACE_USER, 5));
	threadset_drop(s, 5);
	threadset_drop(s, 5);
	assert_int_equal(threadset_owner(s, 5), 0);
	assert_int_equal(threadset_add(s, 6, 5), 0);
	threadset_free(s);
	assert_int_equal(threadset_owner(s, 6), 0);
}

static void
test_kallsyms(void **state)
{
	static const char text[] =
	    "ffffffff81000100 T second\n"
	    "0000000000000000 A hidden\n"
	    "ffffffff81000000 T first\n"
	    "rubbish\n"
	    "ffffffffc0000000 t third\t[module]";
	char path[] = "/tmp/t_perf.XXXXXX";
	struct ksyms k = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	assert_int_equal(ksyms_load(&k, path), 0);
	unlink(path);
	assert_int_equal(k.n, 3);
	assert_null(ksyms_find(&k, 0xffffffff80ffffff));
	assert_string_equal(ksyms_find(&k, 0xffffffff81000000)->name,
	    "first");
	assert_string_equal(ksyms_find(&k, 0xffffffff810000ff)->name,
	    "first");
	assert_string_equal(ksyms_find(&k, 0xffffffff81000100)->name,
	    "second");
	assert_string_equal(ksyms_find(&k, UINT64_MAX)->name, "third");
	ksyms_free(&k);
	assert_int_equal(ksyms_load(&k, path), -1);
}

static void
maps_are(const struct vmas *l, const char *want)
{
	char got[512] = "", one[64], perm[5];
	size_t i;

	for (i = 0; i < l->n; i++) {
		vma_perms(&l->v[i], perm);
		snprintf(one, sizeof one, "%jx-%jx %s %jx %s\n",
		    (uintmax_t)l->v[i].start, (uintmax_t)l->v[i].end, perm,
		    (uintmax_t)l->v[i].off, l->v[i].name);
		strlcat(got, one, sizeof got);
	}
	assert_string_equal(got, want);
}

static void
test_vmas(void **state)
{
	static const char text[] =
	    "1000-9000 r--p 00002000 08:01 5 /a\n"
	    "9000-a000 rw-p 00000000 00:00 0 \n";
	struct vma v = { .start = 0x3000, .end = 0x5000,
	    .name = (char[]){ "b" }, .flags = VMA_READ };
	struct vmas l = { 0 }, copy = { 0 };

	(void)state;
	assert_int_equal(vmas_parse(&l, text, sizeof text - 1), 0);
	assert_int_equal(vmas_unmap(&l, 0x2000, 0x3000), 0);
	maps_are(&l, "1000-2000 r--p 2000 /a\n3000-9000 r--p 4000 /a\n"
	    "9000-a000 rw-p 0 \n");
	assert_int_equal(vmas_map(&l, &v), 0);
	maps_are(&l, "1000-2000 r--p 2000 /a\n3000-5000 r--p 0 b\n"
	    "5000-9000 r--p 6000 /a\n9000-a000 rw-p 0 \n");
	assert_int_equal(vmas_protect(&l, 0x8000, 0xa000, VMA_EXEC), 0);
	maps_are(&l, "1000-2000 r--p 2000 /a\n3000-5000 r--p 0 b\n"
	    "5000-8000 r--p 6000 /a\n8000-9000 --xp 9000 /a\n"
	    "9000-a000 --xp 0 \n");
	assert_int_equal(vmas_copy(&copy, &l), 0);
	assert_int_equal(vmas_move(&l, 0x6000, 0x1000, 0x20000, 0x2000), 0);
	assert_int_equal(vmas_unmap(&l, 0, 0x6000), 0);
	assert_int_equal(vmas_unmap(&l, 0x8000, 0x10000), 0);
	maps_are(&l, "7000-8000 r--p 8000 /a\n20000-22000 r--p 7000 /a\n");
	assert_int_equal(vmas_unmap(&l, 0, UINT64_MAX), 0);
	maps_are(&l, "");
	assert_int_equal(vmas_move(&l, 0x6000, 0x1000, 0x20000, 0x2000), 0);
	assert_int_equal(copy.n, 5);
	vmas_free(&l);
	vmas_free(&copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_vmas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
