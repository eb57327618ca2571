/*
 * The start of a core as the kernel writes it, before the memory: complete, cut
 * and damaged at each byte.
 */
#include "linux/set/set.h"
#include "util.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REGS = 216, STATUS = 112 + REGS + 8, SMALL = 72 + 68 + 4 };

static void
note_add(struct buf *b, uint32_t type, const void *data, uint32_t len)
{
	const Elf64_Nhdr h = { 5, len, type };
	static const char name[8] = "CORE";
	static const uint8_t pad[4];

	buf_add(b, &h, sizeof h);
	buf_add(b, name, sizeof name);
	buf_add(b, data, len);
	buf_add(b, pad, (4 - len % 4) % 4);
}

static void
status_add(struct buf *b, int32_t pid, uint8_t fill)
{
	uint8_t s[STATUS];
	const int16_t sig = 11;

	memset(s, fill, sizeof s);
	memcpy(s + 12, &sig, sizeof sig);
	memcpy(s + 32, &pid, sizeof pid);
	note_add(b, NT_PRSTATUS, s, sizeof s);
}

/*
 * Notes of two threads, 7 and 9.
 */
static void
notes_add(struct buf *b)
{
	static const char odd[] = "odd";

	status_add(b, 7, 1);
	note_add(b, NT_PRFPREG, odd, 3);
	note_add(b, NT_SIGINFO, odd, 1);
	status_add(b, 9, 2);
}

static void
core_make(struct buf *b, uint64_t gap)
{
	struct buf notes = { 0 };
	Elf64_Ehdr h = { .e_type = ET_CORE, .e_phoff = sizeof h };
	Elf64_Phdr p = { .p_type = PT_NOTE };
	uint8_t zero[300] = { 0 };

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	notes_add(&notes);
	p.p_offset = sizeof h + sizeof p + gap;
	p.p_filesz = notes.len;
	buf_add(b, &h, sizeof h);
	buf_add(b, &p, sizeof p);
	buf_add(b, zero, gap);
	buf_add(b, notes.data, notes.len);
	buf_free(&notes);
}

/*
 * Read len bytes of a core from a pipe.
 */
static struct coredump *
pipe_core(const uint8_t *data, size_t len)
{
	struct coredump *c;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_true(fcntl(fd[1], F_SETPIPE_SZ, 1 << 16) != -1);
	assert_int_equal(write(fd[1], data, len), (ssize_t)len);
	close(fd[1]);
	c = coredump_read(fd[0]);
	close(fd[0]);
	return c;
}

/*
 * Count a register whose bytes are 1, as those of thread 7, in count[0], and
 * other registers in count[1].
 */
static void
register_count(void *count, uint64_t value, bool stack)
{
	(void)stack;
	((size_t *)count)[value != (unsigned long)0x0101010101010101]++;
}

static void
test_whole(void **state)
{
	struct dumpthread d;
	struct dumpnote n;
	struct coredump *c;
	struct buf b = { 0 };
	size_t count[2] = { 0 };

	(void)state;
	core_make(&b, 300);
	assert_non_null(c = pipe_core(b.data, b.len));
	assert_false(coredump_find(c, 8, &d));
	assert_true(coredump_find(c, 7, &d));
	assert_int_equal(d.signal, 11);
	assert_int_equal(d.blocked, 0x0101010101010101);
	assert_int_equal(d.general.len, REGS);
	assert_int_equal(((uint8_t *)d.general.data)[REGS - 1], 1);
	assert_true(coredump_note(c, &d, &n));
	assert_int_equal(n.type, NT_PRFPREG);
	assert_int_equal(n.len, 3);
	assert_true(coredump_note(c, &d, &n));
	assert_int_equal(n.type, NT_SIGINFO);
	assert_false(coredump_note(c, &d, &n));
	assert_true(coredump_find(c, 9, &d));
	assert_int_equal(d.blocked, 0x0202020202020202);
	assert_false(coredump_note(c, &d, &n));
	coredump_regs(c, register_count, count);
	assert_int_equal(count[0], REGS / sizeof(long));
	assert_int_equal(count[1], REGS / sizeof(long));
	coredump_free(c);
	buf_free(&b);
}

static void
test_cut(void **state)
{
	struct buf b = { 0 };
	size_t i;

	(void)state;
	core_make(&b, 0);
	for (i = 0; i < b.len; i++)
		assert_null(pipe_core(b.data, i));
	buf_free(&b);
}

/*
 * Change each byte: nothing outside the notes is read.
 */
static void
test_wrong(void **state)
{
	static const uint8_t other[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct dumpthread d;
	struct dumpnote n;
	struct coredump *c;
	struct buf b = { 0 };
	size_t i, j;
	uint8_t was;

	(void)state;
	core_make(&b, 0);
	for (i = 0; i < b.len; i++)
		for (j = 0; j < sizeof other; j++) {
			was = b.data[i];
			b.data[i] = other[j];
			c = pipe_core(b.data, b.len);
			b.data[i] = was;
			if (c == NULL)
				continue;
			if (coredump_find(c, 7, &d))
				while (coredump_note(c, &d, &n))
					continue;
			(void)coredump_find(c, -1, &d);
			coredump_free(c);
		}
	buf_free(&b);
}

/*
 * In a 32-bit process the words have half the size.
 */
static void
test_small(void **state)
{
	Elf32_Ehdr h = { .e_type = ET_CORE, .e_phoff = sizeof h };
	Elf32_Phdr p = { .p_type = PT_NOTE };
	struct buf b = { 0 }, notes = { 0 };
	struct dumpthread d;
	struct coredump *c;
	uint8_t s[SMALL];
	const int32_t pid = 5;

	(void)state;
	memset(s, 3, sizeof s);
	memcpy(s + 24, &pid, sizeof pid);
	note_add(&notes, NT_PRSTATUS, s, sizeof s);
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS32;
	p.p_offset = sizeof h + sizeof p;
	p.p_filesz = (uint32_t)notes.len;
	buf_add(&b, &h, sizeof h);
	buf_add(&b, &p, sizeof p);
	buf_add(&b, notes.data, notes.len);
	assert_non_null(c = pipe_core(b.data, b.len));
	assert_true(coredump_find(c, 5, &d));
	assert_int_equal(d.general.len, 68);
	assert_int_equal(d.blocked, 0x03030303);
	coredump_free(c);
	buf_free(&b);
	buf_free(&notes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests_name("coredump", tests, NULL, NULL);
}
