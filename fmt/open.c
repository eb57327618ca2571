/*
 * Any source: a directory, or the first bytes, tell which reader it takes.
 */
#include "core/read/read.h"
#include "snap6/snap6.h"

#include <sys/stat.h>

#include <string.h>

/*
 * An ELF core as a snapshot of one process.
 */
static struct snap *
open_core(struct input *in, const struct readopts *o)
{
	struct coreopts co = { .warn = o == NULL ? NULL : o->warn,
	    .arg = o == NULL ? NULL : o->arg,
	    .progress = o == NULL ? NULL : o->progress };
	struct snap *s;

	if ((s = snap_new()) != NULL && core_load(s, in, &co) == -1) {
		snap_free(s);
		s = NULL;
	}
	return s;
}

/*
 * A directory of CRIU images.
 */
static struct snap *
open_criu(const char *dir, const struct readopts *o)
{
	struct snap *s;

	if ((s = snap_new()) != NULL && criu_read(s, dir, o == NULL ? NULL :
	    o->warn, o == NULL ? NULL : o->arg) == -1) {
		snap_free(s);
		s = NULL;
	}
	return s;
}

static bool
is_dir(const char *path)
{
	struct stat st;

	return path != NULL && strcmp(path, "-") != 0 &&
	    stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * Read a snapshot from a path, or from standard input where it is NULL or
 * "-"; it may be compressed with gzip.  Options as in snap6_read; of an ELF
 * core and of CRIU images, o->warn is told what is missing from them.  NULL on
 * an error.
 */
struct snap *
snap_open(const char *path, const struct readopts *o)
{
	struct input *in;
	struct snap *s;
	const uint8_t *p;

	if (is_dir(path))
		return open_criu(path, o);
	if ((in = input_open(path)) == NULL)
		return NULL;
	s = NULL;
	/* behind damage in a compressed one is more, but not in order */
	if (o != NULL && o->salvage && in->size == UINT64_MAX &&
	    input_spool(in) == -1)
		goto out;
	if (input_gunzip(in, o != NULL && o->salvage) == -1)
		goto out;
	p = input_peek(in, 4);
	if (p != NULL && memcmp(p, "\177ELF", 4) == 0)
		s = open_core(in, o);
	else
		s = snap6_read(in, o);
	if (s != NULL)
		s->st = in->st;
out:
	input_close(in);
	return s;
}
