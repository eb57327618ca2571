/*
 * Buffers that grow: buf.c
 */
#include "model.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
test_add(void **state)
{
	struct buf b = { 0 };
	uint8_t *want;
	struct rng r;
	size_t n, len;
	char piece[300];

	(void)state;
	rng_init(&r, "add", 1);
	want = malloc(1 << 20);
	assert_non_null(want);
	for (len = 0; len < (1 << 20) - sizeof piece; len += n) {
		n = rng_below(&r, sizeof piece);
		rng_bytes(&r, piece, n);
		memcpy(want + len, piece, n);
		buf_add(&b, piece, n);
		assert_int_equal(b.len, len + n);
		assert_true(b.cap >= b.len);
	}
	assert_int_equal(buf_check(&b), 0);
	assert_memory_equal(b.data, want, len);
	assert_true(b.cap <= len * 2);
	buf_free(&b);
	assert_null(b.data);
	assert_int_equal(b.len, 0);
	free(want);
}

static void
test_nothing(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_add(&b, NULL, 0);
	buf_puts(&b, "");
	buf_printf(&b, "%s", "");
	assert_int_equal(b.len, 0);
	assert_int_equal(buf_check(&b), 0);
	buf_free(&b);
}

/*
 * Texts of all lengths are formatted completely.
 */
static void
test_printf(void **state)
{
	struct buf b;
	char want[600];
	int i;

	(void)state;
	for (i = 0; i < 500; i++) {
		memset(&b, 0, sizeof b);
		buf_printf(&b, "%*d|", i, 7);
		buf_puts(&b, "end");
		snprintf(want, sizeof want, "%*d|end", i, 7);
		assert_int_equal(b.len, strlen(want));
		assert_memory_equal(b.data, want, b.len);
		buf_free(&b);
	}
}

static void
test_room(void **state)
{
	struct buf b = { 0 };
	uint8_t *p;

	(void)state;
	buf_puts(&b, "ab");
	p = buf_room(&b, 1000);
	assert_ptr_equal(p, b.data + 2);
	assert_int_equal(b.len, 2);
	assert_true(b.cap - b.len >= 1000);
	memset(p, 'c', 1000);
	b.len += 1000;
	assert_ptr_equal(buf_room(&b, 0), b.data + 1002);
	buf_free(&b);
}

/*
 * After a failure nothing is added, the content stays, and buf_check() returns
 * an error.
 */
static void
test_failed(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_puts(&b, "kept");
	assert_null(buf_room(&b, SIZE_MAX));
	assert_true(b.failed);
	assert_null(buf_room(&b, 1));
	buf_puts(&b, "more");
	buf_printf(&b, "%d", 1);
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "kept", 4);
	assert_int_equal(buf_check(&b), -1);
	assert_string_equal(snap_errstr(), "out of memory");
	buf_free(&b);
	assert_int_equal(buf_check(&b), 0);
}

static void
test_errstr(void **state)
{
	char much[3000];

	(void)state;
	assert_int_equal(errstr_set("a %d", 1), -1);
	assert_string_equal(snap_errstr(), "a 1");
	assert_int_equal(errstr_wrap("b %s", "2"), -1);
	assert_string_equal(snap_errstr(), "b 2: a 1");
	errstr_set("%s, again", snap_errstr());
	assert_string_equal(snap_errstr(), "b 2: a 1, again");
	memset(much, 'x', sizeof much - 1);
	much[sizeof much - 1] = '\0';
	errstr_set("%s", much);
	errstr_wrap("%s", much);
	assert_true(strlen(snap_errstr()) < 1024);
	errno = ENOSPC;
	assert_int_equal(errstr_sys("%s", much), -1);
	assert_int_equal(errno, ENOSPC);
	assert_contains(snap_errstr(), strerror(ENOSPC));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_errstr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
