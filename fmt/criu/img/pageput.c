/*
 * Write pagemap images, which pages.c reads.
 */
#include "img.h"

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
 * size in bytes. blocks describes how the pages are compressed; NULL: they are
 * not.
 */
void
pagemap_put(struct buf *b, const struct pages *p, uint64_t page,
    const Criu__PagemapBlocks *blocks)
{
	Criu__PagemapEntry e = CRIU__PAGEMAP_ENTRY__INIT;
	uint64_t n = p->len / page;
	struct buf packed = { 0 };

	e.vaddr = p->addr;
	e.compat_nr_pages = n <= UINT32_MAX ? (uint32_t)n : 0;
	e.has_nr_pages = e.has_flags = true;
	e.nr_pages = n;
	e.flags = p->flags;
	if (blocks != NULL) {
		criuimg_pack(&packed, &blocks->base);
		b->failed |= packed.failed;
		e.has_blocks = true;
		e.blocks.data = packed.data;
		e.blocks.len = packed.len;
	}
	criuimg_add(b, &e.base);
	buf_free(&packed);
}

/*
 * Write pagemap m to b as a pagemap image that refers to pages-ID.img, where ID
 * is id. Join entries for adjacent pages.
 */
void
pagemap_copy(struct buf *b, const struct pagemap *m, uint32_t id)
{
	struct pages p;
	size_t i;

	pagemap_begin(b, id);
	for (i = 0; i < m->n; i++) {
		p = m->v[i];
		p.flags &= ~(unsigned int)PE_ZERO;
		while (i + 1 < m->n && (m->v[i + 1].flags &
		    ~(unsigned int)PE_ZERO) == p.flags &&
		    m->v[i + 1].addr == p.addr + p.len)
			p.len += m->v[++i].len;
		pagemap_put(b, &p, m->page, NULL);
	}
}
