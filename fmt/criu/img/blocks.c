/*
 * Pages that criu compressed with LZ4 (dump --compress, in images of version
 * 3): a pages image as a table of blocks, and as a source of the pages
 * themselves.
 *
 *	entry of the pagemap		pages-3.img
 *	10000, 2 pages			8192 bytes
 *	40000, 9, pages_per_block 4	the blocks, one after another:
 *	    block_sizes 16384		16384 bytes, the pages themselves
 *			0		nothing: all zero
 *			77		77 bytes, LZ4: one page, the last
 *	90000, 1, aligned		at the next multiple of the page size:
 *					4096 bytes
 *
 * Offsets of pages are those that they would have if nothing was compressed.
 */
#include "img.h"
#include "bisect.h"
#include "vec.h"

#include <pthread.h>
#ifdef LZ4
#include <lz4.h>
#endif

enum {
	MAX_BLOCK = 4 * 1024 * 1024,	/* criu writes no larger blocks */
	RATIO = 255		/* maximum bytes from one byte of LZ4 */
};

/*
 * Append a block to t that has len bytes of memory, in size bytes of the pages
 * image. Merge adjacent blocks of zeros, and adjacent raw blocks whose bytes
 * are also adjacent in the image.
 */
static int
block_add(struct blocks *t, uint64_t len, uint64_t size)
{
	struct block b = { t->len, t->stored, (uint32_t)size };
	const struct block *last;
	bool joins;

	if (size == len)
		b.size = BLOCK_RAW;
	last = t->n == 0 ? NULL : &t->v[t->n - 1];
	joins = last != NULL && last->size == b.size && (size == 0 ||
	    (size == len && b.at - last->at == b.off - last->off));
	if (!joins && VEC_ADD(t->v, t->n, b) == -1)
		return -1;
	t->packed |= size != 0 && size != len;
	if (__builtin_add_overflow(t->len, len, &t->len) ||
	    __builtin_add_overflow(t->stored, size, &t->stored))
		return errstr_set("more than 2^64 bytes of pages");
	return t->stored <= t->most ? 0 : errstr_set("pages end at byte %"
	    PRIu64 " of the pages image, which is only %" PRIu64
	    " bytes long", t->stored, t->most);
}

/*
 * Append to t the blocks b of an entry that has len bytes of memory, in pages
 * of page bytes. Fail if their number or a size is impossible: a byte of LZ4
 * data makes at most RATIO bytes.
 */
static int
blocks_sizes(struct blocks *t, const Criu__PagemapBlocks *b, uint64_t len,
    uint64_t page)
{
	uint64_t most, n, total;
	size_t i;

	most = b->pages_per_block * page;
	if (most == 0 || most > MAX_BLOCK)
		return errstr_set("blocks of %u pages", b->pages_per_block);
	if (b->n_block_sizes != len / most + (len % most != 0))
		return errstr_set("sizes of %zu blocks for %" PRIu64 " pages",
		    b->n_block_sizes, len / page);
	for (i = 0, total = 0; i < b->n_block_sizes; i++, len -= n) {
		n = len < most ? len : most;
		if (b->block_sizes[i] > n || (b->block_sizes[i] != 0 &&
		    (uint64_t)b->block_sizes[i] * RATIO < n))
			return errstr_set("block %zu has %u bytes for %"
			    PRIu64, i + 1, b->block_sizes[i], n);
		if (block_add(t, n, b->block_sizes[i]) == -1)
			return -1;
		total += b->block_sizes[i];
	}
	return total == b->total_payload_size ? 0 : errstr_set("blocks have %"
	    PRIu64 " bytes together, not %" PRIu64, total,
	    b->total_payload_size);
}

/*
 * Append to t the blocks of entry e, which is present and has len bytes of
 * memory, in pages of page bytes. Return 0, or -1 with errstr set.
 */
int
blocks_add(struct blocks *t, const Criu__PagemapEntry *e, uint64_t len,
    uint64_t page)
{
	Criu__PagemapBlocks *b;
	uint64_t end;
	int rc;

	if (e->flags & PE_ALIGNED) {
		if (__builtin_add_overflow(t->stored, page - 1, &end))
			return errstr_set("more than 2^64 bytes of pages");
		t->stored = end / page * page;
	}
	if (e->has_total_compressed_size || e->has_region_pages)
		return errstr_set("compressed as in versions of criu-dev "
		    "before August 2026, which is not supported");
	if (!e->has_blocks)
		return block_add(t, len, len);
	b = criu__pagemap_blocks__unpack(NULL, e->blocks.len, e->blocks.data);
	if (b == NULL)
		return errstr_set("cannot parse a PagemapBlocks");
	rc = b->base.n_unknown_fields > 0 ? errstr_set("a field of "
	    "PagemapBlocks is unknown") : blocks_sizes(t, b, len, page);
	criu__pagemap_blocks__free_unpacked(b, NULL);
	return rc;
}

/*
 * Return true if the offsets of pages are also those in the pages image.
 */
bool
blocks_plain(const struct blocks *t)
{
	return t->n == 0 || (t->n == 1 && t->v->size == BLOCK_RAW);
}

/*
 * Set *zero to whether the byte at offset off, below t->len, is in a block of
 * zeros. Return for how many bytes, at most len, the same is true.
 */
uint64_t
blocks_zeros(const struct blocks *t, uint64_t off, uint64_t len, bool *zero)
{
	const uint64_t end = off + len;
	size_t i;

	i = BISECT_WHILE(k, t->n, t->v[k].off <= off);
	*zero = t->v[i - 1].size == 0;
	while (i < t->n && t->v[i].off < end && (t->v[i].size == 0) == *zero)
		i++;
	return i < t->n && t->v[i].off < end ? t->v[i].off - off : len;
}

struct blocksource {
	struct source	 src;
	struct blocks	 t;	/* owned */
	struct imgsource in;	/* the pages image */
};

/*
 * The last block that was read. All sources share it, because each of a
 * thousand processes has one, and pages of a block are read one after another.
 */
static struct window {
	pthread_mutex_t	 lock;
	const struct blocksource *s; /* borrowed; source of b */
	const struct block *b;	/* borrowed; NULL: none */
	int		 rc;	/* SOURCE_OK: raw has the pages of b */
	uint8_t		*raw;	/* owned; MAX_BLOCK bytes */
	uint8_t		*packed; /* owned; as it is in the pages image */
} window = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Read run r of the pages image of s into buf, as source_runs() does. The
 * location of r is an offset in the image.
 */
static int
stored_read(const struct blocksource *s, struct run r, uint8_t *buf)
{
	r.loc += s->in.loc;
	/* errstr names a byte of an archive together with the archive */
	return s->in.loc == 0 ? source_runs(s->in.src, &r, 1, buf) :
	    source_read(s->in.src, &r, 1, buf);
}

/*
 * Decompress block b of s, which has len bytes of memory, into the window,
 * which is locked, unless that was tried last. Return SOURCE_OK, SOURCE_LOST or
 * -1, as source_read() does.
 */
static int
window_fill(const struct blocksource *s, const struct block *b, uint64_t len)
{
	struct run r = { b->at, (b->size + (KB - 1)) / KB };
	struct window *w = &window;

	if (w->raw == NULL && ((w->packed == NULL && (w->packed = mem_new(1,
	    MAX_BLOCK)) == NULL) || (w->raw = mem_new(1, MAX_BLOCK)) == NULL))
		return -1;
	if (w->s != s || w->b != b) {
		w->s = s;
		w->b = b;
		w->rc = stored_read(s, r, w->packed);
#ifdef LZ4
		if (w->rc == SOURCE_OK && LZ4_decompress_safe((const char *)
		    w->packed, (char *)w->raw, (int)b->size, (int)len) !=
		    (int)len)
			w->rc = SOURCE_LOST;
#endif
	}
	if (w->rc == -1)
		w->s = NULL;	/* its message is not remembered */
	else if (w->rc == SOURCE_LOST)
		errstr_set("byte %" PRIu64 ": %u bytes are missing, or LZ4 "
		    "does not decompress them to %" PRIu64, r.loc, b->size,
		    len);
	return w->rc;
}

/*
 * Read up to n bytes at offset off of s into buf: those of one block. Set *n to
 * their number.
 */
static int
block_read(struct blocksource *s, uint8_t *buf, uint64_t off, uint64_t *n)
{
	const struct block *b;
	uint64_t end;
	size_t i;
	int rc;

	i = BISECT_WHILE(k, s->t.n, s->t.v[k].off <= off);
	b = &s->t.v[i - 1];
	end = i < s->t.n ? s->t.v[i].off : s->t.len;
	*n = *n < end - off ? *n : end - off;
	if (b->size == BLOCK_RAW)
		return stored_read(s, (struct run){ b->at + (off - b->off),
		    *n / KB }, buf);
	pthread_mutex_lock(&window.lock);
	if ((rc = window_fill(s, b, end - b->off)) == SOURCE_OK)
		memcpy(buf, window.raw + (off - b->off), (size_t)*n);
	pthread_mutex_unlock(&window.lock);
	return rc;
}

/*
 * Read the n runs of kilobytes at r into buf. This is many() of struct
 * source_ops.
 */
static int
blocksource_read(struct source *src, const struct run *r, size_t n,
    uint8_t *buf)
{
	struct blocksource *s = (struct blocksource *)src;
	uint64_t off, left, some;
	int rc;

	for (rc = SOURCE_OK; n > 0 && rc == SOURCE_OK; n--, r++) {
		off = r->loc;
		for (left = r->n * KB; left > 0 && rc == SOURCE_OK;
		    left -= some) {
			some = left;
			rc = block_read(s, buf, off, &some);
			off += some;
			buf += some;
		}
	}
	return rc;
}

static void
blocksource_free(struct source *src)
{
	struct blocksource *s = (struct blocksource *)src;

	pthread_mutex_lock(&window.lock);
	if (window.s == s)
		window.s = NULL;
	pthread_mutex_unlock(&window.lock);
	free(s->t.v);
}

static const struct source_ops blocksource_ops = {
	.many = blocksource_read, .free = blocksource_free
};

/*
 * Make a source of snapshot s that has the pages of pages image in, except
 * those in blocks of zeros. name is the image in messages, and t has its
 * blocks, which are taken from t. Return the source, or NULL with errstr set.
 */
struct source *
blocks_source(struct snap *s, struct blocks *t, const struct imgsource *in,
    const char *name)
{
	struct blocksource *b;

#ifndef LZ4
	if (t->packed) {
		errstr_set("%s: compressed with LZ4, but this program was "
		    "built without it", name);
		return NULL;
	}
#endif
	b = source_new(s, sizeof *b, &blocksource_ops, name, KB);
	if (b == NULL)
		return NULL;
	b->t = *t;
	b->in = *in;
	memset(t, 0, sizeof *t);
	return &b->src;
}
