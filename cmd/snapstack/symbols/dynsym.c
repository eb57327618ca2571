/*
 * Find symbols that a module exports in the memory of a process, as the dynamic
 * linker does: by the ELF header, PT_DYNAMIC and the hash table at DT_GNU_HASH.
 * The data is untrusted, so only little is read, and without a library.
 */
#include "snapstack/snapstack.h"

#include <elf.h>

enum {
	SEGMENTS = 64,		/* maximum number of program headers */
	ENTRIES = 256, /* maximum number of entries in a dynamic section */
	CHAIN = 256		/* maximum number of symbols in a hash bucket */
};

struct dynamic {
	uint64_t	 start;	/* address of the module */
	uint64_t	 bias;	/* load bias, added to the module's addresses */
	uint64_t	 hash;
	uint64_t	 symtab;
	uint64_t	 strtab;
};

/*
 * Find the dynamic section of the module whose ELF header is at address start.
 * Set *addr to the address of the section. Set *bias to the load bias of the
 * module. Return false if there is no such section.
 */
static bool
section_find(struct target *t, uint64_t start, uint64_t *bias, uint64_t *addr)
{
	uint64_t first, dynamic;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned int i;

	if (!target_read(t, start, &eh, sizeof eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	first = dynamic = UINT64_MAX;
	for (i = 0; i < eh.e_phnum && i < SEGMENTS; i++) {
		if (!target_read(t, start + eh.e_phoff + i * sizeof ph, &ph,
		    sizeof ph))
			return false;
		if (ph.p_type == PT_LOAD && first == UINT64_MAX)
			first = ph.p_vaddr - ph.p_offset;
		else if (ph.p_type == PT_DYNAMIC)
			dynamic = ph.p_vaddr;
	}
	if (first == UINT64_MAX || dynamic == UINT64_MAX)
		return false;
	*bias = start - first;
	*addr = dynamic + *bias;
	return true;
}

/*
 * Return v, an address read from the dynamic section, in relocated form. glibc
 * has relocated it already; other C libraries have not.
 */
static uint64_t
address_of(const struct dynamic *d, uint64_t v)
{
	return v < d->start ? v + d->bias : v;
}

static bool
section_read(struct dynamic *d, struct target *t, uint64_t start)
{
	uint64_t at;
	Elf64_Dyn dyn;
	unsigned int i;

	memset(d, 0, sizeof *d);
	d->start = start;
	if (!section_find(t, start, &d->bias, &at))
		return false;
	for (i = 0; i < ENTRIES; i++) {
		if (!target_read(t, at + i * sizeof dyn, &dyn, sizeof dyn) ||
		    dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_GNU_HASH)
			d->hash = address_of(d, dyn.d_un.d_ptr);
		else if (dyn.d_tag == DT_SYMTAB)
			d->symtab = address_of(d, dyn.d_un.d_ptr);
		else if (dyn.d_tag == DT_STRTAB)
			d->strtab = address_of(d, dyn.d_un.d_ptr);
	}
	return d->hash != 0 && d->symtab != 0 && d->strtab != 0;
}

/*
 * Return true if symbol i is called name and is defined. If so, set *addr to
 * its address.
 */
static bool
symbol_is(struct target *t, const struct dynamic *d, uint64_t i,
    const char *name, uint64_t *addr)
{
	const size_t len = strlen(name) + 1;
	Elf64_Sym sym;
	char found[32];

	if (len > sizeof found || !target_read(t, d->symtab + i * sizeof sym,
	    &sym, sizeof sym) || sym.st_shndx == SHN_UNDEF ||
	    !target_read(t, d->strtab + sym.st_name, found, len) ||
	    memcmp(found, name, len) != 0)
		return false;
	*addr = sym.st_value + d->bias;
	return true;
}

/*
 * Find the exported symbol called name in the module of process t whose ELF
 * header is at address start. name must have at most 31 bytes. If the symbol
 * exists, set *addr to its address and return true. Otherwise return false. See
 * bfd/elflink.c of binutils for the hash table.
 */
bool
dynsym_find(struct target *t, uint64_t start, const char *name, uint64_t *addr)
{
	enum { BUCKETS = 0, FIRST = 4, BLOOM = 8, TABLES = 16, WORD = 8 };
	uint64_t buckets, first, bloom, bucket, chain, i, h;
	struct dynamic d;
	const char *s;
	unsigned int n;
	uint32_t hash;

	for (hash = 5381, s = name; *s != '\0'; s++)
		hash = hash * 33 + (uint8_t)*s;
	if (!section_read(&d, t, start) ||
	    !target_word(t, d.hash + BUCKETS, 4, &buckets) || buckets == 0 ||
	    !target_word(t, d.hash + FIRST, 4, &first) ||
	    !target_word(t, d.hash + BLOOM, 4, &bloom))
		return false;
	bucket = d.hash + TABLES + bloom * WORD;
	chain = bucket + 4 * buckets;
	if (!target_word(t, bucket + 4 * (hash % buckets), 4, &i) ||
	    i < first)
		return false;
	for (n = 0; n < CHAIN; n++, i++) {
		if (!target_word(t, chain + 4 * (i - first), 4, &h))
			return false;
		if ((h | 1) == (hash | 1) && symbol_is(t, &d, i, name, addr))
			return true;
		if ((h & 1) != 0) /* the symbol is the last in its bucket */
			return false;
	}
	return false;
}
