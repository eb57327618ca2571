/*
 * The build ID of an ELF file, a note written by the linker (ld(1),
 * --build-id), and the permissions of its segments. Both are read from the
 * beginning of the file, or of memory that it was mapped into. elf(5).
 */
#include "elf.h"
#include "num.h"

#include <elf.h>

/*
 * Set *b to the build ID among the notes in the n bytes at p (see "Notes
 * (Nhdr)" in elf(5)). Return false if there is none.
 */
static bool
find_note(struct buildid *b, const uint8_t *p, size_t n, bool big)
{
	size_t namesz, descsz, name, type;

	while (n >= sizeof(Elf64_Nhdr)) {
		namesz = (size_t)num_order(p, 4, big);
		descsz = (size_t)num_order(p + 4, 4, big);
		type = (size_t)num_order(p + 8, 4, big);
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
 * Set *b to the build ID of the ELF file whose first n bytes are at p. Set
 * b->len to 0 if the file has none. Return 0, or -1 with errstr set if it is
 * not an ELF file.
 */
int
buildid_parse(struct buildid *b, const uint8_t *p, size_t n)
{
	struct elfhead h;
	struct elfphdr ph;
	size_t i;

	b->len = 0;
	if (!elfhead_open(&h, p, n))
		return errstr_set("not an ELF file");
	for (i = 0; elfhead_phdr(&h, i, &ph); i++) {
		if (ph.type != PT_NOTE || ph.off >= n)
			continue;
		if (ph.filesz > n - ph.off)
			ph.filesz = n - ph.off;
		if (find_note(b, p + ph.off, (size_t)ph.filesz, h.big))
			break;
	}
	return 0;
}

/*
 * Return true if build IDs a and b exist and are identical.
 */
bool
buildid_same(const struct buildid *a, const struct buildid *b)
{
	return a->len > 0 && a->len == b->len &&
	    memcmp(a->id, b->id, a->len) == 0;
}

/*
 * Return the permissions that the page at offset off of an ELF file has when
 * the file is run. They are bits of enum vma_flag. p points to the first n
 * bytes of the file, and page is the page size in bytes. Return 0 if that page
 * is not mapped.
 */
unsigned int
elf_perms(const uint8_t *p, size_t n, uint64_t page, uint64_t off)
{
	struct elfhead h;
	struct elfphdr ph;
	size_t i;

	if (!elfhead_open(&h, p, n))
		return 0;
	for (i = 0; elfhead_phdr(&h, i, &ph); i++)
		if (ph.type == PT_LOAD && off >= ph.off - ph.off % page &&
		    off - (ph.off - ph.off % page) < ph.filesz +
		    ph.off % page)
			return (ph.flags & PF_R ? VMA_READ : 0U) |
			    (ph.flags & PF_W ? VMA_WRITE : 0U) |
			    (ph.flags & PF_X ? VMA_EXEC : 0U);
	return 0;
}
