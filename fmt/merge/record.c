/*
 * The Linux records of a snapshot that becomes a part of another: numbers of
 * processes and open files, and devices, are those that merge.c gave out.
 */
#include "merge.h"
#include "bisect.h"
#include "digits.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <limits.h>
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

enum number { NUMBER_PID, NUMBER_FILE, NUMBER_PART };

/*
 * Where numbers stand: in a word, counted from 0, of each line of a file, or of
 * the lines of file/ID that begin with key.
 */
static const struct numbered {
	const char	*file;	/* NULL: file/ID */
	const char	*key;
	size_t		 word;
	enum number	 kind;
} numbered[] = {
	{ "thread", NULL, 0, NUMBER_PID },
	{ "shares", NULL, 1, NUMBER_PID },
	{ "posix_timers", NULL, 5, NUMBER_PID },
	{ "files", NULL, 1, NUMBER_FILE },
	{ "part", NULL, 0, NUMBER_PART },
	{ NULL, "pid", 1, NUMBER_PID },
	{ NULL, "owner", 2, NUMBER_PID },
	{ NULL, "sender", 4, NUMBER_PID },
	{ NULL, "passed", 2, NUMBER_FILE },
	{ NULL, "target", 4, NUMBER_FILE }
};

enum { NUMBERED = sizeof numbered / sizeof *numbered };

/*
 * Put a line of n bytes, with the number that w says changed.
 */
static void
line_put(struct merge *m, const char *s, size_t n, const struct numbered *w,
    struct buf *b)
{
	const char *p = s, *end = s + n, *word = s;
	uint64_t v;
	size_t i, len = 0;

	for (i = 0; i <= w->word && next_word(&p, end, &word, &len); i++)
		continue;
	if (i > w->word && digits_number(word, len, 10, &v)) {
		buf_add(b, s, (size_t)(word - s));
		buf_printf(b, "%" PRIu64, w->kind == NUMBER_PID ?
		    merge_pid(m, v) : v + (w->kind == NUMBER_FILE ? m->file :
		    m->part));
		s = word + len;
	}
	buf_add(b, s, (size_t)(end - s));
}

CMP_BY(newdev_sortcmp, struct newdev, carried_cmp(&x->file, &y->file) != 0 ?
    carried_cmp(&x->file, &y->file) : ORDER(x->to, y->to))

/*
 * Sort the files of m that are to have another device, when all are known.
 */
void
merge_sort(struct merge *m)
{
	SORT(m->dev, m->ndev, newdev_sortcmp);
}

/*
 * The file that is to have another device, of several the first; or NULL.
 */
static const struct newdev *
newdev_find(const struct merge *m, const struct carried *file)
{
	size_t k;

	k = BISECT_WHILE(i, m->ndev, carried_cmp(&m->dev[i].file, file) < 0);
	return k < m->ndev && carried_cmp(&m->dev[k].file, file) == 0 ?
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
	struct carried file;
	char path[2 * PATH_MAX];
	size_t i, len, devlen;

	p = s;
	end = s + n;
	for (i = 0; i < 3; i++)
		(void)next_word(&p, end, &word, &len);
	if (next_word(&p, end, &dev, &devlen) &&
	    digits_device(dev, devlen, &file.dev) &&
	    next_word(&p, end, &word, &len) &&
	    digits_number(word, len, 10, &file.ino)) {
		while (p < end && *p == ' ')
			p++;
		snprintf(path, sizeof path, "%.*s", (int)(end - p), p);
		file.path = path;
		if ((d = newdev_find(m, &file)) != NULL) {
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

/*
 * Put file f with the numbers changed that w says; NULL: devices of maps.
 */
static void
edit_lines(struct merge *m, const struct recfile *f, const struct numbered *w,
    struct buf *b)
{
	const char *s;
	size_t off, n, value;

	for (off = 0; next_line(f, &off, &s, &n, &value);) {
		if (w == NULL)
			line_maps(m, s, n, b);
		else
			line_put(m, s, n, w, b);
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
 * Set dev and ino of *file to those of the open file that f tells of.  Return
 * whether it has both.
 */
static bool
recfile_open(const struct recfile *f, struct carried *file)
{
	const char *s;
	size_t off, n, value;
	bool ino, dev;

	ino = dev = false;
	for (off = 0; next_line(f, &off, &s, &n, &value);)
		if (key_is(s, value, "ino"))
			ino = digits_number(s + value, n - value, 10,
			    &file->ino);
		else if (key_is(s, value, "dev"))
			dev = digits_device(s + value, n - value, &file->dev);
	return ino && dev && file->dev != 0;
}

/*
 * Put an open file with its numbers and its device changed.
 */
static void
edit_open(struct merge *m, const struct recfile *f, struct buf *b)
{
	static char none[] = "";
	struct carried file = { .path = none };
	const struct newdev *d;
	const char *s;
	size_t off, n, value, k;

	d = recfile_open(f, &file) ? newdev_find(m, &file) : NULL;
	for (off = 0; next_line(f, &off, &s, &n, &value);) {
		for (k = 0; k < NUMBERED && (numbered[k].key == NULL ||
		    !key_is(s, value, numbered[k].key));)
			k++;
		if (d != NULL && key_is(s, value, "dev")) {
			buf_add(b, s, value);
			put_dev(b, d->to);
		} else if (k < NUMBERED)
			line_put(m, s, n, &numbered[k], b);
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
	size_t k;

	for (k = 0; k < NUMBERED; k++)
		if (numbered[k].file != NULL &&
		    strcmp(name, numbered[k].file) == 0)
			break;
	if (k < NUMBERED)
		edit_lines(m, f, &numbered[k], b);
	else if (strcmp(name, "maps") == 0 && m->ndev > 0)
		edit_lines(m, f, NULL, b);
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
