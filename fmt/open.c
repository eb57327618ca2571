/*
 * Any source: the first bytes tell which reader it takes.
 */
#include "snap.h"

#include <string.h>

/*
 * An ELF core as a snapshot of one process.
 */
static struct snap *
open_core(struct input *in, const struct readopts *o)
{
	struct coreopts co = { .warn = o == NULL ? NULL : o->warn,
	    .arg = o == NULL ? NULL : o->arg };
	struct snap *s;

	if ((s = snap_new()) != NULL && core_load(s, in, &co) == -1) {
		snap_free(s);
		s = NULL;
	}
	return s;
}

/*
 * Read a snapshot from a path, or from standard input where it is NULL or
 * "-".  Options as in snap6_read; of an ELF core, o->warn is told what is
 * missing from it.  NULL on an error.
 */
struct snap *
snap_open(const char *path, const struct readopts *o)
{
	struct input *in;
	struct snap *s;
	const uint8_t *p;

	if ((in = input_open(path)) == NULL)
		return NULL;
	s = NULL;
	p = input_peek(in, 4);
	if (p != NULL && memcmp(p, "\177ELF", 4) == 0)
		s = open_core(in, o);
	else if (p != NULL && memcmp(p, "\037\213", 2) == 0)
		errstr_set("%s: compressed with gzip; use zcat first",
		    in->name);
	else
		s = snap6_read(in, o);
	if (s != NULL)
		s->st = in->st;
	input_close(in);
	return s;
}
