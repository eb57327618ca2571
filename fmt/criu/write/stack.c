/*
 * Write images on top of those of a parent. Pages that the parent has
 * unchanged are not written again; the pagemap marks them as being in the
 * parent, to which the link "parent" leads.
 */
#include "write.h"
#include "vec.h"
#include "full.h"
#include "machine.h"

#include <unistd.h>

enum { BATCH = 256 * 1024 };	/* maximum number of bytes compared at a time */
_Static_assert(BATCH % MAX_MACHINE_PAGE == 0, "pages are compared whole");

struct stacking { /* an object being written on top of a parent */
	struct criuout	*out;	/* borrowed */
	struct object	*object; /* borrowed */
	struct pagemap	*parent; /* owned; empty if the parent lacks the
				    object */
	uint64_t	 page;	/* page size in bytes */
	int		 fd;
	struct buf	 img;	/* new pagemap image */
	struct pages	 run; /* pages with the same flags, not yet in "img" */
	uint8_t		 mine[BATCH];
	uint8_t		 theirs[BATCH];
};

/*
 * Append an entry for the len bytes at addr, with these flags, to the pagemap.
 * If the previous entry has the same flags and ends at addr, extend that entry
 * instead.
 */
static void
stack_entry(struct stacking *k, uint64_t addr, uint64_t len,
    unsigned int flags)
{
	struct pages *r = &k->run;

	if (r->len > 0 && (r->flags != flags || r->addr + r->len != addr)) {
		pagemap_put(&k->img, r, k->page);
		r->len = 0;
	}
	if (r->len == 0) {
		r->addr = addr;
		r->flags = flags;
	}
	r->len += len;
}

/*
 * Write the len bytes at p, which are pages that the parent lacks, to the pages
 * image.
 */
static int
stack_write(struct stacking *k, const uint8_t *p, size_t len)
{
	if (full_write(k->fd, p, len) == -1)
		return errstr_sys("pages-%u.img", k->object->id);
	k->out->stat->bytes += len;
	return 0;
}

/*
 * Compare the pages in k->mine with those of the parent checkpoint in
 * k->theirs, and write the pages that differ. Both buffers have the len bytes
 * (at most BATCH) at address addr. flags are the flags of the pages that are
 * written.
 */
static int
stack_compare(struct stacking *k, uint64_t addr, uint64_t len,
    unsigned int flags)
{
	size_t at, page = (size_t)k->page;
	bool same;

	for (at = 0; at < len; at += page) {
		same = memcmp(k->mine + at, k->theirs + at, page) == 0;
		stack_entry(k, addr + at, page, same ? PE_PARENT : flags);
		if (same)
			k->out->stat->parentkb += page / KB;
		else if (stack_write(k, k->mine + at, page) == -1)
			return -1;
	}
	return 0;
}

/*
 * Write pages of entry p, or compare them with those of the parent checkpoint.
 * Start skip bytes into the entry, and process at most *len bytes. Set *len to
 * the number of bytes processed.
 */
static int
stack_some(struct stacking *k, const struct pages *p, uint64_t skip,
    uint64_t *len)
{
	const uint64_t addr = p->addr + skip;
	const size_t i = pagemap_behind(k->parent, addr);
	const struct pages *q = NULL;
	struct run r;
	uint64_t end;

	if (*len > BATCH)
		*len = BATCH;
	if (i < k->parent->n) {
		q = &k->parent->v[i];
		end = q->addr > addr ? q->addr : q->addr + q->len;
		if (*len > end - addr)
			*len = end - addr;
		if (q->addr > addr || q->src == NULL)
			q = NULL;
	}
	r.loc = p->off + skip;
	r.n = *len / KB;
	if (source_read(k->object->src, &r, 1, k->mine) != SOURCE_OK)
		return -1;
	if (q == NULL) {
		stack_entry(k, addr, *len, p->flags);
		return stack_write(k, k->mine, (size_t)*len);
	}
	r.loc = q->off + (addr - q->addr);
	if (source_read(q->src, &r, 1, k->theirs) != SOURCE_OK)
		return -1;
	return stack_compare(k, addr, *len, p->flags);
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
			stack_entry(k, p->addr, p->len, p->flags);
			continue;
		}
		k->out->stat->kb += p->len / KB;
		for (done = 0; done < p->len; done += n) {
			n = p->len - done;
			if (stack_some(k, p, done, &n) == -1)
				return -1;
		}
	}
	stack_entry(k, 0, 0, 0);	/* flush the last entry */
	return 0;
}

/*
 * Write the pagemap and the pages of object o, without the pages that the
 * parent has. Return 0, or -1 with errstr set.
 */
int
stack_object(struct criuout *out, struct object *o)
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
	k->out = out;
	k->object = o;
	k->page = o->map->page;
	k->fd = -1;
	if (pagemap_open(&k->parent, out->store.snap, out->below, name,
	    k->page) == -1)
		goto out;
	if (k->parent->packed) {
		errstr_set("%s/%s: compressed pages, which criu does not "
		    "expect below uncompressed ones", out->opts->parent,
		    o->name);
		goto out;
	}
	free(name);
	if ((name = str_printf("pages-%u.img", o->id)) == NULL)
		goto out;
	if ((k->fd = outdir_file(out->out, name)) == -1)
		goto out;
	pagemap_begin(&k->img, o->id);
	if (stack_pages(k) == -1)
		goto out;
	rc = criuout_put(out, o->name, &k->img);
out:
	fd_drop(k->fd);
	buf_free(&k->img);
	pagemap_free(k->parent);
	free(name);
	free(k);
	return rc;
}
