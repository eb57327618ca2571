/*
 * Reading snap(6) streams, as man6/snap.6 tells: both
 * justifications, records in any order, sections that repeat.
 *
 * The reader is a loop over records, which records.c reads.  A file that has
 * an index is read by it: index.c.
 */
#include "io/io.h"
#include "read.h"
#include "record/record.h"
#include "snap6.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Read all records, and the trailer if there is one.
 */
static int
read_records(struct reader *r, const struct readopts *o)
{
	enum trailer_kind kind;
	int rc;

	while (input_fill(r->in, 1) > 0) {
		kind = trailer_here(r->in);
		rc = kind == TRAILER_NONE ? read_record(r, o) :
		    read_trailer(r, kind, o);
		if (rc == -1)
			return -1;
	}
	input_sum(r->in, NULL);
	return *snap_errstr() == '\0' ? 0 : -1;
}

static int
read_magic(struct reader *r)
{
	const uint8_t *p;
	size_t magic;

	magic = sizeof SNAP6_MAGIC - 1;
	p = input_peek(r->in, magic);
	if (p == NULL && *snap_errstr() != '\0')
		return -1;
	if (p == NULL && r->in->end == r->in->start)
		return errstr_set("no snapshot: it is empty");
	if (p == NULL || memcmp(p, SNAP6_MAGIC, magic) != 0)
		return errstr_set("not a snapshot: it does not begin with "
		    "\"%s\"", SNAP6_MAGIC);
	return 0;
}

static int
read_first(struct reader *r, const struct readopts *o)
{
	char line[SNAP6_LINE];

	if (read_line(r, "first line", 0, '?', line) == -1)
		return -1;
	if ((r->snap->header = strdup(line)) == NULL)
		return errstr_set("out of memory");
	if (o->record != NULL)
		o->record(o->arg, 0, line, 0, r->in->pos);
	return 0;
}

/*
 * Find what is damaged of a file that has a trailer; without an index, what is
 * before that is all that can be read.  The first line has no other place: it
 * is taken as it is.
 */
static int
reader_damage(struct reader *r)
{
	if (damage_find(r) == -1)
		return -1;
	if (r->damage.bad != NULL && r->damage.bad[0])
		input_guess(r->in, SNAP6_LINE);
	if (r->damage.bad == NULL || r->trailer.index != NULL)
		return 0;
	if (r->damage.first == 0)
		return errstr_set("the first megabyte is damaged, and there "
		    "is no index");
	input_cut(r->in, r->damage.first * SUM_BYTES);
	return 0;
}

/*
 * Look for the trailer of a file.  For who saves what is whole, one is good
 * for something, too, that is not where it should be because bytes before it
 * are gone.
 */
static int
reader_trailer(struct reader *r)
{
	struct trailer *t = &r->trailer;
	int rc;

	rc = trailer_find(t, r->in);
	if (rc == 0 && r->salvage && t->moved && t->bytes > t->pos) {
		if (input_widen(r->in, t->bytes + t->len) == 0) {
			trailer_free(t);
			rc = trailer_find(t, r->in);
		}
		if (rc == 0 && t->moved) {
			salvage_say(r, "%s: %s", r->in->name, snap_errstr());
			rc = 1;
		}
	}
	if (rc == 1)
		return r->salvage ? reader_damage(r) : 0;
	r->at = t->pos;
	trailer_free(t);
	return r->salvage ? 0 : rc;
}

/*
 * Sums and index of a stream are at its end: who saves what is whole needs it
 * where one can go there first, or would take damaged pages before that is
 * known.
 */
static int
reader_spool(struct reader *r)
{
	int rc;

	if (!r->salvage || r->in->size != UINT64_MAX)
		return 0;
	if ((rc = input_spool(r->in)) == 0)
		salvage_say(r, "%s: byte %" PRIu64 ": %s", r->in->name,
		    r->in->size, snap_errstr());
	return rc == -1 ? -1 : 0;
}

/*
 * Read a stream: a file by its index, if it has one, anything else by
 * scanning.
 */
static int
read_stream(struct reader *r, const struct readopts *o)
{
	bool scan;

	if (reader_spool(r) == -1)
		return -1;
	scan = o->scan || reader_copies(r);
	if ((!r->salvage && read_magic(r) == -1) ||
	    (!scan && reader_trailer(r) == -1) ||
	    (r->salvage && read_magic(r) == -1))
		return -1;
	scan |= r->trailer.index == NULL;
	if (scan) {
		progress_phase(o->progress, r->in->size == UINT64_MAX ? 0 :
		    r->in->size);
		if ((r->sums = sums_new()) == NULL)
			return -1;
		input_sum(r->in, r->sums);
	}
	if (read_first(r, o) == -1)
		return -1;
	if ((scan ? read_records(r, o) : read_index(r, o)) == -1)
		return -1;
	if (!scan && o->record != NULL)
		o->record(o->arg, 0, "proc", r->trailer.pos, r->trailer.len);
	return 0;
}

/*
 * Tell what is wrong, and where.
 */
static void
reader_fail(const struct reader *r)
{
	if (r->cut)
		errstr_wrap("%s: byte %" PRIu64 " (the last whole record is "
		    "%s)", r->in->name, r->at, r->last[0] != '\0' ?
		    r->last : "none");
	else
		errstr_wrap("%s: byte %" PRIu64, r->in->name, r->at);
}

/*
 * Let all processes know what their Linux records tell of them.
 */
static int
reader_apply(struct reader *r)
{
	struct proc *p;
	size_t i;

	for (i = 0; i < r->snap->nproc; i++) {
		p = r->snap->proc[i];
		if (linuxrec_apply(p) == 0)
			continue;
		errstr_wrap("%s: process %" PRIu64, r->in->name, p->pid);
		if (!r->salvage)
			return -1;
		salvage_say(r, "%s", snap_errstr());
	}
	return 0;
}

/*
 * Read a snap(6) stream.  Page data stays in the file, or goes to a spool
 * when it comes from a pipe; with o->nodata it is not kept at all.  A file
 * that has an index is read by it, unless o->scan is set; all others are
 * read to the end, and compared with the sums of their trailer if they have
 * one.  o->record is called for each record that was read: its process,
 * type, position and length.  NULL on an error, with the name of the input
 * and the byte in the error string; the last whole record too when the
 * stream was cut.
 *
 * With o->salvage, what is whole of a damaged stream is read, and o->warn
 * is told what is not: it is missing from its process.
 */
struct snap *
snap6_read(struct input *in, const struct readopts *o)
{
	static const struct readopts none;
	struct reader r;
	int rc;

	if (o == NULL)
		o = &none;
	memset(&r, 0, sizeof r);
	r.in = in;
	in->progress = o->progress;
	r.nodata = o->nodata || o->brief;
	r.brief = o->brief;
	r.store = o->store;
	r.progress = o->progress;
	r.salvage = o->salvage;
	r.warn = o->warn;
	r.arg = o->arg;
	if ((r.snap = snap_new()) == NULL)
		return NULL;
	if (r.store != NULL)
		r.store->snap = r.snap;
	rc = read_stream(&r, o);
	input_sum(in, NULL);
	if (rc == -1) {
		reader_fail(&r);
		if (r.salvage && r.snap->nproc > 0) {
			salvage_say(&r, "%s", snap_errstr());
			if (r.trailer.data == NULL && input_plain(in))
				salvage_say(&r, "%s: there are no sums: what "
				    "is before that may be damaged, too",
				    in->name);
			r.failed = true;
			rc = 0;
		}
	}
	if (rc == 0 && r.spool)
		rc = spool_finish(r.src);
	if (rc == 0)
		rc = reader_apply(&r);
	if (rc == 0 && r.salvage)
		rc = salvage_snap(&r);
	damage_free(&r.damage);
	trailer_free(&r.trailer);
	sums_free(r.sums);
	if (rc == 0)
		return r.snap;
	snap_free(r.snap);
	return NULL;
}
