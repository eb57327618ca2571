/*
 * The link map of a process: the names and addresses of the objects that its
 * dynamic linker has loaded, read from its memory as a debugger does.
 *
 *	auxv: AT_PHDR, AT_PHNUM	-> program headers of the executable
 *	PT_DYNAMIC		-> DT_DEBUG -> struct r_debug
 *	r_debug.r_map		-> struct link_map -> ... (link.h)
 *	PT_INTERP		-> the name of the object at AT_BASE
 *
 * The memory may be damaged or malicious. If anything is missing, the walk ends
 * without an error.
 */
#include "elf.h"
#include "model.h"
#include "state/state.h"

#include <elf.h>

enum { ENTRIES_MAX = 65536 };	/* maximum number of entries to read from a list
				   or table */

struct linkmap {
	struct image	*mem;
	const struct machine *machine;
	bool		 wide;	/* the process is a 64-bit one */
	uint64_t	 phdr;
	uint64_t	 phnum;
	uint64_t	 base;	/* address of the dynamic linker; 0: none */
	uint64_t	 bias;	/* load address of the executable minus its
				   link address */
	uint64_t	 dynamic;
	uint64_t	 interp;
	linkmap_fn	 fn;
	void		*arg;
};

/*
 * Read word i of the table at addr into *v. Return false if that memory cannot
 * be read.
 */
static bool
get_word(const struct linkmap *l, uint64_t addr, size_t i, uint64_t *v)
{
	uint8_t b[8];
	size_t n;

	n = l->wide ? 8 : 4;
	if (__builtin_add_overflow(addr, i * n, &addr) ||
	    image_read(l->mem, addr, b, n) == -1)
		return false;
	*v = machine_get(l->machine, b, n);
	return true;
}

/*
 * Set the members of l that come from the auxiliary vector of the process.
 * Return false if there is no such vector.
 */
static bool
linkmap_auxv(struct linkmap *l, const struct linuxrec *rec)
{
	const struct machine *m = l->machine;
	struct recfile f;
	size_t w;

	if (!linuxrec_find(rec, "auxv", &f) ||
	    (w = auxv_word(m, f.data, f.len)) == 0)
		return false;
	l->wide = w == 8;
	l->phdr = auxv_get(m, f.data, f.len, w, AT_PHDR);
	l->phnum = auxv_get(m, f.data, f.len, w, AT_PHNUM);
	l->base = auxv_get(m, f.data, f.len, w, AT_BASE);
	return l->phdr != 0;
}

/*
 * Read the executable's program headers. Set its bias, and the addresses of its
 * dynamic section and of its interpreter's name. Return false if the headers
 * cannot be read, or if the executable is not dynamically linked.
 */
static bool
linkmap_phdrs(struct linkmap *l)
{
	uint8_t head[sizeof(Elf64_Phdr)];
	struct elfphdr ph;
	uint64_t addr;
	size_t i, n;

	n = elfphdr_size(l->wide);
	for (i = 0, addr = l->phdr; i < l->phnum && i < ENTRIES_MAX;
	    i++, addr += n) {
		if (image_read(l->mem, addr, head, n) == -1)
			return false;
		elfphdr_get(&ph, head, l->wide, l->machine->big);
		switch (ph.type) {
		case PT_PHDR:
			l->bias = l->phdr - ph.addr;
			break;
		case PT_DYNAMIC:
			l->dynamic = ph.addr;
			break;
		case PT_INTERP:
			l->interp = ph.addr;
			break;
		}
	}
	return l->dynamic != 0;
}

/*
 * Read the name at addr into name. Return false if it does not end in a NUL, or
 * is not shorter than PATH_MAX.
 */
static bool
get_name(const struct linkmap *l, uint64_t addr, char name[PATH_MAX])
{
	ssize_t n;

	n = image_readsome(l->mem, addr, name, PATH_MAX);
	return n > 0 && memchr(name, '\0', (size_t)n) != NULL;
}

static uint64_t
linkmap_head(const struct linkmap *l)
{
	uint64_t dyn, tag, debug, head;
	size_t i;

	dyn = l->bias + l->dynamic;
	for (i = 0; i < ENTRIES_MAX; i++) {
		if (!get_word(l, dyn, 2 * i, &tag) || tag == DT_NULL)
			return 0;
		if (tag != DT_DEBUG)
			continue;
		if (get_word(l, dyn, 2 * i + 1, &debug) && debug != 0 &&
		    get_word(l, debug, 1, &head))
			return head;
		return 0;
	}
	return 0;
}

/*
 * Call fn(arg, name, address) for each object in the link map (the dynamic
 * linker's list) in mem. address is an address inside the object. For the
 * dynamic linker itself, name is the one in the executable. m is the machine of
 * the process, and rec its Linux record. Return -1 as soon as fn returns -1;
 * otherwise return 0.
 */
int
linkmap_walk(struct image *mem, const struct machine *m,
    const struct linuxrec *rec, linkmap_fn fn, void *arg)
{
	struct linkmap l = { .mem = mem, .machine = m };
	uint64_t at, name, ld;
	char path[PATH_MAX];
	size_t i;

	if (mem == NULL || !linkmap_auxv(&l, rec) || !linkmap_phdrs(&l))
		return 0;
	if (l.base != 0 && l.interp != 0 &&
	    get_name(&l, l.bias + l.interp, path) &&
	    fn(arg, path, l.base) == -1)
		return -1;
	for (i = 0, at = linkmap_head(&l); at != 0 && i < ENTRIES_MAX; i++) {
		/* l_addr, l_name, l_ld, l_next */
		if (!get_word(&l, at, 1, &name) || !get_word(&l, at, 2, &ld))
			return 0;
		if (get_name(&l, name, path) && fn(arg, path, ld) == -1)
			return -1;
		if (!get_word(&l, at, 3, &at))
			return 0;
	}
	return 0;
}
