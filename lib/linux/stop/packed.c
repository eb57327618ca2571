/*
 * Register sets, in the form in which they are kept while threads are stopped.
 * Extended state takes kilobytes and most of them are zero, so blocks of 64
 * bytes that are all zero are left out. A packed set consists of
 *
 *	its unpacked length, 8 bytes in the machine's byte order
 *	a bitmap of the blocks that follow; bit 0 of byte 0 is the first block
 *	the blocks whose bit is set
 */
#include "stopping.h"
#include "vec.h"

enum { BLOCK = 64, HEAD = 8 };

static size_t
blocks_in(size_t len)
{
	return (len + BLOCK - 1) / BLOCK;
}

/*
 * Return the offset of the first block in a packed register set whose unpacked
 * length is len.
 */
static size_t
blocks_at(size_t len)
{
	return HEAD + (blocks_in(len) + 7) / 8;
}

/*
 * Return the size of block i of a buffer of len bytes; the last block may be
 * short.
 */
static size_t
block_len(size_t len, size_t i)
{
	return len - i * BLOCK < BLOCK ? len - i * BLOCK : BLOCK;
}

/*
 * Pack the len bytes at data, and add them to list l as a file called name.
 */
void
filelist_pack(struct filelist *l, const char *name, const uint8_t *data,
    size_t len)
{
	static const uint8_t zero[BLOCK];
	const uint64_t head = len;
	struct buf b = { 0 };
	uint8_t *p;
	size_t i, n;

	if ((p = buf_room(&b, blocks_at(len))) != NULL) {
		memset(p, 0, blocks_at(len));
		memcpy(p, &head, HEAD);
		b.len = blocks_at(len);
	}
	for (i = 0; i < blocks_in(len) && !b.failed; i++) {
		n = block_len(len, i);
		if (memcmp(data + i * BLOCK, zero, n) == 0)
			continue;
		b.data[HEAD + i / 8] |= (uint8_t)(1 << i % 8);
		buf_add(&b, data + i * BLOCK, n);
	}
	filelist_buf(l, name, &b);
}

/*
 * Unpack the contents of file f, which filelist_pack() made. Return 0, or -1
 * with errstr set if memory runs out.
 */
int
file_unpack(struct file *f)
{
	const uint8_t *from;
	uint8_t *data;
	uint64_t head;
	size_t i, len, n;

	memcpy(&head, f->data, HEAD);
	len = (size_t)head;
	if ((data = mem_new(len, 1)) == NULL)
		return -1;
	from = f->data + blocks_at(len);
	for (i = 0; i < blocks_in(len); i++) {
		if (!(f->data[HEAD + i / 8] >> i % 8 & 1))
			continue;
		n = block_len(len, i);
		memcpy(data + i * BLOCK, from, n);
		from += n;
	}
	free(f->data);
	f->data = data;
	f->len = len;
	return 0;
}
