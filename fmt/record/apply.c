/*
 * What a Linux record tells of its process, made true in the model.
 */
#include "model.h"
#include "record.h"
#include "snap.h"
#include "archive.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MISSING_MOST = 1 << 21 };	/* ranges of an image */

/*
 * Whose thread a process is: a decimal number and a newline.
 */
static int
thread_apply(struct proc *p, const struct recfile *f)
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
missing_apply(struct image *im, const char *name,
    const struct recfile *f)
{
	char line[128];
	const char *reason;
	uint64_t start, end;
	size_t off, n;

	for (off = 0; off < f->len; off += n + 1) {
		if (im->nmissing >= MISSING_MOST)
			return errstr_set("proc: %s: more than %d ranges",
			    name, MISSING_MOST);
		for (n = 0; off + n < f->len && f->data[off + n] != '\n'; n++)
			continue;
		snprintf(line, sizeof line, "%.*s", (int)(n < 127 ? n : 127),
		    (const char *)f->data + off);
		if ((reason = parse_hex(line, '-', &start)) == NULL ||
		    (reason = parse_hex(reason + 1, ' ', &end)) == NULL ||
		    *++reason == '\0' || start >= end)
			return errstr_set("proc: %s: %s: "
			    "not START-END REASON", name, line);
		if (image_miss(im, start, end, reason) == -1 ||
		    image_punch(im, start, end) == -1)
			return -1;
	}
	image_sortmissing(im);
	return 0;
}

/*
 * Which file is carried along: MAJOR:MINOR INODE PATH.
 */
static int
carried_apply(struct proc *p, const struct recfile *f)
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
		return errstr_set("proc: " CARRIED ": %s: not MAJOR:MINOR "
		    "INODE PATH", line);
	return carried_set(p, makedev(maj, min), ino, line + path);
}

/*
 * Let a process know what its Linux record, if it has one, tells of it:
 * whose thread it is or which file, and what of its memory is missing.
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
	if (rc == 0 && linuxrec_find(&r, CARRIED, &f))
		rc = carried_apply(p, &f);
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
