/*
 * Find names of mappings and instructions: symbols of the kernel from
 * /proc/kallsyms, others from the ELF files mapped, if these are still the same
 * files.
 */
#include "vmtrace.h"
#include "bisect.h"

struct symfile {
	char		*name;	/* owned */
	uint64_t	 ino;
	struct elfsyms	*syms;	/* owned; NULL: none */
};

static struct symfile *file;	/* owned array of files opened so far */
static size_t nfile;
static struct ksyms ksyms;
static bool ksyms_tried;

/*
 * Return the name of mapping v, or "anon" if it has none.
 */
const char *
vma_label(const struct vma *v)
{
	return *v->name == '\0' ? "anon" : v->name;
}

/*
 * Write kernel address addr as "NAME+0xN" to s, which has room for size bytes.
 * Write "" if the kernel's symbols are hidden. Return s.
 */
const char *
kernel_name(uint64_t addr, char *s, size_t size)
{
	const struct ksym *k;

	if (!ksyms_tried)
		(void)ksyms_load(&ksyms, "/proc/kallsyms");
	ksyms_tried = true;
	*s = '\0';
	if ((k = ksyms_find(&ksyms, addr)) != NULL)
		snprintf(s, size, "%s+0x%jx", k->name,
		    (uintmax_t)(addr - k->addr));
	return s;
}

static const struct elfsyms *
syms_get(const struct row *r)
{
	struct symfile *p;

	p = SEEK(file, nfile, x->ino == r->ino &&
	    strcmp(x->name, r->name) == 0);
	if (p != NULL)
		return p->syms;
	MUST_ROOM(file, nfile);
	p = &file[nfile++];
	p->name = must(str_dup(r->name));
	p->ino = r->ino;
	p->syms = elfsyms_open(r->name, r->ino);
	return p->syms;
}

/*
 * Write the name of the instruction at offset r->num of file r->name as
 * "NAME+0xN" to s, which has room for size bytes. Write "" if the instruction
 * has no symbol. Return s.
 */
const char *
symbol_name(const struct row *r, char *s, size_t size)
{
	const struct elfsyms *syms;
	const char *name;
	uint64_t into;

	*s = '\0';
	if ((syms = syms_get(r)) != NULL &&
	    (name = elfsyms_find(syms, r->num, &into)) != NULL)
		snprintf(s, size, "%s+0x%jx", name, (uintmax_t)into);
	return s;
}
