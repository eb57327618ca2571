/*
 * The link map of a process: under which names its dynamic linker has
 * loaded what, read from its memory as a debugger reads it.
 *
 *	auxv: AT_PHDR, AT_PHNUM	-> program headers of the executable
 *	PT_DYNAMIC		-> DT_DEBUG -> struct r_debug
 *	r_debug.r_map		-> struct link_map -> ... (link.h)
 *	PT_INTERP		-> the name of what lies at AT_BASE
 *
 * All of it may be damaged, or made to do damage: whatever is not there
 * ends the walk, and is no error.
 */
#include "elf.h"
#include "model.h"
#include "state/state.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

enum { ENTRIES_MAX = 65536 };	/* of any list */

struct linkmap {
	struct image	*mem;
	const struct machine *machine;
	bool		 wide;	/* 64 bits */
	uint64_t	 phdr;
	uint64_t	 phnum;
	uint64_t	 base;	/* of the dynamic linker; 0: none */
	uint64_t	 bias;	/* of the executable */
	uint64_t	 dynamic;
	uint64_t	 interp;
	linkmap_fn	 fn;
	void		*arg;
};

/*
 * Read the i-th word of a table in memory.
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
 * What the auxiliary vector tells.
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
 * The program headers: where the executable was put, and what it says of
 * dynamic linking.
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
 * Read a name, which ends in a NUL and is shorter than PATH_MAX.
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
 * Call fn, with arg before them, with each name of the link map in mem and an
 * address in what was loaded under it, until it returns -1, which is then
 * returned; else return 0.  The dynamic linker is told under the name that the
 * executable has for it. m is the machine of the process, rec its record.
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
