/*
 * Write pages images that are compressed with LZ4, which criu/img/blocks.c
 * reads. The pages of each entry of a pagemap are divided into blocks:
 *
 *	pages of the entry	sizes	pages-1.img
 *	256 KiB, zeros		0
 *	256 KiB			9000	[ LZ4 ]
 *	256 KiB, noise		262144	       [ the pages themselves  ]
 *	8 KiB			77				        [LZ4]
 *
 * If the first bytes of an entry in the image are the pages themselves, they
 * begin at a multiple of the page size. If all are, the pagemap has no sizes.
 */
#include "write.h"
#include "full.h"
#include "num.h"
#include "vec.h"

#ifdef LZ4
#include <lz4.h>
#endif

/*
 * Append the len bytes at p to the image, or len zeros if p is NULL. If raw is
 * true, these bytes are pages that are not compressed.
 */
static int
pack_write(struct packer *k, const uint8_t *p, uint64_t len, bool raw)
{
	if (raw && k->payload == 0 && len > 0) {
		k->aligned = true;
		k->size = (k->size + k->page - 1) / k->page * k->page;
	}
	if (p != NULL && full_pwrite(k->fd, p, (size_t)len,
	    k->size) == -1)
		return errstr_sys("%s", k->name);
	k->size += len;
	k->payload += len;
	return 0;
}

/*
 * Compress the bytes of k->raw. Return the number of compressed bytes, 0 if all
 * bytes are zero, or k->len if less than an eighth would be saved: criu stores
 * such a block as it is.
 */
static size_t
pack_block(struct packer *k)
{
	int n = 0;

	if (bytes_arezero(k->raw, k->len))
		return 0;
#ifdef LZ4
	n = LZ4_compress_default((const char *)k->raw, (char *)k->lz4,
	    (int)k->len, (int)(k->len / 8 * 7 - 1));
#endif
	return n > 0 ? (size_t)n : k->len;
}

/*
 * Write the block in k->raw, if there is one.
 */
static int
pack_flush(struct packer *k)
{
	const size_t n = k->len == 0 ? 0 : pack_block(k);
	const bool raw = n == k->len;

	if (k->len == 0)
		return 0;
	k->packed |= !raw;
	k->len = 0;
	return VEC_ADD(k->v, k->n, (uint32_t)n) == -1 ? -1 :
	    pack_write(k, raw ? k->raw : k->lz4, n, raw);
}

/*
 * Append to the current entry of the pagemap the pages in the len bytes at p,
 * or len zeros if p is NULL. Do not compress them if raw is true, which must be
 * so for all pages of an entry or none. Return 0, or -1 with errstr set.
 */
int
pack_add(struct packer *k, const uint8_t *p, uint64_t len, bool raw)
{
	size_t n;

	if (raw)
		return pack_write(k, p, len, true);
	for (; len > 0; len -= n) {
		n = PACK_BLOCK - k->len;
		if (n > len)
			n = (size_t)len;
		if (p != NULL) {
			memcpy(k->raw + k->len, p, n);
			p += n;
		} else if (n == PACK_BLOCK) {
			k->packed = true;
			if (VEC_ADD(k->v, k->n, 0) == -1)
				return -1;
			continue;
		} else
			memset(k->raw + k->len, 0, n);
		k->len += n;
		if (k->len == PACK_BLOCK && pack_flush(k) == -1)
			return -1;
	}
	return 0;
}

/*
 * End the current entry: append it to pagemap image img as p, with the sizes of
 * its blocks. Return 0, or -1 with errstr set.
 */
int
pack_entry(struct packer *k, struct buf *img, const struct pages *p)
{
	Criu__PagemapBlocks b = CRIU__PAGEMAP_BLOCKS__INIT;
	struct pages e = *p;

	if (pack_flush(k) == -1)
		return -1;
	if (k->aligned)
		e.flags |= PE_ALIGNED;
	b.block_sizes = k->v;
	b.n_block_sizes = k->n;
	b.total_payload_size = k->payload;
	b.pages_per_block = (uint32_t)(PACK_BLOCK / k->page);
	pagemap_put(img, &e, k->page, k->packed ? &b : NULL);
	free(k->v);
	k->v = NULL;
	k->n = 0;
	k->payload = 0;
	k->aligned = k->packed = false;
	return 0;
}
