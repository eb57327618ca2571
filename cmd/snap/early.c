/*
 * Copy memory to the far side of a move while the processes run, so that little
 * remains to be copied when they are stopped.
 *
 * A copy is a snapshot of its own in the same stream. It contains only the
 * private anonymous memory of each process. The clones from which it was read
 * are kept until the move ends. If a process and its clone still share a page
 * frame, the page has not changed, and later becomes a reference to the copy.
 * Other memory can change without a new frame, and is copied in the stop.
 *
 * The process IDs in copy n are those of the processes plus n times EARLY_PID,
 * which is higher than any process ID of Linux.
 */
#include "job.h"

enum {
	MAX_COPIES = 16,
	LARGE_KB = 64 << 10,	/* after a copy larger than this, end the clones
				   of those before */
	SMALL_KB = 8 << 10	/* after a copy as small as this, stop the
				   processes */
};

struct early {			/* a copy */
	struct early	*before; /* owned; the copy before this one, or NULL */
	struct live	*live;	/* owned; NULL: its clones have ended */
	struct snap	*snap;
	unsigned int	 nth;	/* its number, from 1 */
	uint64_t	 kb;	/* number of new kilobytes in it */
};

/*
 * Free the last copy, and end its clones.
 */
static void
early_drop(struct taking *k)
{
	struct early *e = k->early;

	k->early = e->before;
	live_free(e->live);
	snap_free(e->snap);
	free(e);
}

/*
 * Let the memory of p be compared with the copy of it in s, which is copy nth
 * (see EARLY_PID). Return false if s has none.
 */
bool
early_compare(struct proc *p, struct snap *s, unsigned int nth)
{
	const struct proc *was;

	was = snap_find(s, p->pid % EARLY_PID + nth * EARLY_PID);
	p->mem->before = was == NULL ? NULL : was->mem;
	return p->mem->before != NULL;
}

/*
 * Write the processes of s, all of which have been taken. e is the copy before,
 * or NULL. Return 0, or -1 with errstr set.
 */
static int
early_put(struct taking *k, const struct early *e, struct snap *s)
{
	bool lacks = false;
	struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (p->mem != NULL && p->embedded == NULL && e != NULL)
			lacks |= !early_compare(p, e->snap, e->nth);
	}
	snap6_copy(k->writer, lacks);
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (p->mem == NULL && p->pid >= EARLY_PID)
			continue;
		if (far_check(k->far) == -1 || snap6_put(k->writer, p) == -1)
			return -1;
	}
	return 0;
}

/*
 * Write all processes of the snapshot, which may follow copies of their memory.
 * Return 0, or -1 with errstr set.
 */
int
early_finish(struct taking *k)
{
	return early_put(k, k->early, k->snap);
}

/*
 * Write the processes of the last copy. Return 0, or -1 with errstr set. If not
 * all can be captured, write those that can.
 */
static int
early_write(struct taking *k)
{
	struct early *e = k->early;
	struct proc *p;
	size_t i;

	while (live_next(e->live, &p) == 1)
		continue;
	if (early_put(k, e->before, e->snap) == -1)
		return -1;
	for (i = 0; i < e->snap->nproc; i++) {
		e->kb += e->snap->proc[i]->count.raw;
		proc_forget(e->snap->proc[i]);
	}
	/* Later copies are compared with this one only. But to end clones takes
	   a tenth of a second, while more memory changes. */
	if (e->kb <= LARGE_KB)
		return 0;
	live_keep(e->live);
	for (e = e->before; e != NULL; e = e->before) {
		live_free(e->live);
		e->live = NULL;
	}
	return 0;
}

/*
 * Stop, clone and release the processes for the next copy. o has the options.
 * Return false if that is not possible.
 */
static bool
early_take(struct taking *k, const struct liveopts *o)
{
	struct early *e = must(calloc(1, sizeof *e));

	e->before = k->early;
	e->nth = o->early;
	k->early = e;
	if ((e->live = live_new(o)) != NULL && (e->snap = snap_new()) != NULL &&
	    sources_add(&k->job->sources, e->live) == 0 &&
	    live_stop(e->live) == 0 &&
	    live_take(e->live, e->snap, NULL, NULL) == 0 &&
	    live_hasclones(e->live))
		return true;
	/* live_free() also releases processes that are still stopped */
	early_drop(k);
	return false;
}

/*
 * Copy memory to the far side until a copy is small, or has more than 15
 * sixteenths of the size of the one before, or MAX_COPIES were made. o has the
 * options of the capture that follows. Return 0, also if no copy can be made,
 * or -1 with errstr set.
 */
int
early_copy(struct taking *k, const struct liveopts *o)
{
	struct liveopts early = *o;
	uint64_t last, kb = UINT64_MAX;
	char text[100];

	/* excluded memory is found only when the processes are stopped */
	if (k->job->stop || k->job->exclude != NULL || o->no_inject ||
	    !live_framesfixed())
		return 0;
	early.clone = true;
	early.restore = early.move = early.perfmaps = early.verbose = false;
	early.warn = say_nothing;
	while (++early.early <= MAX_COPIES) {
		last = kb;
		early.before = early_live(k);
		if (!early_take(k, &early))
			return 0;
		if (early_write(k) == -1)
			return -1;
		kb = k->early->kb;
		if (k->job->live.verbose) {
			snprintf(text, sizeof text, "copy %u, while the "
			    "processes run: %ju kilobytes", early.early,
			    (uintmax_t)kb);
			say(NULL, text);
		}
		if (kb <= SMALL_KB || kb > last / 16 * 15)
			break;
	}
	return 0;
}

/*
 * Return the set of the last copy, or NULL if there is none.
 */
const struct live *
early_live(const struct taking *k)
{
	return k->early == NULL ? NULL : k->early->live;
}

/*
 * Free all copies.
 */
void
early_free(struct taking *k)
{
	while (k->early != NULL)
		early_drop(k);
}
