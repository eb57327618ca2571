/*
 * Find the files that the process of a core had mapped, if this machine has
 * them unchanged: the build ID in the file must equal that in the memory to
 * which it was mapped. The executable becomes the text image; the others are
 * embedded in the snapshot.
 */
#include "bisect.h"
#include "elf/elf.h"
#include "read.h"
#include "vec.h"

#include <elf.h>
#include <unistd.h>

enum { HEAD = 65536 };		/* number of bytes to read at the start of a
				   file to find its notes */

CMP_BY(mapped_cmp, struct mapped, strcmp(x->name, y->name) != 0 ?
    strcmp(x->name, y->name) : ORDER(x->addr, y->addr))

static struct mapped *
mapped_find(const struct corereader *r, const char *name)
{
	size_t at;

	at = BISECT_WHILE(i, r->nmapped, strcmp(r->mapped[i].name, name) < 0);
	return at < r->nmapped && strcmp(r->mapped[at].name, name) == 0 ?
	    &r->mapped[at] : NULL;
}

/*
 * Return a source of the mapped file called name, or NULL if this machine does
 * not have the file unchanged.
 */
struct source *
core_mapped(const struct corereader *r, const char *name)
{
	const struct mapped *m;

	m = *name == '/' ? mapped_find(r, name) : NULL;
	return m == NULL ? NULL : m->src;
}

/*
 * Set *id to the build ID of the file mapped at addr, as read from the memory
 * in the core. Return false if the memory at addr is not the start of an ELF
 * file.
 */
static bool
id_of_memory(const struct corereader *r, uint64_t addr, struct buildid *id)
{
	uint8_t head[4096];
	size_t n;

	n = elfcore_peek(r, addr, head, sizeof head);
	return buildid_parse(id, head, n) == 0;
}

/*
 * Read up to HEAD bytes from the start of file src into r->head.
 */
static int
read_head(struct corereader *r, struct source *src)
{
	ssize_t n;

	if (r->headsrc == src)
		return 0;
	if (r->head == NULL && (r->head = malloc(HEAD)) == NULL)
		return errstr_set("out of memory");
	n = pread(source_fd(src), r->head, HEAD, 0);
	r->nhead = n < 0 ? 0 : (size_t)n;
	r->headsrc = src;
	return 0;
}

static bool
id_of_file(struct corereader *r, struct source *src, struct buildid *id)
{
	return read_head(r, src) == 0 &&
	    buildid_parse(id, r->head, r->nhead) == 0;
}

/*
 * Open the file at path if its build ID equals *mem. Return NULL with errstr
 * set if it has another build ID or cannot be opened.
 */
static struct source *
open_same(struct corereader *r, const char *path, const struct buildid *mem)
{
	struct buildid file;
	struct source *src;
	uint32_t n;

	n = r->snap->nsource;
	if ((src = source_open(r->snap, path)) == NULL)
		return NULL;
	if (id_of_file(r, src, &file) && buildid_same(mem, &file))
		return src;
	errstr_set("%s: its build ID differs from that in the core", path);
	r->headsrc = NULL;
	if (r->snap->nsource > n)
		source_drop(r->snap);
	return NULL;
}

/*
 * List in r->mapped, without duplicates, the ELF files whose first byte is
 * mapped.
 */
static int
list_mapped(struct corereader *r)
{
	struct buildid id;
	struct mapped *m;
	const struct vma *v;
	size_t i, n;

	if ((m = r->mapped = mem_new(r->vma.n + 1, sizeof *m)) == NULL)
		return -1;
	for (i = n = 0; i < r->vma.n; i++) {
		v = &r->vma.v[i];
		if (*v->name == '/' && v->off == 0 &&
		    id_of_memory(r, v->start, &id))
			m[n++] = (struct mapped){ v->name, v->start, NULL };
	}
	SORT(m, n, mapped_cmp);
	for (i = 0; i < n; i++)
		if (i == 0 || strcmp(m[i].name, m[i - 1].name) != 0)
			m[r->nmapped++] = m[i];
	return 0;
}

/*
 * Set r->exe to the path of the executable. The executable is the file mapped
 * at the address of the program headers (AT_PHDR) or of the first instruction
 * (AT_ENTRY); see getauxval(3).
 */
static void
find_exe(struct corereader *r)
{
	const struct vma *v;

	v = vmas_find(&r->vma, elfcore_auxv(&r->core, AT_PHDR));
	if (v == NULL || *v->name != '/')
		v = vmas_find(&r->vma, elfcore_auxv(&r->core, AT_ENTRY));
	if (v != NULL && *v->name == '/')
		r->exe = v->name;
}

/*
 * Set *id to the build ID of the executable, read from the memory in the core.
 * Set id->len to 0 if the core lacks the build ID.
 */
static void
id_of_exe(const struct corereader *r, struct buildid *id)
{
	const struct mapped *m;
	uint64_t phdr, size;

	id->len = 0;
	if (r->exe != NULL && (m = mapped_find(r, r->exe)) != NULL) {
		(void)id_of_memory(r, m->addr, id);
		return;
	}
	/* If no file is known, look before the program headers for the ELF
	   header. */
	phdr = elfcore_auxv(&r->core, AT_PHDR);
	size = r->core.mach->word == 8 ? sizeof(Elf64_Ehdr) :
	    sizeof(Elf32_Ehdr);
	if (phdr >= size)
		(void)id_of_memory(r, phdr - size, id);
}

/*
 * Set r->text to the executable that the user named. Warn if its build ID
 * differs from that in the core, or if the two cannot be compared.
 */
static int
take_named(struct corereader *r)
{
	const char *path = r->opts->exe;
	struct buildid mem, file;
	struct mapped *m;

	if ((r->text = source_open(r->snap, path)) == NULL)
		return -1;
	id_of_exe(r, &mem);
	if (!id_of_file(r, r->text, &file))
		return errstr_set("%s: not an ELF file", path);
	if (buildid_same(&mem, &file)) {
		if (r->exe != NULL && (m = mapped_find(r, r->exe)) != NULL)
			m->src = r->text;
	} else if (mem.len > 0)
		core_warn(r, "%s is not the executable that was run: its build "
		    "ID differs", path);
	else
		core_warn(r, "%s: cannot check that this executable was run: "
		    "its build ID is not in the core", path);
	return 0;
}

/*
 * Set r->text to the executable at its recorded path. Warn if that file cannot
 * be used.
 */
static void
take_found(struct corereader *r)
{
	static const char name_it[] = "name it with -e";
	struct buildid mem;
	struct mapped *m;

	id_of_exe(r, &mem);
	if (r->exe == NULL)
		core_warn(r, "the core does not name the executable; "
		    "%s", name_it);
	else if (mem.len == 0)
		core_warn(r, "the build ID of the executable %s is not in the "
		    "core; %s", r->exe, name_it);
	else if ((r->text = open_same(r, r->exe, &mem)) == NULL)
		core_warn(r, "the executable is not included: %s; %s",
		    snap_errstr(), name_it);
	else if ((m = mapped_find(r, r->exe)) != NULL)
		m->src = r->text;
}

/*
 * Find the files on this machine that the process of r had mapped. Return 0, or
 * -1 with errstr set.
 */
int
core_files(struct corereader *r)
{
	struct buildid mem;
	struct source *src;
	struct mapped *m;
	const char *first;
	size_t i, n;

	if (list_mapped(r) == -1)
		return -1;
	find_exe(r);
	if (r->opts->exe == NULL)
		take_found(r);
	else if (take_named(r) == -1)
		return -1;
	first = NULL;
	for (i = n = 0; i < r->nmapped; i++) {
		m = &r->mapped[i];
		if (r->exe != NULL && strcmp(m->name, r->exe) == 0)
			continue;
		if (id_of_memory(r, m->addr, &mem) && mem.len > 0 &&
		    (src = open_same(r, m->name, &mem)) != NULL)
			m->src = src;
		else if (n++ == 0)
			first = m->name;
	}
	if (n > 0)
		core_warn(r, "%s missing or changed on this machine, and not "
		    "included: %s%s", n == 1 ? "a library is" :
		    "libraries are", first, n == 1 ? "" : " and others");
	return 0;
}

/*
 * Set the permissions of segment l's mapping to those that the program headers
 * of src give for file offset off. Use this for a segment known only from
 * NT_FILE, which records no permissions.
 */
void
core_perms(struct corereader *r, const struct coreseg *l,
    struct source *src, uint64_t off)
{
	unsigned int flags;
	struct vma *v;

	v = &r->vma.v[vmas_find(&r->vma, l->addr) - r->vma.v];
	flags = read_head(r, src) == -1 ? 0 :
	    elf_perms(r->head, r->nhead, r->page, off);
	if (flags != 0 && v->start == l->addr && v->end == l->addr + l->len)
		v->flags = flags;
}

/*
 * If the executable of r was found, use the whole file as the text image of the
 * process. Return 0, or -1 with errstr set.
 */
int
core_text(struct corereader *r)
{
	if (r->text == NULL || source_size(r->text) == 0)
		return 0;
	r->proc->text = image_whole(r->proc, r->text, source_size(r->text));
	return r->proc->text == NULL ? -1 : 0;
}

/*
 * Embed in the snapshot the mapped files of r that were found, except the
 * executable. Return 0, or -1 with errstr set.
 */
int
core_carry(struct corereader *r)
{
	struct vma v = { 0 };
	const struct mapped *m;
	struct proc *p;
	size_t i;

	for (i = 0; i < r->nmapped; i++) {
		m = &r->mapped[i];
		if (m->src == NULL || m->src == r->text)
			continue;
		v.name = (char *)(uintptr_t)m->name;
		p = embedded_add(r->snap, &v, m->src, source_size(m->src));
		if (p == NULL ||
		    linuxrec_pack(p, r->core.mach->name, NULL, 0) == -1)
			return -1;
	}
	return 0;
}
