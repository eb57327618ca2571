/*
 * ELF cores: core/write/
 */
#include "core/write/write.h"
#include "model.h"
#include "num.h"
#include "util.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, SPAN = 6 << 20, HOLE = 64 * KB };

static uint64_t
get(const uint8_t *p, size_t n)
{
	uint64_t v;

	for (v = 0; n > 0; n--)
		v = v << 8 | p[n - 1];
	return v;
}

/*
 * Check that p has n little-endian words of the given size.
 */
static void
assert_words(const uint8_t *p, const uint64_t *word, size_t n, size_t bytes)
{
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(get(p + i * bytes, bytes), word[i]);
}

/*
 * Registers that contain their own offsets: byte 8 * i is i + add.
 */
static void
rec_regs(struct buf *r, size_t len, unsigned int add)
{
	uint8_t s[512] = { 0 };
	size_t i;

	for (i = 0; i < len; i += 4)
		s[i] = (uint8_t)(i / 4 + add);
	testrec_file(r, "regset/prstatus", s, len);
}

/*
 * Add process pid with the record r.
 */
static struct proc *
rec_proc(struct buf *r, struct snap *s, uint64_t pid)
{
	struct proc *p;

	p = snap_add(s, pid);
	assert_non_null(p);
	testrec_give(r, p);
	return p;
}

static struct core *
must_core(struct snap *s, struct proc *p)
{
	struct core *c;

	if ((c = core_new(s, p)) == NULL)
		fail_msg("%s", snap_errstr());
	return c;
}

/*
 * Return all bytes of a core; the caller frees them.
 */
static uint8_t *
core_bytes(struct core *c)
{
	uint8_t *p;

	p = malloc(core_size(c) + 1);
	assert_non_null(p);
	assert_int_equal(core_pread(c, p, core_size(c) + 1, 0),
	    core_size(c));
	return p;
}

struct load {
	uint64_t	 addr, memsz, filesz, off;
	uint32_t	 flags;
};

/*
 * Return the i-th program header of a 64-bit core.
 */
static struct load
load_get(const uint8_t *core, size_t i)
{
	const uint8_t *p = core + 64 + i * 56;
	struct load l;

	assert_int_equal(get(p, 4), i == 0 ? PT_NOTE : PT_LOAD);
	l.flags = (uint32_t)get(p + 4, 4);
	l.off = get(p + 8, 8);
	l.addr = get(p + 16, 8);
	l.filesz = get(p + 32, 8);
	l.memsz = get(p + 40, 8);
	assert_int_equal(get(p + 48, 8), i == 0 ? 4 : PAGE);
	return l;
}

/*
 * Return the n-th note of a name and type, or NULL.
 */
static const uint8_t *
note_get(const uint8_t *core, const char *name, uint32_t type, int n,
    size_t *len)
{
	const uint8_t *p, *end;
	bool wide = core[EI_CLASS] == ELFCLASS64;
	size_t nlen;

	p = core + (wide ? get(core + 64 + 8, 8) : get(core + 52 + 4, 4));
	end = p + (wide ? get(core + 64 + 32, 8) : get(core + 52 + 16, 4));
	for (; p < end; p += 12 + nlen + (*len + 3) / 4 * 4) {
		nlen = (get(p, 4) + 3) / 4 * 4;
		*len = get(p + 4, 4);
		assert_true(12 + nlen + *len <= (size_t)(end - p));
		if (get(p + 8, 4) == type &&
		    strcmp((const char *)p + 12, name) == 0 && n-- == 0)
			return p + 12 + nlen;
	}
	assert_ptr_equal(p, end);
	return NULL;
}

/*
 * The state of each address in a window.
 */
struct naive {
	uint8_t		 byte[SPAN];
	bool		 captured[SPAN / KB];
	bool		 missing[SPAN / KB];
	bool		 mapped[SPAN / KB];
};

static struct naive nv;
static const uint64_t base = 0x7f1200000000;

/*
 * Random memory, mappings and missing ranges.
 */
static struct snap *
make(struct rng *r, struct proc **p)
{
	struct buf rec = { 0 };
	struct buf maps = { 0 }, miss = { 0 };
	struct memsource *m;
	struct segment *seg;
	struct snap *s;
	uint64_t at, n, k, loc, end;
	size_t i;
	bool zero;

	memset(&nv, 0, sizeof nv);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 1 \"x\"");
	m = memsource_new(s, 300, rng_percent(r, 50) ? KB : KB + 1);
	for (i = 0; i < 300; i++)
		rng_bytes(r, memsource_kb(m, i), KB);
	for (at = 0; at < SPAN; at += n) {	/* mappings */
		n = (1 + rng_below(r, rng_percent(r, 20) ? 900 : 9)) * PAGE;
		n = n < SPAN - at ? n : SPAN - at;
		if (rng_percent(r, 30))
			continue;
		buf_printf(&maps, "%jx-%jx %s 00000000 00:00 0 \n",
		    (uintmax_t)(base + at), (uintmax_t)(base + at + n),
		    rng_percent(r, 50) ? "rw-p" : "r-xs");
		for (k = at / KB; k < (at + n) / KB; k++)
			nv.mapped[k] = true;
	}
	for (at = 0; at < SPAN; at = end) {	/* missing */
		at += rng_below(r, 400) * PAGE;
		end = at + (1 + rng_below(r, 5)) * PAGE;
		if (end > SPAN)
			break;
		buf_printf(&miss, "%jx-%jx file\n", (uintmax_t)(base + at),
		    (uintmax_t)(base + end));
		for (k = at / KB; k < end / KB; k++)
			nv.missing[k] = true;
	}
	rec_regs(&rec, 216, 1);
	testrec_file(&rec, "maps", maps.data, maps.len);
	testrec_file(&rec, "missing", miss.data, miss.len);
	buf_free(&maps);
	buf_free(&miss);
	*p = rec_proc(&rec, s, 7);
	if ((*p)->mem == NULL)
		(*p)->mem = image_new(*p, IMAGE_MEM);
	for (at = rng_below(r, 40) * KB; at < SPAN; at += n) {
		n = (1 + rng_below(r, rng_percent(r, 20) ? 300 : 40)) * KB;
		n = n < SPAN - at ? n : SPAN - at;
		seg = segment_new(base + at, n);
		for (k = 0; k < n / KB; k += i) {
			i = 1 + rng_below(r, 100);
			i = i < n / KB - k ? i : n / KB - k;
			zero = rng_percent(r, 60);
			loc = rng_below(r, 200);
			segment_append(seg, i, zero ? NULL : &m->src,
			    loc * m->src.pitch);
			for (end = 0; end < i; end++) {
				nv.captured[at / KB + k + end] = true;
				if (!zero)
					memcpy(nv.byte + at + (k + end) * KB,
					    memsource_kb(m, loc + end), KB);
			}
		}
		assert_int_equal(image_insert((*p)->mem, seg), 0);
		n += rng_below(r, rng_percent(r, 10) ? 2000 : 30) * KB;
	}
	for (i = 0; i < (*p)->mem->nmissing; i++)
		assert_int_equal(image_punch((*p)->mem,
		    (*p)->mem->missing[i].start, (*p)->mem->missing[i].end),
		    0);
	return s;
}

/*
 * Each mapped kilobyte is in one segment. If it was captured it is in the file;
 * if it is missing it is not.
 */
static void
check_loads(const uint8_t *core)
{
	struct load l;
	uint64_t at, k, prev;
	size_t i, n;

	n = get(core + 56, 2);
	prev = 0;
	for (i = 1; i < n; i++) {
		l = load_get(core, i);
		assert_true(l.memsz > 0);
		assert_true(l.filesz <= l.memsz);
		assert_int_equal(l.off % PAGE, l.filesz > 0 ? l.addr % PAGE :
		    0);
		for (at = prev; at < l.addr - base; at += KB)
			assert_false(nv.mapped[at / KB]);
		prev = l.addr - base + l.memsz;
		for (at = 0; at < l.memsz; at += KB) {
			k = (l.addr - base + at) / KB;
			assert_true(nv.mapped[k]);
			if (at >= l.filesz) {
				assert_true(!nv.captured[k] || nv.missing[k]);
				/* the tail of a file part is zero */
				assert_false(l.filesz > 0 && nv.missing[k]);
				continue;
			}
			assert_false(nv.missing[k]);
			assert_memory_equal(core + l.off + at,
			    nv.byte + k * KB, KB);
		}
	}
	for (at = prev; at < SPAN; at += KB)
		assert_false(nv.mapped[at / KB]);
}

/*
 * Reads of any size at any offset return the same bytes as one read of all.
 */
static void
check_reads(struct rng *r, struct core *c, const uint8_t *all)
{
	enum { MOST = 300000 };
	uint64_t off, size;
	uint8_t *got;
	size_t len, i;
	ssize_t n;

	got = malloc(MOST);
	assert_non_null(got);
	size = core_size(c);
	for (i = 0; i < 200; i++) {
		off = rng_below(r, size + 10);
		len = rng_below(r, rng_percent(r, 80) ? 9000 : MOST);
		n = core_pread(c, got, len, off);
		assert_int_equal(n, off >= size ? 0 : len < size - off ? len :
		    size - off);
		if (n > 0)
			assert_memory_equal(got, all + off, n);
	}
	assert_int_equal(core_pread(c, got, 1, UINT64_MAX), 0);
	free(got);
}

static void
check_holes(struct core *c, const uint8_t *all)
{
	uint64_t size, at, zeros;
	int64_t data, hole;

	size = core_size(c);
	zeros = 0;
	for (at = 0; at < size; at = (uint64_t)hole) {
		assert_true((data = core_seek(c, at, SEEK_DATA)) >=
		    (int64_t)at || data == -1);
		if (data == -1)
			data = (int64_t)size;
		assert_true(data == (int64_t)at ||
		    data - (int64_t)at >= HOLE);
		for (; at < (uint64_t)data; at++)
			assert_int_equal(all[at], 0);
		if (at == size)
			break;
		hole = core_seek(c, at, SEEK_HOLE);
		assert_true(hole > data);
		assert_int_equal(core_seek(c, (uint64_t)hole - 1, SEEK_DATA),
		    hole - 1);
		assert_true((uint64_t)hole == size || hole % PAGE == 0);
		/* data has no long run of zeros */
		for (at = (uint64_t)data, zeros = 0; at < (uint64_t)hole;
		    at++) {
			zeros = all[at] == 0 ? zeros + 1 : 0;
			assert_true(zeros < HOLE + 2 * PAGE);
		}
	}
	assert_int_equal(core_seek(c, size, SEEK_DATA), -1);
	assert_int_equal(core_seek(c, size, SEEK_HOLE), -1);
	assert_int_equal(core_seek(c, UINT64_MAX, SEEK_HOLE), -1);
}

struct job {
	struct core	*c;
	const uint8_t	*all;
	uint64_t	 seed;
};

static void *
read_job(void *arg)
{
	struct job *j = arg;
	struct rng r = { j->seed };

	check_reads(&r, j->c, j->all);
	return NULL;
}

static void
test_memory(void **state)
{
	struct job job[4];
	pthread_t t[4];
	struct snap *s;
	struct proc *p;
	struct core *c;
	struct rng r;
	uint8_t *all;
	int i, k;

	(void)state;
	rng_init(&r, "memory", 90);
	for (i = 0; i < 60; i++) {
		s = make(&r, &p);
		c = must_core(s, p);
		all = core_bytes(c);
		assert_memory_equal(all, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0"
		    "\4\0\76\0\1\0\0\0", 24);
		check_loads(all);
		check_reads(&r, c, all);
		check_holes(c, all);
		for (k = 0; k < 4; k++) {	/* several at once */
			job[k] = (struct job){ c, all, rng_next(&r) };
			assert_int_equal(pthread_create(&t[k], NULL, read_job,
			    &job[k]), 0);
		}
		for (k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
		free(all);
		core_free(c);
		snap_free(s);
	}
}

/*
 * A process with registers and maps.
 */
static struct proc *
small(struct snap *s, uint64_t pid, const char *maps, size_t regs)
{
	struct buf rec = { 0 };

	rec_regs(&rec, regs, 1);
	testrec_text(&rec, "maps", maps);
	return rec_proc(&rec, s, pid);
}

/*
 * Gaps: one of less than 1 MiB is written to the file, one of 1 MiB is not.
 * Gaps at the start and the end of a mapping are not written, nor is memory
 * outside mappings.
 */
static void
test_gaps(void **state)
{
	static const struct load want[] = {
		{ 0x10000, 0x1000, 0, 0x1000, PF_R },
		{ 0x11000, 0x101000, 0x101000, 0x1000, PF_R },
		{ 0x112000, 0x100000, 0, 0x102000, PF_R },
		{ 0x212000, 0x3000, 0x1000, 0x102000, PF_R },
		{ 0x300000, 0x1000, 0, 0x103000, PF_R | PF_W },
		{ 0xffffffffff600000, 0x1000, 0, 0x103000, PF_X },
	};
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct core *c;
	struct load l;
	uint8_t *all;
	size_t i;

	(void)state;
	s = snap_new();
	m = memsource_new(s, 100, KB);
	p = small(s, 7, "00010000-00215000 r--p 00000000 00:00 0 \n"
	    "00300000-00301000 rw-p 00000000 00:00 0 \n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  "
	    "[vsyscall]\n", 216);
	segment_add(p, IMAGE_MEM, 0x11000, PAGE, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x111000, PAGE, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x212000, PAGE, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x250000, PAGE, &m->src, 0);
	segment_add(p, IMAGE_MEM, -(uint64_t)PAGE, PAGE, &m->src, 0);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_int_equal(get(all + 56, 2), 7);
	for (i = 0; i < 6; i++) {
		l = load_get(all, i + 1);
		assert_int_equal(l.addr, want[i].addr);
		assert_int_equal(l.memsz, want[i].memsz);
		assert_int_equal(l.filesz, want[i].filesz);
		assert_int_equal(l.off, want[i].off);
		assert_int_equal(l.flags, want[i].flags);
	}
	assert_int_equal(core_size(c), 0x103000);
	/* 0x2000 to 0x101000 is the hole */
	assert_int_equal(core_seek(c, 0, SEEK_HOLE), 0x2000);
	assert_int_equal(core_seek(c, 0x2000, SEEK_DATA), 0x101000);
	assert_int_equal(core_seek(c, 0x101000, SEEK_HOLE), 0x103000);
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * Pages that cannot be read are an error, not zeros.
 */
static void
test_lost(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t b[PAGE];

	(void)state;
	s = snap_new();
	m = memsource_new(s, 100, KB);
	m->lost[2] = true;
	p = small(s, 7, "00010000-00020000 r--p 00000000 00:00 0 \n", 216);
	segment_add(p, IMAGE_MEM, 0x10000, PAGE, &m->src, 0);
	c = must_core(s, p);
	assert_int_equal(core_size(c), 0x2000);
	assert_int_equal(core_pread(c, b, 2 * KB, 0x1000), 2 * KB);
	assert_int_equal(core_pread(c, b, PAGE, 0x1000), -1);
	assert_contains(snap_errstr(), "kilobyte 2 is lost");
	core_free(c);
	snap_free(s);
}

/*
 * Just below and at the number of segments that needs PN_XNUM.
 */
static void
test_many(void **state)
{
	struct buf maps = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	struct load l;
	size_t i, n;

	(void)state;
	for (n = PN_XNUM - 2; n <= PN_XNUM; n++) {
		maps.len = 0;
		for (i = 1; i <= n; i++)
			buf_printf(&maps, "%zx-%zx rw-p 00000000 00:00 0 \n",
			    i * 2 * PAGE, (i * 2 + 1) * PAGE);
		buf_add(&maps, "", 1);
		s = snap_new();
		m = memsource_new(s, 8, KB);
		memset(memsource_kb(m, 0), 'x', PAGE);
		p = small(s, 7, (char *)maps.data, 216);
		segment_add(p, IMAGE_MEM, n * 2 * PAGE, PAGE, &m->src, 0);
		c = must_core(s, p);
		all = core_bytes(c);
		assert_int_equal(get(all + 56, 2), n + 1 < PN_XNUM ? n + 1 :
		    PN_XNUM);
		if (n + 1 >= PN_XNUM) {
			assert_int_equal(get(all + 40, 8), 64 + (n + 1) * 56);
			assert_int_equal(get(all + 58, 2), 64);
			assert_int_equal(get(all + 60, 2), 1);
			assert_int_equal(get(all + 64 + (n + 1) * 56 + 44, 4),
			    n + 1);
			assert_int_equal(get(all + 64 + (n + 1) * 56 + 32, 8),
			    1);
		} else
			assert_int_equal(get(all + 40, 8), 0);
		l = load_get(all, n);
		assert_int_equal(l.addr, n * 2 * PAGE);
		assert_int_equal(l.filesz, PAGE);
		assert_int_equal(all[l.off], 'x');
		assert_int_equal(core_size(c), l.off + PAGE);
		free(all);
		core_free(c);
		snap_free(s);
	}
	buf_free(&maps);
}

/*
 * Invalid mappings, and registers of a wrong size.
 */
static void
test_hostile(void **state)
{
	static const struct {
		const char *maps;
		size_t regs;
		const char *why;
	} bad[] = {
		{ "1000-3000 r--p 0 0:0 0 \n2000-4000 r--p 0 0:0 0 \n", 216,
		    "overlaps" },
		{ "0-100001000 r--p 0 0:0 0 \n", 68, "32-bit" },
		{ "fffff000-100000001 r--p 0 0:0 0 \n", 68, "32-bit" },
		{ "3000-1000 r--p 0 0:0 0 \n", 216, "cannot parse" },
		{ "1000-2000 r--p 0 0:0 0 \n", 100, "100 bytes of registers "
		    "from amd64" },
		{ "1000-2000 r--p 0 0:0 0 \n", 72, "72 bytes of registers "
		    "from amd64" },
	};
	static const char *const odd[] = { "",
		"0-ffffffffffffffff rwxp 0 0:0 0 \n",
		"1-2 rwxp 0 0:0 0 \n3-1005 rwxp 0 0:0 0 \n",
		"fffffffffffffff0-ffffffffffffffff rwxp 0 0:0 0 \n" };
	struct memsource *m;
	struct snap *s;
	struct core *c;
	struct proc *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		s = snap_new();
		p = small(s, 7, bad[i].maps, bad[i].regs);
		assert_null(core_new(s, p));
		assert_contains(snap_errstr(), "process 7: ");
		assert_contains(snap_errstr(), bad[i].why);
		snap_free(s);
	}
	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		s = snap_new();
		m = memsource_new(s, 8, KB);
		p = small(s, 7, odd[i], 216);
		segment_add(p, IMAGE_MEM, 0, 3 * KB, &m->src, 0);
		segment_add(p, IMAGE_MEM, -(uint64_t)PAGE, PAGE, &m->src, 0);
		c = must_core(s, p);
		assert_true(core_size(c) < 100 * KB);
		free(core_bytes(c));
		core_free(c);
		snap_free(s);
	}
}

/*
 * The notes of a process of two threads.
 */
static void
test_notes(void **state)
{
	static const char maps[] =
	    "00010000-00011000 r--p 00003000 08:01 5   /a\\012b (deleted)\n"
	    "00012000-00013000 r--p 00000000 00:00 0   [heap]\n"
	    "00014000-00016000 r--p 00000000 00:01 0   /dev/zero\n";
	static const uint64_t file[] = { 2, 4096, 0x10000, 0x11000, 3,
	    0x14000, 0x16000, 0 };
	uint8_t info[128] = { 11, 0, 0, 0, 0, 0, 0, 0, 1 }, mask[8] = { 4 },
	    fp[512] = { 7 }, x[832] = { 8 };
	const uint8_t *n;
	struct buf rec = { 0 };
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t len;
	char args[100];
	int fatal;

	(void)state;
	memset(args, 'y', sizeof args);
	memcpy(args, "prog\0-x", 8);
	for (fatal = 0; fatal < 2; fatal++) {
		s = snap_new();
		rec_regs(&rec, 216, 1);
		testrec_text(&rec, "stat", "7 (a) b) T 3 4 5 0 -1 4194304 1 2 "
		    "3 4 123 456 789 50 20 -5 2 0");
		testrec_text(&rec, "status", "Name:\tx\nUid:\t8\t9\t9\t9\n"
		    "Gid:\t10\t9\nSigPnd:\t0000000000000021\n"
		    "SigBlk:\t0000000000000042\n");
		testrec_text(&rec, "comm", "a) b\n");
		testrec_file(&rec, "cmdline", args, sizeof args);
		testrec_file(&rec, "auxv", "sixteen bytes ..", 16);
		testrec_text(&rec, "maps", maps);
		info[9] = 0;
		info[8] = 5;		/* si_code of the snapshot's stop */
		info[9] = 0x80;
		info[0] = 5;
		testrec_file(&rec, "siginfo", info, sizeof info);
		p = rec_proc(&rec, s, 7);
		testrec_text(&rec, "thread", "7\n");
		rec_regs(&rec, 216, 100);
		testrec_file(&rec, "regset/fpregs", fp, sizeof fp);
		testrec_file(&rec, "regset/xstate", x, sizeof x);
		testrec_file(&rec, "sigmask", mask, sizeof mask);
		info[8] = 1;
		info[9] = 0;
		info[0] = 11;
		if (fatal)
			testrec_file(&rec, "siginfo", info, sizeof info);
		rec_proc(&rec, s, 9);
		testrec_text(&rec, "thread", "7\n");	/* without registers */
		rec_proc(&rec, s, 10);
		testrec_text(&rec, "thread", "7\n");
		testrec_text(&rec, "stat", "11 (z) Z 3 4 5");
		rec_proc(&rec, s, 11);
		testrec_text(&rec, "thread", "8\n");	/* process 8 */
		rec_regs(&rec, 216, 200);
		rec_proc(&rec, s, 12);

		c = must_core(s, p);
		assert_int_equal(core_left(c), 1);
		all = core_bytes(c);
		n = note_get(all, "CORE", NT_PRSTATUS, fatal ? 1 : 0, &len);
		assert_int_equal(len, 336);
		assert_int_equal(get(n + 12, 2), fatal ? 11 : 0);
		assert_int_equal(get(n + 16, 8), 0x21);
		assert_int_equal(get(n + 24, 8), 0x42);
		assert_int_equal(get(n + 32, 4), 7);
		assert_int_equal(get(n + 36, 4), 3);
		assert_int_equal(get(n + 40, 4), 4);
		assert_int_equal(get(n + 44, 4), 5);
		assert_int_equal(get(n + 48, 8), 1);
		assert_int_equal(get(n + 56, 8), 230000);
		assert_int_equal(get(n + 64, 8), 4);
		assert_int_equal(get(n + 88, 8), 890000);
		assert_int_equal(get(n + 96, 8), 0);
		assert_int_equal(get(n + 104, 8), 500000);
		assert_int_equal(get(n + 112, 1), 1);
		assert_int_equal(get(n + 112 + 212, 1), 54);
		assert_int_equal(get(n + 328, 4), 0);
		n = note_get(all, "CORE", NT_PRSTATUS, fatal ? 0 : 1, &len);
		assert_int_equal(get(n + 32, 4), 9);
		assert_int_equal(get(n + 112, 1), 100);
		assert_int_equal(get(n + 24, 8), 4);
		assert_int_equal(get(n + 328, 4), 1);
		assert_null(note_get(all, "CORE", NT_PRSTATUS, 2, &len));
		n = note_get(all, "CORE", NT_PRPSINFO, 0, &len);
		assert_int_equal(len, 136);
		assert_memory_equal(n, "\3T\0\373\0\0\0\0\0\0\100\0\0\0\0\0"
		    "\10\0\0\0\12\0\0\0\7\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0"
		    "a) b\0\0\0\0\0\0\0\0\0\0\0\0prog -x ", 64);
		assert_int_equal(get(n + 134, 2), 'y');
		n = note_get(all, "CORE", NT_SIGINFO, 0, &len);
		if (fatal) {
			assert_int_equal(len, 128);
			assert_int_equal(get(n, 4), 11);
		} else
			assert_null(n);
		n = note_get(all, "CORE", NT_AUXV, 0, &len);
		assert_int_equal(len, 16);
		assert_memory_equal(n, "sixteen bytes ..", 16);
		n = note_get(all, "CORE", NT_FILE, 0, &len);
		assert_int_equal(len, sizeof file + 15 + 10);
		assert_words(n, file, 8, 8);
		assert_memory_equal(n + sizeof file,
		    "/a\nb (deleted)\0/dev/zero", 25);
		n = note_get(all, "CORE", NT_PRFPREG, 0, &len);
		assert_int_equal(len, 512);
		assert_memory_equal(n, fp, len);
		n = note_get(all, "LINUX", NT_X86_XSTATE, 0, &len);
		assert_int_equal(len, 832);
		assert_memory_equal(n, x, len);
		free(all);
		core_free(c);
		snap_free(s);
	}
}

/*
 * Without tiles in use, they are left out of the XSAVE area. They are kept if
 * XCR0 has an unknown feature, which may be stored after them.
 */
static void
test_tiles(void **state)
{
	enum { XCR0 = 464, XSTATE_BV = 512, WITH = 11008, WITHOUT = 2696 };
	static const struct {
		uint64_t	 features;
		uint64_t	 used;
		size_t		 len;
	} want[] = {
		{ 0x602e7, 0x2e7, WITHOUT },
		{ 0x602e7, 0x402e7, WITH },
		{ 0x202e7, 0x202e7, WITH },
		{ 0x2e7, 0x2e7, WITH },
		{ 0x8602e7, 0x2e7, WITH },
	};
	uint8_t x[WITH];
	const uint8_t *n;
	struct buf rec = { 0 };
	struct snap *s;
	struct core *c;
	uint8_t *all;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		memset(x, 0x55, sizeof x);
		num_put(x + XCR0, want[i].features, 8);
		num_put(x + XSTATE_BV, want[i].used, 8);
		s = snap_new();
		rec_regs(&rec, 216, 1);
		testrec_file(&rec, "regset/xstate", x, sizeof x);
		c = must_core(s, rec_proc(&rec, s, 7));
		all = core_bytes(c);
		n = note_get(all, "LINUX", NT_X86_XSTATE, 0, &len);
		assert_int_equal(len, want[i].len);
		if (len == WITHOUT)
			num_put(x + XCR0, 0x2e7, 8);
		assert_memory_equal(n, x, len);
		free(all);
		core_free(c);
		snap_free(s);
	}
}

/*
 * Missing memory of a read-only file mapping has no segment; NT_FILE lists it.
 * Other missing memory has a segment.
 */
static void
test_bare(void **state)
{
	static const uint64_t addr[] = { 0x11000, 0x20000, 0x30000, 0x40000 };
	struct memsource *m;
	struct buf rec = { 0 };
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t i, len;

	(void)state;
	s = snap_new();
	m = memsource_new(s, 100, KB);
	rec_regs(&rec, 216, 1);
	testrec_text(&rec, "maps",
	    "00010000-00013000 r--p 00000000 08:01 5 /a\n"
	    "00018000-00019000 r--p 00000000 08:01 6 /b\n"
	    "00020000-00021000 rw-p 00000000 08:01 5 /a\n"
	    "00030000-00031000 r--s 00000000 08:01 5 /a\n"
	    "00040000-00041000 r--p 00000000 00:00 0 [vvar]\n");
	testrec_text(&rec, "missing", "00010000-00011000 file\n"
	    "00012000-00050000 file\n");
	p = rec_proc(&rec, s, 7);
	segment_add(p, IMAGE_MEM, 0x11000, PAGE, &m->src, 0);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_int_equal(get(all + 56, 2), 5);
	for (i = 0; i < sizeof addr / sizeof *addr; i++) {
		assert_int_equal(load_get(all, i + 1).addr, addr[i]);
		assert_int_equal(load_get(all, i + 1).memsz, PAGE);
		assert_int_equal(load_get(all, i + 1).filesz,
		    i == 0 ? PAGE : 0);
	}
	assert_int_equal(get(note_get(all, "CORE", NT_FILE, 0, &len), 8), 4);
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * IDs of a process in its pid namespace. The process was renumbered by a merge
 * and is in many groups.
 */
static void
test_inside(void **state)
{
	static const struct {
		const char	*status, *nsppid;
		uint32_t	 want[4];
	} v[] = {
		{ "", NULL, { 70, 60, 50, 40 } },
		{ "NSpid:\t70\nNSpgid:\t50\nNSsid:\t40\n", NULL,
		    { 70, 60, 50, 40 } },
		{ "NSpid:\t70\t9\t8\nNSpgid:\t50\t7\t6\nNSsid:\t40\t0\t0\n",
		    "4\n", { 8, 4, 6, 0 } },
		{ "NSpid:\t70\t1\n", NULL, { 1, 0, 50, 40 } },
		{ "NSpid:", "x", { 70, 60, 50, 40 } },
	};
	struct buf rec = { 0 };
	struct buf status = { 0 };
	const uint8_t *n;
	struct snap *s;
	struct core *c;
	uint8_t *all;
	size_t i, k, len;

	(void)state;
	for (i = 0; i < sizeof v / sizeof *v; i++) {
		s = snap_new();
		rec_regs(&rec, 216, 1);
		testrec_text(&rec, "stat", "70 (a) T 60 50 40 0 -1 0");
		buf_puts(&status, "Groups:\t");
		for (k = 0; k < 65536; k++)
			buf_puts(&status, "100000 ");
		buf_puts(&status, "\n");
		buf_puts(&status, v[i].status);
		testrec_file(&rec, "status", status.data, status.len);
		buf_free(&status);
		if (v[i].nsppid != NULL)
			testrec_text(&rec, "nsppid", v[i].nsppid);
		c = must_core(s, rec_proc(&rec, s, 4194306));
		all = core_bytes(c);
		for (k = 0; k < 4; k++) {
			n = note_get(all, "CORE", NT_PRSTATUS, 0, &len);
			assert_int_equal(get(n + 32 + 4 * k, 4), v[i].want[k]);
			n = note_get(all, "CORE", NT_PRPSINFO, 0, &len);
			assert_int_equal(get(n + 24 + 4 * k, 4), v[i].want[k]);
		}
		free(all);
		core_free(c);
		snap_free(s);
	}
}

/*
 * 32-bit layouts.
 */
static void
test_386(void **state)
{
	static const char maps[] =
	    "08048000-08049000 r-xp 00001000 08:01 5   /a\n";
	static const uint64_t file[] = { 1, 4096, 0x8048000, 0x8049000, 1 };
	uint8_t fp[108] = { 7 }, x[832] = { 8 };
	struct buf rec = { 0 };
	struct memsource *m;
	const uint8_t *n;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t len;

	(void)state;
	x[464] = 7;
	s = snap_new();
	m = memsource_new(s, 4, KB);
	memset(memsource_kb(m, 0), 'x', PAGE);
	rec_regs(&rec, 68, 1);
	testrec_file(&rec, "regset/fpregs", fp, sizeof fp);
	testrec_file(&rec, "regset/xstate", x, sizeof x);
	testrec_text(&rec, "maps", maps);
	testrec_text(&rec, "comm", "sixteen-or-more-bytes\n");
	testrec_text(&rec, "stat", "7 (a) S 3 4 5 0 -1 64 1 2 3 4 123 456 "
	    "789 50");
	p = rec_proc(&rec, s, 7);
	segment_add(p, IMAGE_MEM, 0x8048000, PAGE, &m->src, 0);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_memory_equal(all, "\177ELF\1\1\1", 7);
	assert_int_equal(get(all + 18, 2), EM_386);
	assert_int_equal(get(all + 28, 4), 52);
	assert_int_equal(get(all + 44, 2), 2);
	assert_memory_equal(all + 52 + 32, "\1\0\0\0\0\20\0\0\0\200\4\10"
	    "\0\0\0\0\0\20\0\0\0\20\0\0\5\0\0\0\0\20\0\0", 32);
	assert_int_equal(all[0x1000], 'x');
	n = note_get(all, "CORE", NT_PRSTATUS, 0, &len);
	assert_int_equal(len, 144);
	assert_int_equal(get(n + 24, 4), 7);
	assert_int_equal(get(n + 28, 4), 3);
	assert_int_equal(get(n + 40, 4), 1);
	assert_int_equal(get(n + 44, 4), 230000);
	assert_int_equal(get(n + 72, 4), 1);
	assert_int_equal(get(n + 72 + 64, 4), 17);
	assert_int_equal(get(n + 140, 4), 1);
	n = note_get(all, "CORE", NT_PRPSINFO, 0, &len);
	assert_int_equal(len, 124);
	assert_int_equal(get(n + 4, 4), 64);
	assert_int_equal(get(n + 12, 4), 7);
	assert_memory_equal(n + 28, "sixteen-or-more", 16);
	n = note_get(all, "CORE", NT_FILE, 0, &len);
	assert_int_equal(len, 5 * 4 + 3);
	assert_words(n, file, 5, 4);
	n = note_get(all, "LINUX", NT_PRXFPREG, 0, &len);
	assert_int_equal(len, 512);
	assert_int_equal(n[0], 8);
	assert_int_equal(n[464], 0);
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * A thread that runs 32-bit code in a 64-bit process has amd64 registers.
 */
static void
test_mixed(void **state)
{
	static const uint8_t want[27] = { 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 7, 2,
	    3, 4, 5, 12, 13, 14, 15, 16, 17, 0, 0, 8, 9, 10, 11 };
	struct buf rec = { 0 };
	const uint8_t *n;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t i, len;

	(void)state;
	s = snap_new();
	rec_regs(&rec, 68, 1);
	p = rec_proc(&rec, s, 7);
	testrec_text(&rec, "thread", "7\n");
	rec_regs(&rec, 216, 100);
	rec_proc(&rec, s, 8);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_int_equal(get(all + 18, 2), EM_X86_64);
	n = note_get(all, "CORE", NT_PRSTATUS, 0, &len);
	assert_int_equal(len, 336);
	for (i = 0; i < 27; i++)
		assert_int_equal(get(n + 112 + i * 8, 8), want[i]);
	n = note_get(all, "CORE", NT_PRSTATUS, 1, &len);
	assert_int_equal(get(n + 112, 8), 100 | 101ULL << 32);
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * The length of Plan 9's floating-point registers determines their format.
 */
static void
test_fplengths(void **state)
{
	static const struct {
		const char *type;
		size_t ureg, len;
		size_t fp, xfp;	/* bytes of NT_PRFPREG and NT_PRXFPREG */
	} t[] = {
		{ "386", 76, 108, 108, 0 }, { "386", 76, 512, 0, 512 },
		{ "386", 76, 532, 0, 512 }, { "386", 76, 520, 0, 0 },
		{ "amd64", 184, 512, 512, 0 }, { "amd64", 184, 108, 0, 0 },
		{ "amd64", 184, 532, 0, 0 }, { "arm64", 280, 520, 528, 0 },
		{ "arm64", 280, 512, 0, 0 }
	};
	uint8_t ureg[280] = { 0 }, fp[532];
	const uint8_t *n;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	char header[64];
	size_t i, len;

	(void)state;
	memset(fp, 5, sizeof fp);
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		s = snap_new();
		snprintf(header, sizeof header, "process snapshot 1 a@b %s 2 "
		    "\"x\"", t[i].type);
		s->header = strdup(header);
		p = snap_add(s, 7);
		file_set(p, "regs", ureg, t[i].ureg);
		file_set(p, "fpregs", fp, t[i].len);
		c = must_core(s, p);
		all = core_bytes(c);
		n = note_get(all, "CORE", NT_PRFPREG, 0, &len);
		assert_int_equal(n == NULL ? 0 : len, t[i].fp);
		n = note_get(all, "LINUX", NT_PRXFPREG, 0, &len);
		assert_int_equal(n == NULL ? 0 : len, t[i].xfp);
		free(all);
		core_free(c);
		snap_free(s);
	}
}

/*
 * Plan 9's registers in Linux's order: the place of byte i of a Ureg.
 */
static void
test_plan9(void **state)
{
	static const struct {
		const char *type;
		size_t ureg, regs, at;
		int machine, n;
		uint8_t want[27];	/* which word of the Ureg */
	} t[] = {
		{ "amd64", 184, 216, 112, EM_X86_64, 27,
		    { 14, 13, 12, 11, 6, 1, 10, 9, 8, 7, 0, 2, 3, 4, 5, 255,
		    18, 19, 20, 21, 22, 254, 254, 15, 215, 115, 65 } },
		{ "386", 76, 68, 72, EM_386, 17,
		    { 4, 6, 5, 1, 0, 2, 7, 11, 10, 9, 8, 255, 14, 15, 16, 17,
		    18 } },
		{ "arm", 72, 72, 72, EM_ARM, 18,
		    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17,
		    16, 255 } },
	};
	uint8_t ureg[280];
	const uint8_t *n;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t i, k, len, w;
	char *header;
	int round;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++)
		for (round = 0; round < 2; round++) {
			w = i == 0 ? 8 : 4;
			s = snap_new();
			assert_true(asprintf(&header, "process snapshot 1 "
			    "a@b %s 2 \"x\"", round == 0 ? t[i].type :
			    "terminal") > 0);
			s->header = header;
			p = snap_add(s, 7);
			for (k = 0; k < sizeof ureg; k++)
				ureg[k] = (uint8_t)(k % w == 0 ? k / w : 0);
			if (i == 0) {
				ureg[122] = 215;	/* es, fs, gs */
				ureg[124] = 115;
				ureg[126] = 65;
			}
			file_set(p, "regs", ureg, t[i].ureg);
			c = must_core(s, p);
			all = core_bytes(c);
			assert_int_equal(get(all + 18, 2), t[i].machine);
			n = note_get(all, "CORE", NT_PRSTATUS, 0, &len);
			for (k = 0; k < (size_t)t[i].n; k++)
				assert_int_equal(get(n + t[i].at + k * w, w),
				    t[i].want[k] == 255 ? UINT64_MAX >>
				    (64 - 8 * w) : t[i].want[k] == 254 ? 0 :
				    t[i].want[k]);
			free(all);
			core_free(c);
			snap_free(s);
		}
}

/*
 * Floating point and arm64.
 */
static void
test_plan9fp(void **state)
{
	uint8_t ureg[280], fp[832];
	const uint8_t *n;
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof fp; i++)
		fp[i] = (uint8_t)(i * 7 % 251);
	memcpy(ureg, fp, sizeof ureg);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b arm64 2 \"x\"");
	p = snap_add(s, 7);
	file_set(p, "regs", ureg, 280);
	file_set(p, "fpregs", fp, 520);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_int_equal(get(all + 18, 2), EM_AARCH64);
	n = note_get(all, "CORE", NT_PRSTATUS, 0, &len);
	assert_int_equal(len, 392);
	assert_memory_equal(n + 112, ureg, 272);
	n = note_get(all, "CORE", NT_PRFPREG, 0, &len);
	assert_int_equal(len, 528);
	assert_memory_equal(n, fp, 512);
	assert_memory_equal(n + 512, fp + 516, 4);
	assert_memory_equal(n + 516, fp + 512, 4);
	assert_int_equal(get(n + 520, 8), 0);
	free(all);
	core_free(c);
	snap_free(s);

	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"x\"");
	p = snap_add(s, 7);
	file_set(p, "regs", ureg, 184);
	file_set(p, "fpregs", fp, 832);
	file_set(p, "segment", "Text   R  1000 2000    1\n"
	    "Data      2400 3000    1\n", 50);
	segment_add(p, IMAGE_MEM, 0x2400, 0xc00, NULL, 0);
	c = must_core(s, p);
	all = core_bytes(c);
	n = note_get(all, "CORE", NT_PRFPREG, 0, &len);
	assert_memory_equal(n, fp, 512);
	n = note_get(all, "LINUX", NT_X86_XSTATE, 0, &len);
	assert_int_equal(len, 832);
	assert_memory_equal(n, fp, 464);
	assert_int_equal(get(n + 464, 8), 7);
	assert_memory_equal(n + 472, fp + 472, 360);
	assert_int_equal(get(all + 56, 2), 3);
	assert_int_equal(get(all + 64 + 56 + 4, 4), PF_R | PF_X);
	assert_int_equal(get(all + 64 + 112 + 8, 8) % PAGE, 0x400);
	assert_int_equal(get(all + 64 + 112 + 32, 8), 0xc00);
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * A core needs registers in a known format.
 */
static void
test_none(void **state)
{
	uint8_t ureg[160] = { 0 };
	struct buf rec = { 0 };
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b mips 2 \"x\"");
	p = snap_add(s, 7);
	assert_null(core_new(s, p));
	assert_string_equal(snap_errstr(),
	    "process 7: no registers in the snapshot");
	file_set(p, "regs", ureg, sizeof ureg);
	assert_null(core_new(s, p));
	assert_contains(snap_errstr(), "160 bytes of registers from mips");
	file_set(p, "regs", ureg, 76);	/* the size of a 386 Ureg */
	assert_null(core_new(s, p));
	assert_contains(snap_errstr(), "76 bytes of registers from mips");
	testrec_text(&rec, "stat", "8 (a) Z 1 2 3");
	p = rec_proc(&rec, s, 8);
	assert_null(core_new(s, p));
	assert_string_equal(snap_errstr(),
	    "process 8: no registers: it is a zombie");
	testrec_text(&rec, "status", "Name:\ta\nTracerPid:\t55\n");
	p = rec_proc(&rec, s, 9);
	assert_null(core_new(s, p));
	assert_string_equal(snap_errstr(),
	    "process 9: no registers: it was traced by 55");
	snap_free(s);
	core_free(NULL);
}

/*
 * Each register set is written once, whatever its size. No set becomes a note
 * of another type.
 */
static void
test_sets(void **state)
{
	enum { LARGE = 2048 * KB };
	static uint8_t x[832], large[LARGE];
	struct buf rec = { 0 };
	struct snap *s;
	struct proc *p;
	struct core *c;
	uint8_t *all;
	size_t len;

	(void)state;
	x[464] = 7;
	s = snap_new();
	rec_regs(&rec, 216, 1);
	testrec_file(&rec, "regset/xstate", x, sizeof x);
	testrec_text(&rec, "regset/202", "second");
	testrec_text(&rec, "regset/401", "thread");
	testrec_text(&rec, "regset/0401", "again!");
	testrec_file(&rec, "regset/40c", large, sizeof large);
	testrec_text(&rec, "regset/46494c45", "no files");
	testrec_text(&rec, "regset/1", "none");
	testrec_text(&rec, "regset/fff", "the last");
	testrec_text(&rec, "regset/1000", "beyond");
	p = rec_proc(&rec, s, 7);
	c = must_core(s, p);
	all = core_bytes(c);
	assert_non_null(note_get(all, "LINUX", NT_X86_XSTATE, 0, &len));
	assert_int_equal(len, sizeof x);
	assert_null(note_get(all, "LINUX", NT_X86_XSTATE, 1, &len));
	assert_memory_equal(note_get(all, "LINUX", 0x401, 0, &len), "thread",
	    6);
	assert_null(note_get(all, "LINUX", 0x401, 1, &len));
	assert_non_null(note_get(all, "LINUX", 0x40c, 0, &len));
	assert_int_equal(len, LARGE);
	assert_null(note_get(all, "LINUX", NT_FILE, 0, &len));
	assert_null(note_get(all, "LINUX", 1, 0, &len));
	assert_non_null(note_get(all, "LINUX", 0xfff, 0, &len));
	assert_null(note_get(all, "LINUX", 0x1000, 0, &len));
	free(all);
	core_free(c);
	snap_free(s);
}

/*
 * A signal that the thread received differs from the stop of a tracer by its
 * si_code: that of a stop is at least 0x100.
 */
static void
test_stops(void **state)
{
	static const struct {
		uint32_t signo, code;
		bool got;
	} cases[] = {
		{ 11, 1, true }, { 5, 0x80, true }, { 5, 0xff, true },
		{ 5, 0x100, false }, { 5, 0x101, false }, { 5, 0x8005, false },
		{ 5, INT32_MAX, false }, { 5, 0x80000000, true },
		{ 6, UINT32_MAX, true }, { 0, 1, false }
	};
	uint8_t info[128] = { 0 };
	struct taskstate st = { .siginfo = {
	    .data = info, .len = sizeof info } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		num_put(info, cases[i].signo, 4);
		num_put(info + 8, cases[i].code, 4);
		assert_int_equal(state_signal(&st) != NULL, cases[i].got);
	}
	st.siginfo.len--;
	assert_null(state_signal(&st));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_386),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_plan9),
		cmocka_unit_test(test_plan9fp),
		cmocka_unit_test(test_fplengths),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
