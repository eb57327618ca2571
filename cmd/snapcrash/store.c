/*
 * Manage the directory of snapshots, PROGRAM.PID.TIME.USER.snap.gz. Files with
 * other names are ignored, and never removed.
 */
#include "bisect.h"
#include "crash.h"

#include <sys/statvfs.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#define SUFFIX ".snap.gz"

/*
 * Create the directory of c if it is missing, and enter it. Fail if users other
 * than root can write to it, because they could plant files. Return 0, or -1
 * with errstr set.
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
		fd_drop(fd);
		return -1;
	}
	close(fd);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return errstr_set("%s: writable by users other than root",
		    c->directory);
	return 0;
}

CMP_BY(crash_cmp, struct crash,
    x->when != y->when ? ORDER(x->when, y->when) :
    x->written.tv_sec != y->written.tv_sec ?
    ORDER(x->written.tv_sec, y->written.tv_sec) :
    x->written.tv_nsec != y->written.tv_nsec ?
    ORDER(x->written.tv_nsec, y->written.tv_nsec) :
    x->pid != y->pid ? ORDER(x->pid, y->pid) : strcmp(x->id, y->id))

/*
 * Set the process ID, the time and the user of k from name, the name of a file.
 * The user may be missing. Return false if this is not the name of a snapshot.
 */
static bool
name_parse(struct crash *k, const char *name)
{
	unsigned int uid;
	intmax_t when;
	int n, end = 0;

	n = sscanf(name, "%*[^.].%" SCNu64 ".%jd%n.%u%n", &k->pid, &when, &end,
	    &uid, &end);
	if (n < 2 || strcmp(name + end, SUFFIX) != 0)
		return false;
	k->when = (time_t)when;
	k->charged = n == 3 ? uid : UINT64_MAX;
	return true;
}

/*
 * Add the file called name in directory dir to l if it is a snapshot.
 */
static void
store_add(struct crashes *l, const struct config *c, int dir, const char *name)
{
	struct crash k = { 0 };
	struct stat st;

	if (!name_parse(&k, name) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode))
		return;
	k.written = st.st_mtim;
	k.size = (uint64_t)st.st_blocks * 512;
	k.file = must(str_printf("%s/%s", c->directory, name));
	MUST_ROOM(l->v, l->n);
	l->v[l->n++] = k;
}

/*
 * Set *l to the list of snapshots in the directory of c, oldest first. The
 * caller frees it with store_free(). Return 0, or -1 with errstr set.
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
 * Free the crashes of l, and empty it.
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
 * Return how many bytes snapshots may still take on the disk that st describes,
 * from which freed bytes of files were removed since. From the free bytes
 * subtract those that c keeps free and those that others reserve.
 */
static uint64_t
disk_room(const struct config *c, const struct reserved *others,
    const struct statvfs *st, uint64_t freed)
{
	uint64_t room, keep;

	room = (uint64_t)st->f_bavail * st->f_frsize + freed;
	keep = c->free.percent == 0 ? c->free.bytes :
	    (uint64_t)st->f_blocks / 100 * c->free.percent * st->f_frsize;
	if (__builtin_add_overflow(keep, others->disk, &keep))
		return 0;
	return room > keep ? room - keep : 0;
}

static bool
crash_isold(const struct config *c, const struct crash *k)
{
	return c->age > 0 && (uint64_t)(time(NULL) - k->when) > c->age &&
	    time(NULL) > k->when;
}

/*
 * Remove the snapshot of k from the current directory, and add its size to
 * *freed. If this fails, the size of the snapshot still counts.
 */
static void
crash_remove(struct crash *k, uint64_t *freed)
{
	k->gone = true;
	if (unlink(k->id) == -1)
		return;
	*freed += k->size;
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

struct share {			/* disk space used by one user */
	uint64_t	 uid;
	uint64_t	 sum;	/* number of the user's crashes, or their total
				   size in bytes */
	size_t		 first;	/* index of the oldest removable crash; l->n if
				   there is none */
};

/*
 * Return the element of v, an array of *n elements, that is for user uid. If v
 * has no such element, append one, and set its member "first" to the value of
 * the argument none. v must have room for it.
 */
static struct share *
share_get(struct share *v, size_t *n, uint64_t uid, size_t none)
{
	struct share *s;

	if ((s = SEEK(v, *n, x->uid == uid)) == NULL)
		*(s = &v[(*n)++]) = (struct share){ uid, 0, none };
	return s;
}

/*
 * Choose the crash in l to remove next: the oldest one of the user with the
 * most crashes or, if bytes is true, of the user whose crashes take the most
 * bytes. Thus frequent crashes of one user do not displace the snapshots of
 * others. The new crash counts as well: it is charged to user uid and takes
 * need bytes. Return the index of the chosen crash, or l->n if there is none.
 */
static size_t
store_victim(const struct crashes *l, uint64_t uid, uint64_t need,
    bool bytes)
{
	struct share *v, *s;
	size_t i, n = 0, most = l->n;
	uint64_t sum = 0;

	v = must(calloc(l->n + 1, sizeof *v));
	share_get(v, &n, uid, l->n)->sum = bytes ? need : 1;
	for (i = 0; i < l->n; i++) {
		if (l->v[i].gone)
			continue;
		s = share_get(v, &n, l->v[i].charged, l->n);
		s->sum += bytes ? l->v[i].size : 1;
		if (s->first == l->n)
			s->first = i;
	}
	/* on a tie, the user of the new crash comes first */
	for (i = 0; i < n; i++)
		if (v[i].first < l->n && v[i].sum > sum) {
			sum = v[i].sum;
			most = v[i].first;
		}
	free(v);
	return most;
}

/*
 * Make room for a new snapshot of need bytes, charged to user uid. Remove
 * crashes of l from the current directory: first those that are too old, then
 * those beyond the maximum count. Then remove those chosen by store_victim()
 * until need bytes are available, or half of c->bytes if that is less. If even
 * removing all of them would not free enough disk space, remove none for lack
 * of disk space.
 *
 * others has the reservations of other handlers. Set *disk to the maximum size
 * of the snapshot and its spool together. Return the maximum size of the final
 * snapshot in bytes.
 */
uint64_t
store_room(const struct config *c, struct crashes *l, uint64_t uid,
    uint64_t need, const struct reserved *others, uint64_t *disk)
{
	const uint64_t want = need < c->bytes / 2 ? need : c->bytes / 2;
	uint64_t sum, n, freed = 0;
	struct statvfs st;
	size_t i;
	bool helps;

	/* once: a file system such as btrfs shows freed space only later */
	if (statvfs(".", &st) == -1)
		memset(&st, 0, sizeof st);
	for (i = 0, n = others->n; i < l->n; i++) {
		if (crash_isold(c, &l->v[i]))
			crash_remove(&l->v[i], &freed);
		n += !l->v[i].gone;
	}
	for (; n >= c->count && (i = store_victim(l, uid, need, false)) <
	    l->n; n--)
		crash_remove(&l->v[i], &freed);
	sum = crashes_bytes(l) + others->kept;
	helps = disk_room(c, others, &st, freed) + sum - others->kept >=
	    2 * want;
	while ((sum + want > c->bytes || (helps &&
	    disk_room(c, others, &st, freed) < 2 * want)) &&
	    (i = store_victim(l, uid, need, true)) < l->n) {
		crash_remove(&l->v[i], &freed);
		sum = crashes_bytes(l) + others->kept;
	}
	*disk = disk_room(c, others, &st, freed);
	if (sum >= c->bytes)
		return 0;
	return c->bytes - sum < *disk / 2 ? c->bytes - sum : *disk / 2;
}
