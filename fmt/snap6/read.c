/*
 * Read snap(6) streams as described in man6/snap.6: numbers justified left or
 * right, records in any order, repeated sections.
 *
 * The reader is a loop over records, which records.c reads. A file that has an
 * index is read with it: index.c.
 */
#include "read.h"
#include "bisect.h"
#include "vec.h"
#include "record/record.h"

/*
 * Read all records, and the trailer if there is one.
 */
static int
read_records(struct reader *r)
{
	enum trailer_kind kind;
	int rc;

	while (input_fill(r->in, 1) > 0) {
		kind = trailer_here(r->in);
		rc = kind == TRAILER_NONE ? read_record(r) :
		    read_trailer(r, kind);
		if (rc == -1)
			return -1;
	}
	input_sum(r->in, NULL);
	return input_end(r->in);
}

static int
read_magic(struct reader *r)
{
	const uint8_t *p;
	size_t magic;

	magic = sizeof SNAP6_MAGIC - 1;
	p = input_peek(r->in, magic);
	if (p == NULL && input_end(r->in) == -1)
		return -1;
	if (p == NULL && r->in->end == r->in->start)
		return errstr_set("not a snapshot: it is empty");
	if (p == NULL || memcmp(p, SNAP6_MAGIC, magic) != 0)
		return errstr_set("not a snapshot: it does not begin with "
		    "\"%s\"", SNAP6_MAGIC);
	return 0;
}

static int
read_first(struct reader *r)
{
	const struct readopts *o = r->o;
	char line[SNAP6_LINE];

	if (read_line(r, "first line", 0, '?', line) == -1 ||
	    (r->snap->header = str_dup(line)) == NULL)
		return -1;
	if (o->record != NULL)
		o->record(o->arg, 0, line, 0, r->in->pos);
	reader_part(r, (struct readpart){ .kind = PART_LINE, .data = line });
	return 0;
}

/*
 * Check that the stream is a snapshot, and look for its trailer.
 */
static int
stream_begin(struct reader *r)
{
	int rc;

	if (r->o->salvage)	/* look for damage first: the first bytes may
				   be damaged */
		return damage_trailer(r) == -1 ? -1 : read_magic(r);
	if (read_magic(r) == -1)
		return -1;
	if (!reader_seeks(r) || (rc = trailer_find(&r->trailer, r->in)) == 1)
		return 0;
	r->fault.at = r->trailer.pos;
	trailer_free(&r->trailer);
	return rc;
}

/*
 * Read a stream record by record to its end, with its trailer if there is one.
 */
static int
stream_scan(struct reader *r)
{
	progress_phase(r->o->progress, r->in->size == UINT64_MAX ? 0 :
	    r->in->size);
	if ((r->sums = sums_new()) == NULL)
		return -1;
	input_sum(r->in, r->sums);
	return read_first(r) == -1 ? -1 : read_records(r);
}

/*
 * Read a stream by means of the index in its trailer.
 */
static int
stream_index(struct reader *r)
{
	if (read_first(r) == -1 || read_index(r) == -1)
		return -1;
	if (r->o->record != NULL)
		r->o->record(r->o->arg, 0, "proc", r->trailer.pos,
		    r->trailer.len);
	return 0;
}

/*
 * Prefix the message in errstr with the name of the stream and the position of
 * the error.
 */
static void
reader_fail(const struct reader *r)
{
	const struct fault *f = &r->fault;

	if (f->cut)
		errstr_wrap("%s: byte %" PRIu64 " (the last whole record is "
		    "%s)", r->in->name, f->at, f->last[0] != '\0' ?
		    f->last : "none");
	else
		errstr_wrap("%s: byte %" PRIu64, r->in->name, f->at);
}

/*
 * Read a stream. Use its index if it is a file that has one; otherwise scan it.
 */
static int
read_stream(struct reader *r)
{
	int rc;

	if ((rc = stream_begin(r)) == 0)
		rc = r->trailer.index != NULL ? stream_index(r) :
		    stream_scan(r);
	input_sum(r->in, NULL);
	if (rc == -1)
		reader_fail(r);
	return rc;
}

/*
 * Apply the Linux record of each process to that process. With o->salvage,
 * report and remove invalid records, except those of the first "whole" moments:
 * these were not damaged. With o->partial, remove them as well; the message
 * about the first is put in the snapshot, unless it has one.
 */
static int
reader_apply(struct reader *r, uint64_t whole)
{
	struct snap *s = r->snap;
	struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (linuxrec_apply(p) == 0)
			continue;
		errstr_wrap("%s: %s", r->in->name, pid_text(p->pid));
		if ((!r->o->salvage && !r->o->partial) ||
		    p->pid / EARLY_PID < whole)
			return -1;
		if (r->o->salvage)
			salvage_say(r, "%s; the Linux record is lost",
			    snap_errstr());
		else if (s->broken == NULL &&
		    (s->broken = str_dup(snap_errstr())) == NULL)
			return -1;
		proc_dropfile(p, "proc");
	}
	return 0;
}

/*
 * Return the number of whole moments of s: a mark ends each of them.
 */
static uint64_t
moments_whole(struct snap *s)
{
	uint64_t n, num;
	struct proc *p;
	char line[32];

	for (n = 0;; n++)
		if ((p = snap_find(s, (n + 1) * EARLY_PID - 1)) == NULL ||
		    !linuxrec_line(proc_record(p), MOMENT_FILE, line,
		    sizeof line) || sscanf(line, "%" SCNu64, &num) != 1 ||
		    num != n + 1)
			return n;
}

/*
 * Read a snap(6) stream from a file or a pipe. o->record is called for each
 * record that was read, with its process, type, position and length. Return the
 * snapshot. On failure return NULL with errstr set. The message begins with the
 * input's name, the byte offset and, if the stream was truncated, the last
 * complete record.
 *
 * Page data stays in a file; the data of a pipe is copied to a temporary file.
 * With o->nodata no page data is kept.
 *
 * A file that has an index is read with it, unless o->scan is set. Any other
 * stream is read to its end, and compared with the checksums of its trailer if
 * it has one.
 *
 * With o->salvage, as much of a damaged stream as possible is read. Damaged
 * parts are reported to o->warn, and listed as missing from their process. With
 * o->partial, an error after the first process is not a failure: the snapshot
 * has the processes read before the error, and the message (broken in struct
 * snap). The same applies if a series is cut after a whole moment.
 */
struct snap *
snap6_read(struct input *in, const struct readopts *o)
{
	static const struct readopts none;
	struct reader r = { .in = in, .o = o == NULL ? &none : o,
	    .memend = UINT64_MAX };
	struct readopts rest = *r.o;
	uint64_t whole = 0;
	bool failed;
	int rc;

	in->progress = r.o->progress;
	if (r.o->unpacked != 0)
		input_keep(in, r.o->unpacked);
	if ((r.snap = snap_new()) == NULL)
		return NULL;
	if (r.o->store != NULL)
		r.o->store->snap = r.snap;
	rc = read_stream(&r);
	if (rc == -1 && (r.fault.cut || input_iscut(in)) && !r.o->salvage &&
	    !r.o->partial)
		whole = moments_whole(r.snap);
	failed = rc == -1 && r.snap->nproc > 0 && (r.o->salvage ||
	    r.o->partial || whole > 0);
	if (failed && r.o->salvage) {
		salvage_say(&r, "%s", snap_errstr());
		if (r.trailer.sums == NULL && input_plain(in))
			salvage_say(&r, "%s: no checksums: data before the "
			    "error may also be damaged", in->name);
		rc = 0;
	} else if (failed) {	/* salvage what was read, without warnings */
		rest.salvage = true;
		rest.warn = NULL;
		r.o = &rest;
		r.snap->broken = str_dup(snap_errstr());
		rc = r.snap->broken == NULL ? -1 : 0;
	}
	if (rc == 0 && r.spool)
		rc = spool_finish(r.src);
	if (rc == 0)
		rc = reader_apply(&r, whole);
	if (rc == 0 && r.o->salvage)
		rc = salvage_snap(&r, failed);
	damage_free(&r.damage);
	trailer_free(&r.trailer);
	sums_free(r.sums);
	if (rc == 0)
		return r.snap;
	snap_free(r.snap);
	return NULL;
}
