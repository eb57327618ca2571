/*
 * The Linux record: a small archive of named files, which travels in a
 * process's proc record.
 *
 *	linux CPUTYPE 1\n
 *	NAME\n NUM bytes
 *	NAME\n NUM bytes
 *	...
 *
 * NAME is a relative path, each once; NUM is as in snap(6).  What the names
 * mean is told in man6/snap.6.
 */
#include "record.h"
#include "bisect.h"
#include "digits.h"
#include "vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_FILES = 1 << 22,	/* in one record */
	NUM_BYTES = 12		/* of a length */
};

/*
 * Put the beginning of a record for a machine, cputype in Plan 9's words
 * ("amd64"), into b.
 */
void
linuxrec_begin(struct buf *b, const char *cputype)
{
	buf_printf(b, "linux %s 1\n", cputype);
}

/*
 * Put what stands before the len bytes of a file, whose name has n bytes, into
 * b.
 */
void
linuxrec_head(struct buf *b, const char *name, size_t n, size_t len)
{
	buf_add(b, name, n);
	buf_printf(b, "\n%11zu ", len);
}

/*
 * Put a file of that name with the len bytes at data into b, which is a record
 * that was begun.
 */
void
linuxrec_add(struct buf *b, const char *name, const void *data, size_t len)
{
	linuxrec_head(b, name, strlen(name), len);
	buf_add(b, data, len);
}

/*
 * Return whether a name of n bytes is a path that can be shown as one:
 * relative, no longer than paths may be, harmless, without empty, . or ..
 * components.
 */
static bool
name_ok(const char *s, size_t n)
{
	char copy[PATH_MAX];
	const char *end, *slash;
	size_t len;

	if (n >= PATH_MAX || memchr(s, '\0', n) != NULL)
		return false;
	memcpy(copy, s, n);
	copy[n] = '\0';
	if (text_isharmful(copy))
		return false;
	for (end = s + n;; s = slash + 1) {
		slash = memchr(s, '/', (size_t)(end - s));
		len = (size_t)((slash == NULL ? end : slash) - s);
		if (len == 0 || len > NAME_MAX || (len == 1 && s[0] == '.') ||
		    (len == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		if (slash == NULL)
			return true;
	}
}

/*
 * Compare path a, of na bytes, with b, of nb, for an order in which all that is
 * below a directory stands behind its name and before all other names: a slash
 * comes before all bytes.  Return less than 0, 0 or more, as strcmp(3).
 */
int
path_cmp(const char *a, size_t na, const char *b, size_t nb)
{
	size_t i;

	for (i = 0; i < na && i < nb; i++)
		if (a[i] != b[i]) {
			if (a[i] == '/' || b[i] == '/')
				return a[i] == '/' ? -1 : 1;
			return (uint8_t)a[i] < (uint8_t)b[i] ? -1 : 1;
		}
	return na < nb ? -1 : na > nb;
}

/*
 * The number at p, of which 12 bytes are there: as in snap(6), but never
 * wider, for no record is that long.
 */
static int
parse_num(const uint8_t *p, size_t *num)
{
	const char *s, *digits, *end;
	uint64_t v;

	s = (const char *)p;
	for (end = s + NUM_BYTES; s < end && *s == ' '; s++)
		continue;
	digits = s;
	s = digits_read(s, end, 10, &v);
	if (s == NULL || s == digits || s == end)
		return -1;
	for (; s < end && *s == ' '; s++)
		continue;
	*num = (size_t)v;
	return s == end ? 0 : -1;
}

/*
 * The file at p, with left bytes to the end of the record: how many bytes
 * it takes, or 0.
 */
static size_t
parse_file(const uint8_t *p, size_t left, struct recfile *f)
{
	const uint8_t *nl;
	size_t n, len;

	if ((nl = memchr(p, '\n', left)) == NULL) {
		errstr_set("a name without an end");
		return 0;
	}
	n = (size_t)(nl - p);
	f->name = (const char *)p;
	f->namelen = n;
	if (!name_ok(f->name, n)) {
		errstr_set("%.*s: a name that is not a relative path",
		    (int)(n < 64 ? n : 64), f->name);
		return 0;
	}
	left -= n + 1;
	if (left < NUM_BYTES || parse_num(nl + 1, &len) == -1) {
		errstr_set("%.*s: no length behind the name",
		    (int)(n < 64 ? n : 64), f->name);
		return 0;
	}
	if (len > left - NUM_BYTES) {
		errstr_set("%.*s: %zu bytes, but only %zu are left",
		    (int)(n < 64 ? n : 64), f->name, len, left - NUM_BYTES);
		return 0;
	}
	f->data = nl + 1 + NUM_BYTES;
	f->len = len;
	return n + 1 + NUM_BYTES + len;
}

/*
 * Return true if rec, which may be NULL, is a proc record of Linux.
 */
bool
linuxrec_is(const struct file *rec)
{
	return rec != NULL && rec->len >= 6 &&
	    memcmp(rec->data, "linux ", 6) == 0;
}

/*
 * Set *f to the file at place i of record r, in the order of path_cmp.
 */
void
linuxrec_get(const struct linuxrec *r, size_t i, struct recfile *f)
{
	(void)parse_file(r->data + r->at[i], r->len - r->at[i], f);
}

/*
 * Compare the name of the file at byte at of a record with that of n bytes.
 */
static int
name_cmp(const struct linuxrec *r, size_t at, const char *name, size_t n)
{
	const char *s = (const char *)r->data + at;

	return path_cmp(s, strcspn(s, "\n"), name, n);
}

static int
at_cmp(const void *a, const void *b, void *arg)
{
	const struct linuxrec *r = arg;
	const char *s = (const char *)r->data + *(const size_t *)b;

	return name_cmp(r, *(const size_t *)a, s, strcspn(s, "\n"));
}

/*
 * Sort the files.  A name may be there once, and not be a directory that
 * another is in.
 */
static int
linuxrec_sort(struct linuxrec *r)
{
	struct recfile f, g;
	size_t i;

	if (r->n > 1)
		qsort_r(r->at, r->n, sizeof *r->at, at_cmp, r);
	if (r->n > 0)
		linuxrec_get(r, 0, &f);
	for (i = 1; i < r->n; i++, f = g) {
		linuxrec_get(r, i, &g);
		if (f.namelen > g.namelen ||
		    memcmp(f.name, g.name, f.namelen) != 0)
			continue;
		if (f.namelen == g.namelen)
			return errstr_set("%.*s: a second time",
			    (int)g.namelen, g.name);
		if (g.name[f.namelen] == '/')
			return errstr_set("%.*s: in a file, not in a "
			    "directory", (int)g.namelen, g.name);
	}
	return 0;
}

/*
 * Free what linuxrec_open made of r.
 */
void
linuxrec_close(struct linuxrec *r)
{
	free(r->at);
	r->at = NULL;
	r->n = 0;
}

/*
 * Find the files of r, whose bytes begin at off.  Return 0, or -1 with errstr.
 */
static int
files_find(struct linuxrec *r, size_t off)
{
	struct recfile f;
	size_t used;

	for (; off < r->len; off += used) {
		if (r->n >= MAX_FILES)
			return errstr_set("proc: more than %d files",
			    MAX_FILES);
		if (VEC_ADD(r->at, r->n, off) == -1)
			return -1;
		used = parse_file(r->data + off, r->len - off, &f);
		if (used == 0)
			return errstr_wrap("proc: byte %zu", off);
	}
	return linuxrec_sort(r) == -1 ? errstr_wrap("proc") : 0;
}

/*
 * Take rec, a Linux record, apart into r: files that borrow their names and
 * bytes from it; none if rec is NULL or no record of Linux.  Return 0, and
 * linuxrec_close must follow; or -1 with errstr, and r has nothing to be freed.
 */
int
linuxrec_open(struct linuxrec *r, const struct file *rec)
{
	const uint8_t *nl;
	int rc;

	memset(r, 0, sizeof *r);
	if (!linuxrec_is(rec))
		return 0;
	r->data = rec->data;
	r->len = rec->len;
	nl = memchr(rec->data, '\n', rec->len);
	if (nl == NULL || nl - rec->data < 9 || memcmp(nl - 2, " 1", 2) != 0)
		return errstr_set("proc: byte 0: not \"linux CPUTYPE 1\"");
	rc = files_find(r, (size_t)(nl - rec->data) + 1);
	if (rc == -1)
		linuxrec_close(r);
	return rc;
}

/*
 * Return the Linux record of process or thread p taken apart, which p owns
 * until its small files change; without files where it has none that can be
 * read.
 */
const struct linuxrec *
proc_record(struct proc *p)
{
	static const struct linuxrec none;
	struct linuxrec *r;

	if (p->record == NULL && (r = calloc(1, sizeof *r)) != NULL) {
		(void)linuxrec_open(r, proc_file(p, "proc"));
		p->record = r;
	}
	return p->record == NULL ? &none : p->record;
}

/*
 * Set *f to the file of that name in r.  Return false, with a file without
 * bytes, where there is none.
 */
bool
linuxrec_find(const struct linuxrec *r, const char *name, struct recfile *f)
{
	size_t at, n;

	n = strlen(name);
	at = BISECT_WHILE(i, r->n, name_cmp(r, r->at[i], name, n) < 0);
	memset(f, 0, sizeof *f);
	if (at == r->n || name_cmp(r, r->at[at], name, n) != 0)
		return false;
	linuxrec_get(r, at, f);
	return true;
}

/*
 * Set s, of size bytes, to the file of that name in r, which is a line, without
 * its newline, and cut if it is longer.  Return false, with s as it was, if
 * there is none, or it is empty.
 */
bool
linuxrec_line(const struct linuxrec *r, const char *name, char *s, size_t size)
{
	struct recfile f;
	size_t n;

	if (!linuxrec_find(r, name, &f) || f.len == 0)
		return false;
	n = f.data[f.len - 1] == '\n' ? f.len - 1 : f.len;
	n = n < size ? n : size - 1;
	memcpy(s, f.data, n);
	s[n] = '\0';
	return true;
}

/*
 * Set word, of n bytes, to the machine type that rec, a Linux record, names, in
 * Plan 9's words; "" where there is no record of Linux.  Return word.
 */
const char *
linuxrec_cputype(const struct file *rec, char *word, size_t n)
{
	size_t i;

	for (i = 0; linuxrec_is(rec) && i + 1 < n && 6 + i < rec->len &&
	    rec->data[6 + i] > ' '; i++)
		word[i] = (char)rec->data[6 + i];
	word[i] = '\0';
	return word;
}

/*
 * Return what stands behind key, which ends in a blank, on the first line of
 * file f that begins with it, and set *len to its bytes.  Return NULL if no
 * line does.
 */
const char *
recfile_value(const struct recfile *f, const char *key, size_t *len)
{
	struct scan t, value;

	t = scan_begin(f->data, f->len);
	if (!scan_key(&t, key, &value))
		return NULL;
	*len = (size_t)(value.end - value.s);
	return value.s;
}
