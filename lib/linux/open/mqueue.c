/*
 * POSIX message queues: mq_overview(7).  A descriptor of mq_open(3) leads to a
 * file on a mount that the kernel keeps for itself; where the same file system
 * is mounted, too, the queue can be opened by its name there.
 */
#include "opened.h"

#include <sys/sysmacros.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Set point to where the queues that are a device are mounted whole, as these
 * mounts tell.  Return whether they are.
 */
static bool
queues_mounted(const struct bytes *mounts, uint64_t dev, char point[PATH_MAX])
{
	static const char type[] = " - mqueue ";
	struct scan text, line;
	char word[32], root[PATH_MAX], want[32];
	uint64_t id, parent;

	snprintf(want, sizeof want, "%u:%u", major(dev), minor(dev));
	text = scan_begin(mounts->data, mounts->len);
	while (scan_line(&text, &line))
		if (scan_number(&line, 10, &id) &&
		    scan_number(&line, 10, &parent) &&
		    scan_word(&line, word, sizeof word) > 0 &&
		    strcmp(word, want) == 0 &&
		    scan_word(&line, root, sizeof root) > 0 &&
		    strcmp(root, "/") == 0 &&
		    scan_word(&line, point, PATH_MAX) > 0 &&
		    strchr(point, '\\') == NULL &&
		    memmem(line.s, (size_t)(line.end - line.s), type,
		    sizeof type - 1) != NULL)
			return true;
	return false;
}

/*
 * Return the path by which a message queue can be opened, for the caller to
 * free, if t is one, and it has a name; "" if it is one and has none that its
 * process sees.  NULL, if it is no queue, as far as is known.
 */
char *
mqueue_path(const struct telling *t)
{
	const struct bytes *mounts = t->proc->mounts;
	char point[PATH_MAX], *path;
	struct bytes ours;
	bool is;

	if (t->link[0] != '/' || strchr(t->link + 1, '/') != NULL ||
	    major(t->dev) != 0 || mounts == NULL ||
	    mounts_have(mounts, t->fdinfo.mount))
		return NULL;
	if (queues_mounted(mounts, t->dev, point))
		return path_isdeleted(t->link) ? strdup("") :
		    asprintf(&path, "%s%s", point, t->link) == -1 ? NULL :
		    path;
	if (proc_read(getpid(), 0, "mountinfo", &ours) == -1)
		return NULL;
	is = queues_mounted(&ours, t->dev, point);
	free(ours.data);
	return is ? strdup("") : NULL;
}
