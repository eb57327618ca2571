/*
 * Who is at work in the directory of the snapshots, and what each may still
 * write there: so many are in work as there are files .place.N, and so many of
 * them hold a process meanwhile as there are files .taking.N; who finds none
 * free waits, of whom there are so many as files .waiting.N, or is counted and
 * lets its process go.  A hook runs without a place: each that runs holds a
 * file .hook.N, each that waits a file .hooking.N.  A file is held by a lock
 * (flock(2)), which the kernel drops when its owner is killed.
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
	LOOK_NS = 20000000	/* between two looks whether a place is free */
};

static int
file_open(const char *kind, uint64_t i, int flags)
{
	char name[48];

	snprintf(name, sizeof name, ".%s.%ju", kind, (uintmax_t)i);
	return open(name, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/*
 * Lock one of n files of a kind, which is made if there is none.  Return its
 * descriptor; -1 if others have all of them, -2 with errstr if there can be
 * none.
 */
static int
file_lock(const char *kind, uint64_t n)
{
	uint64_t i;
	int fd;

	for (i = 0; i < n; i++) {
		if ((fd = file_open(kind, i, O_CREAT)) == -1) {
			(void)errstr_sys(".%s.%ju", kind, (uintmax_t)i);
			return -2;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/*
 * Be the only one who looks who has which file, until the descriptor that is
 * returned is closed; -2 with errstr if that cannot be.
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
		return -2;
	}
	return fd;
}

/*
 * Take a place, and one of those who hold a process.  Return 0; -1 if there is
 * none, -2 with errstr if there can be none.
 */
static int
claim_try(struct claim *p, const struct config *c)
{
	int lock;

	if ((lock = alone()) < 0)
		return lock;
	p->taking = file_lock("taking", c->atonce);
	if (p->taking >= 0) {
		p->fd = file_lock("place", c->atonce * PACKING);
		if (p->fd < 0) {
			close(p->taking);
			p->taking = p->fd;
		} else
			(void)!ftruncate(p->fd, 0);
	}
	close(lock);
	return p->taking < 0 ? p->taking : 0;
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
 * until we end, or claim_let for the process; wait for it if so many may.  Set
 * p to it.  Return 0, or -1 with errstr.
 */
int
claim_take(struct claim *p, const struct config *c)
{
	const struct timespec look = { 0, LOOK_NS };
	const time_t end = time(NULL) + WAIT_SECONDS;
	int rc, waiting;

	*p = (struct claim){ -1, -1 };
	if ((rc = claim_try(p, c)) != -1)
		return rc == 0 ? 0 : -1;
	if ((waiting = file_lock("waiting", c->waiting)) == -2)
		return -1;
	if (waiting == -1) {
		dropped_add();
		return errstr_set("%ju others are taken, and %ju wait: "
		    "at-once, waiting in snapcrash(1)", (uintmax_t)c->atonce,
		    (uintmax_t)c->waiting);
	}
	while ((rc = claim_try(p, c)) == -1 && time(NULL) < end)
		(void)nanosleep(&look, NULL);
	close(waiting);
	if (rc == -1) {
		dropped_add();
		return errstr_set("%d seconds were not enough for those "
		    "before it", WAIT_SECONDS);
	}
	return rc == 0 ? 0 : -1;
}

/*
 * Add up in *r what all others may still write.
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
 * Write what p reserves; who reads it meanwhile may find nothing.
 */
static void
claim_write(const struct claim *p, const struct reserved *own)
{
	char text[64];
	int n;

	n = snprintf(text, sizeof text, "%ju %ju\n", (uintmax_t)own->kept,
	    (uintmax_t)own->disk);
	if (ftruncate(p->fd, 0) == 0)
		(void)!pwrite(p->fd, text, (size_t)n, 0);
}

/*
 * Reserve for p what choose sets *own to, which is called with arg and what all
 * others have reserved, and nobody reserves anything meanwhile.  Return 0, or
 * -1 with errstr.
 */
int
claim_reserve(const struct claim *p, void (*choose)(void *arg,
    const struct reserved *others, struct reserved *own), void *arg)
{
	struct reserved others, own = { 0 };
	int lock;

	if ((lock = alone()) < 0)
		return -1;
	others_reserve(p, &others);
	choose(arg, &others, &own);
	claim_write(p, &own);
	close(lock);
	return 0;
}

/*
 * Say that no more will be written by p than so many bytes: kept in the store,
 * and disk on its disk.
 */
void
claim_shrink(const struct claim *p, uint64_t kept, uint64_t disk)
{
	const struct reserved own = { kept, disk, 1 };
	int lock;

	if (p->fd == -1)
		return;
	lock = alone();
	claim_write(p, &own);
	if (lock >= 0)
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
	if (p->fd >= 0) {
		claim_shrink(p, 0, 0);
		close(p->fd);
	}
	p->fd = -1;
}

/*
 * Wait until one more hook may run.  It may until the descriptor is closed that
 * is returned; -1 with errstr if as many wait as may.
 */
int
claim_hook(const struct config *c)
{
	int fd, waiting;

	if ((fd = file_lock("hook", c->atonce)) != -1)
		return fd >= 0 ? fd : -1;
	if ((waiting = file_lock("hooking", c->waiting)) == -1)
		(void)errstr_set("%ju run, and %ju wait: at-once, waiting in "
		    "snapcrash(1)", (uintmax_t)c->atonce,
		    (uintmax_t)c->waiting);
	if (waiting < 0)
		return -1;
	fd = file_open("hook", (uint64_t)getpid() % c->atonce, O_CREAT);
	if (fd == -1 || flock(fd, LOCK_EX) == -1) {
		(void)errstr_sys(".hook");
		if (fd != -1)
			close(fd);
		fd = -1;
	}
	close(waiting);
	return fd;
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
