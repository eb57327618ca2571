/*
 * Files that are carried along: those that a process has mapped, whole, so
 * that it can be debugged where they are not.  One is a process of the
 * snapshot that has a text and nothing else, under a number that no process
 * of Linux has.
 */
#include "snap.h"

#include <stdlib.h>
#include <string.h>

enum { PID_MAX_LIMIT = 4 * 1024 * 1024 };	/* include/linux/threads.h */

/*
 * Is a carried file the one of that device and inode, or, where nothing is
 * known of these (both 0), of that path?
 */
static bool
carried_is(const struct carried *c, uint64_t dev, uint64_t ino,
    const char *path)
{
	if (c->dev != dev || c->ino != ino)
		return false;
	return dev != 0 || ino != 0 || strcmp(c->path, path) == 0;
}

/*
 * The file that a mapping is of, carried along as the text of what is
 * returned; NULL when it is not (which is no error).
 */
struct proc *
carried_find(struct snap *s, const struct vma *v)
{
	size_t i;

	for (i = s->nproc; i-- > 0;)
		if (s->proc[i]->carried != NULL &&
		    carried_is(s->proc[i]->carried, v->dev, v->ino, v->name))
			return s->proc[i];
	return NULL;
}

/*
 * Let a process be a file that is carried along.
 */
int
carried_set(struct proc *p, uint64_t dev, uint64_t ino, const char *path)
{
	struct carried *c;

	if ((c = calloc(1, sizeof *c)) == NULL ||
	    (c->path = strdup(path)) == NULL) {
		free(c);
		return errstr_set("out of memory");
	}
	carried_free(p->carried);
	c->dev = dev;
	c->ino = ino;
	p->carried = c;
	return 0;
}

void
carried_free(struct carried *c)
{
	if (c == NULL)
		return;
	free(c->path);
	free(c);
}

/*
 * A file to be carried along, without bytes so far; dev, ino and path as
 * maps has them.  Its Linux record is still to be packed.
 */
struct proc *
carried_new(struct snap *s, const struct vma *v)
{
	struct proc *p;
	uint64_t pid;

	pid = PID_MAX_LIMIT + 1;
	if (s->nproc > 0 && s->proc[s->nproc - 1]->pid >= pid)
		pid = s->proc[s->nproc - 1]->pid + 1;
	while (snap_find(s, pid) != NULL)
		pid++;
	if ((p = snap_add(s, pid)) == NULL ||
	    carried_set(p, v->dev, v->ino, v->name) == -1)
		return NULL;
	return p;
}

/*
 * The same for a file of size bytes that lie from 0 on in src.
 */
struct proc *
carried_add(struct snap *s, const struct vma *v, struct source *src,
    uint64_t size)
{
	struct proc *p;

	if ((p = carried_new(s, v)) == NULL ||
	    (p->text = image_whole(p, IMAGE_TEXT, src, size)) == NULL)
		return NULL;
	return p;
}
