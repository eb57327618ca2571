/*
 * Open any kind of source: choose the reader for a directory, or by the first
 * bytes.
 */
#include "core/read/read.h"
#include "criu/read/read.h"
#include "snap6/snap6.h"

enum { TRIES = 10 };		/* how often to open a file that changes */

/*
 * Return true if path does not mean standard input.
 */
static bool
is_named(const char *path)
{
	return path != NULL && strcmp(path, "-") != 0;
}

static bool
is_dir(const char *path)
{
	struct stat st;

	return is_named(path) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/*
 * Read stream *in with the reader for the format that its first bytes show.
 */
static struct snap *
read_any(struct input *in, const struct readopts *o)
{
	size_t n = input_fill(in, TAR_BLOCK);
	const uint8_t *p = in->buf + in->start;

	if (n >= 4 && memcmp(p, "\177ELF", 4) == 0)
		return core_load(in, o);
	return tar_magic(p, n) ? criu_readtar(in, o) : snap6_read(in, o);
}

/*
 * Read *in with options o. Return the snapshot, or NULL with errstr set.
 */
static struct snap *
input_load(struct input *in, const struct readopts *o)
{
	struct snap *s = NULL;

	/* spool first, because a damaged file is not read in order */
	if ((o->salvage && in->size == UINT64_MAX && input_spool(in) == -1) ||
	    input_gunzip(in, o->salvage) == -1 ||
	    (s = read_any(in, o)) == NULL)
		return NULL;
	s->st = in->st;
	if (!o->moments)
		s = moment_keep(s, in->name, o);
	if (s != NULL && s->moment != 0 && o->store != NULL) {
		o->store->snap = s;
		if (in->size == UINT64_MAX) {
			snap_free(s);
			errstr_set("%s: a series must be a file", in->name);
			return NULL;
		}
	}
	return s;
}

/*
 * Read a snapshot from path, or from standard input if path is NULL or "-". The
 * input may be a snapshot, an ELF core, or CRIU images in a directory or a
 * tar(1) archive. A file may be compressed with gzip or zstd. o has the options
 * of snap6_read(), or is NULL. For a core and for CRIU images, o->warn is
 * called with a message about each thing that is missing. If the input is a
 * series, return moment o->moment of it. Return the snapshot, or NULL with
 * errstr set.
 */
struct snap *
snap_load(const char *path, const struct readopts *o)
{
	static const struct readopts none;
	struct input *in;
	struct snap *s;
	bool again;
	int i = 0;

	if (o == NULL)
		o = &none;
	if (is_dir(path)) {
		s = criu_read(path, o);
		return s == NULL || o->moments ? s : moment_keep(s, path, o);
	}
	do {
		if ((in = input_open(path)) == NULL)
			return NULL;
		s = input_load(in, o);
		/* a series that grows: another moment has replaced the last
		   members of the compressed file */
		again = s == NULL && ++i < TRIES && is_named(path) &&
		    !input_plain(in) && input_changed(in) &&
		    o->store == NULL && !o->scan;
		input_close(in);
	} while (again);
	return s;
}

/*
 * Set *l to all moments of the input at path, which snap_load() reads with
 * options o. The caller frees them with momentset_close(). Return 0, or -1 with
 * errstr set.
 */
int
momentset_load(struct momentset *l, const char *path,
    const struct readopts *o)
{
	struct readopts all = *o;
	struct snap *s;

	*l = (struct momentset){ 0 };
	all.moments = true;
	return (s = snap_load(path, &all)) == NULL ? -1 :
	    momentset_make(l, s, o);
}
