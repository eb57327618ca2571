/*
 * The Linux record: a small archive of named files, stored as the proc record
 * of a process.
 *
 *	linux CPUTYPE 1\n
 *	NAME\n NUM bytes
 *	NAME\n NUM bytes
 *	...
 *
 * NAME is a relative path and occurs once; NUM is as in snap(6). man6/snap.6
 * describes the files.
 */
#include "record.h"
#include "bisect.h"
#include "digits.h"
#include "vec.h"

enum {
	MAX_FILES = 1 << 22,	/* maximum number of files in a record */
	NUM_BYTES = 12 /* size, in bytes, of the number that gives a file's
			  length */
};

/*
 * Append to b the first line of a record. cputype is Plan 9's name for the
 * machine, such as "amd64".
 */
void
linuxrec_begin(struct buf *b, const char *cputype)
{
	buf_printf(b, "linux %s 1\n", cputype);
}

/*
 * Append to b the header of a file with a name of n bytes and contents of len
 * bytes.
 */
void
linuxrec_head(struct buf *b, const char *name, size_t n, size_t len)
{
	buf_add(b, name, n);
	buf_printf(b, "\n%11zu ", len);
}

/*
 * Append to b, which already has the beginning of a record, a file called name
 * with the len bytes at data.
 */
void
linuxrec_add(struct buf *b, const char *name, const void *data, size_t len)
{
	linuxrec_head(b, name, strlen(name), len);
	buf_add(b, data, len);
}

/*
 * Return true if the n bytes at s can be used as the name of a file in a
 * record. Such a name is a relative path shorter than PATH_MAX. It has no
 * control characters, and no component that is empty, "." or "..".
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
		if (!text_isname(s, len))
			return false;
		if (slash == NULL)
			return true;
	}
}

/*
 * Compare two paths: the na bytes at a and the nb bytes at b. A slash sorts
 * before all other bytes, so that the files in a directory come directly after
 * its name. Return a value as strcmp(3) does.
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
 * Parse the 12-byte number at p into *num. snap(6) also allows a wider form,
 * which is not accepted here, because no record is that long. Return 0, or -1
 * if there is no number at p.
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
	return s == end && *num == v ? 0 : -1;
}

/*
 * Parse the file at p in a record into *f. left is the number of bytes from p
 * to the end of the record. Return the number of bytes that the file takes, or
 * 0 with errstr set.
 */
static size_t
parse_file(const uint8_t *p, size_t left, struct recfile *f)
{
	const uint8_t *nl;
	size_t n, len;

	if ((nl = memchr(p, '\n', left)) == NULL) {
		errstr_set("file name not terminated by a newline");
		return 0;
	}
	n = (size_t)(nl - p);
	f->name = (const char *)p;
	f->namelen = n;
	if (!name_ok(f->name, n)) {
		errstr_set("%.*s: name is not a relative path",
		    (int)(n < 64 ? n : 64), f->name);
		return 0;
	}
	left -= n + 1;
	if (left < NUM_BYTES || parse_num(nl + 1, &len) == -1) {
		errstr_set("%.*s: no length after the name",
		    (int)(n < 64 ? n : 64), f->name);
		return 0;
	}
	if (len > left - NUM_BYTES) {
		errstr_set("%.*s: length: %zu bytes, but only %zu are left",
		    (int)(n < 64 ? n : 64), f->name, len, left - NUM_BYTES);
		return 0;
	}
	f->data = nl + 1 + NUM_BYTES;
	f->len = len;
	return n + 1 + NUM_BYTES + len;
}

/*
 * Return true if rec, which may be NULL, is a Linux record.
 */
bool
linuxrec_is(const struct file *rec)
{
	return rec != NULL && rec->len >= 6 &&
	    memcmp(rec->data, "linux ", 6) == 0;
}

/*
 * Set *f to file number i of record r, in the order of path_cmp().
 */
void
linuxrec_get(const struct linuxrec *r, size_t i, struct recfile *f)
{
	(void)parse_file(r->data + r->at[i], r->len - r->at[i], f);
}

/*
 * Compare the name of the file at offset off of record r with the n bytes at
 * name.
 */
static int
name_cmp(const struct linuxrec *r, size_t off, const char *name, size_t n)
{
	const char *s = (const char *)r->data + off;

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
 * Sort the files of r by name. Return 0, or -1 with errstr set if a name occurs
 * twice, or is also the name of a directory.
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
			return errstr_set("%.*s: duplicate name",
			    (int)g.namelen, g.name);
		if (g.name[f.namelen] == '/')
			return errstr_set("%.*s: its directory is also a "
			    "file", (int)g.namelen, g.name);
	}
	return 0;
}

/*
 * Free what linuxrec_open() allocated for r.
 */
void
linuxrec_close(struct linuxrec *r)
{
	free(r->at);
	r->at = NULL;
	r->n = 0;
}

/*
 * Find the files of r; the first is at offset off.
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
 * Parse the Linux record rec into r. The names and bytes of the files in r
 * point into rec. If rec is NULL or not a Linux record, r has no files. Return
 * 0; the caller must then call linuxrec_close(). On failure return -1 with
 * errstr set; then there is nothing to close.
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
		return errstr_set("proc: byte 0: expected "
		    "\"linux CPUTYPE 1\"");
	rc = files_find(r, (size_t)(nl - rec->data) + 1);
	if (rc == -1)
		linuxrec_close(r);
	return rc;
}

/*
 * Return the parsed Linux record of p, which is a process or thread. p owns the
 * result, which is valid until the small files of p change. The result has no
 * files if p has no Linux record, or a damaged one.
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
 * Set *f to the file called name in r. If there is none, set *f to an empty
 * file and return false.
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
 * Copy the one-line file called name in r to s, without its newline. s has room
 * for size bytes; a longer line is cut. Return false with s unchanged if the
 * file is empty or missing.
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
 * Copy the machine type from the first line of the Linux record rec to word.
 * word has room for n bytes; it becomes "" if rec is not a Linux record. Return
 * word.
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
 * Return the text after key in the first line of file f that begins with key.
 * key ends in a blank. Set *len to the length of the text. Return NULL if there
 * is no such line.
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
