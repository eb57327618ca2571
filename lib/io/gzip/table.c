/*
 * Where the members of a compressed stream of ours (member.c) begin: the header
 * of each tells where the next one is.  Where one is damaged, the next that is
 * sound can be searched for.
 */
#include "full.h"
#include "gzip.h"
#include "num.h"
#include "vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 256 * KB,
	/* members that may be unpacked to see whether they are sound, and more
	   for each megabyte of the file */
	LOOKS = 64, LOOKS_MORE = 8
};

/*
 * Read n bytes of the file that is open as fd, at offset off, into buf.  Return
 * 0; or -1 with errstr.
 */
int
gzip_get(int fd, void *buf, size_t n, uint64_t off)
{
	size_t got;

	if ((got = full_pread(fd, buf, n, off)) == n)
		return 0;
	off += got;
	return errno == 0 ? errstr_set("byte %" PRIu64 ": the file ends here",
	    off) : errstr_sys("byte %" PRIu64, off);
}

/*
 * Read the member that has the len bytes at offset at of the file that is open
 * as fd, and no others, which is claimed by the place where the next one is:
 * into h what its header tells, and into raw, which has room for GZIP_RAW
 * bytes, what it holds.  Return 0, or -1 with errstr.
 */
int
gzip_read(int fd, uint64_t at, uint64_t len, struct gzhead *h, uint8_t *raw)
{
	z_stream z = { 0 };
	uint8_t *packed;
	int rc;

	if (len < MIN_GZIP || len > MAX_GZIP)
		return errstr_set("its header is damaged");
	packed = malloc((size_t)len);
	if (packed == NULL || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
		free(packed);
		return errstr_set("out of memory");
	}
	rc = gzip_get(fd, packed, (size_t)len, at);
	if (rc == 0 && (gzip_head(packed, h) != 1 || h->len != len))
		rc = errstr_set("its header is damaged");
	if (rc == 0)
		rc = gzip_unpack(&z, packed, h, raw);
	inflateEnd(&z);
	free(packed);
	return rc;
}

/*
 * Note where a member begins; the first place behind them all, too.
 */
static int
table_add(struct gziptable *t, uint64_t at)
{
	return VEC_ADD(t->at, t->n, at);
}

/*
 * Return true if a whole member begins at a byte of the file, as its header
 * tells.
 */
static bool
member_at(int fd, uint64_t at, uint64_t end, struct gzhead *h)
{
	uint8_t head[GZIP_HEAD];

	return at <= end && end - at >= MIN_GZIP &&
	    gzip_get(fd, head, sizeof head, at) == 0 &&
	    gzip_head(head, h) == 1 && h->len <= end - at;
}

/*
 * Return true if the member at a byte of the file is all that its header says.
 * Take one from *looks, as often as that may be asked; at 0 return false.
 */
static bool
member_sound(int fd, uint64_t at, struct gzhead *h, uint64_t *looks)
{
	uint8_t *raw;
	bool sound;

	if (*looks == 0)
		return false;
	--*looks;
	raw = malloc(GZIP_RAW);
	sound = raw != NULL && gzip_read(fd, at, h->len, h, raw) == 0;
	free(raw);
	return sound;
}

/*
 * Return true if a member begins there of which the length is surely right:
 * another one or the end is behind it, or else it is sound.
 */
static bool
member_sure(int fd, uint64_t at, uint64_t end, uint64_t *looks,
    struct gzhead *h)
{
	struct gzhead next;

	return member_at(fd, at, end, h) && (h->len == end - at ||
	    member_at(fd, at + h->len, end, &next) ||
	    member_sound(fd, at, h, looks));
}

/*
 * Return the first member that begins behind a byte of the file; end if there
 * is none.  What looks like a header may be what another member holds.
 */
static uint64_t
member_search(int fd, uint64_t at, uint64_t end, uint64_t *looks, uint8_t *buf)
{
	const uint8_t *p;
	struct gzhead h;
	size_t i, n;

	for (at++; at < end && end - at >= GZIP_HEAD; at += n - GZIP_HEAD + 1) {
		n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		if (gzip_get(fd, buf, n, at) == -1)
			break;
		for (i = 0; i + GZIP_HEAD <= n; i++) {
			p = memchr(buf + i, 0x1f, n - GZIP_HEAD + 1 - i);
			if (p == NULL)
				break;
			i = (size_t)(p - buf);
			if (gzip_head(p, &h) == 1 &&
			    member_sure(fd, at + i, end, looks, &h))
				return at + i;
		}
	}
	return end;
}

/*
 * Return where the member at the end begins that lists the others, as its last
 * bytes tell; end if it lists none.
 */
static uint64_t
list_at(int fd, uint64_t at, uint64_t end)
{
	struct gzhead h;
	uint8_t len[4];
	uint64_t n;

	if (end - at < GZIP_TABLE ||
	    gzip_get(fd, len, sizeof len, end - 14) == -1)
		return end;
	n = num_get(len, sizeof len);
	if (n < GZIP_TABLE || n > end - at || !member_at(fd, end - n, end, &h))
		return end;
	return h.len == n && h.head != GZIP_HEAD ? end - n : end;
}

/*
 * Have the table from the member that lists the others, n bytes at the end: it
 * takes two reads, wherever the file is, in place of one a megabyte.  Return 1;
 * 0 if it is damaged; -1 for want of memory.
 */
static int
list_read(struct gziptable *t, int fd, uint64_t at, uint64_t end, size_t n)
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
	for (i = 0; rc == 1 && i < n && at < last; i++) {
		rc = table_add(t, at) == -1 ? -1 : 1;
		at += num_get(lens + 4 * i, 4);
	}
	if (rc == 1)
		rc = at == last && i == n ? 1 : 0;
	if (rc == 1)
		rc = table_add(t, at) == -1 ? -1 : 1;
	/* all but the last are full */
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
 * Have the table t of members of the file that is open as fd, from its byte at
 * up to end.  Return 1; 0 if they are not a whole stream of ours; -1 with
 * errstr for want of memory.
 */
int
gziptable_read(struct gziptable *t, int fd, uint64_t at, uint64_t end)
{
	struct gzhead h = { .raw = GZIP_RAW };
	bool partial;

	if (member_at(fd, at, end, &h) && list_at(fd, at, end) < end)
		return list_read(t, fd, at, end,
		    (size_t)(end - list_at(fd, at, end)));
	h.raw = GZIP_RAW;
	do {
		partial = h.raw < GZIP_RAW;
		if (table_add(t, at) == -1)
			return -1;
		if (!member_at(fd, at, end, &h) || (partial && h.raw > 0))
			return 0;
		at += h.len;
		t->size += h.raw;
	} while (h.raw > 0);
	t->n--;			/* the empty one; it is where the others end */
	return at == end;
}

/*
 * Have the table t of a damaged stream, which the file that is open as fd has
 * from its byte at up to end.  Its members are taken to hold a megabyte each:
 * one of which the header is wrong reaches to the next that is sound.  There
 * may have been more than one; t->gap is where that is most likely.  Return 1;
 * 0 if there is no member of ours; or -1 with errstr.
 */
int
gziptable_salvage(struct gziptable *t, int fd, uint64_t at, uint64_t end)
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
	looks = LOOKS + (end - at) / GZIP_RAW * LOOKS_MORE;
	end = list_at(fd, at, end);
	for (rc = 0, found = false; at < end && rc == 0;) {
		if (member_sure(fd, at, end, &looks, &h)) {
			found = true;
			if (h.raw == 0)
				break;
			rc = table_add(t, at);
			raw = h.raw;
			at += h.len;
			continue;
		}
		if (end - at <= MIN_GZIP)
			break;	/* the empty one */
		from = at;
		rc = table_add(t, from);
		raw = GZIP_RAW;
		at = member_search(fd, at, end, &looks, buf);
		if (at - from > widest) {
			widest = at - from;
			t->gap = t->n - 1;
		}
	}
	free(buf);
	if (rc == -1 || !found || t->n == 0)
		return rc;
	t->size = (t->n - 1) * (uint64_t)GZIP_RAW + raw;
	rc = table_add(t, at);
	t->n--;
	return rc == -1 ? -1 : 1;
}

/*
 * Add so many more members to t where one was found to be damaged: they are,
 * too.  Return 0; or -1 for want of memory, and nothing has changed.
 */
int
gziptable_widen(struct gziptable *t, uint64_t more)
{
	uint64_t at;
	size_t i, n;
	int rc;

	n = t->n++;		/* the end is in the table, too */
	at = t->at[t->gap + 1];
	for (i = 0, rc = 0; i < more && rc == 0; i++)
		rc = table_add(t, 0);
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
