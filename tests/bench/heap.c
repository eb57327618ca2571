/*
 * A process to be measured: heap MEGABYTES [WORKERS].  A quarter of its
 * memory is zero, though written; a quarter repeats other pages, in no
 * order; half is unique.  It forks the workers, prints the process ids of
 * all, or its own, and sleeps.
 *
 * heap -u MEGABYTES [WORKERS] has only unique pages; heap -f has them in
 * mappings of two pages each; heap -m has zero, repeated and unique pages in
 * turn.  With heap -w only the workers have memory: MEGABYTES each, unlike that
 * of the others.
 *
 * heap -s 1 touches 100 pages of a reservation of a terabyte, and heap -s 0 all
 * 100 pages of a small one.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const uint64_t SEED = 88172645463325252;

static uint64_t
next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static char *
reserve(size_t n)
{
	char *p;

	p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	/* pages of 4 KiB: the harder case, for reader and writer */
	madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

/*
 * Fill n bytes at p: a page of zeros, one that repeats a page of those before,
 * a unique one, and so on.
 */
static void
alternate(char *p, size_t n)
{
	uint64_t seed = 88172645463325252, *w;
	size_t i, k;

	for (i = 0; i < n; i += PAGE) {
		w = (uint64_t *)(void *)(p + i);
		k = i / PAGE;
		if (k % 3 == 0)
			memset(w, 0, PAGE);
		else if (k % 3 == 1 && k > 3)
			memcpy(w, p + (2 + next(&seed) % (k / 3) * 3) * PAGE,
			    PAGE);
		else
			for (k = 0; k < PAGE / sizeof *w; k++)
				w[k] = next(&seed);
	}
}

static void
fill(char *p, size_t n, bool unique, uint64_t seed)
{
	size_t i, k, half;
	uint64_t *w;

	half = unique ? n : n / 2;
	for (w = (uint64_t *)(void *)p; (char *)w < p + half; w++)
		*w = next(&seed);
	if (unique)
		return;
	for (i = half; i < half + n / 4; i += PAGE) {
		k = next(&seed) % (half / PAGE);
		memcpy(p + i, p + k * PAGE, PAGE);
	}
	memset(p + half + n / 4, 0, n / 4);
}

/*
 * Divide n bytes at p into mappings of two pages.
 */
static void
divide(char *p, size_t n)
{
	size_t i;

	for (i = 2 * PAGE; i < n; i += 4 * PAGE)
		if (mprotect(p + i, 2 * PAGE, PROT_READ) == -1)
			err(1, "mprotect");
}

static void
sparse(bool terabyte)
{
	size_t n, i;
	char *p;

	n = terabyte ? (size_t)1 << 40 : 100 * PAGE;
	p = reserve(n);
	for (i = 0; i < 100; i++)
		memset(p + n / 100 / PAGE * PAGE * i, (int)i + 1, PAGE);
}

/*
 * Be worker number i, with n bytes of its own if own; then close the pipe told,
 * for which the parent waits.
 */
static void
work(int i, size_t n, bool own, const int told[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(told[0]);
	if (own)
		fill(reserve(n), n, false, SEED + (uint64_t)i + 1);
	close(told[1]);
	for (;;)
		pause();
}

int
main(int argc, char *argv[])
{
	bool divided, mixed, own, unique;
	size_t n;
	char *p, c;
	int i, told[2], workers;

	divided = argc > 2 && strcmp(argv[1], "-f") == 0;
	unique = divided || (argc > 2 && strcmp(argv[1], "-u") == 0);
	mixed = argc > 2 && strcmp(argv[1], "-m") == 0;
	own = argc > 2 && strcmp(argv[1], "-w") == 0;
	argc -= unique || mixed || own;
	argv += unique || mixed || own;
	if (argc < 2)
		errx(2, "usage: heap [-f|-m|-u|-w] megabytes [workers] | "
		    "heap -s 0|1");
	/* close inherited descriptors: a checkpoint would have them */
	for (i = 3; i < 1024; i++)
		(void)close(i);
	n = (size_t)strtol(argv[1], NULL, 10) << 20;
	if (strcmp(argv[1], "-s") == 0 && argc == 3)
		sparse(strtol(argv[2], NULL, 10) != 0);
	else if (!own) {
		p = reserve(n);
		if (mixed)
			alternate(p, n);
		else
			fill(p, n, unique, SEED);
		if (divided)
			divide(p, n);
	}
	workers = argc > 2 && argv[1][0] != '-' ?
	    (int)strtol(argv[2], NULL, 10) : 0;
	if (pipe(told) == -1)
		err(1, "pipe");
	printf("%d", workers > 0 ? 0 : getpid());
	for (i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid == 0)
			work(i, n, own, told);
		printf(" %d", pid);
	}
	printf("\n");
	close(told[1]);
	(void)!read(told[0], &c, 1);	/* until all have their memory */
	close(told[0]);
	fflush(stdout);
	for (;;)
		pause();
}
