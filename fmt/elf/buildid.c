/*
 * What the head of an ELF file tells, whether read from the file or from
 * memory that it was mapped into: its build id, a note of the linker's
 * (ld(1), --build-id), and the permissions of its segments.  elf(5).
 */
#include "core/read/read.h"
#include "elf.h"
#include "space.h"

#include <elf.h>
#include <string.h>

struct head {			/* of an ELF file, little-endian */
	const uint8_t	*p;	/* borrowed */
	size_t		 n;
	size_t		 wide;	/* 4 or 8 */
	uint64_t	 phoff;
	size_t		 phnum;
};

struct phdr {
	uint32_t	 type;
	uint32_t	 flags;
	uint64_t	 off;
	uint64_t	 filesz;
};

static bool
head_open(struct head *h, const uint8_t *p, size_t n)
{
	size_t ent;

	if (n < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 ||
	    p[EI_DATA] != ELFDATA2LSB)
		return false;
	h->p = p;
	h->n = n;
	if (p[EI_CLASS] == ELFCLASS64) {
		h->wide = 8;
		h->phoff = num_get(p + offsetof(Elf64_Ehdr, e_phoff), 8);
		h->phnum = num_get(p + offsetof(Elf64_Ehdr, e_phnum), 2);
		ent = num_get(p + offsetof(Elf64_Ehdr, e_phentsize), 2);
		return ent == sizeof(Elf64_Phdr);
	}
	h->wide = 4;
	h->phoff = num_get(p + offsetof(Elf32_Ehdr, e_phoff), 4);
	h->phnum = num_get(p + offsetof(Elf32_Ehdr, e_phnum), 2);
	ent = num_get(p + offsetof(Elf32_Ehdr, e_phentsize), 2);
	return p[EI_CLASS] == ELFCLASS32 && ent == sizeof(Elf32_Phdr);
}

/*
 * The i-th program header, if the head has it.
 */
static bool
head_phdr(const struct head *h, size_t i, struct phdr *ph)
{
	const uint8_t *p;
	size_t size, w;

	w = h->wide;
	size = w == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (i >= h->phnum || h->phoff > h->n ||
	    (h->n - h->phoff) / size <= i)
		return false;
	p = h->p + h->phoff + i * size;
	ph->type = (uint32_t)num_get(p, 4);
	ph->flags = (uint32_t)num_get(p + (w == 8 ?
	    offsetof(Elf64_Phdr, p_flags) : offsetof(Elf32_Phdr, p_flags)),
	    4);
	ph->off = num_get(p + (w == 8 ? offsetof(Elf64_Phdr, p_offset) :
	    offsetof(Elf32_Phdr, p_offset)), w);
	ph->filesz = num_get(p + (w == 8 ? offsetof(Elf64_Phdr, p_filesz) :
	    offsetof(Elf32_Phdr, p_filesz)), w);
	return true;
}

/*
 * Look for the build id among notes: elf(5), "Notes (Nhdr)".
 */
static bool
find_note(struct buildid *b, const uint8_t *p, size_t n)
{
	size_t namesz, descsz, name, type;

	while (n >= sizeof(Elf64_Nhdr)) {
		namesz = num_get(p, 4);
		descsz = num_get(p + 4, 4);
		type = num_get(p + 8, 4);
		p += sizeof(Elf64_Nhdr);
		n -= sizeof(Elf64_Nhdr);
		name = (namesz + 3) & ~(size_t)3;
		if (name > n || descsz > n - name)
			return false;
		if (type == NT_GNU_BUILD_ID && namesz == sizeof ELF_NOTE_GNU &&
		    memcmp(p, ELF_NOTE_GNU, namesz) == 0 && descsz > 0 &&
		    descsz <= sizeof b->id) {
			memcpy(b->id, p + name, descsz);
			b->len = descsz;
			return true;
		}
		descsz = (descsz + 3) & ~(size_t)3;
		if (descsz > n - name)
			return false;
		p += name + descsz;
		n -= name + descsz;
	}
	return false;
}

/*
 * Find the build id in the first n bytes of an ELF file: 0, with a length
 * of 0 if it is not there, or -1 where that is no ELF file.
 */
int
buildid_parse(struct buildid *b, const uint8_t *p, size_t n)
{
	struct head h;
	struct phdr ph;
	size_t i;

	b->len = 0;
	if (!head_open(&h, p, n))
		return errstr_set("not an ELF file");
	for (i = 0; head_phdr(&h, i, &ph); i++) {
		if (ph.type != PT_NOTE || ph.off >= n)
			continue;
		if (ph.filesz > n - ph.off)
			ph.filesz = n - ph.off;
		if (find_note(b, p + ph.off, (size_t)ph.filesz))
			break;
	}
	return 0;
}

/*
 * Are two build ids there and the same?
 */
bool
buildid_same(const struct buildid *a, const struct buildid *b)
{
	return a->len > 0 && a->len == b->len &&
	    memcmp(a->id, b->id, a->len) == 0;
}

/*
 * The permissions, of enum vma_flag, with which the page at an offset of an
 * ELF file is mapped when it is run, by its first n bytes; 0 if it is not.
 */
unsigned int
elf_perms(const uint8_t *p, size_t n, uint64_t off)
{
	enum { PAGE = 4096 };
	struct head h;
	struct phdr ph;
	size_t i;

	if (!head_open(&h, p, n))
		return 0;
	for (i = 0; head_phdr(&h, i, &ph); i++)
		if (ph.type == PT_LOAD && off >= ph.off / PAGE * PAGE &&
		    off - ph.off / PAGE * PAGE < ph.filesz + ph.off % PAGE)
			return (ph.flags & PF_R ? VMA_READ : 0U) |
			    (ph.flags & PF_W ? VMA_WRITE : 0U) |
			    (ph.flags & PF_X ? VMA_EXEC : 0U);
	return 0;
}
