/*
 * Take a series: several moments of the same processes in one file, at regular
 * intervals. Pages that did not change since the moment before are stored once:
 * a page frame that a process still shares with its clone of that moment has
 * not been written to. At most two clones of a process exist at a time.
 */
#include "job.h"
#include "clock.h"

#include <time.h>

/*
 * Wait until the clock that also counts while the system sleeps shows *due, in
 * nanoseconds, and set *due to the time of the moment after that. A moment that
 * is late does not make the next one late. Release threads that stop only now.
 */
static void
series_wait(uint64_t *due, uint64_t every)
{
	struct timespec ts;
	uint64_t now;

	while (late_release() > 0 && boot_ns() < *due)
		nap_us(10000);
	ts.tv_sec = (time_t)(*due / 1000000000);
	ts.tv_nsec = (long)(*due % 1000000000);
	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) ==
	    EINTR)
		continue;
	now = boot_ns();
	*due = now - (now - *due) % every + every;
}

/*
 * Write the stopped processes of moment n. Set *none to false as soon as one is
 * to be written. Return 0, or -1 with errstr set.
 */
static int
moment_write(struct taking *k, unsigned int n, bool *none)
{
	const bool grew = live_grew(k->live);
	struct proc *p;
	bool first;
	int rc;

	if (live_take(k->live, k->snap, take, k) == -1)
		return -1;
	while ((rc = live_next(k->live, &p)) == 1) {
		/* as late as possible: until then the file is whole */
		first = *none;
		*none = false;
		if (first && n > 1 && snap6_resume(k->writer, grew) == -1)
			return -1;
		if (p->mem != NULL && p->embedded == NULL && k->before != NULL)
			early_compare(p, k->moment[n - 2], n - 2);
		if (snap6_put(k->writer, p) == -1)
			return -1;
		proc_forget(p);
	}
	return rc == -1 ? -1 : snap6_pause(k->writer, n, k->snap->header,
	    plan9_cputype());
}

/*
 * Stop the processes and write moment n of them. o has the options of the
 * capture. Set *none to true if no process was left. Return 0, or -1 with
 * errstr set.
 */
static int
moment_take(struct taking *k, struct liveopts *o, unsigned int n, bool *none)
{
	struct sources from = k->job->sources;
	int rc;

	from.absent = n > 1;
	o->moment = n;
	o->before = k->before;
	k->noted = false;
	*none = true;
	if ((k->snap = snap_new()) == NULL ||
	    (k->snap->header = live_header(plan9_cputype())) == NULL)
		return -1;
	MUST_ROOM(k->moment, k->nmoment);
	k->moment[k->nmoment++] = k->snap;
	if (n == 1 && ((k->writer = snap6_begin(k->out, k->snap->header,
	    take_lose, k)) == NULL || snap6_series(k->writer) == -1))
		return -1;
	same_check(&from.live);
	if ((k->live = live_new(o)) == NULL ||
	    sources_add(&from, k->live) == -1)
		return -1;
	say_hold();
	rc = live_stop(k->live);
	if (rc == -1 || moment_write(k, n, none) == 0)
		return rc;
	/* before any message: who reads it may be stopped */
	live_thaw(k->live);
	return -1;
}

/*
 * End the clones of set l, which may be NULL, and free it. A clone that cannot
 * be reaped makes the snapshot incomplete.
 */
static void
set_free(struct taking *k, struct live *l)
{
	if (l == NULL)
		return;
	live_thaw(l);
	if (live_incomplete(l))
		k->incomplete = true;
	live_free(l);
}

/*
 * End the last moment, which was written. If its clones were kept, keep them
 * for the next one, unless that may be much later (--when); otherwise resume
 * the processes. Read what older moments have from the output. Return 0, or -1
 * with errstr set.
 */
static int
moment_end(struct taking *k)
{
	const bool more = k->before != NULL;

	if (live_cankeep(k->live) && !when_given()) {
		live_keep(k->live);
		set_free(k, k->before);
		k->before = k->live;
	} else {
		set_free(k, k->live);
		set_free(k, k->before);
		k->before = NULL;
	}
	k->live = NULL;
	say_kept(false);
	if (more && snap6_retire(k->writer, k->moment[k->nmoment - 2]) == -1)
		return -1;
	if (k->before == NULL && snap6_retire(k->writer, k->snap) == -1)
		return -1;
	return output_sync(k->out);
}

/*
 * Print how many kilobytes of moment n were new.
 */
static void
moment_say(const struct taking *k, unsigned int n)
{
	char text[100];
	uint64_t kb = 0;
	size_t i;

	for (i = 0; i < k->snap->nproc; i++)
		kb += k->snap->proc[i]->count.raw;
	snprintf(text, sizeof text, "moment %u: %ju new kilobytes; the file "
	    "has %ju", n, (uintmax_t)kb,
	    (uintmax_t)output_written(k->out) / KB);
	say(NULL, text);
}

/*
 * Moment n failed, for the reason in errstr. none is false if some of it was
 * written: remove that from the file. Add to errstr how the file ends, unless
 * this was the first moment: then there is no file. Return -1.
 */
static int
moment_undo(struct taking *k, unsigned int n, bool none)
{
	char why[700];

	strlcpy(why, snap_errstr(), sizeof why);
	if (n == 1)
		return -1;
	if (!none && snap6_undo(k->writer) == -1)
		return errstr_wrap("the file ends within moment %u: %s", n,
		    why);
	return errstr_set("the file ends with moment %u: %s", n - 1, why);
}

/*
 * No process is left for moment n, as errstr says: end the series. Return 0.
 */
static int
series_over(struct taking *k, unsigned int n)
{
	char text[700];

	if (k->job->count != 0)
		k->incomplete = true;
	snprintf(text, sizeof text, "the series ends after %u moments: %s",
	    n - 1, snap_errstr());
	say(NULL, text);
	return 0;
}

/*
 * Wait until a condition of --when is true for moment n. Return as when_wait()
 * does; it is an error if no process is left for the first moment.
 */
static int
condition_await(const struct taking *k, unsigned int n)
{
	struct sources from = k->job->sources;
	int rc;

	from.absent = n > 1;
	rc = when_wait(&from);
	if (rc == 0 && n > 1)
		(void)errstr_set("no process is left");
	return rc == 0 && n == 1 ? -1 : rc;
}

/*
 * Take the moments that the job of k asks for, until no process is left. o has
 * the options of the capture. Return 0, or -1 with errstr set.
 */
int
series_take(struct taking *k, const struct liveopts *o)
{
	enum { LEAST_NS = 1000000 };
	const uint64_t most = k->job->count;
	const uint64_t every = k->job->every * 1e9 < LEAST_NS ? LEAST_NS :
	    (uint64_t)(k->job->every * 1e9);
	struct liveopts mine = *o;
	unsigned int n;
	uint64_t due;
	bool none;
	int rc;

	if (!output_isnew(k->out))
		return errstr_set("-i requires a regular file: %s is not one",
		    k->job->path);
	due = boot_ns();
	for (n = 1; most == 0 || n <= most; n++) {
		series_wait(&due, every);
		if (when_given()) {
			if ((rc = condition_await(k, n)) != 1)
				return rc == 0 ? series_over(k, n) :
				    moment_undo(k, n, true);
			due = boot_ns() + every;
		}
		rc = moment_take(k, &mine, n, &none);
		if (rc == -1)
			say_kept(false);
		if (rc == -1 && none && n > 1 && k->live != NULL &&
		    live_isempty(k->live) && !live_incomplete(k->live)) {
			rc = series_over(k, n);
			live_free(k->live);
			k->live = NULL;
			return rc;
		}
		if (rc == -1)
			return moment_undo(k, n, none);
		if (moment_end(k) == -1)
			return -1;
		if (o->verbose)
			moment_say(k, n);
	}
	return 0;
}

/*
 * Free the moments of k, which must not have a writer.
 */
void
series_free(struct taking *k)
{
	set_free(k, k->before);
	while (k->nmoment > 0)
		snap_free(k->moment[--k->nmoment]);
	free(k->moment);
	k->moment = NULL;
	k->before = NULL;
}
