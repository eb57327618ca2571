/*
 * Write snap(6) streams as the manual page allows and both Plan 9 readers
 * accept (man6/snap.6): numbers right-justified, no section that ends in a
 * reference, one mem record per process, after its text, and references
 * directly to raw pages.
 */
#include "vec.h"
#include "record/record.h"
#include "writer.h"

static void
write_num(struct snap6 *w, uint64_t v)
{
	char s[SNAP6_NUMMOST];

	output_put(w->out, s, (size_t)(num_format(s, v) - s));
}

static void
write_header(struct snap6 *w, const char *name)
{
	w->feigned = false;
	indexer_record(&w->index, w->proc->pid, name);
	write_num(w, w->proc->pid);
	output_put(w->out, name, strlen(name));
	output_put(w->out, "\n", 1);
}

/*
 * Add to the index the end of a record that began at offset pos of the output.
 */
static void
write_end(struct snap6 *w, uint64_t pos)
{
	indexer_length(&w->index, output_pos(w->out) - pos,
	    output_pos(w->out) - w->start);
}

static void
write_data(struct snap6 *w, const struct file *f)
{
	enum { PIECE = 1024 * KB };
	uint64_t pos;
	size_t i, n;

	pos = output_pos(w->out);
	write_header(w, f->name);
	write_num(w, f->len);
	for (i = 0; i < f->len; i += n) {
		n = f->len - i < PIECE ? f->len - i : PIECE;
		output_put(w->out, f->data + i, n);
		data_forget(f->data, i + n);
	}
	w->feigned = trailer_ends(f->data, f->len);
	write_end(w, pos);
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

/*
 * Write the raw pages of f, each after a tag "r". They are copied into one
 * buffer first, because one large write with one checksum is faster than
 * thousands of small ones.
 */
static void
write_raw(struct snap6 *w, const struct finding *f)
{
	const uint8_t *data = f->data;
	size_t n, most;
	uint64_t i;
	char *room;

	for (i = 0; i < f->n;) {
		room = output_room(w->out, 1 + KB, &most);
		for (; i < f->n && most >= 1 + KB; i++, data += KB) {
			n = segment_kblen(f->seg, f->kb + i);
			*room = 'r';
			memcpy(room + 1, data, n);
			room += 1 + n;
			most -= 1 + n;
		}
		output_filled(w->out, room);
	}
}

/*
 * Write zeros for the pages of f, which could not be read. Add these pages to
 * the missing memory of the image. snap6_put() will then write the proc record
 * of the process again, with a list of that memory.
 */
static int
write_lost(struct snap6 *w, const struct finding *f)
{
	struct image *im = f->seg->image;

	write_fill(w, 'z', f->n);
	w->lost = true;
	w->nlost += f->n;
	if (*f->why != '\0')
		strlcpy(w->why, f->why, sizeof w->why);
	return image_miss(im, f->seg->base + f->kb * KB, segment_end(f->seg,
	    f->kb, f->n), "unreadable");
}

/*
 * Note that w writes the raw pages of finding f at offset pos of the output.
 * Return 0, or -1 with errstr set.
 */
static int
rawpages_add(struct snap6 *w, const struct finding *f, uint64_t pos)
{
	struct rawpages *r = w->nraw == 0 ? NULL : &w->raw[w->nraw - 1];

	if (r != NULL && r->seg == f->seg && r->kb + r->n == f->kb &&
	    r->pos + r->n * (KB + 1) == pos) {
		r->n += f->n;
		return 0;
	}
	return VEC_ADD(w->raw, w->nraw, (struct rawpages){ .seg = f->seg,
	    .kb = f->kb, .n = f->n, .pos = pos });
}

static int
write_finding(void *arg, const struct finding *f)
{
	struct snap6 *w = arg;
	uint64_t pos;
	int rc;

	rc = 0;
	if (w->seg != f->seg) {
		write_num(w, f->seg->base);
		write_num(w, f->seg->len);
		indexer_segment(&w->index, f->seg->base, f->seg->len);
		w->seg = f->seg;
	}
	pos = output_pos(w->out);
	progress_read(w->progress, f->n * KB);
	switch (f->verdict) {
	case VERDICT_RAW:
		w->proc->count.raw += f->n;
		progress_count(w->progress, f->n, 0, 0);
		if (w->own != NULL && rawpages_add(w, f, pos) == -1)
			return -1;
		write_raw(w, f);
		indexer_raw(&w->index, f->place, f->n);
		break;
	case VERDICT_ZERO:
		w->proc->count.zero += f->n;
		progress_count(w->progress, 0, f->n, 0);
		write_fill(w, 'z', f->n);
		indexer_zero(&w->index, f->n);
		break;
	case VERDICT_SAME:
		w->proc->count.same += f->n;
		progress_count(w->progress, 0, 0, f->n);
		refer_put(&w->ref, w->out, f->image, f->addr, f->n);
		indexer_same(&w->index, f->same, f->n, output_pos(w->out) -
		    pos);
		break;
	case VERDICT_LOST:
		rc = write_lost(w, f);
		indexer_zero(&w->index, f->n);
		break;
	}
	return rc == -1 ? -1 : output_check(w->out);
}

/*
 * Write the small files of the process. If the process has neither files nor
 * memory, write an empty record of type segment, so that the stream mentions
 * the process.
 */
static int
write_files(struct snap6 *w)
{
	static char segment[] = "segment";
	const struct file none = { .name = segment };
	const struct proc *p = w->proc;
	const struct file *f;
	size_t i;
	int k;

	f = proc_file(p, "proc");
	if (p->pid == 0 && f != NULL && trailer_begins(f->data, f->len))
		return errstr_set("process 0: proc: this record would be taken "
		    "for a trailer");
	for (i = 0; i < p->nfile; i++)
		if (p->file[i].len > SNAP6_DATA)
			return errstr_set("process %" PRIu64 ": %s: %zu bytes "
			    "are too many for a record", p->pid,
			    p->file[i].name, p->file[i].len);
	for (k = 0; k < F_MAX; k++)
		if ((f = proc_file(p, snap6_field[k])) != NULL)
			write_data(w, f);
	for (i = 0; i < p->nfile; i++)
		if (!snap6_known(p->file[i].name))
			write_data(w, &p->file[i]);
	if (proc_isempty(p))
		write_data(w, &none);
	return output_flush(w->out);
}

static int
write_text(struct snap6 *w, const struct image *im)
{
	uint64_t pos;
	size_t i;

	for (i = 0; i < im->nseg; i++) {
		pos = output_pos(w->out);
		write_header(w, "text");
		if (dedup_segments(w->dedup, &im->seg[i], 1, true) == -1)
			return -1;
		write_end(w, pos);
	}
	return 0;
}

/*
 * Write one mem record with all segments of im. The segments of the last
 * section come first, because in a record the first segment at an address takes
 * precedence.
 */
static int
write_mem(struct snap6 *w, const struct image *im)
{
	uint64_t pos;
	size_t first, end;

	if (im->nseg == 0)
		return 0;
	pos = output_pos(w->out);
	write_header(w, "mem");
	write_num(w, im->nseg);
	indexer_segments(&w->index, im->nseg);
	for (end = im->nseg; end > 0; end = first) {
		for (first = end - 1; first > 0 && im->seg[first - 1]->section
		    == im->seg[end - 1]->section; first--)
			continue;
		if (dedup_segments(w->dedup, im->seg + first, end - first,
		    first == 0) == -1)
			return -1;
	}
	write_end(w, pos);
	return 0;
}

/*
 * Write the header line, unless it has already been written. It is written only
 * before the first record, so that output without any record does not look like
 * a snapshot.
 */
static void
header_put(struct snap6 *w)
{
	if (w->header == NULL)
		return;
	output_put(w->out, w->header, strlen(w->header));
	output_put(w->out, "\n", 1);
	w->header = NULL;
}

/*
 * Write the process or thread p with w. Set p->count to the kilobytes written.
 * Data that cannot be read is reported to the warn callback, and listed in the
 * Linux record of p. Return 0. Return -1 with errstr set on failure, or if p
 * has no Linux record for that list.
 */
int
snap6_put(struct snap6 *w, struct proc *p)
{
	int rc;

	header_put(w);
	w->proc = p;
	w->zero |= p->pid == 0;
	memset(&p->count, 0, sizeof p->count);
	w->lost = false;
	w->nlost = 0;
	w->seg = NULL;
	if (write_files(w) == -1 ||
	    (p->text != NULL && write_text(w, p->text) == -1) ||
	    (p->mem != NULL && write_mem(w, p->mem) == -1))
		return -1;
	if (!w->lost)
		return 0;
	if (proc_isearly(p)) {
		/* no record: the next copy refers to none of the lost pages */
		image_sortmissing(p->mem);
		return 0;
	}
	if ((rc = linuxrec_update(p)) == -1)
		return -1;
	if (rc == 0)
		return errstr_set("process %" PRIu64 ": %s", p->pid, w->why);
	write_data(w, proc_file(p, "proc"));
	warn_tell(w->warn, w->arg, "process %" PRIu64 ": %" PRIu64
	    " kilobytes could not be read: %s", p->pid, w->nlost, w->why);
	return output_flush(w->out);
}

/*
 * Begin the next copy of a move. From now on, write references only to pages of
 * this copy and, if an image names the copy before it (its member before), to
 * the same address there. The other side keeps no older pages. all must be true
 * if a process of this copy was not in the one before.
 */
void
snap6_copy(struct snap6 *w, bool all)
{
	dedup_next(w->dedup, all, true);
}

static void
snap6_free(struct snap6 *w)
{
	dedup_free(w->dedup);
	sums_free(w->sums);
	indexer_free(&w->index);
	free(w->raw);
	snap_free(w->own);
	free(w);
}

/*
 * Begin to write a snapshot to out, with header as its first line. The caller
 * adds processes with snap6_put(). Their texts and memories must not change
 * until snap6_end(), because later pages are compared with them. For data that
 * cannot be read, warn(arg, message) is called; the snapshot is then
 * incomplete. Return the writer, or NULL with errstr set.
 */
struct snap6 *
snap6_begin(struct output *out, const char *header,
    void (*warn)(void *, const char *), void *arg)
{
	struct snap6 *w;

	if ((w = mem_new(1, sizeof *w)) == NULL)
		return NULL;
	w->out = out;
	w->warn = warn;
	w->arg = arg;
	w->start = output_pos(out);
	w->progress = output_progress(out);
	if ((w->sums = sums_new()) == NULL ||
	    (w->dedup = dedup_new(write_finding, w)) == NULL ||
	    output_sum(out, w->sums) == -1) {
		snap6_free(w);
		return NULL;
	}
	w->header = header;
	return w;
}

/*
 * Write the trailer, which is a record of process 0. Write none if the snapshot
 * itself has a process 0. The checksums must be complete. Return 0, or -1 with
 * errstr set.
 */
int
snap6_trailer(struct snap6 *w)
{
	struct buf b = { 0 };
	int rc;

	if (w->zero && w->feigned)
		return errstr_set("process %" PRIu64 ": its last record would "
		    "be taken for a damaged trailer, because a snapshot with "
		    "process 0 has none", w->proc->pid);
	if (w->zero)
		return 0;
	if ((rc = trailer_make(&b, &w->index, w->sums)) == 0) {
		output_put(w->out, b.data, b.len);
		rc = output_flush(w->out);
	}
	buf_free(&b);
	return rc;
}

/*
 * Finish the snapshot, and free the writer w. whole is true if all processes
 * were written; then write the trailer. The caller commits the output. Return
 * 0, or -1 with errstr set.
 */
int
snap6_end(struct snap6 *w, bool whole)
{
	int rc;

	if (whole)
		header_put(w);
	rc = output_sum(w->out, NULL);
	if (rc == 0 && whole && (rc = sums_end(w->sums)) == 0)
		rc = snap6_trailer(w);
	snap6_free(w);
	return rc;
}

/*
 * Write the whole snapshot s to out, as snap6_begin(), snap6_put() and
 * snap6_end() do. warn and arg are those of snap6_begin(). Return 0, or -1 with
 * errstr set.
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
	progress_phase(w->progress, snap_kb(s) * KB);
	for (rc = 0, i = 0; i < s->nproc && rc == 0; i++)
		rc = snap6_put(w, s->proc[i]);
	return snap6_end(w, rc == 0) == -1 ? -1 : rc;
}
