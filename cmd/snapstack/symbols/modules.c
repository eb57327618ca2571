/*
 * Report the mapped files of a process to libdwfl: the ELF files in the
 * snapshot, and [vdso], which is in its memory.
 */
#include "snapstack/snapstack.h"

#include <elfutils/libdwelf.h>

#include <elf.h>
#include <unistd.h>

enum { PAGE = 4096 };		/* smallest page size of any machine */

static struct target *now;	/* process that the callbacks of libdwfl read */

/*
 * Set id to the build ID of the ELF file that begins at address addr in memory.
 * Return the length of the ID, or 0 if there is none.
 */
static size_t
id_of_memory(struct target *t, uint64_t addr, uint8_t id[64])
{
	static char head[4 * KB];
	const void *found;
	ssize_t n;
	Elf *e;

	if (!target_read(t, addr, head, sizeof head) ||
	    (e = elf_memory(head, sizeof head)) == NULL)
		return 0;
	n = dwelf_elf_gnu_build_id(e, &found);
	if (n > 0 && n <= 64)
		memcpy(id, found, (size_t)n);
	elf_end(e);
	return n > 0 && n <= 64 ? (size_t)n : 0;
}

static int
find_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
    char **path, Elf **elf)
{
	const struct vma *v;
	struct image *im;
	uint8_t id[64];
	size_t len;

	(void)m;
	(void)user;
	*elf = NULL;
	if (now != NULL && now->exe_start != 0 && base == now->exe_start) {
		*elf = elfimage_open(now->proc->text);
		return -1;
	}
	if (now == NULL || (v = vmas_find(&now->vma, base)) == NULL)
		return -1;
	if (v->name[0] != '/') {
		*elf = elfimage_memory(now, v->start, v->end);
		return -1;
	}
	if ((im = target_file(now, v)) != NULL) {
		*elf = elfimage_open(im);
		return -1;
	}
	len = id_of_memory(now, base, id);
	return len == 0 ? -1 : debugfile_open(id, len, false, name, NULL,
	    path);
}

static int
find_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
    const char *path, const char *link, GElf_Word crc, char **found)
{
	const unsigned char *id;
	GElf_Addr at;
	int n;

	(void)user;
	(void)base;
	(void)path;
	(void)crc;
	n = dwfl_module_build_id(m, &id, &at);
	return n <= 0 ? -1 : debugfile_open(id, (size_t)n, true, name, link,
	    found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

/*
 * Return true if adjacent mappings a and b belong to the same loaded file.
 */
static bool
is_continued(const struct vma *a, const struct vma *b)
{
	return b->dev == a->dev && b->ino == a->ino &&
	    strcmp(a->name, b->name) == 0 && b->off >= a->off;
}

/*
 * Report the file mapped at l->v[first] to libdwfl. Return the index of its
 * last mapping.
 */
static size_t
module_add(Dwfl *d, const struct vmas *l, size_t first)
{
	const struct vma *v = l->v;
	size_t i, last;
	bool code;

	code = (v[first].flags & VMA_EXEC) != 0;
	for (i = last = first; i + 1 < l->n; i++) {
		/* zeros after its data, or a gap within it */
		if (v[i + 1].name[0] == '\0' && v[i + 1].start == v[i].end)
			continue;
		if (!is_continued(&v[last], &v[i + 1]))
			break;
		last = i + 1;
		code |= (v[last].flags & VMA_EXEC) != 0;
	}
	if (code)
		(void)dwfl_report_module(d, v[first].name, v[first].start,
		    v[last].end);
	return last;
}

/*
 * Report the executable to libdwfl if the snapshot has no mapping of it, which
 * is the case in cores without NT_FILE. The address of the executable follows
 * from AT_ENTRY (getauxval(3)).
 */
static void
exe_add(Dwfl *d, struct target *t)
{
	uint64_t entry, first, end;
	size_t i, n;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	Elf *e;

	if (t->proc->text == NULL || (entry = target_entry(t)) == 0 ||
	    dwfl_addrmodule(d, entry) != NULL ||
	    (e = elfimage_open(t->proc->text)) == NULL)
		return;
	first = UINT64_MAX;
	end = 0;
	if (gelf_getehdr(e, &eh) != NULL && elf_getphdrnum(e, &n) == 0)
		for (i = 0; i < n && i < INT_MAX; i++) {
			if (gelf_getphdr(e, (int)i, &ph) == NULL ||
			    ph.p_type != PT_LOAD)
				continue;
			if (ph.p_vaddr - ph.p_vaddr % PAGE < first)
				first = ph.p_vaddr - ph.p_vaddr % PAGE;
			if (ph.p_vaddr + ph.p_memsz > end)
				end = ph.p_vaddr + ph.p_memsz;
		}
	if (first < end) {
		t->exe_start = first + (entry - eh.e_entry);
		dwfl_report_begin_add(d);
		(void)dwfl_report_module(d, *t->exe == '\0' ? "text" :
		    t->exe, t->exe_start, end + (entry - eh.e_entry));
		(void)dwfl_report_end(d, NULL, NULL);
	}
	elf_end(e);
}

/*
 * Return the modules of process t, or NULL with errstr set. The caller must
 * call dwfl_end() before closing t.
 */
Dwfl *
modules_open(struct target *t)
{
	const struct vma *v = t->vma.v;
	size_t i;
	Dwfl *d;

	now = t;
	if ((d = dwfl_begin(&callbacks)) == NULL) {
		errstr_set("libdw: %s", dwfl_errmsg(-1));
		return NULL;
	}
	dwfl_report_begin(d);
	for (i = 0; i < t->vma.n; i++)
		if (v[i].name[0] == '/' && v[i].off == 0)
			i = module_add(d, &t->vma, i);
		else if (strcmp(v[i].name, "[vdso]") == 0)
			(void)dwfl_report_module(d, v[i].name, v[i].start,
			    v[i].end);
	if (dwfl_report_end(d, NULL, NULL) != 0) {
		errstr_set("libdw: %s", dwfl_errmsg(-1));
		dwfl_end(d);
		return NULL;
	}
	exe_add(d, t);
	return d;
}

/*
 * Make libdwfl's callbacks read process t from now on.
 */
void
modules_use(struct target *t)
{
	now = t;
}

/*
 * Write the build ID of module m to hex, which has room for size bytes. If the
 * ID is not known, set hex to "" and return false.
 */
bool
module_id(Dwfl_Module *m, char *hex, size_t size)
{
	const unsigned char *id;
	uint8_t mem[64];
	Dwarf_Addr start;
	GElf_Addr at;
	size_t i, len;
	int n;

	*hex = '\0';
	n = dwfl_module_build_id(m, &id, &at);
	len = n > 0 ? (size_t)n : 0;
	if (n <= 0 && now != NULL) {
		(void)dwfl_module_info(m, NULL, &start, NULL, NULL, NULL,
		    NULL, NULL);
		len = id_of_memory(now, start, mem);
		id = mem;
	}
	for (i = 0; i < len && 2 * i + 3 <= size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return len > 0;
}
