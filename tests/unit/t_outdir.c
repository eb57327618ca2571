/*
 * Directories of many files: outdir.c
 *
 * link with: -Wl,--wrap=fsync,--wrap=pthread_create
 */
#include "util.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 500 };

static char top[] = "/tmp/t_outdir.XXXXXX";
static char path[64];
static atomic_ulong synced;
static unsigned long fails;		/* the n-th call fails; 0: none */

int __wrap_fsync(int fd);

int
__wrap_fsync(int fd)
{
	(void)fd;
	if (atomic_fetch_add(&synced, 1) + 1 != fails)
		return 0;
	errno = EIO;
	return -1;
}

static unsigned int interrupted;	/* threads that take signals */

int __real_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
    void *(*fn)(void *), void *arg)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (!sigismember(&set, SIGTERM))
		interrupted++;
	return __real_pthread_create(t, a, fn, arg);
}

static struct outdir *
written(size_t n)
{
	struct outdir *o;
	char name[32];
	size_t i;

	atomic_store(&synced, 0);
	assert_non_null(o = outdir_open(path, "last", false));
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof name, "file-%zu", i);
		assert_int_equal(outdir_put(o, name, "bytes", 5), 0);
	}
	return o;
}

static void
removed(size_t n)
{
	char name[96];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%s/file-%zu", path, i);
		assert_int_equal(unlink(name), 0);
	}
	snprintf(name, sizeof name, "%s/last", path);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(path), 0);
}

/*
 * Each file, the last file and the directory are synced once. The threads block
 * signals.
 */
static void
test_all(void **state)
{
	static const size_t n[] = { 0, 1, 15, 16, FILES };
	size_t i;

	(void)state;
	fails = 0;
	for (i = 0; i < sizeof n / sizeof *n; i++) {
		assert_int_equal(outdir_commit(written(n[i]), "last", "", 0),
		    0);
		assert_int_equal(atomic_load(&synced), n[i] + 2);
		assert_int_equal(interrupted, 0);
		removed(n[i]);
	}
}

/*
 * If a file cannot be synced, the directory is not complete, and the error
 * names a file.
 */
static void
test_one(void **state)
{
	static const unsigned long nth[] = { 1, 250, FILES };
	struct outdir *o;
	char want[96];
	size_t i;

	(void)state;
	snprintf(want, sizeof want, "%s/file-", path);
	for (i = 0; i < sizeof nth / sizeof *nth; i++) {
		fails = nth[i];
		o = written(FILES);
		assert_int_equal(outdir_commit(o, "last", "", 0), -1);
		assert_int_equal(strncmp(snap_errstr(), want, strlen(want)), 0);
		assert_non_null(strstr(snap_errstr(), strerror(EIO)));
		outdir_abort(o);
		assert_int_equal(access(path, F_OK), -1);
	}
}

/*
 * A link that cannot be made is an error. An old link is replaced.
 */
static void
test_link(void **state)
{
	struct outdir *o;
	char name[96], to[8] = "";

	(void)state;
	snprintf(name, sizeof name, "%s/link", path);
	assert_non_null(o = outdir_open(path, "last", false));
	assert_int_equal(outdir_link(o, "link", ""), -1);
	assert_contains(snap_errstr(), name);
	assert_int_equal(outdir_link(o, "link", "old"), 0);
	assert_int_equal(outdir_link(o, "link", "new"), 0);
	assert_int_equal(readlink(name, to, sizeof to - 1), 3);
	assert_string_equal(to, "new");
	outdir_abort(o);
	assert_int_equal(access(path, F_OK), -1);
}

static int
descriptors(void)
{
	int fd, n;

	for (n = fd = 0; fd < 100; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/*
 * A check leaves neither a directory nor a descriptor behind.
 */
static void
test_check(void **state)
{
	const int n = descriptors();

	(void)state;
	assert_int_equal(outdir_check(path, false), 0);
	assert_int_equal(descriptors(), n);
	assert_int_equal(access(path, F_OK), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_check)
	};
	int rc;

	if (mkdtemp(top) == NULL)
		return 1;
	snprintf(path, sizeof path, "%s/dir", top);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	(void)rmdir(top);
	return rc;
}
