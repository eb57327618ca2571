/*
 * Large amounts of bytes: io/bulk.c, mapped.c.
 */
#include "io/io.h"
#include "util.h"

#include <sys/resource.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 20 * 1024 * KB, WORDS = 9973 };

/*
 * Add len bytes in pieces of odd sizes and compare the result. Forget parts of
 * it and compare it again.
 */
static void
there_and_back(size_t len)
{
	static uint32_t word[WORDS];
	const uint8_t *piece = (const uint8_t *)word;
	struct bulk k = { 0 };
	uint8_t *data;
	size_t i, n, round;

	for (i = 0; i < WORDS; i++)
		word[i] = (uint32_t)(i * 2654435761U);
	for (i = 0; i < len; i += n) {
		n = len - i < sizeof word ? len - i : sizeof word;
		bulk_add(&k, word, n);
	}
	assert_int_equal(bulk_finish(&k, &data, &n), 0);
	assert_int_equal(n, len);
	for (round = 0; round < 2; round++)
		for (i = 0; i < len; i += n) {
			n = len - i < sizeof word ? len - i : sizeof word;
			assert_memory_equal(data + i, piece, n);
			data_forget(data, i + n);
		}
	data_free(data);
	assert_null(k.b.data);
}

static void
test_few(void **state)
{
	(void)state;
	there_and_back(0);
	there_and_back(1);
	there_and_back(100 * KB);
}

static void
test_many(void **state)
{
	(void)state;
	there_and_back(8 * 1024 * KB);
	there_and_back(MANY);
	there_and_back(MANY + 1);
}

/*
 * If a file cannot be created or is too small, the bytes are kept in memory.
 */
static void
test_noroom(void **state)
{
	struct rlimit had, rl;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
	there_and_back(MANY);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &had), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	rl = had;
	for (rl.rlim_cur = 0; rl.rlim_cur < MANY;
	    rl.rlim_cur += 5 * 1024 * KB + 1) {
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &rl), 0);
		there_and_back(MANY);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &had), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_noroom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
