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

struct snap6 {
	struct output	*out;		/* borrowed */
	struct dedup	*dedup;		/* owned */
	void		(*warn)(void *, const char *);
	void		*arg;		/* warn's */
	struct proc	*proc;		/* being written */
	const struct segment *seg;	/* whose header is written */
	bool		 lost;		/* of proc, since its proc record */
	char		 why[256];
	uint64_t	 nlost;		/* kilobytes of proc */
};

/*
 * Put a number into s (24 bytes): 11 columns, right-justified, and a blank.
 * Returns its length.
 */
static size_t
format_num(char *s, uint64_t v)
{
	char tmp[24], *p;
	size_t n;

	p = tmp + sizeof tmp;
	*--p = ' ';
	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	while (p > tmp + sizeof tmp - SNAP6_NUM)
		*--p = ' ';
	n = (size_t)(tmp + sizeof tmp - p);
	memcpy(s, p, n);
	return n;
}

static void
write_num(struct snap6 *w, uint64_t v)
{
	char s[24];

	output_put(w->out, s, format_num(s, v));
}

static void
write_header(struct snap6 *w, const char *name)
{
	write_num(w, w->proc->pid);
	output_put(w->out, name, strlen(name));
	output_put(w->out, "\n", 1);
}

static void
write_data(struct snap6 *w, const struct file *f)
{
	write_header(w, f->name);
	write_num(w, f->len);
	output_put(w->out, f->data, f->len);
}

static void
write_fill(struct snap6 *w, char c, uint64_t n)
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
write_raw(struct snap6 *w, const struct finding *f)
{
	uint64_t i;

	for (i = 0; i < f->n; i++) {
		output_refer(w->out, "r", 1);
		output_refer(w->out, f->data + i * KB,
		    segment_kblen(f->seg, f->kb + i));
	}
}

enum { LOWDIGITS = 8 };

/*
 * Put the eight digits of a number below 10^8 into s.
 */
static void
format_low(char *s, uint32_t v)
{
	static const char pair[] =
	    "00010203040506070809101112131415161718192021222324"
	    "25262728293031323334353637383940414243444546474849"
	    "50515253545556575859606162636465666768697071727374"
	    "75767778798081828384858687888990919293949596979899";
	uint32_t hi, lo;

	hi = v / 10000;
	lo = v % 10000;
	memcpy(s, pair + hi / 100 * 2, 2);
	memcpy(s + 2, pair + hi % 100 * 2, 2);
	memcpy(s + 4, pair + lo / 100 * 2, 2);
	memcpy(s + 6, pair + lo % 100 * 2, 2);
}

/*
 * References to what follows one another.  They come by the million, and
 * differ in their last digits only, for long.
 */
static void
write_refer(struct snap6 *w, const struct finding *f)
{
	enum { REFMOST = 1 + 24 + 24 };
	static const uint64_t full = 100000000;	/* 10^LOWDIGITS */
	char ref[REFMOST] = { 0 }, *room;
	uint64_t i, addr;
	size_t n, num, k, most;

	addr = f->addr - image_origin(f->image);
	n = 0;
	for (i = 0; i < f->n; i += k) {
		room = output_room(w->out, REFMOST, &most);
		for (k = 0; k < f->n - i && k < most / REFMOST; k++) {
			if (n == 0 || addr < full || addr % full < KB) {
				ref[0] = f->image->kind == IMAGE_TEXT ?
				    't' : 'm';
				num = 1 + format_num(ref + 1,
				    f->image->proc->pid);
				n = num + format_num(ref + num, addr);
			}
			memcpy(room, ref, REFMOST);
			if (addr >= full)
				format_low(room + n - 1 - LOWDIGITS,
				    (uint32_t)(addr % full));
			room += n;
			addr += KB;
		}
		output_filled(w->out, room);
	}
}

/*
 * What cannot be read at the last moment stands as zeros in the stream, and
 * is listed as missing in a second proc record, which replaces the first.
 */
static int
write_lost(struct snap6 *w, const struct finding *f)
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
	struct snap6 *w = arg;
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
write_files(struct snap6 *w)
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
write_images(struct snap6 *w)
{
	const struct image *im;
	size_t i;

	im = w->proc->text;
	for (i = 0; im != NULL && i < im->nseg; i++) {
		write_header(w, "text");
		if (dedup_segment(w->dedup, im->seg[i], true) == -1)
			return -1;
	}
	im = w->proc->mem;
	if (im == NULL || im->nseg == 0)
		return 0;
	write_header(w, "mem");
	write_num(w, im->nseg);
	for (i = 0; i < im->nseg; i++)
		if (dedup_segment(w->dedup, im->seg[i], i + 1 == im->nseg) == -1)
			return -1;
	return 0;
}

/*
 * Write one process or thread.  Its counts are set to what was written;
 * what cannot be read is told to warn.
 */
int
snap6_put(struct snap6 *w, struct proc *p)
{
	char msg[512];
	int rc;

	w->proc = p;
	memset(&p->count, 0, sizeof p->count);
	w->lost = false;
	w->nlost = 0;
	w->seg = NULL;
	if (write_files(w) == -1 || write_images(w) == -1)
		return -1;
	if (!w->lost)
		return 0;
	if ((rc = linuxrec_update(p)) == -1)
		return -1;
	if (rc == 1)
		write_data(w, proc_file(p, "proc"));
	snprintf(msg, sizeof msg, "process %" PRIu64 ": %" PRIu64
	    " kilobytes could not be read: %s", p->pid, w->nlost, w->why);
	if (w->warn != NULL)
		w->warn(w->arg, msg);
	return output_flush(w->out);
}

/*
 * Begin to write a snapshot with that first line; warn (with arg before the
 * sentence) is told of what cannot be read, which makes it incomplete.
 * Processes are put into it one by one, and stay as they are until
 * snap6_end, for what comes later may be the same as what they have.
 */
struct snap6 *
snap6_begin(struct output *out, const char *header,
    void (*warn)(void *, const char *), void *arg)
{
	struct snap6 *w;

	if ((w = calloc(1, sizeof *w)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	w->out = out;
	w->warn = warn;
	w->arg = arg;
	if ((w->dedup = dedup_new(write_finding, w)) == NULL) {
		free(w);
		return NULL;
	}
	output_put(out, header, strlen(header));
	output_put(out, "\n", 1);
	return w;
}

/*
 * All is put: free the writer.  The output is the caller's to commit.
 */
int
snap6_end(struct snap6 *w)
{
	int rc;

	rc = output_flush(w->out);
	dedup_free(w->dedup);
	free(w);
	return rc;
}

/*
 * Write a whole snapshot, as with snap6_begin, snap6_put and snap6_end.
 */
int
snap6_write(struct snap *s, struct output *out,
    void (*warn)(void *, const char *), void *arg)
{
	struct snap6 *w;
	size_t i;
	int rc;

	if ((w = snap6_begin(out, s->header, warn, arg)) == NULL)
		return -1;
	for (rc = 0, i = 0; i < s->nproc && rc == 0; i++)
		rc = snap6_put(w, s->proc[i]);
	return snap6_end(w) == -1 ? -1 : rc;
}
