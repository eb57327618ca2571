/*
 * Register sets as they are kept while threads are stopped:
 * linux/stop/packed.c.
 */
#include "util.h"

#include "linux/stop/packed.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 11008 };		/* bytes of extended state with tiles */

/*
 * What was packed comes back, and takes no more than most bytes meanwhile.
 */
static void
there_and_back(const uint8_t *data, size_t len, size_t most)
{
	struct filelist l = { 0 };

	filelist_pack(&l, "x", data, len);
	assert_false(l.failed);
	assert_int_equal(l.n, 1);
	assert_in_range(l.file[0].len, 0, most);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeros_take_nothing),
		cmocka_unit_test(any_length_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
