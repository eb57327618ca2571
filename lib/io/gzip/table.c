/*
 * Find the members of a compressed stream that we wrote (member.c): the header
 * of each has the offset of the next. After a damaged one, search for the next
 * sound one.
 */
#include "full.h"
#include "gzip.h"
#include "num.h"
#include "vec.h"

enum {
	CHUNK = 256 * KB,
	/* members that may be decompressed to check them, and how many more
	   for each megabyte of the file */
	LOOKS = 64, LOOKS_MORE = 8
};

/*
 * Read n bytes of file fd into buf. off is the offset of the first of them in
 * the file. Return 0, or -1 with errstr set.
 */
int
gzip_get(int fd, void *buf, size_t n, uint64_t off)
{
	size_t got;

	if ((got = full_pread(fd, buf, n, off)) == n)
		return 0;
	off += got;
	return errno == 0 ? errstr_set("byte %" PRIu64 ": unexpected end of "
	    "file", off) : errstr_sys("byte %" PRIu64, off);
}

/*
 * Set errstr to say that the member with header h is cut off at offset end.
 * Return -1.
 */
int
gzip_cut(uint64_t end, const struct gzhead *h)
{
	return errstr_set("cut off at byte %" PRIu64 "; the member has %zu "
	    "bytes", end, h->len);
}

/*
 * Read and decompress a member of file fd. It begins at offset off, and has
 * exactly len bytes. Set *h to its header. Put its contents at raw, which has
 * room for GZIP_RAW bytes. Set *damaged if its bytes were read but could not be
 * decompressed. Return 0, or -1 with errstr set.
 */
int
gzip_read(int fd, uint64_t off, uint64_t len, struct gzhead *h, uint8_t *raw,
    bool *damaged)
{
	z_stream z = { 0 };
	uint8_t *packed, after;
	bool ours;
	int rc;

	*damaged = false;
	if (len < MIN_GZIP || len > MAX_GZIP)
		return errstr_set("its header is damaged");
	packed = malloc((size_t)len);
	if (packed == NULL || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
		free(packed);
		return errstr_set("out of memory");
	}
	rc = gzip_get(fd, packed, (size_t)len, off);
	ours = rc == 0 && gzip_head(packed, h) == 1;
	if (ours && h->len > len && full_pread(fd, &after, 1, off + len) == 0)
		rc = gzip_cut(off + len, h);
	else if (rc == 0 && (!ours || h->len != len))
		rc = errstr_set("its header is damaged");
	if (rc == 0) {
		rc = gzip_unpack(&z, packed, h, raw);
		*damaged = rc == -1;
	}
	inflateEnd(&z);
	free(packed);
	return rc;
}

/*
 * Read the header of file fd that begins at offset off into *h. Return true if
 * it is the header of a member that ends at or before offset end.
 */
static bool
member_at(int fd, uint64_t off, uint64_t end, struct gzhead *h)
{
	uint8_t head[GZIP_HEAD];

	return off <= end && end - off >= MIN_GZIP &&
	    gzip_get(fd, head, sizeof head, off) == 0 &&
	    gzip_head(head, h) == 1 && h->len <= end - off;
}

/*
 * Return true if the member at offset off, whose header is h, can be
 * decompressed. *looks is the number of such tests that are still allowed. If
 * it is 0, return false without a test; otherwise decrement it.
 */
static bool
member_sound(int fd, uint64_t off, struct gzhead *h, uint64_t *looks)
{
	uint8_t *raw;
	bool damaged, sound;

	if (*looks == 0)
		return false;
	--*looks;
	raw = malloc(GZIP_RAW);
	sound = raw != NULL && gzip_read(fd, off, h->len, h, raw,
	    &damaged) == 0;
	free(raw);
	return sound;
}

/*
 * Return true if a member begins at offset off and its length is certainly
 * right. The length is right if the member extends to the end, if another
 * member follows it, or if it can be decompressed.
 */
static bool
member_sure(int fd, uint64_t off, uint64_t end, uint64_t *looks,
    struct gzhead *h)
{
	struct gzhead next;

	return member_at(fd, off, end, h) && (h->len == end - off ||
	    member_at(fd, off + h->len, end, &next) ||
	    member_sound(fd, off, h, looks));
}

/*
 * Return the offset of the first member after offset off, or end if there is
 * none. Check each candidate: bytes that look like a header may be contents of
 * another member.
 */
static uint64_t
member_search(int fd, uint64_t off, uint64_t end, uint64_t *looks, uint8_t *buf)
{
	const uint8_t *p;
	struct gzhead h;
	size_t i, n;

	for (off++; off < end && end - off >= GZIP_HEAD;
	    off += n - GZIP_HEAD + 1) {
		n = end - off < CHUNK ? (size_t)(end - off) : CHUNK;
		if (gzip_get(fd, buf, n, off) == -1)
			break;
		for (i = 0; i + GZIP_HEAD <= n; i++) {
			p = memchr(buf + i, 0x1f, n - GZIP_HEAD + 1 - i);
			if (p == NULL)
				break;
			i = (size_t)(p - buf);
			if (gzip_head(p, &h) == 1 &&
			    member_sure(fd, off + i, end, looks, &h))
				return off + i;
		}
	}
	return end;
}

/*
 * Return the offset of the last member if it lists the others, or end if it
 * does not. The length of such a member is also stored near its end.
 */
static uint64_t
list_at(int fd, uint64_t off, uint64_t end)
{
	struct gzhead h;
	uint8_t len[4];
	uint64_t n;

	if (end - off < GZIP_TABLE ||
	    gzip_get(fd, len, sizeof len, end - 14) == -1)
		return end;
	n = num_get(len, sizeof len);
	if (n < GZIP_TABLE || n > end - off || !member_at(fd, end - n, end, &h))
		return end;
	return h.len == n && h.head != GZIP_HEAD ? end - n : end;
}

/*
 * Build table t from the list in the last n bytes of the stream. This takes two
 * reads instead of one for each member, which matters if the file is remote.
 * Return 1 on success, 0 if the list is damaged, or -1 with errstr set if
 * memory runs out.
 */
static int
list_read(struct gziptable *t, int fd, uint64_t off, uint64_t end, size_t n)
{
	const uint64_t last = end - n;
	const uint8_t *lens;
	struct gzhead h;
	uint8_t *p;
	size_t i;
	int rc;

	if ((p = malloc(n)) == NULL)
		return errstr_set("out of memory");
	rc = gzip_get(fd, p, n, last) == 0 && gzip_head(p, &h) == 1 &&
	    (lens = gzip_listed(p, &h, &n)) != NULL;
	for (i = 0; rc == 1 && i < n && off < last; i++) {
		rc = VEC_ADD(t->at, t->n, off) == -1 ? -1 : 1;
		off += num_get(lens + 4 * i, 4);
	}
	if (rc == 1)
		rc = off == last && i == n ? 1 : 0;
	if (rc == 1)
		rc = VEC_ADD(t->at, t->n, off) == -1 ? -1 : 1;
	/* all except the last are full */
	if (rc == 1 && (!member_at(fd, t->at[n - 1], end, &h) || h.raw == 0 ||
	    h.len != last - t->at[n - 1]))
		rc = 0;
	if (rc == 1) {
		t->size = (n - 1) * (uint64_t)GZIP_RAW + h.raw;
		t->n--;
	}
	free(p);
	return rc;
}

/*
 * Build table t of the members in file fd, from offset off up to offset end.
 * Return 1 on success. Return 0 if these bytes are not a complete stream that
 * we wrote. Return -1 with errstr set if memory runs out.
 */
int
gziptable_read(struct gziptable *t, int fd, uint64_t off, uint64_t end)
{
	struct gzhead h = { .raw = GZIP_RAW };
	bool partial;

	if (member_at(fd, off, end, &h) && list_at(fd, off, end) < end)
		return list_read(t, fd, off, end,
		    (size_t)(end - list_at(fd, off, end)));
	h.raw = GZIP_RAW;
	do {
		partial = h.raw < GZIP_RAW;
		if (VEC_ADD(t->at, t->n, off) == -1)
			return -1;
		if (!member_at(fd, off, end, &h) || (partial && h.raw > 0))
			return 0;
		off += h.len;
		t->size += h.raw;
	} while (h.raw > 0);
	t->n--; /* do not count the empty member; its entry marks the end */
	return off == end;
}

/*
 * Build table t of the members of a damaged stream. It is in file fd, from
 * offset off up to offset end. Assume that each member contains a megabyte, and
 * that a member with a wrong header extends to the next sound one. Such a
 * member may really be several; set t->gap to the widest such member. Return 1
 * on success, 0 if we wrote no member, or -1 with errstr set.
 */
int
gziptable_salvage(struct gziptable *t, int fd, uint64_t off, uint64_t end)
{
	struct gzhead h;
	uint64_t widest, from, looks;
	uint8_t *buf;
	size_t raw;
	bool found;
	int rc;

	if ((buf = malloc(CHUNK)) == NULL)
		return errstr_set("out of memory");
	t->n = 0;
	t->size = 0;
	raw = 0;
	widest = 0;
	looks = LOOKS + (end - off) / GZIP_RAW * LOOKS_MORE;
	end = list_at(fd, off, end);
	for (rc = 0, found = false; off < end && rc == 0;) {
		if (member_sure(fd, off, end, &looks, &h)) {
			found = true;
			if (h.raw == 0)
				break;
			rc = VEC_ADD(t->at, t->n, off);
			raw = h.raw;
			off += h.len;
			continue;
		}
		if (end - off <= MIN_GZIP)
			break;	/* the rest can only be the empty member */
		from = off;
		rc = VEC_ADD(t->at, t->n, from);
		raw = GZIP_RAW;
		off = member_search(fd, off, end, &looks, buf);
		if (off - from > widest) {
			widest = off - from;
			t->gap = t->n - 1;
		}
	}
	free(buf);
	if (rc == -1 || !found || t->n == 0)
		return rc;
	t->size = (t->n - 1) * (uint64_t)GZIP_RAW + raw;
	rc = VEC_ADD(t->at, t->n, off);
	t->n--;
	return rc == -1 ? -1 : 1;
}

/*
 * Insert members, which count as damaged, into table t after the widest damaged
 * one. The argument more is the number of members to insert. Return 0, or -1
 * with t unchanged if memory runs out.
 */
int
gziptable_widen(struct gziptable *t, uint64_t more)
{
	uint64_t at;
	size_t i, n;
	int rc;

	n = t->n++;		/* also count the entry for the end */
	at = t->at[t->gap + 1];
	for (i = 0, rc = 0; i < more && rc == 0; i++)
		rc = VEC_ADD(t->at, t->n, 0);
	if (rc == -1) {
		t->n = n;
		return -1;
	}
	memmove(t->at + t->gap + 1 + more, t->at + t->gap + 1,
	    (n - t->gap) * sizeof *t->at);
	for (i = 0; i < more; i++)
		t->at[t->gap + 1 + i] = at;
	t->n--;
	t->size += more * GZIP_RAW;
	return 0;
}
