/*
 * Find damage in a stream before reading it. If it has a trailer, the sums in
 * it show which megabytes are damaged, and the index what they contain. Without
 * an index, everything after the first damage is lost.
 */
#include "read.h"
#include "num.h"

/*
 * Return a text for messages that names process pid, which may be in a series
 * or in an early copy: see EARLY_PID. It is valid until the thread calls this
 * function again.
 */
const char *
pid_text(uint64_t pid)
{
	static _Thread_local char text[96];
	const uint64_t earlier = pid / EARLY_PID;

	if (pid % EARLY_PID == EARLY_PID - 1)
		snprintf(text, sizeof text, "the mark of moment %" PRIu64,
		    earlier + 1);
	else if (earlier == 0)
		snprintf(text, sizeof text, "process %" PRIu64, pid);
	else
		snprintf(text, sizeof text, "process %" PRIu64 " (moment %"
		    PRIu64 ", or early copy %" PRIu64 ")", pid % EARLY_PID,
		    earlier + 1, earlier);
	return text;
}

/*
 * With r->o->salvage, pass a message about lost or wrong data to r->o->warn.
 * fmt and the other arguments are as for printf(3).
 */
void
salvage_say(const struct reader *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->o->salvage)
		return;
	va_start(ap, fmt);
	warn_vtell(r->o->warn, r->o->arg, fmt, ap);
	va_end(ap);
}

/*
 * Read the whole stream of r, and compare each megabyte with its checksum in
 * the trailer. Those that differ or cannot be read are damaged: record them in
 * r->damage, and warn of them.
 */
static int
damage_find(struct reader *r)
{
	const struct trailer *t = &r->trailer;
	struct damage *d = &r->damage;
	uint64_t mb, n;
	uint8_t *buf;

	d->n = d->first = t->nsums;
	buf = malloc(SUM_BYTES);
	d->bad = calloc(t->nsums + 1, sizeof *d->bad);
	if (buf == NULL || d->bad == NULL) {
		free(buf);
		return errstr_set("out of memory");
	}
	progress_phase(r->o->progress, t->bytes);
	for (mb = d->n; mb-- > 0;) {
		n = t->bytes - mb * SUM_BYTES;
		if (n > SUM_BYTES)
			n = SUM_BYTES;
		d->bad[mb] = input_pread(r->in, buf, (size_t)n,
		    mb * SUM_BYTES) == -1 || sums_of(buf, (size_t)n) !=
		    num_get(t->sums + mb * 8, 8);
		if (d->bad[mb])
			d->first = mb;
		progress_read(r->o->progress, n);
	}
	free(buf);
	for (mb = d->first; mb < d->n; mb++)
		if (d->bad[mb])
			salvage_say(r, "%s: megabyte %" PRIu64 " (from byte %"
			    PRIu64 ") is damaged", r->in->name, mb,
			    mb * SUM_BYTES);
	if (d->first == d->n)
		damage_free(d);
	return 0;
}

/*
 * Return true if a byte of the stream from offset start up to end is in a
 * damaged megabyte of d. Unless bad is NULL, set *bad to the first such
 * megabyte.
 */
bool
damage_in(const struct damage *d, uint64_t start, uint64_t end, uint64_t *bad)
{
	uint64_t mb;

	if (d->bad == NULL || start >= end)
		return false;
	for (mb = start / SUM_BYTES; mb < d->n && mb <= (end - 1) / SUM_BYTES;
	    mb++)
		if (d->bad[mb]) {
			if (bad != NULL)
				*bad = mb;
			return true;
		}
	return false;
}

/*
 * Free the list in d. Afterwards d has no damage.
 */
void
damage_free(struct damage *d)
{
	free(d->bad);
	memset(d, 0, sizeof *d);
}

/*
 * Find the damage in a stream that has a trailer. If the trailer has no index,
 * cut the stream at the first damage. If the first megabyte is damaged, the
 * first line is still used as it is, because there is no copy of it.
 */
static int
damage_limit(struct reader *r)
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
 * If the stream is not seekable, copy it to a temporary file, because the
 * checksums and index at its end are needed first.
 */
static int
damage_spool(struct reader *r)
{
	int rc;

	if (r->in->size != UINT64_MAX)
		return 0;
	if ((rc = input_spool(r->in)) == 0)
		salvage_say(r, "%s: byte %" PRIu64 ": %s", r->in->name,
		    r->in->size, snap_errstr());
	return rc == -1 ? -1 : 0;
}

/*
 * Look for the trailer in the damaged stream of r. A trailer is used even if it
 * is not at the offset that it states, because bytes before it may be missing.
 * If none can be read, the stream will be scanned. Return 0, or -1 with errstr
 * set.
 */
int
damage_trailer(struct reader *r)
{
	struct trailer *t = &r->trailer;
	int rc;

	if (damage_spool(r) == -1)
		return -1;
	if (!reader_seeks(r))
		return 0;
	rc = trailer_find(t, r->in);
	if (rc == 0 && t->moved && t->bytes > t->pos) {
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
		return damage_limit(r);
	r->fault.at = t->pos;
	trailer_free(t);
	return 0;
}
