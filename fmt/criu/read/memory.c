/*
 * Make the memory image of a process from its pagemap, and from the shared
 * memory that it maps in part.
 *
 * Pieces of address space are collected from all sources and sorted, and then
 * become an image of pages and missing ranges. Private anonymous memory that
 * is in no pagemap was never touched.
 */
#include "read.h"
#include "vec.h"
#include "bisect.h"

struct piecer {
	struct criureader *r;
	struct criutask	*t;
	struct mempiece {
		uint64_t	 addr;
		uint64_t	 end;
		struct source	*src;	/* NULL: all zero */
		uint64_t	 loc;
		const char	*why;	/* reason why the piece is missing;
					   NULL: it is present */
	}		*v;	/* owned */
	size_t		 n;
	uint64_t	 lazy;	/* number of lazy pages, which are not in the
				   images */
};

enum {
	MAX_PIECES = 1 << 24,	/* maximum number of pieces of a process */
	MAX_SHARED = 1 << 22	/* maximum number of pieces of shared memory, in
				   all processes: a small image can map one
				   object many times */
};

static int
piece_add(struct piecer *k, uint64_t addr, uint64_t end, struct source *src,
    uint64_t loc, const char *why)
{
	if (k->n >= MAX_PIECES)
		return errstr_set("too many pieces of memory: %zu", k->n);
	return VEC_ADD(k->v, k->n,
	    (struct mempiece){ addr, end, src, loc, why });
}

/*
 * Append to k the pages that l has from offset start up to offset end. In the
 * process, the page at offset start is at address addr.
 */
static int
piece_pages(struct piecer *k, const struct pagemap *l, uint64_t start,
    uint64_t end, uint64_t addr)
{
	const struct pages *p;
	uint64_t from, to;
	size_t i;

	for (i = pagemap_behind(l, start); i < l->n; i++) {
		p = &l->v[i];
		if (p->addr >= end)
			break;
		from = p->addr > start ? p->addr : start;
		to = p->addr + p->len;
		to = to < end ? to : end;
		if (!(p->flags & PE_PRESENT))
			k->lazy += (to - from) / k->r->page;
		if (piece_add(k, addr + (from - start), addr + (to - start),
		    p->src, p->off + (from - p->addr),
		    p->flags & PE_PRESENT ? NULL : "lazy") == -1)
			return -1;
	}
	return 0;
}

/*
 * Append to k the pages of shared memory shm from offset start up to offset
 * end. In the process, the page at offset start is at address addr.
 */
static int
piece_shared(struct piecer *k, const struct criushm *shm, uint64_t start,
    uint64_t end, uint64_t addr)
{
	const size_t had = k->n;

	if (piece_pages(k, shm->map, start, end, addr) == -1)
		return -1;
	k->r->nshared += k->n - had;
	return k->r->nshared <= MAX_SHARED ? 0 : errstr_set("more than %d "
	    "pieces of shared memory in all processes", MAX_SHARED);
}

/*
 * Append to k the part of mapping v from address addr up to address end. The
 * caller must have checked that the pagemap does not have this part. Its pages
 * are in shared memory or in a file, or they are missing.
 */
static int
piece_gap(struct piecer *k, const Criu__Vma *v, uint64_t addr, uint64_t end)
{
	const struct criushm *shm;
	struct criufile *f;
	struct source *src;
	uint64_t off, size, id;

	if (__builtin_add_overflow(v->pgoff, end - v->start, &off))
		return errstr_set("ends at a file offset beyond 2^64");
	off = v->pgoff + (addr - v->start);
	f = v->status & (CRIU_FILE_PRIVATE | CRIU_FILE_SHARED) ?
	    criufile_mapped(k->r, v) : NULL;
	if (v->status & (CRIU_ANON_SHARED | CRIU_SYSVIPC) ||
	    (f != NULL && f->dev != 0)) {
		id = f != NULL && f->dev != 0 ? f->ino : v->shmid;
		shm = FIND(k->r->shm, k->r->nshm, id, id);
		if (shm == NULL)
			return errstr_set("pagemap-shmem-%" PRIu64 ".img is "
			    "missing", id);
		return piece_shared(k, shm, off, off + (end - addr), addr);
	}
	if (v->status & (CRIU_VVAR | CRIU_VSYSCALL))
		return piece_add(k, addr, end, NULL, 0, "kernel");
	if (f == NULL)
		return 0;
	if ((src = criuelf_source(k->r, f)) == NULL)
		return piece_add(k, addr, end, NULL, 0, "file");
	/* the rest of the last page is zero: mmap(2) */
	size = (source_size(src) + (k->r->page - 1)) / k->r->page *
	    k->r->page;
	if (off >= size)
		return 0;
	if (end - addr > size - off)
		end = addr + (size - off);
	return piece_add(k, addr, end, src, off, NULL);
}

/*
 * Append to k the ranges of mapping v that are not in pagemap l. *next is the
 * index of the first entry of l that ends above the start of v. Advance *next
 * past the entries that end inside v.
 */
static int
piece_mapping(struct piecer *k, const Criu__Vma *v, const struct pagemap *l,
    size_t *next)
{
	const struct pages *p;
	uint64_t at, end;

	if (v->status & CRIU_GUARD)
		return piece_add(k, v->start, v->end, NULL, 0, "guard");
	for (at = v->start; at < v->end; at = end) {
		p = *next < l->n ? &l->v[*next] : NULL;
		if (p == NULL || p->addr >= v->end)
			return piece_gap(k, v, at, v->end);
		end = p->addr + p->len;
		if (at < p->addr && piece_gap(k, v, at, p->addr) == -1)
			return -1;
		if (end > v->end)
			break;
		++*next;
	}
	return 0;
}

CMP2(piece_cmp, struct mempiece, addr, why != NULL)

/*
 * Build image im from the pieces in k.
 */
static int
pieces_image(struct piecer *k, struct image *im)
{
	struct builder b = { .image = im };
	const struct mempiece *p;
	uint64_t at, addr;
	size_t i;
	int rc;

	SORT(k->v, k->n, piece_cmp);
	for (i = 0, at = 0, rc = 0; i < k->n && rc == 0; i++) {
		p = &k->v[i];
		if (p->why != NULL) {
			addr = p->addr < at ? at : p->addr;
			if (addr < p->end)
				rc = image_miss(im, addr, p->end, p->why);
		} else if (p->addr < at)
			rc = errstr_set("address %" PRIx64 " is in the "
			    "images twice", p->addr);
		else
			rc = builder_run(&b, p->addr, (p->end - p->addr) / KB,
			    p->src, p->loc);
		if (p->end > at)
			at = p->end;
	}
	return builder_finish(&b) == -1 ? -1 : rc;
}

/*
 * Make the memory image of process t. Add the pagemap image to the record of t.
 * Return 0, or -1 with errstr set.
 */
int
criumem_read(struct criureader *r, struct criutask *t)
{
	struct piecer k = { .r = r, .t = t };
	struct pagemap *l = NULL;
	struct buf b = { 0 };
	char name[48];
	size_t i, next;
	int rc;

	t->proc->mem = image_new(t->proc, IMAGE_MEM);
	snprintf(name, sizeof name, "%" PRIu64, t->proc->pid);
	if (t->proc->mem == NULL || pagemap_open(&l, r->snap, r->images, name,
	    r->page) != 1) {
		pagemap_free(l);
		return -1;
	}
	rc = piece_pages(&k, l, 0, UINT64_MAX, 0);
	for (i = next = 0; i < t->mm->n_vmas && rc == 0; i++) {
		while (next < l->n && l->v[next].addr + l->v[next].len <=
		    t->mm->vmas[i]->start)
			next++;
		rc = piece_mapping(&k, t->mm->vmas[i], l, &next);
		if (rc == -1)
			errstr_wrap("mm-%s.img: mapping %zu at %" PRIx64, name,
			    i + 1, t->mm->vmas[i]->start);
	}
	if (rc == 0 && pieces_image(&k, t->proc->mem) == -1)
		rc = errstr_wrap("pagemap-%s.img", name);
	if (rc == -1)
		errstr_wrap("%s", r->dir);
	if (k.lazy != 0)
		warn_tell(r->warn, r->arg, "process %" PRIu64 ": %" PRIu64
		    " pages are not in the images: they were to be fetched "
		    "later (lazy pages)", t->proc->pid, k.lazy);
	pagemap_copy(&b, l, 0);
	snprintf(name, sizeof name, "criu/pagemap-%" PRIu64 ".img",
	    t->proc->pid);
	filelist_buf(&t->rec, name, &b);
	free(k.v);
	pagemap_free(l);
	return rc;
}
