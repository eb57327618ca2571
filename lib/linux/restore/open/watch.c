/*
 * Record what an inotify(7) set watches, and find the paths of files that it or
 * a fanotify(7) group watches. fdinfo identifies these files by handles
 * (proc_pid_fdinfo(5)), which mean nothing on another machine. A path can be
 * found while the kernel has it cached.
 */
#include "calls.h"
#include "io/io.h"
#include "linux/file/file.h"
#include "opened.h"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <unistd.h>

enum { MINORBITS = 20 };	/* from linux/kdev_t.h */

/*
 * Set *v to the hexadecimal number after key in line t, and skip both. Blanks
 * before key are skipped as well. Return false if key does not come next.
 */
bool
watch_number(struct scan *t, const char *key, uint64_t *v)
{
	scan_blanks(t);
	return scan_begins(t, key) && scan_number(t, 16, v);
}

/*
 * Set w->dev to the device number after "sdev:", which must be next in line t.
 * Return false if it is not.
 */
bool
watched_device(struct scan *t, struct watched *w)
{
	uint64_t dev;

	if (!watch_number(t, "sdev:", &dev))
		return false;
	w->dev = makedev((unsigned int)(dev >> MINORBITS),
	    (unsigned int)dev & ((1U << MINORBITS) - 1));
	return true;
}

/*
 * Set w->handle to the file handle (name_to_handle_at(2)) in the rest of line
 * t. Return false if there is none.
 */
bool
watched_handle(struct scan *t, struct watched *w)
{
	uint64_t len, type, v;
	struct scan digit;
	char two[3] = "";
	size_t i;

	if (!watch_number(t, "fhandle-bytes:", &len) ||
	    !watch_number(t, "fhandle-type:", &type) ||
	    len > sizeof w->handle.bytes)
		return false;
	w->handle.len = (unsigned int)len;
	w->handle.type = (int)type;
	scan_blanks(t);
	if (!scan_begins(t, "f_handle:") || scan_len(t) != 2 * len)
		return false;
	for (i = 0; i < len; i++, t->s += 2) {
		memcpy(two, t->s, 2);
		digit = scan_begin(two, 2);
		if (!scan_number(&digit, 16, &v))
			return false;
		w->handle.bytes[i] = (uint8_t)v;
	}
	return true;
}

/*
 * Set path to the mount point of m, as the process of t sees it. Return false
 * if the process cannot reach it without asking a file server.
 */
bool
point_reach(const struct filerec *t, const struct mountinfo *m,
    char path[PATH_MAX])
{
	const size_t n = scan_len(&m->point);

	if (n >= PATH_MAX || memchr(m->point.s, '\\', n) != NULL ||
	    !localfs_hasmount(t->proc->pid, m->id))
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)n, m->point.s);
	return localfs_haspath(t->proc->mounts, path);
}

/*
 * Open the mount point of the local file system with device dev, as the process
 * of t sees it. Return a descriptor, or -1.
 */
static int
mount_open(const struct filerec *t, uint64_t dev)
{
	const struct bytes *mounts = t->proc->mounts;
	struct filemount at;
	struct mountinfo m;
	char point[PATH_MAX];
	struct scan text;
	int fd, path;

	if (mounts == NULL || files_arerefused())
		return -1;
	text = scan_begin(mounts->data, mounts->len);
	while (mountinfo_next(&text, &m)) {
		if (m.dev != dev || !point_reach(t, &m, point))
			continue;
		path = file_walk(t->proc, point);
		/* another file system may be mounted there now */
		fd = path != -1 && call_filemount(path, "", &at) == 0 &&
		    at.dev == dev ? openat(path, ".", O_RDONLY | O_DIRECTORY |
		    O_CLOEXEC) : -1;
		fd_drop(path);
		if (fd != -1)
			return fd;
	}
	return -1;
}

/*
 * Return true if path, as the process of t sees it, leads to the watched file
 * w, and no file server has to be asked.
 */
static bool
path_leads(const struct filerec *t, const struct watched *w, const char *path)
{
	struct filemount m;
	bool leads;
	int fd;

	if (*path != '/' || strchr(path, '\n') != NULL ||
	    !localfs_haspath(t->proc->mounts, path) ||
	    (fd = file_walk(t->proc, path)) == -1)
		return false;
	leads = call_filemount(fd, "", &m) == 0 && m.ino == w->ino &&
	    m.dev == w->dev;
	close(fd);
	return leads;
}

/*
 * Return true if path is the name of a deleted file whose directory still
 * exists, as the process of t sees it.
 */
static bool
dir_isleft(const struct filerec *t, const char *path)
{
	char dir[PATH_MAX];
	int fd;

	if (*path != '/' || !path_isdeleted(path))
		return false;
	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path + 1),
	    path);
	if (!localfs_haspath(t->proc->mounts, dir) ||
	    (fd = file_walk(t->proc, dir)) == -1)
		return false;
	close(fd);
	return true;
}

/*
 * Set path to the path of the watched file w, as the process of t sees it. If
 * w was deleted and has no other name, but its directory still exists, set path
 * to "(deleted)". mount is a descriptor on the file system of w. Return false
 * if the path is not known.
 */
static bool
watched_path(const struct filerec *t, const struct watched *w, int mount,
    char path[PATH_MAX])
{
	char link[40];
	const char *other;
	struct stat st = { .st_nlink = 1 };
	ssize_t n = 0;
	int fd;

	fd = open_by_handle_at(mount, (struct file_handle *)(uintptr_t)
	    &w->handle, O_PATH | O_CLOEXEC);
	if (fd != -1) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		n = readlink(link, path, PATH_MAX - 1);
		(void)fstat(fd, &st);
		close(fd);
	}
	path[n > 0 ? n : 0] = '\0';
	if (path_leads(t, w, path))
		return true;
	other = hardlink_find(t->live, w->dev, w->ino);
	if (other != NULL && path_leads(t, w, other)) {
		snprintf(path, PATH_MAX, "%s", other);
		return true;
	}
	if (st.st_nlink > 0 || !dir_isleft(t, path))
		return false;
	snprintf(path, PATH_MAX, "(deleted)");
	return true;
}

/*
 * Append the watched file w to the current line of the record of t, and end the
 * line. If the process dumps core, leave out the path of the file, because the
 * file may have been moved to a directory that the user of the process cannot
 * read.
 */
void
watched_record(struct filerec *t, const struct watched *w)
{
	char path[PATH_MAX];
	bool known;
	int mount = -1;

	known = t->proc->core == NULL &&
	    (mount = mount_open(t, w->dev)) != -1 &&
	    watched_path(t, w, mount, path);
	fd_drop(mount);
	buf_printf(&t->out, "%02x:%02x %ju %u ", major(w->dev), minor(w->dev),
	    (uintmax_t)w->ino, w->handle.type);
	buf_hex(&t->out, w->handle.bytes, w->handle.len);
	buf_printf(&t->out, " %s\n", known ? path : "-");
}

/*
 * Append to the record of t the watch that line describes. line is the text
 * after "inotify " in fdinfo. Return false if it cannot be parsed.
 */
static bool
watch_record(struct filerec *t, struct scan line)
{
	uint64_t wd, mask, ignored;
	struct watched w;

	if (!watch_number(&line, "wd:", &wd) ||
	    !watch_number(&line, "ino:", &w.ino) ||
	    !watched_device(&line, &w) ||
	    !watch_number(&line, "mask:", &mask) ||
	    !watch_number(&line, "ignored_mask:", &ignored) ||
	    !watched_handle(&line, &w))
		return false;
	buf_printf(&t->out, "watch %ju %jx ", (uintmax_t)wd, (uintmax_t)mask);
	watched_record(t, &w);
	return true;
}

/*
 * t is an inotify instance. Append to its record the watches, and the number of
 * bytes of waiting events.
 */
void
inotify_record(struct filerec *t)
{
	struct scan text = scan_begin(t->info, strlen(t->info)), line;
	size_t n;

	for (n = 0; scan_key(&text, "inotify ", &line); n++)
		if (n == MAX_WATCHES || !watch_record(t, line)) {
			tell_why(t, n == MAX_WATCHES ?
			    "it watches too many files" :
			    "its fdinfo does not list what it watches");
			return;
		}
	if (filerec_dup(t))
		filerec_ioctl(t, "waiting", FIONREAD);
}
