/*
 * A process with a thread that does not share everything with the process, or
 * whose children would be in another namespace: ownthread WHAT
 *
 *	files fs	the thread has its own descriptors; current directory
 *	net uts		it has its own namespace
 *	nobody		it has its own credentials and no_new_privs
 *	time pid	the namespace for children of the process
 *
 * It reports whether the thread has lost its credentials.
 */
#include "target.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static pthread_barrier_t begun, ended;

static void
must(int rc, const char *what)
{
	if (rc == -1)
		err(1, "%s", what);
}

static void
offsets_write(void)
{
	static const char text[] = "monotonic 86400 0\n";
	int fd;

	must(unshare(CLONE_NEWTIME), "unshare");
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	must(fd, "timens_offsets");
	must((int)write(fd, text, sizeof text - 1), "timens_offsets");
	close(fd);
}

static void
own_begin(const char *what)
{
	static const struct {
		const char *what;
		int flag;
	} apart[] = {
		{ "files", CLONE_FILES }, { "fs", CLONE_FS },
		{ "net", CLONE_NEWNET }, { "uts", CLONE_NEWUTS },
		{ "pid", CLONE_NEWPID }
	};
	size_t i;

	for (i = 0; i < sizeof apart / sizeof *apart; i++)
		if (strcmp(what, apart[i].what) == 0)
			must(unshare(apart[i].flag), what);
	if (strcmp(what, "nobody") == 0) {
		must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), what);
		/* setresuid(3) would change all threads */
		must((int)syscall(SYS_setresuid, 65534, 65534, 65534), what);
	}
}

static void *
own_run(void *arg)
{
	const char *what = arg;
	long lost;

	own_begin(what);
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&ended);
	lost = strcmp(what, "nobody") == 0 ? getuid() != 65534 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 : 0;
	report(what, lost);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t th;

	if (argc != 2)
		errx(2, "usage: ownthread what");
	if (strcmp(argv[1], "time") == 0)
		offsets_write();
	if (strcmp(argv[1], "pid") == 0)
		own_begin(argv[1]);
	pthread_barrier_init(&begun, NULL, 2);
	pthread_barrier_init(&ended, NULL, 2);
	/* clone(2) refuses threads then */
	if (strcmp(argv[1], "time") == 0 || strcmp(argv[1], "pid") == 0) {
		ready_await();
		return 0;
	}
	errno = pthread_create(&th, NULL, own_run, argv[1]);
	if (errno != 0)
		err(1, "pthread_create");
	pthread_barrier_wait(&begun);
	ready_await();
	pthread_barrier_wait(&ended);
	pthread_join(th, NULL);
	return 0;
}
