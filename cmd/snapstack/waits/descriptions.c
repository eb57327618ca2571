/*
 * Open file descriptions, of which the record of the first process that has
 * one tells.  The records of all processes of a snapshot are taken apart once.
 */
#include "waits.h"

#include <stdlib.h>

static struct {
	const struct snap *snap; /* borrowed; whose records they are, or NULL */
	struct linuxrec	*v;	/* owned */
	size_t		 n;
} all;

/*
 * Forget the records of a snapshot, which is closed or changes.
 */
void
descriptions_forget(void)
{
	while (all.n > 0)
		linuxrec_close(&all.v[--all.n]);
	free(all.v);
	all.v = NULL;
	all.snap = NULL;
}

static void
records_open(const struct snap *s)
{
	const struct file *rec;
	size_t i;

	descriptions_forget();
	if ((all.v = calloc(s->nproc + 1, sizeof *all.v)) == NULL)
		return;
	all.snap = s;
	for (i = 0; i < s->nproc; i++) {
		if (!proc_isprocess(s->proc[i]))
			continue;
		rec = proc_file(s->proc[i], "proc");
		if (rec != NULL && linuxrec_open(&all.v[all.n], rec) != -1)
			all.n++;
	}
}

/*
 * Find the file of that name in the records of snapshot s, as f.  Return false
 * if no process has it.
 */
bool
description_find(const struct snap *s, const char *name, struct recfile *f)
{
	size_t i;

	if (all.snap != s)
		records_open(s);
	for (i = 0; i < all.n; i++)
		if (linuxrec_find(&all.v[i], name, f))
			return true;
	return false;
}
