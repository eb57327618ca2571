/*
 * Embedded files: whole files that a process has mapped, saved with it so that
 * it can be debugged on a machine without them. Each is a struct proc that has
 * a text and nothing else, and a number that no Linux process has.
 */
#include "bisect.h"
#include "model.h"

#include <unistd.h>

/*
 * Return true if entry number i of the index of s exists, and its numbers are
 * those of file key.
 */
static bool
index_has(const struct snap *s, size_t i, const struct embedded *key)
{
	return i < s->nfile &&
	    embedded_cmp(s->proc[s->file[i]]->embedded, key) == 0;
}

/*
 * Find the embedded file of s that mapping v maps: the last one with its device
 * and inode, but preferably one with its path. Files with several links, or
 * that were renamed, may have another path. Return its index in s->proc, or -1
 * if s does not contain that file or if memory runs out.
 */
ssize_t
embedded_index(struct snap *s, const struct vma *v)
{
	struct embedded key = { v->dev, v->ino, v->name };
	size_t n;

	if (snap_index(s) == -1)
		return -1;
	/* n is one past the last entry with this path, or with a lesser one */
	n = BISECT_WHILE(i, s->nfile,
	    embedded_order(s->proc[s->file[i]]->embedded, &key) <= 0);
	if (n > 0 && index_has(s, n - 1, &key))
		n--;
	return index_has(s, n, &key) ? (ssize_t)s->file[n] : -1;
}

/*
 * Return the embedded file of s that mapping v maps. Return NULL if s does not
 * contain that file, which is not an error, or if memory runs out.
 */
struct proc *
embedded_find(struct snap *s, const struct vma *v)
{
	const ssize_t i = embedded_index(s, v);

	return i == -1 ? NULL : s->proc[i];
}

/*
 * Return the image of the file that mapping v of process p maps: the text of an
 * embedded file of s or, if v maps the executable of p, the text of p. exe is
 * the path of that executable, or NULL. Return NULL if the snapshot has
 * neither, which is not an error.
 */
struct image *
mapped_file(struct snap *s, struct proc *p, const char *exe,
    const struct vma *v)
{
	struct proc *file;

	if (v->name[0] != '/')
		return NULL;
	if ((file = embedded_find(s, v)) != NULL)
		return file->text;
	return exe != NULL && strcmp(v->name, exe) == 0 ? p->text : NULL;
}

/*
 * Make p an embedded file. dev is its device number (as in maps), ino its inode
 * number, and path its path, which is copied. Return 0, or -1 with errstr set.
 */
int
embedded_set(struct proc *p, uint64_t dev, uint64_t ino, const char *path)
{
	struct embedded *c;

	if ((c = calloc(1, sizeof *c)) == NULL ||
	    (c->path = strdup(path)) == NULL) {
		free(c);
		return errstr_set("out of memory");
	}
	embedded_free(p->embedded);
	c->dev = dev;
	c->ino = ino;
	p->embedded = c;
	return 0;
}

/*
 * Add to snapshot s an embedded file without bytes for the file that v maps. It
 * gets the device, inode and name of v. The caller still has to pack its Linux
 * record. Return the new entry, or NULL with errstr set.
 */
struct proc *
embedded_new(struct snap *s, const struct vma *v)
{
	struct proc *p;
	uint64_t pid;

	pid = PID_MAX_LIMIT + 1;
	if (s->nproc > 0)	/* stay within the moment of a series */
		pid += s->proc[0]->pid / EARLY_PID * EARLY_PID;
	if (s->nproc > 0 && s->proc[s->nproc - 1]->pid >= pid)
		pid = s->proc[s->nproc - 1]->pid + 1;
	while (snap_find(s, pid) != NULL)
		pid++;
	if ((p = snap_add(s, pid)) == NULL ||
	    embedded_set(p, v->dev, v->ino, v->name) == -1)
		return NULL;
	return p;
}

/*
 * Add to snapshot s an embedded file: a copy of the file that v maps. Its text
 * is the first size bytes of src. Return the new entry, or NULL with errstr
 * set.
 */
struct proc *
embedded_add(struct snap *s, const struct vma *v, struct source *src,
    uint64_t size)
{
	struct proc *p;

	if ((p = embedded_new(s, v)) == NULL ||
	    (p->text = image_whole(p, src, size)) == NULL)
		return NULL;
	return p;
}

/*
 * Add to snapshot s an embedded file of size bytes for the shared memory or
 * deleted file that v maps. Its mem gets the bytes of src, the source of a
 * file, except pages that are holes. Return the new entry, or NULL with errstr
 * set.
 */
struct proc *
embedded_addmem(struct snap *s, const struct vma *v, struct source *src,
    uint64_t size)
{
	struct builder b = { 0 };
	uint64_t page, at, start, end;
	struct proc *p;
	int rc;

	if ((p = embedded_new(s, v)) == NULL ||
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
