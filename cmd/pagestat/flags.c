/*
 * Print a histogram of page flags.
 */
#include "pagestat.h"
#include "bisect.h"

#include <unistd.h>

enum { F_PID, F_NAME, F_PAGES, F_SIZE, F_FLAGS, COLUMNS };

static struct column columns[COLUMNS] = {
	[F_PID] = { "PID", "pid", RIGHT },
	[F_NAME] = { "NAME", "name", 0 },
	[F_PAGES] = { "PAGES", "pages", RIGHT | SHOW },
	[F_SIZE] = { "SIZE", "size", RIGHT | SHOW },
	[F_FLAGS] = { "FLAGS", "flags", CUT | SHOW }
};

CMP_BY(flags_cmp, struct flagcount, x->kb != y->kb ? ORDER(y->kb, x->kb) :
    ORDER(x->flags, y->flags))

/*
 * Return an empty table for page flags, with options o. If many is true, the
 * table has a process ID column.
 */
struct table *
flags_begin(const struct tableopts *o, bool many)
{
	if (many)
		columns[F_PID].flags |= SHOW;
	return table_new(columns, COLUMNS, o, "flags");
}

/*
 * Write the names of the bits that are set in flags, separated by commas, to s,
 * which has room for size bytes.
 */
static void
flags_text(uint64_t flags, char *s, size_t size)
{
	const char *name;
	char bit[16];
	unsigned int i;

	*s = '\0';
	for (i = 0; i < 64; i++) {
		if (!(flags & (uint64_t)1 << i))
			continue;
		snprintf(bit, sizeof bit, "bit_%u", i);
		name = pageflag_name(i);
		strlcat(s, *s == '\0' ? "" : ",", size);
		strlcat(s, name != NULL ? name : bit, size);
	}
}

static void
flags_line(struct table *t, const struct space *sp, uint64_t kb,
    const char *flags)
{
	table_line(t);
	table_number(t, F_PID, sp->pid);
	table_text(t, F_NAME, sp->name);
	table_number(t, F_PAGES, kb * KB / (uint64_t)sysconf(_SC_PAGESIZE));
	table_bytes(t, F_SIZE, kb * KB);
	table_text(t, F_FLAGS, flags);
}

/*
 * Add a line to table t, which has options o, for each combination of flags
 * that occurs in the pages of live process sp. Read the flags from frames. Set
 * *hidden to true if some flags cannot be read without privilege. Return 0, or
 * -1 with errstr set.
 */
int
flags_add(struct table *t, const struct tableopts *o, const struct space *sp,
    struct frames *frames, bool *hidden)
{
	struct flagcounts c = { 0 };
	char text[1024];
	uint64_t kb = 0;
	bool some;
	size_t i;
	int rc;

	rc = pageflags_live(&c, sp, frames, &some);
	if (rc == -1)
		goto out;
	*hidden = *hidden || some;
	SORT(c.v, c.n, flags_cmp);
	for (i = 0; i < c.n; i++) {
		flags_text(c.v[i].flags, text, sizeof text);
		flags_line(t, sp, c.v[i].kb, text);
		kb += c.v[i].kb;
	}
	if (!o->json && !o->bare)
		flags_line(t, sp, kb, "total");
out:
	free(c.v);
	return rc;
}
