/*
 * Merge two snapshots into one. Numbers are valid within one snapshot only: a
 * process whose ID is taken gets another one, and so do open file descriptions.
 * Embedded files that are in both snapshots are kept once; if only their device
 * and inode are equal, one of them gets another device number.
 */
#include "merge.h"
#include "bisect.h"
#include "digits.h"

#include <sys/sysmacros.h>

enum { DEV_MAJOR = 0xfff };	/* a major number that Linux does not use */

static char origin[] = "origin", part[] = "part";

/*
 * Return true if texts a and b have the same bytes. Return false if one of them
 * cannot be read.
 */
static bool
text_same(struct image *a, struct image *b)
{
	static uint8_t x[64 * KB], y[64 * KB];
	uint64_t at, len;
	size_t n;

	if (a == NULL || b == NULL || a->nseg != 1 || b->nseg != 1 ||
	    a->seg[0]->len != b->seg[0]->len ||
	    a->nmissing + b->nmissing > 0)
		return false;
	len = a->seg[0]->len;
	for (at = 0; at < len; at += n) {
		n = len - at < sizeof x ? (size_t)(len - at) : sizeof x;
		if (image_read(a, a->seg[0]->base + at, x, n) == -1 ||
		    image_read(b, b->seg[0]->base + at, y, n) == -1 ||
		    memcmp(x, y, n) != 0)
			return false;
	}
	return true;
}

/*
 * Raise m->minor_no above all minor numbers that embedded files of either
 * snapshot use with major number DEV_MAJOR.
 */
static void
merge_minor(struct merge *m)
{
	const struct snap *s[2] = { m->a, m->b };
	const struct embedded *c;
	size_t i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < s[k]->nproc; i++) {
			c = s[k]->proc[i]->embedded;
			if (c != NULL && major(c->dev) == DEV_MAJOR &&
			    minor(c->dev) >= m->minor_no)
				m->minor_no = minor(c->dev) + 1;
		}
}

/*
 * Drop file number i of m->b, an embedded file, if m->a has the same file. If
 * m->a has a different file with the same device and inode numbers, give file i
 * a new device number.
 */
static int
merge_embedded(struct merge *m, size_t i)
{
	struct proc *p = m->b->proc[i], *q;
	struct embedded *c = p->embedded;
	struct vma v = { .dev = c->dev, .ino = c->ino, .name = c->path };
	struct newdev d = { *c, c->dev };

	if ((q = embedded_find(m->a, &v)) != NULL) {
		m->keep[i] = p->mem != NULL || q->mem != NULL ||
		    !text_same(p->text, q->text);
		if (m->keep[i]) {
			/* musl's makedev() evaluates its arguments twice */
			d.to = makedev(DEV_MAJOR, m->minor_no);
			m->minor_no++;
		}
	}
	c->dev = d.to;
	return POOL_ADD(&m->pool, m->dev, m->ndev, d);
}

/*
 * If f is the file "part" of a record, set *num to the number in it. Otherwise
 * return false.
 */
static bool
recfile_part(const struct recfile *f, uint64_t *num)
{
	return f->namelen == 4 && memcmp(f->name, "part", 4) == 0 &&
	    f->len > 0 && f->data[f->len - 1] == '\n' &&
	    digits_number((const char *)f->data, f->len - 1, 10, num);
}

/*
 * Find the first free numbers in m->a for open file descriptions and for parts.
 * They are above all those that m->a uses.
 */
static void
merge_free(struct merge *m)
{
	const struct linuxrec *r;
	struct recfile f;
	uint64_t id;
	size_t i, k;

	m->part = 1;
	for (i = 0; i < m->a->nproc; i++) {
		r = proc_record(m->a->proc[i]);
		for (k = 0; k < r->n; k++) {
			linuxrec_get(r, k, &f);
			if (recfile_number(&f, "file/", &id) &&
			    id >= m->file && id < UINT32_MAX)
				m->file = id + 1;
			if (recfile_part(&f, &id) && id >= m->part &&
			    id < UINT32_MAX)
				m->part = id + 1;
		}
	}
}

/*
 * Write the new device number into the file "carried" of a record. This is a
 * recedit_fn; its arg is the struct embedded of the file.
 */
static int
embedded_edit(void *arg, const struct recfile *f, char *name, struct buf *b)
{
	const struct embedded *c = arg;

	(void)f;
	if (strcmp(name, "carried") != 0)
		return EDIT_KEEP;
	embedded_put(b, c);
	return EDIT_CHANGE;
}

/*
 * Turn p, a process of m->b, into a process of m->a. Add the files "origin" and
 * "part" to its Linux record. origin has the old process ID of p and the first
 * line of m->b.
 */
static int
merge_proc(struct merge *m, struct proc *p)
{
	struct file more[2] = { { .name = origin }, { .name = part } };
	struct buf line = { 0 }, num = { 0 };
	int rc;

	buf_printf(&line, "%" PRIu64 " %s\n", p->pid, m->header.rest);
	buf_printf(&num, "%" PRIu64 "\n", m->part);
	rc = buf_check(&line) == -1 ? -1 : buf_check(&num);
	more[0].data = line.data;
	more[0].len = line.len;
	more[1].data = num.data;
	more[1].len = num.len;
	p->pid = merge_pid(m, p->pid);
	if (p->leader != 0)
		p->leader = merge_pid(m, p->leader);
	if (rc == 0 && p->embedded != NULL)
		rc = linuxrec_edit(p, m->header.cputype, embedded_edit,
		    p->embedded, more, 1);
	else if (rc == 0)
		rc = linuxrec_edit(p, m->header.cputype, merge_edit, m, more,
		    2);
	buf_free(&line);
	buf_free(&num);
	return rc == -1 ? errstr_wrap("process %" PRIu64, p->pid) : 0;
}

CMP_BY(newdev_cmp, struct newdev, embedded_order(&x->file, &y->file) != 0 ?
    embedded_order(&x->file, &y->file) : ORDER(x->to, y->to))

/*
 * Move all processes of snapshot b into snapshot a. b is empty afterwards.
 * Return 0. On failure return -1 with errstr set; the caller can then only free
 * the two snapshots.
 */
int
snap_merge(struct snap *a, struct snap *b)
{
	struct merge m = { .a = a, .b = b };
	unsigned int first;
	size_t i;
	int rc;

	m.keep = pool_new(&m.pool, b->nproc, sizeof *m.keep);
	rc = m.keep == NULL ? -1 : merge_number(&m);
	header_parse(&m.header, b->header);
	if (*m.header.cputype == '\0')
		strlcpy(m.header.cputype, "unknown", sizeof m.header.cputype);
	merge_free(&m);
	merge_minor(&m);
	first = m.minor_no;
	for (i = 0; i < b->nproc && rc == 0; i++) {
		m.keep[i] = true;
		if (b->proc[i]->embedded != NULL)
			rc = merge_embedded(&m, i);
	}
	if (m.minor_no == first)
		m.ndev = 0;	/* no file gets a new number */
	SORT(m.dev, m.ndev, newdev_cmp);
	for (i = 0; i < b->nproc && rc == 0; i++)
		if (m.keep[i])
			rc = merge_proc(&m, b->proc[i]);
	if (rc == 0)
		rc = snap_move(a, b, m.keep);
	pool_free(&m.pool);
	return rc;
}
