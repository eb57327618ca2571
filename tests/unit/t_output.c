/*
 * Output streams: output.c
 *
 * link with: -Wl,--wrap=openat,--wrap=openat64,--wrap=fsync
 */
#include "util.h"
#include "io/io.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/t_output.XXXXXX";

/*
 * If old is true, the file system cannot make unnamed files.
 */
static bool old;

int __real_openat(int, const char *, int, ...);
int __wrap_openat(int, const char *, int, mode_t);

int
__wrap_openat(int at, const char *path, int flags, mode_t mode)
{
	if (old && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat(at, path, flags, mode);
}

/* its name on systems with 32-bit offsets */
int __wrap_openat64(int, const char *, int, mode_t)
    __attribute__((alias("__wrap_openat")));

/*
 * The number of times a file was synced without having the name unnamed.
 */
static const char *unnamed = "file";
static int synced;

int __real_fsync(int);
int __wrap_fsync(int);

int
__wrap_fsync(int fd)
{
	struct stat is, named;

	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
	    (stat(unnamed, &named) == -1 || named.st_ino != is.st_ino))
		synced++;
	return __real_fsync(fd);
}

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL || chdir(dir) == -1;
}

static int
teardown(void **state)
{
	(void)state;
	return chdir("/") == -1 || rmdir(dir) == -1;
}

/*
 * Return the number of files in the directory.
 */
static int
names(void)
{
	struct dirent *e;
	DIR *d;
	int n;

	d = opendir(".");
	assert_non_null(d);
	for (n = 0; (e = readdir(d)) != NULL;)
		n += strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static void
assert_content(const char *path, const void *want, size_t len)
{
	uint8_t *got;
	FILE *f;

	got = malloc(len + 2);
	f = fopen(path, "r");
	assert_true(f != NULL && got != NULL);
	assert_int_equal(fread(got, 1, len + 1, f), len);
	if (len > 0)
		assert_memory_equal(got, want, len);
	fclose(f);
	free(got);
}

static struct output *
must_open(const char *path)
{
	struct output *o;

	if ((o = output_open(path)) == NULL)
		fail_msg("%s", snap_errstr());
	return o;
}

/*
 * A file appears when it is complete. Only its owner may read it.
 */
static void
test_name(void **state)
{
	struct output *o;
	struct stat st;

	(void)state;
	o = must_open("file");
	output_put(o, "abc", 3);
	assert_int_equal(output_flush(o), 0);
	assert_int_equal(output_pos(o), 3);
	assert_int_equal(access("file", F_OK), -1);
	synced = 0;
	assert_int_equal(output_commit(o), 0);
	assert_int_equal(synced, 1);
	assert_content("file", "abc", 3);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(names(), 1);

	o = must_open("./file");	/* replaces the old file */
	output_put(o, "new", 3);
	assert_int_equal(output_flush(o), 0);
	assert_content("file", "abc", 3);
	assert_int_equal(output_commit(o), 0);
	assert_content("file", "new", 3);
	assert_int_equal(names(), 1);
	unlink("file");
}

static void
test_abort(void **state)
{
	struct output *o;

	(void)state;
	o = must_open("file");
	output_put(o, "abc", 3);
	assert_int_equal(output_flush(o), 0);
	output_abort(o);
	assert_int_equal(names(), 0);
	output_abort(NULL);

	assert_int_equal(symlink("nowhere", "file"), 0);
	o = must_open("file");
	output_put(o, "abc", 3);
	output_abort(o);
	assert_int_equal(names(), 1);
	unlink("file");
}

/*
 * If unnamed files are not supported, the file has a temporary name, which is
 * removed with the file, and after a signal.
 */
static void
test_old(void **state)
{
	struct output *o;

	(void)state;
	old = true;
	o = must_open("file");
	output_put(o, "abc", 3);
	assert_int_equal(output_flush(o), 0);
	assert_int_equal(names(), 1);
	assert_int_equal(access("file", F_OK), -1);
	assert_int_equal(output_commit(o), 0);
	assert_int_equal(names(), 1);
	assert_content("file", "abc", 3);
	output_cleanup();
	assert_content("file", "abc", 3);
	unlink("file");

	o = must_open("file");
	assert_int_equal(names(), 1);
	output_abort(o);
	assert_int_equal(names(), 0);

	o = must_open("file");
	assert_int_equal(names(), 1);
	output_cleanup();
	assert_int_equal(names(), 0);
	output_abort(o);
	old = false;
}

/*
 * The longest name that a file may have, and a longer one.
 */
static void
test_long(void **state)
{
	struct output *o;
	char name[300];

	(void)state;
	memset(name, 'n', sizeof name);
	name[255] = '\0';
	o = must_open(name);
	output_put(o, "abc", 3);
	if (output_commit(o) == -1)
		fail_msg("%s", snap_errstr());
	assert_content(name, "abc", 3);
	unlink(name);
	assert_int_equal(names(), 0);
}

static void
test_cannot(void **state)
{
	(void)state;
	assert_null(output_open("no/such/directory"));
	assert_contains(snap_errstr(), "no/such/directory: ");
	assert_contains(snap_errstr(), strerror(ENOENT));
	assert_null(output_open("."));
	assert_null(output_open("/"));
	assert_null(output_open(""));
	assert_int_equal(names(), 0);
}

/*
 * ENOENT means that the directory is missing and can be made. If it cannot be
 * made, the error is another one.
 */
static void
test_directory(void **state)
{
	int made;

	(void)state;
	assert_int_equal(outname_opendir("dir", NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(outname_opendir("no/dir", NULL), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(outname_opendir("no/dir", &made), -1);
	assert_int_equal(made, -1);
}

/*
 * In a directory like /tmp a file must belong to us, root, or the owner of the
 * directory.
 */
static void
test_strange(void **state)
{
	static const struct {
		uid_t	 dir, name;
		bool	 accepted;
	} t[] = {
		{ 1234, 0, true }, { 1234, 1234, true },
		{ 1234, 4321, false }, { 0, 4321, false }
	};
	size_t i;
	int fd;

	(void)state;
	if (geteuid() != 0) {
		print_message("# not root\n");
		return;
	}
	assert_int_equal(mkdir("sticky", 0700), 0);
	assert_int_equal(mkdir("sticky/dir", 0755), 0);
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		assert_int_equal(chown("sticky/dir", t[i].name, 0), 0);
		assert_int_equal(chown("sticky", t[i].dir, 0), 0);
		assert_int_equal(chmod("sticky", 01777), 0);
		fd = outname_opendir("sticky/dir", NULL);
		assert_int_equal(fd != -1, t[i].accepted);
		if (fd != -1)
			close(fd);
		else
			assert_contains(snap_errstr(),
			    "created by another user");
	}
	assert_int_equal(rmdir("sticky/dir"), 0);
	assert_int_equal(rmdir("sticky"), 0);
}

/*
 * A descriptor must be inherited: it is refused if it is close-on-exec.
 */
static void
test_inherited(void **state)
{
	struct output *o;
	char path[32];
	int fd;

	(void)state;
	fd = open("given", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	assert_null(output_open(path));
	assert_contains(snap_errstr(), strerror(EBADF));
	assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
	o = must_open(path);
	output_put(o, "abc", 3);
	assert_int_equal(output_commit(o), 0);
	assert_content("given", "abc", 3);
	close(fd);
	assert_null(output_open(path));
	assert_contains(snap_errstr(), strerror(EBADF));
	unlink("given");
}

/*
 * A device of another user is refused unless it discards all output.
 */
static void
test_sinks(void **state)
{
	static const struct {
		mode_t		 type;
		unsigned int	 major, minor;
		bool		 accepted;
	} t[] = {
		{ S_IFCHR, 1, 3, true }, { S_IFCHR, 1, 5, true },
		{ S_IFCHR, 1, 7, true }, { S_IFCHR, 1, 4, false },
		{ S_IFCHR, 1, 6, false }, { S_IFCHR, 1, 8, false },
		{ S_IFCHR, 5, 3, false }, { S_IFBLK, 1, 3, false },
		{ S_IFIFO, 1, 3, false }
	};
	struct stat st = { .st_uid = 12345, .st_nlink = 1 };
	size_t i;
	int at, fd;

	(void)state;
	at = open("/dev/null", O_PATH | O_CLOEXEC);
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		st.st_mode = t[i].type | 0666;
		st.st_rdev = makedev(t[i].major, t[i].minor);
		fd = outname_device(at, &st, "/dev/null");
		assert_int_equal(fd != -1, t[i].accepted);
		if (fd != -1)
			close(fd);
	}
	close(at);
}

static void
test_full(void **state)
{
	static uint8_t much[200000];
	struct output *o;

	(void)state;
	o = must_open("/dev/full");
	output_put(o, "abc", 3);
	assert_int_equal(output_flush(o), -1);
	assert_contains(snap_errstr(), "/dev/full: write: ");
	assert_contains(snap_errstr(), strerror(ENOSPC));
	errstr_set("another error");
	output_put(o, much, sizeof much);
	assert_int_equal(output_flush(o), -1);
	assert_contains(snap_errstr(), "/dev/full: write: ");
	assert_int_equal(output_commit(o), -1);
	assert_contains(snap_errstr(), strerror(ENOSPC));

	o = must_open("/dev/null");
	output_put(o, much, sizeof much);
	assert_int_equal(output_commit(o), 0);
	assert_int_equal(access("/dev/full", F_OK), 0);
}

static void
test_snapfull(void **state)
{
	struct output *o;
	struct snap *s;
	struct rng r;

	(void)state;
	rng_init(&r, "full", 80);
	s = snap_make(&r, false);
	o = must_open("/dev/full");
	assert_int_equal(snap6_write(s, o, NULL, NULL), -1);
	assert_contains(snap_errstr(), strerror(ENOSPC));
	output_abort(o);
	snap_free(s);
}

/*
 * Write pieces of all sizes.
 */
static void
test_pieces(void **state)
{
	static uint8_t much[1 << 16], want[1 << 22];
	uint8_t *gone;
	struct output *o;
	struct rng r;
	size_t len, n, at;

	(void)state;
	rng_init(&r, "pieces", 81);
	rng_bytes(&r, much, sizeof much);
	o = must_open("file");
	for (len = 0; len < sizeof want - sizeof much; len += n) {
		n = rng_below(&r, rng_percent(&r, 90) ? 30 : sizeof much);
		at = rng_below(&r, sizeof much - n);
		memcpy(want + len, much + at, n);
		gone = malloc(n + 1);
		memcpy(gone, much + at, n);
		output_put(o, gone, n);
		memset(gone, 0, n);
		free(gone);
		if (rng_percent(&r, 1))
			assert_int_equal(output_flush(o), 0);
		assert_int_equal(output_pos(o), len + n);
	}
	assert_int_equal(output_commit(o), 0);
	assert_content("file", want, len);
	unlink("file");
}

/*
 * Holes in a file read as zeros. The length is right even if the file ends in a
 * hole.
 */
static void
test_holes(void **state)
{
	static uint8_t want[1 << 22];
	struct output *o;
	struct stat st;
	struct rng r;
	size_t len, n;
	int end;

	(void)state;
	rng_init(&r, "holes", 83);
	for (end = 0; end < 2; end++) {
		memset(want, 0, sizeof want);
		o = must_open("file");
		for (len = 0; len < sizeof want / 2; len += n) {
			n = rng_below(&r, 300000);
			output_hole(o, n);
			output_hole(o, 0);
			assert_int_equal(output_pos(o), len + n);
			len += n;
			n = rng_below(&r, 100);
			rng_bytes(&r, want + len, n);
			output_put(o, want + len, n);
		}
		if (end == 1) {
			output_hole(o, 1000000);
			output_hole(o, 1);
			len += 1000001;
		}
		assert_int_equal(output_commit(o), 0);
		assert_content("file", want, len);
		assert_int_equal(stat("file", &st), 0);
		assert_true(st.st_blocks < (blkcnt_t)(len / 512 / 2));
		unlink("file");
	}
	o = must_open("file");		/* only a hole */
	output_hole(o, 70000);
	assert_int_equal(output_commit(o), 0);
	memset(want, 0, 70000);
	assert_content("file", want, 70000);
	unlink("file");
}

/*
 * Holes on standard output: zeros are written over existing data, and where
 * bytes are appended.
 */
static void
test_holeshere(void **state)
{
	static const int flags[] = { O_APPEND, 0, O_TRUNC };
	uint8_t want[300000];
	struct output *o;
	int fd, save;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof flags / sizeof *flags; i++) {
		fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
		memset(want, 'x', sizeof want);
		assert_int_equal(write(fd, want, 100000), 100000);
		close(fd);
		fd = open("file", O_WRONLY | O_CLOEXEC | flags[i]);
		fflush(stdout);
		save = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(fd, STDOUT_FILENO);
		close(fd);
		o = output_open(NULL);
		assert_non_null(o);
		output_put(o, "abc", 3);
		output_hole(o, 50000);
		output_put(o, "abc", 3);
		output_hole(o, 100000);
		assert_int_equal(output_commit(o), 0);
		dup2(save, STDOUT_FILENO);
		close(save);
		len = flags[i] == O_APPEND ? 100000 : 0;
		memset(want + len, 0, 150006);
		memcpy(want + len, "abc", 3);
		memcpy(want + len + 50003, "abc", 3);
		assert_content("file", want, len + 150006);
		unlink("file");
	}
}

/*
 * A pipe with a slow reader, and signals that interrupt write(2): it takes
 * fewer bytes than requested.
 */
struct reader {
	int		 fd;
	uint8_t		*data;
	size_t		 len;
	size_t		 most;
};

static void *
read_slowly(void *arg)
{
	struct reader *rd = arg;
	ssize_t n;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	usleep(5000);
	while (rd->len < rd->most && (n = read(rd->fd, rd->data + rd->len,
	    rd->most - rd->len < 5000 ? rd->most - rd->len : 5000)) > 0)
		rd->len += (size_t)n;
	close(rd->fd);
	return NULL;
}

static void
ignore(int sig)
{
	(void)sig;
}

static void
test_pipe(void **state)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = ignore };
	static uint8_t want[3000000], got[3000001];
	struct reader rd = { 0, got, 0, sizeof got };
	struct output *o;
	struct rng r;
	pthread_t t;
	int fd[2];
	char path[64];

	(void)state;
	rng_init(&r, "pipe", 82);
	rng_bytes(&r, want, sizeof want);
	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[1]);
	rd.fd = fd[0];
	assert_int_equal(pthread_create(&t, NULL, read_slowly, &rd), 0);
	o = must_open(path);
	close(fd[1]);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	output_put(o, want, 1000001);
	output_put(o, want + 1000001, 999);
	output_hole(o, 200000);
	memset(want + 1001000, 0, 200000);
	output_put(o, want + 1201000, sizeof want - 1201000);
	assert_int_equal(output_commit(o), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_join(t, NULL);
	assert_int_equal(rd.len, sizeof want);
	assert_memory_equal(got, want, sizeof want);
}

/*
 * Return the size of a pipe after an output of a program began to write to it.
 * before is its size before that; 0: the default.
 */
static int
held(int before)
{
	struct output *o;
	char path[64];
	int fd[2], n;

	assert_int_equal(pipe(fd), 0);
	if (before > 0)
		(void)fcntl(fd[1], F_SETPIPE_SZ, before);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[1]);
	assert_non_null(o = output_begin(path, false, NULL));
	n = fcntl(fd[0], F_GETPIPE_SZ);
	output_abort(o);
	close(fd[0]);
	close(fd[1]);
	return n;
}

/*
 * Output enlarges a pipe to a megabyte, but does not shrink a larger one.
 */
static void
test_wide(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	if (fcntl(fd[1], F_SETPIPE_SZ, 1 << 21) == -1)
		print_message("# no pipes of two megabytes here\n");
	else
		assert_int_equal(held(1 << 21), 1 << 21);
	if (fcntl(fd[1], F_SETPIPE_SZ, 1 << 20) == -1)
		print_message("# no pipes of a megabyte here\n");
	else
		assert_int_equal(held(0), 1 << 20);
	close(fd[0]);
	close(fd[1]);
}

/*
 * The reader closes the pipe.
 */
static void
test_closed(void **state)
{
	static uint8_t much[1 << 20];
	struct output *o;
	int fd[2];
	char path[64];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[1]);
	o = must_open(path);
	close(fd[0]);
	close(fd[1]);
	output_put(o, much, sizeof much);
	assert_int_equal(output_flush(o), -1);
	assert_contains(snap_errstr(), strerror(EPIPE));
	output_abort(o);
}

/*
 * Check that the next frame in fd has this type and these bytes.
 */
static void
frame_is(int fd, char type, const void *data, size_t len)
{
	static uint8_t got[MAX_FRAME];
	char letter;
	size_t n;

	assert_int_equal(frame_read(fd, &letter, got, &n), 1);
	assert_int_equal(letter, type);
	assert_int_equal(n, len);
	assert_memory_equal(got, data, len);
}

static void
test_frames(void **state)
{
	static uint8_t many[MAX_FRAME + 2], got[MAX_FRAME];
	char letter;
	size_t n;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(frame_write(fd[1], 'x', "", 0), 0);
	assert_int_equal(frame_write(fd[1], 'y', "abc", 3), 0);
	frame_is(fd[0], 'x', "", 0);
	frame_is(fd[0], 'y', "abc", 3);
	assert_int_equal(write(fd[1], "z\0\020\0\001", 5), 5);
	assert_int_equal(frame_read(fd[0], &letter, got, &n), -1);
	assert_contains(snap_errstr(), "invalid frame length: 1048577 bytes");
	/* cut off in the header, and in the data */
	assert_int_equal(write(fd[1], "z\0\0\0\001a" "z\0\0\0\001", 11), 11);
	close(fd[1]);
	frame_is(fd[0], 'z', "a", 1);
	assert_int_equal(frame_read(fd[0], &letter, got, &n), 0);
	assert_int_equal(frame_read(fd[0], &letter, got, &n), 0);
	close(fd[0]);

	fd[0] = open(".", O_RDONLY);
	assert_int_equal(frame_read(fd[0], &letter, got, &n), -1);
	assert_contains(snap_errstr(), strerror(EISDIR));
	assert_int_equal(frame_write(fd[0], 'x', "abc", 3), -1);
	close(fd[0]);

	/* longer than a frame may be */
	many[MAX_FRAME] = 'a';
	fd[0] = open("frames", O_CREAT | O_RDWR, 0600);
	assert_int_equal(frame_write(fd[0], 'x', many, sizeof many), 0);
	assert_int_equal(lseek(fd[0], 0, SEEK_SET), 0);
	frame_is(fd[0], 'x', many, MAX_FRAME);
	frame_is(fd[0], 'x', "a", 2);
	close(fd[0]);
	unlink("frames");
}

#ifdef ZSTD
/*
 * Data is compressed if the reader is slower than the writer: here the pipe has
 * room for a page and has a byte in it.
 */
static void
test_packed(void **state)
{
	static uint8_t zero[200000], head[5];
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
	assert_int_equal(frame_write(fd[1], FRAME_DATA, zero, 2000), 0);
	assert_int_equal(read(fd[0], head, 5), 5);
	assert_memory_equal(head, "d\0\0\007\320", 5);
	assert_int_equal(read(fd[0], zero, 2000), 2000);
	assert_true(fcntl(fd[1], F_SETPIPE_SZ, 1) > 0);
	assert_int_equal(write(fd[1], "", 1), 1);
	assert_int_equal(frame_write(fd[1], FRAME_DATA, zero, 1000), 0);
	assert_int_equal(frame_write(fd[1], FRAME_DATA, zero, sizeof zero), 0);
	assert_int_equal(read(fd[0], head, 1), 1);
	assert_int_equal(read(fd[0], head, 5), 5);
	assert_memory_equal(head, "d\0\0\003\350", 5);
	assert_int_equal(read(fd[0], zero, 1000), 1000);
	frame_is(fd[0], FRAME_DATA, zero, sizeof zero);
	close(fd[0]);
	close(fd[1]);
}
#endif

/*
 * Bytes in frames; some frames are replaced by one of another type.
 */
static void
test_muted(void **state)
{
	struct output *o;
	int fd;

	(void)state;
	o = must_open("frames");
	assert_false(output_mute(o));
	output_frames(o);
	output_put(o, "abc", 3);
	assert_true(output_mute(o));
	output_put(o, "defg", 4);
	output_unmute(o, 'x', "d", 1);
	output_put(o, "h", 1);
	assert_int_equal(output_pos(o), 8);
	assert_int_equal(output_commit(o), 0);
	fd = open("frames", O_RDONLY);
	frame_is(fd, FRAME_DATA, "abc", 3);
	frame_is(fd, 'x', "d", 1);
	frame_is(fd, FRAME_DATA, "h", 1);
	close(fd);
	unlink("frames");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_cannot),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_snapfull),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_holeshere),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_frames),
#ifdef ZSTD
		cmocka_unit_test(test_packed),
#endif
		cmocka_unit_test(test_muted),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, setup, teardown);
}
