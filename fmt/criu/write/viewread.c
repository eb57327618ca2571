/*
 * Read the contents of images that are made as they are read.
 */
#include "write.h"
#include "bisect.h"

/*
 * Return the part of f that contains byte off.
 */
static const struct viewpart *
part_find(const struct viewed *f, uint64_t off)
{
	return &f->part[BISECT(f->part, f->npart, off, off) - 1];
}

/*
 * Return true if the byte at offset off of image f is in data, or false if it
 * is in a hole. p must be the part with that byte. Set *end to the end of that
 * data or hole within the part.
 */
static bool
part_span(const struct viewed *f, const struct viewpart *p, uint64_t off,
    uint64_t *end)
{
	struct span sp;
	uint64_t at, last;

	*end = p->off + p->len;
	if (p->bytes != NULL || f->image == NULL)
		return true;
	at = p->addr + (off - p->off);
	last = at + (*end - off - 1);
	image_holes(f->image, at, last, &sp);
	if (sp.last < last)
		*end = off + (sp.last - at) + 1;
	return sp.data || !sp.mapped;
}

/*
 * Set *i to the index of the image called name. Return false if there is none.
 */
bool
criuview_find(const struct criuview *v, const char *name, size_t *i)
{
	*i = BISECT_WHILE(k, v->n, strcmp(v->v[k]->name, name) < 0);
	return *i < v->n && strcmp(v->v[*i]->name, name) == 0;
}

/*
 * Read up to len bytes of part p into buf, starting at byte off of image f.
 * Return the number of bytes read, or -1 with errstr set.
 */
static ssize_t
part_read(const struct viewed *f, const struct viewpart *p, uint8_t *buf,
    size_t len, uint64_t off)
{
	uint64_t at;

	at = off - p->off;
	if (len > p->len - at)
		len = (size_t)(p->len - at);
	if (p->bytes != NULL) {
		memcpy(buf, p->bytes + at, len);
		return (ssize_t)len;
	}
	if (f->image == NULL)
		return errstr_set("%s: its pages are not in the snapshot",
		    f->name);
	return image_readsome(f->image, p->addr + at, buf, len);
}

/*
 * Read up to len bytes at byte off of image i into buf. Stop at the first byte
 * that cannot be read. Return the number of bytes read, 0 at the end of the
 * image, or -1 with errstr set.
 */
ssize_t
criuview_read(const struct criuview *v, size_t i, void *buf, size_t len,
    uint64_t off)
{
	const struct viewed *f = v->v[i];
	size_t done;
	ssize_t n;

	for (done = 0; done < len && off < f->size; done += (size_t)n) {
		n = part_read(f, part_find(f, off), (uint8_t *)buf + done,
		    len - done, off);
		if (n <= 0)
			return done > 0 ? (ssize_t)done : n;
		off += (uint64_t)n;
	}
	return (ssize_t)done;
}

/*
 * Return the offset of the first data in image i at or after off. Return -1 if
 * there is none. If data is false, return the offset of the first hole instead,
 * or of the end of the image if there is none.
 */
int64_t
criuview_seek(const struct criuview *v, size_t i, uint64_t off, bool data)
{
	const struct viewed *f = v->v[i];
	uint64_t end;

	for (; off < f->size; off = end)
		if (part_span(f, part_find(f, off), off, &end) == data)
			return (int64_t)off;
	return data ? -1 : (int64_t)f->size;
}
