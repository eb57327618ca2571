/*
 * A compressed stream that we wrote (file.c) as a source of pages.
 */
#include "gzip.h"
#include "source.h"

struct gzipsource {
	struct source	 src;
	struct gzipfile	*file;	/* owned reference */
};

/*
 * Read one kilobyte at loc into buf. If tagged is set, the byte before it must
 * be "r", as in a snap(6) stream.
 */
static int
slots_page(struct gzipfile *f, struct slot **held, uint8_t *buf, uint64_t loc,
    bool tagged)
{
	uint8_t tag;

	if (tagged && slots_read(f, held, &tag, 1, loc - 1) == -1)
		return -1;
	if (tagged && tag != PAGE_TAG)
		return errstr_set("byte %" PRIu64 ": expected a page, found "
		    "0x%02x", loc - 1, tag);
	return slots_read(f, held, buf, KB, loc);
}

/*
 * Read the n runs of kilobytes at r into buf. This is many() of struct
 * source_ops. Return SOURCE_OK, or SOURCE_LOST if one of the kilobytes is
 * damaged.
 */
static int
gzipsource_read(struct source *src, const struct run *r, size_t n,
    uint8_t *buf)
{
	struct gzipfile *f = ((struct gzipsource *)src)->file;
	struct slot *held;
	uint64_t k;
	size_t i;
	int rc;

	held = NULL;
	for (i = 0, rc = 0; i < n && rc == 0; i++)
		for (k = 0; k < r[i].n && rc == 0; k++, buf += KB)
			rc = slots_page(f, &held, buf, r[i].loc + k *
			    src->pitch, src->pitch == KB + 1);
	if (held != NULL)
		slot_put(f, held);
	return rc == 0 ? SOURCE_OK : SOURCE_LOST;
}

static void
gzipsource_free(struct source *src)
{
	gzipfile_free(((struct gzipsource *)src)->file);
}

static const struct source_ops gzipsource_ops = {
	.many = gzipsource_read, .free = gzipsource_free
};

/*
 * Make a source of snapshot s that reads f. Its kilobytes are pitch bytes
 * apart. Its locations are positions in the decompressed stream. name is for
 * messages. Return the source, or NULL with errstr set.
 */
struct source *
gzipfile_source(struct snap *s, struct gzipfile *f, const char *name,
    uint32_t pitch)
{
	struct gzipsource *g;

	g = source_new(s, sizeof *g, &gzipsource_ops, name, pitch);
	if (g == NULL)
		return NULL;
	g->file = gzipfile_share(f);
	return &g->src;
}
