/*
 * From a snapshot to a directory of CRIU images: the images that came with
 * it, and the pagemaps; the pages are brought to their places by criuload.c.
 *
 * With a parent, pages that are the same there are not written again: the
 * pagemap says that they are in the parent, to which the link "parent" leads.
 */
#include "criuload.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INVENTORY "inventory.img"

enum { BATCH = 64 };		/* pages compared at once */

struct stacking {		/* an object that is written upon a parent */
	struct criuload	*load;	/* borrowed, as all here */
	struct object	*object;
	struct pagemap	*parent; /* owned; NULL: it is not in the parent */
	int		 fd;
	struct buf	 img;	/* the pagemap */
	struct pages	 run;	/* pages that are alike, not yet in it */
	uint8_t		 mine[BATCH * CRIU_PAGE];
	uint8_t		 theirs[BATCH * CRIU_PAGE];
};

static int
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
 * Pages that are alike become one entry.
 */
static void
stack_entry(struct stacking *k, uint64_t addr, uint64_t n,
    unsigned int flags)
{
	struct pages *r = &k->run;

	if (r->n > 0 && (r->flags != flags ||
	    r->addr + r->n * CRIU_PAGE != addr)) {
		pagemap_put(&k->img, r);
		r->n = 0;
	}
	if (r->n == 0) {
		r->addr = addr;
		r->flags = flags;
	}
	r->n += n;
}

/*
 * Write pages that the parent has not.
 */
static int
stack_write(struct stacking *k, const uint8_t *p, size_t len)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n) {
		n = write(k->fd, p, len);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return errstr_sys("pages-%u.img", k->object->id);
		k->load->stat->bytes += (uint64_t)n;
	}
	return 0;
}

/*
 * At most BATCH pages, n of them, which the parent has too: those that
 * differ are written.
 */
static int
stack_compare(struct stacking *k, uint64_t addr, uint64_t n,
    unsigned int flags)
{
	uint64_t i, same;
	size_t at;

	for (i = 0; i < n; i++) {
		at = (size_t)i * CRIU_PAGE;
		same = memcmp(k->mine + at, k->theirs + at, CRIU_PAGE) == 0;
		stack_entry(k, addr + at, 1, same ? PE_PARENT : flags);
		if (same)
			k->load->stat->parent++;
		else if (stack_write(k, k->mine + at, CRIU_PAGE) == -1)
			return -1;
	}
	return 0;
}

/*
 * The first pages of an entry, n of them at most: how many were done is
 * left in *n.
 */
static int
stack_some(struct stacking *k, const struct pages *p, uint64_t skip,
    uint64_t *n)
{
	struct source *src;
	struct pages w;
	struct run r;
	uint64_t addr;
	int there;

	addr = p->addr + skip * CRIU_PAGE;
	if (*n > BATCH)
		*n = BATCH;
	src = NULL;
	there = k->parent == NULL ? 0 :
	    pagemap_where(k->parent, addr, &w, &src);
	if (there == -1)
		return -1;
	if (src == NULL)	/* all other pages might be there */
		*n = k->parent == NULL ? *n : 1;
	else if (w.n < *n)
		*n = w.n;
	r.loc = p->off + skip * CRIU_PAGE;
	r.n = *n * (CRIU_PAGE / KB);
	if (source_read(k->object->src, &r, 1, k->mine) != SOURCE_OK)
		return -1;
	if (src == NULL) {
		stack_entry(k, addr, *n, p->flags);
		return stack_write(k, k->mine, (size_t)*n * CRIU_PAGE);
	}
	r.loc = w.off;
	if (source_read(src, &r, 1, k->theirs) != SOURCE_OK)
		return -1;
	return stack_compare(k, addr, *n, p->flags);
}

static int
stack_pages(struct stacking *k)
{
	const struct pages *p;
	uint64_t done, n;
	size_t i;

	for (i = 0; i < k->object->map->n; i++) {
		p = &k->object->map->v[i];
		if (!(p->flags & PE_PRESENT)) {
			stack_entry(k, p->addr, p->n, p->flags);
			continue;
		}
		k->load->stat->pages += p->n;
		for (done = 0; done < p->n; done += n) {
			n = p->n - done;
			if (stack_some(k, p, done, &n) == -1)
				return -1;
		}
	}
	stack_entry(k, 0, 0, 0);	/* the last one */
	return 0;
}

/*
 * The pagemap and the pages of an object upon those of a parent.
 */
static int
object_stack(struct criuload *l, struct object *o)
{
	struct stacking *k;
	char *name;
	int rc;

	rc = -1;
	name = strndup(o->name + sizeof "pagemap-" - 1,
	    strlen(o->name) - (sizeof "pagemap-.img" - 1));
	if (name == NULL || (k = calloc(1, sizeof *k)) == NULL) {
		free(name);
		return errstr_set("out of memory");
	}
	k->load = l;
	k->object = o;
	k->fd = -1;
	if (pagemap_open(&k->parent, l->snap, l->parent, name) == -1)
		goto out;
	if (k->parent->n == 0) {
		pagemap_free(k->parent);
		k->parent = NULL;
	}
	free(name);
	if (asprintf(&name, "pages-%u.img", o->id) == -1) {
		name = NULL;
		errstr_set("out of memory");
		goto out;
	}
	if ((k->fd = outdir_file(l->out, name)) == -1)
		goto out;
	pagemap_begin(&k->img, o->id);
	if (stack_pages(k) == -1)
		goto out;
	rc = image_put(l, o->name, &k->img);
out:
	if (k->fd != -1)
		close(k->fd);
	buf_free(&k->img);
	pagemap_free(k->parent);
	free(name);
	free(k);
	return rc;
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
 * The bytes of a file that is carried along, behind its image's head; what it
 * has no bytes of is a hole.
 */
static int
made_body(const struct made *im, int fd)
{
	enum { PIECE = 64 * 1024 };
	struct image *body;
	struct span sp;
	uint64_t at, end, origin;
	size_t n;
	uint8_t *p;
	int rc;

	body = im->body->text != NULL ? im->body->text : im->body->mem;
	if (ftruncate(fd, (off_t)(im->b.len + im->bodylen)) == -1)
		return errstr_sys("%s", im->name);
	if (body == NULL || im->bodylen == 0)
		return 0;
	if ((p = malloc(PIECE)) == NULL)
		return errstr_set("out of memory");
	origin = image_origin(body);
	for (rc = 0, at = 0; at < im->bodylen && rc == 0; at = end) {
		image_span(body, origin + at, &sp);
		end = sp.last - origin;
		end = end >= im->bodylen ? im->bodylen : end + 1;
		for (; sp.data && at < end && rc == 0; at += n) {
			n = end - at < PIECE ? (size_t)(end - at) : PIECE;
			rc = image_read(body, origin + at, p, n);
			if (rc == 0 && criuload_writeat(fd, p, n,
			    im->b.len + at) == -1)
				rc = errstr_sys("%s", im->name);
		}
	}
	free(p);
	return rc;
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
	for (i = 0; i < l->snap->nproc && l->made.n == 0; i++)
		if (proc_images(l, l->snap->proc[i], inventory) == -1)
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
 * Did the images of a checkpoint come with the snapshot?
 */
static bool
has_images(const struct snap *s)
{
	struct linuxrec r;
	struct recfile f;
	size_t i;
	bool has;

	for (has = false, i = 0; i < s->nproc && !has; i++) {
		has = linuxrec_open(&r, proc_file(s->proc[i], "proc")) == 0 &&
		    linuxrec_find(&r, "criu/" INVENTORY, &f);
		linuxrec_close(&r);
	}
	return has;
}

/*
 * A parent must be there, and be another directory.
 */
static int
parent_check(const char *dir, const char *parent)
{
	struct stat a, b;
	char *path;
	int rc;

	if (stat(dir, &a) == -1)
		return errstr_sys("%s", dir);
	if (asprintf(&path, "%s/.", parent) == -1)
		return errstr_set("out of memory");
	rc = stat(path, &b) == -1 ? errstr_sys("%s", parent) : 0;
	free(path);
	if (rc == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		rc = errstr_set("%s: a directory cannot be its own parent",
		    dir);
	return rc;
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
	l->out = outdir_open(l->dir, INVENTORY, l->opts->force);
	if (l->out == NULL ||
	    (l->parent != NULL && parent_check(l->dir, l->parent) == -1) ||
	    (l->opts->force && outdir_clear(l->out, is_image) == -1))
		return NULL;
	return l->out;
}

/*
 * Write a snapshot, a file or (NULL) standard input, as a directory of CRIU
 * images: those that came with it, or, of live processes, such that are made
 * of its records.  The directory must be new or empty, unless o->force, which
 * removes the images that are in it; upon a parent where o->parent is one.
 * Where something cannot be restored it is not touched.  st, all zero, is told
 * what was written.
 */
int
criu_write(const char *file, const char *dir, const struct criuopts *o,
    struct criustat *st)
{
	struct criuload l = { .dir = dir, .parent = o->parent, .opts = o,
	    .stat = st };
	struct readopts ro = { .keep = criuload_keep, .keeper = &l };
	struct buf inventory = { 0 };
	struct snap *s;
	int rc;

	rc = -1;
	s = NULL;
	if (outdir_check(dir, o->force) == -1 ||
	    (s = snap_open(file, &ro)) == NULL)
		goto out;
	l.snap = s;
	if (!has_images(s)) {
		if (!criumake_can(s)) {
			errstr_set("no images of CRIU came with this snapshot, "
			    "of which a checkpoint could be made");
			goto out;
		}
		if (criumake(s, o, &l.made) == -1)
			goto out;
	}
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
	mades_free(&l.made);
	snap_free(s);
	buf_free(&inventory);
	return rc;
}
