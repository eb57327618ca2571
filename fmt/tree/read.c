/*
 * Read the files of the tree: bytes in memory, a memory image, a part of one, a
 * core, or a CRIU image.
 */
#include "criu/write/write.h"
#include "record/record.h"
#include "tree.h"

#include <unistd.h>

struct body {			/* source of a file's bytes */
	uint64_t	 size;
	const uint8_t	*data;	/* bytes of a small file, or NULL */
	struct image	*image;	/* image of a sparse file, or NULL */
	uint64_t	 base;	/* address in the image at which the file
				   begins */
	const struct member *m;	/* process whose memory the file shows, or
				   NULL */
	const struct vma *vma; /* mapping whose file in map/ is read, or NULL */
	struct core	*core;	/* core to be read, or NULL */
	const struct criuview *view; /* directory of the CRIU image, or NULL */
	size_t		 number; /* index of the image in view->v */
};

static void
body_image(struct body *b, struct image *im)
{
	struct piece *p;

	b->image = im;
	if ((p = image_last(im)) != NULL)
		b->size = p->last >= INT64_MAX ? INT64_MAX : p->last + 1;
}

static void
body_file(struct body *b, const struct fsnode *n)
{
	const struct file *f;

	switch (n->index) {
	case FILE_CTL:
		break;
	case FILE_TEXT:
		body_image(b, n->m->leader->proc->text);
		break;
	case FILE_MEM:
		member_need(n->m->leader, PART_MAPS);
		b->m = n->m->leader;
		body_image(b, b->m->proc->mem);
		break;
	case FILE_CORE:
		b->core = n->m->core;
		b->size = core_size(b->core);
		break;
	default:
		f = &n->m->proc->file[n->index - FILE_SMALL];
		b->data = f->data;
		b->size = f->len;
	}
}

static void
body_get(struct body *b, const struct fsnode *n)
{
	struct recfile f;

	memset(b, 0, sizeof *b);
	switch (n->class) {
	case FS_FILE:
		body_file(b, n);
		break;
	case FS_MAP:
		b->vma = &n->m->vmas.v[n->index];
		b->m = n->m;
		b->image = n->m->proc->mem;
		b->base = b->vma->start;
		b->size = b->vma->end - b->vma->start;
		if (b->size > INT64_MAX)
			b->size = INT64_MAX;
		break;
	case FS_LINUX:
		linuxrec_get(&n->m->record, n->index, &f);
		b->data = f.data;
		b->size = f.len;
		break;
	case FS_CRIU:
		b->view = n->m->view;
		b->number = n->index;
		b->size = b->view->v[b->number]->size;
		break;
	default:
		body_image(b, n->m->sysroot.f[n->index].image);
	}
}

/*
 * Find data or a hole in file b, as lseek(2) does. If whence is SEEK_DATA,
 * return the offset of the first data at or after off. If it is SEEK_HOLE,
 * return the offset of the first hole; the end of the file counts as one.
 * Return -1 if nothing is found.
 */
static int64_t
body_seek(const struct body *b, uint64_t off, int whence)
{
	const bool data = whence == SEEK_DATA;
	uint64_t at;

	if (off >= b->size)
		return -1;
	if (b->core != NULL)
		return core_seek(b->core, off, whence);
	if (b->view != NULL)
		return criuview_seek(b->view, b->number, off, data);
	if (b->image == NULL && b->vma != NULL)
		return data ? -1 : (int64_t)off;
	if (b->image == NULL)
		return (int64_t)(data ? off : b->size);
	if (span_seek(b->m, b->image, b->base + off, b->base + b->size - 1,
	    data, &at))
		return (int64_t)(at - b->base);
	return data ? -1 : (int64_t)b->size;
}

/*
 * Return the number of bytes in file b that are not in holes.
 */
static uint64_t
body_data(const struct body *b)
{
	int64_t data, hole = 0;
	uint64_t n;

	for (n = 0; (data = body_seek(b, (uint64_t)hole, SEEK_DATA)) != -1;
	    n += (uint64_t)(hole - data))
		hole = body_seek(b, (uint64_t)data, SEEK_HOLE);
	return n;
}

/*
 * Set *a to the attributes of the file with inode number ino in t. Return 0, or
 * -1 with errstr set if there is no such file.
 */
int
fstree_attr(struct fstree *t, uint64_t ino, struct fsattr *a)
{
	atomic_ullong *known;
	struct fsnode n;
	struct body b;

	memset(a, 0, sizeof *a);
	if (fsnode_get(t, ino, &n) == -1)
		return -1;
	a->tag = n.m == NULL ? NULL : n.m->tag;
	a->dir = n.dir;
	if (n.dir)
		return 0;
	body_get(&b, &n);
	a->size = b.size;
	a->exec = n.class == FS_ROOT ||
	    (n.class == FS_FILE && n.index == FILE_TEXT);
	a->memory = n.class == FS_MAP || (n.class == FS_FILE &&
	    (n.index == FILE_MEM || n.index == FILE_CORE));
	/* mem and core have the most holes: count them only once */
	if (!a->memory || n.class == FS_MAP)
		a->data = body_data(&b);
	else {
		known = &n.m->leader->data[n.index == FILE_CORE];
		if ((a->data = atomic_load(known)) == 0)
			atomic_store(known, a->data = body_data(&b));
	}
	return 0;
}

static ssize_t
map_read(const struct member *m, const struct body *b, uint8_t *buf,
    size_t len, uint64_t off)
{
	uint64_t addr, end, k;
	size_t done;
	ssize_t n;

	if (b->image == NULL)
		return errstr_set("no memory was captured");
	addr = b->base + off;
	for (done = 0; done < len; done += (size_t)n, addr += (uint64_t)n) {
		end = addr + (len - done);
		k = member_untouched(m, b->vma, addr, end);
		if (k > 0) {
			memset(buf + done, 0, (size_t)k);
			n = (ssize_t)k;
			continue;
		}
		n = image_readsome(b->image, addr, buf + done, len - done);
		if (n == -1)
			break;
	}
	return done > 0 ? (ssize_t)done : -1;
}

static ssize_t
mem_read(const struct body *b, uint8_t *buf, size_t len, uint64_t addr)
{
	if (b->image == NULL)
		return errstr_set("no memory was captured");
	if ((len = member_mapped(b->m, addr, len)) == 0)
		return errstr_set("address %jx is not mapped",
		    (uintmax_t)addr);
	return image_readsome(b->image, addr, buf, len);
}

/*
 * Read up to len bytes at offset off from the file of t with inode number ino
 * into buf. Stop at the first byte that cannot be read. In the file mem, which
 * has no end, reading an address that is not mapped is an error. Return the
 * number of bytes read, 0 at the end of the file, or -1 with errstr set.
 */
ssize_t
fstree_read(struct fstree *t, uint64_t ino, void *buf, size_t len,
    uint64_t off)
{
	struct fsnode n;
	struct body b;

	if (fsnode_get(t, ino, &n) == -1)
		return -1;
	if (n.dir)
		return errstr_set("a directory");
	if (len == 0)
		return 0;
	body_get(&b, &n);
	if (n.class == FS_FILE && n.index == FILE_MEM)
		return mem_read(&b, buf, len, off);
	if (off >= b.size)
		return 0;
	if (len > b.size - off)
		len = (size_t)(b.size - off);
	if (b.core != NULL)
		return core_pread(b.core, buf, len, off);
	if (b.view != NULL)
		return criuview_read(b.view, b.number, buf, len, off);
	if (b.vma != NULL)
		return map_read(n.m, &b, buf, len, off);
	if (b.image != NULL)
		return image_readsome(b.image, off, buf, len);
	memcpy(buf, b.data + off, len);
	return (ssize_t)len;
}

/*
 * Seek in the file with inode number ino of t, as lseek(2) does. whence is
 * SEEK_DATA or SEEK_HOLE. Return the offset found. Return -1 with errstr set if
 * off is at or after the end, or if whence is SEEK_DATA and no data follows.
 */
int64_t
fstree_seek(struct fstree *t, uint64_t ino, uint64_t off, int whence)
{
	struct fsnode n;
	struct body b;
	int64_t found;

	if (fsnode_get(t, ino, &n) == -1 || n.dir)
		return errstr_set("not a file");
	body_get(&b, &n);
	found = body_seek(&b, off, whence);
	return found == -1 ? errstr_set("no data or hole after this offset") :
	    found;
}
