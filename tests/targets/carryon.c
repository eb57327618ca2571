/*
 * A program with a thing of each kind that a checkpoint records, which it
 * counts in the form of apart.h: carryon LOG.  It maps LOG.map and LOG.shared.
 * carryon LOG idle stops after some rounds; its last line is "idle".
 * carryon LOG lesser has nothing that criu before 4.1 loses: timers of
 * setitimer(2) that expire once, and no_new_privs; nor does it check the areas
 * of rseq(2), which are lost with Linux before 5.13.
 *
 *	0 1 2 3		threads, each with 16 MiB of memory and attributes; 0
 *			is the first
 *	process		attributes of the process
 *	deleted memfd mapped standing
 *			files, and unread data in pipes and sockets
 *	itimer timer threadtimer left
 *			timers: calls of handlers, and remaining time
 *	timerfd eventfd signalfd back
 *			events that a thread reads from an epoll set
 *	child echo	a child reads numbers from a pipe, with some unread, and
 *			sends them back through a socket
 *	pending own	pending signals, unblocked by SIGUSR1: two for the
 *			process, one for thread 1
 */
#include "carryfd.h"
#include "carrysig.h"
#include "carrytraits.h"

#include <sys/wait.h>

enum {
	ROUNDS = 4,		/* before it idles */
	BYTES = 64 << 20,
	CHUNK = 64 << 10,
	THREADS = 4,
	PART = BYTES / CHUNK / THREADS,
	AHEAD = 10
};

static struct shared {
	_Atomic uint64_t sent;
	_Atomic uint64_t got;
	char pattern[FILEBYTES];
} *shared, *both;		/* anonymous; of a memfd */

static char *memory;
static uint64_t seeds[THREADS * PART];
static char private[1 << 20] = "x";	/* the same in the child */
static int numbers[2], back[2], echo[2];
static atomic_uint begun, resting;
static atomic_bool release;	/* unblock pending signals */
static bool lesser;		/* without what older criu loses */
static pthread_t thread[THREADS];

static void
chunk_fill(unsigned int i, uint64_t seed)
{
	seeds[i] = seed;
	pattern_fill(memory + (size_t)i * CHUNK, CHUNK, seed);
}

/*
 * Check a quarter of a part: four rounds check all of it.
 */
static long
part_check(unsigned int part, uint64_t count)
{
	unsigned int i;
	long wrong;

	i = part * PART + (unsigned int)(count % 4);
	for (wrong = 0; i < (part + 1) * PART; i += 4)
		wrong += pattern_check(memory + (size_t)i * CHUNK, CHUNK,
		    seeds[i]);
	return wrong;
}

static long
shared_check(void)
{
	return pattern_check(shared->pattern, FILEBYTES, 1) +
	    pattern_check(both->pattern, FILEBYTES, 2) +
	    pattern_check(private, sizeof private, 3);
}

/*
 * Sleep for ever once it is to idle.
 */
static void
rest(uint64_t count)
{
	if (!idle || count < ROUNDS)
		return;
	resting++;
	for (;;)
		pause();
}

/*
 * The child: one thread, with fewer capabilities and other signal actions.
 */
static void
child_run(void)
{
	struct traits was, is;
	uint64_t n, last;
	long wrong;

	end_with_parent();
	(void)close(numbers[1]);
	(void)close(echo[0]);
	(void)signal(SIGUSR1, SIG_IGN);
	(void)prctl(PR_SET_NAME, "carried child");
	if (!lesser)
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_CAPBSET_DROP, 25);
	(void)umask(0117);
	traits_process(&was);
	for (last = 0;; last = n) {
		tick();
		if (read(numbers[0], &n, 8) != 8)
			_exit(1);
		wrong = n != last + 1 || n > shared->sent ||
		    shared->sent - n > AHEAD;
		both->got = n;
		shared->got = n;
		traits_process(&is);
		wrong += memcmp(&was, &is, sizeof is) != 0;
		wrong += write(echo[1], &n, 8) != 8;
		wrong += write(back[1], &n, 8) != 8;
		tell("child", n, wrong + shared_check());
	}
}

/*
 * Send the child its numbers, and read the numbers that it sends back.
 */
static void
child_feed(void)
{
	static uint64_t last;
	uint64_t n;
	long wrong;

	while (shared->sent < shared->got + AHEAD &&
	    !(idle && shared->sent >= IDLE_BACK)) {
		n = shared->sent + 1;
		both->sent = n;
		shared->sent = n;
		if (write(numbers[1], &n, 8) != 8)
			tell("child", 0, 1);
	}
	/* leave some unread */
	while (shared->got > last + 3 &&
	    recv(echo[0], &n, 8, MSG_DONTWAIT) == 8) {
		wrong = n != last + 1 || both->got < n;
		tell("echo", last = n, wrong);
	}
}

/*
 * One round of thread i, after its sleep; wrong is what it found wrong so far.
 */
static void
part_run(unsigned int i, uint64_t count, const struct traits *was, long wrong)
{
	struct traits is;
	char name[16];

	chunk_fill(i * PART + (unsigned int)(count % PART),
	    count + THREADS * PART);
	traits_thread(&is);
	wrong += memcmp(was, &is, sizeof is) != 0;
	wrong += !lesser && rseq_lost();
	snprintf(name, sizeof name, "%u", i);
	tell(name, count, wrong + part_check(i, count));
}

/*
 * Give thread i other attributes than the others.
 */
static void
thread_differ(unsigned int i)
{
	struct sched_param p = { 0 };
	char name[16];

	snprintf(name, sizeof name, "carry (%u) on", i);
	(void)prctl(PR_SET_NAME, name);
	if (i == 2)
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), 3);
	if (i == 3) {
		(void)sched_setscheduler(0, SCHED_BATCH, &p);
		rounding_differ();
	}
}

static void
worker_begin(void)
{
	stack_t ss = { .ss_sp = altstack, .ss_size = sizeof altstack };
	sigset_t s = signals_of(false);

	worker = gettid();
	(void)sigaltstack(&ss, NULL);
	signals_queue();
	timers_arm(idle, lesser);
	(void)pthread_sigmask(SIG_UNBLOCK, &s, NULL);
}

/*
 * Unblock the pending signals.
 */
static void
worker_release(struct traits *was)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIG_PENDING);
	sigaddset(&s, SIG_OWN);
	(void)pthread_sigmask(SIG_UNBLOCK, &s, NULL);
	traits_thread(was);
	release = false;
}

static void *
thread_run(void *arg)
{
	unsigned int i = (unsigned int)(uintptr_t)arg;
	struct traits was;
	uint64_t count;
	long wrong;

	thread_differ(i);
	if (i == 1)
		worker_begin();
	traits_thread(&was);
	begun++;
	for (count = 1;; count++) {
		wrong = 0;
		if (i == 2)
			wrong = vectors_sleep(count);
		else
			tick();
		if (i == 1 && release)
			worker_release(&was);
		part_run(i, count, &was, wrong);
		rest(count);
	}
	return NULL;
}

/*
 * The first thread.
 */
static void
lead(void)
{
	struct traits own, all, is;
	struct timespec t, before = { 0, 0 };
	uint64_t n, one = 1;
	long wrong;

	thread_differ(0);
	traits_thread(&own);
	traits_process(&all);
	for (n = 1;; n++) {
		tick();
		added++;
		wrong = write(adder, &one, 8) != 8;
		wrong += kill(getpid(), SIGUSR2) == -1;
		part_run(0, n, &own, wrong);
		traits_process(&is);
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		wrong = memcmp(&all, &is, sizeof is) != 0;
		wrong += t.tv_sec < before.tv_sec;
		before = t;
		tell("process", n, wrong);
		tell("deleted", n, deleted_check(n));
		tell("memfd", n, memfd_check());
		tell("mapped", n, mapped_check(n));
		tell("standing", n, standing_check());
		tell("left", n, timers_check());
		child_feed();
		if (asked) {
			asked = 0;
			release = true;
		}
		tally_record();
		if (idle && n >= ROUNDS && resting == THREADS - 1 &&
		    shared->got == shared->sent) {
			tell("idle", 1, 0);
			rest(n);
		}
	}
}

static struct shared *
share(int fd, uint64_t seed)
{
	struct shared *s;

	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
	    fd == -1 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	must(s != MAP_FAILED);
	pattern_fill(s->pattern, FILEBYTES, seed);
	return s;
}

static void
process_differ(void)
{
	struct rlimit files = { 512, 600 }, core = { 4096, RLIM_INFINITY };

	(void)umask(027);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)setrlimit(RLIMIT_CORE, &core);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int
main(int argc, char *argv[])
{
	sigset_t all = signals_of(true), usr2;
	unsigned int i;
	pthread_t t;
	int fd;

	if (argc != 2 && argc != 3)
		errx(2, "usage: carryon log [idle|lesser]");
	idle = argc == 3 && strcmp(argv[2], "idle") == 0;
	lesser = argc == 3 && !idle;
	apart(argv[1]);
	process_differ();
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	handlers_set();
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED);
	for (i = 0; i < THREADS * PART; i++)
		chunk_fill(i, i + 1);
	pattern_fill(private, sizeof private, 3);
	shared = share(-1, 1);
	fd = made(memfd_create("both", MFD_CLOEXEC));
	must(ftruncate(fd, sizeof *both) == 0);
	both = share(fd, 2);
	must(pipe(numbers) == 0 && pipe(back) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, echo) == 0);
	if (made(fork()) == 0)
		child_run();
	(void)close(numbers[0]);
	(void)close(echo[1]);
	files_make(argv[1]);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	events_make(back[0], &usr2);
	must(pthread_create(&t, NULL, events_run,
	    (void *)(intptr_t)back[0]) == 0);
	for (i = 1; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, thread_run,
		    (void *)(uintptr_t)i) == 0);
	while (begun < THREADS - 1)
		tick();
	lead();
	return 0;
}
