/*
 * Read state that is needed to restore a process and that /proc does not show:
 * some of it comes from the kernel, the rest from the process itself, which is
 * made to run system calls. It becomes files of the Linux record; snap-linux(6)
 * describes them.
 */
#include "clock.h"
#include "linux/stop/stop.h"
#include "taking.h"

#include <time.h>
#include <unistd.h>

/*
 * Return the time, in ns, that a process sees on a clock. We read the clock in
 * our own time namespace; the process may have another (time_namespaces(7)).
 * clock is the ID of the clock, and name is its name in the timens_offsets
 * file. ours and theirs are the texts of this file for the two namespaces.
 */
static intmax_t
clock_seen(clockid_t clock, const char *name, const struct bytes *ours,
    const struct bytes *theirs)
{
	const struct bytes *const v[] = { theirs, ours };
	struct timespec ts;
	intmax_t sec, nsec, t;
	char text[256], *s;
	size_t i;

	clock_gettime(clock, &ts);
	t = timespec_ns(&ts);
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "%.*s", (int)v[i]->len,
		    v[i]->data == NULL ? "" : (const char *)v[i]->data);
		if ((s = strstr(text, name)) == NULL ||
		    sscanf(s + strlen(name), "%jd %jd", &sec, &nsec) != 2)
			continue;
		sec = sec * 1000000000 + nsec;
		t += i == 0 ? sec : -sec;
	}
	return t;
}

static void
add_clocks(struct filelist *l, const struct lproc *p)
{
	struct bytes ours = { 0 }, theirs = { 0 };
	intmax_t monotonic, boottime;

	if (space_isother(&p->links, "time") &&
	    (proc_read(p->pid, 0, "timens_offsets", &theirs) == -1 ||
	    proc_read(getpid(), 0, "timens_offsets", &ours) == -1))
		theirs.len = ours.len = 0;
	monotonic = clock_seen(CLOCK_MONOTONIC, "monotonic", &ours, &theirs);
	boottime = clock_seen(CLOCK_BOOTTIME, "boottime", &ours, &theirs);
	filelist_text(l, "clocks", "monotonic %jd\nboottime %jd\n", monotonic,
	    boottime);
	free(ours.data);
	free(theirs.data);
}

/*
 * Read the state that ptrace(2) shows for all stopped threads of process p.
 */
static void
threads_traced(struct live *l, struct lproc *p)
{
	struct lthread *t, *first;

	first = NULL;
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->hold != HOLD_STOPPED)
			continue;
		filters_record(l, t->tid, &t->seen);
		regs_more(t, &t->seen);
		regs_record(t, first);
		if (first == NULL)
			first = t;
	}
}

/*
 * Read the attributes of those threads of process p that stand still. If the
 * process is to be restored, also read what the other threads do not have in
 * common with the first: their personality, and resources that they do not
 * share with it.
 */
static void
threads_seen(const struct live *l, struct lproc *p)
{
	uint64_t space[NSPACES];
	struct lthread *t;
	bool others;

	others = l->opts.restore && p->mmtid != 0 &&
	    TAILQ_NEXT(TAILQ_FIRST(&p->threads), entry) != NULL;
	if (others)
		spaces_read(p->mmtid, space);
	TAILQ_FOREACH(t, &p->threads, entry) {
		if (t->hold != HOLD_STOPPED && t->hold != HOLD_DUMPED)
			continue;
		thread_attrs(t, &t->seen);
		if (!others)
			continue;
		if (t->tid != p->mmtid)
			thread_apart(t, p->mmtid, space, &t->seen);
		if (t->tid != p->pid)
			filelist_read(&t->seen, p->pid, t->tid,
			    "personality");
	}
}

/*
 * Read the state of process p, which is stopped. If injected calls are to ask
 * it for more, add it to round r.
 */
static void
proc_state_read(struct live *l, struct round *r, struct lproc *p)
{
	struct lthread *leader;

	if (TAILQ_EMPTY(&p->threads))
		return;
	threads_seen(l, p);
	if (p->skip || p->mmtid == 0 || (leader = lproc_leader(p)) == NULL)
		return;
	add_clocks(&leader->seen, p);
	if (l->opts.no_inject)
		filelist_text(&leader->seen, "observed", "asked for\n");
	else if (p->core != NULL)
		filelist_text(&leader->seen, "observed", "it dumps core\n");
	else if (!l->opts.restore)
		filelist_text(&leader->seen, "observed", "without -r\n");
	else
		ask(l, r, p);
}

/*
 * Read the state of all processes of set l, which must be stopped. Inject calls
 * only if the user wants that, and only where it is possible. Leave the rest of
 * the state to state_finish().
 */
void
state_read(struct live *l)
{
	struct round r;
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		threads_traced(l, p);
	procs_peek(l);
	ask_begin(&r, false);
	TAILQ_FOREACH(p, &l->procs, entry)
		proc_state_read(l, &r, p);
	ask_end(l, &r);
}

/*
 * Copy the number of session keys from the head of each family to its members.
 * Only the clone of the head was asked for that number.
 */
static void
keys_share(struct live *l)
{
	const struct file *f;
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->head == NULL || p->skip || p->inert)
			continue;
		f = filelist_find(&TAILQ_FIRST(&p->head->threads)->rec,
		    "keyring/session");
		if (f != NULL)
			filelist_copy(&TAILQ_FIRST(&p->threads)->rec, f->name,
			    f->data, f->len);
	}
}

/*
 * Ask recorded processes, by injected calls, for the state that state_read()
 * left. If cloned is true, ask the clones; the processes are running again. If
 * cloned is false, ask the stopped processes that have no clone of their own.
 * If such a process will be read from the clone of another, it is always asked,
 * since that clone cannot answer for it. Any other is asked only if it is to be
 * restored. For an early copy nothing is asked.
 */
void
state_finish(struct live *l, bool cloned)
{
	struct round r;
	struct lthread *leader;
	struct lproc *p;

	if (l->opts.early != 0)
		return;
	ask_begin(&r, true);
	TAILQ_FOREACH(p, &l->procs, entry) {
		leader = lproc_leader(p);
		if (p->skip || p->inert || p->core != NULL ||
		    l->opts.no_inject || p->mmtid == 0 ||
		    (p->clone != 0) != cloned || leader == NULL ||
		    (!cloned && (leader->hold != HOLD_STOPPED ||
		    (p->head == NULL && !l->opts.restore))))
			continue;
		if (p->head == NULL || !cloned)
			ask(l, &r, p);
	}
	ask_end(l, &r);
	if (cloned)
		keys_share(l);
}
