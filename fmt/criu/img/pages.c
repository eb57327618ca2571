/*
 * Read and write pagemap images, which say which pages exist, and find the
 * pages in pages images.
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
	if (p->flags > (PE_PARENT | PE_LAZY | PE_PRESENT | PE_ALIGNED) ||
	    (!(p->flags & PE_PRESENT) && (e->has_blocks ||
	    p->flags & PE_ALIGNED)))
		return criuimg_error(im, "unsupported kind of pages (flags "
		    "%x)", p->flags);
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
 * Add entry e of image im to pagemap m. Fail if the entry is inconsistent or
 * overlaps an earlier one. Add the pages of the entry, if present, to the
 * blocks of m.
 */
static int
pagemap_add(struct pagemap *m, struct criuimg *im,
    const Criu__PagemapEntry *e)
{
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
	if (p->flags & PE_PRESENT &&
	    blocks_add(&m->blocks, e, p->len, m->page) == -1)
		return criuimg_error(im, "%s", snap_errstr());
	m->n++;
	return 0;
}

/*
 * Read all entries of im into m.
 */
static int
pagemap_entries(struct pagemap *m, struct criuimg *im)
{
	Criu__PagemapHead *head;
	Criu__PagemapEntry *e;
	int rc;

	rc = criuimg_next(im, &criu__pagemap_head__descriptor, &head);
	if (rc == 0)
		return criuimg_error(im, "no head entry");
	if (rc == -1)
		return -1;
	m->id = head->pages_id;
	protobuf_c_message_free_unpacked(&head->base, NULL);
	while ((rc = criuimg_next(im, &criu__pagemap_entry__descriptor,
	    &e)) == 1) {
		rc = pagemap_add(m, im, e);
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
	struct criuimg im;
	int rc;

	if ((*out = mem_new(1, sizeof **out)) == NULL)
		return -1;
	(*out)->page = page;
	rc = criuimg_memory(&im, name, data, len, CRIU_PAGEMAP);
	if (rc == 0)
		rc = pagemap_entries(*out, &im);
	if (rc == 0 && !blocks_plain(&(*out)->blocks))
		rc = criuimg_error(&im, "compressed pages");
	*bytes = (*out)->blocks.len;
	criuimg_close(&im);
	return rc;
}

/*
 * Set errstr to say which entry of m has pages beyond the end of the pages
 * image. size is the size of that image in bytes. Entry 1 is the head of the
 * pagemap, so the entry at index i has number i + 2.
 */
static void
pages_short(const struct pagemap *m, uint64_t size)
{
	uint64_t end;
	size_t i;

	if (!blocks_plain(&m->blocks)) {
		errstr_set("%s/%s: compressed pages end at byte %ju of "
		    "pages-%u.img, which is only %ju bytes long",
		    m->dir->path, m->name, (uintmax_t)m->blocks.stored, m->id,
		    (uintmax_t)size);
		return;
	}
	for (i = 0, end = 0; i < m->n; i++) {
		end = m->v[i].off + m->v[i].len;
		if (m->v[i].flags & PE_PRESENT && end > size)
			break;
	}
	errstr_set("%s/%s: entry %zu: pages end at byte %ju of "
	    "pages-%u.img, which is only %ju bytes long", m->dir->path,
	    m->name, i + 2, (uintmax_t)end, m->id, (uintmax_t)size);
}

/*
 * Open the pages image of m, unless no pages are present. Fail if the image is
 * smaller than the pagemap requires: criu would loop forever on it. Fail also
 * if its size is not a multiple of the page size, although no page is
 * compressed: such an image is damaged.
 */
static int
pages_open(struct pagemap *m, struct snap *s)
{
	struct imgsource src;
	char name[32];
	size_t i;

	if (m->blocks.len == 0)
		return 0;
	snprintf(name, sizeof name, "pages-%u.img", m->id);
	if (imgdir_source(m->dir, name, s, &src) != 1)
		return errstr_wrap("cannot open the pages of %s", m->name);
	if (blocks_plain(&m->blocks) && src.size % m->page != 0)
		return errstr_set("%s/%s: size of %ju bytes is not a multiple "
		    "of the page size", m->dir->path, name,
		    (uintmax_t)src.size);
	if (src.size < m->blocks.stored) {
		pages_short(m, src.size);
		return -1;
	}
	if (!blocks_plain(&m->blocks)) {
		m->src = blocks_source(s, &m->blocks, &src);
		return m->src == NULL ? -1 : 0;
	}
	for (i = 0; i < m->n; i++)
		m->v[i].off += src.loc;
	m->src = src.src;
	return 0;
}

/*
 * Read pagemap-NAME.img in directory dir into m, without the pagemaps of its
 * parents. Return 1 on success, 0 if there is no such image, or -1 with errstr
 * set.
 */
static int
pagemap_load(struct pagemap *m, struct snap *s, const struct imgdir *dir,
    const char *name)
{
	struct criuimg im;
	int rc;

	m->dir = dir;
	if ((m->name = str_printf("pagemap-%s.img", name)) == NULL)
		return -1;
	rc = criuimg_open(&im, dir, m->name, CRIU_PAGEMAP);
	if (rc == 1 && (pagemap_entries(m, &im) == -1 ||
	    pages_open(m, s) == -1))
		rc = -1;
	criuimg_close(&im);
	return rc;
}

/*
 * Return the index of the first entry of m whose pages are in the parent, or
 * m->n if there is none.
 */
static size_t
first_inherited(const struct pagemap *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->v[i].flags & PE_PARENT)
			break;
	return i;
}

/*
 * Read pagemap-NAME.img in directory dir, and those pagemaps of its parents
 * that it needs. name is a process ID or, for shared memory, "shmem-ID". page
 * is the page size in bytes. Make the pages images sources of s. Set *out to
 * the pagemap, which the caller frees with pagemap_free(), even on failure.
 * Return 1 on success, 0 if there is no such image, or -1 with errstr set.
 */
int
pagemap_open(struct pagemap **out, struct snap *s, const struct imgdir *dir,
    const char *name, uint64_t page)
{
	struct pagemap **m, *child;
	int rc;

	*out = child = NULL;
	for (m = out;; m = &child->parent, dir = dir->parent) {
		if ((*m = mem_new(1, sizeof **m)) == NULL)
			return -1;
		(*m)->page = page;
		rc = pagemap_load(*m, s, dir, name);
		if (rc == 0 && child != NULL)
			return errstr_set("%s/%s: entry %zu: pages should "
			    "be in the parent, but there is no %s/%s",
			    child->dir->path, child->name,
			    first_inherited(child) + 2, dir->path, (*m)->name);
		if (rc != 1 || first_inherited(*m) == (*m)->n)
			return rc;
		child = *m;
		if (dir->parent == NULL)
			return errstr_set("%s/%s: entry %zu: pages should "
			    "be in the parent, but %s", dir->path, child->name,
			    first_inherited(child) + 2, dir->why != NULL ?
			    dir->why : "there is no link to it");
	}
}

/*
 * Free m and its parents; m may be NULL.
 */
void
pagemap_free(struct pagemap *m)
{
	struct pagemap *parent;

	for (; m != NULL; m = parent) {
		parent = m->parent;
		free(m->name);
		free(m->blocks.v);
		free(m->v);
		free(m);
	}
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

/*
 * Look up the page at addr, a multiple of the page size, in m and its parents.
 * Set *w to describe w->len bytes that begin at addr, and *src to their source,
 * or to NULL if PE_PRESENT is not set. Return 1 on success, or 0 if m has no
 * entry for the page. Return -1 with errstr set if the page should be in a
 * parent but is not.
 */
int
pagemap_where(const struct pagemap *m, uint64_t addr, struct pages *w,
    struct source **src)
{
	const struct pagemap *top;
	const struct pages *p;
	uint64_t left;

	for (top = m, w->len = UINT64_MAX; m != NULL; m = m->parent) {
		p = &m->v[pagemap_behind(m, addr)];
		if (p == m->v + m->n || p->addr > addr) {
			if (m == top)
				return 0;
			return errstr_set("%s/%s: no entry for address %jx, "
			    "which a child pagemap expects to find here",
			    m->dir->path, m->name, (uintmax_t)addr);
		}
		left = p->len - (addr - p->addr);
		if (left < w->len)
			w->len = left;
		if (!(p->flags & PE_PARENT)) {
			w->addr = addr;
			w->flags = p->flags;
			w->off = p->off + (addr - p->addr);
			*src = p->flags & PE_PRESENT ? m->src : NULL;
			return 1;
		}
	}
	return errstr_set("%s/%s: %jx should be in the parent, but there is "
	    "no parent", top->dir->path, top->name, (uintmax_t)addr);
}

/*
 * Call fn(arg, pages, source) for all pages of m in ascending order, until fn()
 * returns -1. Pages that are in a parent are looked up there, so PE_PARENT is
 * never set. source is NULL if PE_PRESENT is not set. Return 0, or -1 with
 * errstr set.
 */
int
pagemap_each(const struct pagemap *m, pages_fn fn, void *arg)
{
	const struct pages *p;
	struct source *src;
	struct pages w;
	uint64_t addr, left;
	size_t i;

	for (i = 0; i < m->n; i++) {
		p = &m->v[i];
		for (addr = p->addr, left = p->len; left > 0; left -= w.len) {
			if (pagemap_where(m, addr, &w, &src) == -1 ||
			    fn(arg, &w, src) == -1)
				return -1;
			addr += w.len;
		}
	}
	return 0;
}

/*
 * Begin a pagemap image in b. It refers to pages-ID.img, where ID is id.
 */
void
pagemap_begin(struct buf *b, uint32_t id)
{
	Criu__PagemapHead head = CRIU__PAGEMAP_HEAD__INIT;

	head.pages_id = id;
	criuimg_begin(b, CRIU_PAGEMAP);
	criuimg_add(b, &head.base);
}

/*
 * Append entry p to pagemap image b so that all versions of criu can read it.
 * Newer versions use nr_pages, older ones compat_nr_pages. page is the page
 * size in bytes.
 */
void
pagemap_put(struct buf *b, const struct pages *p, uint64_t page)
{
	Criu__PagemapEntry e = CRIU__PAGEMAP_ENTRY__INIT;
	uint64_t n = p->len / page;

	e.vaddr = p->addr;
	e.compat_nr_pages = n <= UINT32_MAX ? (uint32_t)n : 0;
	e.has_nr_pages = true;
	e.nr_pages = n;
	e.has_flags = true;
	e.flags = p->flags;
	criuimg_add(b, &e.base);
}

/*
 * Write pagemap m to b as a pagemap image that refers to pages-ID.img, where ID
 * is id.
 */
void
pagemap_copy(struct buf *b, const struct pagemap *m, uint32_t id)
{
	size_t i;

	pagemap_begin(b, id);
	for (i = 0; i < m->n; i++)
		pagemap_put(b, &m->v[i], m->page);
}
