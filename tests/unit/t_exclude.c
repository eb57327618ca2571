/*
 * Secrets excluded from a snapshot: record/exclude.c, record/environ.c
 */
#include "model.h"
#include "record/record.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { MEM = 0x10000, MEM_KB = 16, ENV = MEM + 2 * KB - 10 };

static const char environ_text[] = "A=1\0KEY=se=cret\0B=2\0none\0"
    "MY_TOKEN=\0my_token=x2\0PASS";
static const char environ_want[] = "A=1\0KEY=xxxxxxx\0B=2\0none\0"
    "MY_TOKEN=\0my_token=xx\0PASS";

static char warned[400];
static struct memsource *mem;	/* of the process */

static void
warn(void *arg, const char *text)
{
	assert_ptr_equal(arg, warned);
	strlcat(warned, text, sizeof warned);
	strlcat(warned, "\n", sizeof warned);
}

/*
 * Make a process with these files in its record: name, text, ..., NULL. Its
 * environment is also in its memory, at ENV.
 */
static struct proc *
process(struct snap *s, uint64_t pid, ...)
{
	struct buf rec = { 0 };
	const char *name;
	struct proc *p;
	struct rng r;
	va_list ap;
	size_t i;

	va_start(ap, pid);
	while ((name = va_arg(ap, const char *)) != NULL)
		testrec_text(&rec, name, va_arg(ap, const char *));
	va_end(ap);
	testrec_file(&rec, "environ", environ_text, sizeof environ_text - 1);
	assert_non_null(p = snap_add(s, pid));
	testrec_give(&rec, p);
	rng_init(&r, "exclude", pid);
	mem = memsource_new(s, MEM_KB, KB);
	for (i = 0; i < MEM_KB; i++)
		rng_bytes(&r, memsource_kb(mem, i), KB);
	memcpy(memsource_kb(mem, 0) + (ENV - MEM), environ_text,
	    sizeof environ_text - 1);
	segment_add(p, IMAGE_MEM, MEM, MEM_KB * KB, &mem->src, 0);
	return p;
}

/*
 * Exclude words from s. Return the result; append warnings to warned.
 */
static int
exclude(struct snap *s, const char *words)
{
	struct exclude *x = exclude_new();
	int rc;

	assert_non_null(x);
	*warned = '\0';
	assert_int_equal(exclude_add(x, words), 0);
	rc = exclude_snap(x, s, warn, warned);
	exclude_free(x);
	return rc;
}

static void
record_is(struct proc *p, const char *name, const char *want, size_t len)
{
	struct linuxrec r;
	struct recfile f;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	assert_int_equal(linuxrec_find(&r, name, &f), want != NULL);
	if (want != NULL) {
		if (f.len != len)
			fail_msg("%s: %.*s", name, (int)f.len,
			    (const char *)f.data);
		assert_memory_equal(f.data, want, len);
	}
	linuxrec_close(&r);
}

/*
 * Check that the memory of p is unchanged, except for the environment.
 */
static void
memory_is(struct proc *p, const char *environ)
{
	uint8_t got[MEM_KB * KB], want[MEM_KB * KB];

	memcpy(want, memsource_kb(mem, 0), sizeof want);
	memcpy(want + (ENV - MEM), environ, sizeof environ_text - 1);
	assert_int_equal(image_read(p->mem, MEM, got, sizeof got), 0);
	assert_memory_equal(got, want, sizeof want);
}

/*
 * Return the file stat with the field env_start set to at.
 */
static const char *
stat_text(uint64_t at)
{
	static char text[400];
	size_t n;
	int i;

	strlcpy(text, "7 (a) S", sizeof text);
	for (i = 4; i <= 49; i++)
		strlcat(text, " 1", sizeof text);
	n = strlen(text);
	snprintf(text + n, sizeof text - n, " %ju 2 0\n", (uintmax_t)at);
	return text;
}

/*
 * Values are overwritten in the record and in memory; nothing else is changed.
 */
static void
test_environ(void **state)
{
	static const char words[] = "env=KEY,env=my_*,env=PASS,env=none";
	static const char asked[] = "asked env=KEY\nasked env=my_*\n"
	    "asked env=PASS\nasked env=none\nenv KEY\nenv MY_TOKEN\n"
	    "env my_token\n";
	char more[sizeof asked + 7] = "before\n";
	struct snap *s = snap_new();
	struct proc *p, *q;

	(void)state;
	p = process(s, 7, "stat", stat_text(ENV), "excluded", "before\n",
	    NULL);
	assert_int_equal(exclude(s, words), 0);
	assert_string_equal(warned, "");
	record_is(p, "environ", environ_want, sizeof environ_want - 1);
	memory_is(p, environ_want);
	memcpy(more + 7, asked, sizeof asked);
	record_is(p, "excluded", more, sizeof asked + 6);
	/* its address in memory is unknown */
	q = process(s, 8, "stat", "8 (x) S 1", NULL);
	assert_int_equal(exclude(s, words), 0);
	record_is(q, "environ", environ_want, sizeof environ_want - 1);
	record_is(q, "excluded", asked, sizeof asked - 1);
	memory_is(q, environ_text);
	assert_string_equal(warned, "process 8: the environment in its memory "
	    "is not excluded: its address is unknown\n");
	snap_free(s);
}

/*
 * Processes without a record or an environment, and threads.
 */
static void
test_none(void **state)
{
	struct snap *s = snap_new();
	struct buf rec = { 0 };
	struct proc *p;

	(void)state;
	testrec_text(&rec, "environ", "");
	assert_non_null(p = snap_add(s, 7));
	testrec_give(&rec, p);
	segment_add(p, IMAGE_MEM, MEM, KB, NULL, 0);
	assert_non_null(snap_add(s, 8));
	assert_int_equal(exclude(s, "env=*"), 0);
	assert_string_equal(warned, "");
	record_is(p, "environ", "", 0);
	record_is(p, "excluded", "asked env=*\n", 12);
	segment_add(p = snap_add(s, 9), IMAGE_MEM, MEM, KB, NULL, 0);
	assert_int_equal(exclude(s, "env=*"), 0);
	assert_string_equal(warned, "process 9: the environment in its memory "
	    "is not excluded: its address is unknown\n");
	assert_int_equal(exclude(s, "10000-10400"), -1);
	assert_string_equal(snap_errstr(), "process 9: no Linux record in "
	    "which to list the excluded memory");
	snap_free(s);
}

/*
 * Check that im lacks one range.
 */
static void
lacks(const struct image *im, uint64_t start, uint64_t end, const char *why)
{
	assert_int_equal(im->nmissing, 1);
	assert_int_equal(im->missing[0].start, start);
	assert_int_equal(im->missing[0].end, end);
	assert_string_equal(im->missing[0].reason, why);
}

#define MAPS(a, b)							\
	"00010000-00012000 rw-p 00000000 00:00 0 \n" a			\
	"00012000-00014000 rw-s 00003000 00:00 6  /memfd:x (deleted)\n" b

/*
 * Whole pages are excluded, also from embedded shared memory.
 */
static void
test_ranges(void **state)
{
	char path[] = "/memfd:x (deleted)";
	struct vma v = { .ino = 6, .name = path };
	struct snap *s = snap_new();
	struct proc *p, *file, *other;

	(void)state;
	p = process(s, 7, "maps", MAPS("", ""), NULL);
	assert_non_null(file = embedded_new(s, &v));
	segment_add(file, IMAGE_MEM, 0x2000, 0x4000, &mem->src, 0);
	v.dev = 1;
	assert_non_null(other = embedded_new(s, &v));
	segment_add(other, IMAGE_MEM, 0x2000, 0x4000, &mem->src, 0);
	assert_int_equal(exclude(s, "0x11800-12800,5000-6000"), 0);
	assert_string_equal(warned, "");
	lacks(p->mem, 0x11000, 0x13000, "excluded");
	lacks(file->mem, 0x3000, 0x4000, "excluded");
	assert_int_equal(other->mem->nmissing, 0);
	record_is(p, "missing", "11000-13000 excluded\n", 21);
	record_is(p, "excluded", "asked 0x11800-12800\nasked 5000-6000\n", 36);
	record_is(p, "environ", environ_text, sizeof environ_text - 1);
	snap_free(s);
}

/*
 * Embedded shared memory can be a memory or, if it begins like an ELF file, a
 * text. Pages that are excluded later become missing as well.
 */
static void
test_embedded(void **state)
{
	static const char *const list[] = { [IMAGE_TEXT] = "missing-text",
	    [IMAGE_MEM] = "missing" };
	char path[] = "/memfd:x (deleted)";
	const struct vma v = { .ino = 6, .name = path };
	struct snap *s;
	struct proc *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof list / sizeof *list; i++) {
		s = snap_new();
		process(s, 7, "maps", MAPS("", ""), NULL);
		assert_non_null(p = embedded_new(s, &v));
		segment_add(p, (enum image_kind)i, 0x2000, 0x4000, &mem->src,
		    0);
		assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
		assert_int_equal(exclude(s, "12000-13000"), 0);
		record_is(p, list[i], "3000-4000 excluded\n", 19);
		assert_int_equal(exclude(s, "13000-14000"), 0);
		record_is(p, list[i], "3000-5000 excluded\n", 19);
		assert_int_equal(image_missing(i == IMAGE_TEXT ? p->text :
		    p->mem, 0x4fff) != NULL, true);
		snap_free(s);
	}
}

/*
 * Memory marked MADV_DONTDUMP is excluded. A warning is printed if smaps may
 * not list all of it.
 */
static void
test_dontdump(void **state)
{
	static const struct {
		const char	*smaps, *maps;
		bool		 known;
	} t[] = {
		{ MAPS("VmFlags: rd wr \n", "VmFlags: rd sh dd \n"),
		    MAPS("", ""), true },
		{ MAPS("", "VmFlags: rd sh dd \n"), MAPS("", ""), false },
		{ MAPS("VmFlags: rd wr \n", "VmFlags: rd sh dd \n"),
		    MAPS("", "") "00014000-00015000 rw-p 00000000 00:00 0 \n",
		    false },
	};
	struct snap *s;
	struct proc *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		s = snap_new();
		p = process(s, 7, "smaps", t[i].smaps, "maps", t[i].maps,
		    "stat", stat_text(ENV), NULL);
		assert_int_equal(exclude(s, "secrets"), 0);
		lacks(p->mem, 0x12000, 0x14000, "dontdump");
		record_is(p, "missing", "12000-14000 dontdump\n", 21);
		assert_string_equal(warned, t[i].known ? "" : "process 7: some "
		    "MADV_DONTDUMP memory may still be included: the snapshot "
		    "does not list all of it\n");
		record_is(p, "environ", environ_want, sizeof environ_want - 1);
		snap_free(s);
	}
}

/*
 * Excluded files are those in maps, even if smaps has other device numbers.
 */
static void
test_devices(void **state)
{
	char path[] = "/memfd:x (deleted)";
	struct vma v = { .dev = 1, .ino = 6, .name = path };
	struct proc *file, *other;
	struct snap *s = snap_new();

	(void)state;
	process(s, 7, "smaps", MAPS("VmFlags: rd wr \n",
	    "VmFlags: rd sh dd \n"), "maps",
	    "00010000-00012000 rw-p 00000000 00:00 0 \n"
	    "00012000-00014000 rw-s 00003000 00:01 6  /memfd:x (deleted)\n",
	    NULL);
	assert_non_null(file = embedded_new(s, &v));
	segment_add(file, IMAGE_MEM, 0x2000, 0x4000, &mem->src, 0);
	v.dev = 0;
	assert_non_null(other = embedded_new(s, &v));
	segment_add(other, IMAGE_MEM, 0x2000, 0x4000, &mem->src, 0);
	assert_int_equal(exclude(s, "dontdump"), 0);
	assert_string_equal(warned, "");
	lacks(file->mem, 0x3000, 0x5000, "dontdump");
	assert_int_equal(other->mem->nmissing, 0);
	snap_free(s);
}

/*
 * A malformed list of mappings is an error.
 */
static void
test_malformed(void **state)
{
	static const char *const t[][2] = {
		{ "1000-1000 rw-p\n", MAPS("", "") },
		{ MAPS("", ""), "1000-1000 rw-p\n" }
	};
	struct snap *s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		s = snap_new();
		process(s, 7, "smaps", t[i][0], "maps", t[i][1], NULL);
		assert_int_equal(exclude(s, "dontdump"), -1);
		assert_contains(snap_errstr(), "process 7: ");
		snap_free(s);
	}
}

static void
test_words(void **state)
{
	static const char *const bad[] = {
		"", "x", "env=", "secret", "1000", "1000-", "-1000",
		"1000-1000", "2000-1000", "1000-2000x", "1000-2000,",
		"1000--2000", "0x-2000", "1000-ffffffffffffffff"
	};
	static const char *const good[] = {
		"secrets", "dontdump", "env=*", "1000-1001",
		"0x1000-0xffffffffffff", "env=A,dontdump,5-6"
	};
	struct exclude *x = exclude_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(exclude_add(x, bad[i]), -1);
		assert_contains(snap_errstr(), ": expected dontdump, secrets");
	}
	for (i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(exclude_add(x, good[i]), 0);
	exclude_free(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environ),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_dontdump),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
