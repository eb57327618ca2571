/*
 * Files that are carried along: those that a process has mapped, whole, so
 * that it can be debugged where they are not.  One is a process of the
 * snapshot that has a text and nothing else, under a number that no process
 * of Linux has.
 */
#include "bisect.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Return the file that mapping v is of, carried along in s as the text of what
 * is returned; or NULL when it is not (which is no error), or memory runs out.
 */
struct proc *
carried_find(struct snap *s, const struct vma *v)
{
	struct carried key = { v->dev, v->ino, v->name };
	const struct carried *c;
	size_t n;

	if (snap_index(s) == -1)
		return NULL;
	n = BISECT_WHILE(i, s->nfile,
	    carried_cmp(s->proc[s->file[i]]->carried, &key) <= 0);
	if (n == 0)		/* the last of them is it */
		return NULL;
	c = s->proc[s->file[n - 1]]->carried;
	return carried_cmp(c, &key) == 0 ? s->proc[s->file[n - 1]] : NULL;
}

/*
 * Return the bytes of the file that mapping v of process p is of, from its
 * first on: those carried along in s or, where the file is exe (the path of the
 * executable of p, or NULL), the text of p.  Return NULL if the snapshot does
 * not have them (which is no error).
 */
struct image *
mapped_file(struct snap *s, struct proc *p, const char *exe,
    const struct vma *v)
{
	struct proc *file;

	if (v->name[0] != '/')
		return NULL;
	if ((file = carried_find(s, v)) != NULL)
		return file->text;
	return exe != NULL && strcmp(v->name, exe) == 0 ? p->text : NULL;
}

/*
 * Let process p be a file that is carried along: the one with device number
 * dev, as maps has it, inode ino and the name path, which is copied.  Return 0,
 * or -1 with errstr.
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

/*
 * Add the file that mapping v is of to snapshot s, to be carried along, without
 * bytes so far; dev, ino and path as maps has them.  Its Linux record is still
 * to be packed.  Return it, or NULL with errstr.
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
 * Add the file that mapping v is of to snapshot s: the size bytes that lie from
 * 0 on in src are its text.  Return it, or NULL with errstr.
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

/*
 * Add to snapshot s what mapping v is of: memory that processes share, or a
 * file that no name leads to any more, of size bytes.  Its mem has what is not
 * a hole, in whole pages. src is a file.  Return it, or NULL with errstr.
 */
struct proc *
carried_addmem(struct snap *s, const struct vma *v, struct source *src,
    uint64_t size)
{
	struct builder b = { 0 };
	uint64_t page, at, start, end;
	struct proc *p;
	int rc;

	if ((p = carried_new(s, v)) == NULL ||
	    (p->mem = image_new(p, IMAGE_MEM)) == NULL)
		return NULL;
	b.image = p->mem;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	at = 0;
	rc = 0;
	while (rc == 0 && at < size && source_data(src, at, &start, &end)) {
		start -= start % page;
		if (start < at)
			start = at;
		end += (page - end % page) % page;
		if (end > start)
			rc = builder_run(&b, start, (end - start) / KB, src,
			    start);
		at = end;
	}
	return builder_finish(&b) == -1 || rc == -1 ? NULL : p;
}
