/*
 * Read the files of a Linux record that concern the model, and apply them to
 * the process.
 */
#include "record.h"
#include "digits.h"

#include <sys/sysmacros.h>

enum { MAX_MISSING = 1 << 21 };	/* maximum number of missing ranges of an
				   image */

/*
 * Set p->leader to the process of thread p, as given in f, the file "thread": a
 * decimal number and a newline.
 */
static int
thread_apply(struct proc *p, const struct recfile *f)
{
	uint64_t v;

	if (f->len == 0 || f->data[f->len - 1] != '\n' ||
	    !digits_number((const char *)f->data, f->len - 1, 10, &v))
		return errstr_set("proc: thread: expected a process ID and a "
		    "newline");
	p->leader = v;
	return 0;
}

/*
 * Read at most 16 hexadecimal digits at s into *num. The byte after the digits
 * must be equal to end. Return a pointer to that byte, or NULL if s has a
 * different form.
 */
static const char *
parse_hex(const char *s, char end, uint64_t *num)
{
	const char *p;

	p = digits_read(s, s + strlen(s), 16, num);
	return p == NULL || p == s || p - s > 16 || *p != end ? NULL : p;
}

/*
 * Mark the ranges listed in f as missing from image im. Remove what im has at
 * these addresses.
 */
static int
missing_apply(struct image *im, const char *name,
    const struct recfile *f)
{
	char line[128];
	const char *s, *reason;
	uint64_t start, end;
	size_t off, n;

	for (off = 0; line_next(f->data, f->len, &off, &s, &n);) {
		if (im->nmissing >= MAX_MISSING)
			return errstr_set("proc: %s: more than %d ranges",
			    name, MAX_MISSING);
		snprintf(line, sizeof line, "%.*s", (int)(n < 127 ? n : 127),
		    s);
		if ((reason = parse_hex(line, '-', &start)) == NULL ||
		    (reason = parse_hex(reason + 1, ' ', &end)) == NULL ||
		    *++reason == '\0' || start >= end)
			return errstr_set("proc: %s: %s: "
			    "expected START-END REASON", name, line);
		if (image_miss(im, start, end, reason) == -1 ||
		    image_punch(im, start, end) == -1)
			return -1;
	}
	image_sortmissing(im);
	return 0;
}

/*
 * Mark p as the embedded file described by f: MAJOR:MINOR INODE PATH.
 */
static int
embedded_apply(struct proc *p, const struct recfile *f)
{
	unsigned int maj, min;
	char line[PATH_MAX + 64];
	uint64_t ino;
	int path;

	snprintf(line, sizeof line, "%.*s", (int)(f->len < sizeof line ?
	    f->len : sizeof line - 1), (const char *)f->data);
	path = 0;
	if (sscanf(line, "%8x:%8x %20" SCNu64 " %n", &maj, &min, &ino,
	    &path) != 3 || line[path] == '\0' || strlen(line) != f->len)
		return errstr_set("proc: " CARRY ": %s: not MAJOR:MINOR "
		    "INODE PATH", line);
	return embedded_set(p, makedev(maj, min), ino, line + path);
}

/*
 * Return true if linuxrec_apply() reads the file called name.
 */
bool
linuxrec_applies(const char *name)
{
	return strcmp(name, "thread") == 0 || strcmp(name, CARRY) == 0 ||
	    strcmp(name, TEXT_MISSING) == 0 || strcmp(name, MEM_MISSING) == 0;
}

/*
 * Apply the Linux record of process p, if it has one, to the snapshot. The
 * record says which process a thread belongs to, which file is embedded, and
 * which memory is missing. Return 0, or -1 with errstr set.
 */
int
linuxrec_apply(struct proc *p)
{
	struct linuxrec r;
	struct recfile f;
	int rc;

	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0 && linuxrec_find(&r, "thread", &f))
		rc = thread_apply(p, &f);
	if (rc == 0 && linuxrec_find(&r, CARRY, &f))
		rc = embedded_apply(p, &f);
	if (rc == 0 && linuxrec_find(&r, TEXT_MISSING, &f) && p->text != NULL)
		rc = missing_apply(p->text, TEXT_MISSING, &f);
	if (rc == 0 && linuxrec_find(&r, MEM_MISSING, &f)) {
		if (p->mem == NULL)
			p->mem = image_new(p, IMAGE_MEM);
		rc = p->mem == NULL ? -1 :
		    missing_apply(p->mem, MEM_MISSING, &f);
	}
	linuxrec_close(&r);
	return rc;
}
