/*
 * Paths that must stay beneath a directory: beneath.c, with openat2(2), and
 * without it, component by component.
 */
#include "util.h"
#include "io/io.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char	*path;
	int		 want;	/* errno; 0: it can be opened */
} cases[] = {
	{ "file", 0 },
	{ "./dir//inner", 0 },
	{ "dir", 0 },
	{ "dir/", 0 },
	{ "gone", ENOENT },
	{ "", ENOENT },
	{ "file/x", ENOTDIR },
	{ "link", 0 },
	{ "away/inner", ELOOP },
	{ "../file", EXDEV },
	{ "..", EXDEV },
	{ "/etc", EXDEV },
};

/*
 * Make a directory with files and change to it.
 */
static int
setup(void **state)
{
	static char dir[] = "/tmp/t_beneath.XXXXXX";
	int fd;

	if (mkdtemp(dir) == NULL || chdir(dir) == -1 ||
	    mkdir("dir", 0700) == -1 || symlink("file", "link") == -1 ||
	    symlink("dir", "away") == -1)
		return -1;
	if ((fd = open("file", O_WRONLY | O_CREAT, 0600)) == -1 ||
	    close(fd) == -1 ||
	    (fd = open("dir/inner", O_WRONLY | O_CREAT, 0600)) == -1 ||
	    close(fd) == -1)
		return -1;
	*state = dir;
	return 0;
}

static int
teardown(void **state)
{
	(void)unlink("dir/inner");
	(void)unlink("file");
	(void)unlink("link");
	(void)unlink("away");
	(void)rmdir("dir");
	return rmdir(*state);
}

/*
 * Return the number of the first wrong case, from 1; 0: none is wrong.
 */
static int
cases_wrong(void)
{
	struct stat st, want;
	int dir, fd, got;
	size_t i;

	dir = open(".", O_PATH | O_DIRECTORY);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		fd = beneath_open(dir, cases[i].path);
		got = fd == -1 ? errno : 0;
		/* ENOTDIR: a link in place of a directory */
		if (got == ENOTDIR && cases[i].want == ELOOP &&
		    strchr(cases[i].path, '/') != NULL)
			got = ELOOP;
		if (got != cases[i].want || (fd != -1 &&
		    (fcntl(fd, F_GETFD) != FD_CLOEXEC ||
		    fstat(fd, &st) == -1 || fstatat(dir, cases[i].path, &want,
		    AT_SYMLINK_NOFOLLOW) == -1 || st.st_ino != want.st_ino)))
			return (int)i + 1;
		if (fd != -1)
			close(fd);
	}
	close(dir);
	return 0;
}

static void
test_kernel(void **state)
{
	(void)state;
	assert_int_equal(cases_wrong(), 0);
}

/*
 * Make openat2(2) fail with error e.
 */
static int
openat2_refuse(int e)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)e),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void
test_walk(void **state)
{
	static const int answer[] = { ENOSYS, EPERM };
	int status;
	size_t i;
	pid_t pid;

	(void)state;
	/* qemu-user has no filters */
	if (prctl(PR_GET_SECCOMP) == -1)
		skip_because("no seccomp(2) here");
	for (i = 0; i < 2; i++) {
		if ((pid = fork()) == 0)
			_exit(openat2_refuse(answer[i]) == -1 ? 99 :
			    beneath_resolve(AT_FDCWD, "file", O_RDONLY,
			    0) != -1 ? 98 : cases_wrong());
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/*
 * A file that was opened with O_PATH is reopened, even if its name leads to
 * another file by now.
 */
static void
test_reopen(void **state)
{
	struct stat st, was;
	int at, fd;

	(void)state;
	at = beneath_open(AT_FDCWD, "file");
	assert_int_not_equal(at, -1);
	assert_int_equal(fstat(at, &was), 0);
	assert_int_equal(rename("file", "dir/inner"), 0);
	assert_int_equal(symlink("/etc/passwd", "file"), 0);
	fd = beneath_reopen(at, O_WRONLY);
	assert_int_not_equal(fd, -1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_ino, was.st_ino);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	close(at);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_reopen),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
