/*
 * Address spaces and their pages: space.c, pages.c, record/pages.c,
 * linux/set/mappings.c.
 */
#include "io/io.h"
#include "linux/set/set.h"
#include "model.h"
#include "space.h"
#include "state/state.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
smaps(struct space *sp, const char *text)
{
	memset(sp, 0, sizeof *sp);
	return space_smaps(sp, text, strlen(text));
}

static void
test_smaps(void **state)
{
	struct space sp;

	(void)state;
	assert_int_equal(smaps(&sp,
	    "1000-3000 rw-p 00000000 00:00 0 \n"
	    "Size:                  8 kB\n"
	    "Rss:                   4 kB\n"
	    "Shared_Clean:          1 kB\n"
	    "Shared_Dirty:          2 kB\n"
	    "Private_Hugetlb:    2048 kB\n"
	    "SwapPss:               7 kB\n"
	    "VmFlags: rd wr mr me sl lo \n"
	    "a000-b000 r--p 00000000 00:00 0                  [stack]\n"), 0);
	assert_int_equal(sp.vma.n, 2);
	assert_int_equal(sp.m[0].rss, 2052);
	assert_int_equal(sp.m[0].shared, 3);
	assert_int_equal(sp.m[0].private, 2048);
	assert_int_equal(sp.m[0].swap, 0);
	assert_int_equal(sp.m[0].flags, VMF_FLAGS_KNOWN | VMF_SIZES_KNOWN |
	    VMF_SEALED | VMF_LOCKED | VMF_MAYREAD | VMF_MAYEXEC);
	assert_int_equal(sp.m[1].flags, VMF_GROWSDOWN);
	space_free(&sp);
}

/*
 * The kernel returns the text in pieces: a mapping that overlaps the last one
 * is dropped with its fields.
 */
static void
test_overlaps(void **state)
{
	struct space sp;

	(void)state;
	assert_int_equal(smaps(&sp,
	    "1000-3000 rw-p 00000000 00:00 0 \nRss: 1 kB\n"
	    "2000-4000 rw-p 00000000 00:00 0 \nRss: 2 kB\n"
	    "1000-3000 rw-p 00000000 00:00 0 \nRss: 3 kB\n"
	    "3000-5000 rw-p 00000000 00:00 0 \nRss: 4 kB\n"), 0);
	assert_int_equal(sp.vma.n, 2);
	assert_int_equal(sp.vma.v[1].start, 0x3000);
	assert_int_equal(sp.m[1].rss, 4);
	space_free(&sp);
}

static void
test_malformed(void **state)
{
	static const char *const bad[] = {
		"1000-1000 rw-p 0 0:0 0\n", "1000 rw-p\n", "1000-2000\n"
	};
	static const char *const odd[] = {
		"", "Rss: 4 kB\n", "\n\n", "VmFlags:\n", "VmFlags: mr",
		"1000-2000 rw-p 00000000 00:00 0 \nRss:\nRss: x\nVmFlags:\n"
	};
	struct space sp;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(smaps(&sp, bad[i]), -1);
		space_free(&sp);
	}
	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		assert_int_equal(smaps(&sp, odd[i]), 0);
		space_free(&sp);
	}
}

static void
test_facts(void **state)
{
	static const char status[] = "Name:\ta b\nVmRSS:\t   12 kB\n"
	    "VmData:\tx\nThreads:\t3";
	static const char stat[] = "7 (a) b) S 1 2";
	static const char number[] = "7 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 "
	    "17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 "
	    "39 40 41 42 43 44 45 46 47 48";
	static const char limits[] =
	    "Max data size             unlimited            unlimited\n"
	    "Max stack size            4096                 8192      bytes\n";
	struct space sp = { 0 };

	(void)state;
	space_status(&sp, status, 7);
	assert_string_equal(sp.name, "a");
	space_status(&sp, status, sizeof status - 1);
	assert_string_equal(sp.name, "a b");
	assert_int_equal(sp.rss, 12);
	assert_int_equal(sp.data, 0);
	assert_int_equal(sp.threads, 3);
	space_stat(&sp, stat, sizeof stat - 1);
	assert_int_equal(sp.startstack, 0);
	space_stat(&sp, number, sizeof number - 1);
	assert_int_equal(sp.startcode, 26);
	assert_int_equal(sp.startstack, 28);
	assert_int_equal(sp.startdata, 45);
	assert_int_equal(sp.startbrk, 47);
	space_limits(&sp, limits, sizeof limits - 1);
	assert_int_equal(sp.stacklimit, 4096);
	assert_true(sp.datalimit == UINT64_MAX);
}

static void
add(struct pagelist *l, uint64_t kb, uint64_t n, uint64_t store, uint64_t at)
{
	struct pagespan p = { kb * KB, (kb + n) * KB, PAGES_RAW, 0, store,
	    at };

	assert_int_equal(pagelist_add(l, &p), 0);
}

static void
expect(const struct pagespan *p, uint64_t kb, uint64_t n, uint64_t with)
{
	assert_int_equal(p->start, kb * KB);
	assert_int_equal(p->end, (kb + n) * KB);
	assert_int_equal(p->kind, with == 0 ? PAGES_RAW : PAGES_SHARED);
	assert_int_equal(p->with, with);
}

static void
test_sharing(void **state)
{
	struct pagelist a = { 0 }, b = { 0 }, c = { 0 };
	struct sharing *s;

	(void)state;
	add(&a, 0, 10, 1, 100);
	add(&a, 10, 5, 1, 110);		/* continues the first run */
	add(&a, 20, 4, 2, 100);		/* another source */
	assert_int_equal(a.n, 2);
	add(&b, 0, 2, 1, 103);
	add(&b, 2, 2, 1, 112);
	add(&c, 0, 3, 1, 104);
	add(&c, 5, 2, 0, 0);		/* an unknown page */
	assert_non_null(s = sharing_new());
	assert_int_equal(sharing_add(s, &a, 7), 0);
	assert_int_equal(sharing_add(s, &c, 9), 0);
	assert_int_equal(sharing_add(s, &b, 8), 0);
	assert_int_equal(sharing_record(s, &a, 7), 0);
	assert_int_equal(a.n, 7);
	expect(&a.v[0], 0, 3, 0);
	expect(&a.v[1], 3, 2, 8);
	expect(&a.v[2], 5, 2, 9);
	expect(&a.v[3], 7, 5, 0);
	expect(&a.v[4], 12, 2, 8);
	expect(&a.v[5], 14, 1, 0);
	expect(&a.v[6], 20, 4, 0);
	assert_int_equal(sharing_record(s, &c, 9), 0);
	assert_int_equal(c.n, 2);
	expect(&c.v[0], 0, 3, 7);
	sharing_free(s);
	pagelist_free(&a);
	pagelist_free(&b);
	pagelist_free(&c);
}

/*
 * Runs that overlap in all ways, even those of one process: each kilobyte
 * belongs to the lowest other process that has it.
 */
static void
test_many(void **state)
{
	enum { PIDS = 4, RUNS = 40, WIDE = 200 };
	bool has[PIDS + 1][WIDE] = { { 0 } };
	struct pagelist l[PIDS + 1] = { { 0 } };
	struct sharing *s;
	uint64_t at, n, k, with;
	size_t i, pid, other;

	(void)state;
	srand(7);
	assert_non_null(s = sharing_new());
	for (i = 0; i < RUNS * PIDS; i++) {
		pid = i % PIDS + 1;
		at = (uint64_t)rand() % WIDE;
		n = (uint64_t)rand() % (i < 8 ? WIDE : 9) + 1;
		n = n < WIDE - at ? n : WIDE - at;
		add(&l[pid], i * WIDE, n, 1, at);
		memset(&has[pid][at], 1, n);
	}
	for (pid = PIDS; pid > 0; pid--)
		assert_int_equal(sharing_add(s, &l[pid], pid), 0);
	for (pid = 1; pid <= PIDS; pid++) {
		assert_int_equal(sharing_record(s, &l[pid], pid), 0);
		for (i = 0; i < l[pid].n; i++)
			for (k = 0; k < (l[pid].v[i].end - l[pid].v[i].start) /
			    KB; k++) {
				at = l[pid].v[i].at + k;
				for (with = 0, other = PIDS; other > 0; other--)
					if (other != pid && has[other][at])
						with = other;
				assert_int_equal(l[pid].v[i].with, with);
			}
		pagelist_free(&l[pid]);
	}
	sharing_free(s);
}

/*
 * Counts of shared kilobytes, each counted once, whichever other processes have
 * them.
 */
static void
test_matrix(void **state)
{
	const uint64_t pid[] = { 9, 7, 8 };
	struct pagelist a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
	uint64_t kb[9], repeated;
	struct sharing *s;

	(void)state;
	add(&a, 0, 10, 1, 100);
	add(&a, 20, 5, 1, 102);		/* the same pages */
	add(&a, 30, 4, 2, 100);
	add(&b, 0, 4, 1, 108);
	add(&b, 9, 3, 2, 101);
	add(&c, 0, 3, 1, 107);
	add(&c, 5, 2, 0, 0);
	add(&d, 0, 50, 1, 100);
	assert_non_null(s = sharing_new());
	assert_int_equal(sharing_add(s, &a, 7), 0);
	assert_int_equal(sharing_add(s, &b, 8), 0);
	assert_int_equal(sharing_add(s, &d, 6), 0);
	assert_int_equal(sharing_add(s, &c, 9), 0);
	assert_int_equal(sharing_matrix(s, pid, 3, kb, &repeated), 0);
	assert_int_equal(kb[0], 3);
	assert_int_equal(kb[4], 14);
	assert_int_equal(kb[8], 7);
	assert_int_equal(kb[1], 3);
	assert_int_equal(kb[2], 2);
	assert_int_equal(kb[5], 5);
	assert_int_equal(kb[3] + kb[6] * 10 + kb[7] * 100, 523);
	/* 5 of one, 5 of two, 3 of the third, of which all share two */
	assert_int_equal(repeated, 13);
	assert_int_equal(sharing_matrix(s, pid, 0, kb, &repeated), 0);
	assert_int_equal(repeated, 0);
	sharing_free(s);
	pagelist_free(&a);
	pagelist_free(&b);
	pagelist_free(&c);
	pagelist_free(&d);
}

/*
 * Segments end at any byte: the last kilobyte of a run may be partial.
 */
static void
test_part(void **state)
{
	struct pagespan p = { 0, 2 * KB + 100, PAGES_RAW, 0, 1, 0 };
	struct pagelist a = { 0 }, b = { 0 };
	struct sharing *s;

	(void)state;
	assert_int_equal(pagelist_add(&a, &p), 0);
	add(&b, 8, 3, 1, 1);
	assert_non_null(s = sharing_new());
	assert_int_equal(sharing_add(s, &a, 7), 0);
	assert_int_equal(sharing_add(s, &b, 8), 0);
	assert_int_equal(sharing_record(s, &a, 7), 0);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.v[1].start, KB);
	assert_int_equal(a.v[1].end, 2 * KB + 100);
	assert_int_equal(a.v[1].with, 8);
	assert_int_equal(sharing_record(s, &b, 8), 0);
	assert_int_equal(b.n, 2);
	expect(&b.v[1], 10, 1, 0);
	sharing_free(s);
	pagelist_free(&a);
	pagelist_free(&b);
}

/*
 * An image of two zero segments, the second with a range that is missing.
 */
static struct image *
image_make(uint64_t first, uint64_t second)
{
	struct segment *seg;
	struct image *im;

	assert_non_null(im = image_new(NULL, IMAGE_MEM));
	assert_non_null(seg = segment_new(first, 8 * KB));
	assert_int_equal(segment_append(seg, 8, NULL, 0), 0);
	assert_int_equal(image_insert(im, seg), 0);
	assert_non_null(seg = segment_new(second, 16 * KB));
	assert_int_equal(segment_append(seg, 16, NULL, 0), 0);
	assert_int_equal(image_insert(im, seg), 0);
	assert_int_equal(image_miss(im, second + 4 * KB, second + 8 * KB,
	    "file"), 0);
	return im;
}

static void
test_missing(void **state)
{
	struct pagelist l = { 0 };
	struct image *im;

	(void)state;
	im = image_make(0x10000, UINT64_MAX - 16 * KB + 1);
	assert_int_equal(pages_snap(&l, im), 0);
	assert_true(l.n >= 3);
	assert_int_equal(l.v[0].kind, PAGES_ZERO);
	assert_int_equal(l.v[0].end, 0x12000);
	assert_int_equal(l.v[1].kind, PAGES_ZERO);
	assert_int_equal(l.v[1].end - l.v[1].start, 4 * KB);
	assert_int_equal(l.v[2].kind, PAGES_MISSING);
	pagelist_free(&l);
	image_free(im);
	assert_int_equal(pages_snap(&l, NULL), 0);
	assert_int_equal(l.n, 0);
}

static void
test_compare(void **state)
{
	static const enum pagekind want[] = { PAGES_GONE, PAGES_NEW,
	    PAGES_NEW, PAGES_SAME, PAGES_MISSING, PAGES_SAME };
	struct vma low = { .start = 0, .end = 0x30000 };
	struct vma some = { .start = 0x40400, .end = 0x50000 };
	struct vma all = { .start = 0x30000, .end = 0x60000 };
	struct vma v[] = { low, some }, w[] = { low, all };
	struct vmas was = { v, 2 }, is = { w, 2 };
	struct image *old, *new;
	struct pagelist l = { 0 };
	size_t i;

	(void)state;
	old = image_make(0x10000, 0x40000);
	new = image_make(0x20000, 0x40000);
	assert_int_equal(pages_compare(&l, old, &was, new, &is), 0);
	assert_int_equal(l.n, sizeof want / sizeof *want);
	for (i = 0; i < l.n; i++)
		assert_int_equal(l.v[i].kind, want[i]);
	pagelist_free(&l);
	assert_int_equal(pages_compare(&l, NULL, &was, new, &is), 0);
	assert_int_equal(l.v[0].kind, PAGES_NEW);
	pagelist_free(&l);
	image_free(old);
	image_free(new);
}

static void
vmas_text(struct vmas *l, const char *text)
{
	memset(l, 0, sizeof *l);
	assert_int_equal(vmas_parse(l, text, strlen(text)), 0);
}

/*
 * The same with parsed lists. want is NULL if the old list does not match.
 */
static void
refit_parsed(const char *maps, const char *was, const char *want)
{
	struct bytes text = { (uint8_t *)(uintptr_t)maps, strlen(maps) };
	struct vmas now, then, is;
	size_t i;

	vmas_text(&now, maps);
	vmas_text(&then, was);
	assert_true(vmas_match(&text, &now));
	assert_false(vmas_match(&text, &then));
	assert_int_equal(vmas_refit(&now, &then), want != NULL);
	vmas_text(&is, want == NULL ? "" : want);
	for (i = 0; i < is.n; i++)
		assert_int_equal(now.v[i].flags, is.v[i].flags);
	vmas_free(&now);
	vmas_free(&then);
	vmas_free(&is);
}

/*
 * An older smaps with current mappings: some grew, disappeared, or are new.
 */
static void
test_refit(void **state)
{
	static const char was[] =
	    "1000-2000 r--p 00000000 08:01 5      /a\n"
	    "Size:                  4 kB\nRss:                   4 kB\n"
	    "VmFlags: rd mr\n"
	    "5000-6000 rw-p 00000000 00:00 0 \n"
	    "Size:                  4 kB\nRss:                   0 kB\n"
	    "VmFlags: rd wr gd\n"
	    "8000-9000 rw-p 00000000 00:00 0 \n"
	    "Size:                  4 kB\nVmFlags: rd wr dd\n";
	static const struct {
		const char	*maps;
		const char	*want;	/* NULL: no match */
	} v[] = {
		{ "", "" },
		{ "1000-2000 r--p 00000000 08:01 5      /a\n"
		  "3000-6000 rw-p 00000000 00:00 0 \n",
		  "1000-2000 r--p 00000000 08:01 5      /a\n"
		  "Size:                  4 kB\nRss:                   4 kB\n"
		  "VmFlags: rd mr\n"
		  "3000-6000 rw-p 00000000 00:00 0 \n"
		  "Size:                 12 kB\nRss:                   0 kB\n"
		  "VmFlags: rd wr gd\n" },
		{ "8000-9000 rw-p 00000000 00:00 0 \n",
		  "8000-9000 rw-p 00000000 00:00 0 \n"
		  "Size:                  4 kB\nVmFlags: rd wr dd\n" },
		/* not a stack, which would grow */
		{ "8000-a000 rw-p 00000000 00:00 0 \n", NULL },
		{ "7000-9000 rw-p 00000000 00:00 0 \n", NULL },
		/* joined, with two sets of flags */
		{ "5000-9000 rw-p 00000000 00:00 0 \n", NULL },
		/* other permissions, another file, offset or name */
		{ "5000-6000 r--p 00000000 00:00 0 \n", NULL },
		{ "1000-2000 r--p 00000000 08:01 6      /a\n", NULL },
		{ "1000-2000 r--p 00001000 08:01 5      /a\n", NULL },
		{ "1000-2000 r--p 00000000 08:01 5      /b\n", NULL },
		{ "5000-6000 rw-p 00000000 00:00 0      [heap]\n", NULL },
		/* new, smaller, split, and in the middle */
		{ "6000-7000 rw-p 00000000 00:00 0 \n", NULL },
		{ "9000-a000 rw-p 00000000 00:00 0 \n", NULL },
		{ "5800-6000 rw-p 00000000 00:00 0 \n", NULL },
		{ "4000-5800 rw-p 00000000 00:00 0 \n"
		  "5800-6000 rw-p 00000000 00:00 0 \n", NULL },
		{ "5000-6000 rw-p 00000000 00:00 0 \n"
		  "6000-7000 rw-p 00000000 00:00 0 \n", NULL },
	};
	struct bulk b;
	uint8_t *got;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof v / sizeof *v; i++) {
		memset(&b, 0, sizeof b);
		assert_int_equal(smaps_refit(&b, scan_begin(v[i].maps,
		    strlen(v[i].maps)), scan_begin(was, strlen(was))),
		    v[i].want != NULL);
		refit_parsed(v[i].maps, was, v[i].want);
		assert_int_equal(bulk_finish(&b, &got, &len), 0);
		if (v[i].want != NULL) {
			assert_int_equal(len, strlen(v[i].want));
			if (len > 0)
				assert_memory_equal(got, v[i].want, len);
		}
		data_free(got);
	}
	memset(&b, 0, sizeof b);
	assert_int_equal(smaps_refit(&b, scan_begin("5000 x\n", 7),
	    scan_begin(was, strlen(was))), -1);
	bulk_free(&b);
}

/*
 * If smaps lacks a mapping of maps, it is read again from a stopped process.
 * For a process that runs on, maps is used without smaps.
 */
static void
test_replaced(void **state)
{
	static const char line[] = "1000-2000 rw-p 00000000 00:00 0 \n";
	const struct bytes maps = { (uint8_t *)(uintptr_t)line,
	    sizeof line - 1 };
	struct lproc p = { .maps = MAPS_REFIT, .clone = 1, .mmtid = getpid() };
	struct bytes smaps = { (uint8_t *)strdup(line), sizeof line - 1 };
	struct vmas l = { 0 };

	(void)state;
	smaps.data[0] = '0';
	assert_int_equal(mappings_smaps(&p, &maps, &smaps), 0);
	assert_int_equal(smaps.len, maps.len);
	assert_memory_equal(smaps.data, maps.data, maps.len);
	smaps.data[0] = '0';
	p.clone = 0;
	assert_int_equal(mappings_smaps(&p, &maps, &smaps), 0);
	assert_int_equal(vmas_parse(&l, smaps.data, smaps.len), 0);
	assert_non_null(vmas_find(&l, (uintptr_t)line));
	vmas_free(&l);
	free(smaps.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_refit),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
