/*
 * What was seen of a thread, kept in few bytes until it is written: the texts
 * of threads of a process have most lines alike, so only those are kept that
 * the texts of its first thread, the pattern, have not in the same place.
 *
 *	for each file of the pattern:
 *	n		as many lines are those of the pattern, from 1 to MOST
 *	OTHER		length, 4 bytes as the machine has them; a line
 *	END		of the file
 */
#include "packed.h"
#include "stop.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 0xf0, OTHER, END };

/*
 * Return the length of the first line of a text, with its end; 0 if there is
 * none.
 */
static size_t
line_len(const uint8_t *text, size_t len)
{
	const uint8_t *end;

	if (len == 0)
		return 0;
	end = memchr(text, '\n', len);
	return end == NULL ? len : (size_t)(end - text) + 1;
}

static void
put_byte(struct buf *b, int c)
{
	const uint8_t byte = (uint8_t)c;

	buf_add(b, &byte, 1);
}

/*
 * Add to b what a file has other than that of the pattern.
 */
static void
file_bundle(struct buf *b, const struct file *pattern, const struct file *f)
{
	size_t at, was, n, m;
	uint32_t len;
	int same;

	for (same = 0, at = was = 0; at < f->len; at += n, was += m) {
		n = line_len(f->data + at, f->len - at);
		m = line_len(pattern->data + was, pattern->len - was);
		if (n == m &&
		    memcmp(f->data + at, pattern->data + was, n) == 0) {
			if (++same < MOST)
				continue;
			put_byte(b, same);
			same = 0;
			continue;
		}
		if (same > 0)
			put_byte(b, same);
		same = 0;
		put_byte(b, OTHER);
		len = (uint32_t)n;
		buf_add(b, &len, sizeof len);
		buf_add(b, f->data + at, n);
	}
	if (same > 0)
		put_byte(b, same);
	put_byte(b, END);
}

/*
 * Return what the files of list l have other than those of the pattern, which
 * have the same names in the same order; the caller frees it.  Those of l are
 * freed.  NULL data where memory runs out: l has failed then.
 */
struct bytes
filelist_bundle(struct filelist *l, const struct filelist *pattern)
{
	struct buf b = { 0 };
	struct bytes out;
	uint8_t *fit;
	size_t i;

	for (i = 0; i < l->n; i++)
		file_bundle(&b, &pattern->file[i], &l->file[i]);
	l->failed |= b.failed;
	if (b.failed)
		buf_free(&b);
	else if ((fit = realloc(b.data, b.len > 0 ? b.len : 1)) != NULL)
		b.data = fit;
	out = (struct bytes){ b.data, b.len };
	for (i = 0; i < l->n; i++) {
		free(l->file[i].name);
		free(l->file[i].data);
	}
	free(l->file);
	l->file = NULL;
	l->n = 0;
	return out;
}

/*
 * Make the files of list l a bundle, or leave them there where they are other
 * ones than those of the pattern, which becomes like them if it is empty.
 */
void
filelist_keep(struct filelist *l, struct filelist *pattern,
    struct bytes *bundle)
{
	const struct file *f;
	size_t i;

	if (pattern->n == 0)
		for (f = l->file; f < l->file + l->n; f++)
			filelist_copy(pattern, f->name, f->data, f->len);
	if (l->n != pattern->n)
		return;
	for (i = 0; i < l->n; i++)
		if (strcmp(l->file[i].name, pattern->file[i].name) != 0)
			return;
	*bundle = filelist_bundle(l, pattern);
}

/*
 * Add to list l the next file of a bundle, from *s on, which then is behind it.
 */
static void
file_unbundle(struct filelist *l, const struct file *pattern,
    const uint8_t **s)
{
	const uint8_t *p = *s;
	struct buf b = { 0 };
	size_t was, m;
	uint32_t len;
	int n;

	(void)buf_room(&b, 1);	/* a file has data, be it empty */
	for (was = 0; *p != END; was += m) {
		m = line_len(pattern->data + was, pattern->len - was);
		if (*p == OTHER) {
			memcpy(&len, p + 1, sizeof len);
			buf_add(&b, p + 1 + sizeof len, len);
			p += 1 + sizeof len + len;
			continue;
		}
		for (n = *p++, m = 0; n > 0; n--) {
			len = (uint32_t)line_len(pattern->data + was + m,
			    pattern->len - was - m);
			buf_add(&b, pattern->data + was + m, len);
			m += len;
		}
	}
	filelist_buf(l, pattern->name, &b);
	*s = p + 1;
}

/*
 * Add to list l the files that filelist_bundle was given with pattern, and free
 * the bundle.
 */
void
filelist_unbundle(struct filelist *l, const struct filelist *pattern,
    struct bytes *bundle)
{
	const uint8_t *s = bundle->data;
	size_t i;

	for (i = 0; s != NULL && i < pattern->n; i++)
		file_unbundle(l, &pattern->file[i], &s);
	free(bundle->data);
	*bundle = (struct bytes){ 0 };
}
