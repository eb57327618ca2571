/*
 * A process with a thread that has something of its own, or children that
 * would: ownthread WHAT ...
 *
 *	files fs	descriptors, a current directory
 *	net uts		a namespace
 *	nobody		credentials and no_new_privs, which threads may have
 *	time pid	a namespace for the children of the process
 *
 * It reports what has got lost of it.
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
		/* the C library would set those of all threads */
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
	/* no threads where there is no common time for them */
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
