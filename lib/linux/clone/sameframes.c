/*
 * Compare the page frames of a process with those of another process's clone,
 * to find the pages that the two share at the same addresses: nearly all of
 * them, if both processes were forked from one.
 *
 * The page map of the clone is read once for all processes that are compared
 * with it, and checked once more afterwards: a page may have moved to another
 * frame meanwhile, and its old frame may hold another page. All processes are
 * stopped.
 */
#include "bisect.h"
#include "cloning.h"
#include "sameframes.h"
#include "vec.h"

#include <unistd.h>

enum { MAX_ENTRIES = 1 << 22 };	/* maximum number of entries in a table: they
				   take 32 MB, and cover 16 GB of memory */

struct stretch {		/* pagemap entries of consecutive pages */
	uint64_t	 start;
	uint64_t	 end;	/* end address (exclusive) */
	size_t		 at;	/* index of the stretch's first entry in the
				   table */
};

struct pagetable {
	struct vmas	 vma;	/* mappings that the table covers; names are
				   borrowed */
	struct stretch	*v;	/* owned; in ascending order of address */
	size_t		 n;
	uint64_t	*entry;	/* owned; pagemap entries of all stretches */
	size_t		 nentry;
	size_t		 cap;
	uint64_t	 page;	/* page size in bytes */
};

/* bits of pagemap entries that must be equal for a shared page */
#define PME_ALIKE	(PME_PRESENT | PME_SWAPPED | PME_FILE | PME_GUARD | \
			    PME_FRAME)

struct comparing {
	const struct pagetable *t;	/* borrowed, like "vma" and "a" */
	const struct vmas *vma;
	struct likeness	*a;
	size_t		 next;	/* index of the stretch at which to continue */
	size_t		 i;	/* index of the current mapping in "vma" */
	size_t		 met[2]; /* number of pages of the clone that were
				    compared in mapping i: [1] present pages
				    without a file, [0] other pages */
};

/*
 * Return true if mapping v is the [vdso], or private memory that a clone
 * inherits completely.
 */
static bool
vma_isown(const struct vma *v)
{
	return !(v->flags & (VMA_SHARED | VMA_DEVICE)) &&
	    (strncmp(v->name, "[v", 2) != 0 ||
	    strcmp(v->name, "[vdso]") == 0) &&
	    strcmp(v->name, "/secretmem (deleted)") != 0;
}

/*
 * Select the mappings of l that are private memory, and put them in *own. Set
 * (*place)[i] to the index in l of own->v[i]. The caller frees own->v and
 * *place; the names are borrowed.
 */
static int
vmas_own(struct vmas *own, size_t **place, const struct vmas *l)
{
	size_t i;

	own->n = 0;
	own->v = mem_new(l->n, sizeof *own->v);
	*place = mem_new(l->n, sizeof **place);
	if (own->v == NULL || *place == NULL)
		return -1;
	for (i = 0; i < l->n; i++)
		if (vma_isown(&l->v[i])) {
			(*place)[own->n] = i;
			own->v[own->n++] = l->v[i];
		}
	return 0;
}

/*
 * Append pagemap entries e to the table arg. Fail if the kernel hides frame
 * numbers, since the pages could then not be compared.
 */
static int
table_add(void *arg, const struct entries *e)
{
	struct pagetable *t = arg;
	struct stretch *s;
	uint64_t *v;
	size_t i;

	for (i = 0; i < e->n; i++)
		if (e->v[i] & PME_PRESENT && (e->v[i] & PME_FRAME) == 0)
			return errstr_set("its page frame numbers are hidden");
	if (t->nentry + e->n > t->cap) {
		t->cap = (t->nentry + e->n) * 2;
		if (t->nentry + e->n > MAX_ENTRIES)
			return errstr_set("it has too many pages");
		v = reallocarray(t->entry, t->cap, sizeof *v);
		if (v == NULL)
			return errstr_set("out of memory");
		t->entry = v;
	}
	s = t->n == 0 ? NULL : &t->v[t->n - 1];
	if (s == NULL || s->end != e->addr) {
		if (VEC_ADD(t->v, t->n, (struct stretch){ .start = e->addr,
		    .at = t->nentry }) == -1)
			return -1;
		s = &t->v[t->n - 1];
	}
	memcpy(t->entry + t->nentry, e->v, e->n * sizeof *e->v);
	t->nentry += e->n;
	s->end = e->addr + e->n * t->page;
	return 0;
}

void
table_free(struct pagetable *t)
{
	if (t == NULL)
		return;
	free(t->vma.v);
	free(t->v);
	free(t->entry);
	free(t);
}

/*
 * Read the pagemap entries of the private memory of a clone. vma has the
 * mappings of the clone, and fd is its open pagemap. Return a table of the
 * entries, or NULL with errstr set. The caller frees the table with
 * table_free().
 */
struct pagetable *
table_read(int fd, const struct vmas *vma)
{
	struct pagetable *t;
	size_t *place;

	if ((t = mem_new(1, sizeof *t)) == NULL)
		return NULL;
	t->page = (uint64_t)sysconf(_SC_PAGESIZE);
	place = NULL;
	if (vmas_own(&t->vma, &place, vma) == -1 ||
	    pagemap_entries(fd, &t->vma, NULL, table_add, t) == -1) {
		table_free(t);
		t = NULL;
	}
	free(place);
	return t;
}

/*
 * Return true if pagemap entry e describes a present page that does not belong
 * to a file.
 */
static bool
entry_isown(uint64_t e)
{
	return e & PME_PRESENT && !(e & PME_FILE);
}

/*
 * Add the page at addr to a->own, the pages that must be copied. Fail if there
 * are more than a->most.
 */
static int
alike_own(struct likeness *a, uint64_t addr, uint64_t page)
{
	struct pagespan *s;

	if (a->nown == a->most)
		return errstr_set("too many of its pages are not shared");
	a->nown++;
	s = a->n == 0 ? NULL : &a->own[a->n - 1];
	if (s != NULL && s->end == addr) {
		s->end += page;
		return 0;
	}
	return VEC_ADD(a->own, a->n, (struct pagespan){ .start = addr,
	    .end = addr + page });
}

/*
 * Compare n pages of a process and a clone, starting at address addr. The array
 * e has the pagemap entries of the process. The array known has those of the
 * clone; it is NULL if the clone has no entries there. Update the result for
 * the mapping (a->how), and add to a->own the pages that only the process has.
 */
static int
compare_part(struct comparing *c, uint64_t addr, const uint64_t *e,
    const uint64_t *known, size_t n)
{
	uint64_t differs, t;
	enum alikeness *how = &c->a->how[c->i];
	size_t i;

	for (i = 0, differs = 0; i < n; i++) {
		t = known == NULL ? 0 : known[i];
		differs |= (e[i] ^ t) & PME_ALIKE;
		c->met[entry_isown(t)] += t != 0;
	}
	for (i = 0; differs != 0 && i < n; i++) {
		t = known == NULL ? 0 : known[i];
		if (((e[i] ^ t) & PME_ALIKE) == 0)
			continue;
		if (e[i] & PME_SWAPPED && !(e[i] & PME_GUARD))
			return errstr_set("it has pages in swap");
		if (entry_isown(e[i])) {
			*how = ALIKE_NOT;
			if (alike_own(c->a, addr + i * c->t->page,
			    c->t->page) == -1)
				return -1;
		} else if (entry_isown(t) || ((e[i] | t) & PME_SWAPPED))
			*how = ALIKE_NOT;
		else if (*how == ALIKE_ALL)
			*how = ALIKE_FILE;
	}
	return 0;
}

/*
 * Finish the comparison of mapping c->i of a process and a clone. Count the
 * pages that the clone has there. If more of them exist than were compared
 * (c->met), the clone has pages that the process lacks.
 */
static void
mapping_end(struct comparing *c)
{
	const struct vma *v = &c->vma->v[c->i];
	const struct pagetable *t = c->t;
	enum alikeness *how = &c->a->how[c->i];
	uint64_t addr, end, e;
	size_t i, has[2] = { 0 };

	i = BISECT(t->v, t->n, end, v->start);
	for (; i < t->n && t->v[i].start < v->end; i++) {
		addr = t->v[i].start > v->start ? t->v[i].start : v->start;
		end = t->v[i].end < v->end ? t->v[i].end : v->end;
		for (; addr < end; addr += t->page) {
			e = t->entry[t->v[i].at +
			    (addr - t->v[i].start) / t->page];
			has[entry_isown(e)] += e != 0;
		}
	}
	if (has[true] != c->met[true])
		*how = ALIKE_NOT;
	else if (has[false] != c->met[false] && *how == ALIKE_ALL)
		*how = v->ino == 0 && v->dev == 0 ? ALIKE_NOT : ALIKE_FILE;
	c->met[false] = c->met[true] = 0;
}

/*
 * Compare the pagemap entries e, for one mapping of the process, with the
 * clone's table.
 */
static int
compare_entries(void *arg, const struct entries *e)
{
	struct comparing *c = arg;
	const struct pagetable *t = c->t;
	const struct stretch *s;
	const uint64_t *there;
	uint64_t addr, end, to;

	for (; c->i < e->vma; c->i++)
		mapping_end(c);
	end = e->addr + e->n * t->page;
	for (addr = e->addr; addr < end; addr = to) {
		while (c->next < t->n && t->v[c->next].end <= addr)
			c->next++;
		s = c->next < t->n ? &t->v[c->next] : NULL;
		there = NULL;
		to = end;
		if (s != NULL && s->start <= addr) {
			there = t->entry + s->at + (addr - s->start) / t->page;
			to = s->end < end ? s->end : end;
		} else if (s != NULL && s->start < end)
			to = s->start;
		if (compare_part(c, addr, e->v + (addr - e->addr) / t->page,
		    there, (size_t)((to - addr) / t->page)) == -1)
			return -1;
	}
	return 0;
}

/*
 * Compare the private memory of a process with that of a clone. t is the table
 * of the clone. vma has the mappings of the process, and fd is its open
 * pagemap. Set a->how[i] for each mapping, and a->own to the pages that only
 * the process has. The caller must have set a->most, the maximum number of
 * these pages, and must free a with alike_free(), even on failure. Return 0, or
 * -1 with errstr set.
 */
int
alike_compare(struct likeness *a, const struct pagetable *t, int fd,
    const struct vmas *vma)
{
	struct comparing c = { .t = t, .a = a };
	struct vmas own = { 0 };
	enum alikeness *how;
	size_t i, *place;
	int rc;

	place = NULL;
	a->how = mem_new(vma->n, sizeof *a->how);
	rc = a->how == NULL ? -1 : vmas_own(&own, &place, vma);
	if (rc == 0) {
		c.vma = &own;
		rc = pagemap_entries(fd, &own, NULL, compare_entries, &c);
	}
	for (; rc == 0 && c.i < own.n; c.i++)
		mapping_end(&c);
	/* move results from the index among own to that among vma */
	for (i = own.n, how = a->how; rc == 0 && i-- > 0;)
		if (place[i] != i) {
			how[place[i]] = how[i];
			how[i] = ALIKE_ALL;
		}
	free(own.v);
	free(place);
	return rc;
}

/*
 * Return true if the pagemap open as fd still has the entries that were read
 * from it into table t.
 */
bool
table_holds(const struct pagetable *t, int fd)
{
	struct likeness a = { .most = 0 };
	bool holds;
	size_t i;

	holds = alike_compare(&a, t, fd, &t->vma) == 0;
	for (i = 0; i < t->vma.n && holds; i++)
		holds = a.how[i] == ALIKE_ALL;
	alike_free(&a);
	return holds;
}

/*
 * Set *own to true if the page at addr is in a->own, the pages that only the
 * process has. Return the end of the run of pages, starting at addr, for which
 * the answer is the same, but at most the address end.
 */
uint64_t
alike_until(const struct likeness *a, uint64_t addr, uint64_t end, bool *own)
{
	const struct pagespan *s;
	size_t i;

	i = BISECT(a->own, a->n, end, addr);
	s = i < a->n ? &a->own[i] : NULL;
	*own = s != NULL && s->start <= addr;
	if (s == NULL || s->start >= end)
		return end;
	if (!*own)
		return s->start;
	return s->end < end ? s->end : end;
}

void
alike_free(struct likeness *a)
{
	free(a->how);
	free(a->own);
	memset(a, 0, sizeof *a);
}
