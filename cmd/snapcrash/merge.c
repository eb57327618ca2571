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
	FILES_MOST = 8,		/* that become one */
	MERGE_SECONDS = 3600,	/* until it is given up */
	UNPACKED = 16		/* MiB of all files, that are kept at hand */
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
 * Read of a file what it has of n crashes, those of them that it holds; so many
 * MiB of it may be kept unpacked in memory.
 */
static struct snap *
file_read(const char *file, ino_t ino, struct crash *const v[], size_t n,
    size_t unpacked)
{
	const struct readopts o = { .warn = program_lose,
	    .unpacked = unpacked };
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
 * Return true if a crash is the first of those that are in its file.
 */
static bool
file_isnew(struct crash *const v[], size_t i)
{
	size_t k;

	for (k = 0; k < i && v[k]->ino != v[i]->ino; k++)
		continue;
	return k == i;
}

static size_t
files_count(struct crash *const v[], size_t n)
{
	size_t i, files;

	for (i = files = 0; i < n; i++)
		files += file_isnew(v, i);
	return files;
}

/*
 * Read n crashes into one snapshot.
 */
static struct snap *
crashes_read(struct crash *const v[], size_t n)
{
	const size_t files = files_count(v, n);
	struct snap *s = NULL, *t;
	size_t i;
	int rc;

	for (i = 0, rc = 0; i < n && rc == 0; i++) {
		if (!file_isnew(v, i))
			continue;
		t = file_read(v[i]->file, v[i]->ino, v + i, n - i,
		    UNPACKED / files);
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
 * Write the n crashes v as a snapshot of their own to path, compressed; NULL is
 * standard output.  It reads what strangers have made, so a child does it that
 * can do nothing else, for so many seconds at most, if they are not 0, and that
 * writes most bytes.  Return 0, or -1: the child has told why.
 */
int
merge_write(struct crash *const v[], size_t n, const char *path,
    unsigned int seconds, uint64_t most)
{
	const pid_t self = getpid();
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
	program_tie(self);
	program_signals();
	files_limit(most);
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
 * Return true if two crashes are of one program and one user, and the same may
 * read them.
 */
static bool
crash_islike(const struct crash *a, const struct crash *b)
{
	const size_t n = strcspn(a->id, ".");
	char x[256], y[256];
	ssize_t k;

	if (n != strcspn(b->id, ".") || strncmp(a->id, b->id, n) != 0 ||
	    crash_whose(a) != crash_whose(b))
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
	size_t i, n, files;

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
	for (i = n = files = 0; i < l->n && n < MERGE_MOST - 1; i++) {
		k = &l->v[i];
		if (k->ino != with->ino && (k < with || k->links > 1 ||
		    k == own || files > FILES_MOST - 3 ||
		    !crash_islike(k, own)))
			continue;
		files += k->ino != with->ino;
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
	size_t i;

	for (i = 0, sum = 0; i < n; i++)
		if (file_isnew(v, i))
			sum += v[i]->size * v[i]->links;
	return sum;
}

struct merging {
	const struct config *c;
	const char	*name;	/* of the crash */
	struct crashes	 l;	/* owned; all that there are */
	struct crash	*v[MERGE_MOST];	/* those that become one file */
	size_t		 n;	/* 0: none */
	uint64_t	 bytes;	/* that they take */
	int		 rc;	/* -1 with errstr */
};

/*
 * Choose what the crash becomes one file with, and reserve the bytes of the
 * disk that take; as it takes no more than what it replaces, it needs none of
 * those that snapshots may take.
 */
static void
merge_choose(void *arg, const struct reserved *others, struct reserved *own)
{
	struct merging *m = arg;
	struct crash *k = NULL;
	size_t i;

	m->rc = store_read(m->c, &m->l);
	for (i = 0; i < m->l.n; i++)
		if (strcmp(m->l.v[i].id, m->name) == 0)
			k = &m->l.v[i];
	if (k != NULL)
		m->n = group_choose(&m->l, k, m->v);
	m->bytes = group_bytes(m->v, m->n);
	if (m->n < 2 || m->bytes > m->c->bytes / 2 ||
	    m->bytes > disk_room(m->c, others))
		m->n = 0;
	else
		own->disk = m->bytes;
}

/*
 * Have the new file take the place of the others, if it takes less, while
 * nobody removes any of them.
 */
static void
merge_place(void *arg, const struct reserved *others, struct reserved *own)
{
	struct merging *m = arg;
	struct stat st;

	(void)others;
	(void)own;
	if (stat(file_name, &st) == 0 && (uint64_t)st.st_blocks * 512 +
	    m->v[m->n - 1]->size / 4 <= m->bytes)
		m->rc = names_move(m->v, m->n);
	(void)unlink(file_name);
}

/*
 * Make one file of the crash with that name, in the current directory, and of
 * those of its program before, if that takes less by a quarter of what it takes
 * alone, and is within what c has room for; if another process does that just
 * now, the next crash does it.  The claim is of who does.  Return 0, or -1 with
 * errstr: all is as before.
 */
int
merge_crash(const struct config *c, const char *name,
    const struct claim *claim)
{
	struct merging m = { .c = c, .name = name };
	int lock, rc;

	if ((lock = merge_lock(false)) == -1)
		return errno == EAGAIN ? 0 : errstr_sys("%s", lock_name);
	if ((rc = claim_reserve(claim, merge_choose, &m)) == 0)
		rc = m.rc;
	if (rc == 0 && m.n > 0) {
		rc = merge_write(m.v, m.n, file_name, MERGE_SECONDS, m.bytes);
		if (rc == 0 && (rc = claim_reserve(claim, merge_place,
		    &m)) == 0)
			rc = m.rc;
	}
	(void)unlink(file_name);
	store_free(&m.l);
	close(lock);
	return rc;
}

/*
 * Have the n files with inodes ino, in the directory of c, that crashes were
 * removed from keep only what their other names mean.  Return 0, or -1 if one
 * still has more: that was told.
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
		if (merge_write(v, m, file_name, 0, UINT64_MAX) == -1 ||
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
