/*
 * Find the mappings of a process in its core: a PT_LOAD for each, with names
 * and offsets from NT_FILE.  gcore(1) omits mappings of files that were never
 * written to; only NT_FILE lists these.
 *
 *	NT_FILE   count, page size, {start, end, offset in pages} ...,
 *	          name\0 ...			words as wide as a long
 */
#include "read.h"
#include "vec.h"

#include <elf.h>

/* most bytes of names; real cores have about 4 MB at most */
enum { MAX_NAMES = 64 * 1024 * 1024 };

/*
 * Parse NT_FILE into r->files. For its format see fill_files_note() in the
 * kernel's fs/binfmt_elf.c.
 */
static int
parse_files(struct corereader *r)
{
	const struct corenote *n = &r->core.files;
	const uint8_t *p, *name, *end, *nul;
	struct vma v = { 0 };
	uint64_t i, count, page;
	size_t w;

	w = r->core.mach->word;
	if (n->data == NULL || n->len < 2 * w)
		return 0;
	count = num_get(n->data, w);
	page = num_get(n->data + w, w);
	if (r->page == 0)
		r->page = machine_page(r->core.mach, page);
	if (count > (n->len - 2 * w) / (3 * w))
		return errstr_set("NT_FILE: %ju files do not fit in %zu bytes",
		    (uintmax_t)count, n->len);
	p = n->data + 2 * w;
	name = p + count * 3 * w;
	end = n->data + n->len;
	for (i = 0; i < count; i++, p += 3 * w, name = nul + 1) {
		nul = memchr(name, '\0', (size_t)(end - name));
		if (nul == NULL || nul - name >= PATH_MAX)
			return errstr_set("NT_FILE: no name for file %ju",
			    (uintmax_t)i);
		v.start = num_get(p, w);
		v.end = num_get(p + w, w);
		if (v.start >= v.end || __builtin_mul_overflow(
		    num_get(p + 2 * w, w), page, &v.off))
			return errstr_set("NT_FILE: file %ju: invalid offset "
			    "or range %jx-%jx", (uintmax_t)i,
			    (uintmax_t)v.start, (uintmax_t)v.end);
		if ((v.name = str_dup((const char *)name)) == NULL ||
		    vmas_add(&r->files, &v) == -1)
			return -1;
	}
	return vmas_sort(&r->files);
}

/*
 * Add a segment for each range that NT_FILE lists but no PT_LOAD covers.
 */
static int
add_bare(struct corereader *r)
{
	const struct elfcore *c = &r->core;
	const struct vma *f;
	struct vmas gap = { 0 };
	struct vma v = { 0 };
	size_t i, k, n;
	uint64_t at;
	int rc;

	n = c->nload;
	for (rc = 0, i = k = 0; rc == 0 && i < r->files.n; i++) {
		f = &r->files.v[i];
		for (at = f->start; rc == 0 && at < f->end;
		    at = c->load[k].addr + c->load[k].len) {
			while (k < n && c->load[k].addr + c->load[k].len <= at)
				k++;
			v.start = at;
			v.end = k < n && c->load[k].addr < f->end ?
			    c->load[k].addr : f->end;
			if (v.end > v.start)
				rc = vmas_add(&gap, &v);
			if (v.end == f->end)
				break;
		}
	}
	for (i = 0; rc == 0 && i < gap.n; i++)
		rc = VEC_ADD(r->core.load, r->core.nload, (struct coreseg){
		    .addr = gap.v[i].start, .flags = PF_R, .bare = true,
		    .len = gap.v[i].end - gap.v[i].start });
	vmas_free(&gap);
	return rc == -1 ? -1 : elfcore_sort(&r->core);
}

/*
 * Return true if segment l belongs to v, the mapping added last. file is the
 * NT_FILE entry for l, and lastfile that for the segment before l; either may
 * be NULL. The kernel writes one segment for each mapping. Other writers, such
 * as snapcore(1), may split a mapping into several segments.
 */
static bool
continues(const struct corereader *r, const struct vma *v,
    const struct coreseg *l, const struct vma *file,
    const struct vma *lastfile)
{
	const struct coreseg *last = l - 1;

	if (l == r->core.load || v->end != l->addr || file != lastfile ||
	    (l->flags & 7) != (last->flags & 7))
		return false;
	return file != NULL || last->claim < last->len || l->claim == 0;
}

/*
 * Return the name for the mapping of segment l if it does not map a file:
 * "[stack]", "[vdso]" or "[vsyscall]" if l has the address of one of these,
 * otherwise "".
 */
static const char *
special_name(const struct corereader *r, const struct coreseg *l)
{
	static const uint64_t vsyscall = 0xffffffffff600000;

	if (r->stack >= l->addr && r->stack - l->addr < l->len)
		return "[stack]";
	if (r->vdso != 0 && r->vdso == l->addr)
		return "[vdso]";
	return r->core.mach->elf == EM_X86_64 && l->addr == vsyscall ?
	    "[vsyscall]" : "";
}

/*
 * Set r->vdso to the address of the vdso, and r->stack to an address in the
 * stack. Both come from the auxiliary vector (see getauxval(3)). If the vector
 * has no address in the stack, use a thread's stack pointer.
 */
static void
find_special(struct corereader *r)
{
	const struct elfcore *c = &r->core;
	const struct corethread *t;

	if ((t = core_leader(c)) == NULL)
		t = c->thread;
	r->vdso = elfcore_auxv(c, AT_SYSINFO_EHDR);
	if ((r->stack = elfcore_auxv(c, AT_RANDOM)) == 0)
		r->stack = num_get(t->status +
		    prstatus_regs(c->mach) + c->mach->sp, c->mach->word);
}

static int
add_mapping(struct corereader *r, const struct coreseg *l,
    const struct vma *file)
{
	struct vma v = { 0 };
	const char *name;

	v.start = l->addr;
	v.end = l->addr + l->len;
	v.flags = (l->flags & PF_R ? VMA_READ : 0U) |
	    (l->flags & PF_W ? VMA_WRITE : 0U) |
	    (l->flags & PF_X ? VMA_EXEC : 0U);
	name = special_name(r, l);
	if (file != NULL) {
		v.off = file->off + (l->addr - file->start);
		name = file->name;
	}
	return (v.name = str_dup(name)) == NULL ? -1 : vmas_add(&r->vma, &v);
}

/*
 * Set r->vma to the mappings of the process, in ascending order. Return 0, or
 * -1 with errstr set.
 */
int
core_maps(struct corereader *r)
{
	const struct vma *file, *last;
	const struct coreseg *l;
	struct vma *v;
	size_t i, names;

	r->page = auxv_page(r->core.mach, r->core.auxv.data,
	    r->core.auxv.len);
	if (parse_files(r) == -1 || add_bare(r) == -1)
		return -1;
	if (r->page == 0)
		r->page = machine_page(r->core.mach, 0);
	find_special(r);
	last = NULL;
	for (i = names = 0; i < r->core.nload; i++, last = file) {
		l = &r->core.load[i];
		file = vmas_find(&r->files, l->addr);
		if (file != NULL && l->addr + l->len > file->end)
			file = NULL;
		v = r->vma.n == 0 ? NULL : &r->vma.v[r->vma.n - 1];
		if (v != NULL && continues(r, v, l, file, last)) {
			v->end += l->len;
			if (*v->name != '\0' || *special_name(r, l) == '\0')
				continue;
			free(v->name);
			if ((v->name = str_dup(special_name(r, l))) == NULL)
				return -1;
			continue;
		}
		names += file == NULL ? 0 : strlen(file->name);
		if (names > MAX_NAMES)
			return errstr_set("NT_FILE: the names take more "
			    "than %d bytes", MAX_NAMES);
		if (add_mapping(r, l, file) == -1)
			return -1;
	}
	return 0;
}
