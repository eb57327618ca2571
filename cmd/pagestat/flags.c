/*
 * A histogram of the flags of pages.
 */
#include "pagestat.h"

#include <stdlib.h>
#include <unistd.h>

static int
flags_cmp(const void *a, const void *b)
{
	const struct flagcount *x = a, *y = b;

	if (x->kb != y->kb)
		return x->kb > y->kb ? -1 : 1;
	return x->flags < y->flags ? -1 : x->flags > y->flags;
}

static void
flags_line(const struct flagcount *c, uint64_t pagekb)
{
	const char *name, *sep;
	unsigned int i;

	printf("%9ju %10ju ", (uintmax_t)(c->kb / pagekb), (uintmax_t)c->kb);
	for (i = 0, sep = ""; i < 64; i++) {
		if (!(c->flags & (uint64_t)1 << i))
			continue;
		if ((name = pageflag_name(i)) != NULL)
			printf("%s%s", sep, name);
		else
			printf("%sbit_%u", sep, i);
		sep = ",";
	}
	printf("%s\n", *sep == '\0' ? "-" : "");
}

/*
 * Show which flags the pages of sp, a live process, have, by frames; *hidden is
 * set if there are more of them than are told. first tells that it is the first
 * that is shown.  Return 0, or -1 with errstr.
 */
int
flags_show(const struct space *sp, struct frames *frames, bool *hidden,
    bool first)
{
	struct flagcounts c = { 0 };
	struct flagcount sum = { 0 };
	uint64_t pagekb;
	bool some;
	size_t i;
	int rc;

	pagekb = (uint64_t)sysconf(_SC_PAGESIZE) / KB;
	rc = pageflags_live(&c, sp, frames, &some);
	if (rc == -1)
		goto out;
	*hidden = *hidden || some;
	printf("%s%ju: %s\n%9s %10s %s\n", first ? "" : "\n",
	    (uintmax_t)sp->pid, sp->name, "Pages", "KB", "Flags");
	if (c.n > 0)
		qsort(c.v, c.n, sizeof *c.v, flags_cmp);
	for (i = 0; i < c.n; i++) {
		flags_line(&c.v[i], pagekb);
		sum.kb += c.v[i].kb;
	}
	printf("%9ju %10ju total\n", (uintmax_t)(sum.kb / pagekb),
	    (uintmax_t)sum.kb);
out:
	free(c.v);
	return rc;
}
