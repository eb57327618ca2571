/*
 * Two snapshots as one.  Numbers mean something within one snapshot only:
 * a process whose number is taken gets another one, and so do open file
 * descriptions; files that are carried along twice are kept once, or, where
 * only their device and inode are the same, told apart by another device.
 */
#include "recedit.h"

#include <sys/sysmacros.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	PID_MAX_LIMIT = 4 * 1024 * 1024, /* include/linux/threads.h */
	DEV_MAJOR = 0xfff	/* no device of Linux has it */
};

struct newpid {
	uint64_t	 old;
	uint64_t	 pid;
};

struct newdev {			/* a file that is to have another device */
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 to;
};

struct merge {
	struct snap	*a;	/* into which */
	struct snap	*b;	/* comes this */
	struct newpid	*pid;	/* owned; of all of b, by old number */
	bool		*keep;	/* owned; of each of b: not in a already */
	struct newdev	*dev;	/* owned */
	size_t		 ndev;
	uint64_t	 file;	/* added to numbers of open files of b */
	uint64_t	 next;	/* number for a process, and */
	uint64_t	 nextfile; /* for a file that is carried along */
	char		 cputype[16]; /* of b */
};

static int
newpid_cmp(const void *a, const void *b)
{
	const struct newpid *x = a, *y = b;

	return x->old < y->old ? -1 : x->old > y->old;
}

/*
 * The new number of a process of b; one that is not in it keeps its number.
 */
static uint64_t
merge_pid(const struct merge *m, uint64_t old)
{
	struct newpid key = { .old = old }, *p;

	p = m->b->nproc == 0 ? NULL : bsearch(&key, m->pid, m->b->nproc,
	    sizeof key, newpid_cmp);
	return p == NULL ? old : p->pid;
}

/*
 * Find numbers for all of b.
 */
static void
merge_number(struct merge *m)
{
	const struct snap *s[2] = { m->a, m->b };
	uint64_t pid, *next;
	size_t i, k;

	m->next = 1;
	m->nextfile = PID_MAX_LIMIT + 1;
	for (k = 0; k < 2; k++)
		for (i = 0; i < s[k]->nproc; i++) {
			pid = s[k]->proc[i]->pid;
			if (pid > PID_MAX_LIMIT && pid >= m->nextfile)
				m->nextfile = pid + 1;
			if (pid <= PID_MAX_LIMIT && pid >= m->next)
				m->next = pid + 1;
		}
	for (i = 0; i < m->b->nproc; i++) {
		pid = m->b->proc[i]->pid;
		m->pid[i].old = m->pid[i].pid = pid;
		if (snap_find(m->a, pid) == NULL)
			continue;
		next = m->b->proc[i]->carried != NULL ||
		    m->next > PID_MAX_LIMIT ? &m->nextfile : &m->next;
		m->pid[i].pid = (*next)++;
	}
	if (m->b->nproc > 1)
		qsort(m->pid, m->b->nproc, sizeof *m->pid, newpid_cmp);
}

/*
 * Have two texts the same bytes?  One that cannot be read has not.
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
 * A device that no file of both has.
 */
static uint64_t
merge_device(const struct merge *m)
{
	const struct snap *s[2] = { m->a, m->b };
	const struct carried *c;
	unsigned int minor_no;
	size_t i, k;

	minor_no = 0;
	for (k = 0; k < 2; k++)
		for (i = 0; i < s[k]->nproc; i++) {
			c = s[k]->proc[i]->carried;
			if (c != NULL && major(c->dev) == DEV_MAJOR &&
			    minor(c->dev) >= minor_no)
				minor_no = minor(c->dev) + 1;
		}
	return makedev(DEV_MAJOR, minor_no);
}

/*
 * A file that b carries along: have it once, or under a device of its own.
 */
static int
merge_carried(struct merge *m, size_t i)
{
	struct proc *p = m->b->proc[i], *q;
	struct carried *c = p->carried;
	struct vma v = { .dev = c->dev, .ino = c->ino, .name = c->path };
	struct newdev *d;

	if ((q = carried_find(m->a, &v)) == NULL)
		return 0;
	if (p->mem == NULL && q->mem == NULL && text_same(p->text, q->text)) {
		m->keep[i] = false;
		return 0;
	}
	d = reallocarray(m->dev, m->ndev + 1, sizeof *d);
	if (d == NULL)
		return errstr_set("out of memory");
	m->dev = d;
	d += m->ndev++;
	d->dev = c->dev;
	d->ino = c->ino;
	d->to = merge_device(m);
	c->dev = d->to;
	return 0;
}

/*
 * Numbers of open file descriptions that are used so far.
 */
static uint64_t
file_next(const struct snap *s)
{
	struct linuxrec r;
	struct recfile f;
	uint64_t id, next;
	size_t i, k;

	for (i = 0, next = 0; i < s->nproc; i++) {
		if (linuxrec_open(&r, proc_file(s->proc[i], "proc")) == 0)
			for (k = 0; k < r.n; k++) {
				linuxrec_get(&r, k, &f);
				if (f.namelen < 6 ||
				    memcmp(f.name, "file/", 5) != 0)
					continue;
				id = strtoull(f.name + 5, NULL, 10);
				if (id >= next && id < UINT32_MAX)
					next = id + 1;
			}
		linuxrec_close(&r);
	}
	return next;
}

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
static int
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
static int
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

/*
 * A process of b becomes one of a; its Linux record keeps where it is from:
 * its old number and the first line of b.
 */
static int
merge_proc(struct merge *m, struct proc *p)
{
	struct buf line = { 0 };
	struct file origin = { (char *)(uintptr_t)"origin", NULL, 0 };
	const char *header = m->b->header;
	int rc;

	if (strncmp(header, "process snapshot ", 17) == 0)
		header += 17;
	buf_printf(&line, "%" PRIu64 " %s\n", p->pid, header);
	rc = buf_check(&line);
	origin.data = line.data;
	origin.len = line.len;
	p->pid = merge_pid(m, p->pid);
	if (p->leader != 0)
		p->leader = merge_pid(m, p->leader);
	if (rc == 0 && p->carried != NULL)
		rc = linuxrec_edit(p, m->cputype, carried_edit, p->carried,
		    &origin);
	else if (rc == 0)
		rc = linuxrec_edit(p, m->cputype, merge_edit, m, &origin);
	buf_free(&line);
	return rc == -1 ? errstr_wrap("process %" PRIu64, p->pid) : 0;
}

/*
 * Move all that is in b into a; of b an empty snapshot is left.  On a
 * failure both are good for nothing but snap_free.
 */
int
snap_merge(struct snap *a, struct snap *b)
{
	struct merge m = { .a = a, .b = b };
	size_t i;
	int rc;

	m.pid = calloc(b->nproc + 1, sizeof *m.pid);
	m.keep = calloc(b->nproc + 1, sizeof *m.keep);
	rc = m.pid == NULL || m.keep == NULL ? errstr_set("out of memory") : 0;
	if (sscanf(b->header, "%*s %*s %*s %*s %15s", m.cputype) != 1)
		strlcpy(m.cputype, "unknown", sizeof m.cputype);
	if (rc == 0) {
		merge_number(&m);
		m.file = file_next(a);
	}
	for (i = 0; i < b->nproc && rc == 0; i++) {
		m.keep[i] = true;
		if (b->proc[i]->carried != NULL)
			rc = merge_carried(&m, i);
	}
	for (i = 0; i < b->nproc && rc == 0; i++)
		if (m.keep[i])
			rc = merge_proc(&m, b->proc[i]);
	if (rc == 0)
		rc = snap_move(a, b, m.keep);
	free(m.pid);
	free(m.keep);
	free(m.dev);
	return rc;
}
