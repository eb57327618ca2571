/*
 * Minidumps, read as Microsoft and Breakpad describe them:
 * core/write/minidump.c
 */
#include "model.h"
#include "num.h"
#include "util.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, STACK_KB = 3 * 1024, FILES = 4, THREADS = 4 };

enum {				/* types of streams */
	THREAD_LIST = 3,
	MODULE_LIST = 4,
	MEMORY_LIST = 5,
	EXCEPTION = 6,
	SYSTEM_INFO = 7,
	MEMORY64_LIST = 9,
	MISC_INFO = 15,
	LINUX_STATUS = 0x47670004,
	LINUX_CMDLINE = 0x47670006,
	LINUX_AUXV = 0x47670008,
	LINUX_MAPS = 0x47670009
};

static const uint64_t program = 0x400000;
#define STACK		UINT64_C(0x7f0000000000)
#define STACK_END	(STACK + STACK_KB * KB)
static const char maps[] =
    "00400000-00401000 r-xp 00000000 08:01 5   /bin/prog\n"
    "00401000-00403000 rw-p 00001000 08:01 5   /bin/prog\n"
    "7f0000000000-7f0000300000 rw-p 00000000 00:00 0   [stack]\n";

static const struct {
	uint64_t	 id;
	uint64_t	 sp;	/* the stack pointer */
	uint64_t	 start, len;	/* the stack's memory */
} thread[THREADS] = {
	/* the thread that got the signal is first, the others in their order */
	{ 9, STACK + PAGE, STACK + PAGE - 128, 1024 * KB },
	{ 7, STACK_END - PAGE, STACK_END - PAGE - 128, PAGE + 128 },
	{ 10, PAGE, 0, 0 },	/* points to no memory */
	{ 11, STACK + 50, STACK, 1024 * KB }
};

static uint8_t *dump;		/* the minidump */
static size_t size;

static uint64_t
get(uint64_t at, size_t n)
{
	assert_true(at <= size && n <= size - at);
	return num_get(dump + at, n);
}

/*
 * Check that n bytes of the minidump, from at on, are zero.
 */
static void
zeros(uint64_t at, size_t n)
{
	while (n-- > 0)
		assert_int_equal(get(at + n, 1), 0);
}

/*
 * Return the offset of the stream of a type, or 0. Its length must be len.
 */
static uint64_t
stream(uint64_t type, uint64_t len)
{
	uint64_t at, i;

	for (i = 0; i < get(8, 4); i++) {
		at = 32 + i * 12;
		if (get(at, 4) != type)
			continue;
		assert_int_equal(get(at + 4, 4), len);
		at = get(at + 8, 4);
		assert_int_equal(at % 8, 0);
		(void)get(at, len);
		return at;
	}
	return 0;
}

static void
string_is(uint64_t at, const char *want)
{
	size_t i, n = strlen(want);

	assert_int_equal(get(at, 4), 2 * n);
	for (i = 0; i <= n; i++)
		assert_int_equal(get(at + 4 + 2 * i, 2), want[i]);
}

/*
 * Make the registers of thread i: byte k is k + i, except in the stack pointer.
 */
static void
regs_make(uint8_t regs[216], size_t i)
{
	size_t k;

	for (k = 0; k < 216; k++)
		regs[k] = (uint8_t)(k + i);
	num_put(regs + 152, thread[i].sp, 8);
}

/*
 * The program's first page: an ELF file with a build ID.
 */
static void
program_make(uint8_t *page)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
	    ELFDATA2LSB, EV_CURRENT }, .e_phoff = sizeof h, .e_phnum = 1,
	    .e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_offset = 256, .p_filesz = 36 };

	memcpy(page, &h, sizeof h);
	memcpy(page + sizeof h, &ph, sizeof ph);
	memcpy(page + 256, "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0"
	    "build ID of 20 bytes", 36);
}

/*
 * Make a process with the first n threads. Store its memory in *m: the page of
 * the program, and the stack.
 */
static struct proc *
process_make(struct snap *s, size_t n, struct memsource **m)
{
	static const struct { const char *name, *text; } file[FILES] = {
		{ "status", "Name:\tprog\n" }, { "cmdline", "prog" },
		{ "auxv", "sixteen bytes .." }, { "maps", maps }
	};
	uint8_t regs[216], fp[512], info[128] = { 11, [8] = 1, [16] = 0x34,
	    0x12, [23] = 0x7f };
	struct buf rec = { 0 };
	struct proc *p = NULL, *t;
	struct rng r;
	size_t i, k;

	rng_init(&r, "minidump", 3);
	s->header = strdup("process snapshot 1700000000 a@b amd64 1 \"x\"");
	*m = memsource_new(s, PAGE / KB + STACK_KB, KB);
	for (k = 0; k < PAGE / KB + STACK_KB; k++)
		rng_bytes(&r, memsource_kb(*m, k), KB);
	program_make(memsource_kb(*m, 0));
	for (i = 0; i < n; i++) {
		/* the process is the second thread of the minidump */
		k = i == 0 && n > 1 ? 1 : i == 1 ? 0 : i;
		if (i > 0)
			testrec_text(&rec, "thread", n > 1 ? "7\n" : "9\n");
		for (size_t f = 0; i == 0 && f < FILES; f++)
			testrec_text(&rec, file[f].name, file[f].text);
		regs_make(regs, k);
		testrec_file(&rec, "regset/prstatus", regs, sizeof regs);
		memset(fp, (int)k + 1, sizeof fp);
		memset(fp + 24, (int)k + 100, 4);
		if (k != 2)
			testrec_file(&rec, "regset/fpregs", fp, sizeof fp);
		if (k == 0)
			testrec_file(&rec, "siginfo", info, sizeof info);
		assert_non_null(t = snap_add(s, thread[k].id));
		testrec_give(&rec, t);
		p = i == 0 ? t : p;
	}
	segment_add(p, IMAGE_MEM, program, PAGE, &(*m)->src, 0);
	segment_add(p, IMAGE_MEM, STACK, STACK_KB * KB, &(*m)->src, PAGE);
	return p;
}

/*
 * Check the context at offset at: the registers of thread i.
 */
static void
check_context(uint64_t at, size_t i)
{
	/* CONTEXT of winnt.h from SegCs to Rip, by struct user_regs_struct */
	static const struct { uint16_t at, n, from; } reg[] = {
		{ 0x38, 2, 17 }, { 0x3a, 2, 23 }, { 0x3c, 2, 24 },
		{ 0x3e, 2, 25 }, { 0x40, 2, 26 }, { 0x42, 2, 20 },
		{ 0x44, 4, 18 }, { 0x78, 8, 10 }, { 0x80, 8, 11 },
		{ 0x88, 8, 12 }, { 0x90, 8, 5 }, { 0x98, 8, 19 },
		{ 0xa0, 8, 4 }, { 0xa8, 8, 13 }, { 0xb0, 8, 14 },
		{ 0xb8, 8, 9 }, { 0xc0, 8, 8 }, { 0xc8, 8, 7 }, { 0xd0, 8, 6 },
		{ 0xd8, 8, 3 }, { 0xe0, 8, 2 }, { 0xe8, 8, 1 }, { 0xf0, 8, 0 },
		{ 0xf8, 8, 16 }
	};
	uint8_t regs[216];
	size_t k;

	regs_make(regs, i);
	zeros(at, 0x30);
	assert_int_equal(get(at + 0x30, 4), 0x10000f);
	assert_int_equal(get(at + 0x34, 4), i == 2 ? 0 : 0x1010101 *
	    (100 + i));
	for (k = 0; k < sizeof reg / sizeof *reg; k++)
		assert_int_equal(get(at + reg[k].at, reg[k].n),
		    num_get(regs + 8 * reg[k].from, reg[k].n));
	zeros(at + 0x48, 0x30);
	for (k = 0; k < 512; k++)
		assert_int_equal(get(at + 0x100 + k, 1), i == 2 ? 0 :
		    k / 4 == 6 ? 100 + i : i + 1);
	zeros(at + 0x300, 1232 - 0x300);
}

/*
 * Check the registers and stacks in a minidump of n threads. Return the offset
 * of the end of the stacks.
 */
static uint64_t
check_threads(size_t n, uint64_t begin, struct memsource *m)
{
	uint64_t at, list, off = begin;
	size_t i, nstack = n - (n > 2);

	at = stream(THREAD_LIST, 4 + 48 * n);
	list = stream(MEMORY_LIST, 4 + 16 * nstack);
	assert_int_equal(get(at, 4), n);
	assert_int_equal(get(list, 4), nstack);
	for (i = 0, at += 4, list += 4; i < n; i++, at += 48) {
		assert_int_equal(get(at, 4), thread[i].id);
		zeros(at + 4, 20);
		assert_int_equal(get(at + 24, 8), thread[i].start);
		assert_int_equal(get(at + 32, 4), thread[i].len);
		assert_int_equal(get(at + 40, 4), 1232);
		check_context(get(at + 44, 4), i);
		if (thread[i].len == 0) {
			assert_int_equal(get(at + 36, 4), 0);
			continue;
		}
		assert_int_equal(get(at + 36, 4), off);
		assert_memory_equal(dump + list, dump + at + 24, 16);
		(void)get(off, thread[i].len);
		assert_memory_equal(dump + off, memsource_kb(m, PAGE / KB) +
		    (thread[i].start - STACK), thread[i].len);
		off += thread[i].len;
		list += 16;
	}
	return off;
}

static void
check_exception(size_t n)
{
	const uint64_t at = stream(EXCEPTION, 168);

	assert_int_equal(get(at, 4), 9);
	assert_int_equal(get(at + 8, 4), 11);
	assert_int_equal(get(at + 12, 4), 1);
	zeros(at + 16, 8);
	assert_true(get(at + 24, 8) == 0x7f00000000001234);
	zeros(at + 32, 128);
	assert_int_equal(get(at + 160, 4), 1232);
	assert_int_equal(get(at + 164, 4), get(stream(THREAD_LIST,
	    4 + 48 * n) + 48, 4));
}

static void
check_system(uint64_t pid)
{
	uint64_t at;

	at = stream(SYSTEM_INFO, 56);
	assert_int_equal(get(at, 2), 9);		/* AMD64 */
	zeros(at + 2, 18);
	assert_int_equal(get(at + 20, 4), 0x8201);	/* Linux */
	string_is(get(at + 24, 4), "Linux");
	zeros(at + 28, 28);
	at = stream(MISC_INFO, 24);
	assert_int_equal(get(at, 4), 24);
	assert_int_equal(get(at + 4, 4), 1);		/* the pid is valid */
	assert_int_equal(get(at + 8, 4), pid);
	zeros(at + 12, 12);
	assert_memory_equal(dump + stream(LINUX_STATUS, 11), "Name:\tprog\n",
	    11);
	assert_memory_equal(dump + stream(LINUX_CMDLINE, 4), "prog", 4);
	assert_memory_equal(dump + stream(LINUX_AUXV, 16), "sixteen bytes ..",
	    16);
	assert_memory_equal(dump + stream(LINUX_MAPS, sizeof maps - 1), maps,
	    sizeof maps - 1);
}

static void
check_modules(void)
{
	const uint64_t at = stream(MODULE_LIST, 4 + 108);

	assert_int_equal(get(at, 4), 1);
	assert_int_equal(get(at + 4, 8), program);
	assert_int_equal(get(at + 12, 4), 3 * PAGE);
	zeros(at + 16, 8);
	string_is(get(at + 24, 4), "/bin/prog");
	zeros(at + 28, 52);
	assert_int_equal(get(at + 80, 4), 24);
	(void)get(get(at + 84, 4), 24);
	assert_memory_equal(dump + get(at + 84, 4), "LEpB"
	    "build ID of 20 bytes", 24);
	zeros(at + 88, 24);
}

/*
 * Check the list at offset at: it has all memory, whose bytes are the minidump
 * from off to its end.
 */
static void
check_memory(uint64_t at, uint64_t off, struct memsource *m)
{
	assert_int_equal(get(at, 8), 2);
	assert_int_equal(get(at + 8, 8), off);
	assert_int_equal(get(at + 16, 8), program);
	assert_int_equal(get(at + 24, 8), PAGE);
	assert_int_equal(get(at + 32, 8), STACK);
	assert_int_equal(get(at + 40, 8), STACK_KB * KB);
	assert_int_equal(size - off, PAGE + STACK_KB * KB);
	assert_memory_equal(dump + off, memsource_kb(m, 0), size - off);
}

static void
check(size_t n, bool full)
{
	struct memsource *m;
	struct snap *s = snap_new();
	struct proc *p = process_make(s, n, &m);
	struct core *c = (full ? minidump_full : minidump_new)(s, p);
	uint64_t lists, end;

	if (c == NULL)
		fail_msg("%s", snap_errstr());
	size = core_size(c);
	assert_non_null(dump = malloc(size));
	assert_int_equal(core_pread(c, dump, size, 0), size);
	assert_memory_equal(dump, "MDMP\x93\xa7\0\0", 8);
	assert_int_equal(get(8, 4), full ? 11 : 10);
	assert_int_equal(get(12, 4), 32);
	zeros(16, 4);
	assert_int_equal(get(20, 4), 1700000000);
	zeros(24, 8);
	/* the stacks follow the last list */
	lists = full ? stream(MEMORY64_LIST, 16 + 2 * 16) + 16 + 2 * 16 :
	    stream(MEMORY_LIST, 4 + 16 * (n - (n > 2))) + 4 +
	    16 * (n - (n > 2));
	end = check_threads(n, (lists + 7) / 8 * 8, m);
	check_exception(n);
	check_system(p->pid);
	check_modules();
	if (full)
		check_memory(stream(MEMORY64_LIST, 48), end, m);
	else
		assert_int_equal(end, size);
	free(dump);
	core_free(c);
	snap_free(s);
}

static void
test_small(void **state)
{
	size_t n;

	(void)state;
	for (n = 1; n <= THREADS; n++)
		check(n, false);
}

static void
test_full(void **state)
{
	size_t n;

	(void)state;
	for (n = 1; n <= THREADS; n++)
		check(n, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
