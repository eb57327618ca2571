/*
 * The Linux records of a snapshot that becomes a part of another: numbers of
 * processes and open files, and devices, are those that merge.c gave out.
 */
#include "merge.h"

#include <sys/sysmacros.h>

#include <ctype.h>
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

static bool
word_num(const char *s, size_t n, int base, uint64_t *num)
{
	char word[24], *end;

	if (n == 0 || n >= sizeof word || !isxdigit((unsigned char)*s))
		return false;
	memcpy(word, s, n);
	word[n] = '\0';
	*num = strtoull(word, &end, base);
	return *end == '\0';
}

/*
 * Put a line with the decimal number in its last word changed.
 */
static void
line_last(struct merge *m, const char *s, size_t n, bool pid, struct buf *b)
{
	uint64_t v;
	size_t k;

	for (k = n; k > 0 && s[k - 1] != ' '; k--)
		continue;
	if (word_num(s + k, n - k, 10, &v)) {
		buf_add(b, s, k);
		buf_printf(b, "%" PRIu64, pid ? merge_pid(m, v) : v + m->file);
	} else
		buf_add(b, s, n);
}

/*
 * Put a line of maps, with the device of its file changed if that is to be.
 */
static void
line_maps(struct merge *m, const char *s, size_t n, struct buf *b)
{
	const char *p, *end, *dev, *word, *colon;
	uint64_t maj, min, ino;
	size_t i, len, devlen;

	p = s;
	end = s + n;
	for (i = 0; i < 3; i++)
		(void)next_word(&p, end, &word, &len);
	if (next_word(&p, end, &dev, &devlen) &&
	    (colon = memchr(dev, ':', devlen)) != NULL &&
	    word_num(dev, (size_t)(colon - dev), 16, &maj) &&
	    word_num(colon + 1, devlen - (size_t)(colon + 1 - dev), 16,
	    &min) && next_word(&p, end, &word, &len) &&
	    word_num(word, len, 10, &ino))
		for (i = 0; i < m->ndev; i++)
			if (m->dev[i].dev == makedev((unsigned int)maj,
			    (unsigned int)min) && m->dev[i].ino == ino) {
				buf_add(b, s, (size_t)(dev - s));
				buf_printf(b, "%02x:%02x",
				    major(m->dev[i].to),
				    minor(m->dev[i].to));
				buf_add(b, dev + devlen,
				    (size_t)(end - dev) - devlen);
				return;
			}
	buf_add(b, s, n);
}

enum lines { LINES_PID, LINES_FILE, LINES_TARGET, LINES_MAPS };

static void
edit_lines(struct merge *m, const struct recfile *f, enum lines kind,
    struct buf *b)
{
	const char *s, *end, *nl;
	size_t n;

	s = (const char *)f->data;
	for (end = s + f->len; s < end; s += n) {
		nl = memchr(s, '\n', (size_t)(end - s));
		n = (size_t)((nl == NULL ? end : nl) - s);
		if (kind == LINES_MAPS)
			line_maps(m, s, n, b);
		else if (kind != LINES_TARGET || (n > 7 &&
		    memcmp(s, "target ", 7) == 0))
			line_last(m, s, n, kind == LINES_PID, b);
		else
			buf_add(b, s, n);
		if (nl != NULL) {
			buf_add(b, "\n", 1);
			n++;
		}
	}
}

/*
 * What a file of the Linux record refers to has other numbers now.
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
	else if (strcmp(name, "maps") == 0 && m->ndev > 0)
		edit_lines(m, f, LINES_MAPS, b);
	else if (strncmp(name, "file/", 5) == 0 &&
	    word_num(name + 5, strlen(name + 5), 10, &id)) {
		snprintf(name, most, "file/%" PRIu64, id + m->file);
		edit_lines(m, f, LINES_TARGET, b);
	} else
		return 0;
	return 1;
}

/*
 * The file carried, where its device was changed.
 */
int
carried_edit(void *arg, const struct recfile *f, char *name, size_t most,
    struct buf *b)
{
	const struct carried *c = arg;

	(void)f;
	(void)most;
	if (strcmp(name, "carried") != 0)
		return 0;
	buf_printf(b, "%02x:%02x %" PRIu64 " %s", major(c->dev),
	    minor(c->dev), c->ino, c->path);
	return 1;
}
