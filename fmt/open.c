/*
 * Any source: a directory, or the first bytes, tell which reader it takes.
 */
#include "core/read/read.h"
#include "criu/read/read.h"
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

/*
 * Such images in an archive.
 */
static struct snap *
open_tar(struct input *in, const struct readopts *o)
{
	struct snap *s;

	if ((s = snap_new()) != NULL && criu_readtar(s, in, o == NULL ? NULL :
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
 * Read what the first bytes tell it is.
 */
static struct snap *
read_any(struct input *in, const struct readopts *o)
{
	size_t n = input_fill(in, TAR_BLOCK);
	const uint8_t *p = in->buf + in->start;

	if (n >= 4 && memcmp(p, "\177ELF", 4) == 0)
		return open_core(in, o);
	return tar_magic(p, n) ? open_tar(in, o) : snap6_read(in, o);
}

/*
 * Read a snapshot from a path, or from standard input where it is NULL or "-";
 * it may be compressed with gzip or zstd.  CRIU images are a directory, or an
 * archive of tar(1).  The options o are those of snap6_read; of an ELF core and
 * of CRIU images, o->warn is told what is missing from them.  Return it, or
 * NULL with errstr.
 */
struct snap *
snap_open(const char *path, const struct readopts *o)
{
	return is_dir(path) ? open_criu(path, o) :
	    snap6_stream(path, o, read_any);
}
