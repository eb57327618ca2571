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
#include "snap.h"
#include "snap6.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEM_MISSING	"missing"
#define TEXT_MISSING	"missing-text"

/*
 * Begin a record for a machine type, in Plan 9's words ("amd64").
 */
static void
linuxrec_begin(struct buf *b, const char *cputype)
{
	buf_printf(b, "linux %s 1\n", cputype);
}

static void
linuxrec_add(struct buf *b, const char *name, const void *data, size_t len)
{
	buf_printf(b, "%s\n%11zu ", name, len);
	buf_add(b, data, len);
}

/*
 * Add what is missing from an image, if something is: lines START-END
 * REASON, in hex.
 */
static void
linuxrec_missing(struct buf *b, const char *name, const struct image *im)
{
	struct buf lines = { 0 };
	size_t i;

	if (im == NULL || im->nmissing == 0)
		return;
	for (i = 0; i < im->nmissing; i++)
		buf_printf(&lines, "%" PRIx64 "-%" PRIx64 " %s\n",
		    im->missing[i].start, im->missing[i].end,
		    im->missing[i].reason);
	b->failed |= lines.failed;
	linuxrec_add(b, name, lines.data, lines.len);
	buf_free(&lines);
}

/*
 * Make a Linux record of named files, and of what is missing from the
 * process's memory, and give it to the process.  Names are good paths, each
 * once.
 */
int
linuxrec_pack(struct proc *p, const struct file *file, size_t n)
{
	struct buf b = { 0 };
	size_t i;

	linuxrec_begin(&b, plan9_cputype());
	for (i = 0; i < n; i++)
		linuxrec_add(&b, file[i].name, file[i].data, file[i].len);
	linuxrec_missing(&b, MEM_MISSING, p->mem);
	if (buf_check(&b) == -1) {
		buf_free(&b);
		return -1;
	}
	return proc_setfile(p, "proc", b.data, b.len);
}

/*
 * Is a name a relative path without empty, . or .. components?
 */
static bool
name_ok(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		if (s[n] == '\0')
			return true;
	}
}

static int
file_cmp(const void *a, const void *b)
{
	const struct file *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int
names_unique(struct file *file, size_t n)
{
	struct file **v;
	size_t i;
	int rc;

	if (n < 2)
		return 0;
	if ((v = reallocarray(NULL, n, sizeof(struct file *))) == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < n; i++)
		v[i] = &file[i];
	qsort(v, n, sizeof *v, file_cmp);
	for (rc = 0, i = 1; i < n && rc == 0; i++)
		if (strcmp(v[i - 1]->name, v[i]->name) == 0)
			rc = errstr_set("%s: a second time", v[i]->name);
	free(v);
	return rc;
}

/*
 * The number at p, of which 12 bytes are there: as in snap(6), but never
 * wider, for no record is that long.
 */
static int
parse_num(const uint8_t *p, size_t *num)
{
	uint64_t v;
	int i;

	for (i = 0; i < SNAP6_NUM && p[i] == ' '; i++)
		continue;
	if (i >= SNAP6_NUM - 1)
		return -1;
	for (v = 0; i < SNAP6_NUM && p[i] >= '0' && p[i] <= '9'; i++)
		v = v * 10 + (uint64_t)(p[i] - '0');
	if (p[SNAP6_NUM - 1] != ' ')
		return -1;
	for (; i < SNAP6_NUM && p[i] == ' '; i++)
		continue;
	*num = (size_t)v;
	return i == SNAP6_NUM ? 0 : -1;
}

/*
 * The next file of a record: how many bytes it takes, or 0.
 */
static size_t
parse_file(const uint8_t *p, size_t left, struct file *f)
{
	const uint8_t *nl;
	size_t n, len;

	if ((nl = memchr(p, '\n', left)) == NULL) {
		errstr_set("a name without an end");
		return 0;
	}
	n = (size_t)(nl - p);
	f->name = strndup((const char *)p, n);
	if (f->name == NULL) {
		errstr_set("out of memory");
		return 0;
	}
	if (strlen(f->name) != n || !name_ok(f->name)) {
		errstr_set("%.64s: a name that is not a relative path",
		    f->name);
		return 0;
	}
	left -= n + 1;
	if (left < SNAP6_NUM || parse_num(nl + 1, &len) == -1) {
		errstr_set("%.64s: no length behind the name", f->name);
		return 0;
	}
	if (len > left - SNAP6_NUM) {
		errstr_set("%.64s: %zu bytes, but only %zu are left", f->name,
		    len, left - SNAP6_NUM);
		return 0;
	}
	/* the bytes stay where they are: in the record */
	f->data = (uint8_t *)(uintptr_t)(nl + 1 + SNAP6_NUM);
	f->len = len;
	return n + 1 + SNAP6_NUM + len;
}

/*
 * Is this proc record one of Linux?
 */
static bool
is_linux(const struct file *rec)
{
	return rec != NULL && rec->len >= 6 &&
	    memcmp(rec->data, "linux ", 6) == 0;
}

/*
 * Take a Linux record apart.  The files, freed by linuxrec_free, borrow
 * their bytes from the record.  0 files and success where rec is NULL or
 * no record of Linux.
 */
int
linuxrec_parse(const struct file *rec, struct file **file, size_t *nfile)
{
	struct file *v, *p;
	const uint8_t *nl;
	size_t n, cap, off, used;

	*file = NULL;
	*nfile = 0;
	if (!is_linux(rec))
		return 0;
	v = NULL;
	n = cap = 0;
	nl = memchr(rec->data, '\n', rec->len);
	if (nl == NULL || nl - rec->data < 9 || memcmp(nl - 2, " 1", 2) != 0)
		return errstr_set("proc: byte 0: not \"linux CPUTYPE 1\"");
	for (off = (size_t)(nl - rec->data) + 1; off < rec->len; off += used) {
		if (n == cap) {
			cap = cap == 0 ? 32 : cap * 2;
			p = reallocarray(v, cap, sizeof *v);
			if (p == NULL) {
				errstr_set("out of memory");
				goto fail;
			}
			v = p;
		}
		memset(&v[n], 0, sizeof v[n]);
		used = parse_file(rec->data + off, rec->len - off, &v[n++]);
		if (used == 0) {
			errstr_wrap("proc: byte %zu", off);
			goto fail;
		}
	}
	if (names_unique(v, n) == -1) {
		errstr_wrap("proc");
		goto fail;
	}
	*file = v;
	*nfile = n;
	return 0;
fail:
	linuxrec_free(v, n);
	return -1;
}

void
linuxrec_free(struct file *file, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(file[i].name);
	free(file);
}

/*
 * The file of that name in a parsed record, or NULL (which is no error).
 */
const struct file *
linuxrec_find(const struct file *file, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(file[i].name, name) == 0)
			return &file[i];
	return NULL;
}

/*
 * Whose thread a process is: a decimal number and a newline.
 */
static int
thread_apply(struct proc *p, const struct file *f)
{
	uint64_t v;
	size_t i;

	for (i = 0, v = 0; i < f->len && f->data[i] >= '0' &&
	    f->data[i] <= '9'; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(f->data[i] - '0'),
		    &v))
			break;
	if (i == 0 || i + 1 != f->len || f->data[i] != '\n')
		return errstr_set("proc: thread: not a process id and a "
		    "newline");
	p->leader = v;
	return 0;
}

/*
 * A number of lower-case hexadecimal digits that ends in a certain
 * character: where that is, or NULL.
 */
static const char *
parse_hex(const char *s, char end, uint64_t *num)
{
	size_t n;

	n = strspn(s, "0123456789abcdef");
	if (n == 0 || n > 16 || s[n] != end)
		return NULL;
	*num = strtoull(s, NULL, 16);
	return s + n;
}

/*
 * Take what is listed as missing out of an image.
 */
static int
missing_apply(struct image *im, const struct file *f)
{
	char line[128];
	const char *reason;
	uint64_t start, end;
	size_t off, n;

	for (off = 0; off < f->len; off += n + 1) {
		for (n = 0; off + n < f->len && f->data[off + n] != '\n'; n++)
			continue;
		snprintf(line, sizeof line, "%.*s", (int)(n < 127 ? n : 127),
		    (const char *)f->data + off);
		if ((reason = parse_hex(line, '-', &start)) == NULL ||
		    (reason = parse_hex(reason + 1, ' ', &end)) == NULL ||
		    *++reason == '\0' || start >= end)
			return errstr_set("proc: %s: %s: "
			    "not START-END REASON", f->name, line);
		if (image_miss(im, start, end, reason) == -1 ||
		    image_punch(im, start, end) == -1)
			return -1;
	}
	image_sortmissing(im);
	return 0;
}

/*
 * Let a process know what its Linux record, if it has one, tells of it:
 * whose thread it is, and what of its memory is missing.
 */
int
linuxrec_apply(struct proc *p)
{
	struct file *v;
	const struct file *f;
	size_t n;
	int rc;

	if (linuxrec_parse(proc_file(p, "proc"), &v, &n) == -1)
		return -1;
	rc = 0;
	if ((f = linuxrec_find(v, n, "thread")) != NULL)
		rc = thread_apply(p, f);
	f = linuxrec_find(v, n, TEXT_MISSING);
	if (rc == 0 && f != NULL && p->text != NULL)
		rc = missing_apply(p->text, f);
	f = linuxrec_find(v, n, MEM_MISSING);
	if (rc == 0 && f != NULL && p->mem == NULL &&
	    (p->mem = image_new(p, IMAGE_MEM)) == NULL)
		rc = -1;
	if (rc == 0 && f != NULL)
		rc = missing_apply(p->mem, f);
	linuxrec_free(v, n);
	return rc;
}

/*
 * Put what is missing now into a process's Linux record.  1 if
 * the record changed, 0 if it did not or there is none, -1 on an error.
 */
int
linuxrec_update(struct proc *p)
{
	struct buf b = { 0 };
	struct file *rec, *v;
	const uint8_t *nl;
	size_t i, n;

	rec = proc_file(p, "proc");
	if (!is_linux(rec))
		return 0;
	if (linuxrec_parse(rec, &v, &n) == -1)
		return -1;
	nl = memchr(rec->data, '\n', rec->len);
	buf_add(&b, rec->data, (size_t)(nl - rec->data) + 1);
	for (i = 0; i < n; i++)
		if (strcmp(v[i].name, MEM_MISSING) != 0 &&
		    strcmp(v[i].name, TEXT_MISSING) != 0)
			linuxrec_add(&b, v[i].name, v[i].data, v[i].len);
	linuxrec_free(v, n);
	image_sortmissing(p->mem);
	linuxrec_missing(&b, MEM_MISSING, p->mem);
	image_sortmissing(p->text);
	linuxrec_missing(&b, TEXT_MISSING, p->text);
	if (buf_check(&b) == -1) {
		buf_free(&b);
		return -1;
	}
	return proc_setfile(p, "proc", b.data, b.len) == -1 ? -1 : 1;
}
