/*
 * Read pagemap images, which say which pages exist, and find the pages in pages
 * images. pageput.c writes them.
 *
 *	pagemap-812.img		pages-3.img	parent/pagemap-812.img
 *	pages_id 3
 *	10000, 2, present	8192 bytes
 *	40000, 9, in parent			40000, 4, present
 *						44000, 5, in parent ...
 *	90000, 1, present	4096 bytes
 *
 * An entry does not give the offset of its bytes: those of all present entries
 * follow one another. Pages in the parent are looked up in the pagemap of the
 * same name in the directory that the link "parent" leads to. That one may
 * divide the range differently, and refer to its own parent.
 */
#include "img.h"
#include "bisect.h"
#include "vec.h"

struct pagereader {
	struct pagemap	*m;	/* borrowed */
	struct criuimg	 im;	/* owned; the pagemap image */
	struct snap	*s;	/* borrowed */
	const struct imgdir *dir; /* borrowed; NULL: there is no pages image */
	const char	*name;	/* borrowed; name of the pagemap image */
	struct imgsource in;	/* the pages image; its src is NULL until a
				   present page is found */
};

/*
 * Open the pages image of r, if that was not done. criu would loop forever on
 * an image that is smaller than the pagemap requires; blocks_add() refuses it.
 */
static int
pages_open(struct pagereader *r)
{
	char file[32];

	if (r->dir == NULL || r->in.src != NULL)
		return 0;
	snprintf(file, sizeof file, "pages-%u.img", r->m->id);
	if (imgdir_source(r->dir, file, r->s, &r->in) != 1)
		return errstr_wrap("cannot open the pages of %s", r->name);
	r->m->blocks.most = r->in.size;
	return 0;
}

/*
 * Set flags and offset of p from entry e of image im, for pagemap m.
 */
static int
pages_flags(const struct pagemap *m, struct pages *p, const struct criuimg *im,
    const Criu__PagemapEntry *e)
{
	p->flags = e->has_flags ? e->flags :
	    e->has_in_parent && e->in_parent ? 0 : PE_PRESENT;
	if (e->has_in_parent && e->in_parent)
		p->flags |= PE_PARENT;
	p->off = m->blocks.len;
	p->src = NULL;
	if (p->flags > (PE_PARENT | PE_LAZY | PE_PRESENT | PE_ALIGNED) ||
	    (!(p->flags & PE_PRESENT) && (e->has_blocks ||
	    p->flags & PE_ALIGNED)))
		return criuimg_error(im, "unsupported kind of pages (flags "
		    "%x%s)", p->flags, e->has_blocks ? ", compressed" : "");
	p->flags &= ~(unsigned int)PE_ALIGNED;
	if ((p->flags & (PE_PARENT | PE_PRESENT)) == (PE_PARENT | PE_PRESENT))
		return criuimg_error(im, "pages are both present and in the "
		    "parent");
	if (p->flags == 0)
		return criuimg_error(im, "pages are neither present nor in "
		    "the parent");
	return 0;
}

/*
 * Add entry e to the pagemap of r. Fail if the entry is inconsistent or
 * overlaps an earlier one. Add the pages of the entry, if present, to the
 * blocks of the pagemap.
 */
static int
pagemap_add(struct pagereader *r, const Criu__PagemapEntry *e)
{
	struct pagemap *m = r->m;
	const struct criuimg *im = &r->im;
	struct pages *p, *last;
	uint64_t end, n;

	if (VEC_ROOM(m->v, m->n) == -1)
		return -1;
	p = &m->v[m->n];
	p->addr = e->vaddr;
	n = e->has_nr_pages ? e->nr_pages : e->compat_nr_pages;
	if (pages_flags(m, p, im, e) == -1)
		return -1;
	if (n == 0)		/* ignore an entry without pages */
		return 0;
	if (p->addr % m->page != 0)
		return criuimg_error(im, "address %jx is not a multiple of "
		    "the page size", (uintmax_t)p->addr);
	if (__builtin_mul_overflow(n, m->page, &p->len) ||
	    __builtin_add_overflow(p->addr, p->len, &end))
		return criuimg_error(im, "%ju pages at %jx end beyond 2^64",
		    (uintmax_t)n, (uintmax_t)p->addr);
	last = m->n == 0 ? NULL : p - 1;
	if (last != NULL && p->addr < last->addr + last->len)
		return criuimg_error(im, "pages at %jx overlap or precede "
		    "those at %jx", (uintmax_t)p->addr, (uintmax_t)last->addr);
	if (p->flags & PE_PRESENT && pages_open(r) == -1)
		return -1;
	if (p->flags & PE_PRESENT &&
	    blocks_add(&m->blocks, e, p->len, m->page) == -1)
		return criuimg_error(im, "%s", snap_errstr());
	m->n++;
	return 0;
}

/*
 * Read all entries of r into its pagemap.
 */
static int
pagemap_entries(struct pagereader *r)
{
	struct criuimg *im = &r->im;
	Criu__PagemapHead *head;
	Criu__PagemapEntry *e;
	int rc;

	rc = criuimg_next(im, &criu__pagemap_head__descriptor, &head);
	if (rc == 0)
		return criuimg_error(im, "no head entry");
	if (rc == -1)
		return -1;
	r->m->id = head->pages_id;
	rc = criuimg_known(im, &head->base);
	protobuf_c_message_free_unpacked(&head->base, NULL);
	if (rc == -1)
		return -1;
	while ((rc = criuimg_next(im, &criu__pagemap_entry__descriptor,
	    &e)) == 1) {
		rc = criuimg_known(im, &e->base) == -1 ? -1 :
		    pagemap_add(r, e);
		protobuf_c_message_free_unpacked(&e->base, NULL);
		if (rc == -1)
			break;
	}
	return rc;
}

/*
 * Parse the len bytes at data, the pagemap image called name, into *out. page
 * is the page size in bytes. Set *bytes to the size that its pages image must
 * have: its pages may not be compressed. The caller frees *out with
 * pagemap_free(), even on failure. Return 0, or -1 with errstr set.
 */
int
pagemap_parse(struct pagemap **out, const char *name, const void *data,
    size_t len, uint64_t page, uint64_t *bytes)
{
	struct pagereader r = { .name = name };
	int rc;

	if ((r.m = *out = mem_new(1, sizeof **out)) == NULL)
		return -1;
	r.m->page = page;
	r.m->blocks.most = UINT64_MAX;
	rc = criuimg_memory(&r.im, name, data, len, CRIU_PAGEMAP);
	if (rc == 0)
		rc = pagemap_entries(&r);
	if (rc == 0 && !blocks_plain(&r.m->blocks))
		rc = criuimg_error(&r.im, "compressed pages");
	*bytes = r.m->blocks.len;
	criuimg_close(&r.im);
	return rc;
}

/*
 * Append *p to m. If it continues the last entry of m, extend that entry.
 * Return 0, or -1 with errstr set.
 */
int
pages_join(struct pagemap *m, const struct pages *p)
{
	struct pages *last = m->n == 0 ? NULL : &m->v[m->n - 1];

	if (last != NULL && last->flags == p->flags && last->src == p->src &&
	    last->addr + last->len == p->addr &&
	    (p->src == NULL || last->off + last->len == p->off)) {
		last->len += p->len;
		return 0;
	}
	return VEC_ADD(m->v, m->n, *p);
}

/*
 * Divide the entries of m where blocks of zeros begin or end. Set PE_ZERO in
 * those that are all zero: nothing is read for them.
 */
static int
pagemap_zeros(struct pagemap *m)
{
	const struct pagemap own = *m;
	struct pages w;
	uint64_t left;
	bool zero;
	size_t i;
	int rc;

	m->v = NULL;
	m->n = 0;
	for (rc = 0, i = 0; i < own.n && rc == 0; i++) {
		w = own.v[i];
		for (left = w.len; left > 0 && rc == 0; left -= w.len) {
			zero = false;
			w.len = w.flags & PE_PRESENT ? blocks_zeros(&m->blocks,
			    w.off, left, &zero) : left;
			w.flags = own.v[i].flags | (zero ? PE_ZERO : 0U);
			rc = pages_join(m, &w);
			w.addr += w.len;
			w.off += w.len;
		}
	}
	free(own.v);
	return rc;
}

/*
 * Set the source of the pages of r. Fail if the size of their image is not a
 * multiple of the page size, although no page is compressed: such an image is
 * damaged.
 */
static int
pages_place(struct pagereader *r)
{
	struct pagemap *m = r->m;
	char *name;
	size_t i;

	if (m->blocks.len == 0)
		return 0;
	name = str_printf("%s/pages-%u.img", r->dir->path, m->id);
	if (name == NULL)
		return -1;
	if (!blocks_plain(&m->blocks)) {
		m->packed = true;
		if (pagemap_zeros(m) == -1)
			r->in.src = NULL;
		else
			r->in.src = blocks_source(r->s, &m->blocks, &r->in,
			    name);
		r->in.loc = 0;
	} else if (r->in.size % m->page != 0) {
		errstr_set("%s: size of %ju bytes is not a multiple of the "
		    "page size", name, (uintmax_t)r->in.size);
		r->in.src = NULL;
	}
	free(name);
	if (r->in.src == NULL)
		return -1;
	for (i = 0; i < m->n; i++)
		if (m->v[i].flags & PE_PRESENT && !(m->v[i].flags & PE_ZERO)) {
			m->v[i].off += r->in.loc;
			m->v[i].src = r->in.src;
		}
	return 0;
}

/*
 * Read the pagemap image called name in directory dir into m, without the
 * pagemaps of its parents. Return 1 on success, 0 if there is no such image, or
 * -1 with errstr set.
 */
static int
pagemap_load(struct pagemap *m, struct snap *s, const struct imgdir *dir,
    const char *name)
{
	struct pagereader r = { .m = m, .s = s, .dir = dir, .name = name };
	int rc;

	rc = criuimg_open(&r.im, dir, name, CRIU_PAGEMAP);
	r.im.unknown = NULL;	/* unknown fields are errors */
	if (rc == 1 && (pagemap_entries(&r) == -1 || pages_place(&r) == -1))
		rc = -1;
	criuimg_close(&r.im);
	return rc;
}

/*
 * Append to m entries for the pages of p, which are in the parent. up is the
 * parent's pagemap. Return 0, or -1 with errstr set.
 */
static int
pages_inherit(struct pagemap *m, const struct pages *p,
    const struct pagemap *up)
{
	const uint64_t end = p->addr + p->len;
	const struct pages *q;
	struct pages w;
	size_t i;

	for (w.addr = p->addr; w.addr < end; w.addr += w.len) {
		i = pagemap_behind(up, w.addr);
		q = &up->v[i];
		if (i == up->n || q->addr > w.addr)
			return errstr_set("no entry for address %jx, which a "
			    "child pagemap expects to find here",
			    (uintmax_t)w.addr);
		w = (struct pages){ w.addr, q->addr + q->len - w.addr,
		    q->off + (w.addr - q->addr), q->flags, q->src };
		if (w.len > end - w.addr)
			w.len = end - w.addr;
		if (pages_join(m, &w) == -1)
			return -1;
	}
	return 0;
}

/*
 * Replace the entries of m for pages in the parent with entries for where these
 * pages are. up is the parent's pagemap. Return 0, or -1 with errstr set.
 */
static int
pagemap_inherit(struct pagemap *m, const struct pagemap *up)
{
	const struct pagemap own = *m;
	size_t i;
	int rc;

	m->packed |= up->packed;
	m->v = NULL;
	m->n = 0;
	for (rc = 0, i = 0; i < own.n && rc == 0; i++)
		rc = own.v[i].flags & PE_PARENT ? pages_inherit(m, &own.v[i],
		    up) : pages_join(m, &own.v[i]);
	free(own.v);
	return rc;
}

/*
 * Find the pages of m, the pagemap image called name in directory dir, that are
 * in the parent of dir, in its parent, and so on.
 */
static int
pagemap_resolve(struct pagemap *m, struct snap *s, const struct imgdir *dir,
    const char *name)
{
	struct pagemap up = { .page = m->page };
	size_t i;
	int rc;

	for (i = 0; i < m->n && !(m->v[i].flags & PE_PARENT); i++)
		continue;
	if (i == m->n)
		return 0;
	if (dir->parent == NULL)
		return errstr_set("%s/%s: entry %zu: pages should be in the "
		    "parent, but %s", dir->path, name, i + 2, dir->why != NULL ?
		    dir->why : "there is no link to it");
	rc = pagemap_load(&up, s, dir->parent, name);
	if (rc == 0)
		rc = errstr_set("%s/%s: entry %zu: pages should be in the "
		    "parent, but there is no %s/%s", dir->path, name, i + 2,
		    dir->parent->path, name);
	if (rc == 1)
		rc = pagemap_resolve(&up, s, dir->parent, name);
	if (rc == 0 && (rc = pagemap_inherit(m, &up)) == -1)
		errstr_wrap("%s/%s", dir->parent->path, name);
	free(up.blocks.v);
	free(up.v);
	return rc;
}

/*
 * Read pagemap-NAME.img in directory dir, and those pagemaps of its parents
 * that it needs. name is a process ID or, for shared memory, "shmem-ID". page
 * is the page size in bytes. Make the pages images sources of s. Set *out to
 * the pagemap, with an entry for all pages that are consecutive in one source;
 * PE_PARENT is not set. The caller frees *out with pagemap_free(), even on
 * failure. Return 1 on success, 0 if there is no such image, or -1 with errstr
 * set.
 */
int
pagemap_open(struct pagemap **out, struct snap *s, const struct imgdir *dir,
    const char *name, uint64_t page)
{
	char *file;
	int rc;

	if ((*out = mem_new(1, sizeof **out)) == NULL ||
	    (file = str_printf("pagemap-%s.img", name)) == NULL)
		return -1;
	(*out)->page = page;
	rc = pagemap_load(*out, s, dir, file);
	if (rc == 1 && pagemap_resolve(*out, s, dir, file) == -1)
		rc = -1;
	free(file);
	return rc;
}

/*
 * Free m, which may be NULL.
 */
void
pagemap_free(struct pagemap *m)
{
	if (m == NULL)
		return;
	free(m->blocks.v);
	free(m->v);
	free(m);
}

/*
 * Return the index of the first entry of m that ends after addr, or m->n if
 * there is none.
 */
size_t
pagemap_behind(const struct pagemap *m, uint64_t addr)
{
	return BISECT_WHILE(i, m->n, m->v[i].addr + m->v[i].len <= addr);
}
