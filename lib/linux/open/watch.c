/*
 * What an inotify(7) set watches.  Its fdinfo tells of files by their handles
 * (proc_pid_fdinfo(5)), which mean nothing elsewhere; the path of each is
 * found as long as the kernel has it at hand.
 */
#include "io/io.h"
#include "opened.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <linux/openat2.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WATCHES_MOST = 1000,	/* of one set: all are stopped meanwhile */
	MINORBITS = 20		/* linux/kdev_t.h */
};

struct watch {
	uint64_t	 wd;
	uint64_t	 ino;
	uint64_t	 dev;
	uint64_t	 mask;
	struct {		/* struct file_handle */
		unsigned int	 len;
		int		 type;
		uint8_t		 bytes[MAX_HANDLE_SZ];
	} handle;
};

/*
 * Set *v to the number (x) behind the next word of a line, which is key.
 */
static bool
key_number(struct scan *t, const char *key, uint64_t *v)
{
	scan_blanks(t);
	if ((size_t)(t->end - t->s) < strlen(key) ||
	    memcmp(t->s, key, strlen(key)) != 0)
		return false;
	t->s += strlen(key);
	return scan_number(t, 16, v);
}

/*
 * Take a line of fdinfo apart, behind "inotify ".
 */
static bool
watch_parse(struct watch *w, struct scan t)
{
	uint64_t dev, ignored, len, type;
	struct scan digit;
	char two[3] = "";
	size_t i;

	if (!key_number(&t, "wd:", &w->wd) ||
	    !key_number(&t, "ino:", &w->ino) ||
	    !key_number(&t, "sdev:", &dev) ||
	    !key_number(&t, "mask:", &w->mask) ||
	    !key_number(&t, "ignored_mask:", &ignored) ||
	    !key_number(&t, "fhandle-bytes:", &len) ||
	    !key_number(&t, "fhandle-type:", &type) ||
	    len > sizeof w->handle.bytes)
		return false;
	w->dev = makedev((unsigned int)(dev >> MINORBITS),
	    (unsigned int)dev & ((1U << MINORBITS) - 1));
	w->handle.len = (unsigned int)len;
	w->handle.type = (int)type;
	scan_blanks(&t);
	if ((size_t)(t.end - t.s) != strlen("f_handle:") + 2 * len)
		return false;
	t.s += strlen("f_handle:");
	for (i = 0; i < len; i++, t.s += 2) {
		uint64_t v;

		memcpy(two, t.s, 2);
		digit = scan_begin(two, 2);
		if (!scan_number(&digit, 16, &v))
			return false;
		w->handle.bytes[i] = (uint8_t)v;
	}
	return true;
}

/*
 * Open a path as the process sees it.  Return a descriptor, or -1.
 */
static int
seen_open(const struct telling *t, const char *path, int flags)
{
	int fd, root;

	if ((root = proc_open(t->proc->mmtid, 0, "root", O_PATH)) == -1)
		return -1;
	fd = beneath_resolve(root, path, flags | O_CLOEXEC, 0,
	    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(root);
	return fd;
}

/*
 * Open the directory where a file system of this machine is mounted.  Return a
 * descriptor, or -1.
 */
static int
mount_open(const struct telling *t, uint64_t dev)
{
	const struct bytes *mounts = t->proc->mounts;
	struct scan text, line;
	char point[PATH_MAX], word[32], root[PATH_MAX], want[32];
	uint64_t id, parent;
	struct stat st;
	int fd;

	if (mounts == NULL)
		return -1;
	snprintf(want, sizeof want, "%u:%u", major(dev), minor(dev));
	text = scan_begin(mounts->data, mounts->len);
	while (scan_line(&text, &line)) {
		if (!scan_number(&line, 10, &id) ||
		    !scan_number(&line, 10, &parent) ||
		    scan_word(&line, word, sizeof word) == 0 ||
		    strcmp(word, want) != 0 ||
		    scan_word(&line, root, sizeof root) == 0 ||
		    scan_word(&line, point, sizeof point) == 0 ||
		    strchr(point, '\\') != NULL || !mounts_local(mounts, id) ||
		    !mounts_waylocal(mounts, point))
			continue;
		fd = seen_open(t, point, O_RDONLY | O_DIRECTORY);
		if (fd != -1 && fstat(fd, &st) == 0 && st.st_dev == dev)
			return fd;
		if (fd != -1)
			close(fd);
	}
	return -1;
}

/*
 * Set path to that of the file of a watch, as the process sees it.  mount is
 * where its file system is mounted.  Return whether it is known.
 */
static bool
watch_path(const struct telling *t, const struct watch *w, int mount,
    char path[PATH_MAX])
{
	char link[40];
	struct statx sx;
	ssize_t n;
	bool found;
	int fd;

	fd = open_by_handle_at(mount, (struct file_handle *)(uintptr_t)
	    &w->handle, O_PATH | O_CLOEXEC);
	if (fd == -1)
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	close(fd);
	if (n <= 0)
		return false;
	path[n] = '\0';
	if (*path != '/' || strchr(path, '\n') != NULL ||
	    !mounts_waylocal(t->proc->mounts, path) ||
	    (fd = seen_open(t, path, O_PATH)) == -1)
		return false;
	found = statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
	    &sx) == 0 && sx.stx_ino == w->ino && makedev(sx.stx_dev_major,
	    sx.stx_dev_minor) == w->dev;
	close(fd);
	return found;
}

static void
watch_tell(struct telling *t, const struct watch *w)
{
	char path[PATH_MAX];
	bool known;
	size_t i;
	int mount;

	known = (mount = mount_open(t, w->dev)) != -1 &&
	    watch_path(t, w, mount, path);
	if (mount != -1)
		close(mount);
	buf_printf(&t->out, "watch %ju %jx %02x:%02x %ju %u ",
	    (uintmax_t)w->wd, (uintmax_t)w->mask, major(w->dev),
	    minor(w->dev), (uintmax_t)w->ino, w->handle.type);
	for (i = 0; i < w->handle.len; i++)
		buf_printf(&t->out, "%02x", w->handle.bytes[i]);
	buf_printf(&t->out, " %s\n", known ? path : "-");
}

/*
 * Tell what an inotify set watches, and how many bytes of events wait in it.
 */
void
inotify_tell(struct telling *t)
{
	struct scan text = scan_begin(t->info, strlen(t->info)), line;
	struct watch w;
	size_t n;

	for (n = 0; scan_key(&text, "inotify ", &line); n++) {
		if (n == WATCHES_MOST || !watch_parse(&w, line)) {
			tell_why(t, n == WATCHES_MOST ? "it watches too much" :
			    "the kernel does not tell what it watches");
			return;
		}
		watch_tell(t, &w);
	}
	if (tell_dup(t))
		tell_number(t, "waiting", FIONREAD);
}
