/*
 * Memory for copies that is allocated before the stop: linux/set/shmems.c,
 * linux/file/prepared.c.
 */
#include "full.h"
#include "linux/file/file.h"
#include "state/state.h"
#include "util.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 64 * KB, HALF = SIZE / 2 };

static uint8_t data[SIZE], got[SIZE];

/*
 * Note the mappings in a text of smaps.
 */
static void
note(struct live *l, const char *text)
{
	struct scan t = scan_begin(text, strlen(text));
	struct smap m;

	while (smap_next(&t, &m) == 1)
		shmems_note(l, &m);
}

static void
test_sum(void **state)
{
	struct live l = { 0 };

	(void)state;
	assert_int_equal(l.shmem, 0);
	/* mapped by two processes, twice in part by one of them */
	note(&l, "1000-3000 rw-s 00000000 00:01 5  /dev/zero (deleted)\n"
	    "Rss: 8 kB\n");
	note(&l, "1000-2000 rw-s 00000000 00:01 5  /dev/zero (deleted)\n"
	    "Rss: 4 kB\n"
	    "5000-9000 rw-s 00000000 00:01 5  /dev/zero (deleted)\n"
	    "Rss: 16 kB\n");
	assert_int_equal(l.shmem, 16 * KB);
	note(&l, "1000-2000 rw-s 00000000 00:02 5  /dev/shm/x\nRss: 4 kB\n"
	    "2000-3000 rw-s 00000000 00:01 6  [anon_shmem:x]\nRss: 4 kB\n");
	assert_int_equal(l.shmem, 24 * KB);
	/* files, memory without pages, and private memory are not counted */
	note(&l, "1000-2000 rw-s 00000000 08:02 5  /data\nRss: 4 kB\n"
	    "2000-3000 rw-s 00000000 00:01 7  /dev/zero (deleted)\nRss: 0 kB\n"
	    "3000-4000 rw-p 00000000 00:00 0 \nRss: 4 kB\n");
	assert_int_equal(l.shmem, 24 * KB);
	/* the memory of a process may grow by an eighth */
	note(&l, "1000-2000 rw-p 00000000 00:00 0 \nRss: 8 kB\n"
	    "VmFlags: rd wr dc\n");
	assert_int_equal(l.shmem, 33 * KB);
	live_forget(&l);
}

/*
 * Exchange the halves of data in a copy. atonce bytes of the output are
 * complete at once, all of them after prepared_write().
 */
static void
copy(struct live *l, size_t atonce)
{
	const struct copyrun run[] = {
		{ 0, HALF, HALF }, { HALF, 0, HALF }
	};
	struct copyjob j = { .run = run, .n = 2 };
	size_t i;

	j.in = memfd_create("in", 0);
	j.out = memfd_create("out", 0);
	for (i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(1 + i % 251);
	assert_int_equal(full_write(j.in, data, SIZE), 0);
	assert_int_equal(ftruncate(j.out, SIZE), 0);
	assert_int_equal(prepared_copy(l, &j), 0);
	memset(data, 0, SIZE);		/* the input changes after the stop */
	assert_int_equal(full_pwrite(j.in, data, SIZE, 0), 0);
	assert_int_equal(full_pread(j.out, got, SIZE, 0), SIZE);
	for (i = 0; i < SIZE && got[i] != 0; i++)
		continue;
	assert_int_equal(i, atonce);
	assert_int_equal(prepared_write(l), 0);
	assert_null(l->prepared);
	assert_int_equal(full_pread(j.out, got, SIZE, 0), SIZE);
	for (i = 0; i < SIZE; i++)
		assert_int_equal(got[i], 1 + (i + HALF) % SIZE % 251);
	close(j.in);
	close(j.out);
}

static void
test_copy(void **state)
{
	struct live l = { 0 };

	(void)state;
	copy(&l, SIZE);
	prepared_make(&l, UINT64_MAX);
	assert_null(l.prepared);	/* no memory is shared */
	note(&l, "100000-400000 rw-s 00000000 00:01 5  /dev/zero (deleted)\n"
	    "Rss: 3072 kB\n");
	prepared_make(&l, 3 * KB * KB);	/* in huge pages it takes 4 MiB */
	assert_null(l.prepared);
	prepared_make(&l, 4 * KB * KB);
	if (l.prepared == NULL)
		skip_because("no MADV_POPULATE_WRITE here");	/* Linux 5.14 */
	copy(&l, 4 * KB);
	live_forget(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
