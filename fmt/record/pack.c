/*
 * Make Linux records from named files and from facts of the model: which file
 * is embedded and which memory is missing. apply.c reads these.
 */
#include "record.h"
#include "io/io.h"

#include <sys/sysmacros.h>

/*
 * Append to b, as a file called name, a list of the missing ranges of image im.
 * Append nothing if none are missing. Each line is START-END REASON, with
 * hexadecimal addresses.
 */
static void
add_missing(struct buf *b, const char *name, const struct image *im)
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
 * Append to b the contents of a record's file "carried" for the embedded file
 * c: the device and inode number of c, written as in /proc/PID/maps, and its
 * path.
 */
void
embedded_put(struct buf *b, const struct embedded *c)
{
	buf_printf(b, "%02x:%02x %" PRIu64 " %s", major(c->dev),
	    minor(c->dev), c->ino, c->path);
}

enum {
	HEADS = 64,		/* estimated size, in bytes, of a file's header
				   with its name */
	ROOM = 4096 * KB /* maximum number of bytes to allocate at a time */
};

/*
 * Move the contents of b to the end of k, leaving b empty.
 */
static void
add_buf(struct bulk *k, struct buf *b)
{
	k->b.failed |= b->failed;
	bulk_add(k, b->data, b->len);
	b->len = 0;
}

/*
 * Append file f, which may be very large, to the record in k. b is an empty
 * buffer for temporary use.
 */
static void
add_file(struct bulk *k, const struct file *f, struct buf *b)
{
	enum { PIECE = 1024 * KB };
	size_t i, n;

	linuxrec_head(b, f->name, strlen(f->name), f->len);
	add_buf(k, b);
	for (i = 0; i < f->len; i += n) {
		n = f->len - i < PIECE ? f->len - i : PIECE;
		bulk_add(k, f->data + i, n);
		data_forget(f->data, i + n);
	}
}

/*
 * Make a Linux record from the n files at file, and give it to process p. The
 * file names must be valid paths without duplicates. cputype is Plan 9's name
 * for the machine. Add a file that lists the missing memory of p and, if p is
 * an embedded file, a file that describes it. Return 0, or -1 with errstr set.
 */
int
linuxrec_pack(struct proc *p, const char *cputype, const struct file *file,
    size_t n)
{
	struct buf b = { 0 }, line = { 0 };
	struct bulk k = { 0 };
	size_t i, len, sum;
	uint8_t *data;

	for (sum = 0, i = 0; i < n; i++)
		sum += file[i].len + HEADS;
	/* avoid growing the buffer step by step */
	(void)buf_room(&k.b, sum < ROOM ? sum : ROOM);
	linuxrec_begin(&b, cputype);
	add_buf(&k, &b);
	for (i = 0; i < n; i++)
		add_file(&k, &file[i], &b);
	if (p->embedded != NULL) {
		embedded_put(&line, p->embedded);
		b.failed |= line.failed;
		linuxrec_add(&b, CARRY, line.data, line.len);
		buf_free(&line);
	}
	add_missing(&b, MEM_MISSING, p->mem);
	add_buf(&k, &b);
	buf_free(&b);
	return bulk_finish(&k, &data, &len) == -1 ? -1 :
	    proc_setfile(p, "proc", data, len);
}

static int
drop_missing(void *arg, const struct recfile *f, char *name, struct buf *b)
{
	(void)arg;
	(void)f;
	(void)b;
	return strcmp(name, MEM_MISSING) == 0 ||
	    strcmp(name, TEXT_MISSING) == 0 ? EDIT_DROP : EDIT_KEEP;
}

/*
 * Write the current list of missing memory to the Linux record of process p.
 * The new list becomes the last file of the record and replaces the old one.
 * Return 1; 0 if p has no Linux record; or -1 with errstr set.
 */
int
linuxrec_update(struct proc *p)
{
	struct buf b = { 0 };
	struct linuxrec r;
	struct file *rec;
	int rc;

	rec = proc_file(p, "proc");
	if (!linuxrec_is(rec))
		return 0;
	if ((rc = linuxrec_open(&r, rec)) == 0)
		rc = linuxrec_copy(&b, rec, &r, drop_missing, NULL);
	linuxrec_close(&r);
	image_sortmissing(p->mem);
	add_missing(&b, MEM_MISSING, p->mem);
	image_sortmissing(p->text);
	add_missing(&b, TEXT_MISSING, p->text);
	if (rc == -1 || buf_check(&b) == -1) {
		buf_free(&b);
		return -1;
	}
	return proc_setfile(p, "proc", b.data, b.len) == -1 ? -1 : 1;
}
