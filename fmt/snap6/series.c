/*
 * Write a series: a stream with several moments of the same processes. After
 * each moment the output is a whole snapshot with a trailer. The next moment
 * takes the place of the trailer.
 *
 * The pages of a moment are read from its clones until the next moment was
 * compared with them; then from the output itself.
 */
#include "bisect.h"
#include "full.h"
#include "io/io.h"
#include "vec.h"
#include "record/record.h"
#include "writer.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Let w write a series. Its output must be a new file, because later moments
 * are compared with its bytes. Return 0, or -1 with errstr set.
 */
int
snap6_series(struct snap6 *w)
{
	int fd;

	if ((w->own = snap_new()) == NULL)
		return -1;
	if ((fd = beneath_reopen(output_fd(w->out), O_RDONLY)) == -1)
		return errstr_sys("cannot read the output");
	if ((w->file = source_file(w->own, fd, "the output", KB + 1)) == NULL)
		fd_drop(fd);
	return w->file == NULL ? -1 : 0;
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
 * Write the mark of moment n, counted from 1: all of its processes were
 * written, and header is the first line that a snapshot of it would have.
 */
static int
mark_put(struct snap6 *w, uint64_t n, const char *header, const char *cputype)
{
	static char name[] = MOMENT_FILE;
	struct file f = { .name = name };
	struct buf b = { 0 };
	struct snap *s;
	struct proc *p;
	int rc = -1;

	buf_printf(&b, "%" PRIu64 "%s\n", n, header + strlen(SNAP6_MAGIC));
	if (buf_check(&b) == 0 && (s = snap_new()) != NULL) {
		f.data = b.data;
		f.len = b.len;
		if ((p = snap_add(s, n * EARLY_PID - 1)) != NULL &&
		    linuxrec_pack(p, cputype, &f, 1) == 0)
			rc = snap6_put(w, p);
		snap_free(s);
	}
	w->proc = NULL;
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
	uint64_t end;
	int rc;

	if (mark_put(w, n, header, cputype) == -1 ||
	    output_sum(w->out, NULL) == -1)
		return -1;
	end = output_pos(w->out);
	if ((rc = sums_end(w->sums)) == 0)
		rc = snap6_trailer(w);
	sums_resume(w->sums);
	if (rc == 0)
		w->end = end;
	return rc == 0 ? output_publish(w->out) : -1;
}

/*
 * Remove the trailer, so that another moment can be written. Return 0, or -1
 * with errstr set.
 */
int
snap6_resume(struct snap6 *w)
{
	dedup_next(w->dedup, true, false);
	return output_rewind(w->out, w->end) == -1 ? -1 :
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
	const int fd = output_fd(w->out);

	(void)output_flush(w->out);
	return ftruncate(fd, (off_t)w->end) == -1 || full_pwrite(fd,
	    w->trailer.data, w->trailer.len, w->end) == -1 ?
	    errstr_sys("cannot remove a moment") : 0;
}
