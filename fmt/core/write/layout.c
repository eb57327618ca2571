/*
 * Lay out a process as an ELF core (core(5), elf(5)) as the kernel writes it
 * (fs/binfmt_elf.c), and make it while it is read.
 *
 *	ELF header
 *	program headers		PT_NOTE, then one or more PT_LOADs a mapping
 *	section header		only with 65535 program headers or more
 *	notes
 *	zeros			up to a page boundary
 *	memory			segments whose p_filesz is not 0
 *
 * All but the memory is kept in a buffer. For the memory there is a list of
 * captured parts, with their offsets in the core and their addresses; zeros are
 * between them.
 */
#include "bisect.h"
#include "write.h"
#include "vec.h"
#include "model.h"

#include <elf.h>
#include <unistd.h>

enum { HOLE = HOLE_KB * KB };	/* minimum hole size in bytes */

static uint64_t
page_up(uint64_t v, uint64_t page)
{
	return (v + page - 1) & ~(page - 1);
}

/*
 * Return the size of the headers in bytes, without the notes.
 */
static uint64_t
headers_size(const struct machine *a, size_t nload)
{
	bool wide = a->word == 8;
	uint64_t n;

	n = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	n += (nload + 1) * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	if (nload + 1 >= PN_XNUM)
		n += wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	return n;
}

static void
elf_header(struct buf *b, const struct machine *a, size_t nload)
{
	uint8_t ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
	    ELFCLASS32, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE };
	bool wide = a->word == 8, many = nload + 1 >= PN_XNUM;
	size_t ehsize, phsize, shsize;

	ehsize = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	phsize = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	shsize = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (wide)
		ident[EI_CLASS] = ELFCLASS64;
	buf_add(b, ident, sizeof ident);
	num_add(b, ET_CORE, 2);
	num_add(b, a->elf, 2);
	num_add(b, EV_CURRENT, 4);
	num_add(b, 0, a->word);			/* e_entry */
	num_add(b, ehsize, a->word);		/* e_phoff */
	num_add(b, many ? ehsize + (nload + 1) * phsize : 0, a->word);
	num_add(b, 0, 4);			/* e_flags */
	num_add(b, ehsize, 2);
	num_add(b, phsize, 2);
	num_add(b, many ? PN_XNUM : nload + 1, 2);
	num_add(b, many ? shsize : 0, 2);
	num_add(b, many, 2);
	num_add(b, SHN_UNDEF, 2);
}

static void
program_header(struct buf *b, const struct machine *a, uint32_t type,
    uint32_t flags, const struct coreload *l, uint64_t align)
{
	num_add(b, type, 4);
	if (a->word == 8)
		num_add(b, flags, 4);
	num_add(b, l->off, a->word);
	num_add(b, l->addr, a->word);
	num_add(b, 0, a->word);			/* p_paddr */
	num_add(b, l->filesz, a->word);
	num_add(b, l->memsz, a->word);
	if (a->word == 4)
		num_add(b, flags, 4);
	num_add(b, align, a->word);
}

/*
 * Append the section header of a core with more program headers than the ELF
 * header can count. The section header holds their number.
 */
static void
section_header(struct buf *b, const struct machine *a, size_t nload)
{
	size_t i;

	num_add(b, 0, 4);			/* sh_name */
	num_add(b, SHT_NULL, 4);
	for (i = 0; i < 3; i++) /* sh_flags, sh_addr, sh_offset */
		num_add(b, 0, a->word);
	num_add(b, 1, a->word);			/* sh_size holds e_shnum */
	num_add(b, SHN_UNDEF, 4);		/* sh_link holds e_shstrndx */
	num_add(b, nload + 1, 4);		/* sh_info holds e_phnum */
	num_add(b, 0, a->word);
	num_add(b, 0, a->word);
}

static void
headers_add(struct buf *b, const struct corethreads *t,
    const struct coreloads *l, size_t notes)
{
	const struct machine *a = t->arch;
	struct coreload note = { .filesz = notes,
	    .off = headers_size(a, l->nload) };
	uint32_t flags;
	size_t i;

	elf_header(b, a, l->nload);
	program_header(b, a, PT_NOTE, 0, &note, 4);
	for (i = 0; i < l->nload; i++) {
		flags = l->load[i].flags & VMA_READ ? PF_R : 0;
		flags |= l->load[i].flags & VMA_WRITE ? PF_W : 0;
		flags |= l->load[i].flags & VMA_EXEC ? PF_X : 0;
		program_header(b, a, PT_LOAD, flags, &l->load[i], t->page);
	}
	if (l->nload + 1 >= PN_XNUM)
		section_header(b, a, l->nload);
}

/*
 * Set the file offset of each segment and part of the core. off is the size of
 * the headers and notes, which come first. The offset and the address of a
 * segment are equal modulo the page size, as elf(5) requires.
 */
static int
core_place(struct core *c, const struct machine *a, struct coreloads *l,
    uint64_t off)
{
	uint64_t most, end;
	struct coreload *p;
	size_t i;

	most = a->word == 8 ? INT64_MAX - (MAX_MACHINE_PAGE - 1) : UINT32_MAX;
	c->size = off;
	for (i = 0; i < l->nload; i++) {
		p = &l->load[i];
		p->off = off = page_up(off, c->page);
		if (p->filesz > 0)
			p->off += p->addr % c->page;
		if (__builtin_add_overflow(p->off, p->filesz, &end) ||
		    end > most)
			return errstr_set("its core would be larger than "
			    "%ju bytes", (uintmax_t)most);
		if (a->word == 4 && p->addr + (p->memsz - 1) > UINT32_MAX)
			return errstr_set("the mapping at %jx ends beyond "
			    "2^32, but the registers are 32-bit",
			    (uintmax_t)p->addr);
		if (p->filesz > 0)
			off = c->size = end;
	}
	for (i = 0; i < l->npart; i++) {
		p = &l->load[l->part[i].off];
		l->part[i].off = p->off + (l->part[i].addr - p->addr);
	}
	return 0;
}

/*
 * Record a hole in c for the zeros from offset start up to offset end of the
 * core, if they are long enough.
 */
static int
hole_add(struct core *c, uint64_t start, uint64_t end)
{
	start = page_up(start, c->page);
	if (end != c->size)
		end -= end % c->page;
	if (end < start || end - start < HOLE)
		return 0;
	return VEC_ADD(c->hole, c->nhole, (struct hole){ start, end });
}

/*
 * Add the holes of captured part p to c. On entry, *zero is the offset at which
 * the zeros directly before p begin; on return, it is where the zeros at the
 * end of p begin.
 */
static int
part_holes(struct core *c, const struct corepart *p, uint64_t *zero)
{
	const struct segment *s;
	const struct extent *e;
	struct zeros h;
	uint64_t at, first, end, tail, to;

	s = image_find(c->mem, p->addr)->seg;
	first = p->addr - s->base;	/* p covers segment s from "first" to
					   "end" */
	end = first + p->len;
	if ((e = segment_extent(s, (end - 1) / KB)) == NULL)
		return -1;
	tail = e->src == NULL ? e->kb * KB : end;
	if ((e = segment_extent(s, first / KB)) == NULL)
		return -1;
	at = e->src == NULL ? (e->kb + e->n) * KB : first;
	while (at < end) {
		if (hole_add(c, *zero, p->off + (at - first)) == -1)
			return -1;
		to = segment_zeros(s, at / KB, (tail + KB - 1) / KB, &h) &&
		    h.kb * KB < tail ? h.kb * KB : tail;
		*zero = p->off + ((to < at ? at : to) - first);
		at = to < tail ? h.end * KB : end;
	}
	return 0;
}

static int
core_holes(struct core *c)
{
	uint64_t zero;
	size_t i;

	zero = c->head.len;
	for (i = 0; i < c->npart; i++)
		if (part_holes(c, &c->part[i], &zero) == -1)
			return -1;
	return hole_add(c, zero, c->size);
}

/*
 * Lay out c, the core of process p. t has the threads of p, and v its mappings.
 */
static int
core_layout(struct core *c, const struct corethreads *t, struct snap *s,
    struct proc *p, const struct vmas *v)
{
	struct coreloads l = { 0 };
	struct buf notes = { 0 };
	int rc;

	(void)s;
	rc = -1;
	c->page = t->page;
	if (coreloads_make(&l, p->mem, v) == -1 ||
	    corenote_add(&notes, t, p, v) == -1)
		goto out;
	if (l.nload >= UINT32_MAX - 1) {
		errstr_set("too many segments: %zu", l.nload);
		goto out;
	}
	if (core_place(c, t->arch, &l, headers_size(t->arch, l.nload) +
	    notes.len) == -1)
		goto out;
	headers_add(&c->head, t, &l, notes.len);
	buf_add(&c->head, notes.data, notes.len);
	if (buf_check(&c->head) == -1)
		goto out;
	c->mem = p->mem;
	c->part = l.part;
	c->npart = l.npart;
	l.part = NULL;
	rc = 0;
out:
	free(l.load);
	free(l.part);
	buf_free(&notes);
	return rc;
}

/*
 * Build a core or minidump of process p of s, with all its threads that have
 * registers, as layout() lays it out. Return it as core_new() does.
 */
struct core *
core_build(struct snap *s, struct proc *p, core_layout_fn *layout)
{
	struct corethreads t = { 0 };
	struct vmas v = { 0 };
	struct core *c;

	if ((c = mem_new(1, sizeof *c)) == NULL)
		return NULL;
	if (corethreads_find(&t, s, p) == -1 || proc_vmas(p, &v) == -1 ||
	    layout(c, &t, s, p, &v) == -1 || core_holes(c) == -1) {
		errstr_wrap("process %ju", (uintmax_t)p->pid);
		core_free(c);
		c = NULL;
	} else
		c->left = t.left;
	vmas_free(&v);
	free(t.p);
	return c;
}

/*
 * Build the core of process p of s, with all its threads that have registers. p
 * must be neither a thread nor an embedded file. The snapshot must not change
 * while the core exists. Several threads may read one core at a time. Return
 * the core. Return NULL with errstr set on failure, for example if p has no
 * registers.
 */
struct core *
core_new(struct snap *s, struct proc *p)
{
	return core_build(s, p, core_layout);
}

/*
 * Free core c, which may be NULL.
 */
void
core_free(struct core *c)
{
	if (c == NULL)
		return;
	buf_free(&c->head);
	free(c->part);
	free(c->hole);
	free(c);
}

/*
 * Return the length of core c in bytes, holes included.
 */
uint64_t
core_size(const struct core *c)
{
	return c->size;
}

/*
 * Return the number of live threads that are not in core c because the snapshot
 * does not have their registers.
 */
size_t
core_left(const struct core *c)
{
	return c->left;
}

/*
 * Return the index of the first part that ends after offset off, or c->npart.
 */
static size_t
part_find(const struct core *c, uint64_t off)
{
	return BISECT_WHILE(i, c->npart,
	    c->part[i].off + c->part[i].len <= off);
}

/*
 * Read len bytes of core c at offset off into buf. Return the number of bytes
 * read, which is less than len at the end of the core, and before bytes that
 * cannot be read. Return -1 with errstr set if the first byte cannot be read.
 */
ssize_t
core_pread(struct core *c, void *buf, size_t len, uint64_t off)
{
	const struct corepart *p, *end;
	uint8_t *out;
	uint64_t n;
	ssize_t got;

	if (len > SSIZE_MAX)
		len = SSIZE_MAX;
	if (off >= c->size)
		return 0;
	if (len > c->size - off)
		len = (size_t)(c->size - off);
	p = c->npart == 0 ? NULL : c->part + part_find(c, off);
	end = c->npart == 0 ? NULL : c->part + c->npart;
	for (out = buf; len > 0; out += n, off += n, len -= (size_t)n) {
		if (off < c->head.len) {
			n = c->head.len - off;
			n = n < len ? n : len;
			memcpy(out, c->head.data + off, (size_t)n);
		} else if (p == end || off < p->off) {
			n = p == end ? len : p->off - off;
			n = n < len ? n : len;
			memset(out, 0, (size_t)n);
		} else {
			n = p->off + p->len - off;
			n = n < len ? n : len;
			got = image_readsome(c->mem, p->addr + (off - p->off),
			    out, (size_t)n);
			if (got == -1)
				return out > (uint8_t *)buf ?
				    out - (uint8_t *)buf : -1;
			n = (uint64_t)got;
			if (off + n == p->off + p->len)
				p++;
		}
	}
	return (ssize_t)(out - (uint8_t *)buf);
}

/*
 * Return the offset of the next data or hole of core c at or after off, as
 * lseek(2) does. whence is SEEK_DATA for data, or SEEK_HOLE for a hole. Return
 * -1 with errstr set if off is at or after the end or, for SEEK_DATA, if no
 * more data follows.
 */
int64_t
core_seek(const struct core *c, uint64_t off, int whence)
{
	size_t i;

	if (off >= c->size)
		return errstr_set("byte %ju is past the end",
		    (uintmax_t)off);
	i = BISECT(c->hole, c->nhole, end, off);
	/* hole i is the first that ends after off, or i == c->nhole */
	if (whence == SEEK_HOLE) {
		if (i == c->nhole)
			return (int64_t)c->size;
		return (int64_t)(c->hole[i].start > off ?
		    c->hole[i].start : off);
	}
	if (i == c->nhole || off < c->hole[i].start)
		return (int64_t)off;
	if (c->hole[i].end == c->size)
		return errstr_set("no data after byte %ju", (uintmax_t)off);
	return (int64_t)c->hole[i].end;
}
