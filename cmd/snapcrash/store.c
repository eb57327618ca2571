/*
 * The directory with what crashed: a snapshot each, PROGRAM.PID.TIME and the
 * suffix.  What has another name is none of ours, and stays.
 */
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
 * Make the directory, if there is none, and enter it: where only root may put
 * files, nobody can have prepared one.  Return 0, or -1 with errstr.
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
crash_cmp(const void *a, const void *b)
{
	const struct crash *x = a, *y = b;

	if (x->when.tv_sec != y->when.tv_sec)
		return x->when.tv_sec < y->when.tv_sec ? -1 : 1;
	if (x->when.tv_nsec != y->when.tv_nsec)
		return x->when.tv_nsec < y->when.tv_nsec ? -1 : 1;
	return strcmp(x->id, y->id);
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
	*k = (struct crash){ .when = st.st_mtim,
	    .size = (uint64_t)st.st_blocks * 512 };
	if (asprintf(&k->file, "%s/%s", c->directory, name) == -1)
		err(1, NULL);
}

/*
 * Set *l to all that the directory has, to be freed with store_free.  Return 0,
 * or -1 with errstr.
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
	if (l->n > 1)
		qsort(l->v, l->n, sizeof *l->v, crash_cmp);
	return 0;
}

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
 * what is to stay free of it, and what others may write; 0 where that is not
 * told.
 */
static uint64_t
disk_room(const struct config *c, const struct reserved *others)
{
	struct statvfs st;
	uint64_t room, keep;

	if (statvfs(".", &st) == -1)
		return 0;
	room = (uint64_t)st.f_bavail * st.f_frsize;
	keep = c->percent == 0 ? c->free :
	    (uint64_t)st.f_blocks / 100 * c->percent * st.f_frsize;
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
 * Remove the oldest of l, which are in the current directory: those that are
 * too many, too old, or where need more bytes have no place; but for more than
 * half of what may be taken none is removed, nor where it would not help.
 * Others who are at work will write so much as others tells.  Return the bytes
 * that there is room for, of a snapshot; *disk is that of files, of which there
 * are two until it is made.
 */
uint64_t
store_room(const struct config *c, struct crashes *l, uint64_t need,
    const struct reserved *others, uint64_t *disk)
{
	const uint64_t want = need < c->bytes / 2 ? need : c->bytes / 2;
	uint64_t sum;
	size_t i;
	bool helps;

	for (sum = others->kept, i = 0; i < l->n; i++)
		sum += l->v[i].size;
	helps = disk_room(c, others) + sum - others->kept >= 2 * want;
	for (i = 0; i < l->n; i++) {
		if (l->n - i + others->n < c->count &&
		    !crash_isold(c, &l->v[i]) && sum + want <= c->bytes &&
		    (disk_room(c, others) >= 2 * want || !helps))
			break;
		if (unlink(strrchr(l->v[i].file, '/') + 1) == 0)
			sum -= l->v[i].size;
	}
	*disk = disk_room(c, others);
	if (sum >= c->bytes)
		return 0;
	return c->bytes - sum < *disk / 2 ? c->bytes - sum : *disk / 2;
}

/*
 * Return the number that a process had when it crashed, which is in the name of
 * its snapshot; 0 if it is not.
 */
uint64_t
crash_pid(const struct crash *c)
{
	const char *dot;

	return (dot = strchr(c->id, '.')) == NULL ? 0 :
	    strtoull(dot + 1, NULL, 10);
}

/*
 * Return the crash that a word means: its number, name, id or the beginning of
 * one, the last of these; with NULL the last of all; NULL if there is none.
 */
struct crash *
store_find(struct crashes *l, const char *word)
{
	struct crash *k, *like;
	size_t i, len;
	char *end;

	like = NULL;
	for (i = l->n; i-- > 0;) {
		k = &l->v[i];
		if (word == NULL || strcmp(k->file, word) == 0 ||
		    strcmp(k->id, word) == 0)
			return k;
		len = strlen(word);
		if (len > 0 && strtoull(word, &end, 10) == crash_pid(k) &&
		    *end == '\0')
			return k;
		if (len > 0 && like == NULL && strncmp(k->id, word, len) == 0)
			like = k;
	}
	return like;
}
