/*
 * Write a series: a stream with several moments of the same processes. After
 * each moment the output is a whole snapshot with a trailer. The next moment
 * takes the place of the trailer.
 *
 * The pages of a moment are read from its clones until the next moment was
 * compared with them; then from the output itself.
 */
#include "bisect.h"
#include "io/io.h"
#include "vec.h"
#include "record/record.h"
#include "writer.h"

/*
 * Let w write a series. Its output must be a new file, because later moments
 * are compared with its bytes. Return 0, or -1 with errstr set.
 */
int
snap6_series(struct snap6 *w)
{
	return (w->own = snap_new()) == NULL ? -1 : 0;
}

CMP2(rawpages_cmp, struct rawpages, seg, kb)

/*
 * Describe segment s again: its n runs of raw pages at r are in the output, and
 * no other page will be read.
 */
static int
segment_retire(struct segment *s, const struct rawpages *r, size_t n,
    struct source *file)
{
	struct segment d = { .base = s->base, .len = s->len };
	size_t i;
	int rc;

	for (i = 0, rc = 0; i < n && rc == 0; i++) {
		rc = segment_append(&d, r[i].kb - d.kb, NULL, 0);
		if (rc == 0)
			rc = segment_append(&d, r[i].n, file, r[i].pos + 1);
	}
	if (rc == 0)
		rc = segment_append(&d, s->kb - d.kb, NULL, 0);
	if (rc == -1)
		free(d.ext);
	else
		segment_take(s, &d);
	return rc;
}

/*
 * Retire all segments of image im, which may be NULL. w->raw must be sorted.
 */
static int
image_retire(struct snap6 *w, const struct image *im)
{
	struct rawpages *r;
	struct segment *s;
	size_t i, n;

	for (i = 0; im != NULL && i < im->nseg; i++) {
		s = im->seg[i];
		r = w->raw + BISECT_WHILE(k, w->nraw, w->raw[k].seg < s);
		for (n = 0; r + n < w->raw + w->nraw && r[n].seg == s; n++)
			continue;
		if (segment_retire(s, r, n, w->file) == -1)
			return -1;
		while (n > 0)
			r[--n].n = 0;
	}
	return 0;
}

/*
 * From now on, read the pages of s, which w has written, from the output. Free
 * the sources of s. Return 0, or -1 with errstr set.
 */
int
snap6_retire(struct snap6 *w, struct snap *s)
{
	size_t i, n;

	SORT(w->raw, w->nraw, rawpages_cmp);
	for (i = 0; i < s->nproc; i++)
		if (image_retire(w, s->proc[i]->text) == -1 ||
		    image_retire(w, s->proc[i]->mem) == -1)
			return -1;
	for (i = n = 0; i < w->nraw; i++)
		if (w->raw[i].n > 0)
			w->raw[n++] = w->raw[i];
	w->nraw = n;
	while (s->sources != NULL)
		source_drop(s);
	return 0;
}

/*
 * Write as memory of p, a mark, as many zero pages as the output lacks at the
 * end of a moment (output_lacks()).
 */
static int
mark_pad(struct snap6 *w, struct proc *p)
{
	char num[SNAP6_NUMMOST];
	/* the header, the count, the base and the length */
	const size_t head = (size_t)(num_format(num, p->pid) - num) +
	    strlen("mem\n") + 3 * SNAP6_NUM;
	uint64_t n = output_lacks(w->out, head + 1);
	struct segment *s;

	if (n == 0)
		return 0;
	n -= head;
	if ((p->mem = image_new(p, IMAGE_MEM)) == NULL ||
	    (s = segment_new(0, n * KB)) == NULL)
		return -1;
	if (segment_append(s, n, NULL, 0) == -1) {
		segment_free(s);
		return -1;
	}
	return image_insert(p->mem, s) == -1 ? -1 : snap6_put(w, p);
}

/*
 * Write the mark of moment n, counted from 1: all of its processes were
 * written, and header is the first line that a snapshot of it would have.
 */
static int
mark_put(struct snap6 *w, uint64_t n, const char *header, const char *cputype)
{
	static char name[] = MOMENT_FILE;
	struct file f = { .name = name };
	struct buf b = { 0 };
	struct proc *p;
	int rc = -1;

	buf_printf(&b, "%" PRIu64 "%s\n", n, header + strlen(SNAP6_MAGIC));
	if (buf_check(&b) == 0) {
		f.data = b.data;
		f.len = b.len;
		if ((p = snap_add(w->own, n * EARLY_PID - 1)) != NULL &&
		    linuxrec_pack(p, cputype, &f, 1) == 0 &&
		    snap6_put(w, p) == 0) {
			proc_forget(p);
			rc = mark_pad(w, p);
		}
	}
	buf_free(&b);
	return rc;
}

/*
 * End moment n, counted from 1, whose processes were written, and complete the
 * output. header is the first line that a snapshot of the moment would have.
 * Return 0, or -1 with errstr set.
 */
int
snap6_pause(struct snap6 *w, uint64_t n, const char *header,
    const char *cputype)
{
	int rc;

	if (mark_put(w, n, header, cputype) == -1 ||
	    output_mark(w->out) == -1 || output_sum(w->out, NULL) == -1)
		return -1;
	if ((rc = sums_end(w->sums)) == 0)
		rc = snap6_trailer(w);
	sums_resume(w->sums);
	if (rc == -1 || output_publish(w->out) == -1)
		return -1;
	if (w->file == NULL)
		w->file = output_source(w->out, w->own, KB + 1);
	return w->file == NULL ? -1 : 0;
}

/*
 * Remove the trailer, so that another moment can be written. all should be true
 * if a process of that moment was not in the one before: otherwise pages that
 * it shares with others are read to find them equal. Return 0, or -1 with
 * errstr set.
 */
int
snap6_resume(struct snap6 *w, bool all)
{
	dedup_next(w->dedup, all, false);
	return output_rewind(w->out) == -1 ? -1 :
	    output_sum(w->out, w->sums);
}

/*
 * Remove all that was written after the last complete moment, also if writing
 * failed, and write its trailer again. Nothing more can be written. Return 0,
 * or -1 with errstr set.
 */
int
snap6_undo(struct snap6 *w)
{
	return output_undo(w->out);
}
