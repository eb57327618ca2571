/*
 * Say in an inventory whether the pages of its checkpoint are compressed. A
 * version of criu that cannot decompress them refuses the inventory.
 */
#include "img.h"
#include "num.h"

/*
 * Change inventory image b, whose bytes are from malloc(3), so that it
 * describes pages that are compressed in blocks of block bytes, or pages that
 * are not compressed if block is 0. Return 0, or -1 with errstr set.
 */
int
inventory_pack(struct buf *b, uint32_t block)
{
	Criu__Inventory *inv;
	struct buf out = { 0 };
	struct criuimg im;
	int rc;

	rc = criuimg_memory(&im, "inventory.img", b->data, b->len,
	    CRIU_INVENTORY);
	if (rc == 0 && (rc = criuimg_next(&im, &criu__inventory__descriptor,
	    &inv)) == 1) {
		if (block != 0 || inv->img_version == COMPRESSED) {
			inv->img_version = block != 0 ? COMPRESSED : CURRENT;
			inv->has_compress = block != 0;
			inv->compress = 1;	/* LZ4 */
			inv->has_compress_block_size = block != 0;
			inv->compress_block_size = block;
			num_add(&out, CRIU_INVENTORY, 4);
			criuimg_add(&out, &inv->base);
			buf_free(b);
			*b = out;
			rc = buf_check(b);
		}
		protobuf_c_message_free_unpacked(&inv->base, NULL);
	}
	criuimg_close(&im);
	return rc == -1 ? -1 : 0;
}
