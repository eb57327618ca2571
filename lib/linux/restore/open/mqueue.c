/*
 * Find names of POSIX message queues: mq_overview(7). A descriptor of
 * mq_open(3) leads to a file on an internal mount of the kernel. If a process
 * has the same file system mounted, the queue can be opened there by its name.
 */
#include "opened.h"

#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { MQUEUE_MAGIC = 0x19800202 };	/* f_type of statfs(2): ipc/mqueue.c of
					   Linux */

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
 * In the proxy, answer with the type of the file system of the file whose path
 * is the argument, or with 0 if it is not known: statfs(2).
 */
static int
fstype_serve(struct serving *s)
{
	struct statfs fs;
	long type;

	type = statfs(s->arg, &fs) == -1 ? 0 : (long)fs.f_type;
	serve_put(s, &type, sizeof type);
	return 0;
}

/*
 * Return true if file t is a message queue. Make the proxy ask its file system,
 * because a file server may have to answer.
 */
static bool
is_queue(struct filerec *t)
{
	struct bytes answer;
	char path[64];
	long type;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", t->pid, t->fd);
	if (filerec_ask(t, 0, fstype_serve, path, strlen(path) + 1, -1,
	    &answer) == -1)
		return false;
	memcpy(&type, answer.data, sizeof type);
	free(answer.data);
	return type == MQUEUE_MAGIC;
}

/*
 * Return the path by which message queue t can be opened; the caller frees it.
 * Return "" (allocated) if t is a queue without a name that its process can
 * see. Return NULL if t is not a queue, or if memory runs out.
 */
char *
mqueue_path(struct filerec *t)
{
	const struct bytes *mounts = t->proc->mounts;
	struct mountinfo m;
	char *path;

	if (t->link[0] != '/' || strchr(t->link + 1, '/') != NULL ||
	    major(t->dev) != 0 || mounts == NULL ||
	    mountinfo_find(mounts->data, mounts->len, t->fdinfo.mount, &m))
		return NULL;
	if (queues_mounted(mounts, t->dev, &m))
		return path_isdeleted(t->link) ? strdup("") :
		    asprintf(&path, "%.*s%s", (int)(m.point.end - m.point.s),
		    m.point.s, t->link) == -1 ? NULL : path;
	return is_queue(t) ? strdup("") : NULL;
}
