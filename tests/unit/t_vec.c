/*
 * Growing arrays (lib/vec.h), sorting and bisection (lib/bisect.h).
 */
#include "util.h"
#include "bisect.h"
#include "vec.h"

struct stretch {
	uint64_t start, end;
};

/*
 * An array of any length keeps what was added, even if elements were removed.
 */
static void
test_grow(void **state)
{
	uint64_t *v;
	size_t i, n;

	(void)state;
	v = NULL;
	for (i = n = 0; n < 1000; i++) {
		assert_int_equal(VEC_ROOM(v, n), 0);
		v[n] = n * 3;
		n = i % 7 == 6 ? n - 2 : n + 1;
	}
	for (n = 0; n < 1000; n++)
		assert_int_equal(v[n], n * 3);
	for (n = 0; n < 5; n++) {
		assert_int_equal(VEC_ROOM(v, n), 0);
		v[n] = 7;
	}
	for (i = 0; i < n; i++)
		assert_int_equal(v[i], 7);
	free(v);
}

/*
 * A size that is too large is refused, and the array is kept.
 */
static void
test_large(void **state)
{
	volatile size_t most = SIZE_MAX;	/* unknown to the compiler */
	uint64_t *v, *old;

	(void)state;
	v = NULL;
	assert_int_equal(VEC_ROOM(v, 0), 0);
	v[0] = 42;
	old = v;
	errstr_set("nothing");
	assert_int_equal(VEC_ROOM(v, most / 2 + 1), -1);
	assert_string_equal(snap_errstr(), "out of memory");
	assert_int_equal(VEC_ROOM(v, most / 4 + 1), -1);
	assert_int_equal(VEC_ROOM(v, (most / 2 + 1) / 16), -1);
	assert_ptr_equal(v, old);
	assert_int_equal(v[0], 42);
	free(v);
}

/*
 * The first run that ends after an address, for all addresses.
 */
static void
test_behind(void **state)
{
	struct stretch r[9];
	size_t n, k, want;
	uint64_t at;

	(void)state;
	for (n = 0; n <= 9; n++) {
		for (k = 0; k < n; k++)
			r[k] = (struct stretch){ k * 10, k * 10 + 4 };
		for (at = 0; at < 100; at++) {
			for (want = 0; want < n && r[want].end <= at;)
				want++;
			assert_int_equal(BISECT_WHILE(i, n, r[i].end <= at),
			    want);
			for (want = 0; want < n && r[want].start <= at;)
				want++;
			assert_int_equal(BISECT(r, n, start, at), want);
		}
	}
}

CMP(end_cmp, struct stretch, end)
CMP2(both_cmp, struct stretch, start, end)
PCMP(endp_cmp, struct stretch, end)

/*
 * An array of any length is sorted by one number or by two. Each element is
 * found; of equal ones, the first.
 */
static void
test_find(void **state)
{
	struct stretch r[9], *p[9], *none = NULL;
	size_t n, i;

	(void)state;
	assert_null(FIND(none, 0, start, 0));
	for (n = 1; n <= 9; n++) {
		for (i = 0; i < n; i++) {
			r[i] = (struct stretch){ (n - i) / 2, i * 2 };
			p[i] = &r[i];
		}
		SORT(r, n, both_cmp);
		for (i = 1; i < n; i++)
			assert_true(r[i - 1].start < r[i].start ||
			    (r[i - 1].start == r[i].start &&
			    r[i - 1].end < r[i].end));
		for (i = 0; i < n; i++)
			if (i == 0 || r[i - 1].start < r[i].start)
				assert_ptr_equal(FIND(r, n, start, r[i].start),
				    &r[i]);
		assert_null(FIND(r, n, start, n));
		SORT(p, n, endp_cmp);
		for (i = 0; i < n; i++) {
			assert_int_equal(p[i]->end, i * 2);
			assert_ptr_equal(PFIND(p, n, end, i * 2), p[i]);
			assert_null(PFIND(p, n, end, i * 2 + 1));
		}
		SORT(r, n, end_cmp);
		assert_int_equal(r[n - 1].end, (n - 1) * 2);
	}
}

int
main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
