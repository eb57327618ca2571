/*
 * A histogram of faults over the address space.  Counts are kept by blocks
 * of addresses, the larger the more blocks there would be; what is printed
 * has a line for each part of the address space that has faults, all parts
 * of one size.
 */
#include "vmtrace.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCKS_MOST = 1 << 16,
	BITS_MOST = 40,		/* of a block: many processes stay many */
	LINES_MOST = 48,	/* of a process */
	BAR = 40		/* columns */
};

static unsigned int shift = 12;	/* of a block */

/*
 * The same counts in blocks of twice the size.
 */
static void
blocks_widen(struct output_state *o)
{
	struct tally *t;
	struct row **v, key, *r;
	size_t i, n;

	if ((t = tally_new()) == NULL)
		return;
	v = tally_rows(o->pages, &n);
	for (i = 0; i < n; i++) {
		key = *v[i];
		key.num /= 2;
		if ((r = tally_get(t, &key)) != NULL)
			r->count[0] += v[i]->count[0];
	}
	free(v);
	tally_free(o->pages);
	o->pages = t;
	shift++;
}

/*
 * Count a fault.
 */
void
histogram_fault(struct output_state *o, const struct line *l)
{
	static char none[] = "no mapping", anon[] = "anon";
	char *name = l->where.name;
	struct row key = { .pid = l->pid, .num = l->addr >> shift }, *r;

	key.name = name == NULL ? none : *name == '\0' ? anon : name;
	if ((r = tally_get(o->pages, &key)) != NULL)
		r->count[0]++;
	if (tally_n(o->pages) > BLOCKS_MOST && shift < BITS_MOST)
		blocks_widen(o);
}

struct part {			/* a part of the address space */
	uint64_t	 num;
	uint64_t	 count;
	const struct row *most;	/* of the name with the most faults */
};

/*
 * Put the blocks of a process together to parts of 2^by blocks: how many
 * there are.
 */
static size_t
parts_make(struct part *p, struct row *const *v, size_t n, unsigned int by)
{
	size_t i, k;

	for (i = k = 0; i < n; i++) {
		if (k == 0 || p[k - 1].num != v[i]->num >> by)
			p[k++] = (struct part){ v[i]->num >> by, 0, v[i] };
		p[k - 1].count += v[i]->count[0];
		if (v[i]->count[0] > p[k - 1].most->count[0])
			p[k - 1].most = v[i];
	}
	return k;
}

static void
size_print(unsigned int bits)
{
	static const char unit[] = "KMGTPE";

	printf("%u%c", 1U << bits % 10, unit[bits / 10 - 1]);
}

static void
process_print(struct row *const *v, size_t n)
{
	struct part *p;
	uint64_t most;
	unsigned int by;
	size_t i, k;
	int bar;

	if ((p = reallocarray(NULL, n, sizeof *p)) == NULL)
		return;
	for (by = 0; (k = parts_make(p, v, n, by)) > LINES_MOST &&
	    by + shift < 47; by++)
		continue;
	for (most = 1, i = 0; i < k; i++)
		if (p[i].count > most)
			most = p[i].count;
	printf("%d: each line is ", v[0]->pid);
	size_print(by + shift);
	printf(" of addresses\n%16s %8s\n", "ADDRESS", "FAULTS");
	for (i = 0; i < k; i++) {
		if (i > 0 && p[i].num != p[i - 1].num + 1)
			printf("%16s\n", "...");
		bar = (int)(p[i].count * BAR / most);
		printf("%16jx %8ju %-*.*s %s\n",
		    (uintmax_t)(p[i].num << (by + shift)),
		    (uintmax_t)p[i].count, BAR, bar == 0 ? 1 : bar,
		    "########################################",
		    text_harmless(p[i].most->name));
	}
	free(p);
}

void
histogram_print(struct output_state *o)
{
	struct row **v;
	size_t i, j, n;

	v = tally_rows(o->pages, &n);
	for (i = 0; i < n; i = j) {
		for (j = i; j < n && v[j]->pid == v[i]->pid; j++)
			continue;
		if (i > 0)
			putchar('\n');
		process_print(v + i, j - i);
	}
	free(v);
}
