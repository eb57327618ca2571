/*
 * A process that changes at the first byte of its standard input, in memory and
 * elsewhere, and prints the lines that snapdiff must print:
 *
 *	row MARK ADDR KB CHANGED NEW GONE	a mapping
 *	quiet ADDR				a mapping that does not change
 *	tell WORDS				another line
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <pthread.h>
#include <semaphore.h>

enum {
	K = 1024,
	STRIDE = 4 * K * K,	/* from one mapping to the next */
	AREAS = 9,
	DATA = 64 * K
};

enum { CHANGED, FILLED, GONE, GROWN, EMPTIED, NEW, PROTECTED, QUIET, SHRUNK };

static char data[DATA] __attribute__((aligned(4096))) = { 1 };
static char *area;
static sem_t end_thread, thread_ended;

static char *
at(int i)
{
	return area + (size_t)i * STRIDE + STRIDE / 2;
}

static void
map(int i, size_t len)
{
	if (mmap(at(i), len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(at(i), len, MADV_NOHUGEPAGE);
}

static void
unmap(int i, size_t from, size_t len)
{
	if (mmap(at(i) + from, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
	    MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
	if (munmap(at(i) + from, len) == -1)
		err(1, "munmap");
}

static void
row(char mark, const void *p, int kb, int changed, int new, int gone)
{
	printf("row %c %jx %d %d %d %d\n", mark, (uintmax_t)(uintptr_t)p, kb,
	    changed, new, gone);
}

static void *
first(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "first");
	sem_post(&thread_ended);
	sem_wait(&end_thread);
	return NULL;
}

static void *
second(void *arg)
{
	prctl(PR_SET_NAME, "second");
	sem_post(&thread_ended);
	for (;;)
		pause();
	return arg;
}

static void
start(pthread_t *t, void *(*fn)(void *))
{
	if (pthread_create(t, NULL, fn, NULL) != 0)
		errx(1, "pthread_create");
	while (sem_wait(&thread_ended) == -1)
		continue;
}

static void
change_memory(void)
{
	at(CHANGED)[3 * K]++;
	at(CHANGED)[4 * K + 17]++;
	at(CHANGED)[101 * K - 1]++;
	row('!', at(CHANGED), 1024, 3, 0, 0);
	pattern_fill(at(FILLED) + 8 * K, 2 * K, 3);
	row('!', at(FILLED), 256, 0, 2, 0);
	unmap(GONE, 0, 128 * K);
	row('-', at(GONE), 128, 0, 0, 128);
	map(GROWN, 128 * K);
	pattern_fill(at(GROWN), 128 * K, 4);
	row('!', at(GROWN), 128, 0, 64, 0);
	if (madvise(at(EMPTIED) + 16 * K, 32 * K, MADV_DONTNEED) == -1)
		err(1, "madvise");
	row('!', at(EMPTIED), 64, 0, 0, 32);
	map(NEW, 256 * K);
	pattern_fill(at(NEW) + 100 * K, 5 * K, 6);
	row('+', at(NEW), 256, 0, 5, 0);
	if (mprotect(at(PROTECTED), 64 * K, PROT_READ) == -1)
		err(1, "mprotect");
	row('!', at(PROTECTED), 64, 0, 0, 0);
	printf("quiet %jx\n", (uintmax_t)(uintptr_t)at(QUIET));
	unmap(SHRUNK, 16 * K, 48 * K);
	row('!', at(SHRUNK), 16, 0, 0, 48);
	/* file contents, or modified: zero but for one byte */
	data[0] = 2;
	data[8 * K] = 1;
	data[8 * K + 1] = 1;
	printf("data %jx %d\n", (uintmax_t)(uintptr_t)data, DATA / K);
}

static void
change_rest(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };
	struct rlimit rl;
	int fd;

	if ((fd = open("/dev/zero", O_RDONLY)) == -1 || fd != 20)
		err(1, "open: %d", fd);
	printf("tell + descriptor 20: /dev/zero\n");
	close(21);
	printf("tell - descriptor 21: /dev/null\n");
	dup2(20, 22);
	printf("tell ! descriptor 22: /dev/zero, was /dev/null\n");
	if (lseek(23, 7, SEEK_SET) != 7)
		err(1, "lseek");
	printf("tell ! position 23: 7, was 0\n");
	sigaction(SIGUSR2, &sa, NULL);
	printf("tell ! signal 12 SIGUSR2: ignored, was default\n");
	getrlimit(RLIMIT_CORE, &rl);
	rl.rlim_cur = 4096;
	if (setrlimit(RLIMIT_CORE, &rl) == -1)
		err(1, "setrlimit");
	printf("tell ! limit Max core file size: 4096 of 8192, was 0 of "
	    "8192\n");
	/* not seen in /proc/PID/environ */
	setenv("CHANGED", "in memory", 1);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		err(1, "prctl");
	printf("tell ! credential NoNewPrivs: 1, was 0\n");
	prctl(PR_SET_NAME, "changed");
	printf("tell ! name: changed, was changing\n");
	if (chdir("/") == -1)
		err(1, "chdir");
	printf("tell ! directory: /, was /dev\n");
}

static void
prepare(void)
{
	struct rlimit rl = { 0, 8192 };
	int fd;

	/* surrounds the mappings, so that none merges */
	area = mmap(NULL, (size_t)STRIDE * AREAS, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		err(1, "mmap");
	if (munmap(area + (size_t)NEW * STRIDE, STRIDE) == -1)
		err(1, "munmap");
	map(CHANGED, 1024 * K);
	pattern_fill(at(CHANGED), 1024 * K, 1);
	map(FILLED, 256 * K);
	map(GONE, 128 * K);
	pattern_fill(at(GONE), 128 * K, 2);
	map(GROWN, 64 * K);
	pattern_fill(at(GROWN), 64 * K, 4);
	map(EMPTIED, 64 * K);
	pattern_fill(at(EMPTIED), 64 * K, 5);
	map(PROTECTED, 64 * K);
	pattern_fill(at(PROTECTED), 64 * K, 7);
	map(QUIET, 64 * K);
	pattern_fill(at(QUIET), 64 * K, 8);
	map(SHRUNK, 64 * K);
	pattern_fill(at(SHRUNK), 64 * K, 9);
	if (chdir("/dev") == -1 || setrlimit(RLIMIT_CORE, &rl) == -1)
		err(1, "chdir, setrlimit");
	if (dup2(open("/dev/null", O_RDONLY), 21) == -1 ||
	    dup2(21, 22) == -1 || (fd = open("/proc/self/exe",
	    O_RDONLY)) == -1 || dup2(fd, 23) == -1)
		err(1, "dup2");
	close(fd);
	/* make 20 the lowest free descriptor */
	while (dup(21) < 19)
		continue;
}

int
main(void)
{
	pthread_t one, two;

	/* let malloc(3) get its memory now */
	free(malloc(100000));
	setvbuf(stdout, NULL, _IOFBF, 4096);
	prepare();
	sem_init(&end_thread, 0, 0);
	sem_init(&thread_ended, 0, 0);
	start(&one, first);
	ready();
	await();
	sem_post(&end_thread);
	pthread_join(one, NULL);
	start(&two, second);
	change_memory();
	change_rest();
	printf("stepped\n");
	fflush(stdout);
	await();
	return 0;
}
