/*
 * Processes of many kinds, each of which checks whether it is the same: kinds
 * LOG.  The lines are those of apart.h.  LOG.fifo, LOG.shut and others are
 * created next to the log.
 *
 *	memory		hidden pages, named shared memory, a heap
 *	stack		stacks that grow
 *	rights		another user, with groups, a capability and limits
 *	real		SCHED_FIFO; nice: a nice value
 *	vectors		all vector registers, while it sleeps
 *	gone		a deleted executable, which has mapped a deleted file
 *	fifo queues	unread data in a FIFO, and in sockets
 *	listener	sockets with names, owners and modes; a deleted name
 *	timers		a CPU-time timer; a timerfd that is seldom read
 *	table tabled	a descriptor table that two processes share
 *	stopped		stopped by a signal; counts after SIGCONT
 */
#include "kinds.h"

#include <sys/timerfd.h>
#include <sys/wait.h>

#include <limits.h>
#include <pthread.h>
static const char *logname, *self;

static const char *
beside(const char *ext)
{
	static char path[2][PATH_MAX];
	static int turn;

	turn = !turn;
	snprintf(path[turn], PATH_MAX, "%s.%s", logname, ext);
	return path[turn];
}

static void
memory_run(void)
{
	uint64_t n;

	memory_begin();
	for (n = 1;; n++) {
		tick();
		tell("memory", n, memory_check());
	}
}

static void
stack_run(void)
{
	uint64_t n;

	for (n = 1;; n++) {
		tick();
		tell("stack", n, stack_check(n));
	}
}

static void
rights_run(void)
{
	char was[4096] = "", is[4096];
	uint64_t n;

	rights_lessen();
	rights_read(was);
	for (n = 1;; n++) {
		tick();
		memset(is, 0, sizeof is);
		rights_read(is);
		tell("rights", n, strcmp(was, is) != 0);
	}
}

static void
real_run(void)
{
	struct sched_param p = { .sched_priority = 7 };
	uint64_t n;
	long wrong;

	must(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) ==
	    0);
	for (n = 1;; n++) {
		tick();
		wrong = sched_getscheduler(0) != (SCHED_FIFO |
		    SCHED_RESET_ON_FORK);
		wrong += sched_getparam(0, &p) != 0 || p.sched_priority != 7;
		tell("real", n, wrong);
	}
}

static void
nice_run(void)
{
	uint64_t n;

	must(setpriority(PRIO_PROCESS, 0, -7) == 0);
	for (n = 1;; n++) {
		tick();
		tell("nice", n, getpriority(PRIO_PROCESS, 0) != -7);
	}
}

static void
vectors_run(void)
{
	uint64_t n;

	for (n = 1;; n++)
		tell("vectors", n, vectors_check(n));
}

/*
 * Copy the program to a file.
 */
static void
copy_self(const char *path)
{
	static char buf[1 << 20];
	ssize_t n;
	int from, to;

	from = open(self, O_RDONLY | O_CLOEXEC);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	must(from != -1 && to != -1);
	while ((n = read(from, buf, sizeof buf)) > 0)
		must(write(to, buf, (size_t)n) == n);
	must(n == 0 && close(from) == 0 && close(to) == 0);
}

/*
 * In an executable that is about to be deleted: map a file, and delete both.
 */
static void
gone_run(const char *path)
{
	const char *lib = beside("lib");
	uint64_t n;
	char *p, *q;
	int fd;

	copy_self(lib);
	must((fd = open(lib, O_RDONLY | O_CLOEXEC)) != -1);
	p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	q = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	must(p != MAP_FAILED && q != MAP_FAILED && close(fd) == 0);
	q[PAGE] = (char)~q[PAGE];
	must(unlink(lib) == 0 && unlink(path) == 0);
	for (n = 1;; n++) {
		tick();
		tell("gone", n, memcmp(p, "\177ELF", 4) != 0 ||
		    memcmp(p, q, PAGE) != 0 ||
		    q[PAGE] != (char)~p[PAGE] ||
		    memcmp(p + PAGE + 1, q + PAGE + 1, PAGE - 1) != 0);
	}
}

static void
gone_exec(void)
{
	const char *path = beside("exe");

	copy_self(path);
	execl(path, path, logname, path, (char *)NULL);
	must(false);
}

static void
fifo_run(void)
{
	const char *path = beside("fifo");
	char in[STANDS + 1], out[STANDS];
	uint64_t n;
	long wrong;
	int fd, w;

	pattern_fill(out, sizeof out, SEED_FIFO);
	(void)unlink(path);
	must(mkfifo(path, 0640) == 0);
	must((fd = open(path, O_RDONLY | O_NONBLOCK)) != -1);
	must((w = open(path, O_WRONLY)) != -1);
	must(write(w, out, sizeof out) == sizeof out);
	for (n = 1;; n++) {
		tick();
		wrong = read(fd, in, sizeof in) != STANDS;
		wrong += memcmp(in, out, STANDS) != 0;
		wrong += write(w, out, sizeof out) != sizeof out;
		tell("fifo", n, wrong);
	}
}

static socklen_t
address(struct sockaddr_un *a, const char *name, size_t len)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, name, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/*
 * Packets queued at sockets: a bound one, one of a pair, and one whose other
 * end is closed.
 */
static void
queues_run(void)
{
	struct sockaddr_un a;
	char in[STANDS + 1], out[STANDS];
	int bound, sender, pair[2], dead[2];
	socklen_t len;
	uint64_t n;
	long wrong;

	pattern_fill(out, sizeof out, SEED_QUEUE);
	len = address(&a, "\0kinds", 6);
	bound = socket(AF_UNIX, SOCK_DGRAM, 0);
	sender = socket(AF_UNIX, SOCK_DGRAM, 0);
	must(bind(bound, (struct sockaddr *)&a, len) == 0);
	must(connect(sender, (struct sockaddr *)&a, len) == 0);
	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, dead) == 0);
	must(send(sender, out, STANDS, 0) == STANDS);
	must(send(sender, out, 1, 0) == 1 && send(pair[0], out, 9, 0) == 9);
	must(send(dead[0], out, STANDS, 0) == STANDS && close(dead[0]) == 0);
	for (n = 1;; n++) {
		tick();
		wrong = recv(bound, in, sizeof in, MSG_DONTWAIT) != STANDS;
		wrong += memcmp(in, out, STANDS) != 0;
		wrong += recv(bound, in, sizeof in, MSG_DONTWAIT) != 1;
		wrong += send(sender, out, STANDS, 0) != STANDS;
		wrong += send(sender, out, 1, 0) != 1;
		wrong += recv(pair[1], in, sizeof in, MSG_DONTWAIT) != 9;
		wrong += send(pair[0], out, 9, 0) != 9;
		wrong += recv(dead[1], in, sizeof in, MSG_PEEK) != STANDS;
		wrong += memcmp(in, out, STANDS) != 0;
		tell("queues", n, wrong);
	}
}

static int
listener(const char *name)
{
	const int priority = 3;
	struct sockaddr_un a;
	socklen_t len;
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	len = address(&a, name, strlen(name) + 1);
	(void)unlink(name);
	must(fd != -1 && setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority,
	    sizeof priority) == 0 &&
	    bind(fd, (struct sockaddr *)&a, len) == 0 &&
	    listen(fd, 3) == 0);
	return fd;
}

/*
 * Check that a socket accepts a connection, its mode, owner, timeout and
 * priority.
 */
static long
knock(int at, const char *name, mode_t mode, uid_t uid)
{
	struct sockaddr_un a;
	struct timeval t;
	struct stat st;
	socklen_t len, n = sizeof t;
	long wrong;
	int fd, priority;

	len = address(&a, name, strlen(name) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	wrong = connect(fd, (struct sockaddr *)&a, len) != 0;
	(void)close(fd);
	if (wrong == 0)
		wrong += close(accept(at, NULL, NULL)) != 0;
	wrong += stat(name, &st) != 0 || (st.st_mode & 07777) != mode ||
	    st.st_uid != uid;
	wrong += getsockopt(at, SOL_SOCKET, SO_RCVTIMEO, &t, &n) != 0 ||
	    t.tv_sec != 33;
	n = sizeof priority;
	wrong += getsockopt(at, SOL_SOCKET, SO_PRIORITY, &priority, &n) != 0 ||
	    priority != 3;
	return wrong;
}

static void
dir_enter(void)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(logname, '/') -
	    logname), logname);
	must(chdir(dir) == 0);
}

static void
listener_run(void)
{
	struct timeval t = { 33, 0 };
	char name[64];
	int shut, open_, near, gone;
	uint64_t n;
	long wrong;

	snprintf(name, sizeof name, "%s.near", strrchr(logname, '/') + 1);
	shut = listener(beside("shut"));
	open_ = listener(beside("open"));
	gone = listener(beside("left"));
	dir_enter();
	must(chmod(beside("shut"), 0600) == 0 &&
	    chown(beside("shut"), 1234, 0) == 0 &&
	    chmod(beside("open"), 0777) == 0 && unlink(beside("left")) == 0);
	near = listener(name);
	must(chmod(name, 0711) == 0);
	must(setsockopt(shut, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0 &&
	    setsockopt(open_, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0 &&
	    setsockopt(near, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0);
	for (n = 1;; n++) {
		tick();
		wrong = knock(shut, beside("shut"), 0600, 1234);
		wrong += knock(open_, beside("open"), 0777, 0);
		wrong += knock(near, name, 0711, 0);
		wrong += access(beside("left"), F_OK) == 0;
		wrong += fcntl(gone, F_GETFD) == -1;
		tell("listener", n, wrong);
	}
}

/*
 * A CPU-time timer, and a timerfd that is read now and then.
 */
static void
timers_run(void)
{
	struct itimerspec i = { { 0, 0 }, { 5000, 0 } };
	struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	struct sigevent e = { .sigev_notify = SIGEV_NONE };
	clockid_t clock;
	timer_t t;
	uint64_t n, was, ticks;
	int fd;

	must(pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
	    timer_create(clock, &e, &t) == 0 &&
	    timer_settime(t, 0, &i, NULL) == 0);
	must((fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK)) != -1 &&
	    timerfd_settime(fd, 0, &often, NULL) == 0);
	for (was = 0, n = 1;; n++) {
		tick();
		/* 0 if it is not read, or is read and has expired */
		ticks = n % 8 == 0 && read(fd, &ticks, 8) != 8;
		tell("timers", n, timer_gettime(t, &i) != 0 ||
		    i.it_value.tv_sec < 4000 || ticks != was);
	}
}

static int shared_fd;

static int
table_child(void *arg)
{
	uint64_t n;

	(void)arg;
	end_with_parent();
	for (n = 1;; n++) {
		tick();
		/* opened here, and closed by the parent */
		tell("tabled", n, dup2(logfile, shared_fd) == -1);
	}
	return 0;
}

static void
table_run(void)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	uint64_t n, missed;

	shared_fd = 77;
	must(clone(table_child, stack + sizeof stack, CLONE_FILES | SIGCHLD,
	    NULL) != -1);
	for (missed = 0, n = 1;; n++) {
		tick();
		/* the child soon opens it again */
		missed = close(shared_fd) == -1 ? missed + 1 : 0;
		tell("table", n, missed > 5);
	}
}

static void
stopped_run(void)
{
	uint64_t n;

	tell("stopped", 1, 0);
	(void)raise(SIGSTOP);
	for (n = 2;; n++) {
		tell("stopped", n, 0);
		tick();
	}
}

int
main(int argc, char *argv[])
{
	static void (*const run[])(void) = { memory_run, stack_run,
	    rights_run, real_run, nice_run, vectors_run, gone_exec, fifo_run,
	    queues_run, listener_run, timers_run, table_run, stopped_run };
	static char path[PATH_MAX];
	uint64_t n;
	size_t i;

	if (argc != 2 && argc != 3)
		errx(2, "usage: kinds log");
	logname = argv[1];
	if (readlink("/proc/self/exe", path, sizeof path - 1) == -1)
		err(1, "readlink");
	self = path;
	if (argc == 3) {
		logfile = 3;
		gone_run(argv[2]);
	}
	apart(argv[1]);
	for (i = 0; i < sizeof run / sizeof *run; i++)
		switch (fork()) {
		case -1:
			must(false);
			break;
		case 0:
			end_with_parent();
			run[i]();
			_exit(0);
		}
	for (n = 1;; n++) {
		tick();
		tell("parent", n, waitpid(-1, NULL, WNOHANG) != 0);
	}
}
