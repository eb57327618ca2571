/*
 * The Linux records of a snapshot that becomes a part of another: numbers of
 * processes and open files, and devices, are those that merge.c gave out.
 */
#include "merge.h"
#include "bisect.h"
#include "digits.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A word of a line, from *s on; where it ends is put there.
 */
static bool
next_word(const char **s, const char *end, const char **word, size_t *n)
{
	while (*s < end && **s == ' ')
		++*s;
	*word = *s;
	while (*s < end && **s != ' ')
		++*s;
	*n = (size_t)(*s - *word);
	return *n > 0;
}

/*
 * Return true if file f has a name that begins with prefix and goes on with a
 * decimal number, and set *num to that.
 */
bool
recfile_number(const struct recfile *f, const char *prefix, uint64_t *num)
{
	size_t n;

	n = strlen(prefix);
	return f->namelen > n && memcmp(f->name, prefix, n) == 0 &&
	    digits_number(f->name + n, f->namelen - n, 10, num);
}

/*
 * Return true if f is the file part, and set *num to its number.
 */
bool
recfile_part(const struct recfile *f, uint64_t *num)
{
	return f->namelen == 4 && memcmp(f->name, "part", 4) == 0 &&
	    f->len > 0 && f->data[f->len - 1] == '\n' &&
	    digits_number((const char *)f->data, f->len - 1, 10, num);
}

enum lines { LINES_PID, LINES_FILE, LINES_PART, LINES_MAPS };

/*
 * Put a line with the decimal number in its last word changed.
 */
static void
line_last(struct merge *m, const char *s, size_t n, enum lines kind,
    struct buf *b)
{
	uint64_t v;
	size_t k;

	for (k = n; k > 0 && s[k - 1] != ' '; k--)
		continue;
	if (digits_number(s + k, n - k, 10, &v)) {
		buf_add(b, s, k);
		buf_printf(b, "%" PRIu64, kind == LINES_PID ?
		    merge_pid(m, v) : v + (kind == LINES_FILE ? m->file :
		    m->part));
	} else
		buf_add(b, s, n);
}

/*
 * Compare a file that is to have another device with one of a path of n bytes:
 * by device and inode, or, where nothing is known of these (both 0), by path.
 */
static int
newdev_cmp(const struct newdev *d, uint64_t dev, uint64_t ino,
    const char *path, size_t n)
{
	size_t len;
	int c;

	if (d->dev != dev)
		return d->dev < dev ? -1 : 1;
	if (d->ino != ino)
		return d->ino < ino ? -1 : 1;
	if (dev != 0 || ino != 0)
		return 0;
	if (path == NULL)
		return 1;
	len = strlen(d->path);
	c = memcmp(d->path, path, len < n ? len : n);
	return c != 0 ? c : len < n ? -1 : len > n;
}

static int
newdev_sortcmp(const void *a, const void *b)
{
	const struct newdev *x = a, *y = b;
	int c;

	c = newdev_cmp(x, y->dev, y->ino, y->path, strlen(y->path));
	return c != 0 ? c : x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Sort the files of m that are to have another device, when all are known.
 */
void
merge_sort(struct merge *m)
{
	if (m->ndev > 1)
		qsort(m->dev, m->ndev, sizeof *m->dev, newdev_sortcmp);
}

/*
 * The file that is to have another device, of several the first; or NULL.
 */
static const struct newdev *
newdev_find(const struct merge *m, uint64_t dev, uint64_t ino,
    const char *path, size_t n)
{
	size_t k;

	k = BISECT_WHILE(i, m->ndev,
	    newdev_cmp(&m->dev[i], dev, ino, path, n) < 0);
	return k < m->ndev && newdev_cmp(&m->dev[k], dev, ino, path, n) == 0 ?
	    &m->dev[k] : NULL;
}

static void
put_dev(struct buf *b, uint64_t dev)
{
	buf_printf(b, "%02x:%02x", major(dev), minor(dev));
}

/*
 * Put a line of maps, with the device of its file changed if that is to be.
 */
static void
line_maps(struct merge *m, const char *s, size_t n, struct buf *b)
{
	const char *p, *end, *dev, *word;
	const struct newdev *d;
	uint64_t num, ino;
	size_t i, len, devlen;

	p = s;
	end = s + n;
	for (i = 0; i < 3; i++)
		(void)next_word(&p, end, &word, &len);
	if (next_word(&p, end, &dev, &devlen) &&
	    digits_device(dev, devlen, &num) &&
	    next_word(&p, end, &word, &len) &&
	    digits_number(word, len, 10, &ino)) {
		while (p < end && *p == ' ')
			p++;
		d = newdev_find(m, num, ino, p, (size_t)(end - p));
		if (d != NULL) {
			buf_add(b, s, (size_t)(dev - s));
			put_dev(b, d->to);
			s = dev + devlen;
		}
	}
	buf_add(b, s, (size_t)(end - s));
}

/*
 * Have the next line of a file as line_next does, and in *value where in it
 * the second word begins.
 */
static bool
next_line(const struct recfile *f, size_t *off, const char **s, size_t *n,
    size_t *value)
{
	const char *blank;

	if (!line_next(f->data, f->len, off, s, n))
		return false;
	blank = *n == 0 ? NULL : memchr(*s, ' ', *n);
	*value = blank == NULL ? *n : (size_t)(blank + 1 - *s);
	return true;
}

static void
edit_lines(struct merge *m, const struct recfile *f, enum lines kind,
    struct buf *b)
{
	const char *s;
	size_t off, n, value;

	for (off = 0; next_line(f, &off, &s, &n, &value);) {
		if (kind == LINES_MAPS)
			line_maps(m, s, n, b);
		else
			line_last(m, s, n, kind, b);
		if (off <= f->len)
			buf_add(b, "\n", 1);
	}
}

static bool
key_is(const char *s, size_t value, const char *key)
{
	return value == strlen(key) + 1 && memcmp(s, key, value - 1) == 0;
}

/*
 * An open file: what it waits for, which process it is of, and its device.
 */
static void
edit_open(struct merge *m, const struct recfile *f, struct buf *b)
{
	const struct newdev *d;
	const char *s;
	uint64_t dev, ino;
	size_t off, n, value;
	bool has_ino;

	has_ino = false;
	ino = 0;
	for (off = 0; next_line(f, &off, &s, &n, &value);)
		if (key_is(s, value, "ino"))
			has_ino = digits_number(s + value, n - value, 10, &ino);
	for (off = 0; next_line(f, &off, &s, &n, &value);) {
		d = NULL;
		if (has_ino && key_is(s, value, "dev") &&
		    digits_device(s + value, n - value, &dev) && dev != 0)
			d = newdev_find(m, dev, ino, NULL, 0);
		if (d != NULL) {
			buf_add(b, s, value);
			put_dev(b, d->to);
		} else if (key_is(s, value, "target") ||
		    key_is(s, value, "passed"))
			line_last(m, s, n, LINES_FILE, b);
		else if (key_is(s, value, "pid") ||
		    key_is(s, value, "sender"))
			line_last(m, s, n, LINES_PID, b);
		else
			buf_add(b, s, n);
		if (off <= f->len)
			buf_add(b, "\n", 1);
	}
}

/*
 * Change the numbers in file f of the Linux record that are others now: a
 * recedit_fn, with a struct merge as arg, of which name, most, b and what is
 * returned are told there.
 */
int
merge_edit(void *arg, const struct recfile *f, char *name, size_t most,
    struct buf *b)
{
	struct merge *m = arg;
	uint64_t id;

	if (strcmp(name, "thread") == 0 || strcmp(name, "shares") == 0)
		edit_lines(m, f, LINES_PID, b);
	else if (strcmp(name, "files") == 0)
		edit_lines(m, f, LINES_FILE, b);
	else if (strcmp(name, "part") == 0)
		edit_lines(m, f, LINES_PART, b);
	else if (strcmp(name, "maps") == 0 && m->ndev > 0)
		edit_lines(m, f, LINES_MAPS, b);
	else if (recfile_number(f, "file/", &id)) {
		snprintf(name, most, "file/%" PRIu64, id + m->file);
		edit_open(m, f, b);
	} else
		return EDIT_KEEP;
	return EDIT_CHANGE;
}

/*
 * Change the file carried, where its device was changed: a recedit_fn, with a
 * struct carried as arg, of which f, name, most, b and what is returned are
 * told there.
 */
int
carried_edit(void *arg, const struct recfile *f, char *name, size_t most,
    struct buf *b)
{
	const struct carried *c = arg;

	(void)f;
	(void)most;
	if (strcmp(name, "carried") != 0)
		return EDIT_KEEP;
	carried_put(b, c);
	return EDIT_CHANGE;
}
