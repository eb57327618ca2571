/*
 * Symbols of an ELF file, found by offset in the file, which is what mappings
 * of the file give.
 */
#include "elf.h"
#include "bisect.h"
#include "io/io.h"
#include "trace.h"
#include "vec.h"

#include <gelf.h>
#include <libelf.h>

#include <unistd.h>

enum {
	MAX_NAME = 255,	/* length in bytes to which longer symbol names are
			   cut */
	MAX_TABLE = 1 << 28,	/* maximum size of a symbol or string table, in
				   bytes */
	MAX_NAMES = 1 << 28,	/* maximum sum of the lengths of symbol names,
				   which may be the same bytes of the file */
	MAX_LOADS = 256		/* segments to read */
};

struct elfsym {
	uint64_t	 start;	/* offset of the symbol in the file */
	uint64_t	 end;	/* end offset, exclusive; equals "start" if the
				   symbol's size is unknown */
	char		*name;	/* owned */
};

struct elfload {		/* a segment: a part of the file, and the
				   address at which it is loaded */
	uint64_t	 addr;
	uint64_t	 off;
	uint64_t	 size;
};

struct elfsyms {
	struct elfload	*load;	/* owned */
	size_t		 nload;
	struct elfsym	*sym;	/* owned; sorted by start */
	size_t		 n;
	size_t		 names;	/* sum of the lengths of names, in bytes */
};

static int
loads_read(struct elfsyms *s, Elf *elf)
{
	GElf_Phdr ph;
	size_t i, n;

	if (elf_getphdrnum(elf, &n) == -1)
		return errstr_set("ELF: %s", elf_errmsg(-1));
	/* The first gelf_getphdr() reads all of them. */
	if (n > UINT16_MAX)
		return errstr_set("ELF: too many program headers: %zu", n);
	for (i = 0; i < n && s->nload < MAX_LOADS; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL)
			return errstr_set("ELF: %s", elf_errmsg(-1));
		if (ph.p_type != PT_LOAD)
			continue;
		if (VEC_ADD(s->load, s->nload, (struct elfload){ ph.p_vaddr,
		    ph.p_offset, ph.p_filesz }) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set *off to the file offset of the byte that is loaded at address addr.
 * Return false if the file does not have that byte.
 */
static bool
addr_offset(const struct elfsyms *s, uint64_t addr, uint64_t *off)
{
	const struct elfload *p;

	p = SEEK(s->load, s->nload, addr >= x->addr &&
	    addr - x->addr < x->size);
	if (p != NULL)
		*off = addr - p->addr + p->off;
	return p != NULL;
}

static int
sym_add(struct elfsyms *s, const GElf_Sym *sym, const char *name)
{
	struct elfsym *p;
	uint64_t off;

	if (name == NULL || *name == '\0' ||
	    !addr_offset(s, sym->st_value, &off) || s->names > MAX_NAMES)
		return 0;
	if (VEC_ROOM(s->sym, s->n) == -1)
		return -1;
	p = &s->sym[s->n];
	p->start = off;
	if (__builtin_add_overflow(off, sym->st_size, &p->end))
		p->end = off;
	if ((p->name = strndup(name, MAX_NAME)) == NULL)
		return errstr_set("out of memory");
	s->names += strlen(p->name);
	s->n++;
	return 0;
}

/*
 * Add the functions of a symbol table to s. If the table or its names are too
 * large, add none.
 */
static int
table_read(struct elfsyms *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d;
	GElf_Shdr names;
	GElf_Sym sym;
	size_t i, n;
	int type;

	if (sh->sh_size > MAX_TABLE || gelf_getshdr(elf_getscn(elf,
	    sh->sh_link), &names) == NULL || names.sh_size > MAX_TABLE)
		return 0;
	d = elf_getdata(scn, NULL);
	if (d == NULL || sh->sh_entsize == 0)
		return 0;
	n = (size_t)(d->d_size / sh->sh_entsize);
	for (i = 0; i < n && i < INT32_MAX; i++) {
		if (gelf_getsym(d, (int)i, &sym) == NULL)
			break;
		type = GELF_ST_TYPE(sym.st_info);
		if (sym.st_shndx == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		if (sym_add(s, &sym, elf_strptr(elf, sh->sh_link,
		    sym.st_name)) == -1)
			return -1;
	}
	return 0;
}

/*
 * Read all functions into s from the first .symtab, or from the first .dynsym
 * if .symtab is missing or empty.
 */
static int
syms_read(struct elfsyms *s, Elf *elf)
{
	static const uint32_t kind[] = { SHT_SYMTAB, SHT_DYNSYM };
	Elf_Scn *scn;
	GElf_Shdr sh;
	size_t i;

	for (i = 0; i < sizeof kind / sizeof *kind && s->n == 0; i++)
		for (scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;)
			if (gelf_getshdr(scn, &sh) != NULL &&
			    sh.sh_type == kind[i]) {
				if (table_read(s, elf, scn, &sh) == -1)
					return -1;
				break;
			}
	return 0;
}

/*
 * Sort by start address. elfsyms_find() takes the last of several symbols with
 * the same start: the longest, and of its names the alphabetically first.
 */
CMP_BY(sym_cmp, struct elfsym, ORDER(x->start, y->start) != 0 ?
    ORDER(x->start, y->start) : ORDER(x->end, y->end) != 0 ?
    ORDER(x->end, y->end) : strcmp(y->name, x->name))

/*
 * Return the function symbols of the ELF file open as descriptor fd, which
 * stays open. Return NULL with errstr set if it is not an ELF file, or on any
 * other failure.
 */
struct elfsyms *
elfsyms_read(int fd)
{
	struct elfsyms *s;
	Elf *elf;

	if (elf_sections(fd) == -1)
		return NULL;
	elf_version(EV_CURRENT);
	if ((elf = elf_begin(fd, ELF_C_READ, NULL)) == NULL ||
	    elf_kind(elf) != ELF_K_ELF) {
		errstr_set("not an ELF file");
		elf_end(elf);
		return NULL;
	}
	if ((s = calloc(1, sizeof *s)) == NULL)
		errstr_set("out of memory");
	else if (loads_read(s, elf) == -1 || syms_read(s, elf) == -1) {
		elfsyms_free(s);
		s = NULL;
	} else
		SORT(s->sym, s->n, sym_cmp);
	elf_end(elf);
	return s;
}

/*
 * Return the function symbols of the file at path. The file must be regular and
 * have inode number ino. Return NULL with errstr set if the inode number
 * differs, if the file is not an ELF file, or on any other failure.
 */
struct elfsyms *
elfsyms_open(const char *path, uint64_t ino)
{
	struct elfsyms *s = NULL;
	struct stat st;
	int fd;

	if ((fd = regular_open(path)) == -1)
		return NULL;
	if (fstat(fd, &st) == -1 || (uint64_t)st.st_ino != ino)
		errstr_set("%s was replaced by another file", path);
	else
		s = elfsyms_read(fd);
	close(fd);
	return s;
}

/*
 * Return the name of the function of s that contains offset off of the file.
 * Set *into to the offset within the function. Return NULL if no function
 * contains off.
 */
const char *
elfsyms_find(const struct elfsyms *s, uint64_t off, uint64_t *into)
{
	const struct elfsym *p;
	size_t i;

	i = BISECT(s->sym, s->n, start, off);
	if (i == 0)
		return NULL;
	p = &s->sym[i - 1];
	if (p->end != p->start && off >= p->end)
		return NULL;
	*into = off - p->start;
	return p->name;
}

/*
 * Free s, which may be NULL.
 */
void
elfsyms_free(struct elfsyms *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n; i++)
		free(s->sym[i].name);
	free(s->sym);
	free(s->load);
	free(s);
}
