/*
 * Changes of snap(6) streams: a stream is split into items, an item is changed,
 * and they are joined with right lengths. If there are two streams, one is
 * changed.
 */
#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H

#include "fuzz_mutate.h"

enum itemkind {
	ITEM_DATA,		/* a record of bytes */
	ITEM_LINUX,		/* a Linux record: its first line */
	ITEM_FILE,		/* a file of the preceding Linux record */
	ITEM_IMAGE,		/* text or mem */
	ITEM_SEG		/* a segment of the preceding image */
};

struct item {
	enum itemkind	 kind;
	uint64_t	 pid;
	const uint8_t	*name;	/* borrowed, as are all pointers here */
	size_t		 namelen;
	uint64_t	 base;
	uint64_t	 len;
	const uint8_t	*data;	/* a segment's pages */
	size_t		 n;
};

enum { ITEMS = 1000, SCRATCH = 1 << 20 };

struct items {
	const uint8_t	*head;	/* the first line */
	size_t		 headlen;
	struct item	 v[ITEMS];
	size_t		 n;
	uint8_t		 scratch[SCRATCH];
	size_t		 used;
};

/*
 * Return n bytes that exist while an input is changed, or NULL.
 */
static uint8_t *
items_room(struct items *l, size_t n)
{
	uint8_t *p = l->scratch + l->used;

	if (n > SCRATCH - l->used)
		return NULL;
	l->used += n;
	return p;
}

/*
 * Read the number at *at. Return false if there is none.
 */
static bool
stream_number(const uint8_t *p, size_t n, size_t *at, uint64_t *v)
{
	size_t i, end;

	if (n - *at < 12)
		return false;
	for (end = *at + 12; end < n && isdigit(p[end - 1]); end++)
		continue;
	for (*v = 0, i = *at; i < end; i++)
		if (isdigit(p[i]))
			*v = *v * 10 + (p[i] - '0');
		else if (p[i] != ' ')
			return false;
	*at = end;
	return true;
}

/*
 * Set *s to the line at *at, without its newline. Return false if it does not
 * end.
 */
static bool
stream_line(const uint8_t *p, size_t n, size_t *at, const uint8_t **s,
    size_t *len)
{
	const uint8_t *nl;

	if ((nl = memchr(p + *at, '\n', n - *at)) == NULL)
		return false;
	*s = p + *at;
	*len = (size_t)(nl - *s);
	*at += *len + 1;
	return true;
}

static struct item *
items_add(struct items *l, enum itemkind kind, uint64_t pid)
{
	struct item *it;

	if (l->n == ITEMS)
		return NULL;
	it = &l->v[l->n++];
	memset(it, 0, sizeof *it);
	it->kind = kind;
	it->pid = pid;
	return it;
}

/*
 * Skip a page of len bytes.
 */
static bool
stream_page(const uint8_t *p, size_t n, size_t *at, size_t len)
{
	uint64_t v;

	if (*at == n)
		return false;
	switch (p[(*at)++]) {
	case 'r':
		if (len > n - *at)
			return false;
		*at += len;
		return true;
	case 'z':
		return true;
	case 'm':
	case 't':
		return stream_number(p, n, at, &v) &&
		    stream_number(p, n, at, &v);
	default:
		return false;
	}
}

static bool
stream_segment(struct items *l, const uint8_t *p, size_t n, size_t *at)
{
	struct item *it;
	uint64_t k;

	if ((it = items_add(l, ITEM_SEG, 0)) == NULL ||
	    !stream_number(p, n, at, &it->base) ||
	    !stream_number(p, n, at, &it->len))
		return false;
	it->data = p + *at;
	for (k = 0; k < it->len; k += KB)
		if (k + KB < k || !stream_page(p, n, at, it->len - k < KB ?
		    (size_t)(it->len - k) : KB))
			return false;
	it->n = (size_t)(p + *at - it->data);
	return true;
}

/*
 * Split a Linux record. If it is malformed it remains bytes.
 */
static void
stream_linux(struct items *l, struct item *rec)
{
	const uint8_t *p = rec->data;
	struct item *it;
	size_t at = 0, n = rec->n, first = l->n;
	uint64_t len;

	if (n < 6 || memcmp(p, "linux ", 6) != 0 ||
	    !stream_line(p, n, &at, &rec->data, &rec->n))
		return;
	rec->kind = ITEM_LINUX;
	while (at < n && (it = items_add(l, ITEM_FILE, rec->pid)) != NULL) {
		if (!stream_line(p, n, &at, &it->name, &it->namelen) ||
		    !stream_number(p, n, &at, &len) || len > n - at) {
			rec->kind = ITEM_DATA;
			rec->data = p;
			rec->n = n;
			l->n = first;
			return;
		}
		it->data = p + at;
		it->n = (size_t)len;
		at += it->n;
	}
}

static bool
stream_record(struct items *l, const uint8_t *p, size_t n, size_t *at)
{
	struct item *it;
	uint64_t len;

	if ((it = items_add(l, ITEM_DATA, 0)) == NULL ||
	    !stream_number(p, n, at, &it->pid) ||
	    !stream_line(p, n, at, &it->name, &it->namelen))
		return false;
	len = 1;
	if (it->namelen == 4 && memcmp(it->name, "text", 4) == 0)
		it->kind = ITEM_IMAGE;
	else if (!stream_number(p, n, at, &len))
		return false;
	if (it->namelen == 3 && memcmp(it->name, "mem", 3) == 0)
		it->kind = ITEM_IMAGE;
	if (it->kind == ITEM_IMAGE) {
		for (; len > 0; len--)
			if (!stream_segment(l, p, n, at))
				return false;
		return true;
	}
	if (len > n - *at)
		return false;
	it->data = p + *at;
	it->n = (size_t)len;
	*at += it->n;
	stream_linux(l, it);
	return true;
}

/*
 * Return true if this is a trailer. It would not match a changed stream.
 */
static bool
item_trailer(const struct item *it)
{
	return it->kind == ITEM_LINUX && it->pid == 0 && it->n >= 12 &&
	    memcmp(it->data, "linux index ", 12) == 0;
}

/*
 * Split a stream as far as it is valid.
 */
static void
items_get(struct items *l, const uint8_t *p, size_t n)
{
	size_t at = 0, before;

	l->n = l->used = l->headlen = 0;
	if (!stream_line(p, n, &at, &l->head, &l->headlen))
		return;
	while (at < n) {
		before = l->n;
		if (!stream_record(l, p, n, &at) ||
		    item_trailer(&l->v[before])) {
			l->n = before;
			return;
		}
	}
}

/*
 * Append to b the items after i that belong to it.
 */
static size_t
items_parts(const struct items *l, size_t i, struct buf *b)
{
	const struct item *it;
	enum itemkind kind;

	kind = l->v[i].kind == ITEM_LINUX ? ITEM_FILE : ITEM_SEG;
	for (i++; i < l->n && l->v[i].kind == kind; i++) {
		it = &l->v[i];
		if (kind == ITEM_FILE) {
			buf_add(b, it->name, it->namelen);
			buf_printf(b, "\n%11zu ", it->n);
		} else
			buf_printf(b, "%11ju %11ju ", (uintmax_t)it->base,
			    (uintmax_t)it->len);
		buf_add(b, it->data, it->n);
	}
	return i;
}

/*
 * Join the items of a stream. Return its length; 0 if there is no room for it.
 */
static size_t
items_put(const struct items *l, uint8_t *p, size_t max)
{
	struct buf b = { 0 }, rec = { 0 };
	const struct item *it;
	size_t i, k;

	buf_add(&b, l->head, l->headlen);
	buf_puts(&b, "\n");
	for (i = 0; i < l->n; i = k) {
		it = &l->v[i];
		k = i + 1;
		if (it->kind == ITEM_FILE || it->kind == ITEM_SEG)
			continue;
		buf_printf(&b, "%11ju ", (uintmax_t)it->pid);
		buf_add(&b, it->name, it->namelen);
		buf_puts(&b, "\n");
		rec.len = 0;
		if (it->kind == ITEM_IMAGE) {
			k = items_parts(l, i, &rec);
			if (it->namelen == 3)
				buf_printf(&b, "%11zu ", k - i - 1);
		} else {
			buf_add(&rec, it->data, it->n);
			if (it->kind == ITEM_LINUX) {
				buf_puts(&rec, "\n");
				k = items_parts(l, i, &rec);
			}
			buf_printf(&b, "%11zu ", rec.len);
		}
		buf_add(&b, rec.data, rec.len);
	}
	buf_free(&rec);
	return mutate_finish(p, &b, max);
}

#endif
