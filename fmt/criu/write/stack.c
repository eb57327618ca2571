/*
 * Write images on top of those of a parent, compressed images, or both. Pages
 * that the parent has unchanged are not written again; the pagemap marks them
 * as being in the parent, to which the link "parent" leads.
 */
#include "write.h"
#include "vec.h"
#include "full.h"
#include "machine.h"

#include <unistd.h>

enum {
	BATCH = 256 * 1024,	/* maximum number of bytes compared at a time */
	MAX_TIB = 4		/* maximum size of an object whose pages are
				   compressed, in TiB */
};
_Static_assert(BATCH % MAX_MACHINE_PAGE == 0, "pages are compared whole");

struct stacking {		/* an object being written */
	struct criuout	*out;	/* borrowed */
	struct object	*object; /* borrowed */
	struct pagemap	*parent; /* owned; empty if the parent lacks the
				    object, or if there is none */
	uint64_t	 page;	/* page size in bytes */
	int		 fd;
	struct packer	*pack;	/* owned; NULL: pages are not compressed */
	struct buf	 img;	/* new pagemap image */
	struct pages	 run; /* pages with the same flags, not yet in "img" */
	uint8_t		 mine[BATCH];
	uint8_t		 theirs[BATCH];
};

/*
 * Append an entry for the len bytes at addr, with these flags, to the pagemap.
 * If the previous entry has the same flags and ends at addr, extend that entry
 * instead. Return 0, or -1 with errstr set.
 */
static int
stack_entry(struct stacking *k, uint64_t addr, uint64_t len,
    unsigned int flags)
{
	struct pages *r = &k->run;

	if (r->len > 0 && (r->flags != flags || r->addr + r->len != addr)) {
		if (k->pack == NULL)
			pagemap_put(&k->img, r, k->page, NULL);
		else if (pack_entry(k->pack, &k->img, r) == -1)
			return -1;
		r->len = 0;
	}
	if (r->len == 0) {
		r->addr = addr;
		r->flags = flags;
	}
	r->len += len;
	return 0;
}

/*
 * Write the len bytes at p, which are pages that the parent lacks, to the pages
 * image. The caller has added their entry. If p is NULL, which is possible if
 * pages are compressed, write zeros.
 */
static int
stack_write(struct stacking *k, const uint8_t *p, uint64_t len)
{
	if (k->pack != NULL)
		return pack_add(k->pack, p, len, k->run.flags & PE_ALIGNED);
	if (full_write(k->fd, p, (size_t)len) == -1)
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
		if (stack_entry(k, addr + at, page, same ? PE_PARENT :
		    flags) == -1)
			return -1;
		if (same)
			k->out->stat->parentkb += page / KB;
		else if (stack_write(k, k->mine + at, page) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return how many of the len bytes at offset off of file fd are in a hole, as a
 * number of whole pages of page bytes.
 */
static uint64_t
hole_length(int fd, uint64_t off, uint64_t len, uint64_t page)
{
	const off_t at = lseek(fd, (off_t)off, SEEK_DATA);

	if (at == -1)
		return errno == ENXIO ? len : 0;
	return (uint64_t)at - off < len ? ((uint64_t)at - off) / page * page :
	    len;
}

/*
 * Write pages of entry p, or compare them with those of the parent checkpoint.
 * Start skip bytes into the entry, and process at most *len bytes. Set *len to
 * the number of bytes processed. flags are the flags of the pages that are
 * written.
 */
static int
stack_some(struct stacking *k, const struct pages *p, uint64_t skip,
    uint64_t *len, unsigned int flags)
{
	const uint64_t addr = p->addr + skip;
	const size_t i = pagemap_behind(k->parent, addr);
	const struct pages *q = NULL;
	struct run r;
	uint64_t end;

	if (i < k->parent->n) {
		q = &k->parent->v[i];
		end = q->addr > addr ? q->addr : q->addr + q->len;
		if (*len > end - addr)
			*len = end - addr;
		if (q->addr > addr || q->src == NULL)
			q = NULL;
	}
	r.loc = p->off + skip;
	end = k->pack == NULL || q != NULL ? 0 : hole_length(k->object->fd,
	    r.loc, *len, k->page);
	if (end > 0) {
		*len = end;
		return stack_entry(k, addr, end, flags) == -1 ? -1 :
		    stack_write(k, NULL, end);
	}
	if (*len > BATCH)
		*len = BATCH;
	r.n = *len / KB;
	if (source_read(k->object->src, &r, 1, k->mine) != SOURCE_OK)
		return -1;
	if (q == NULL)
		return stack_entry(k, addr, *len, flags) == -1 ? -1 :
		    stack_write(k, k->mine, *len);
	r.loc = q->off + (addr - q->addr);
	if (source_read(q->src, &r, 1, k->theirs) != SOURCE_OK)
		return -1;
	return stack_compare(k, addr, *len, flags);
}

static int
stack_pages(struct stacking *k)
{
	const struct object *o = k->object;
	const struct pages *p;
	unsigned int flags;
	uint64_t done, n;
	size_t i;

	for (i = 0; i < o->map->n; i++) {
		p = &o->map->v[i];
		if (!(p->flags & PE_PRESENT)) {
			if (stack_entry(k, p->addr, p->len, p->flags) == -1)
				return -1;
			continue;
		}
		k->out->stat->kb += p->len / KB;
		for (done = 0; done < p->len; done += n) {
			n = p->len - done;
			flags = p->flags;
			if (k->pack != NULL && raw_at(k->out, o->name,
			    p->addr + done, &n))
				flags |= PE_ALIGNED;
			if (stack_some(k, p, done, &n, flags) == -1)
				return -1;
		}
	}
	return stack_entry(k, 0, 0, 0);	/* flush the last entry */
}

/*
 * Open the parent's pagemap of the object. It is empty if there is no parent.
 */
static int
stack_parent(struct stacking *k)
{
	const struct object *o = k->object;
	struct criuout *out = k->out;
	char *name;
	int rc;

	if (out->opts->parent == NULL)
		return (k->parent = mem_new(1, sizeof *k->parent)) == NULL ?
		    -1 : 0;
	name = mem_dup(o->name + sizeof "pagemap-" - 1, strlen(o->name) -
	    (sizeof "pagemap-.img" - 1));
	rc = name == NULL ? -1 : pagemap_open(&k->parent, out->store.snap,
	    out->below, name, k->page);
	free(name);
	return rc != -1 && k->parent->packed && !out->opts->compress ?
	    errstr_set("%s/%s: compressed pages, which criu does not expect "
	    "below uncompressed ones", out->opts->parent, o->name) : rc;
}

/*
 * Prepare to compress the pages of the object, which are written to the image
 * called name.
 */
static int
stack_pack(struct stacking *k, const char *name)
{
	if (!k->out->opts->compress)
		return 0;
	/* each block takes memory, even if it is zero */
	if (k->object->bytes >> 40 >= MAX_TIB)
		return errstr_set("%s: %d TiB of pages or more cannot be "
		    "compressed", k->object->name, MAX_TIB);
	if ((k->pack = mem_new(1, sizeof *k->pack)) == NULL)
		return -1;
	k->pack->fd = k->fd;
	k->pack->name = name;
	k->pack->page = k->page;
	return 0;
}

/*
 * Write the pagemap and the pages of object o, without the pages that the
 * parent has, and compressed if the options say so. Return 0, or -1 with errstr
 * set.
 */
int
stack_object(struct criuout *out, struct object *o)
{
	struct stacking *k;
	char name[32];
	int rc;

	if ((k = mem_new(1, sizeof *k)) == NULL)
		return -1;
	k->out = out;
	k->object = o;
	k->page = o->map->page;
	k->fd = -1;
	snprintf(name, sizeof name, "pages-%u.img", o->id);
	rc = stack_parent(k);
	if (rc != -1)
		rc = k->fd = outdir_file(out->out, name);
	if (rc != -1)
		rc = stack_pack(k, name);
	pagemap_begin(&k->img, o->id);
	if (rc != -1)
		rc = stack_pages(k);
	if (rc != -1 && k->pack != NULL) {
		/* the image may end with zeros that were not written */
		if (ftruncate(k->fd, (off_t)k->pack->size) == -1)
			rc = errstr_sys("%s", name);
		out->stat->bytes += k->pack->size;
	}
	if (rc != -1)
		rc = criuout_put(out->out, o->name, &k->img);
	fd_drop(k->fd);
	buf_free(&k->img);
	pagemap_free(k->parent);
	if (k->pack != NULL)
		free(k->pack->v);
	free(k->pack);
	free(k);
	return rc == -1 ? -1 : 0;
}
