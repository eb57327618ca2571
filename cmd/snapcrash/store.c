/*
 * The directory with what crashed: a snapshot each, PROGRAM.PID.TIME.USER and
 * the suffix.  What has another name is none of ours, and stays.
 */
#include "bisect.h"
#include "crash.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".snap.gz"

/*
 * Make the directory of c, if there is none, and enter it: where only root may
 * put files, nobody can have prepared one.  Return 0, or -1 with errstr.
 */
int
store_open(const struct config *c)
{
	struct stat st;
	int fd;

	if (mkdir(c->directory, 0755) == -1 && errno != EEXIST)
		return errstr_sys("%s", c->directory);
	fd = open(c->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1 || fchdir(fd) == -1) {
		(void)errstr_sys("%s", c->directory);
		if (fd != -1)
			close(fd);
		return -1;
	}
	close(fd);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return errstr_set("%s: others than root may write there",
		    c->directory);
	return 0;
}

static int
time_cmp(const struct timespec *x, const struct timespec *y)
{
	return x->tv_sec != y->tv_sec ? ORDER(x->tv_sec, y->tv_sec) :
	    ORDER(x->tv_nsec, y->tv_nsec);
}

static int
crash_cmp(const void *a, const void *b)
{
	const struct crash *x = a, *y = b;
	int rc;

	if ((rc = time_cmp(&x->when, &y->when)) == 0 &&
	    (rc = time_cmp(&x->written, &y->written)) == 0 &&
	    (rc = ORDER(crash_pid(x), crash_pid(y))) == 0)
		rc = strcmp(x->id, y->id);
	return rc;
}

/*
 * Set *when to the time that the name of a snapshot tells, behind the number of
 * the process; else to that of the file.
 */
static void
when_set(struct timespec *when, const char *name, const struct stat *st)
{
	intmax_t at;
	char dot;

	*when = st->st_mtim;
	if (sscanf(name, "%*[^.].%*[0-9].%jd%c", &at, &dot) == 2 && dot == '.')
		*when = (struct timespec){ .tv_sec = (time_t)at };
}

/*
 * Add a file of the directory to l, if it is a snapshot of ours.
 */
static void
store_add(struct crashes *l, const struct config *c, int dir, const char *name)
{
	struct stat st;
	struct crash *k;
	size_t len;

	len = strlen(name);
	if (*name == '.' || len < sizeof SUFFIX ||
	    strcmp(name + len - (sizeof SUFFIX - 1), SUFFIX) != 0 ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode))
		return;
	if (VEC_ROOM(l->v, l->n) == -1)
		errx(1, "%s", snap_errstr());
	k = &l->v[l->n++];
	*k = (struct crash){ .written = st.st_mtim,
	    .size = (uint64_t)st.st_blocks * 512 };
	when_set(&k->when, name, &st);
	if (asprintf(&k->file, "%s/%s", c->directory, name) == -1)
		err(1, NULL);
}

/*
 * Set *l to all that the directory of c has, to be freed with store_free.
 * Return 0, or -1 with errstr.
 */
int
store_read(const struct config *c, struct crashes *l)
{
	struct dirent *e;
	size_t i;
	DIR *d;

	*l = (struct crashes){ 0 };
	if ((d = opendir(c->directory)) == NULL)
		return errno == ENOENT ? 0 : errstr_sys("%s", c->directory);
	while ((e = readdir(d)) != NULL)
		store_add(l, c, dirfd(d), e->d_name);
	closedir(d);
	for (i = 0; i < l->n; i++)
		l->v[i].id = strrchr(l->v[i].file, '/') + 1;
	SORT(l->v, l->n, crash_cmp);
	return 0;
}

/*
 * Free the crashes of l, which is empty then.
 */
void
store_free(struct crashes *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->v[i].file);
		free(l->v[i].facts);
	}
	free(l->v);
	*l = (struct crashes){ 0 };
}

/*
 * Return the bytes that the disk of the current directory has free, but for
 * what c wants to stay free of it, and what others may write; 0 where that is
 * not told.
 */
static uint64_t
disk_room(const struct config *c, const struct reserved *others)
{
	struct statvfs st;
	uint64_t room, keep;

	if (statvfs(".", &st) == -1)
		return 0;
	room = (uint64_t)st.f_bavail * st.f_frsize;
	keep = c->free.percent == 0 ? c->free.bytes :
	    (uint64_t)st.f_blocks / 100 * c->free.percent * st.f_frsize;
	if (__builtin_add_overflow(keep, others->disk, &keep))
		return 0;
	return room > keep ? room - keep : 0;
}

static bool
crash_isold(const struct config *c, const struct crash *k)
{
	return c->age > 0 && (uint64_t)(time(NULL) - k->when.tv_sec) > c->age &&
	    time(NULL) > k->when.tv_sec;
}

/*
 * Remove a crash, which is in the current directory.  What cannot be removed
 * keeps its size.
 */
static void
crash_remove(struct crash *k)
{
	k->gone = true;
	if (unlink(k->id) == 0)
		k->size = 0;
}

static uint64_t
crashes_bytes(const struct crashes *l)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < l->n; i++)
		sum += l->v[i].size;
	return sum;
}

struct share {			/* of a user */
	uint64_t	 whose;
	uint64_t	 sum;	/* crashes, or bytes */
	size_t		 first;	/* the oldest that can be removed; l->n: none */
};

/*
 * Return the share of user whose in the n shares at v, behind which there is
 * room: a new one, if there is none.
 */
static struct share *
share_get(struct share *v, size_t *n, uint64_t whose, size_t none)
{
	size_t i;

	for (i = 0; i < *n && v[i].whose != whose;)
		i++;
	if (i == *n)
		v[(*n)++] = (struct share){ whose, 0, none };
	return &v[i];
}

/*
 * Return which crash of l is to be removed: the oldest of the user who has most
 * crashes, or with bytes most bytes; so whoever crashes often removes nothing
 * of others who do not.  One of user whose comes, which has need bytes, and
 * counts.  Return l->n if there is none.
 */
static size_t
store_victim(const struct crashes *l, uint64_t whose, uint64_t need,
    bool bytes)
{
	struct share *v, *s;
	size_t i, n = 0, most = l->n;
	uint64_t sum = 0;

	if ((v = calloc(l->n + 1, sizeof *v)) == NULL)
		err(1, NULL);
	share_get(v, &n, whose, l->n)->sum = bytes ? need : 1;
	for (i = 0; i < l->n; i++) {
		if (l->v[i].gone)
			continue;
		s = share_get(v, &n, crash_whose(&l->v[i]), l->n);
		s->sum += bytes ? l->v[i].size : 1;
		if (s->first == l->n)
			s->first = i;
	}
	/* of two who have as much, the one whose crash comes is the first */
	for (i = 0; i < n; i++)
		if (v[i].first < l->n && v[i].sum > sum) {
			sum = v[i].sum;
			most = v[i].first;
		}
	free(v);
	return most;
}

/*
 * Remove crashes of l, which are in the current directory: those that are too
 * old, then those that are too many; then, where need more bytes have no place,
 * others; but for more than half of what may be taken none is removed, nor
 * where it would not help.  store_victim chooses.  The crash that comes is of
 * user whose; others who are at work will write so much as others tells.
 * Return the bytes that there is room for, of a snapshot; *disk is that of
 * files, of which there are two until it is made.
 */
uint64_t
store_room(const struct config *c, struct crashes *l, uint64_t whose,
    uint64_t need, const struct reserved *others, uint64_t *disk)
{
	const uint64_t want = need < c->bytes / 2 ? need : c->bytes / 2;
	uint64_t sum, n;
	size_t i;
	bool helps;

	for (i = 0, n = others->n; i < l->n; i++) {
		if (crash_isold(c, &l->v[i]))
			crash_remove(&l->v[i]);
		n += !l->v[i].gone;
	}
	for (; n >= c->count && (i = store_victim(l, whose, need, false)) <
	    l->n; n--)
		crash_remove(&l->v[i]);
	sum = crashes_bytes(l) + others->kept;
	helps = disk_room(c, others) + sum - others->kept >= 2 * want;
	while ((sum + want > c->bytes || (disk_room(c, others) < 2 * want &&
	    helps)) && (i = store_victim(l, whose, need, true)) < l->n) {
		crash_remove(&l->v[i]);
		sum = crashes_bytes(l) + others->kept;
	}
	*disk = disk_room(c, others);
	if (sum >= c->bytes)
		return 0;
	return c->bytes - sum < *disk / 2 ? c->bytes - sum : *disk / 2;
}

/*
 * Return the number that the process of c had when it crashed, which is in the
 * name of its snapshot; 0 if it is not.
 */
uint64_t
crash_pid(const struct crash *c)
{
	const char *dot;

	return (dot = strchr(c->id, '.')) == NULL ? 0 :
	    strtoull(dot + 1, NULL, 10);
}

/*
 * Return the user that crash c counts for, which is in its name; UINT64_MAX if
 * it is not.
 */
uint64_t
crash_whose(const struct crash *c)
{
	unsigned int whose;
	char dot;

	return sscanf(c->id, "%*[^.].%*[0-9].%*[0-9].%u%c", &whose,
	    &dot) == 2 && dot == '.' ? whose : UINT64_MAX;
}
