/*
 * Page faults of all kinds: faults FILE DIR [wait].  Writes to FILE the
 * expected lines in order, "EVENT ADDRESS ACCESS MODE" for each fault, and a
 * line for each change of mappings.  DIR is for files that are mapped.  With
 * wait, it waits for a byte first.
 *
 * faults many N also waits, and has N ordinary faults.
 * faults churn N creates N threads, one after another; each lives for a while
 * and has a fault at its own address.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>

enum { PAGES = 32, LINES = 256, WIDTH = 64 };

static char told[LINES][WIDTH];
static int nline;
static sigjmp_buf back;
static int go[2];
static char *thread_page;
static const char *dir;

static void
tell(const char *event, volatile char *p, const char *how)
{
	snprintf(told[nline++], WIDTH, "%s %jx %s", event,
	    (uintmax_t)(uintptr_t)p, how);
}

static char *
map(size_t pages, int prot, int flags, int fd)
{
	char *p;

	p = mmap(NULL, pages * PAGE, prot, flags, fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	if (fd == -1)
		(void)madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static char *
map_anon(size_t pages)
{
	return map(pages, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void __attribute__((noinline))
touch_pages(volatile char *p)
{
	int i, n;

	for (i = 0; i < PAGES; i++) {
		n = (i * 7 + 3) % PAGES;
		p[n * PAGE + i] = 1;
	}
}

static void
in_order(void)
{
	char *p;
	int i, n;

	p = map_anon(PAGES);
	for (i = 0; i < PAGES; i++) {
		n = (i * 7 + 3) % PAGES;
		tell("minor", p + n * PAGE + i, "write u");
	}
	touch_pages(p);
}

static void
zero_page(void)
{
	volatile char *p;

	p = map_anon(1);
	tell("minor", p, "read u");
	(void)*p;
	tell("minor", p, "cow u");
	*p = 1;
}

static void
forked(void)
{
	volatile char *p;
	pid_t pid;
	int status;

	p = map_anon(1);
	tell("minor", p, "write u");
	*p = 1;
	tell("minor", p + 1, "cow u");
	fflush(stdout);
	if ((pid = fork()) == 0) {
		p[1] = 2;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "child");
	tell("minor", p + 2, "cow u");
	p[2] = 3;
}

static int
file_make(char first)
{
	char page[MAX_PAGE] = { first }, path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/faults.XXXXXX", dir);
	if ((fd = mkstemp(path)) == -1 || write(fd, page, PAGE) != PAGE)
		err(1, "%s", path);
	unlink(path);
	return fd;
}

static void
files(void)
{
	volatile char *p;
	int fd = file_make(1);
	struct rusage before, after;

	p = map(1, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	tell("minor", p, "read u");
	(void)*p;
	tell("minor", p, "cow u");
	*p = 2;
	p = map(1, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	tell("minor", p + 8, "write u");
	p[8] = 3;
	munmap((char *)(uintptr_t)p, PAGE);
	fsync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	p = map(2, PROT_READ, MAP_SHARED, fd);
	getrusage(RUSAGE_SELF, &before);
	(void)p[16];
	getrusage(RUSAGE_SELF, &after);
	tell(after.ru_majflt > before.ru_majflt ? "major" : "minor", p + 16,
	    "read u");
	tell("SIGBUS", p + PAGE, "read u");
	if (sigsetjmp(back, 1) == 0)
		(void)p[PAGE];
}

static void
instruction(void)
{
#if defined __x86_64__ || defined __i386__
	void (*call)(void);
	char *p;

	p = map(1, PROT_READ | PROT_EXEC, MAP_PRIVATE,
	    file_make((char)0xc3));
	tell("minor", p, "exec u");
	memcpy(&call, &p, sizeof call);
	call();
#endif
}

static void
in_kernel(void)
{
	char *p;
	int fd;

	p = map_anon(2);
	if ((fd = open("/dev/zero", O_RDWR)) == -1)
		err(1, "/dev/zero");
	tell("minor", p, "write k");
	if (read(fd, p, 100) != 100)
		err(1, "read");
	if (pipe(go) == -1)
		err(1, "pipe");
	tell("minor", p + PAGE, "read k");
	if (write(go[1], p + PAGE, 1) != 1)
		err(1, "write");
}

static void
invalid(void)
{
	volatile char *p;

	tell("SIGSEGV", (char *)16, "write u");
	if (sigsetjmp(back, 1) == 0)
		*(volatile char *)(uintptr_t)(nline > 0 ? 16 : 0) = 1;
	p = map(1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	tell("SIGSEGV", p + 1, "write u");
	if (sigsetjmp(back, 1) == 0)
		p[1] = 1;
}

static void
caught(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void *
run_thread(void *arg)
{
	char c;

	(void)arg;
	if (read(go[0], &c, 1) == 1)
		thread_page[7] = 1;
	return NULL;
}

static void
changes(void)
{
	char *p, *q, *top;

	p = map_anon(8);
	tell("map", p, "+0x8000 rw-p");
	if (mprotect(p, 2 * PAGE, PROT_READ) == -1)
		err(1, "mprotect");
	tell("protect", p, "+0x2000 r--p");
	if (munmap(p + 4 * PAGE, PAGE) == -1)
		err(1, "munmap");
	tell("unmap", p + 4 * PAGE, "+0x1000 rw-p");
	tell("SIGSEGV", p + 4 * PAGE, "read u");
	if (sigsetjmp(back, 1) == 0)
		(void)*(volatile char *)(p + 4 * PAGE);
	q = mremap(p + 5 * PAGE, PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED)
		err(1, "mremap");
	tell("remap", p + 5 * PAGE, "+0x1000 to");
	tell("SIGSEGV", p + 5 * PAGE, "read u");
	if (sigsetjmp(back, 1) == 0)
		(void)*(volatile char *)(p + 5 * PAGE);
	tell("minor", q + 63 * PAGE, "write u");
	*(volatile char *)(q + 63 * PAGE) = 1;
	top = sbrk(0);
	if (sbrk(3 * PAGE) != top)
		err(1, "sbrk");
	tell("brk", top + 3 * PAGE, "+0x3000");
	if (brk(top) == -1)
		err(1, "brk");
	tell("brk", top, "-0x3000");
}

static int
many(long n)
{
	volatile char *p;
	long i, k;

	p = map_anon(1000);
	ready();
	await();
	for (k = n; k > 0; k -= i) {
		for (i = 0; i < 1000 && i < k; i++)
			p[i * PAGE] = 1;
		(void)madvise((char *)(uintptr_t)p, 1000 * PAGE,
		    MADV_DONTNEED);
	}
	return 0;
}

static void *
run_once(void *arg)
{
	usleep(20000);
	*(volatile char *)arg = 1;
	return NULL;
}

static int
churn(long n)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *p;
	long i;

	p = map_anon((size_t)n);
	place("region", "churn", p, (size_t)n * PAGE, "");
	ready();
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < n; i++) {
		if (pthread_create(&thread, &attr, run_once,
		    p + i * PAGE) != 0)
			errx(1, "pthread_create");
		usleep(200);
	}
	return 0;
}

int
main(int argc, char *argv[])
{
	pthread_t thread;
	FILE *f;
	int i, rc;

	if (argc < 3)
		errx(1, "no file");
	if (strcmp(argv[1], "many") == 0)
		return many(strtol(argv[2], NULL, 10));
	if (strcmp(argv[1], "churn") == 0)
		return churn(strtol(argv[2], NULL, 10));
	dir = argv[2];
	memset(told, 1, sizeof told);
	signal(SIGSEGV, caught);
	signal(SIGBUS, caught);
	thread_page = map_anon(1);
	if (pipe(go) == -1)
		err(1, "pipe");
	rc = go[1];
	if (pthread_create(&thread, NULL, run_thread, NULL) != 0)
		errx(1, "pthread_create");
	if (argc > 3) {
		ready();
		await();
	}
	tell("minor", thread_page + 7, "write u");
	if (write(rc, "", 1) != 1)
		err(1, "pipe");
	pthread_join(thread, NULL);
	in_order();
	zero_page();
	forked();
	files();
	instruction();
	in_kernel();
	invalid();
	changes();
	if ((f = fopen(argv[1], "w")) == NULL)
		err(1, "%s", argv[1]);
	for (i = 0; i < nline; i++)
		fprintf(f, "%s\n", told[i]);
	return fclose(f) == EOF;
}
