/*
 * The index from hashes to places: index.c
 */
#include "util.h"
#include "dedup/index.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/*
 * The bits of a hash that make its tag and shard. Hashes that agree in them
 * lead to the same places.
 */
static uint64_t
key_of(uint64_t hash)
{
	return hash >> 38 << 6 | hash % SHARDS;
}

struct entry {
	uint64_t	 hash;
	uint64_t	 place;
};

/*
 * Check that the places of a hash are those of a plain list, in order.
 */
static void
assert_found(const struct index *ix, const struct entry *e, size_t n,
    uint64_t hash)
{
	struct cursor c;
	uint64_t p;
	size_t i;

	p = index_first(ix, hash, &c);
	for (i = 0; i < n; i++)
		if (key_of(e[i].hash) == key_of(hash)) {
			assert_int_equal(p, e[i].place);
			p = index_next(&c);
		}
	assert_int_equal(p, PLACE_NONE);
}

static void
test_empty(void **state)
{
	struct index ix;
	struct cursor c;

	(void)state;
	index_init(&ix);
	assert_int_equal(index_first(&ix, 12345, &c), PLACE_NONE);
	assert_int_equal(index_next(&c), PLACE_NONE);
	assert_int_equal(index_bytes(&ix), 0);
	index_prefetch(&ix, 1);
	index_free(&ix);
}

/*
 * Few hashes, so that many are equal, and some that differ only in bits that
 * are not stored.
 */
static void
test_random(void **state)
{
	static struct entry e[4000];
	struct index ix;
	struct rng r;
	size_t n, i;
	uint64_t hash;

	(void)state;
	rng_init(&r, "random", 2);
	index_init(&ix);
	for (n = 0; n < sizeof e / sizeof *e; n++) {
		hash = n > 0 && rng_percent(&r, 30) ?
		    e[rng_below(&r, n)].hash : rng_next(&r);
		if (rng_percent(&r, 10))
			hash ^= 1 << 20;
		if (rng_percent(&r, 60))
			hash = hash / SHARDS * SHARDS + 7;
		e[n].hash = hash;
		e[n].place = rng_below(&r, MAX_PLACE);
		assert_int_equal(index_add(&ix, e[n].hash, e[n].place), 0);
		if (n % 40 == 0)
			assert_found(&ix, e, n + 1, hash);
	}
	for (i = 0; i < n; i += 3)
		assert_found(&ix, e, n, e[i].hash);
	for (i = 0; i < 500; i++)
		assert_found(&ix, e, n, rng_next(&r));
	index_free(&ix);
	assert_int_equal(index_bytes(&ix), 0);
}

/*
 * Tags at both ends of their range, and many entries with the last tag, which
 * has no room after its home slot.
 */
static void
test_ends(void **state)
{
	static struct entry e[3000];
	static const uint64_t tag[] = {
		0, 1, ((uint64_t)1 << 26) - 2, ((uint64_t)1 << 26) - 1
	};
	struct index ix;
	size_t n, i;

	(void)state;
	index_init(&ix);
	for (n = 0; n < 400; n++) {
		e[n].hash = tag[n % 4] << 38;
		e[n].place = n * 1000;
		assert_int_equal(index_add(&ix, e[n].hash, e[n].place), 0);
	}
	for (i = 0; i < 4; i++)
		assert_found(&ix, e, n, tag[i] << 38);
	assert_int_equal(index_add(&ix, 1, MAX_PLACE - 1), 0);
	assert_int_equal(index_add(&ix, 1, MAX_PLACE + 1), -1);
	index_free(&ix);
}

/*
 * Many entries with the last tag of a shard. There is room after its home slot,
 * but not if the shard grows by an eighth. Then it grows more and keeps all
 * entries.
 */
static void
test_crowd(void **state)
{
	enum { CROWD = 300, N = 12000 };
	static struct entry e[N];
	struct index ix;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "crowd", 5);
	index_init(&ix);
	for (i = 0; i < N; i++) {
		/* all in one shard */
		e[i].hash = i < CROWD ? UINT64_MAX / SHARDS * SHARDS :
		    rng_next(&r) / SHARDS * SHARDS;
		e[i].place = i * 7;
		assert_int_equal(index_add(&ix, e[i].hash, e[i].place), 0);
	}
	for (i = 0; i < N; i += CROWD - 1)
		assert_found(&ix, e, N, e[i].hash);
	index_free(&ix);
}

/*
 * The largest place under the last tag is found, or it is refused.
 */
static void
test_last(void **state)
{
	struct index ix;
	struct cursor c;

	(void)state;
	index_init(&ix);
	if (index_add(&ix, UINT64_MAX, MAX_PLACE) == 0)
		assert_int_equal(index_first(&ix, UINT64_MAX, &c),
		    MAX_PLACE);
	index_free(&ix);
}

/*
 * A million entries are found. The index takes at most 1.5% of the data that it
 * leads to plus one megabyte, and finally eleven bytes per entry.
 */
static void
test_million(void **state)
{
	enum { N = 1000000 };
	struct index ix;
	struct cursor c;
	struct rng r, again;
	uint64_t hash, p;
	size_t i;

	(void)state;
	rng_init(&r, "million", 3);
	again = r;
	index_init(&ix);
	for (i = 0; i < N; i++) {
		if (i % 4096 == 0)
			assert_between(index_bytes(&ix), 0,
			    (uint64_t)i * KB * 15 / 1000 + (1 << 20));
		assert_int_equal(index_add(&ix, rng_next(&r), i), 0);
	}
	assert_between(index_bytes(&ix), N * 8, N * 11);
	for (i = 0; i < N; i++) {
		hash = rng_next(&again);
		for (p = index_first(&ix, hash, &c); p != i;
		    p = index_next(&c))
			assert_true(p != PLACE_NONE && p < i);
	}
	index_free(&ix);
}

struct looker {
	struct index	*ix;
	bool		 wrong;	/* place of another hash found */
	bool		 end;	/* both atomic */
	size_t		 found;
};

/*
 * The hash of a place, with which a thread checks a place.
 */
static uint64_t
hash_of(uint64_t place)
{
	return place * 0x9e3779b97f4a7c15 ^ place << 50;
}

static void *
look(void *arg)
{
	struct looker *l = arg;
	struct cursor c;
	uint64_t i, hash, p;

	for (i = 0; !__atomic_load_n(&l->end, __ATOMIC_ACQUIRE); i++) {
		hash = hash_of(i % 50000);
		index_hold(l->ix);
		index_prefetch(l->ix, hash);
		for (p = index_first(l->ix, hash, &c); p != PLACE_NONE;
		    p = index_next(&c)) {
			l->wrong |= key_of(hash_of(p)) != key_of(hash);
			__atomic_add_fetch(&l->found, 1, __ATOMIC_RELAXED);
		}
		index_release(l->ix);
	}
	return NULL;
}

/*
 * Threads search while one adds entries. All places found are right, and in the
 * end all are there.
 */
static void
test_lookers(void **state)
{
	enum { LOOKERS = 3, N = 300000 };
	struct looker l[LOOKERS];
	pthread_t t[LOOKERS];
	struct index ix;
	struct cursor c;
	uint64_t i, p;

	(void)state;
	index_init(&ix);
	memset(l, 0, sizeof l);
	for (i = 0; i < LOOKERS; i++) {
		l[i].ix = &ix;
		assert_int_equal(pthread_create(&t[i], NULL, look, &l[i]), 0);
	}
	for (i = 0; i < N; i++) {
		assert_int_equal(index_add(&ix, hash_of(i), i), 0);
		/* all threads are searching */
		if (i < LOOKERS)
			while (__atomic_load_n(&l[i].found,
			    __ATOMIC_RELAXED) == 0)
				sched_yield();
	}
	for (i = 0; i < LOOKERS; i++) {
		__atomic_store_n(&l[i].end, true, __ATOMIC_RELEASE);
		pthread_join(t[i], NULL);
		assert_false(l[i].wrong);
	}
	for (i = 0; i < N; i++) {
		for (p = index_first(&ix, hash_of(i), &c); p != i &&
		    p != PLACE_NONE; p = index_next(&c))
			continue;
		assert_int_equal(p, i);
	}
	index_free(&ix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_lookers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
