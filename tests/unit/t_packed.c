/*
 * Data of threads, packed while they are stopped: linux/stop/packed.c.
 */
#include "util.h"

#include "linux/stop/stopping.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 11008 };		/* size of extended state with tiles */

/*
 * Packed data has at most most bytes and is unpacked to the original.
 */
static void
there_and_back(const uint8_t *data, size_t len, size_t most)
{
	struct filelist l = { 0 };

	filelist_pack(&l, "x", data, len);
	assert_false(l.failed);
	assert_int_equal(l.n, 1);
	assert_between(l.file[0].len, 0, most);
	assert_int_equal(file_unpack(&l.file[0]), 0);
	assert_int_equal(l.file[0].len, len);
	assert_memory_equal(l.file[0].data, data, len);
	filelist_free(&l);
}

static void
zeros_take_nothing(void **state)
{
	static uint8_t data[MOST];

	(void)state;
	there_and_back(data, sizeof data, 64);
	data[sizeof data - 1] = 1;
	there_and_back(data, sizeof data, 128);
	memset(data, 0, sizeof data);
	data[64 * 3] = 1;
	data[64 * 70 + 63] = 2;
	there_and_back(data, sizeof data, 192);
}

static void
any_length_comes_back(void **state)
{
	static uint8_t data[MOST];
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof data; i++)
		data[i] = i / 64 % 3 == 0 ? (uint8_t)(i * 7 + 1) : 0;
	for (len = 0; len < 1200; len++)
		there_and_back(data, len, len / 2 + 128);
	for (len = 0; len < 200; len++)
		there_and_back(data + 1, len, len + 32);
}

/*
 * The register sets of a thread are complete in its record, also one without a
 * name and a place in reg. General registers are not packed.
 */
static void
registers_come_back(void **state)
{
	static const char *const set[] = { "regset/prstatus", "regset/fpregs",
	    "regset/xstate", "regset/401", "regset/40c" };
	enum { SETS = sizeof set / sizeof *set };
	static const uint8_t whole[SETS][200] = { { 1, 2 }, { 3 }, { 4 },
	    { [150] = 5 }, { [64] = 6, [199] = 7 } };
	const struct file *f;
	struct bytes reg[REGSET_MAX] = { { 0 } };
	struct lthread t = { 0 };
	size_t i;

	(void)state;
	filelist_copy(&t.rec, "stat", "1", 1);
	filelist_copy(&t.rec, set[0], whole[0], sizeof whole[0]);
	for (i = 1; i < SETS; i++)
		filelist_pack(&t.rec, set[i], whole[i], sizeof whole[i]);
	assert_int_equal(regs_unpack(&t, reg), 0);
	for (i = 0; i < SETS; i++) {
		assert_non_null(f = filelist_find(&t.rec, set[i]));
		assert_int_equal(f->len, sizeof whole[i]);
		assert_memory_equal(f->data, whole[i], f->len);
	}
	for (i = 0; i < REGSET_MAX; i++)
		assert_memory_equal(reg[i].data, whole[i], sizeof whole[i]);
	filelist_free(&t.rec);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeros_take_nothing),
		cmocka_unit_test(any_length_comes_back),
		cmocka_unit_test(registers_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
