/*
 * Change the Linux records of a snapshot that is merged into another: numbers
 * of processes, open files and devices become those that merge.c has assigned.
 */
#include "merge.h"
#include "bisect.h"
#include "digits.h"

#include <sys/sysmacros.h>

/*
 * Return a pointer to a word of the n-byte line s. word is the index of the
 * word, counted from 0. Set *len to the length of the word. Return NULL if the
 * line has fewer words.
 */
static const char *
line_word(const char *s, size_t n, size_t word, size_t *len)
{
	const char *end = s + n;

	for (;; s += *len, word--) {
		while (s < end && *s == ' ')
			s++;
		for (*len = 0; s + *len < end && s[*len] != ' ';)
			++*len;
		if (*len == 0 || word == 0)
			return *len == 0 ? NULL : s;
	}
}

/*
 * Parse a word of the n-byte line s as a number. word is the index of the word,
 * counted from 0. Set *num to the number and *len to the length of the word.
 * Return a pointer to its digits, or NULL if the word is missing or not a
 * number.
 */
const char *
line_number(const char *s, size_t n, size_t word, uint64_t *num, size_t *len)
{
	s = line_word(s, n, word, len);
	return s != NULL && digits_number(s, *len, 10, num) ? s : NULL;
}

/*
 * Set *num to the decimal number that follows prefix in the name of file f.
 * Return false if the name has any other form.
 */
bool
recfile_number(const struct recfile *f, const char *prefix, uint64_t *num)
{
	size_t n;

	n = strlen(prefix);
	return f->namelen > n && memcmp(f->name, prefix, n) == 0 &&
	    digits_number(f->name + n, f->namelen - n, 10, num);
}

enum number { NUMBER_PID, NUMBER_FILE, NUMBER_PART };

/*
 * Where numbers are: in a word, counted from 0, of each line of a file, or of
 * the lines of file/ID that begin with key.
 */
static const struct numbered {
	const char	*file;	/* NULL stands for the files "file/ID" */
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
 * Append the n-byte line s to b, replacing the number that w describes.
 */
static void
line_put(struct merge *m, const char *s, size_t n, const struct numbered *w,
    struct buf *b)
{
	const char *word, *end = s + n;
	uint64_t v;
	size_t len;

	if ((word = line_number(s, n, w->word, &v, &len)) != NULL) {
		buf_add(b, s, (size_t)(word - s));
		buf_printf(b, "%" PRIu64, w->kind == NUMBER_PID ?
		    merge_pid(m, v) : v + (w->kind == NUMBER_FILE ? m->file :
		    m->part));
		s = word + len;
	}
	buf_add(b, s, (size_t)(end - s));
}

/*
 * Return the first entry of m->dev for *file, preferably one with its path, or
 * NULL if *file gets no new device number.
 */
static const struct newdev *
newdev_find(const struct merge *m, const struct embedded *file)
{
	size_t k;

	k = BISECT_WHILE(i, m->ndev, embedded_order(&m->dev[i].file,
	    file) < 0);
	if (k > 0 && (k == m->ndev ||
	    embedded_order(&m->dev[k].file, file) != 0) &&
	    embedded_cmp(&m->dev[k - 1].file, file) == 0)
		k--;		/* it has another path */
	return k < m->ndev && embedded_cmp(&m->dev[k].file, file) == 0 &&
	    m->dev[k].to != file->dev ? &m->dev[k] : NULL;
}

static void
put_dev(struct buf *b, uint64_t dev)
{
	buf_printf(b, "%02x:%02x", major(dev), minor(dev));
}

/*
 * Append s, an n-byte line of maps or smaps, to b. Change the device number in
 * the line if it has one and the mapped file gets a new one.
 */
static void
line_maps(struct merge *m, const char *s, size_t n, struct buf *b)
{
	const char *end = s + n, *dev, *ino, *path;
	const struct newdev *d;
	struct embedded file;
	char copy[2 * PATH_MAX];
	size_t len, inolen;

	if ((dev = line_word(s, n, 3, &len)) != NULL &&
	    digits_device(dev, len, &file.dev) &&
	    (ino = line_number(s, n, 4, &file.ino, &inolen)) != NULL) {
		for (path = ino + inolen; path < end && *path == ' ';)
			path++;
		snprintf(copy, sizeof copy, "%.*s", (int)(end - path), path);
		file.path = copy;
		if ((d = newdev_find(m, &file)) != NULL) {
			buf_add(b, s, (size_t)(dev - s));
			put_dev(b, d->to);
			s = dev + len;
		}
	}
	buf_add(b, s, (size_t)(end - s));
}

/*
 * Return the row of numbered[] that describes s, an n-byte line. file is the
 * name of the file that has the line, or NULL if that name has the form
 * file/ID. Return NULL if there is no such row.
 */
static const struct numbered *
numbered_find(const char *file, const char *s, size_t n)
{
	const struct numbered *w;
	size_t len;

	for (w = numbered; w < numbered + NUMBERED; w++) {
		len = w->key == NULL ? 0 : strlen(w->key);
		if (file != NULL ? w->file != NULL && strcmp(w->file,
		    file) == 0 : w->key != NULL && n > len &&
		    s[len] == ' ' && memcmp(s, w->key, len) == 0)
			return w;
	}
	return NULL;
}

/*
 * Set *id to the number of the open file that s refers to. s is an n-byte line
 * of a file called file/ID. Return false if the line refers to no open file.
 */
bool
line_refers(const char *s, size_t n, uint64_t *id)
{
	const struct numbered *w = numbered_find(NULL, s, n);
	size_t len;

	return w != NULL && w->kind == NUMBER_FILE &&
	    line_number(s, n, w->word, id, &len) != NULL;
}

/*
 * Set dev and ino of *file to those of the open file that f describes. Return
 * false if f does not have both.
 */
bool
recfile_open(const struct recfile *f, struct embedded *file)
{
	const char *ino, *dev;
	size_t n, m;

	return (ino = recfile_value(f, "ino ", &n)) != NULL &&
	    digits_number(ino, n, 10, &file->ino) &&
	    (dev = recfile_value(f, "dev ", &m)) != NULL &&
	    digits_device(dev, m, &file->dev) && file->dev != 0;
}

static bool
lists_mappings(const char *file)
{
	return strcmp(file, "maps") == 0 || strcmp(file, "smaps") == 0;
}

/*
 * Append file f to b, with its numbers and device numbers changed. file is the
 * name of f, or NULL if that name has the form file/ID.
 */
static void
edit_lines(struct merge *m, const struct recfile *f, const char *file,
    struct buf *b)
{
	static char none[] = "";
	struct embedded open = { .path = none };
	const struct newdev *d = NULL;
	const struct numbered *w;
	const char *s;
	size_t off, n;

	if (file == NULL && recfile_open(f, &open))
		d = newdev_find(m, &open);
	for (off = 0; line_next(f->data, f->len, &off, &s, &n);) {
		if (file != NULL && lists_mappings(file))
			line_maps(m, s, n, b);
		else if (d != NULL && n > 4 && memcmp(s, "dev ", 4) == 0) {
			buf_puts(b, "dev ");
			put_dev(b, d->to);
		} else if ((w = numbered_find(file, s, n)) != NULL)
			line_put(m, s, n, w, b);
		else
			buf_add(b, s, n);
		if (off <= f->len)
			buf_add(b, "\n", 1);
	}
}

/*
 * Change the numbers in file f of a Linux record. This is a recedit_fn; its arg
 * is a struct merge.
 */
int
merge_edit(void *arg, const struct recfile *f, char *name, struct buf *b)
{
	struct merge *m = arg;
	uint64_t id;

	if (recfile_number(f, "file/", &id)) {
		snprintf(name, RECNAME, "file/%" PRIu64, id + m->file);
		edit_lines(m, f, NULL, b);
	} else if (lists_mappings(name) ? m->ndev > 0 :
	    numbered_find(name, "", 0) != NULL)
		edit_lines(m, f, name, b);
	else
		return EDIT_KEEP;
	return EDIT_CHANGE;
}
