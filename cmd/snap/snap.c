/*
 * snap: take a snapshot of live processes.
 */
#include "job.h"

#include <err.h>
#include <signal.h>
#include <unistd.h>

static struct progress progress;

/*
 * Take all the stopped processes, and check that they can be restored. Return
 * 0, or -1 with errstr set.
 */
static int
check_live(struct taking *k)
{
	struct proc *p;
	int rc;

	while ((rc = live_next(k->live, &p)) == 1)
		if (far_check(k->far) == -1)
			return -1;
	if (rc == -1 || move_check(&k->job->move, k->live, k->snap, k->out,
	    say) == -1)
		return -1;
	if (k->job->move.dry)
		say(NULL, "all processes can be restored");
	return 0;
}

/*
 * Write p to k->writer, or print that there is no room for it. Return 0, or -1
 * with errstr set.
 */
static int
proc_write(struct taking *k, struct proc *p)
{
	char text[400];

	if (!leave_whole(k, p))
		return snap6_put(k->writer, p);
	if (p->embedded != NULL)
		snprintf(text, sizeof text, "no room for file %.300s",
		    p->embedded->path);
	else
		snprintf(text, sizeof text, "no room for process %ju",
		    (uintmax_t)p->pid);
	if (!proc_isthread(p))
		take_lose(k, text_sanitize(text));
	return 0;
}

/*
 * Write the processes to k->writer, each as soon as it is taken. With -k all of
 * them have been taken before this call. Return 0, or -1 with errstr set.
 */
static int
write_procs(struct taking *k)
{
	struct proc *p;
	int rc;

	if (k->job->move.kill)
		return early_finish(k);
	while ((rc = live_next(k->live, &p)) == 1) {
		if (proc_write(k, p) == -1)
			return -1;
		/* later pages are compared with its pages only */
		proc_forget(p);
	}
	return rc;
}

/*
 * Begin to write the snapshot. Return 0, or -1 with errstr set.
 */
static int
writer_begin(struct taking *k)
{
	k->writer = snap6_begin(k->out, k->snap->header, take_lose, k);
	return k->writer == NULL ? -1 : 0;
}

/*
 * End the snapshot. whole is false if it is incomplete. Return 0, or -1 with
 * errstr set.
 */
static int
writer_end(struct taking *k, bool whole)
{
	struct snap6 *w = k->writer;

	k->writer = NULL;
	return w == NULL ? 0 : snap6_end(w, whole);
}

/*
 * Capture the stopped processes and write the snapshot. With -d, only check
 * that the processes can be restored. Return 0, or -1 with errstr set.
 */
static int
write_live(struct taking *k)
{
	const struct move *m = &k->job->move;
	int rc;

	if (live_take(k->live, k->snap, take, k) == -1 ||
	    ((m->kill || m->dry) && check_live(k) == -1))
		return -1;
	if (m->dry)
		return 0;
	if (k->writer == NULL && writer_begin(k) == -1)
		return -1;
	rc = write_procs(k);
	if (m->kill)
		live_warnmissed(k->live);
	if (rc == 0 && m->kill && k->incomplete && !m->force)
		rc = errstr_set("no process killed: some memory is missing");
	return writer_end(k, rc == 0) == -1 ? -1 : rc;
}

/*
 * Return true if k failed because a clone was killed, so that the snapshot must
 * be taken again without clones.
 */
static bool
is_again(const struct taking *k)
{
	return k->again && k->live != NULL && live_lost(k->live);
}

/*
 * Stop the processes, take and write their snapshot, and resume or kill them.
 * If the snapshot must be taken again, discard the messages. Return 0, or -1
 * with errstr set.
 */
static int
snap_live(struct taking *k)
{
	const struct job *j = k->job;
	const bool totals = j->live.verbose && !j->move.dry;
	int rc;

	say_hold();
	progress_phase(&progress, 0);
	rc = live_stop(k->live);
	if (rc == 0)
		rc = write_live(k);
	/* after move_end the output is committed and freed */
	if (rc == 0 && totals && j->move.kill)
		rc = say_totals(k->snap, k->out);
	if (rc == 0 && j->move.kill)
		rc = move_end(k->live, &k->out, k->far);
	live_thaw(k->live);
	if (rc == -1 && k->far != NULL)
		far_wrap(k->far);
	say_kept(rc == -1 && is_again(k));
	if (rc == 0 && totals && !j->move.kill)
		rc = say_totals(k->snap, k->out);
	snap_free(k->snap);
	k->snap = NULL;
	return rc;
}

/*
 * Before anything is stopped, check whether the processes can be moved. Ask the
 * far side, if there is one, whether it can receive them. o has the options of
 * their capture. Return 0, or -1 with errstr set.
 */
static int
look(struct taking *k, const struct liveopts *o)
{
	struct liveopts quiet = *o;
	struct live *l;
	int rc;

	/* This set is only examined. Another set is captured later, from newer
	   facts, and reports what fails here. */
	quiet.warn = say_nothing;
	if ((l = live_new(&quiet)) == NULL)
		return -1;
	rc = 0;
	if (sources_add(&k->job->sources, l) == 0)
		rc = move_look(&k->job->move, l);
	if (rc == 0 && k->far != NULL) {
		rc = far_ask(k->far, l, !k->job->stop);
		if (rc == -1)
			far_wrap(k->far);
	}
	live_free(l);
	return rc;
}

/*
 * Take a snapshot of the processes named on the command line into a new output.
 * If clone is true, read the memory from clones of the processes. Return 0, or
 * -1 with errstr set.
 */
static int
snap_once(struct taking *k, bool clone)
{
	struct liveopts o = k->job->live;

	o.clone = clone;
	o.perfmaps = k->far == NULL;
	o.heads = k->far != NULL;
	o.out = -1;
	if (!k->job->move.dry) {
		if (k->out == NULL)
			k->out = output_begin(k->job->path, k->job->compress,
			    &progress);
		if (k->out != NULL && k->far != NULL)
			output_frames(k->out);
		/* processes are killed only when the reader of a pipe has
		   received the whole snapshot */
		if (k->out == NULL || (k->job->move.kill &&
		    output_candrain(k->out) == -1))
			return -1;
		o.out = output_fd(k->out);
		/* a core from the kernel can be read only once */
		o.again = clone && !k->job->core && k->job->every == 0 &&
		    output_isnew(k->out);
	}
	k->again = o.again;
	if (k->job->every > 0)
		return series_take(k, &o);
	if ((k->snap = snap_new()) == NULL ||
	    (k->snap->header = live_header(plan9_cputype())) == NULL)
		return -1;
	if (k->job->move.kill && look(k, &o) == -1)
		return -1;
	if (k->far != NULL && (writer_begin(k) == -1 ||
	    early_copy(k, &o) == -1)) {
		far_wrap(k->far);
		return -1;
	}
	o.before = early_live(k);
	if ((k->live = live_new(&o)) == NULL || (k->job->core &&
	    live_addcore(k->live, k->job->dumps, STDIN_FILENO) == -1))
		return -1;
	if (sources_add(&k->job->sources, k->live) == -1) {
		if (!k->job->core)
			return -1;
		/* keep the crash, without other processes */
		take_lose(k, snap_errstr());
	}
	return snap_live(k);
}

/*
 * Take the snapshot. If a clone of a process was killed, take it again without
 * clones, so that it still shows a single instant. Return 0, or -1 with errstr
 * set.
 */
static int
snap_all(struct taking *k)
{
	char text[1100];

	if (snap_once(k, k->job->live.clone) == 0)
		return 0;
	if (!is_again(k))
		return -1;
	snprintf(text, sizeof text, "%s: taking all processes again, stopped "
	    "until everything is written", snap_errstr());
	say(NULL, text);
	live_free(k->live);
	output_abort(k->out);
	*k = (struct taking){ .job = k->job };
	return snap_once(k, false);
}

/*
 * Take the snapshot that job j describes, into out if that is not NULL. Return
 * the exit status.
 */
static int
run(const struct job *j, struct output *out)
{
	struct taking k = { .job = j, .out = out };
	int rc;

	if (j->move.to != NULL && (k.far = far_begin(j->move.to)) == NULL)
		errx(1, "%s", snap_errstr());
	rc = snap_all(&k);
	free(k.shared);
	if (rc == -1) {
		progress_hide();
		program_warn("%s", snap_errstr());
		(void)writer_end(&k, false);
		early_free(&k);
		output_abort(k.out);
		far_end(k.far);
		live_free(k.live);
		if (k.nmoment == 0)
			snap_free(k.snap);
		series_free(&k);
		return 1;
	}
	early_free(&k);
	(void)writer_end(&k, false);	/* a series is whole already */
	series_free(&k);
	rc = k.out == NULL ? 0 : output_commit(k.out);
	far_end(k.far);
	progress_hide();
	if (rc == -1)
		errx(1, "%s", snap_errstr());
	/* a zombie without memory can be moved completely */
	if (k.live != NULL && live_incomplete(k.live) &&
	    ((!j->move.kill && !j->move.dry) || !live_whole(k.live)))
		k.incomplete = true;
	live_free(k.live);
	return k.incomplete ? 1 : 0;
}

/*
 * Block SIGUSR1. It stays pending until when_wait() or progress_show() accepts
 * it.
 */
static void
signal_block(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Wait until a condition of --when is true, before the only snapshot of job j.
 * Before that, begin its output and look at the processes, so that errors are
 * reported before the wait. Exit with a message if the condition cannot become
 * true. Return the output, or NULL if it is begun later.
 */
static struct output *
await(struct job *j)
{
	struct output *out = NULL;
	struct live *l;
	int rc;

	if (!j->move.dry && j->move.to == NULL && (out = output_begin(j->path,
	    j->compress, &progress)) == NULL)
		errx(1, "%s", snap_errstr());
	l = live_new(&j->live);
	rc = l == NULL ? -1 : sources_add(&j->sources, l);
	live_free(l);
	/* from now on, some of the processes may end */
	j->sources.absent = true;
	if (rc == -1 || when_wait(&j->sources) != 1) {
		program_warn("%s", snap_errstr());
		output_abort(out);
		exit(1);
	}
	return out;
}

int
main(int argc, char *argv[])
{
	struct output *out = NULL;
	struct job *j;

	program_descriptors();
	signal_block();
	j = job_parse(argc, argv);
	j->live.progress = &progress;
	if (j->at != 0) {
		same_check(&j->sources.live);
		at_wait(j->at);
		same_check(&j->sources.live);
	}
	program_signals();
	if (when_given() && j->every == 0)
		out = await(j);
	note_make(&j->taken, argv, j->note);
	if (buf_check(&j->taken) == -1)
		errx(1, "%s", snap_errstr());
	/* if job control stopped us, the captured processes would stay
	   stopped */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	program_files();	/* each mapped file needs a descriptor, so raise
				   the limit on open files */
	/* the progress would take SIGUSR1 from a series that waits for it */
	if (!when_given() || j->every == 0)
		progress_show(&progress);
	return run(j, out);
}
