/*
 * Early copies of memory, which are written to images as they arrive:
 * criu/write/early.c and place.c.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPY1 = EARLY_PID, COPY2 = 2 * EARLY_PID };

static struct buf stream;	/* the current stream */
static struct criustat stat_of;

/*
 * Begin memory of n segments of the process pid.
 */
static void
mem(int pid, int n)
{
	buf_printf(&stream, "%11d mem\n%11d ", pid, n);
}

/*
 * Add a kilobyte: a letter repeated, zeros (0), the kilobyte at the same
 * address of process prev (=), or kilobyte k, counted from 1, of the segment at
 * base.
 */
static void
kb_add(int pid, int prev, uint64_t base, uint64_t addr, char what)
{
	char raw[KB];

	if (what == '0')
		buf_puts(&stream, "z");
	else if (what == '=')
		buf_printf(&stream, "m%11d %11ju ", prev, (uintmax_t)addr);
	else if (what > '0' && what <= '9')
		buf_printf(&stream, "m%11d %11ju ", pid, (uintmax_t)base +
		    (uintmax_t)(what - '1') * KB);
	else {
		memset(raw, what, KB);
		buf_puts(&stream, "r");
		buf_add(&stream, raw, KB);
	}
}

/*
 * Add a segment. Each character in pages is a page of kilobytes as kb_add()
 * describes them; the four in brackets are one page.
 */
static void
segment(int pid, int prev, uint64_t base, const char *pages)
{
	const char *s;
	uint64_t kb = 0;
	bool single = false;
	int i;

	for (s = pages; *s != '\0'; s++)
		single = *s == '[' || (*s != ']' && single), kb += *s == '[' ||
		    *s == ']' ? 0 : single ? 1 : 4;
	buf_printf(&stream, "%11ju %11ju ", (uintmax_t)base,
	    (uintmax_t)kb * KB);
	for (kb = 0, s = pages; *s != '\0'; s++)
		if (*s == '[' || *s == ']')
			single = *s == '[';
		else
			for (i = 0; i < (single ? 1 : 4); i++, kb++)
				kb_add(pid, prev, base, base + kb * KB, *s);
}

static void
memory(int pid, int prev, const char *pages)
{
	mem(pid, 1);
	segment(pid, prev, DATA, pages);
}

/*
 * Begin a stream.
 */
static void
stream_begin(void)
{
	stream.len = 0;
	buf_puts(&stream, "process snapshot 1 a@b amd64 1 \"Linux 6\"\n");
}

/*
 * Add the record of a process with private pages at pages, but no memory.
 */
static void
record_add(int pid, int parent, const char *pages)
{
	static const char head[] = "process snapshot 1 a@b amd64 1 "
	    "\"Linux 6\"\n";
	struct buf b = { 0 };
	char text[512];
	struct snap *s;
	struct proc *p;

	process_record(pid);
	snprintf(text, sizeof text, "%d (x) S %d 7 7 0 -1 64 0 0 0 0 0 0 0 0 "
	    "20 0 1 0 0 0 0 0 4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 "
	    "0 0 0 0 0 0 4206592 4206600 4210688 2147352577 2147352578 "
	    "2147352579 2147352580 0\n", pid, parent);
	set("stat", text);
	snprintf(text, sizeof text, "vm %d\nfiles %d\nfs %d\nsighand %d\n",
	    pid, pid, pid, pid);
	set("shares", text);
	set("maps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "403000-413000 rw-p 00000000 00:00 0 \n");
	set("smaps", NULL);
	set("pages", pages);
	s = begin();
	p = finish(s, (uint64_t)pid);
	image_free(p->mem);
	p->mem = NULL;
	snap_bytes(s, &b);
	snap_free(s);
	trailer_strip(&b);
	assert_memory_equal(b.data, head, sizeof head - 1);
	buf_add(&stream, b.data + sizeof head - 1, b.len - sizeof head + 1);
	buf_free(&b);
}

/*
 * Check that the processes of s without a copy have the memory of the stream.
 */
static void
assert_memory(struct snap *s)
{
	char got[KB], want[KB];
	struct piece *p;
	struct snap *t;
	uint64_t addr;
	size_t i;

	assert_non_null(t = stream_read(stream.data, stream.len, false));
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->mem == NULL || proc_isearly(s->proc[i]))
			continue;
		p = image_first(s->proc[i]->mem);
		for (; p != NULL; p = piece_next(p))
			for (addr = p->first; addr < p->last; addr += KB) {
				assert_int_equal(image_read(s->proc[i]->mem,
				    addr, got, KB), 0);
				assert_int_equal(image_read(snap_find(t,
				    s->proc[i]->pid)->mem, addr, want, KB), 0);
				assert_memory_equal(got, want, KB);
			}
	}
	snap_free(t);
}

static void
dirs_make(void)
{
	char command[256];

	snprintf(command, sizeof command, "rm -rf %s && mkdir -p %s/early",
	    dir, dir);
	assert_int_equal(system(command), 0);
}

/*
 * Write the images of the stream, which comes through a pipe.
 */
static int
move(struct criuopts *o)
{
	struct stream in;
	int rc;

	dirs_make();
	assert_int_equal(buf_check(&stream), 0);
	o->early = o->overwrite = true;
	memset(&stat_of, 0, sizeof stat_of);
	stream_pipe(&in, stream.data, stream.len, 1000);
	if (on_write != NULL)
		on_write(true);
	rc = images_write(in.path, dir, o, &stat_of);
	if (on_write != NULL)
		on_write(false);
	stream_close(&in);
	return rc;
}

/*
 * Check that the images have the memory of the stream.
 */
static void
assert_images(void)
{
	struct snap *s;

	assert_non_null(s = snap_load(dir, NULL));
	assert_memory(s);
	snap_free(s);
}

/*
 * Check that an image has these kilobytes, as segment() describes pages.
 */
static void
assert_pages(const char *name, const char *pages)
{
	bool single = false;
	size_t n = 0, k;

	image_get(name);
	for (; *pages != '\0'; pages++)
		if (*pages == '[' || *pages == ']')
			single = *pages == '[';
		else
			for (k = single ? KB : 4 * KB; k > 0; k--) {
				assert_true(n < image.n);
				assert_int_equal(image.b[n++], *pages == '0' ?
				    0 : *pages);
			}
	assert_int_equal(n, image.n);
}

/*
 * Check that the pagemap image called name has these entries: address, number
 * of pages and flags of each.
 */
static void
assert_pagemap(const char *name, const char *want)
{
	char text[512] = "";
	struct part m;
	size_t i, n = 0;

	m = frame(name, 0);
	for (i = 1; m.p + m.n < image.b + image.n; i++) {
		m = frame(name, i);
		n += (size_t)snprintf(text + n, sizeof text - n, "%jx+%ju:%ju ",
		    (uintmax_t)number(m, "1"), (uintmax_t)number(m, "2"),
		    (uintmax_t)number(m, "4"));
	}
	assert_string_equal(text, want);
}

static bool
has(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void
assert_link(const char *name, const char *want)
{
	char path[PATH_MAX], to[128] = "";

	snprintf(path, sizeof path, "%s/%s", dir, name);
	assert_true(readlink(path, to, sizeof to - 1) > 0);
	assert_string_equal(to, want);
}

/* flags in pagemaps: in the parent (1), lazy (2), present (4) */

/*
 * Two early copies and a process with pages that stay, change, become zero,
 * refer to others, or were not recorded.
 */
static void
test_copies(void **state)
{
	struct criuopts o = { 0 };

	(void)state;
	stream_begin();
	memory(COPY1 + 7, 0, "abc0efg[h00k]");
	memory(COPY2 + 7, COPY1 + 7, "=B0d=fg=[1nop]");
	record_add(7, 1, "403000 40c000\n");
	mem(7, 1);
	segment(7, COPY2 + 7, DATA, "A=0=[5555]=0[=01=]=");
	if (move(&o) == -1)
		fail_msg("%s", snap_errstr());
	assert_images();
	assert_pages("early/pages-1.img", "AB0Bf0[h0Ak]");
	assert_pages("pages-1.img", "d[anop]");
	assert_pagemap("early/pagemap-7.img", "403000+3:4 407000+4:4 ");
	assert_pagemap("pagemap-7.img",
	    "403000+3:3 406000+1:4 407000+4:3 40b000+1:4 ");
	assert_link("parent", "early");
	assert_false(has("early/core-7.img"));
	assert_int_equal(stat_of.parentkb, 28);
	assert_false(stat_of.lazy);
}

/*
 * Several processes. One has ended, another has no early copy.
 */
static void
test_processes(void **state)
{
	struct criuopts o = { .lazy = true };

	(void)state;
	stream_begin();
	memory(COPY1 + 7, 0, "ab");
	memory(COPY1 + 9, 0, "xy");
	memory(COPY1 + 8, 0, "uv");
	memory(COPY2 + 7, COPY1 + 7, "=c");
	memory(COPY2 + 9, COPY1 + 9, "==");
	memory(COPY2 + 10, 0, "mn");
	record_add(7, 1, "403000 405000\n");
	memory(7, COPY2 + 7, "C=");
	record_add(9, 7, "403000 405000\n");
	memory(9, COPY2 + 9, "=z");
	record_add(10, 7, "403000 405000\n");
	memory(10, COPY2 + 10, "==");
	if (move(&o) == -1)
		fail_msg("%s", snap_errstr());
	assert_images();
	assert_pages("early/pages-1.img", "Cc");
	assert_pages("early/pages-2.img", "xz");
	assert_pages("early/pages-3.img", "uv");
	assert_pagemap("early/pagemap-7.img", "403000+2:4 ");
	assert_pagemap("early/pagemap-9.img", "403000+2:4 ");
	assert_int_equal(number(frame("early/pagemap-9.img", 0), "1"), 2);
	assert_false(has("early/pagemap-8.img"));
	assert_false(has("early/pagemap-10.img"));
	assert_false(stat_of.lazy);
	assert_pages("pages-3.img", "mn");
	assert_pagemap("pagemap-9.img", "403000+2:3 ");
	assert_pagemap("pagemap-10.img", "403000+2:6 ");
	/* no early copies */
	stream_begin();
	record_add(7, 1, "403000 405000\n");
	memory(7, 0, "ab");
	assert_int_equal(move(&o), 0);
	assert_pages("pages-1.img", "ab");
	assert_false(has("parent"));
}

/*
 * An early image has more pages than the process has of its own; criu(8)
 * lazy-pages finds all images beside it.
 */
static int
load_lazy(const char *pages, bool lazy)
{
	struct criuopts o = { .lazy = lazy };

	stream_begin();
	memory(COPY1 + 7, 0, "abc");
	record_add(7, 1, pages);
	memory(7, COPY1 + 7, "===");
	return move(&o);
}

static void
test_lazy(void **state)
{
	static const struct {
		const char *pages, *map, *early, *lazy;
	} cases[] = {
		{ "403000 405000\n", "403000+2:3 ", "403000+3:4 ",
		    "403000+2:6 405000+1:4 " },
		{ "404000 406000\n", "404000+2:3 ", "403000+3:4 ",
		    "403000+1:4 404000+2:6 " },
		{ "403000 404000\n405000 406000\n", "403000+1:3 405000+1:3 ",
		    "403000+3:4 ", "403000+1:6 404000+1:4 405000+1:6 " }
	};
	size_t i;
	bool lazy;

	(void)state;
	for (i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		lazy = i % 2 == 1;
		if (load_lazy(cases[i / 2].pages, lazy) == -1)
			fail_msg("%s", snap_errstr());
		assert_pages("early/pages-1.img", "abc");
		assert_pagemap("pagemap-7.img", cases[i / 2].map);
		assert_pagemap("early/pagemap-7.img", lazy ?
		    cases[i / 2].lazy : cases[i / 2].early);
		assert_int_equal(stat_of.lazy, lazy);
		assert_int_equal(has("early/core-7.img"), lazy);
		if (lazy)
			assert_link("early/core-7.img", "../core-7.img");
	}
}

/*
 * A page that is in the stream twice: its place in the image gets the visible
 * bytes.
 */
static void
test_twice(void **state)
{
	struct criuopts o = { .early = true, .overwrite = true };
	struct readopts ro = { 0 };
	struct stream in;
	struct snap *s;

	(void)state;
	stream_begin();
	memory(COPY1 + 7, 0, "abc");
	record_add(7, 1, "404000 406000\n");
	mem(7, 2);
	segment(7, COPY1 + 7, DATA, "A==");
	segment(7, COPY1 + 7, DATA, "X");
	dirs_make();
	assert_non_null(ro.store = criu_store(dir, &o));
	stream_pipe(&in, stream.data, stream.len, 1000);
	assert_non_null(s = snap_load(in.path, &ro));
	assert_int_equal(early_ready((struct criuout *)ro.store), 0);
	assert_memory(s);
	criu_storefree(ro.store);
	snap_free(s);
	stream_close(&in);
}

/*
 * Incomplete images are removed.
 */
static void
test_cut(void **state)
{
	struct criuopts o = { 0 };

	(void)state;
	stream_begin();
	memory(COPY1 + 7, 0, "abc");
	stream.len -= 100;
	assert_int_equal(move(&o), -1);
	assert_false(has("early/pages-1.img"));
}

static void
arm(bool on)
{
	armed = on;
}

/*
 * If images are written, they are complete.
 */
static int
try_lazy(void *arg)
{
	static const char *const name[] = { "core-7.img", "mm-7.img",
	    "files.img", "pstree.img", "inventory.img" };
	char path[64];
	size_t i;

	(void)arg;
	if (load_lazy("403000 405000\n", true) == -1)
		return -1;
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		snprintf(path, sizeof path, "early/%s", name[i]);
		assert_true(has(path));
	}
	assert_pagemap("early/pagemap-7.img", "403000+2:6 405000+1:4 ");
	return 0;
}

static void
test_exhausted(void **state)
{
	(void)state;
	on_write = arm;
	images_forget();
	each_failure(try_lazy, NULL);
	on_write = NULL;
}

static int
teardown(void **state)
{
	buf_free(&stream);
	return records_teardown(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup, teardown);
}
