/*
 * Linux records made of named files and of what the model knows, which is of
 * which file a process is and what of its memory is missing: apply.c reads it.
 */
#include "record.h"
#include "io/io.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <string.h>

/*
 * Add the list of what is missing from an image, if something is: lines
 * START-END REASON, in hexadecimal.
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
 * Put the file carried of a record into b, for c: device and inode as maps has
 * them, and the path.
 */
void
carried_put(struct buf *b, const struct carried *c)
{
	buf_printf(b, "%02x:%02x %" PRIu64 " %s", major(c->dev),
	    minor(c->dev), c->ino, c->path);
}

enum {
	HEADS = 64,		/* bytes of a head and a name, mostly */
	ROOM = 4096 * KB	/* that a record has at once, at most */
};

/*
 * Move what is in b to the end of k.
 */
static void
add_buf(struct bulk *k, struct buf *b)
{
	k->b.failed |= b->failed;
	bulk_add(k, b->data, b->len);
	b->len = 0;
}

/*
 * Add a file to a record, of which there may be very much; b is empty.
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
 * Make a Linux record of the n files at file, of which file is carried along
 * and of what is missing from the memory of process p, and give it to p.  The
 * machine cputype is in Plan 9's words; names are good paths, each once.
 * Return 0, or -1 with errstr.
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
	(void)buf_room(&k.b, sum < ROOM ? sum : ROOM);	/* it grows once */
	linuxrec_begin(&b, cputype);
	add_buf(&k, &b);
	for (i = 0; i < n; i++)
		add_file(&k, &file[i], &b);
	if (p->carried != NULL) {
		carried_put(&line, p->carried);
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
 * Put what is missing now into the Linux record of process p, behind its other
 * files.  Return 1; 0 if the process has no such record; -1 with errstr on an
 * error.
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
