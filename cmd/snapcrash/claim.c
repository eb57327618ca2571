/*
 * Who is at work in the directory of the snapshots, and what each may still
 * write there.  Who takes a process holds one of the files .taking.N; who is at
 * work, also to compress what was taken, one of .place.N, which says what it
 * reserves; who waits for the first, one of .waiting.N.  Who finds none of
 * these is counted and lets its process go.  A hook runs with a file .hook.N,
 * and waits for that with .hooking.N.  A file is held by a lock (flock(2)),
 * which the kernel drops when its owner is killed.
 */
#include "crash.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define DROPPED	".dropped"	/* has a byte for each */

enum {
	PACKING = 2,		/* times so many as may be taken at once are in
				   work at once: what is packed is gone */
	WAIT_SECONDS = 600,
	HOOK_SECONDS = 3600,
	LOOK_NS = 20000000	/* between two looks whether a file is free */
};

static int
file_open(const char *kind, uint64_t i, int flags)
{
	char name[48];

	snprintf(name, sizeof name, ".%s.%ju", kind, (uintmax_t)i);
	return open(name, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/*
 * Be the only one who looks who has which file, until the descriptor that is
 * returned is closed; -1 with errstr if that cannot be.
 */
static int
alone(void)
{
	int fd;

	fd = open(".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1 || flock(fd, LOCK_EX) == -1) {
		(void)errstr_sys(".lock");
		if (fd != -1)
			close(fd);
		return -1;
	}
	return fd;
}

/*
 * Lock one of n files of a kind, which is made if there is none, and is empty
 * then.  Return its descriptor; -1 if others have all of them, -2 with errstr
 * if there can be none.
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
 * Lock one of n files of a kind; wait for it seconds at most.  Return its
 * descriptor; with errstr -1 if others still have all of them, -2 if there can
 * be none.
 */
static int
file_await(const char *kind, uint64_t n, time_t seconds)
{
	const struct timespec look = { 0, LOOK_NS };
	const time_t end = time(NULL) + seconds;
	int fd;

	while ((fd = file_lock(kind, n)) == -1 && time(NULL) < end)
		(void)nanosleep(&look, NULL);
	if (fd == -1)
		return errstr_set("%jd seconds were not enough for those "
		    "before it", (intmax_t)seconds);
	return fd;
}

/*
 * Lock one of as many files of a kind as c has at work at once, or wait for it
 * if so many may, with a file of the kind queue.  Return as file_await.
 */
static int
turn_await(const struct config *c, const char *kind, const char *queue,
    time_t seconds)
{
	int fd, waiting;

	if ((fd = file_lock(kind, c->atonce)) != -1)
		return fd;
	if ((waiting = file_lock(queue, c->waiting)) == -1)
		(void)errstr_set("%ju others are before it, and %ju wait: "
		    "at-once, waiting in snapcrash(1)", (uintmax_t)c->atonce,
		    (uintmax_t)c->waiting);
	if (waiting < 0)
		return waiting;
	fd = file_await(kind, c->atonce, seconds);
	close(waiting);
	return fd;
}

/*
 * Count a crash that no snapshot is made of.
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
 * Take one of the places that c allows in the current directory, which is ours
 * until claim_end, or claim_let for the process; wait for it if so many may.
 * Set p to it.  Return 0, or -1 with errstr.
 */
int
claim_take(struct claim *p, const struct config *c)
{
	p->fd = p->taking = turn_await(c, "taking", "waiting", WAIT_SECONDS);
	if (p->taking >= 0)
		p->fd = file_await("place", c->atonce * PACKING, WAIT_SECONDS);
	if (p->fd == -1)
		dropped_add();
	return p->fd < 0 ? -1 : 0;
}

/*
 * Add up in *r what all others than p may still write.
 */
static void
others_reserve(const struct claim *p, struct reserved *r)
{
	struct stat own, st;
	char text[64];
	uint64_t i, kept, disk;
	ssize_t n;
	int fd;

	*r = (struct reserved){ 0 };
	if (fstat(p->fd, &own) == -1)
		return;
	for (i = 0; (fd = file_open("place", i, 0)) != -1; i++) {
		if (fstat(fd, &st) == 0 && st.st_ino != own.st_ino &&
		    flock(fd, LOCK_SH | LOCK_NB) == -1 &&
		    (n = pread(fd, text, sizeof text - 1, 0)) > 0) {
			text[n] = '\0';
			if (sscanf(text, "%" SCNu64 " %" SCNu64, &kept,
			    &disk) == 2) {
				r->kept += kept;
				r->disk += disk;
				r->n += kept > 0;
			}
		}
		close(fd);
	}
}

/*
 * Set *others to what all others than p reserve; nobody reserves anything until
 * claim_unlock.  Return the lock, or -1 with errstr.
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
 * Reserve for p so many bytes: kept in the store, and disk on its disk; and no
 * others.  Give up the lock, unless it is -1.
 */
void
claim_unlock(const struct claim *p, int lock, uint64_t kept, uint64_t disk)
{
	char text[64];
	int n;

	n = snprintf(text, sizeof text, "%ju %ju\n", (uintmax_t)kept,
	    (uintmax_t)disk);
	if (ftruncate(p->fd, 0) == 0)
		(void)!pwrite(p->fd, text, (size_t)n, 0);
	if (lock != -1)
		close(lock);
}

/*
 * Say that the process of p is let go.
 */
void
claim_let(struct claim *p)
{
	if (p->taking >= 0)
		close(p->taking);
	p->taking = -1;
}

/*
 * Give up the place of p, and what it reserved.
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
 * Wait until one more hook may run.  It may until the descriptor is closed that
 * is returned; less than 0 with errstr if as many wait as may.
 */
int
claim_hook(const struct config *c)
{
	return turn_await(c, "hook", "hooking", HOOK_SECONDS);
}

/*
 * Return how many processes at once may run hooks, or wait for that, by c.
 */
uint64_t
claim_hooks(const struct config *c)
{
	return *c->hook == '\0' ? 0 : c->atonce + c->waiting;
}

/*
 * Return of how many processes at once the kernel is to tell us, by c: of those
 * that are taken, that wait, and some that are only counted.
 */
uint64_t
claim_most(const struct config *c)
{
	return c->atonce + c->waiting + 16;
}

/*
 * Return how many crashes no snapshot was made of for want of a place, since
 * snapcrash was installed: in the directory of c.
 */
uint64_t
claim_dropped(const struct config *c)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof path, "%s/" DROPPED, c->directory);
	return stat(path, &st) == -1 ? 0 : (uint64_t)st.st_size;
}

/*
 * Count from zero.  The current directory is that of the snapshots.
 */
void
claim_forget(void)
{
	(void)unlink(DROPPED);
}
