/*
 * Find names of POSIX message queues: mq_overview(7). A descriptor of
 * mq_open(3) leads to a file on an internal mount of the kernel. If a process
 * has the same file system mounted, the queue can be opened there by its name.
 */
#include "opened.h"

#include <sys/sysmacros.h>

#include <unistd.h>

/*
 * Set *m to the mount of the whole mqueue file system with device dev. mounts
 * is a mountinfo text. Return false if it has no such mount.
 */
static bool
queues_mounted(const struct bytes *mounts, uint64_t dev, struct mountinfo *m)
{
	struct scan text = scan_begin(mounts->data, mounts->len);

	while (mountinfo_next(&text, m))
		if (m->dev == dev && scan_is(&m->root, "/") &&
		    scan_is(&m->type, "mqueue") && memchr(m->point.s, '\\',
		    (size_t)(m->point.end - m->point.s)) == NULL)
			return true;
	return false;
}

/*
 * Return the path by which message queue t can be opened; the caller frees it.
 * Return "" (allocated) if t is a queue without a name that its process can
 * see. Return NULL if t is not a queue, or if memory runs out.
 */
char *
mqueue_path(const struct filerec *t)
{
	const struct bytes *mounts = t->proc->mounts;
	struct mountinfo m;
	struct bytes ours;
	char *path;
	bool is;

	if (t->link[0] != '/' || strchr(t->link + 1, '/') != NULL ||
	    major(t->dev) != 0 || mounts == NULL ||
	    mountinfo_find(mounts->data, mounts->len, t->fdinfo.mount, &m))
		return NULL;
	if (queues_mounted(mounts, t->dev, &m))
		return path_isdeleted(t->link) ? strdup("") :
		    asprintf(&path, "%.*s%s", (int)(m.point.end - m.point.s),
		    m.point.s, t->link) == -1 ? NULL : path;
	if (proc_read(getpid(), 0, "mountinfo", &ours) == -1)
		return NULL;
	is = queues_mounted(&ours, t->dev, &m);
	free(ours.data);
	return is ? strdup("") : NULL;
}
