/*
 * Writing in the background: io/behind.c
 *
 * link with: -Wl,--wrap=sync_file_range
 */
#include "util.h"
#include "full.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4096, PIECES = 3000, FILES = 3, LENGTH = 64 * SIZE };

/*
 * Pieces of any length are written in the order in which they were queued:
 * where two overlap, the later one stays.
 */
static void
test_order(void **state)
{
	static uint8_t want[FILES][LENGTH], have[LENGTH];
	struct behind *b;
	struct rng r;
	uint8_t *buf;
	size_t i, k, n, at;
	int fd[FILES];

	(void)state;
	rng_init(&r, "order", 90);
	memset(want, 0, sizeof want);
	for (i = 0; i < FILES; i++)
		assert_int_not_equal(fd[i] = spool_memory("behind", 0), -1);
	assert_non_null(buf = malloc(SIZE));
	assert_non_null(b = behind_new(SIZE, false));
	for (i = 0; i < PIECES; i++) {
		k = rng_below(&r, FILES);
		n = 1 + rng_below(&r, SIZE);
		at = rng_below(&r, LENGTH - n);
		memset(buf, (int)i, SIZE);
		memset(want[k] + at, (int)i, n);
		assert_int_equal(behind_write(b, fd[k], &buf, n, at), 0);
	}
	assert_int_equal(behind_end(b), 0);
	free(buf);
	for (i = 0; i < FILES; i++) {
		memset(have, 0, sizeof have);
		full_pread(fd[i], have, sizeof have, 0);
		assert_memory_equal(have, want[i], sizeof have);
		close(fd[i]);
	}
}

/*
 * A write error is reported at the end, even if later pieces were queued.
 */
static void
test_full(void **state)
{
	struct behind *b;
	uint8_t *buf;
	int i, full, fd, rc;

	(void)state;
	assert_int_not_equal(full = open("/dev/full", O_WRONLY), -1);
	assert_int_not_equal(fd = spool_memory("behind", 0), -1);
	assert_non_null(buf = calloc(1, SIZE));
	assert_non_null(b = behind_new(SIZE, false));
	rc = behind_write(b, full, &buf, SIZE, 0);
	for (i = 0; i < 20 && rc == 0; i++)
		rc = behind_write(b, fd, &buf, SIZE, 0);
	if (rc == -1)
		assert_int_equal(errno, ENOSPC);
	assert_int_equal(behind_end(b), -1);
	assert_int_equal(errno, ENOSPC);
	free(buf);
	close(fd);
	close(full);
}

static int begun;		/* calls that continue the last */
static off_t next;		/* where it ended */

int __wrap_sync_file_range(int fd, off_t at, off_t n, unsigned int flags);

int
__wrap_sync_file_range(int fd, off_t at, off_t n, unsigned int flags)
{
	(void)fd;
	(void)flags;
	begun += at == next;
	next = at + n;
	return 0;
}

/*
 * Write 20 MiB sequentially, with small holes.
 */
static void
write_row(bool kept)
{
	enum { MB = 1 << 20 };
	struct behind *b;
	uint8_t *buf;
	int fd;
	uint64_t i;

	begun = 0;
	next = 0;
	assert_int_not_equal(fd = spool_memory("behind", 0), -1);
	assert_non_null(buf = calloc(1, MB));
	assert_non_null(b = behind_new(MB, kept));
	for (i = 0; i < 20; i++)
		assert_int_equal(behind_write(b, fd, &buf, MB - 9, i * MB), 0);
	assert_int_equal(behind_end(b), 0);
	free(buf);
	close(fd);
}

/*
 * Data to be kept is sent to the disk every 8 MiB; other data is not.
 */
static void
test_begun(void **state)
{
	(void)state;
	write_row(true);
	assert_int_equal(begun, 2);
	assert_int_equal(next, (17 << 20) - 9);
	write_row(false);
	assert_int_equal(begun, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
