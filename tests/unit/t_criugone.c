/*
 * Mapped and deleted files, and shared memory, in CRIU images: criu/open/
 * regular.c, ghost.c and shm.c.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 */
#include "criurec.h"

#include <sys/sysmacros.h>

#include <stdlib.h>
#include <string.h>

#define MAPPING	"400000-402000 r-xp 00000000 08:01 9 /bin/one\n"

/*
 * Add to s an embedded file of kb kilobytes of byte c. record has the names and
 * texts of the n files in its record.
 */
static struct proc *
embed(struct snap *s, const char *path, uint64_t ino, enum image_kind kind,
    char c, size_t kb, const char *const record[][2], size_t n)
{
	char name[64], texts[4][64], names[4][16];
	struct vma v = { .dev = makedev(8, 1), .ino = ino, .name = name };
	struct file f[4] = { 0 };
	struct memsource *m;
	struct proc *p;
	size_t i;

	snprintf(name, sizeof name, "%s", path);
	assert_non_null(p = embedded_new(s, &v));
	m = memsource_new(s, kb, KB);
	memset(m->data, c, kb * KB);
	segment_add(p, kind, 0, kb * KB, &m->src, 0);
	for (i = 0; i < n; i++) {
		f[i].name = names[i];
		snprintf(names[i], sizeof names[i], "%s", record[i][0]);
		f[i].len = (size_t)snprintf(texts[i], sizeof texts[i], "%s",
		    record[i][1]);
		f[i].data = (uint8_t *)texts[i];
	}
	assert_int_equal(linuxrec_pack(p, machine, f, n), 0);
	return p;
}

/*
 * Deleted files: the image gives criu their attributes, from the open file or
 * from its embedded content.
 */
static void
test_deleted(void **state)
{
#define GONE(path, ino)	"path " path "\nflags 0\npos 0\ndev 08:01\nino " ino \
			"\ndeleted 1\nuid 3\ngid 4\n"
	static const char *const file[] = {
		"type reg\nmode 100640\nsize 5000\n" GONE("/t/a", "77")
		    "times 1500000000 -1500000000\n",
		"type reg\nmode 100640\n" GONE("/t/b", "78"),
		"type link\nmode 120777\nleads /else\n" GONE("/t/c", "79"),
		"type chr\nmode 20666\nrdev 01:03\n" GONE("/t/d", "80"),
		"type inotify\nflags 0\nwatch 1 2 08:01 78 1 01 (deleted)\n",
		"type reg\nmode 100640\nsize 5000\n" GONE("/t/a2", "77"),
		"type reg\nmode 100640\n" GONE("/t/b2", "78")
	};
	static const char *const of_b[][2] = {
		{ "inode", "100600 2 5 6 1500000000 -1500000000\n" },
		{ "size", "4097\n" }
	};
	struct criuopts o = { .note = note_warning };
	struct snap *s;
	struct part m;

	(void)state;
	OPEN_RECORD(file);
	set("cwd", "/t/w (deleted)");
	set("cwd-deleted", "40711 08:01 66 1 2 3000000000 4000001000\n");
	s = begin();
	finish(s, 7);
	embed(s, "/t/a", 77, IMAGE_MEM, 'a', 8, NULL, 0);
	embed(s, "/t/b", 78, IMAGE_MEM, 'b', 8, of_b, 2);
	if (load(s, &o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "process 7, descriptor 4: its deleted name "
	    "becomes /t/b.cr.*.ghost when it is restored\nprocess 7, "
	    "descriptor 9: its deleted name becomes /t/b2.cr.*.ghost when it "
	    "is restored\n");

	m = frame("files.img", 0);
	assert_text(m, "3.6", "/t/a");
	assert_int_equal(count(inner(m, "3"), 8), 0);
	NUMBERS(frame("remap-fpath.img", 0), "1 2 3", number(m, "2"), 1, 1);
	m = frame("ghost-file-1.img", 0);
	NUMBERS(m, "1 2 3 4 5 7.1 7.2 8.1 8.2 9 10", 3, 4, 0100640,
	    makedev(8, 1), 77, 1, 500000, (uint64_t)-2, 500000, 1, 5000);
	m = frame("ghost-file-1.img", 1);
	NUMBERS(m, "1 2", 5000, 0);
	assert_ptr_equal(m.p + m.n + 5000, image.b + image.n);
	assert_int_equal(m.p[m.n], 'a');

	/* a watched file has two entries: its name, and the open file */
	m = frame("files.img", 1);
	assert_text(m, "3.6", "/t/b");
	NUMBERS(frame("remap-fpath.img", 1), "1 2 3", number(m, "2"), 2, 1);
	m = frame("files.img", 2);
	assert_text(m, "3.6", "/t/b.cr.2.ghost");
	m = frame("ghost-file-2.img", 0);
	NUMBERS(m, "1 2 3 7.1 7.2 8.1 8.2 10", 5, 6, 0100600, 1, 500000,
	    (uint64_t)-2, 500000, 4097);
	m = frame("ghost-file-3.img", 0);
	NUMBERS(m, "1 2 3", 3, 4, 0120777);
	assert_text(m, "11", "/else");
	assert_int_equal(count(m, 9), 0);
	NUMBERS(frame("ghost-file-4.img", 0), "3 6", 020666, makedev(1, 3));
	/* other names of the same inodes */
	m = frame("files.img", 6);
	assert_text(m, "3.6", "/t/a2");
	NUMBERS(frame("remap-fpath.img", 4), "1 2 3", number(m, "2"), 1, 1);
	assert_text(frame("files.img", 7), "3.6", "/t/b.cr.2.ghost");

	m = frame("ghost-file-5.img", 0);
	NUMBERS(m, "1 2 3 4 5 7.1 7.2 8.1 8.2", 1, 2, 040711, makedev(8, 1),
	    66, 3, 0, 4, 1);
	assert_int_equal(number(frame("fs-7.img", 0), "1"),
	    number(frame("remap-fpath.img", 5), "1"));

	/* a deleted directory whose attributes are not recorded */
	process_record(7);
	set("cwd", "/t/w (deleted)");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(warned, "process 7: its cwd is /t/w (deleted): "
	    "cannot be restored\n");
}

/*
 * Load process 7 with one more mapping. If content is true, the file with inode
 * 55 is embedded.
 */
static int
load_mapped(struct criuopts *o, const char *mapping, bool content,
    const char *const record[][2], size_t n)
{
	char maps[256];
	struct snap *s;

	snprintf(maps, sizeof maps, MAPPING "%s\n", mapping);
	set("maps", maps);
	set("smaps", "");
	s = begin();
	finish(s, 7);
	if (content)
		embed(s, "/t/m", 55, IMAGE_TEXT, 'm', 4, record, n);
	return load(s, o);
}

#define PRIVATE	"500000-501000 r--p 00000000 08:01 55 "
#define SHARED	"500000-501000 r--s 00000000 08:01 55 "

static void
test_mapped(void **state)
{
	static const char *const other[] = {
		"type reg\npath /t/x (deleted)\nlink /t/y\nflags 0\npos 0\n"
		    "dev 08:01\nino 54\ndeleted 1\n",
		"type reg\npath /t/m (deleted)\nlink /t/n\nflags 0\npos 0\n"
		    "dev 08:01\nino 55\ndeleted 1\n"
	};
	static const char *const two[][2] = { { "inode",
	    "100755 1 0 0 0 0\n" } };
	static const char *const none[][2] = { { "inode",
	    "100755 0 0 0 0 0\n" } };
	static const char *const part[][2] = { { "missing-text",
	    "400-800 cut\n" } };
	static const struct {
		const char *mapping, *why;
		bool content;
		const char *const (*record)[2];
	} cases[] = {
		{ PRIVATE "/t/m (deleted)", "mapping at 500000 of /t/m "
		    "(deleted), whose content is not in the snapshot", false,
		    NULL },
		{ SHARED "/t/m (deleted)", "mapping at 500000 of /t/m "
		    "(deleted), which has another, unknown name", true, two },
		{ SHARED "/t/m (deleted)", NULL, true, none },
		{ SHARED "/t/m (deleted)", NULL, true, NULL },
		{ PRIVATE "/t/m (deleted)", NULL, true, two },
		{ PRIVATE "/t/m", NULL, false, NULL },
		{ SHARED "/t/m", NULL, true, two },
	};
	struct criuopts o = { 0 };
	struct part m;
	char want[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		assert_int_equal(load_mapped(&o, cases[i].mapping,
		    cases[i].content, cases[i].record, cases[i].record !=
		    NULL), cases[i].why == NULL ? 0 : -1);
		if (cases[i].why != NULL) {
			snprintf(want, sizeof want, "process 7: %s: cannot be "
			    "restored (-f deleted leaves it out)\n",
			    cases[i].why);
			assert_string_equal(warned, want);
			continue;
		}
		m = frame("files.img", 1);
		assert_text(m, "3.6", "/t/m");
		assert_int_equal(number(frame("mm-7.img", 0), "14#1.4"),
		    number(frame("files.img", 1), "2"));
	}
	/* a newline in a name; another name of the file */
	process_record(7);
	assert_int_equal(load_mapped(&o, PRIVATE "/t/a\\012b", false, NULL, 0),
	    0);
	assert_text(frame("files.img", 1), "3.6", "/t/a\nb");
	OPEN_RECORD(other);
	assert_int_equal(load_mapped(&o, PRIVATE "/t/m (deleted)", false, NULL,
	    0), 0);
	m = frame("files.img", 3);
	assert_text(m, "3.6", "/t/n");
	assert_int_equal(number(m, "3.9"), 1);

	/* part of the content is missing */
	process_record(7);
	assert_int_equal(load_mapped(&o, PRIVATE "/t/m (deleted)", true, part,
	    1), -1);
	assert_string_equal(warned, "/t/m: a part of it is not in the snapshot "
	    "(cut): cannot be restored (-f pages leaves it out)\n");
}

/*
 * Return the build ID, as words, that is written for an embedded ELF file with
 * an ID of len bytes: 1, 2 and so on.
 */
static struct part
build_id(uint8_t len)
{
	static const uint8_t head[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1,
	    [16] = 3, [18] = 62, [20] = 1, [32] = 64, [52] = 64, [54] = 56,
	    [56] = 1 };
	uint8_t phdr[56] = { 4, [8] = 120, [32] = (uint8_t)(16 + len) };
	uint8_t note[16] = { 4, [4] = len, [8] = 3, [12] = 'G', 'N', 'U' };
	struct criuopts o = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	uint8_t i;

	process_record(7);
	set("maps", MAPPING PRIVATE "/t/m\n");
	set("smaps", "");
	s = begin();
	finish(s, 7);
	p = embed(s, "/t/m", 55, IMAGE_TEXT, 0, 4, NULL, 0);
	m = (struct memsource *)segment_extent(image_first(p->text)->seg,
	    0)->src;
	memcpy(m->data, head, sizeof head);
	memcpy(m->data + 64, phdr, sizeof phdr);
	memcpy(m->data + 120, note, sizeof note);
	for (i = 0; i < len; i++)
		m->data[136 + i] = (uint8_t)(i + 1);
	assert_int_equal(load(s, &o), 0);
	return inner(frame("files.img", 1), "3");
}

static void
test_buildid(void **state)
{
	struct part m;

	(void)state;
	m = build_id(11);
	assert_int_equal(number(m, "8"), 4096);
	assert_int_equal(count(m, 11), 3);
	NUMBERS(m, "11#0 11#1 11#2", 0x04030201, 0x08070605, 0x000b0a09);
	m = build_id(8);
	assert_int_equal(count(m, 11), 2);
	NUMBERS(m, "11#0 11#1", 0x04030201, 0x08070605);
}

/*
 * Shared memory: open, mapped, and named with and without a colon.
 */
static void
test_shm(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/memfd:my mem (deleted)", "my mem" },
		{ "/dev/zero (deleted)", "/dev/zero" },
		{ "/memfd-x", "/memfd-x" }
	};
	struct criuopts o = { 0 };
	char text[256], path[64];
	struct vma v = { .dev = makedev(0, 1), .ino = 5, .name = path };
	struct memsource *a, *b;
	struct snap *s;
	struct proc *p;
	struct part m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t21\t3\t4\n"
		    "Gid:\t5\t65\t7\t8\nGroups:\t\nNSpid:\t9\t7\n"
		    "NSpgid:\t9\t7\nNSsid:\t9\t7\nCapEff:\t0\nSeccomp:\t0\n");
		if (i < 2) {
			snprintf(text, sizeof text, MAPPING "500000-503000 "
			    "rw-s 00000000 00:01 5 %s\n", cases[i].path);
			set("maps", text);
			set("smaps", "");
		} else {
			set("files", "3 1\n");
			snprintf(text, sizeof text, "type memfd\npath %s\n"
			    "flags 2\npos 0\ndev 00:01\nino 5\nuid 31\n"
			    "gid 32\nseals 6\n", cases[i].path);
			set("file/1", text);
		}
		s = begin();
		finish(s, 7);
		snprintf(path, sizeof path, "%s", cases[i].path);
		assert_non_null(p = embedded_new(s, &v));
		a = memsource_new(s, 4, KB);
		b = memsource_new(s, 8, KB);
		memset(a->data, 'a', 4 * KB);
		memset(b->data, 'b', 8 * KB);
		segment_add(p, IMAGE_MEM, 0, 4 * KB, &a->src, 0);
		segment_add(p, IMAGE_MEM, 4 * KB, 4 * KB, &b->src, 0);
		segment_add(p, IMAGE_MEM, 16 * KB, 4 * KB, &b->src, 4 * KB);
		assert_int_equal(linuxrec_pack(p, machine, NULL, 0), 0);
		if (load(s, &o) == -1)
			fail_msg("%s%s", warned, snap_errstr());
		m = frame("memfd.img", 0);
		assert_text(m, "1", cases[i].name);
		NUMBERS(m, "2 3 6 7", i < 2 ? 21 : 31, i < 2 ? 65 : 32,
		    i < 2 ? 1 : 6, 1);
		NUMBERS(frame("pagemap-shmem-1.img", 1), "1 2 4", 0, 2, 4);
		m = frame("pagemap-shmem-1.img", 2);
		NUMBERS(m, "1 2 4", 16 * KB, 1, 4);
		assert_ptr_equal(m.p + m.n, image.b + image.n);
		m = frame("files.img", i < 2 ? 1 : 0);
		NUMBERS(m, "20.2 20.5", 2, 1);
		if (i < 2)
			assert_int_equal(number(frame("mm-7.img", 0),
			    "14#1.4"), number(frame("files.img", 1), "2"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_buildid),
		cmocka_unit_test(test_shm),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
