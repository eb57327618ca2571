/*
 * Limit how many crashes are handled at once, and record how much each may
 * still write in the directory of snapshots. A process locks one file of each
 * kind that it needs:
 *
 *   .taking.N   it captures a process
 *   .waiting.N  it waits for a .taking file
 *   .place.N    it captures or compresses; the file says what it reserves
 *   .hook.N     it runs a hook
 *   .hooking.N  it waits for a .hook file
 *
 * A crash that gets neither .taking nor .waiting is counted and dropped. Files
 * are locked with flock(2), so the kernel unlocks them if the owner is killed.
 */
#include "crash.h"

#include <sys/file.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum {
	PACKING = 2,		/* number of .place files per .taking file; more
				   than 1, because a process is let go before
				   its snapshot is compressed */
	WAIT_SECONDS = 600,
	LOOK_NS = 20000000 /* nanoseconds between two attempts to lock a file */
};

static int
file_open(const char *kind, uint64_t i, int flags)
{
	char name[48];

	snprintf(name, sizeof name, ".%s.%ju", kind, (uintmax_t)i);
	return open(name, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/*
 * Lock the whole set of lock files. No other process can lock or inspect them
 * until the returned descriptor is closed. Return the descriptor, or -1 with
 * errstr set.
 */
static int
alone(void)
{
	int fd;

	fd = open(".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1 || flock(fd, LOCK_EX) == -1) {
		(void)errstr_sys(".lock");
		fd_drop(fd);
		return -1;
	}
	return fd;
}

/*
 * Lock and truncate one of the n lock files .KIND.0 to .KIND.n-1. Create it if
 * it is missing. Return its descriptor, -1 if others hold all of them, or -2
 * with errstr set on failure.
 */
static int
file_lock(const char *kind, uint64_t n)
{
	int fd = -1, lock;
	uint64_t i;

	if ((lock = alone()) == -1)
		return -2;
	for (i = 0; i < n; i++) {
		if ((fd = file_open(kind, i, O_CREAT)) == -1) {
			(void)errstr_sys(".%s.%ju", kind, (uintmax_t)i);
			fd = -2;
			break;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			(void)!ftruncate(fd, 0);
			break;
		}
		close(fd);
		fd = -1;
	}
	close(lock);
	return fd;
}

/*
 * Lock one of n files as file_lock() does, but wait up to timeout seconds for
 * one to become free. Return its descriptor, -1 with errstr set if others still
 * hold all of them, or -2 with errstr set on failure.
 */
static int
file_await(const char *kind, uint64_t n, time_t timeout)
{
	const struct timespec look = { 0, LOOK_NS };
	const time_t end = time(NULL) + timeout;
	int fd;

	while ((fd = file_lock(kind, n)) == -1 && time(NULL) < end)
		(void)nanosleep(&look, NULL);
	if (fd == -1)
		return errstr_set("no free slot after waiting for %jd "
		    "seconds", (intmax_t)timeout);
	return fd;
}

/*
 * Lock one of the c->atonce files of the given kind. If others hold all of
 * them, wait up to timeout seconds for one, and hold one of the c->waiting
 * files of kind queue while waiting. If others hold all of these as well, do
 * not wait, but return -1 with errstr set. Otherwise return as file_await()
 * does. The caller closes the descriptor when its turn is over.
 */
int
claim_turn(const struct config *c, const char *kind, const char *queue,
    time_t timeout)
{
	int fd, waiting;

	if ((fd = file_lock(kind, c->atonce)) != -1)
		return fd;
	if ((waiting = file_lock(queue, c->waiting)) == -1)
		(void)errstr_set("too many crashes at once: %ju captured, %ju "
		    "waiting (see at-once and waiting in snapcrash.conf(5))",
		    (uintmax_t)c->atonce, (uintmax_t)c->waiting);
	if (waiting < 0)
		return waiting;
	fd = file_await(kind, c->atonce, timeout);
	close(waiting);
	return fd;
}

/*
 * Count a crash that was dropped.
 */
static void
dropped_add(void)
{
	int fd;

	fd = open(DROPPED, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (fd == -1)
		return;
	(void)!write(fd, "\n", 1);
	close(fd);
}

/*
 * Wait until the limits in c permit the capture of one more crash. Then lock a
 * .taking and a .place file in the current directory for p. claim_let() and
 * claim_end() release these locks. Fail if too many crashes are waiting
 * already. Return 0, or -1 with errstr set.
 */
int
claim_take(struct claim *p, const struct config *c)
{
	p->fd = p->taking = claim_turn(c, "taking", "waiting", WAIT_SECONDS);
	if (p->taking >= 0)
		p->fd = file_await("place", c->atonce * PACKING, WAIT_SECONDS);
	if (p->fd == -1)
		dropped_add();
	return p->fd < 0 ? -1 : 0;
}

/*
 * Set *r to the space that the handlers of other crashes may still use. Each of
 * them holds a .place file, as p does. The part of its spool that is written is
 * used already.
 */
static void
others_reserve(const struct claim *p, struct reserved *r)
{
	struct stat own, st;
	char text[96], path[64];
	uint64_t i, kept, disk, has;
	int fd, pid, spool;
	ssize_t n;

	*r = (struct reserved){ 0 };
	if (fstat(p->fd, &own) == -1)
		return;
	for (i = 0; (fd = file_open("place", i, 0)) != -1; i++) {
		if (fstat(fd, &st) == 0 && st.st_ino != own.st_ino &&
		    flock(fd, LOCK_SH | LOCK_NB) == -1 &&
		    (n = pread(fd, text, sizeof text - 1, 0)) > 0) {
			text[n] = '\0';
			if (sscanf(text, "%" SCNu64 " %" SCNu64 " %d %d",
			    &kept, &disk, &pid, &spool) == 4) {
				/* its spool is on the disk already */
				snprintf(path, sizeof path, "/proc/%d/fd/%d",
				    pid, spool);
				has = stat(path, &st) == -1 ? 0 :
				    (uint64_t)st.st_blocks * 512;
				r->kept += kept;
				r->disk += disk - (has < disk ? has : disk);
				r->n += kept > 0;
			}
		}
		close(fd);
	}
}

/*
 * Set *others to the total space reserved by all holders of claims other than
 * p. The total cannot change until claim_unlock() is called. Return the lock,
 * or -1 with errstr set.
 */
int
claim_lock(const struct claim *p, struct reserved *others)
{
	int lock;

	if ((lock = alone()) != -1)
		others_reserve(p, others);
	return lock;
}

/*
 * Change the reservation of p to kept bytes in the directory and disk bytes on
 * its disk. Then release the lock, unless it is -1.
 */
void
claim_unlock(const struct claim *p, int lock, uint64_t kept, uint64_t disk)
{
	char text[96];
	int n;

	n = snprintf(text, sizeof text, "%ju %ju %d %d\n", (uintmax_t)kept,
	    (uintmax_t)disk, getpid(), p->spool);
	if (ftruncate(p->fd, 0) == 0)
		(void)!pwrite(p->fd, text, (size_t)n, 0);
	fd_drop(lock);
}

/*
 * Release the .taking file of p, because the captured process has been let go.
 */
void
claim_let(struct claim *p)
{
	if (p->taking >= 0)
		close(p->taking);
	p->taking = -1;
}

/*
 * Release the lock files of p, and with them the space that p reserved.
 */
void
claim_end(struct claim *p)
{
	claim_let(p);
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/*
 * Return the value for core_pipe_limit, the number of crashes that the kernel
 * may hand to us at a time. It allows for the crashes being captured, those
 * waiting, and some that are only counted and dropped.
 */
uint64_t
claim_most(const struct config *c)
{
	return c->atonce + c->waiting + 16;
}

/*
 * Return the number of handlers that crash_serve() runs at once. Those that run
 * hooks, or wait to run one, come on top of claim_most().
 */
uint64_t
claim_accepts(const struct config *c)
{
	return claim_most(c) + (*c->hook == '\0' ? 0 : c->atonce + c->waiting);
}

/*
 * Return the number of crashes dropped since snapcrash was installed. The count
 * is in the directory of c.
 */
uint64_t
claim_dropped(const struct config *c)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof path, "%s/" DROPPED, c->directory);
	return stat(path, &st) == -1 ? 0 : (uint64_t)st.st_size;
}
