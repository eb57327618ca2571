/*
 * Members of a compressed snapshot (snap(6)): each is a complete gzip file (RFC
 * 1952) that contains a megabyte; the last one may have less, and an empty
 * member marks the end.
 *
 *	1f 8b 08 04 00 00 00 00 04 03	gzip, deflate, an extra field, no
 *					time, fastest, Unix
 *	0c 00				length of the extra field
 *	'S' 'N' 08 00			our subfield, eight bytes
 *	len[4] raw[4]			bytes of the member; of its contents
 *	...				deflate (RFC 1951)
 *	crc32[4] raw[4]			checksum and bytes of its contents
 *
 * If there are enough members, the empty one has another subfield:
 *
 *	'S' 'T' length[2]
 *	len[4] ...			bytes of each other member
 *	len[4]				its own bytes, to find it from the end
 *
 * Numbers are little-endian.
 */
#include "gzip.h"

#include "num.h"

enum {
	XLEN = 10,		/* offsets of the numbers XLEN, LEN and RAW in a
				   member's header */
	LEN = 16,
	RAW = 20,
	LIST = 28,		/* offset of the list of lengths */
	TAIL = 8,
	MEMLEVEL = 8, /* memLevel of zlib: 9 is no faster, and 0.5% larger */
	SLICE = 65536,		/* size of the pieces that are each judged to be
				   noise or not, in bytes */
	SAMPLE = 4096,		/* number of bytes in a slice to judge first */
	FLAT = 4096 /* slices with a lower chi-squared value are noise */
};

static const uint8_t fixed[LEN] = {
	0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 4, 3, 12, 0, 'S', 'N', 8, 0
};

/*
 * Return true if the n bytes at p begin a gzip file (RFC 1952).
 */
bool
gzip_magic(const uint8_t *p, size_t n)
{
	return n >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

/*
 * Parse the header of a member, the GZIP_HEAD bytes at p, into *h. Return 1 on
 * success, 0 if we did not write the member, or -1 with errstr set if we did
 * but the numbers in its header are impossible.
 */
int
gzip_head(const uint8_t *p, struct gzhead *h)
{
	if (memcmp(p, fixed, XLEN) != 0 ||
	    memcmp(p + XLEN + 2, fixed + XLEN + 2, LEN - XLEN - 2) != 0)
		return 0;
	h->head = (size_t)num_get(p + XLEN, 2) + XLEN + 2;
	h->len = (size_t)num_get(p + LEN, 4);
	h->raw = (size_t)num_get(p + RAW, 4);
	if (h->head != GZIP_HEAD) {
		if (h->head < LIST + 4 * (GZIP_MANY + 1) || h->head % 4 != 0 ||
		    h->len != h->head + 2 + TAIL || h->raw != 0)
			return errstr_set("its header is damaged");
		return 1;
	}
	if (h->len < MIN_GZIP || h->len > MAX_GZIP)
		return errstr_set("its header claims %zu bytes; expected %d "
		    "to %d", h->len, MIN_GZIP, MAX_GZIP);
	if (h->raw > GZIP_RAW)
		return errstr_set("its header claims %zu bytes of contents; "
		    "expected at most %d", h->raw, GZIP_RAW);
	if ((h->raw == 0) != (h->len == MIN_GZIP) ||
	    h->raw / GZIP_RATIO > h->len)
		return errstr_set("its header claims that %zu bytes hold %zu: "
		    "impossible with deflate", h->len, h->raw);
	return 1;
}

/*
 * Set up z, which must be all zero, for gzip_pack(). The caller frees it with
 * deflateEnd(). Return 0, or -1 with errstr set.
 */
int
gzip_packer(z_stream *z)
{
	return deflateInit2(z, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS,
	    MEMLEVEL, Z_DEFAULT_STRATEGY) == Z_OK ? 0 :
	    errstr_set("out of memory");
}

/*
 * Return how uneven the frequencies of byte values are among the SLICE bytes at
 * p. The measure is Pearson's chi-squared. Use every step-th run of 64 bytes.
 */
static uint64_t
chi_squared(const uint8_t *p, size_t step)
{
	uint32_t count[4][256] = { { 0 } };
	uint64_t c, sum;
	size_t i, k;

	/* four tables, so that equal adjacent bytes do not wait for the same
	   counter */
	for (i = 0; i < SLICE; i += 64 * step)
		for (k = i; k < i + 64; k += 4) {
			count[0][p[k]]++;
			count[1][p[k + 1]]++;
			count[2][p[k + 2]]++;
			count[3][p[k + 3]]++;
		}
	for (i = 0, sum = 0; i < 256; i++) {
		c = count[0][i] + count[1][i] + count[2][i] + count[3][i];
		sum += c * c;
	}
	return sum * 256 / (SLICE / step) - SLICE / step;
}

/*
 * Return true if the n bytes at p look like noise, as encrypted or compressed
 * bytes do. Deflate would save at most 0.6% of them, and would take ten times
 * as long as for other bytes.
 */
static bool
is_flat(const uint8_t *p, size_t n)
{
	return n == SLICE && chi_squared(p, SLICE / SAMPLE) < FLAT / 4 &&
	    chi_squared(p, 1) < FLAT;
}

/*
 * Deflate the n bytes at raw, but store noise uncompressed.
 */
static int
deflate_slices(z_stream *z, const uint8_t *raw, size_t n)
{
	size_t i, part;
	int rc, flush, level;

	rc = deflateReset(z);
	for (i = 0, flush = Z_NO_FLUSH; rc == Z_OK && flush != Z_FINISH;
	    i += part) {
		part = n - i < SLICE ? n - i : SLICE;
		level = is_flat(raw + i, part) ? Z_NO_COMPRESSION :
		    Z_BEST_SPEED;
		rc = deflateParams(z, level, Z_DEFAULT_STRATEGY);
		if (rc != Z_OK)
			break;
		flush = i + part == n ? Z_FINISH : Z_NO_FLUSH;
		z->next_in = raw + i;
		z->avail_in = (uInt)part;
		rc = deflate(z, flush);
	}
	return rc == Z_STREAM_END ? 0 : -1;
}

/*
 * Compress the n bytes at raw (at most GZIP_RAW) into a gzip member at out. out
 * must have room for GZIP_ROOM bytes. z must have been set up by gzip_packer().
 * Return the length of the member, or 0 if zlib fails.
 */
size_t
gzip_pack(z_stream *z, const uint8_t *raw, size_t n, uint8_t *out)
{
	size_t len;

	z->next_out = out + GZIP_HEAD;
	z->avail_out = GZIP_ROOM - GZIP_HEAD - TAIL;
	if (deflate_slices(z, raw, n) == -1)
		return 0;
	len = (size_t)(z->next_out - out);
	num_put(out + len, crc32(0, raw, (uInt)n), 4);
	num_put(out + len + 4, n, 4);
	len += TAIL;
	memcpy(out, fixed, sizeof fixed);
	num_put(out + LEN, len, 4);
	num_put(out + RAW, n, 4);
	return len;
}

/*
 * Build in buffer out an empty member that lists the lengths of the other
 * members. lens has these lengths, at most GZIP_LISTED, 4 bytes each. out has
 * room for GZIP_TABLE bytes plus the lengths. Return the length of the member.
 */
size_t
gzip_list(const struct buf *lens, uint8_t *out)
{
	const size_t head = LIST + lens->len + 4, len = head + 2 + TAIL;

	memcpy(out, fixed, sizeof fixed);
	num_put(out + XLEN, head - XLEN - 2, 2);
	num_put(out + LEN, len, 4);
	num_put(out + RAW, 0, 4);
	memcpy(out + GZIP_HEAD, "ST", 2);
	num_put(out + GZIP_HEAD + 2, lens->len + 4, 2);
	memcpy(out + LIST, lens->data, lens->len);
	num_put(out + head - 4, len, 4);
	/* the output of deflate for no bytes */
	num_put(out + head, 3, 2);
	memset(out + head + 2, 0, TAIL);
	return len;
}

/*
 * Return the lengths that a member lists, 4 bytes each. The whole member is at
 * p, and h is its header. Set *n to the number of lengths. Return NULL if the
 * member lists none or is damaged.
 */
const uint8_t *
gzip_listed(const uint8_t *p, const struct gzhead *h, size_t *n)
{
	if (h->head == GZIP_HEAD || memcmp(p + GZIP_HEAD, "ST", 2) != 0 ||
	    num_get(p + GZIP_HEAD + 2, 2) != h->head - LIST ||
	    num_get(p + h->head - 4, 4) != h->len)
		return NULL;
	*n = (h->head - LIST) / 4 - 1;
	return p + LIST;
}

/*
 * Decompress the whole member at p into raw. h is the header of the member; raw
 * must have room for h->raw bytes. z must have been set up by inflateInit2().
 * Return 0, or -1 with errstr set if the member is damaged.
 */
int
gzip_unpack(z_stream *z, const uint8_t *p, const struct gzhead *h,
    uint8_t *raw)
{
	const uint8_t *tail;
	uLong sum;
	int rc;

	tail = p + h->len - TAIL;
	if (inflateReset2(z, -MAX_WBITS) != Z_OK)
		return errstr_set("out of memory");
	z->next_in = p + h->head;
	z->avail_in = (uInt)(tail - z->next_in);
	z->next_out = raw;
	z->avail_out = (uInt)h->raw;
	rc = inflate(z, Z_FINISH);
	if (rc == Z_MEM_ERROR)
		return errstr_set("out of memory");
	if (rc == Z_DATA_ERROR || rc == Z_NEED_DICT)
		return errstr_set("%s", z->msg == NULL ? "damaged" : z->msg);
	if (rc != Z_STREAM_END || z->avail_in != 0 || z->avail_out != 0)
		return errstr_set("its %zu bytes do not decompress to the %zu "
		    "that its header claims", h->len, h->raw);
	sum = crc32(0, raw, (uInt)h->raw);
	if (sum != num_get(tail, 4))
		return errstr_set("the checksum of its contents is %08lx; "
		    "expected %08lx", sum, (uLong)num_get(tail, 4));
	if (h->raw != num_get(tail + 4, 4))
		return errstr_set("contains %zu bytes, but its trailer claims "
		    "%ju", h->raw, (uintmax_t)num_get(tail + 4, 4));
	return 0;
}
