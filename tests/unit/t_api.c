/*
 * The public interface: lib/snap/. See also tests/install/library.t.
 */
#include "snap/snap.h"
#include "snap/snap_capture.h"
#include "snap/snap_write.h"
#include "util.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Write snapshot s to a file, free s, and open the file.
 */
static struct snap_file *
reopened(struct snap *s)
{
	struct snap_file *f;
	struct stream st;
	struct buf b = { 0 };

	snap_bytes(s, &b);
	stream_file(&st, b.data, b.len);
	if ((f = snap_open(st.path)) == NULL)
		fail_msg("%s", snap_errstr());
	stream_close(&st);
	buf_free(&b);
	snap_free(s);
	return f;
}

/*
 * Open a snapshot of a process with a thread, and of another process.
 */
static struct snap_file *
opened(const char *header)
{
	struct snap *s = snap_new();
	struct buf b = { 0 };

	s->header = strdup(header);
	assert_non_null(snap_add(s, 7));
	testrec_text(&b, "thread", "7\n");
	testrec_give(&b, snap_add(s, 8));
	assert_non_null(snap_add(s, 9));
	return reopened(s);
}

static void
test_tasks(void **state)
{
	struct snap_file *f;
	struct snap_task *p, *t;

	(void)state;
	f = opened("process snapshot 1700000000 a@b amd64 1 \"x\"");
	assert_int_equal(snap_time(f), 1700000000);
	assert_non_null(p = snap_process_next(f, NULL));
	assert_int_equal(snap_task_id(p), 7);
	assert_ptr_equal(snap_thread_next(p, NULL), p);
	assert_non_null(t = snap_thread_next(p, p));
	assert_int_equal(snap_task_id(t), 8);
	assert_ptr_equal(snap_task_process(t), p);
	assert_null(snap_thread_next(p, t));
	assert_non_null(p = snap_process_next(f, p));
	assert_int_equal(snap_task_id(p), 9);
	assert_ptr_equal(snap_thread_next(p, NULL), p);
	assert_null(snap_thread_next(p, p));
	assert_null(snap_process_next(f, p));
	snap_close(f);
	f = opened("process snapshot");
	assert_int_equal(snap_time(f), -1);
	snap_close(f);
	snap_close(NULL);
}

/*
 * Open a snapshot of a process whose record has the file maps.
 */
static struct snap_file *
mapped(const char *maps)
{
	struct snap *s = snap_new();
	struct buf b = { 0 };

	s->header = strdup("process snapshot");
	testrec_text(&b, "maps", maps);
	testrec_give(&b, snap_add(s, 7));
	return reopened(s);
}

/*
 * The list of mappings is empty if the record is damaged, with an error.
 */
static void
test_damaged(void **state)
{
	struct snap_file *f;
	struct snap_task *t;

	(void)state;
	assert_non_null(f = mapped("1000-2000 r--p 0 0:0 0\n"));
	assert_non_null(t = snap_process_next(f, NULL));
	assert_null(snap_mapping_next(t, snap_mapping_next(t, NULL)));
	assert_null(snap_record_next(t, snap_record_next(t, NULL)));
	assert_null(snap_record_find(t, "status"));
	assert_int_equal(snap_error(f), 0);
	snap_close(f);

	assert_non_null(f = mapped("2000-1000\n"));
	assert_non_null(t = snap_process_next(f, NULL));
	assert_null(snap_mapping_next(t, NULL));
	assert_int_equal(snap_error(f), -1);
	assert_contains(snap_errstr(), "maps");
	assert_int_equal(snap_error(f), 0);
	assert_non_null(snap_record_find(t, "maps"));
	assert_int_equal(snap_error(f), 0);
	assert_null(snap_mapping_find(t, 4096));
	assert_int_equal(snap_error(f), -1);
	snap_close(f);
}

static void
test_unwritten(void **state)
{
	struct snap_file *f = opened("process snapshot");

	(void)state;
	assert_int_equal(snap_save(f, "/no/such/file", 0, NULL, NULL), -1);
	assert_contains(snap_errstr(), strerror(ENOENT));
	assert_int_equal(snap_save(f, "/dev/full", 0, NULL, NULL), -1);
	assert_contains(snap_errstr(), strerror(ENOSPC));
	snap_close(f);
	snap_capture_free(NULL);
}

/*
 * A process that reads the output is left out: if it were stopped, it would
 * wait for us, and we for it.
 */
static void
test_reader(void **state)
{
	char path[64], buf[4096];
	struct snap_capture *c;
	pid_t pid;
	int fd;

	(void)state;
	snprintf(path, sizeof path, "/tmp/t_api.%d", (int)getpid());
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_not_equal(fd = open(path, O_RDWR), -1);
	if ((pid = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(fd, buf, sizeof buf) > 0)
			continue;
		_exit(1);
	}
	close(fd);
	assert_non_null(c = snap_capture_new(NULL, NULL));
	assert_int_equal(snap_capture_set(c, SNAP_PASSIVE, 1), 0);
	assert_int_equal(snap_capture_pid(c, pid), 0);
	alarm((unsigned int)timeout(60));
	assert_int_equal(snap_capture_save(c, path, 0), -1);
	alarm(0);
	assert_string_equal(snap_errstr(), "nothing to take a snapshot of");
	snap_capture_free(c);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_unwritten),
		cmocka_unit_test(test_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
