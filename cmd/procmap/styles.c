/*
 * Print the styles of OpenBSD's procmap(1), column by column:
 *
 *	-m	0xSTART 0xEND rwxSI RWX COW NC I W A [MAJOR,MINOR INODE] [NAME]
 *	-l	0xSTART 0xEND rwxSIp OFFSET MAJOR:MINOR INODE     NAME
 *	-d	MAP and entries as ddb(4) shows them
 *	-s	START SIZE PROTECTION NAME
 *	-a	START-LAST SIZE OFFSET rwxSIpc (RWX) I/W/A MAJOR:MINOR
 *		INODE - NAME
 *
 * Columns that Linux has no data for are left out.
 */
#include "procmap.h"

#include <sys/sysmacros.h>

static char
letter(bool yes, char c)
{
	return yes ? c : '-';
}

static void
map_entry(const struct space *sp, size_t i, const char *name, bool verbose)
{
	const struct vma *v = &sp->vma.v[i];
	const struct mapping *m = &sp->m[i];
	char have[4], may[4];
	int n;

	n = printf("0x%-16" PRIx64 " 0x%-16" PRIx64 " %s%c%c %s %s %s %d %d "
	    "%d", v->start, v->end, prot_letters(v->flags, true, have),
	    letter(m->flags & VMF_STACK, 'S'),
	    letter(m->flags & VMF_SEALED, 'I'),
	    prot_letters(m->flags, m->flags & VMF_FLAGS_KNOWN, may),
	    v->flags & VMA_SHARED ? "NCOW" : "COW",
	    entry_needscopy(sp, i) ? "NC" : "NNC", entry_inherit(sp, i),
	    (m->flags & VMF_WIRED) != 0, entry_advice(sp, i));
	if (verbose && v->ino != 0)
		n += printf(" %u,%u %" PRIu64, major(v->dev), minor(v->dev),
		    v->ino);
	if (verbose)
		printf(" %s", name_fit(name, n + 1));
	putchar('\n');
}

static void
linux_entry(const struct space *sp, size_t i, const char *name)
{
	const struct vma *v = &sp->vma.v[i];
	const struct mapping *m = &sp->m[i];
	char have[4];
	int n;

	n = printf("0x%-16" PRIx64 " 0x%-16" PRIx64 " %s%c%c%c %016" PRIx64
	    " %02x:%02x %" PRIu64 "     ", v->start, v->end,
	    prot_letters(v->flags, true, have),
	    letter(m->flags & VMF_STACK, 'S'),
	    letter(m->flags & VMF_SEALED, 'I'),
	    v->flags & VMA_SHARED ? 's' : 'p', v->off, major(v->dev),
	    minor(v->dev), v->ino);
	puts(v->ino != 0 ? name_fit(name, n) : "");
}

static void
ddb_entry(const struct space *sp, size_t i, const char *name, bool verbose)
{
	const struct vma *v = &sp->vma.v[i];
	const struct mapping *m = &sp->m[i];
	enum { TAB = 7, BEHIND = 2 }; /* TAB: width of a tab, less 1; BEHIND:
					 width of "])" */
	int n;

	printf(" - 0x%" PRIx64 "->0x%" PRIx64 ": off=0x%" PRIx64 "\n"
	    "\tcow=%c, nc=%c, stack=%c, immutable=%c, prot(max)=%u/%c, "
	    "inh=%d, wc=%d, adv=%d\n", v->start, v->end, v->off,
	    v->flags & VMA_SHARED ? 'F' : 'T',
	    entry_needscopy(sp, i) ? 'T' : 'F',
	    m->flags & VMF_STACK ? 'T' : 'F',
	    m->flags & VMF_SEALED ? 'T' : 'F', v->flags & 7, max_digit(m),
	    entry_inherit(sp, i), (m->flags & VMF_WIRED) != 0,
	    entry_advice(sp, i));
	if (!verbose)
		return;
	if (v->ino != 0) {
		n = printf("\t(dev=%u,%u ino=%" PRIu64 " [", major(v->dev),
		    minor(v->dev), v->ino);
		printf("%s])\n", name_fit(name, n + TAB + BEHIND));
	} else if (name[0] == ' ')
		printf("\t(%s)\n", name_fit(name + 2, TAB + 3));
}

static void
solaris_entry(const struct vma *v, const char *name)
{
	char prot[32];
	int n;

	n = printf("%016" PRIX64 " %6" PRIu64 "K %-15s   ", v->start,
	    entry_kb(v), prot_words(v->flags & ~VMA_SHARED, prot));
	puts(name_fit(name, n));
}

static void
all_entry(const struct space *sp, size_t i, const char *name, bool verbose)
{
	const struct vma *v = &sp->vma.v[i];
	const struct mapping *m = &sp->m[i];
	uint64_t before = i > 0 ? v[-1].end : 0;
	char have[4], may[4];
	int n;

	if (verbose && before < v->start)
		printf("%016" PRIx64 "-%016" PRIx64 " %7" PRIu64 "k *\n",
		    before, v->start - 1, (v->start - before) / KB);
	n = printf("%016" PRIx64 "-%016" PRIx64 " %7" PRIu64 "k %016" PRIx64
	    " %s%c%c%c%c (%s) %d/%d/%d %02u:%02u %7" PRIu64 " - ", v->start,
	    v->end - 1, entry_kb(v), v->off, prot_letters(v->flags, true, have),
	    letter(m->flags & VMF_STACK, 'S'),
	    letter(m->flags & VMF_SEALED, 'I'),
	    v->flags & VMA_SHARED ? 's' : 'p',
	    entry_needscopy(sp, i) ? '+' : '-',
	    prot_letters(m->flags, m->flags & VMF_FLAGS_KNOWN, may),
	    entry_inherit(sp, i), (m->flags & VMF_WIRED) != 0,
	    entry_advice(sp, i),
	    major(v->dev), minor(v->dev), v->ino);
	puts(name_fit(name, n));
}

/*
 * Print how many slots the amap of entry i of sp has, and how many are used,
 * and add both numbers to *sum. An amap is UVM's list of the pages that only
 * the entry uses. Print nothing if no slot is used, or if the entry is shared.
 */
static void
amap_entry(const struct space *sp, size_t i, struct slots *sum)
{
	uint64_t used, mapped;

	used = (sp->m[i].anon + sp->m[i].swap) / PAGE_KB;
	if (used == 0 || sp->vma.v[i].flags & VMA_SHARED)
		return;
	mapped = entry_kb(&sp->vma.v[i]) / PAGE_KB;
	printf(" amap - nsl: %" PRIu64 " nuse: %" PRIu64 "\n", mapped, used);
	sum->mapped += mapped;
	sum->used += used;
}

static void
entry_print(const struct space *sp, size_t i, const struct options *o,
    struct slots *sum)
{
	const struct vma *v = &sp->vma.v[i];
	char name[PATH_MAX + 16];

	name_make(name, sizeof name, v);
	if (o->debug & DEBUG_ENTRY)
		debug_entry(sp, i);
	if (o->styles & STYLE_MAP)
		map_entry(sp, i, name, o->verbose);
	if (o->styles & STYLE_LINUX)
		linux_entry(sp, i, name);
	if (o->styles & STYLE_DDB)
		ddb_entry(sp, i, name, o->verbose);
	if (o->styles & STYLE_SOLARIS)
		solaris_entry(v, name);
	if (o->styles & STYLE_ALL)
		all_entry(sp, i, name, o->verbose);
	if (o->amap)
		amap_entry(sp, i, sum);
}

static void
print_heads(const struct space *sp, const struct options *o)
{
	if (o->debug & DEBUG_VMSPACE && sp->pid != 0)
		debug_vmspace(sp);
	if (o->debug & DEBUG_MAP)
		debug_map(sp);
	if (o->styles & STYLE_DDB)
		printf("MAP: sz=%" PRIu64 ", ref=%" PRIu64 "\n",
		    space_bytes(sp), sp->threads);
	if (o->styles & STYLE_ALL)
		printf("%-16s %-16s %8s %-16s rwxSIpc  RWX  I/W/A Dev  %8s - "
		    "File\n", "Start", "End", "Size ", "Offset", "Inode");
}

/*
 * Return the number of kilobytes of sp that are readable, writable, or
 * executable.
 */
static uint64_t
space_total(const struct space *sp)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < sp->vma.n; i++)
		if (sp->vma.v[i].flags & (VMA_READ | VMA_WRITE | VMA_EXEC))
			sum += entry_kb(&sp->vma.v[i]);
	return sum;
}

/*
 * Print the mappings of sp as JSON, one object each.
 */
static void
objects_print(const struct space *sp)
{
	const struct mapping *m;
	const struct vma *v;
	char perms[5];
	size_t i;

	for (i = 0; i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		m = &sp->m[i];
		vma_perms(v, perms);
		json_begin("mapping");
		json_number("pid", sp->pid);
		json_address("start", v->start, false);
		json_address("end", v->end, false);
		json_number("size", v->end - v->start);
		json_text("perms", perms);
		json_address("offset", v->off, false);
		json_number("inode", v->ino);
		json_text("name", v->name);
		if (m->flags & VMF_SIZES_KNOWN) {
			json_number("rss", m->rss * KB);
			json_number("shared", m->shared * KB);
			json_number("private", m->private * KB);
		}
		json_end();
	}
}

/*
 * Print address space sp in all styles that o selects. Add the numbers of its
 * amap slots to total.
 */
void
space_print(const struct space *sp, const struct options *o,
    struct slots *total)
{
	struct slots sum = { 0, 0 };
	size_t i;

	if (o->json) {
		objects_print(sp);
		return;
	}
	print_heads(sp, o);
	for (i = 0; i < sp->vma.n; i++)
		entry_print(sp, i, o, &sum);
	if (o->styles & STYLE_SOLARIS)
		printf("%-14s %8" PRIu64 "K\n", " total", space_total(sp));
	if (o->styles & STYLE_ALL)
		printf("%-31s %9" PRIu64 "k\n", " total", space_total(sp));
	if (o->styles & STYLE_RESIDENT)
		resident_print(sp);
	if (o->styles & STYLE_RESERVED)
		reserved_print(sp);
	if (o->amap)
		printf("amap mapped slots: %" PRIu64 "\namap used slots: %"
		    PRIu64 "\n", sum.mapped, sum.used);
	total->mapped += sum.mapped;
	total->used += sum.used;
}
