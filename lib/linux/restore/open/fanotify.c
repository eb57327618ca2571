/*
 * Record what a group of fanotify(7) watches: files, mounts, whole file
 * systems. They are listed in its fdinfo (proc_pid_fdinfo(5)), mounts by their
 * IDs in mountinfo.
 */
#include "calls.h"
#include "linux/file/file.h"
#include "opened.h"

#include <sys/ioctl.h>

#include <unistd.h>

struct mark {
	uint64_t	 flags;
	uint64_t	 mask;
	uint64_t	 ignored;
};

static bool
mark_parse(struct scan *t, struct mark *m)
{
	return watch_number(t, "mflags:", &m->flags) &&
	    watch_number(t, "mask:", &m->mask) &&
	    watch_number(t, "ignored_mask:", &m->ignored);
}

/*
 * Set path to the mount point of the mount with ID mount, as the process of t
 * sees it. Return false if it cannot be found, or if another mount covers it.
 */
static bool
mount_path(const struct filerec *t, uint64_t mount, char path[PATH_MAX])
{
	const struct bytes *mounts = t->proc->mounts;
	struct mountinfo info;
	struct filemount m;
	bool found;
	int fd;

	if (mounts == NULL || !mountinfo_find(mounts->data, mounts->len, mount,
	    &info) || !point_reach(t, &info, path) ||
	    (fd = file_walk(t->proc, path)) == -1)
		return false;
	found = call_filemount(fd, "", &m) == 0 && m.mount != -1 &&
	    (uint64_t)m.mount == mount;
	close(fd);
	return found;
}

/*
 * Append to the record of t the mark that line describes. line is the text
 * after "fanotify " in fdinfo. Return false if it cannot be parsed.
 */
static bool
mark_record(struct filerec *t, struct scan line)
{
	struct scan s = line;
	char path[PATH_MAX];
	struct watched w;
	struct mark m;
	uint64_t id;

	if (watch_number(&s, "ino:", &w.ino)) {
		if (!watched_device(&s, &w) || !mark_parse(&s, &m) ||
		    !watched_handle(&s, &w))
			return false;
		buf_printf(&t->out, "mark %jx %jx %jx ", (uintmax_t)m.flags,
		    (uintmax_t)m.mask, (uintmax_t)m.ignored);
		watched_record(t, &w);
		return true;
	}
	s = line;
	if (watch_number(&s, "mnt_id:", &id)) {
		if (!mark_parse(&s, &m))
			return false;
		buf_printf(&t->out, "mountmark %jx %jx %jx %ju %s\n",
		    (uintmax_t)m.flags, (uintmax_t)m.mask,
		    (uintmax_t)m.ignored, (uintmax_t)id,
		    mount_path(t, id, path) ? path : "-");
		return true;
	}
	s = line;
	if (watched_device(&s, &w))
		tell_why(t, "it watches a whole file system");
	return watched_device(&line, &w);
}

/*
 * t is a fanotify group. Append to its record the marks, and the number of
 * bytes of waiting events.
 */
void
fanotify_record(struct filerec *t)
{
	struct scan text = scan_begin(t->info, strlen(t->info)), line, s;
	uint64_t flags, events;
	size_t n;

	for (n = 0; scan_key(&text, "fanotify ", &line); n++) {
		s = line;
		if (watch_number(&s, "flags:", &flags) &&
		    watch_number(&s, "event-flags:", &events)) {
			buf_printf(&t->out, "created %jx %jx\n",
			    (uintmax_t)flags, (uintmax_t)events);
		} else if (n > MAX_WATCHES || !mark_record(t, line)) {
			tell_why(t, n > MAX_WATCHES ?
			    "it watches too many files" :
			    "its fdinfo does not list what it watches");
			return;
		}
	}
	if (filerec_dup(t))
		filerec_ioctl(t, "waiting", FIONREAD);
}
