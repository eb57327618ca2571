/*
 * snap: take a snapshot of live processes.
 */
#include "job.h"

#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct progress progress;

/*
 * Take all of what is stopped, and check whether it can be restored.
 */
static int
check_live(struct taking *k)
{
	struct proc *p;
	int rc;

	while ((rc = live_next(k->live, &p)) == 1)
		continue;
	if (rc == -1 || move_check(&k->job->move, k->live, k->snap, k->out,
	    say) == -1)
		return -1;
	if (k->job->move.dry)
		say(NULL, "all can be restored");
	return 0;
}

/*
 * Write to w each process as soon as it is taken; with -k, all have been.
 */
static int
write_procs(struct taking *k, struct snap6 *w)
{
	struct proc *p;
	size_t i;
	int rc;

	rc = 0;
	if (k->job->move.kill)
		for (i = 0; i < k->snap->nproc && rc == 0; i++)
			rc = snap6_put(w, k->snap->proc[i]);
	else
		while ((rc = live_next(k->live, &p)) == 1) {
			if (snap6_put(w, p) == -1)
				return -1;
			/* only its pages are compared with later ones */
			proc_forget(p);
		}
	return rc;
}

/*
 * Take what is stopped and write it; with -d, only try that.
 */
static int
write_live(struct taking *k)
{
	const struct move *m = &k->job->move;
	struct snap6 *w;
	int rc;

	if (live_take(k->live, k->snap, take, k) == -1 ||
	    ((m->kill || m->dry) && check_live(k) == -1))
		return -1;
	if (m->dry)
		return 0;
	w = snap6_begin(k->out, k->snap->header, take_lose, k);
	if (w == NULL)
		return -1;
	rc = write_procs(k, w);
	if (m->kill)
		live_tellmissed(k->live);
	if (rc == 0 && m->kill && k->incomplete && !m->force)
		rc = errstr_set("nothing is killed: some of the memory is "
		    "missing");
	return snap6_end(w, rc == 0) == -1 ? -1 : rc;
}

/*
 * Return true if a taking that failed did because a clone was killed, so that
 * it is to be done once more without clones.
 */
static bool
is_again(const struct taking *k)
{
	return k->again && k->live != NULL && live_lost(k->live);
}

/*
 * Stop the processes, take the snapshot and write it, let them go, or end them.
 * What there was to say is dropped where it is to be done once more.
 */
static int
snap_live(struct taking *k)
{
	const struct job *j = k->job;
	const bool totals = j->live.verbose && !j->move.dry;
	char *header;
	int rc;

	rc = -1;
	k->snap = snap_new();
	header = live_header(plan9_cputype());
	if (k->snap == NULL || header == NULL)
		goto out;
	if (asprintf(&k->snap->header, "process snapshot %s", header) == -1) {
		k->snap->header = NULL;
		errstr_set("out of memory");
		goto out;
	}
	say_hold();
	progress_phase(&progress, 0);
	rc = live_stop(k->live);
	if (rc == 0)
		rc = write_live(k);
	/* an output that is committed is none any more */
	if (rc == 0 && totals && j->move.kill)
		rc = say_totals(k->snap, k->out);
	if (rc == 0 && j->move.kill)
		rc = move_end(k->live, &k->out);
out:
	live_thaw(k->live);
	say_kept(rc == -1 && is_again(k));
	if (rc == 0 && totals && !j->move.kill)
		rc = say_totals(k->snap, k->out);
	free(header);
	snap_free(k->snap);
	k->snap = NULL;
	return rc;
}

/*
 * Take the processes that are meant into a new output, with clones or without.
 */
static int
snap_once(struct taking *k, bool clone)
{
	struct liveopts o = k->job->live;

	o.clone = clone;
	o.perfmaps = true;
	o.out = -1;
	if (!k->job->move.dry) {
		k->out = output_begin(k->job->path, k->job->compress,
		    &progress);
		if (k->out == NULL ||
		    move_ready(&k->job->move, k->out) == -1)
			return -1;
		o.out = output_fd(k->out);
		/* what the kernel writes can be read once */
		o.again = clone && !k->job->core && output_isnew(k->out);
	}
	k->again = o.again;
	if ((k->live = live_new(&o)) == NULL || (k->job->core &&
	    live_addcore(k->live, k->job->dumps, STDIN_FILENO) == -1) ||
	    sources_add(&k->job->who, k->live) == -1)
		return -1;
	if (k->job->most != 0)
		leave_choose(k->live, k->job->dumps, k->job->most,
		    k->job->exclude);
	return snap_live(k);
}

/*
 * The same, and once more without clones where one of these was killed: all is
 * of one instant again.
 */
static int
snap_all(struct taking *k)
{
	char text[1100];

	if (snap_once(k, k->job->live.clone) == 0)
		return 0;
	if (!is_again(k))
		return -1;
	snprintf(text, sizeof text, "%s: all are taken again, and stay "
	    "stopped while they are written", snap_errstr());
	say(NULL, text);
	live_free(k->live);
	output_abort(k->out);
	*k = (struct taking){ .job = k->job };
	return snap_once(k, false);
}

/*
 * To be stopped would keep others stopped.
 */
static void
ignore_stops(void)
{
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

/*
 * Take the snapshot that is asked for: the exit status.
 */
static int
run(const struct job *j)
{
	struct taking k = { .job = j };
	int rc;

	if (snap_all(&k) == -1) {
		progress_hide();
		program_warn("%s", snap_errstr());
		output_abort(k.out);
		live_free(k.live);
		return 1;
	}
	rc = k.out == NULL ? 0 : output_commit(k.out);
	progress_hide();
	if (rc == -1)
		errx(1, "%s", snap_errstr());
	/* a zombie lacks nothing that moving it takes */
	if (live_incomplete(k.live) && ((!j->move.kill && !j->move.dry) ||
	    !live_whole(k.live)))
		k.incomplete = true;
	live_free(k.live);
	return k.incomplete ? 1 : 0;
}

int
main(int argc, char *argv[])
{
	struct job *j;
	int rc;

	program_descriptors();
	j = job_parse(argc, argv);
	j->live.progress = &progress;
	if (j->at != 0)
		at_wait(j->at);
	note_make(&j->taken, argv, j->note);
	if (buf_check(&j->taken) == -1)
		errx(1, "%s", snap_errstr());
	program_signals();
	ignore_stops();
	program_files();	/* each mapped file takes one */
	progress_show(&progress, getprogname());
	rc = run(j);
	job_free(j);
	return rc;
}
