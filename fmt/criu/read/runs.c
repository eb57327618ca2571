/*
 * Read a pagemap and its parents as runs of pages that are consecutive in one
 * source. A pagemap belongs to a process or to shared memory.
 */
#include "read.h"
#include "bisect.h"
#include "vec.h"

static int
runs_add(void *arg, const struct pages *p, struct source *src)
{
	struct criuruns *l = arg;
	struct criurun *v;

	v = l->n == 0 ? NULL : &l->v[l->n - 1];
	if (v != NULL && v->pages.flags == p->flags && v->src == src &&
	    v->pages.addr + v->pages.len == p->addr &&
	    (src == NULL || v->pages.off + v->pages.len == p->off)) {
		v->pages.len += p->len;
		return 0;
	}
	return VEC_ADD(l->v, l->n, (struct criurun){ *p, src });
}

/*
 * Append the runs of pagemap-NAME.img to l, where NAME is name. A run is a
 * sequence of pages that are consecutive in one source. For pages that are in a
 * parent, append the runs of the parent. A missing image is an error. Return 0,
 * or -1 with errstr set.
 */
int
criuruns_read(struct criureader *r, struct criuruns *l, const char *name)
{
	struct pagemap *m;
	int rc;

	rc = pagemap_open(&m, r->snap, r->images, name, r->page);
	if (rc == 1) {
		l->id = m->id;
		rc = pagemap_each(m, runs_add, l);
	} else
		rc = -1;
	pagemap_free(m);
	return rc;
}

/*
 * Write runs l to b as a pagemap image without parents. page is the page size
 * in bytes.
 */
void
criuruns_img(const struct criuruns *l, uint64_t page, struct buf *b)
{
	struct pages p;
	size_t i;

	pagemap_begin(b, l->id);
	for (i = 0; i < l->n; i++) {
		p = l->v[i].pages;
		while (i + 1 < l->n && l->v[i + 1].pages.flags == p.flags &&
		    l->v[i + 1].pages.addr == p.addr + p.len)
			p.len += l->v[++i].pages.len;
		pagemap_put(b, &p, page);
	}
}

/*
 * Return the index of the first run of l that ends above addr, or l->n if there
 * is none.
 */
size_t
criuruns_above(const struct criuruns *l, uint64_t addr)
{
	return BISECT_WHILE(i, l->n, l->v[i].pages.addr +
	    l->v[i].pages.len <= addr);
}
