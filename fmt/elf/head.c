/*
 * The ELF header and program headers, read from a file or from memory that it
 * was mapped into: elf(5).
 */
#include "elf.h"
#include "num.h"

#include <elf.h>
#include <unistd.h>

/*
 * Return the size in bytes of a program header in a 64-bit file if wide is
 * true, else in a 32-bit file.
 */
size_t
elfphdr_size(bool wide)
{
	return wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

/*
 * Set *ph to the program header at p. The header is 64-bit if wide is true,
 * else 32-bit. It is big-endian if big is true.
 */
void
elfphdr_get(struct elfphdr *ph, const uint8_t *p, bool wide, bool big)
{
	static const struct {
		uint8_t	 flags, off, addr, filesz;
	} at[] = {
		{ offsetof(Elf32_Phdr, p_flags), offsetof(Elf32_Phdr, p_offset),
		    offsetof(Elf32_Phdr, p_vaddr),
		    offsetof(Elf32_Phdr, p_filesz) },
		{ offsetof(Elf64_Phdr, p_flags), offsetof(Elf64_Phdr, p_offset),
		    offsetof(Elf64_Phdr, p_vaddr),
		    offsetof(Elf64_Phdr, p_filesz) }
	};
	size_t w = wide ? 8 : 4;

	ph->type = (uint32_t)num_order(p, 4, big);
	ph->flags = (uint32_t)num_order(p + at[wide].flags, 4, big);
	ph->off = num_order(p + at[wide].off, w, big);
	ph->addr = num_order(p + at[wide].addr, w, big);
	ph->filesz = num_order(p + at[wide].filesz, w, big);
}

/* the number of len bytes in member m of ELF header h */
#define EHDR(h, m, len)							\
	num_order((h)->p + ((h)->wide ? offsetof(Elf64_Ehdr, m) :	\
	    offsetof(Elf32_Ehdr, m)), (len), (h)->big)

/*
 * Parse the ELF header in the n bytes at p into *h. *h refers to these bytes,
 * which must outlive it. Return false if they are not the beginning of an ELF
 * file of a known kind.
 */
bool
elfhead_open(struct elfhead *h, const uint8_t *p, size_t n)
{
	size_t ent;

	if (n < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
		return false;
	h->big = p[EI_DATA] == ELFDATA2MSB;
	h->p = p;
	h->n = n;
	h->wide = p[EI_CLASS] == ELFCLASS64;
	h->phoff = EHDR(h, e_phoff, h->wide ? 8 : 4);
	h->phnum = (size_t)EHDR(h, e_phnum, 2);
	ent = (size_t)EHDR(h, e_phentsize, 2);
	return ent == elfphdr_size(h->wide) &&
	    (h->wide || p[EI_CLASS] == ELFCLASS32);
}

/*
 * Set *ph to program header i of h. Return false if the bytes of h do not
 * contain it.
 */
bool
elfhead_phdr(const struct elfhead *h, size_t i, struct elfphdr *ph)
{
	size_t size = elfphdr_size(h->wide);

	if (i >= h->phnum || h->phoff > h->n ||
	    (h->n - h->phoff) / size <= i)
		return false;
	elfphdr_get(ph, h->p + h->phoff + i * size, h->wide, h->big);
	return true;
}

/*
 * Refuse the ELF file open as descriptor fd if it has too many section headers.
 * If e_shnum is 0, the first section header holds their number, and libelf
 * would allocate memory for that many without a check. Return 0, or -1 with
 * errstr set.
 */
int
elf_sections(int fd)
{
	uint8_t p[sizeof(Elf64_Ehdr)], s[sizeof(Elf64_Shdr)];
	struct elfhead h = { .p = p };
	uint64_t off, n;
	size_t w, size;

	if (pread(fd, p, sizeof p, 0) != sizeof p)
		return errstr_set("truncated ELF header");
	h.wide = p[EI_CLASS] == ELFCLASS64;
	h.big = p[EI_DATA] == ELFDATA2MSB;
	w = h.wide ? 8 : 4;
	size = h.wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	off = EHDR(&h, e_shoff, w);
	if (off == 0 || EHDR(&h, e_shnum, 2) != 0 || off > INT64_MAX ||
	    pread(fd, s, size, (off_t)off) != (ssize_t)size)
		return 0;
	n = num_order(s + (h.wide ? offsetof(Elf64_Shdr, sh_size) :
	    offsetof(Elf32_Shdr, sh_size)), w, h.big);
	return n <= UINT16_MAX ? 0 : errstr_set("too many section headers: %ju",
	    (uintmax_t)n);
}
