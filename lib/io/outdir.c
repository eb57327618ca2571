/*
 * Output directories of many files; one of them, written last, marks the
 * directory as complete. Unfinished directories are removed.
 */
#include "full.h"
#include "io.h"
#include "vec.h"
#include "worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

struct outdir {
	int		 fd;	/* owned */
	int		 parent; /* owned; parent directory, or -1 if we did not
				    create this directory */
	char		*path;	/* owned */
	char		**name;	/* owned; names of the files created in this
				   directory */
	size_t		 n;
};

/*
 * Open directory fd for listing.
 */
static DIR *
dir_list(int fd)
{
	DIR *d;
	int copy;

	if ((copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return NULL;
	if ((d = fdopendir(copy)) == NULL)
		close(copy);
	return d;
}

/*
 * Check that directory fd is empty, unless force is set. path is for the error
 * message.
 */
static int
dir_usable(int fd, const char *path, bool force)
{
	const struct dirent *e;
	bool empty = true;
	DIR *d;

	if ((d = dir_list(fd)) == NULL)
		return errstr_sys("%s", path);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0)
			empty = false;
	closedir(d);
	return empty || force ? 0 : errstr_set("%s: directory is not empty; "
	    "use -O to write into it", path);
}

/*
 * Create the directory at path, or use it if it exists; then it must be empty
 * unless force is set. Return a handle, or NULL with errstr set.
 */
static struct outdir *
outdir_begin(const char *path, bool force)
{
	struct outdir *o;
	size_t n;

	for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		continue;	/* trailing slashes */
	if ((o = mem_new(1, sizeof *o)) == NULL ||
	    (o->path = mem_dup(path, n)) == NULL) {
		free(o);
		return NULL;
	}
	o->fd = outname_opendir(o->path, &o->parent);
	if (o->fd != -1 && dir_usable(o->fd, o->path, force) == 0)
		return o;
	outdir_abort(o);
	return NULL;
}

/*
 * Open the output directory at path as outdir_begin() does. If it is created,
 * only its owner can use it. Remove the file whose name is last: while it is
 * missing, the directory counts as incomplete. Return a handle, or NULL with
 * errstr set.
 */
struct outdir *
outdir_open(const char *path, const char *last, bool force)
{
	struct outdir *o;

	if ((o = outdir_begin(path, force)) == NULL)
		return NULL;
	if (unlinkat(o->fd, last, 0) == 0 || errno == ENOENT)
		return o;
	errstr_sys("%s/%s", path, last);
	outdir_abort(o);
	return NULL;
}

/*
 * Record name as the name of a file that outdir_abort() is to remove.
 */
static int
outdir_note(struct outdir *o, const char *name)
{
	char *copy;

	if ((copy = str_dup(name)) != NULL &&
	    VEC_ADD(o->name, o->n, copy) == 0)
		return 0;
	free(copy);
	return -1;
}

/*
 * Create an empty file called name in directory o, open for reading and
 * writing. If name is NULL, the file has no name and vanishes when it is
 * closed. Return a descriptor that the caller owns, or -1 with errstr set.
 */
int
outdir_file(struct outdir *o, const char *name)
{
	char tmp[64];
	int fd;

	if (name == NULL) {
		fd = openat(o->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd != -1)
			return fd;
		snprintf(tmp, sizeof tmp, ".snap.%ld", (long)getpid());
		fd = openat(o->fd, tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC,
		    0600);
		if (fd == -1)
			return errstr_sys("%s/%s", o->path, tmp);
		(void)unlinkat(o->fd, tmp, 0);
		return fd;
	}
	if (!text_isname(name, strlen(name)))
		return errstr_set("%s: not the name of a file in a directory",
		    name);
	/* an existing name may be a link that points elsewhere */
	if (unlinkat(o->fd, name, 0) == -1 && errno != ENOENT)
		return errstr_sys("%s/%s", o->path, name);
	fd = openat(o->fd, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd == -1)
		return errstr_sys("%s/%s", o->path, name);
	if (outdir_note(o, name) == -1) {
		(void)unlinkat(o->fd, name, 0);
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Check that outdir_open(), with the same value of force, could open the
 * directory at path, and that files can be created in it. Try both, and remove
 * whatever this creates. Return 0, or -1 with errstr set.
 */
int
outdir_check(const char *path, bool force)
{
	struct outdir *o;
	int fd;

	if ((o = outdir_begin(path, force)) == NULL)
		return -1;
	if ((fd = outdir_file(o, NULL)) != -1)
		close(fd);
	outdir_abort(o);
	return fd == -1 ? -1 : 0;
}

/*
 * Write into directory o a file called name with the len bytes at data. Return
 * 0, or -1 with errstr set.
 */
int
outdir_put(struct outdir *o, const char *name, const void *data, size_t len)
{
	int fd;

	if ((fd = outdir_file(o, name)) == -1)
		return -1;
	if (full_write(fd, data, len) == -1) {
		errstr_sys("%s/%s", o->path, name);
		close(fd);
		return -1;
	}
	return close(fd) == -1 ? errstr_sys("%s/%s", o->path, name) : 0;
}

/*
 * Remove from directory o the files for whose names match() returns true. Its
 * subdirectories stay. Return 0, or -1 with errstr set.
 */
int
outdir_clear(struct outdir *o, bool (*match)(const char *))
{
	const struct dirent *e;
	DIR *d;
	int rc;

	if ((d = dir_list(o->fd)) == NULL)
		return errstr_sys("%s", o->path);
	for (rc = 0; rc == 0 && (e = readdir(d)) != NULL;)
		if (match(e->d_name) && unlinkat(o->fd, e->d_name, 0) == -1 &&
		    errno != EISDIR)
			rc = errstr_sys("%s/%s", o->path, e->d_name);
	closedir(d);
	return rc;
}

/*
 * Create in directory o a symbolic link called name that points to target.
 * Return 0, or -1 with errstr set.
 */
int
outdir_link(struct outdir *o, const char *name, const char *target)
{
	if ((unlinkat(o->fd, name, 0) == -1 && errno != ENOENT) ||
	    symlinkat(target, o->fd, name) == -1)
		return errstr_sys("%s/%s", o->path, name);
	return outdir_note(o, name);
}

static void
outdir_free(struct outdir *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		free(o->name[i]);
	free(o->name);
	free(o->path);
	fd_drop(o->fd);
	fd_drop(o->parent);
	free(o);
}

/*
 * Sync the file called name, which has been written, to disk. A symbolic link
 * needs no sync.
 */
static int
file_sync(const struct outdir *o, const char *name)
{
	int fd, rc;

	fd = openat(o->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return errno == ELOOP ? 0 : -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

struct syncing {		/* files to sync to the disk */
	const struct outdir *o;	/* borrowed */
	atomic_size_t	 next;	/* index of the first file that no thread has
				   taken */
	atomic_size_t	 failed; /* index of a file that could not be synced;
				    o->n: none */
	atomic_int	 error;	/* errno of the failure to sync that file */
};

static void *
files_sync(void *arg)
{
	struct syncing *s = arg;
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->o->n &&
	    atomic_load(&s->failed) == s->o->n)
		if (file_sync(s->o, s->o->name[i]) == -1) {
			atomic_store(&s->error, errno);
			atomic_store(&s->failed, i);
		}
	return NULL;
}

/*
 * Sync all files of directory o to disk. Several threads do this at the same
 * time: the disk can serve several requests together, which is faster than one
 * after another.
 */
static int
all_sync(const struct outdir *o)
{
	enum { FEW = 8 };	/* number of files for each additional thread */
	struct syncing s = { .o = o, .failed = o->n };
	size_t bad;

	workers_run(1 + o->n / FEW, files_sync, &s);
	if ((bad = atomic_load(&s.failed)) == o->n)
		return 0;
	errno = atomic_load(&s.error);
	return errstr_sys("%s/%s", o->path, o->name[bad]);
}

/*
 * Sync all files of directory o to disk, and mark the directory as complete.
 * The mark is a file with the len bytes at data; last is its name. Free o on
 * success. After a failure, call outdir_abort(). Return 0, or -1 with errstr
 * set.
 */
int
outdir_commit(struct outdir *o, const char *last, const void *data,
    size_t len)
{
	if (all_sync(o) == -1 || outdir_put(o, last, data, len) == -1)
		return -1;
	if (file_sync(o, last) == -1 || fsync(o->fd) == -1)
		return errstr_sys("%s", o->path);
	outdir_free(o);
	return 0;
}

/*
 * Leave directory o as it is, without syncing its files. Free o, which may be
 * NULL.
 */
void
outdir_leave(struct outdir *o)
{
	if (o != NULL)
		outdir_free(o);
}

/*
 * Remove the files written to directory o, and also the directory if it was
 * created. Free o, which may be NULL.
 */
void
outdir_abort(struct outdir *o)
{
	size_t i;

	if (o == NULL)
		return;
	for (i = o->n; i-- > 0;)
		(void)unlinkat(o->fd, o->name[i], 0);
	if (o->parent != -1)
		(void)unlinkat(o->parent, strrchr(o->path, '/') == NULL ?
		    o->path : strrchr(o->path, '/') + 1, AT_REMOVEDIR);
	outdir_free(o);
}
