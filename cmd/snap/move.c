/*
 * Processes that are to go on elsewhere: what cannot be restored is told before
 * anything is written, and they are killed when the snapshot is someone's.
 * Until then whatever fails lets them run on.
 */
#include "job.h"

#include <sys/stat.h>

#include <signal.h>

/*
 * Return 0 if it can be known when what m writes to out is someone's; else -1
 * with errstr, while nothing is stopped yet.
 */
int
move_ready(const struct move *m, const struct output *out)
{
	return m->kill ? output_cansettle(out) : 0;
}

/*
 * Return whether output o, which may be NULL, can be read again.
 */
static bool
is_file(const struct output *o)
{
	struct stat st;

	return o != NULL && fstat(output_fd(o), &st) == 0 &&
	    S_ISREG(st.st_mode);
}

/*
 * Check whether all processes of set l, which are stopped and have been taken
 * as snapshot s, can be restored from out, which is NULL where nothing is
 * written: warn is told, each a line, what cannot.  Return 0 if all can, or
 * with m->force; -1 with errstr.
 */
int
move_check(const struct move *m, struct live *l, struct snap *s,
    const struct output *out, void (*warn)(void *, const char *))
{
	unsigned int need = 0;
	struct criuopts o = { .warn = warn, .note = warn, .along = m->dry,
	    .need = &need };
	int rc;

	rc = criu_check(s, &o);
	if (rc == 0 && !(need & CRIU_MADE) && m->kill && !is_file(out))
		rc = errstr_set("a pipe is read once, and snapload restores "
		    "one tree of processes: write to a file (-o)");
	if (rc == 0 && !live_whole(l))
		rc = errstr_set("not all that was asked for was taken");
	if (live_cankill(l) == -1)
		return m->dry ? -1 :
		    errstr_wrap("nothing is written, and nothing killed");
	if (rc == -1 && m->dry)
		return -1;
	if (rc == -1 && !m->force)
		return errstr_wrap("nothing is written, and nothing killed");
	return 0;
}

/*
 * Have signals wait, all that can: all are killed, or none.
 */
static void
signals_hold(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

/*
 * Commit output *out, of which all is written, and kill the processes of set l,
 * which are stopped.  A file has its name then, and *out is NULL; who reads
 * anything else has taken all.  Return 0; -1 with errstr, and if it is for the
 * output, none was killed.
 */
int
move_end(struct live *l, struct output **out)
{
	struct output *o = *out;
	sigset_t old;
	int rc;

	if (output_end(o) == -1 ||
	    (!output_isnew(o) && output_settle(o) == -1))
		return errstr_wrap("nothing is killed");
	signals_hold(&old);
	rc = 0;
	if (output_isnew(o)) {
		*out = NULL;
		if ((rc = output_commit(o)) == -1)
			errstr_wrap("nothing is killed");
	}
	if (rc == 0)
		rc = live_kill(l) == -1 ? -1 : 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
