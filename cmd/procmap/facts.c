/*
 * Express Linux's facts about an address space in terms of OpenBSD's UVM. For
 * -D, print those members of its structures that Linux has a counterpart for.
 */
#include "procmap.h"

enum {				/* entry types from OpenBSD's uvm_map.h */
	ET_OBJ = 1,
	ET_COW = 4,
	ET_NEEDSCOPY = 8,
	ET_STACK = 0x40,
	ET_CONCEAL = 0x100,
	ET_IMMUTABLE = 0x400
};

/*
 * Write the permissions in flags (VMA_READ, VMA_WRITE and VMA_EXEC) to s as
 * three letters. If known is false, write three question marks. Return s.
 */
const char *
prot_letters(unsigned int flags, bool known, char s[4])
{
	s[0] = !known ? '?' : flags & VMA_READ ? 'r' : '-';
	s[1] = !known ? '?' : flags & VMA_WRITE ? 'w' : '-';
	s[2] = !known ? '?' : flags & VMA_EXEC ? 'x' : '-';
	s[3] = '\0';
	return s;
}

/*
 * Write the permissions in flags (bits of enum vma_flag) to s, as words
 * separated by slashes. Return s.
 */
const char *
prot_words(unsigned int flags, char s[32])
{
	static const struct {
		unsigned int	 flag;
		const char	*word;
	} words[] = { { VMA_READ, "read" }, { VMA_WRITE, "write" },
	    { VMA_EXEC, "exec" }, { VMA_SHARED, "shared" } };
	size_t i;

	s[0] = '\0';
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (flags & words[i].flag) {
			strlcat(s, *s == '\0' ? "" : "/", 32);
			strlcat(s, words[i].word, 32);
		}
	return s;
}

/*
 * Return the maximum protection that mprotect(2) can give m, as an octal digit,
 * or '?' if it is unknown.
 */
char
max_digit(const struct mapping *m)
{
	return m->flags & VMF_FLAGS_KNOWN ? (char)('0' + (m->flags & 7)) : '?';
}

/*
 * Return true if entry i of sp is private and none of its pages has been copied
 * yet.
 */
bool
entry_needscopy(const struct space *sp, size_t i)
{
	const struct mapping *m = &sp->m[i];

	return !(sp->vma.v[i].flags & VMA_SHARED) &&
	    m->flags & VMF_SIZES_KNOWN && m->anon + m->swap == 0;
}

/*
 * Return how a child inherits entry i of sp, as OpenBSD's sys/mman.h encodes it
 * (MAP_INHERIT_*): 0 shared, 1 a copy, 2 not at all, 3 zero-filled.
 */
int
entry_inherit(const struct space *sp, size_t i)
{
	if (sp->m[i].flags & VMF_DONTFORK)
		return 2;
	if (sp->m[i].flags & (VMF_WIPEONFORK | VMF_DROPPABLE))
		return 3;
	return sp->vma.v[i].flags & VMA_SHARED ? 0 : 1;
}

/*
 * Return the advice given to madvise(2) for entry i of sp, as OpenBSD's
 * sys/mman.h encodes it (MADV_*): 0 none, 1 random, 2 sequential.
 */
int
entry_advice(const struct space *sp, size_t i)
{
	return sp->m[i].flags & VMF_RANDOM ? 1 :
	    sp->m[i].flags & VMF_SEQUENTIAL ? 2 : 0;
}

/*
 * Return the type of entry i of sp as ET_* flags (OpenBSD's uvm_map.h).
 */
static unsigned int
entry_type(const struct space *sp, size_t i)
{
	const struct vma *v = &sp->vma.v[i];
	unsigned int f = sp->m[i].flags;

	return (v->ino != 0 ? ET_OBJ : 0U) |
	    (v->flags & VMA_SHARED ? 0U : ET_COW) |
	    (entry_needscopy(sp, i) ? ET_NEEDSCOPY : 0U) |
	    (f & VMF_STACK ? ET_STACK : 0U) |
	    (f & VMF_DONTDUMP ? ET_CONCEAL : 0U) |
	    (f & VMF_SEALED ? ET_IMMUTABLE : 0U);
}

/*
 * Return the size of v in kilobytes.
 */
uint64_t
entry_kb(const struct vma *v)
{
	return (v->end - v->start) / KB;
}

/*
 * Return the number of bytes mapped in sp.
 */
uint64_t
space_bytes(const struct space *sp)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < sp->vma.n; i++)
		sum += sp->vma.v[i].end - sp->vma.v[i].start;
	return sum;
}

/*
 * Return the end of the unmapped range after mapping i: the start of the next
 * mapping or, for the last mapping, its own end.
 */
static uint64_t
free_end(const struct space *sp, size_t i)
{
	const struct vma *v = &sp->vma.v[i];

	return i + 1 < sp->vma.n ? v[1].start : v->end;
}

/*
 * Return the lowest address to which the stack that ends at top can grow, or 0
 * if this address is unknown.
 */
static uint64_t
stack_lowest(const struct space *sp, uint64_t top)
{
	return sp->stacklimit == 0 || sp->stacklimit > top ? 0 :
	    top - sp->stacklimit;
}

/*
 * Print sp as a struct vmspace, as OpenBSD's procmap(1) does with -D 1.
 */
void
debug_vmspace(const struct space *sp)
{
	uint64_t lowest = stack_lowest(sp, sp->startstack);

	printf("proc->p_vmspace = { vm_rssize = %" PRIu64 ", vm_tsize = %"
	    PRIu64 ", vm_dsize = %" PRIu64 ",\n", sp->rss / PAGE_KB,
	    sp->text / PAGE_KB, sp->data / PAGE_KB);
	printf("    vm_ssize = %" PRIu64 ", vm_taddr = 0x%" PRIx64
	    ", vm_daddr = 0x%" PRIx64 ",\n", sp->stack / PAGE_KB,
	    sp->startcode, sp->startdata);
	printf("    vm_maxsaddr = 0x%" PRIx64 ", vm_minsaddr = 0x%" PRIx64
	    " }\n", lowest, sp->startstack);
}

/*
 * Print sp as a struct vm_map, as OpenBSD's procmap(1) does. The heap can grow
 * up to the next mapping, and the stack down to its limit.
 */
void
debug_map(const struct space *sp)
{
	uint64_t heap, stack, lowest;
	const struct vma *v;
	size_t i;

	heap = stack = 0;
	for (i = 0; i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		if (strcmp(v->name, "[heap]") == 0)
			heap = free_end(sp, i);
		if (strcmp(v->name, "[stack]") == 0)
			stack = v->end;
	}
	lowest = stack_lowest(sp, stack);
	printf("%s = { size = %" PRIx64 ", ref_count = %" PRIu64 ",\n"
	    "    b_start-b_end = 0x%" PRIx64 "-0x%" PRIx64 ",\n"
	    "    s_start-s_end = 0x%" PRIx64 "-0x%" PRIx64 " }\n",
	    sp->pid == 0 ? "kernel_map" : "proc->p_vmspace.vm_map",
	    space_bytes(sp), sp->threads, heap == 0 ? 0 : sp->startbrk, heap,
	    lowest, stack);
}

/*
 * Print entry i of sp as a struct vm_map_entry, as OpenBSD's procmap(1) does.
 */
void
debug_entry(const struct space *sp, size_t i)
{
	const struct vma *v = &sp->vma.v[i];
	unsigned int type = entry_type(sp, i);

	printf("vm_map_entry = { start = %" PRIx64 ", end = %" PRIx64
	    ", fspace = %" PRIx64 ",\n", v->start, v->end,
	    free_end(sp, i) - v->end);
	printf("    offset = %" PRIx64 ", etype = %x <%s%s%s >, "
	    "protection = %x,\n", v->off, type, type & ET_OBJ ? " OBJ" : "",
	    type & ET_COW ? " COW" : "",
	    type & ET_NEEDSCOPY ? " NEEDSCOPY" : "", v->flags & 7);
	printf("    max_protection = %c, inheritance = %d, wired_count = %d, "
	    "advice = %d }\n",
	    max_digit(&sp->m[i]), entry_inherit(sp, i),
	    (sp->m[i].flags & VMF_WIRED) != 0, entry_advice(sp, i));
}
