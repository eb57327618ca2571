/*
 * Print the two styles that the BUGS of OpenBSD's procmap(1) ask for, modelled
 * on pmap(1) of Solaris: -x, resident, shared and private memory; -r, reserved
 * addresses.
 */
#include "procmap.h"

enum { STACK_GAP = 1024 };	/* stack_guard_gap, the kilobytes that the
				   kernel keeps unmapped below a stack */

/*
 * Print kb in a column. Print "-" if it is 0, or "?" if known is false. Return
 * the number of characters printed.
 */
static int
print_kb(uint64_t kb, bool known)
{
	if (!known)
		return printf(" %7s", "?");
	return kb == 0 ? printf(" %7s", "-") : printf(" %7" PRIu64, kb);
}

static void
resident_entry(const struct vma *v, const struct mapping *m)
{
	char prot[32], name[PATH_MAX + 16];
	bool known = (m->flags & VMF_SIZES_KNOWN) != 0;
	int n;

	name_make(name, sizeof name, v);
	n = printf("%016" PRIX64, v->start);
	n += print_kb(entry_kb(v), true) + print_kb(m->rss, known) +
	    print_kb(m->shared, known) + print_kb(m->private, known);
	n += printf(" %-17s ", prot_words(v->flags, prot));
	puts(name_fit(*name == '/' ? path_base(name) : name, n));
}

/*
 * Print sp in style -x. All mappings are counted, even inaccessible ones.
 */
void
resident_print(const struct space *sp)
{
	struct mapping sum = { 0 };
	bool known = true;
	size_t i;

	printf("Address           Kbytes Resident Shared Private Permissions"
	    "       Mapped File\n");
	for (i = 0; i < sp->vma.n; i++) {
		resident_entry(&sp->vma.v[i], &sp->m[i]);
		known = known && sp->m[i].flags & VMF_SIZES_KNOWN;
		sum.rss += sp->m[i].rss;
		sum.shared += sp->m[i].shared;
		sum.private += sp->m[i].private;
	}
	printf("----------------  ------  ------  ------  ------\n%-16s",
	    "total Kb");
	print_kb(space_bytes(sp) / KB, true);
	print_kb(sum.rss, known);
	print_kb(sum.shared, known);
	print_kb(sum.private, known);
	putchar('\n');
}

/*
 * Print a line of style -r for a range of addresses. mark is '*' for reserved
 * addresses without memory. Return the size of the range in kilobytes.
 */
static uint64_t
reserved_line(uint64_t start, uint64_t end, unsigned int flags, char mark,
    const char *name)
{
	char have[4];
	int n;

	n = printf("%016" PRIX64 " %10" PRIu64 "K %s%c-%c ", start,
	    (end - start) / KB, prot_letters(flags, true, have),
	    flags & VMA_SHARED ? 's' : '-', mark);
	puts(name_fit(name, n));
	return (end - start) / KB;
}

/*
 * Print mapping i of sp, a stack, in style -r. If its limit is known, extend
 * the stack down to the limit, but not into the mapping below, and first print
 * the guard gap. Return the total size of the stack and the gap in kilobytes.
 */
static uint64_t
reserved_stack(const struct space *sp, size_t i, const char *name)
{
	const struct vma *v = &sp->vma.v[i];
	uint64_t below, gap, low, sum;

	if (sp->stacklimit == 0)
		return reserved_line(v->start, v->end, v->flags, ' ', name);
	below = i > 0 ? v[-1].end : 0;
	gap = (uint64_t)STACK_GAP * KB;
	low = sp->stacklimit < v->end ? v->end - sp->stacklimit : 0;
	low += KB * PAGE_KB - 1;
	low -= low % (KB * PAGE_KB);
	if (low < below + gap)
		low = below + gap;
	if (low > v->start)
		low = v->start;
	if (low - below < gap)
		gap = low - below;
	sum = gap == 0 ? 0 :
	    reserved_line(low - gap, low, 0, '*', "  [ stack gap ]");
	return sum + reserved_line(low, v->end, v->flags, ' ', name);
}

/*
 * Return the address up to which mapping i of sp, the heap, can grow. This is
 * its limit or, if that is lower, the start of the next mapping. If the limit
 * is unknown, return the end of the heap.
 */
static uint64_t
heap_end(const struct space *sp, size_t i)
{
	const struct vma *v = &sp->vma.v[i];
	uint64_t end, next;

	next = i + 1 < sp->vma.n ? v[1].start : v->end;
	if (sp->datalimit == 0)
		end = v->end;
	else if (sp->startbrk == 0 || sp->startbrk > v->end ||
	    sp->datalimit > UINT64_MAX - sp->startbrk)
		end = next;
	else
		end = sp->startbrk + sp->datalimit;
	end -= end % (KB * PAGE_KB);
	if (end > next)
		end = next;
	return end < v->end ? v->end : end;
}

/*
 * Print sp in style -r: the heap and the stack as large as they can grow, and
 * other mappings as they are.
 */
void
reserved_print(const struct space *sp)
{
	char name[PATH_MAX + 16];
	const struct vma *v;
	uint64_t sum;
	size_t i;
	bool idle;

	for (sum = 0, i = 0; i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		name_make(name, sizeof name, v);
		idle = (v->flags & (VMA_READ | VMA_WRITE | VMA_EXEC)) == 0 ||
		    sp->m[i].flags & VMF_NORESERVE;
		if (strcmp(v->name, "[stack]") == 0)
			sum += reserved_stack(sp, i, name);
		else
			sum += reserved_line(v->start,
			    strcmp(v->name, "[heap]") == 0 ? heap_end(sp, i) :
			    v->end, v->flags, idle ? '*' : ' ', name);
	}
	printf("%9s%-7s%11" PRIu64 "K\n", "", "total", sum);
}
