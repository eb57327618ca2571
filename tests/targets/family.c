/*
 * Processes that depend on each other: family LOG.  A parent sends numbers
 * through a pipe to a child, and is up to AHEAD numbers ahead; both write the
 * last one to shared memory and to a memfd.  The child has a child, which
 * checks the memory of its ancestors and the shared memory.  A second child of
 * the parent is a zombie; on SIGUSR1 the parent reaps it, and logs its status,
 * 7, as the count of a line "zombie".
 */
#include "apart.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <stdatomic.h>

enum { AHEAD = 10, BYTES = 1 << 20 };

struct shared {
	_Atomic uint64_t sent;
	_Atomic uint64_t got;
	char pattern[BYTES];
};

/* not static: debuggers read them */
struct shared *page;		/* MAP_SHARED | MAP_ANONYMOUS */
struct shared *object;		/* a memfd */
char kept[BYTES] = "x";		/* private, the same in all three */

static volatile sig_atomic_t reap;
static pid_t zombie;

static void
on_signal(int sig)
{
	(void)sig;
	reap = 1;
}

static struct shared *
share(int fd)
{
	struct shared *s;

	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
	    fd == -1 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		_exit(1);
	return s;
}

static long
check(void)
{
	return pattern_check(page->pattern, BYTES, 1) +
	    pattern_check(object->pattern, BYTES, 2) +
	    pattern_check(kept, BYTES, 3);
}

static void
grandchild(void)
{
	uint64_t count, last, now;
	long wrong;

	for (last = 0, count = 1;; count++) {
		tick();
		now = page->got;
		wrong = now < last || now > page->sent;
		last = now;
		tell("grandchild", count, wrong + check());
	}
}

static void
child(int fd)
{
	uint64_t n, last;
	long wrong;

	for (last = 0;; last = n) {
		tick();
		if (read(fd, &n, sizeof n) != sizeof n)
			_exit(1);
		wrong = n != last + 1 || n > page->sent ||
		    page->sent - n > AHEAD;
		object->got = n;
		page->got = n;
		tell("child", n, wrong + check());
	}
}

static void
parent(int fd)
{
	uint64_t n;
	long wrong;
	int status;

	for (n = 1;; n++) {
		while (n > page->got + AHEAD)
			tick();
		wrong = page->sent != n - 1 || object->sent != n - 1;
		page->sent = n;
		object->sent = n;
		if (write(fd, &n, sizeof n) != sizeof n)
			_exit(1);
		tell("parent", n, wrong + check());
		if (!reap)
			continue;
		reap = 0;
		wrong = waitpid(zombie, &status, 0) != zombie ||
		    !WIFEXITED(status);
		tell("zombie", wrong ? 0 : (uint64_t)WEXITSTATUS(status),
		    wrong);
	}
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_handler = on_signal };
	int fd[2], memfd;

	if (argc != 2)
		errx(2, "usage: family log");
	apart(argv[1]);
	page = share(-1);
	if ((memfd = memfd_create("family", 0)) == -1 ||
	    ftruncate(memfd, sizeof *object) == -1 || pipe(fd) == -1)
		return 1;
	object = share(memfd);
	pattern_fill(page->pattern, BYTES, 1);
	pattern_fill(object->pattern, BYTES, 2);
	pattern_fill(kept, BYTES, 3);
	(void)sigaction(SIGUSR1, &sa, NULL);
	if ((zombie = fork()) == 0)
		_exit(7);
	if (fork() == 0) {
		end_with_parent();
		(void)close(fd[1]);
		if (fork() == 0) {
			end_with_parent();
			(void)close(fd[0]);
			grandchild();
		}
		child(fd[0]);
	}
	(void)close(fd[0]);
	parent(fd[1]);
	return 0;
}
