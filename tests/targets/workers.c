/*
 * Workers that share nearly all of their memory; each has a difference:
 * changed, unmapped, mapped again, much changed, shared or inaccessible memory,
 * or memory that nobody else touched.  On SIGUSR1 each writes to the common
 * memory, and prints that.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { MB = 1 << 20, COMMON = 24 * MB, PART = 64 };

enum worker { SAME, CHANGED, UNMAPPED, ANEW, MUCH, SHARED, SEALED, TOUCHED,
    WORKERS };

static char *common;		/* workers change the first parts */
static char *none;		/* not touched before the fork */
static volatile sig_atomic_t spoil;

static char *
map(size_t n, int flags, char *at)
{
	char *p;

	p = mmap(at, n, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags |
	    (at != NULL ? MAP_FIXED : 0), -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	(void)madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

/*
 * Return part i of the common memory, which has PART pages.
 */
static char *
part(int i)
{
	return common + i * PART * PAGE;
}

static void
tell_common(const char *name, int from, int to)
{
	int i;

	for (i = from; i < to; i++)
		printf("region %s%d %#jx %d %d\n", name, i,
		    (uintmax_t)(uintptr_t)part(i), PART * PAGE, 100 + i);
}

static void
tell_none(size_t n)
{
	place("absent", "none", none, n, "");
}

/*
 * Make the difference of worker i.
 */
static void
differ(enum worker i)
{
	volatile char c;

	switch (i) {
	case CHANGED:
		region("changed", part(0) + PAGE, 3 * PAGE, 1);
		break;
	case UNMAPPED:
		munmap(part(0), PART * PAGE);
		place("absent", "unmapped", part(0), PART * PAGE, "");
		(void)madvise(part(1), PART * PAGE, MADV_DONTNEED);
		place("absent", "dropped", part(1), PART * PAGE, "");
		break;
	case ANEW:
		(void)map(2 * PART * PAGE, MAP_PRIVATE, part(0));
		region("anew", part(0), PART * PAGE, 2);
		place("absent", "anew", part(1), PART * PAGE, "");
		break;
	case MUCH:
		pattern_fill(common + COMMON - 8 * MB, 8 * MB, 3);
		break;
	case SHARED:
		(void)map(PART * PAGE, MAP_SHARED, part(0));
		region("shared", part(0), PART * PAGE, 4);
		break;
	case SEALED:
		(void)mprotect(part(0), PART * PAGE, PROT_NONE);
		break;
	case TOUCHED:
		c = *none;
		(void)c;
		place("zeros", "touched", none, PAGE, "");
		region("written", none + PAGE, PAGE, 5);
		break;
	default:
		break;
	}
}

static void
worker_tell(enum worker i)
{
	printf("of %d\n", getpid());
	differ(i);
	/* parts that all have, then parts that some change */
	tell_common("common", 2, 4);
	if (i == SAME || i == MUCH || i == SEALED || i == TOUCHED)
		tell_common("kept", 0, 2);
	if (i != TOUCHED)
		tell_none(PART * PAGE);
	fflush(stdout);
}

static void
note(int sig)
{
	spoil = sig;
}

static void
spoil_common(void)
{
	memset(part(2), 0xee, 2 * PART * PAGE);
	spoil = 0;
	printf("spoilt %d\n", getpid());
	fflush(stdout);
}

/*
 * Wait for end of file on fd; on SIGUSR1, write to the common memory.
 */
static void
wait_end(int fd)
{
	char c;

	while (read(fd, &c, 1) == -1)
		if (spoil)
			spoil_common();
		else
			eintr++;
}

int
main(void)
{
	struct sigaction sa = { .sa_handler = note };
	int i, status, to[2], told[2];
	pid_t pid[WORKERS];
	long bad;
	char c;

	common = map(COMMON, MAP_PRIVATE, NULL);
	none = map(PART * PAGE, MAP_PRIVATE, NULL);
	pattern_fill(common, COMMON, 9);
	for (i = 0; i < 4; i++)
		pattern_fill(part(i), PART * PAGE, 100 + (uint64_t)i);
	if (pipe(to) == -1 || pipe(told) == -1 ||
	    sigaction(SIGUSR1, &sa, NULL) == -1)
		err(1, "pipe");
	for (i = 0; i < WORKERS; i++) {
		fflush(stdout);
		if ((pid[i] = fork()) == -1)
			err(1, "fork");
		if (pid[i] != 0)
			continue;
		end_with_parent();
		close(to[1]);
		worker_tell(i);
		close(told[1]);
		wait_end(to[0]);
		_exit(eintr > 0);
	}
	close(to[0]);
	close(told[1]);
	if (read(told[0], &c, 1) != 0)
		err(1, "workers");
	/* the following lines are of the parent */
	printf("of %d\n", getpid());
	tell_common("first", 0, 4);
	region("late", none + 8 * PAGE, 8 * PAGE, 6);
	ready();
	wait_end(STDIN_FILENO);
	close(to[1]);
	for (bad = 0, i = 0; i < WORKERS; i++)
		bad += waitpid(pid[i], &status, 0) != pid[i] || status != 0;
	report("eintr", eintr);
	report("workers", bad);
	return 0;
}
