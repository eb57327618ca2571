/*
 * Crashes of one program in one file, which has each identical kilobyte of them
 * once.  Each crash has its own name all the same: all are links to the file,
 * and a name tells which crash of those in it is meant.  A file is never
 * changed: a new one takes the place of the old, name after name, so that at
 * any time each name leads to a file that has its crash.
 */
#include "crash.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MERGE_MOST = 32,	/* names of a file */
	MERGE_SECONDS = 3600	/* until it is given up */
};

static const char lock_name[] = ".merge", file_name[] = ".merging",
    link_name[] = ".link", acl_name[] = "system.posix_acl_access";

/*
 * Have the right to merge in the current directory, and nothing there of who
 * had it and was killed.  With wait false, somebody else may have it: EAGAIN.
 * Return a descriptor, or -1 with errno.
 */
static int
merge_lock(bool wait)
{
	int fd;

	fd = open(lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd != -1 && flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) == -1) {
		close(fd);
		return -1;
	}
	if (fd != -1) {
		(void)unlink(file_name);
		(void)unlink(link_name);
	}
	return fd;
}

/*
 * Read of a file what it has of n crashes, those of them that it holds.
 */
static struct snap *
file_read(const char *file, ino_t ino, struct crash *const v[], size_t n)
{
	const struct readopts o = { .warn = program_lose };
	uint64_t part[MERGE_MOST];
	struct snap *s;
	size_t i, k;

	if ((s = snap_open(file, &o)) == NULL)
		return NULL;
	for (i = k = 0; i < n && k < MERGE_MOST; i++)
		if (v[i]->ino == ino && crash_part(v[i], s, &part[k]) == 0)
			k++;
		else if (v[i]->ino == ino)
			goto failed;
	return snap_parts(s, part, k);
failed:
	errstr_wrap("%s", v[i]->id);
	snap_free(s);
	return NULL;
}

/*
 * Read n crashes into one snapshot.
 */
static struct snap *
crashes_read(struct crash *const v[], size_t n)
{
	struct snap *s = NULL, *t;
	size_t i, k;
	int rc;

	for (i = 0, rc = 0; i < n && rc == 0; i++) {
		for (k = 0; k < i && v[k]->ino != v[i]->ino; k++)
			continue;
		if (k < i)	/* that file was read */
			continue;
		t = file_read(v[i]->file, v[i]->ino, v + i, n - i);
		if (t == NULL)
			rc = -1;
		else if (s == NULL) {
			s = t;
			continue;
		} else
			rc = snap_merge(s, t);
		snap_free(t);
	}
	if (rc == 0)
		return s;
	snap_free(s);
	return NULL;
}

/*
 * Write n crashes as a snapshot of their own to path, compressed; NULL is
 * standard output.  It reads what strangers have made, so a child does it that
 * can do nothing else, for so many seconds at most, if they are not 0.  Return
 * 0, or -1: the child has told why.
 */
int
merge_write(struct crash *const v[], size_t n, const char *path,
    unsigned int seconds)
{
	char *in[MERGE_MOST];
	struct confined need = { .in = in, .out = path };
	struct output *out;
	struct snap *s;
	pid_t pid;

	if ((pid = fork()) != 0)
		return pid == -1 ? errstr_sys("fork") :
		    program_wait(pid, seconds) == 0 ? 0 :
		    errstr_set("it cannot be written");
	for (need.nin = 0; need.nin < n; need.nin++)
		in[need.nin] = v[need.nin]->file;
	program_signals();
	program_confine(&need, false);
	s = NULL;
	if ((out = output_begin(path, true, NULL)) == NULL ||
	    (s = crashes_read(v, n)) == NULL ||
	    snap6_write(s, out, program_lose, NULL) == -1) {
		output_abort(out);
		errx(1, "%s", snap_errstr());
	}
	snap_free(s);
	/* what lacks something does not take the place of the whole */
	if (program_lost()) {
		output_abort(out);
		exit(1);
	}
	if (output_commit(out) == -1)
		errx(1, "%s", snap_errstr());
	exit(0);
}

/*
 * Give the new file the names of n crashes, of which some may have been removed
 * meanwhile, and who may read the first of them.  Return 0, or -1 with errstr.
 */
static int
names_move(struct crash *const v[], size_t n)
{
	char acl[256];
	struct stat st;
	ssize_t len;
	size_t i;
	int fd, rc = 0;

	if ((len = getxattr(v[0]->id, acl_name, acl, sizeof acl)) > 0 &&
	    setxattr(file_name, acl_name, acl, (size_t)len, 0) == -1)
		rc = errstr_sys("%s", v[0]->file);
	for (i = 0; i < n && rc == 0; i++) {
		if (lstat(v[i]->id, &st) == -1)
			continue;
		if (link(file_name, link_name) == -1 ||
		    rename(link_name, v[i]->id) == -1)
			rc = errstr_sys("%s", v[i]->file);
	}
	(void)unlink(link_name);
	(void)unlink(file_name);
	if ((fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1) {
		(void)fsync(fd);
		close(fd);
	}
	return rc;
}

/*
 * Return true if two crashes are of one program, and the same may read them.
 */
static bool
crash_islike(const struct crash *a, const struct crash *b)
{
	const size_t n = strcspn(a->id, ".");
	char x[256], y[256];
	ssize_t k;

	if (n != strcspn(b->id, ".") || strncmp(a->id, b->id, n) != 0)
		return false;
	k = getxattr(a->id, acl_name, x, sizeof x);
	return k == getxattr(b->id, acl_name, y, sizeof y) &&
	    (k <= 0 || memcmp(x, y, (size_t)k) == 0);
}

/*
 * Choose into v, of MERGE_MOST, what a crash is to be one file with: the last
 * file of several crashes of its program, and those that came since; where
 * there is none, or it has enough, the crash before.  The crash itself is the
 * last of them.  Return how many they are.
 */
static size_t
group_choose(const struct crashes *l, struct crash *own, struct crash **v)
{
	struct crash *k, *with = NULL, *before = NULL;
	size_t i, n;

	for (i = l->n; i-- > 0 && with == NULL;) {
		k = &l->v[i];
		if (k == own || !crash_islike(k, own))
			continue;
		before = before == NULL ? k : before;
		with = k->links > 1 ? k : NULL;
	}
	if (with == NULL || with->links >= MERGE_MOST / 2)
		with = before;
	if (with == NULL || own->links > 1 || with->links >= MERGE_MOST / 2)
		return 0;
	for (i = n = 0; i < l->n && n < MERGE_MOST - 1; i++) {
		k = &l->v[i];
		if (k->ino == with->ino || (k > with && k->links == 1 &&
		    k != own && crash_islike(k, own)))
			v[n++] = k;
	}
	v[n++] = own;
	return n;
}

/*
 * Return the bytes that the files of n crashes take.
 */
static uint64_t
group_bytes(struct crash *const v[], size_t n)
{
	uint64_t sum;
	size_t i, k;

	for (i = 0, sum = 0; i < n; i++) {
		for (k = 0; k < i && v[k]->ino != v[i]->ino; k++)
			continue;
		if (k == i)
			sum += v[i]->size * v[i]->links;
	}
	return sum;
}

/*
 * Make one file of the crash with that name, in the current directory, and of
 * those of its program before, if that takes less by a quarter of what it takes
 * alone; if another process does that just now, the next crash does it.  Return
 * 0, or -1 with errstr: all is as before.
 */
int
merge_crash(const struct config *c, const char *name)
{
	struct crash *v[MERGE_MOST], *own = NULL;
	struct crashes l = { 0 };
	const struct reserved none = { 0 };
	uint64_t sum;
	struct stat st;
	size_t i, n = 0;
	int lock, rc;

	if ((lock = merge_lock(false)) == -1)
		return errno == EAGAIN ? 0 : errstr_sys("%s", lock_name);
	rc = store_read(c, &l);
	for (i = 0; i < l.n; i++)
		if (strcmp(l.v[i].id, name) == 0)
			own = &l.v[i];
	if (own != NULL)
		n = group_choose(&l, own, v);
	sum = group_bytes(v, n);
	if (n < 2 || sum > c->bytes / 2 || sum > disk_room(c, &none))
		goto out;
	rc = merge_write(v, n, file_name, MERGE_SECONDS);
	if (rc == 0 && stat(file_name, &st) == 0 &&
	    (uint64_t)st.st_blocks * 512 + v[n - 1]->size / 4 <= sum)
		rc = names_move(v, n);
	(void)unlink(file_name);
out:
	store_free(&l);
	close(lock);
	return rc;
}

/*
 * Have n files that crashes were removed from keep only what their other names
 * mean.  Return 0, or -1 if one still has more: that was told.
 */
int
merge_forget(const struct config *c, const ino_t *ino, size_t n)
{
	struct crash *v[MERGE_MOST];
	struct crashes l = { 0 };
	size_t i, k, m;
	int lock, rc = 0;

	if (store_open(c) == -1 || (lock = merge_lock(true)) == -1) {
		program_warn("%s: %s", c->directory, strerror(errno));
		return -1;
	}
	if (store_read(c, &l) == -1)
		errx(1, "%s", snap_errstr());
	for (i = 0; i < n; i++) {
		for (k = m = 0; k < l.n && m < MERGE_MOST; k++)
			if (l.v[k].ino == ino[i])
				v[m++] = &l.v[k];
		if (m == 0 || (i > 0 && ino[i] == ino[i - 1]))
			continue;
		if (merge_write(v, m, file_name, 0) == -1 ||
		    names_move(v, m) == -1) {
			program_warn("%s still has what was removed: %s",
			    v[0]->file, snap_errstr());
			rc = -1;
		}
	}
	store_free(&l);
	close(lock);
	return rc;
}

/*
 * Remove what a process left that was killed when it merged.
 */
void
merge_clean(void)
{
	struct stat st;
	int fd;

	if (lstat(file_name, &st) == 0 && (fd = merge_lock(false)) != -1)
		close(fd);
}
