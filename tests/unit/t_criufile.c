/*
 * Files of processes in CRIU images that are read: criu/read/.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <sys/sysmacros.h>

#include <stdlib.h>
#include <string.h>

static void
arm(bool on)
{
	armed = on;
}

/*
 * Write size bytes of an ELF file at path, whose build ID ends with id.
 */
static void
elf_write(uint8_t *data, size_t size, const char *path, uint8_t id)
{
	static const uint8_t head[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1,
	    [16] = 3, [18] = 62, [20] = 1, [32] = 64, [52] = 64, [54] = 56,
	    [56] = 1 };
	static const uint8_t phdr[56] = { 4, [8] = 120, [32] = 24 };
	const uint8_t note[24] = { 4, [4] = 8, [8] = 3, [12] = 'G', 'N', 'U',
	    [16] = 1, [23] = id };
	FILE *f;

	memset(data, 'e', size);
	memcpy(data, head, sizeof head);
	memcpy(data + 64, phdr, sizeof phdr);
	memcpy(data + 120, note, sizeof note);
	assert_non_null(f = fopen(path, "w"));
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/*
 * Check the memory of a process that mapped a file of 5000 bytes. has says
 * whether the file is on this machine.
 */
static int
check_mapped(bool has)
{
	uint8_t b[2 * PAGE];
	struct snap *s;
	size_t i;
	bool got;

	if (on_write != NULL)
		on_write(true);
	s = snap_load(dir, NULL);
	if (on_write != NULL)
		on_write(false);
	if (s == NULL)
		return -1;
	got = image_read(s->proc[0]->mem, 0x500000, b, sizeof b) == 0;
	/* a file that cannot be opened for lack of memory is missing */
	assert_true(got == has || (has && on_write != NULL));
	for (i = 200; got && i < sizeof b; i++)
		assert_int_equal(b[i], i < 5000 ? 'e' : 0);
	/* zeros follow the end of the file */
	assert_int_equal(image_read(s->proc[0]->mem, 0x502000, b, 1),
	    got ? 0 : -1);
	assert_true(!got || *b == 0);
	assert_int_equal(image_read(s->proc[0]->mem, 0x503000, b, PAGE),
	    got ? 0 : -1);
	for (i = 0; got && i < PAGE; i++)
		assert_int_equal(b[i], i + PAGE < 5000 ? 'e' : 0);
	snap_free(s);
	return 0;
}

static int
try_mapped(void *arg)
{
	return check_mapped(arg == NULL);
}

/*
 * A mapped file on this machine is read up to the end of its last page, unless
 * it has another build ID.
 */
static void
test_mapped(void **state)
{
	char path[80], maps[512], size[] = "5000\n";
	struct vma v = { .dev = makedev(8, 1), .ino = 55, .name = path };
	struct file f = { .name = (char[]){ "size" }, .data = (uint8_t *)size,
	    .len = 5 };
	struct criuopts o = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	(void)state;
	snprintf(path, sizeof path, "%s/elf", top);
	process_record(7);
	snprintf(maps, sizeof maps, "400000-402000 r-xp 00000000 08:01 9 "
	    "/bin/one\n500000-503000 r--p 00000000 08:01 55 %s\n503000-504000 "
	    "r--p 00001000 08:01 55 %s\n", path, path);
	set("maps", maps);
	set("smaps", "");
	set("pages", "");
	s = begin();
	finish(s, 7);
	assert_non_null(p = embedded_new(s, &v));
	m = memsource_new(s, 5, KB);
	elf_write(m->data, 5000, path, 7);
	segment_add(p, IMAGE_TEXT, 0, 5000, &m->src, 0);
	assert_int_equal(linuxrec_pack(p, machine, &f, 1), 0);
	if (load(s, &o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_int_equal(check_mapped(true), 0);
	on_write = arm;
	images_forget();
	each_failure(try_mapped, NULL);
	on_write = NULL;
	m = memsource_new(s = snap_new(), 5, KB);
	elf_write(m->data, 5000, path, 8);
	snap_free(s);
	assert_int_equal(check_mapped(false), 0);
	on_write = arm;
	images_forget();
	each_failure(try_mapped, path);
	on_write = NULL;
}

/*
 * Other files in the directory are kept, except logs. Flags of terminals are
 * read. An unknown field is reported.
 */
static void
test_others(void **state)
{
	static const struct readopts opts = { .warn = note_warning };
	struct criuopts o = { 0 };
	char path[PATH_MAX];
	struct linuxrec r;
	struct recfile f;
	struct snap *s;
	FILE *out;

	(void)state;
	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type tty\npath /dev/tty1\nrdev 04:01\nflags 100001\n"
	    "termios 1 2 3 4 5\ntermlock 0 0 0 0 0\nwinsize 6 7 8 9\n"
	    "termioscc 000102030405060708090a0b0c0d0e0f101112\n"
	    "termlockcc 000102030405060708090a0b0c0d0e0f101112\n");
	assert_int_equal(load_one(&o), 0);
	snprintf(path, sizeof path, "cd %s && touch x .log y.log log", dir);
	assert_int_equal(system(path), 0);
	/* field 99 of the first message */
	image_get("pstree.img");
	memmove(image.b + 15, image.b + 12, image.n - 12);
	memcpy(image.b + 12, "\x98\6\1", 3);
	image.b[8] += 3;
	snprintf(path, sizeof path, "%s/pstree.img", dir);
	assert_non_null(out = fopen(path, "w"));
	assert_int_equal(fwrite(image.b, 1, image.n + 3, out), image.n + 3);
	assert_int_equal(fclose(out), 0);
	*warned = '\0';
	assert_non_null(s = snap_load(dir, &opts));
	assert_contains(warned, "/pstree.img: entry 1: field 99 of "
	    "PstreeEntry is unknown");
	assert_int_equal(linuxrec_open(&r, proc_file(s->proc[0], "proc")), 0);
	assert_true(linuxrec_find(&r, "criu/x", &f));
	assert_true(linuxrec_find(&r, "criu/log", &f));
	assert_false(linuxrec_find(&r, "criu/.log", &f));
	assert_false(linuxrec_find(&r, "criu/y.log", &f));
	assert_true(linuxrec_find(&r, "fdinfo/3", &f));
	snprintf(path, sizeof path, "%.*s", (int)f.len, (const char *)f.data);
	assert_contains(path, "flags:\t0100001\n");
	linuxrec_close(&r);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
