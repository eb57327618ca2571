/*
 * From a snapshot to a directory of CRIU images: the images that came with
 * it, and the pagemaps; the pages are brought to their places by load.c.
 */
#include "io/io.h"
#include "model.h"
#include "record/record.h"
#include "replay.h"
#include "record/words.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INVENTORY "inventory.img"

/*
 * Write an image, which is freed.
 */
int
image_put(struct criuload *l, const char *name, struct buf *b)
{
	int rc;

	rc = buf_check(b);
	if (rc == 0)
		rc = outdir_put(l->out, name, b->data, b->len);
	buf_free(b);
	return rc;
}

/*
 * The pagemap of an object whose pages are where they belong.
 */
static int
object_plain(struct criuload *l, const struct object *o)
{
	struct buf b = { 0 };
	size_t i;

	pagemap_begin(&b, o->id);
	for (i = 0; i < o->map->n; i++) {
		pagemap_put(&b, &o->map->v[i]);
		if (o->map->v[i].flags & PE_PRESENT)
			l->stat->pages += o->map->v[i].n;
	}
	l->stat->bytes += o->bytes;
	return image_put(l, o->name, &b);
}

/*
 * The images that came with a process, as they were.
 */
static int
proc_images(struct criuload *l, const struct proc *p, struct buf *inventory)
{
	static const char dir[] = "criu/";
	char name[NAME_MAX + 1];
	struct linuxrec r;
	struct recfile f;
	size_t i, skip;
	int rc;

	skip = sizeof dir - 1;
	rc = linuxrec_open(&r, proc_file(p, "proc"));
	for (i = 0; i < r.n && rc == 0; i++) {
		linuxrec_get(&r, i, &f);
		if (f.namelen <= skip || memcmp(f.name, dir, skip) != 0)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(f.namelen - skip <=
		    NAME_MAX ? f.namelen - skip : NAME_MAX), f.name + skip);
		if (strcmp(name, INVENTORY) == 0) {
			buf_free(inventory);
			buf_add(inventory, f.data, f.len);
			rc = buf_check(inventory);
		} else if (strncmp(name, "pagemap-", 8) != 0)
			rc = outdir_put(l->out, name, f.data, f.len);
	}
	linuxrec_close(&r);
	return rc;
}

/*
 * The path that leads from one directory to another, through what they have
 * in common.
 */
static char *
path_between(const char *from, const char *to)
{
	char a[PATH_MAX], b[PATH_MAX], *s;
	struct buf up = { 0 };
	size_t i, same;

	if (realpath(from, a) == NULL || realpath(to, b) == NULL) {
		errstr_sys("%s", to);
		return NULL;
	}
	for (same = i = 0; a[i] == b[i] && a[i] != '\0'; i++)
		if (a[i] == '/')
			same = i + 1;
	if ((a[i] == '\0' || a[i] == '/') && (b[i] == '\0' || b[i] == '/'))
		same = b[i] == '\0' ? i : i + 1;
	for (s = a + (same < strlen(a) ? same : strlen(a)); *s != '\0'; s++)
		if (s == a + same || s[-1] == '/')
			buf_puts(&up, "../");
	buf_puts(&up, b + (same < strlen(b) ? same : strlen(b)));
	buf_add(&up, "", 1);
	if (buf_check(&up) == -1) {
		buf_free(&up);
		return NULL;
	}
	return (char *)up.data;
}

/*
 * Is there data at a byte of a file that is carried along, the addresses of
 * whose image begin with origin?  *end is the first byte behind what is alike.
 */
static bool
body_run(struct image *body, uint64_t origin, uint64_t at, uint64_t len,
    uint64_t *end)
{
	struct span sp;
	bool data;

	image_span(body, origin + at, &sp);
	data = sp.data;
	for (*end = at; sp.data == data; image_span(body, origin + *end,
	    &sp)) {
		if (sp.last - origin >= len - 1) {
			*end = len;
			break;
		}
		*end = sp.last - origin + 1;
	}
	return data;
}

/*
 * Write a part of a file that is carried along, with a head, at *to, which
 * becomes the byte behind it.
 */
static int
chunk_write(int fd, struct image *body, uint64_t addr,
    const Criu__GhostChunk *head, uint64_t *to)
{
	enum { PIECE = 64 * 1024 };
	struct buf b = { 0 };
	uint64_t done;
	uint8_t *p;
	size_t n;
	int rc;

	criuimg_add(&b, &head->base);
	if (buf_check(&b) == -1 || (p = malloc(PIECE)) == NULL) {
		buf_free(&b);
		return errstr_set("out of memory");
	}
	if ((rc = criuload_writeat(fd, b.data, b.len, *to)) == -1)
		errstr_sys("byte %ju", (uintmax_t)*to);
	*to += b.len;
	for (done = 0; rc == 0 && done < head->bytes; done += n) {
		n = head->bytes - done < PIECE ? (size_t)(head->bytes - done) :
		    PIECE;
		rc = image_read(body, addr + done, p, n);
		if (rc == 0 && criuload_writeat(fd, p, n, *to + done) == -1)
			rc = errstr_sys("byte %ju", (uintmax_t)(*to + done));
	}
	*to += head->bytes;
	free(p);
	buf_free(&b);
	return rc;
}

/*
 * What is no hole of a file that is carried along, behind its image's head.
 */
static int
made_body(const struct made *im, int fd)
{
	Criu__GhostChunk c = CRIU__GHOST_CHUNK__INIT;
	struct image *body;
	uint64_t at, end, to, origin;
	int rc;

	body = im->body->text != NULL ? im->body->text : im->body->mem;
	if (body == NULL)
		return 0;
	origin = image_origin(body);
	to = im->b.len;
	for (rc = 0, at = 0; at < im->bodylen && rc == 0; at = end) {
		if (!body_run(body, origin, at, im->bodylen, &end))
			continue;
		c.off = at;
		c.bytes = end - at;
		rc = chunk_write(fd, body, origin + at, &c, &to);
	}
	return rc == -1 ? errstr_wrap("%s", im->name) : 0;
}

/*
 * The images that were made for a snapshot that none came with.
 */
static int
made_images(struct criuload *l, struct buf *inventory)
{
	const struct made *im;
	size_t i;
	int fd, rc;

	for (rc = 0, i = 0; i < l->made.n && rc == 0; i++) {
		im = l->made.v[i];
		if (strcmp(im->name, INVENTORY) == 0) {
			buf_add(inventory, im->b.data, im->b.len);
			rc = buf_check(inventory);
		} else if (im->body != NULL) {
			if ((fd = outdir_file(l->out, im->name)) == -1)
				return -1;
			rc = criuload_writeat(fd, im->b.data, im->b.len, 0);
			rc = rc == -1 ? errstr_sys("%s", im->name) :
			    made_body(im, fd);
			close(fd);
		} else if (im->pages == NULL)
			rc = outdir_put(l->out, im->name, im->b.data,
			    im->b.len);
	}
	return rc;
}

/*
 * All but the inventory, without which nobody takes the directory for whole.
 */
static int
write_images(struct criuload *l, struct buf *inventory)
{
	char *link;
	size_t i;
	int rc;

	if (made_images(l, inventory) == -1)
		return -1;
	for (i = 0; i < l->store.snap->nproc && l->made.n == 0; i++)
		if (proc_images(l, l->store.snap->proc[i], inventory) == -1)
			return -1;
	if (criuload_fill(l) == -1)
		return -1;
	for (rc = 0, i = 0; i < l->nobject && rc == 0; i++)
		rc = l->parent != NULL ? object_stack(l, l->object[i]) :
		    object_plain(l, l->object[i]);
	if (rc == -1 || l->parent == NULL)
		return rc;
	if ((link = path_between(l->dir, l->parent)) == NULL)
		return -1;
	rc = outdir_link(l->out, "parent", link);
	free(link);
	return rc;
}

/*
 * Did the images of a checkpoint come with the snapshot, or, where it has
 * several parts, with that of the process that is asked for (0: any)?  1, 0 or
 * -1.  They are of one part alone, and the names of their files are the same
 * in all: of several parts they are not restored.
 */
static int
has_images(struct snap *s, uint64_t root)
{
	struct linuxrec r;
	struct recfile f;
	struct proc *p;
	uint64_t part, only;
	size_t i;
	bool has, merged;
	int rc;

	only = 0;
	p = root == 0 ? NULL : snap_find(s, root);
	if (p == NULL)
		root = 0;
	rc = p == NULL ? 0 : proc_part(p, &only);
	for (has = merged = false, i = 0; i < s->nproc && rc == 0; i++) {
		rc = proc_part(s->proc[i], &part);
		merged |= part != 0;
		if (rc == 0 && (root == 0 || part == only)) {
			rc = linuxrec_open(&r, proc_file(s->proc[i], "proc"));
			has |= rc == 0 && linuxrec_find(&r, "criu/" INVENTORY,
			    &f);
			linuxrec_close(&r);
		}
	}
	if (rc == 0 && has && merged)
		rc = errstr_set("images of CRIU in several snapshots that "
		    "were made one (snapcat): restore them from their own");
	return rc == -1 ? -1 : has;
}

/*
 * A parent must be there, and be another directory.
 */
static int
parent_open(struct criuload *l)
{
	struct stat a, b;

	if ((l->below = imgdir_open(l->parent)) == NULL)
		return -1;
	if (stat(l->dir, &a) == -1 || fstat(l->below->fd, &b) == -1)
		return errstr_sys("%s", l->dir);
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return errstr_set("%s: a directory cannot be its own parent",
		    l->dir);
	return 0;
}

/*
 * Would criu take a file for one of a checkpoint?
 */
static bool
is_image(const char *name)
{
	size_t n;

	n = strlen(name);
	return (n >= 4 && strcmp(name + n - 4, ".img") == 0) ||
	    strcmp(name, "parent") == 0;
}

/*
 * The directory, made when the first image is to be written, but not before;
 * or NULL.
 */
struct outdir *
criuload_out(struct criuload *l)
{
	if (l->out != NULL)
		return l->out;
	l->out = outdir_open(l->dir, INVENTORY, l->opts->overwrite);
	if (l->out == NULL ||
	    (l->parent != NULL && parent_open(l) == -1) ||
	    (l->opts->overwrite && outdir_clear(l->out, is_image) == -1))
		return NULL;
	return l->out;
}

/*
 * Write a snapshot, a file or (NULL) standard input, as a directory of CRIU
 * images: those that came with it, or, of live processes, such that are made
 * of its records.  The directory must be new or empty, unless o->overwrite,
 * which removes the images that are in it; upon a parent where o->parent is one.
 * Where something cannot be restored it is not touched.  st, all zero, is told
 * what was written.
 */
int
criu_write(const char *file, const char *dir, const struct criuopts *o,
    struct criustat *st)
{
	struct criuload l = { .store.put = criuload_put, .dir = dir,
	    .parent = o->parent, .opts = o, .stat = st };
	struct readopts ro = { .store = &l.store, .progress = o->progress };
	struct buf inventory = { 0 };
	struct snap *s;
	int rc;

	rc = -1;
	s = NULL;
	if (outdir_check(dir, o->overwrite) == -1 ||
	    (s = snap_open(file, &ro)) == NULL)
		goto out;
	l.store.snap = s;
	if ((rc = has_images(s, o->root)) == -1)
		goto out;
	if (rc == 0) {
		rc = -1;
		if (!criumake_can(s)) {
			errstr_set("no images of CRIU came with this snapshot, "
			    "of which a checkpoint could be made");
			goto out;
		}
		if (criumake(s, o, &l.made) == -1)
			goto out;
	}
	rc = -1;
	if (criuload_out(&l) == NULL ||
	    write_images(&l, &inventory) == -1 ||
	    outdir_commit(l.out, INVENTORY, inventory.data, inventory.len) ==
	    -1)
		goto out;
	l.out = NULL;
	rc = 0;
out:
	outdir_abort(l.out);
	criuload_free(&l);
	imgdir_free(l.below);
	mades_free(&l.made);
	snap_free(s);
	buf_free(&inventory);
	return rc;
}
