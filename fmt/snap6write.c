/*
 * Writing snap(6) streams that the manual page allows and both Plan 9
 * readers take as they are (snap6.md, Writing): numbers right-justified, no
 * section that ends in a reference, one mem record for a process, behind
 * its text, references straight to raw pages.
 */
#include "snap.h"
#include "snap6.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct output	*out;
	struct proc	*proc;		/* being written */
	const struct segment *seg;	/* whose header is written */
	bool		 lost;		/* of proc, since its proc record */
	char		 why[256];
	uint64_t	 nlost;		/* kilobytes of proc */
};

/*
 * Write a number: 11 columns, right-justified, and a blank.
 */
static void
write_num(struct writer *w, uint64_t v)
{
	char s[24], *p;

	p = s + sizeof s;
	*--p = ' ';
	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	while (p > s + sizeof s - SNAP6_NUM)
		*--p = ' ';
	output_put(w->out, p, (size_t)(s + sizeof s - p));
}

static void
write_header(struct writer *w, const char *name)
{
	write_num(w, w->proc->pid);
	output_put(w->out, name, strlen(name));
	output_put(w->out, "\n", 1);
}

static void
write_data(struct writer *w, const struct file *f)
{
	write_header(w, f->name);
	write_num(w, f->len);
	output_put(w->out, f->data, f->len);
}

static void
write_fill(struct writer *w, char c, uint64_t n)
{
	char s[512];
	size_t part;

	memset(s, c, sizeof s);
	for (; n > 0; n -= part) {
		part = n < sizeof s ? (size_t)n : sizeof s;
		output_put(w->out, s, part);
	}
}

static void
write_raw(struct writer *w, const struct finding *f)
{
	uint64_t i;

	for (i = 0; i < f->n; i++) {
		output_refer(w->out, "r", 1);
		output_refer(w->out, f->data + i * KB,
		    segment_kblen(f->seg, f->kb + i));
	}
}

static void
write_refer(struct writer *w, const struct finding *f)
{
	uint64_t i, origin;

	origin = image_origin(f->image);
	for (i = 0; i < f->n; i++) {
		output_put(w->out, f->image->kind == IMAGE_TEXT ? "t" : "m",
		    1);
		write_num(w, f->image->proc->pid);
		write_num(w, f->addr + i * KB - origin);
	}
}

/*
 * What cannot be read at the last moment stands as zeros in the stream, and
 * is listed as missing in a second proc record, which replaces the first.
 */
static int
write_lost(struct writer *w, const struct finding *f)
{
	struct image *im = f->seg->image;
	uint64_t start, end;

	start = f->seg->base + f->kb * KB;
	end = f->kb + f->n == segment_kb(f->seg) ?
	    f->seg->base + f->seg->len : start + f->n * KB;
	write_fill(w, 'z', f->n);
	w->lost = true;
	w->nlost += f->n;
	if (*f->why != '\0')
		strlcpy(w->why, f->why, sizeof w->why);
	return image_miss(im, start, end, "unreadable");
}

static int
write_finding(void *arg, const struct finding *f)
{
	struct writer *w = arg;
	int rc;

	rc = 0;
	if (w->seg != f->seg) {
		write_num(w, f->seg->base);
		write_num(w, f->seg->len);
		w->seg = f->seg;
	}
	switch (f->verdict) {
	case VERDICT_RAW:
		w->proc->count.raw += f->n;
		write_raw(w, f);
		break;
	case VERDICT_ZERO:
		w->proc->count.zero += f->n;
		write_fill(w, 'z', f->n);
		break;
	case VERDICT_SAME:
		w->proc->count.same += f->n;
		write_refer(w, f);
		break;
	case VERDICT_LOST:
		rc = write_lost(w, f);
		break;
	}
	if (f->final && output_flush(w->out) == -1)
		return -1;
	return rc;
}

static int
write_files(struct writer *w)
{
	const struct proc *p = w->proc;
	const struct file *f;
	size_t i;
	int k;

	for (k = 0; k < F_MAX; k++)
		if ((f = proc_file(p, snap6_field[k])) != NULL)
			write_data(w, f);
	for (i = 0; i < p->nfile; i++)
		if (snap6_known(p->file[i].name) == -1)
			write_data(w, &p->file[i]);
	return output_flush(w->out);
}

static int
write_images(struct writer *w, struct dedup *d)
{
	const struct image *im;
	size_t i;

	im = w->proc->text;
	for (i = 0; im != NULL && i < im->nseg; i++) {
		write_header(w, "text");
		if (dedup_segment(d, im->seg[i], true) == -1)
			return -1;
	}
	im = w->proc->mem;
	if (im == NULL || im->nseg == 0)
		return 0;
	write_header(w, "mem");
	write_num(w, im->nseg);
	for (i = 0; i < im->nseg; i++)
		if (dedup_segment(d, im->seg[i], i + 1 == im->nseg) == -1)
			return -1;
	return 0;
}

static int
write_proc(struct writer *w, struct dedup *d,
    void (*warn)(void *, const char *), void *arg)
{
	char msg[512];
	int rc;

	memset(&w->proc->count, 0, sizeof w->proc->count);
	w->lost = false;
	w->nlost = 0;
	w->seg = NULL;
	if (write_files(w) == -1 || write_images(w, d) == -1)
		return -1;
	if (!w->lost)
		return 0;
	if ((rc = linuxrec_update(w->proc)) == -1)
		return -1;
	if (rc == 1)
		write_data(w, proc_file(w->proc, "proc"));
	snprintf(msg, sizeof msg, "process %" PRIu64 ": %" PRIu64
	    " kilobytes could not be read: %s", w->proc->pid, w->nlost,
	    w->why);
	if (warn != NULL)
		warn(arg, msg);
	return output_flush(w->out);
}

/*
 * Write a snapshot.  The counts of its processes are set to what was
 * written; what cannot be read is told to warn, with arg before the
 * sentence, and the snapshot is then incomplete.
 */
int
snap6_write(struct snap *s, struct output *out,
    void (*warn)(void *, const char *), void *arg)
{
	struct writer w;
	struct dedup *d;
	size_t i;
	int rc;

	memset(&w, 0, sizeof w);
	w.out = out;
	if ((d = dedup_new(write_finding, &w)) == NULL)
		return -1;
	output_put(out, s->header, strlen(s->header));
	output_put(out, "\n", 1);
	for (rc = 0, i = 0; i < s->nproc && rc == 0; i++) {
		w.proc = s->proc[i];
		if ((rc = write_proc(&w, d, warn, arg)) == -1)
			errstr_wrap("process %" PRIu64, w.proc->pid);
	}
	if (rc == 0)
		rc = output_flush(out);
	dedup_free(d);
	return rc;
}
