/*
 * Valid and malformed link maps: linkmap.c
 */
#include "model.h"
#include "num.h"
#include "state/state.h"
#include "util.h"
#include "../../fmt/tree/tree.h"
#include "elf/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x10000, SIZE = 0x8000, BIAS = 0x10000 };

/*
 * A process whose memory is 32 KiB at 0x10000: program headers at 0x40, the
 * dynamic section at 0x200, r_debug at 0x300, names from 0x1000 and link
 * maps from 0x2000.
 */
struct maker {
	bool		 wide;
	struct snap	*s;
	struct proc	*p;
	uint8_t		*mem;
	struct linuxrec	 rec;
	char		 got[4000];
	size_t		 ngot;
};

static void
word(struct maker *k, uint8_t *at, size_t i, uint64_t v)
{
	size_t n;

	n = k->wide ? 8 : 4;
	num_put(at + i * n, v, n);
}

static void
phdr(struct maker *k, size_t i, uint32_t type, uint64_t vaddr)
{
	uint8_t *at;

	at = k->mem + 0x40 + i * (k->wide ? 56 : 32);
	num_put(at, type, 4);
	word(k, at, 2, vaddr);
}

/*
 * Write entry i of the link map. name is the address of its name.
 */
static void
entry(struct maker *k, size_t i, uint64_t name, uint64_t ld, uint64_t next)
{
	uint8_t *at;

	at = k->mem + 0x2000 + i * 64;
	word(k, at, 1, name);
	word(k, at, 2, ld);
	word(k, at, 3, next);
}

static void
maker_init(struct maker *k, bool wide)
{
	static const uint64_t auxv[] = { AT_SYSINFO_EHDR, 1, AT_PHDR,
	    BASE + 0x40, AT_PHENT, 0, AT_PHNUM, 3, AT_BASE, BASE + 0x7000,
	    AT_NULL, 0 };
	struct memsource *m;
	struct buf b = { 0 };
	uint8_t aux[sizeof auxv];
	size_t i;

	memset(k, 0, sizeof *k);
	k->wide = wide;
	k->s = snap_new();
	k->p = snap_add(k->s, 1);
	m = memsource_new(k->s, SIZE / KB, KB);
	k->mem = m->data;
	segment_add(k->p, IMAGE_MEM, BASE, SIZE, &m->src, 0);
	for (i = 0; i < sizeof auxv / sizeof *auxv; i++)
		word(k, aux, i, i == 5 ? (wide ? 56 : 32) : auxv[i]);
	buf_printf(&b, "linux amd64 1\nauxv\n%11zu ", i * (wide ? 8 : 4));
	buf_add(&b, aux, i * (wide ? 8 : 4));
	assert_int_equal(proc_setfile(k->p, "proc", b.data, b.len), 0);
	assert_int_equal(linuxrec_open(&k->rec, proc_file(k->p, "proc")), 0);

	phdr(k, 0, PT_PHDR, 0x40);
	phdr(k, 1, PT_INTERP, 0x1000);
	phdr(k, 2, PT_DYNAMIC, 0x200);
	strlcpy((char *)k->mem + 0x1000, "/lib/ld.so", 32);
	strlcpy((char *)k->mem + 0x1020, "/lib/libc.so", 32);
	strlcpy((char *)k->mem + 0x1040, "vdso", 32);
	word(k, k->mem + 0x200, 0, DT_NEEDED);
	word(k, k->mem + 0x200, 2, DT_DEBUG);
	word(k, k->mem + 0x200, 3, BASE + 0x300);
	word(k, k->mem + 0x300, 1, BASE + 0x2000);
	entry(k, 0, BASE + 0x1fff, 0x111, BASE + 0x2040);
	entry(k, 1, BASE + 0x1020, 0x222, BASE + 0x2080);
	entry(k, 2, BASE + 0x1040, 0x333, 0);
}

static void
maker_done(struct maker *k)
{
	linuxrec_close(&k->rec);
	snap_free(k->s);
}

static int
note(void *arg, const char *name, uint64_t addr)
{
	struct maker *k = arg;
	char line[200];

	snprintf(line, sizeof line, "%.100s %jx|", name, (uintmax_t)addr);
	strlcat(k->got, line, sizeof k->got);
	k->ngot++;
	return 0;
}

static const char *
walk(struct maker *k)
{
	*k->got = '\0';
	k->ngot = 0;
	assert_int_equal(linkmap_walk(k->p->mem, machine_named("amd64"),
	    &k->rec, note, k), 0);
	return k->got;
}

static void
test_good(void **state)
{
	struct maker k;
	int wide;

	(void)state;
	for (wide = 0; wide < 2; wide++) {
		maker_init(&k, wide);
		assert_string_equal(walk(&k), "/lib/ld.so 17000| 111|"
		    "/lib/libc.so 222|vdso 333|");
		maker_done(&k);
	}
}

/*
 * Damaged data ends the walk.
 */
static void
test_bad(void **state)
{
	struct maker k;

	(void)state;
	maker_init(&k, true);
	word(&k, k.mem + 0x300, 1, 0x666);	/* unmapped */
	assert_string_equal(walk(&k), "/lib/ld.so 17000|");
	word(&k, k.mem + 0x300, 1, BASE + SIZE - 8);	/* at the end */
	assert_string_equal(walk(&k), "/lib/ld.so 17000|");
	word(&k, k.mem + 0x200, 3, UINT64_MAX - 3);
	assert_string_equal(walk(&k), "/lib/ld.so 17000|");
	word(&k, k.mem + 0x200, 2, DT_NULL);
	assert_string_equal(walk(&k), "/lib/ld.so 17000|");
	phdr(&k, 2, PT_NOTE, 0x200);
	assert_string_equal(walk(&k), "");
	maker_done(&k);

	/* a name without an end, longer than a path, or outside the memory */
	maker_init(&k, true);
	memset(k.mem + 0x3000, 'x', 4096);
	entry(&k, 1, BASE + 0x3000, 0x222, BASE + 0x2080);
	entry(&k, 2, 0x3, 0x333, 0);
	memset(k.mem + 0x7ff0, 'x', 16);
	phdr(&k, 1, PT_INTERP, 0x7ff0);
	assert_string_equal(walk(&k), " 111|");
	maker_done(&k);
}

/*
 * A cyclic list is ended.
 */
static void
test_loop(void **state)
{
	struct maker k;

	(void)state;
	maker_init(&k, true);
	entry(&k, 2, BASE + 0x1040, 0x333, BASE + 0x2040);
	walk(&k);
	assert_int_equal(k.ngot, 1 + 65536);
	maker_done(&k);
}

static void
test_random(void **state)
{
	struct maker k;
	struct rng r;
	int i, j;

	(void)state;
	rng_init(&r, "random", 5);
	for (i = 0; i < 3000; i++) {
		maker_init(&k, rng_percent(&r, 50));
		for (j = 0; j < 4; j++)
			k.mem[rng_below(&r, 0x320)] = (uint8_t)rng_next(&r);
		for (j = 0; j < 4; j++)
			k.mem[0x2000 + rng_below(&r, 192)] =
			    (uint8_t)rng_next(&r);
		walk(&k);
		maker_done(&k);
	}
}

/*
 * Names that may not be in root/, and those that may. All files have the text
 * of the process.
 */
static void
test_sysroot(void **state)
{
	static const char *const name[] = { "/a/b", "/a//./c/", "/a",
	    "/x/../y", "relative", "/", "/a/b/d", "/a/c", "/z" };
	static const char maps[] = "5000-6000 r-xp 0 8:1 5 /bin/exe (deleted)"
	    "\n6000-7000 r-xp 0 8:1 5 /bin/other\n";
	static const char *const want[] = { "a/b/d", "a/c", "bin/exe",
	    "bin/exe (deleted)", "bin/other", "z" };
	struct sysroot root = { 0 };
	struct vmas v = { 0 };
	struct linuxrec rec;
	struct maker k;
	struct buf b = { 0 };
	struct file f;
	size_t i;

	(void)state;
	maker_init(&k, true);
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		strlcpy((char *)k.mem + 0x3000 + i * 64, name[i], 64);
		entry(&k, i, BASE + 0x3000 + i * 64, 0x5000, i ==
		    sizeof name / sizeof *name - 1 ? 0 : BASE + 0x2000 +
		    (i + 1) * 64);
	}
	segment_add(k.p, IMAGE_TEXT, 0, 100, NULL, 0);
	buf_add(&b, k.rec.data, k.rec.len);
	buf_puts(&b, "exe\n         18 /bin/exe (deleted)");
	f.data = b.data;
	f.len = b.len;
	assert_int_equal(linuxrec_open(&rec, &f), 0);
	assert_int_equal(vmas_parse(&v, maps, sizeof maps - 1), 0);
	assert_int_equal(sysroot_open(&root, k.s, k.p, &rec, &v), 0);
	assert_int_equal(root.n, sizeof want / sizeof *want);
	for (i = 0; i < root.n; i++) {
		assert_string_equal(root.f[i].path, want[i]);
		/* the last mapping's file is not in the snapshot */
		assert_ptr_equal(root.f[i].image, strcmp(want[i],
		    "bin/other") == 0 ? NULL : k.p->text);
	}
	sysroot_close(&root);
	vmas_free(&v);
	linuxrec_close(&rec);
	buf_free(&b);
	maker_done(&k);
}

/*
 * A build ID is at most as long as the buffer.
 */
static void
test_buildid(void **state)
{
	enum { NOTE = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), MOST = 64 };
	uint8_t b[512] = { 0 };
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
	    ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
	    .e_machine = EM_X86_64, .e_version = EV_CURRENT,
	    .e_phoff = sizeof h, .e_phnum = 1, .e_ehsize = sizeof h,
	    .e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_offset = NOTE,
	    .p_filesz = sizeof b - NOTE };
	struct buildid id;
	size_t n;

	(void)state;
	memcpy(b, &h, sizeof h);
	memcpy(b + sizeof h, &ph, sizeof ph);
	num_put(b + NOTE, 4, 4);
	num_put(b + NOTE + 8, NT_GNU_BUILD_ID, 4);
	memcpy(b + NOTE + 12, "GNU", 4);
	for (n = 0; n <= MOST + 1; n++) {
		num_put(b + NOTE + 4, n, 4);
		memset(b + NOTE + 16, (int)n, n);
		assert_int_equal(buildid_parse(&id, b, sizeof b), 0);
		assert_int_equal(id.len, n <= MOST ? n : 0);
		if (id.len > 0)
			assert_memory_equal(id.id, b + NOTE + 16, n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_buildid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
