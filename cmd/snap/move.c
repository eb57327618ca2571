/*
 * Kill processes that are to go on elsewhere (-k). What cannot be restored is
 * printed before anything is written, and the processes are killed only when
 * the snapshot is stored or received. If anything fails before that, they run
 * on.
 */
#include "job.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

static const char uring[] = "anon_inode:[io_uring]";
static const char onetree[] = "--to moves only one process tree at a time";

/*
 * Report through say() that descriptor fd of process pid belongs to
 * io_uring(7), and cannot be restored.
 */
static void
uring_say(pid_t pid, const char *fd)
{
	struct task t;
	char text[480];

	/* criu_check() prints the same message */
	snprintf(text, sizeof text, "process %d, descriptor %s: %s: %s: cannot "
	    "be restored (snapload -f io_uring leaves it out)", pid, fd,
	    criu_uring(proc_stat(pid, 0, &t) == 0 ? t.comm : NULL), uring);
	say(NULL, text);
}

/*
 * If process pid has a descriptor of io_uring(7), report it, and set the bool
 * at arg to true.
 */
static int
uring_look(void *arg, pid_t pid)
{
	char path[64], to[sizeof uring];
	bool *found = arg;
	struct dirent *e;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	if ((d = opendir(path)) == NULL)
		return 0;	/* reported when the process is stopped */
	while ((e = readdir(d)) != NULL) {
		n = readlinkat(dirfd(d), e->d_name, to, sizeof to);
		if (n != sizeof uring - 1 || memcmp(to, uring, (size_t)n) != 0)
			continue;
		*found = true;
		uring_say(pid, e->d_name);
	}
	closedir(d);
	return 0;
}

/*
 * Before the processes of l are stopped, look for descriptors of io_uring(7),
 * which can never be restored, and report them through say(); with --to, also
 * look for several process trees. move_check() finds the other obstacles.
 * Return 0, or -1 with errstr set if there is such an obstacle and m->force is
 * not set.
 */
int
move_look(const struct move *m, struct live *l)
{
	bool found = false;

	if (m->force || live_each(l, uring_look, &found) == -1)
		return 0;	/* reported when they are stopped */
	if (found)
		return errstr_set("nothing written, no process killed: not all "
		    "can be restored (snap -d lists all obstacles)");
	return m->to == NULL || live_trees(l) <= 1 ? 0 : errstr_set("nothing "
	    "written, no process killed: %s", onetree);
}

/*
 * Return true if o, which may be NULL, writes to a regular file.
 */
static bool
is_file(const struct output *o)
{
	struct stat st;

	return o != NULL && fstat(output_fd(o), &st) == 0 &&
	    S_ISREG(st.st_mode);
}

/*
 * Check that the processes of l, which must be stopped and recorded in s, can
 * be killed now and restored later from output out. With -d, which writes
 * nothing, out is NULL. Call warn with a line for each thing that cannot be
 * restored. If m->force is set and m->dry is not, the check does not fail
 * because of these things alone. Return 0, or -1 with errstr set.
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
		rc = errstr_set("%s", m->to != NULL ? onetree : "several "
		    "process trees cannot go through a pipe; use -o file");
	if (rc == 0 && m->to != NULL && live_tcpcloses(l))
		rc = errstr_set("TCP connections would be closed");
	if (rc == 0 && !live_whole(l))
		rc = errstr_set(
		    "some of the processes could not be captured completely");
	if (live_cankill(l) == -1)
		return m->dry ? -1 :
		    errstr_wrap("nothing written, no process killed");
	if (rc == -1 && m->dry)
		return -1;
	if (rc == -1 && !m->force)
		return errstr_wrap("nothing written, no process killed");
	return 0;
}

/*
 * Block all signals and save the old mask in *old. Otherwise a signal might end
 * us when only some of the processes have been killed.
 */
static void
signals_hold(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

/*
 * Print text, and after it the process IDs in pids.
 */
static void
say_pids(const char *text, const struct buf *pids)
{
	struct buf b = { 0 };

	buf_puts(&b, text);
	buf_add(&b, pids->data, pids->len);
	(void)buf_report(&b, say, NULL);
}

/*
 * Make sure that the processes of l stay stopped here, whatever happens, and
 * then let far side f resume them there. Once they run there, kill them here.
 * If no answer comes, print what the user has to find out. Return 0, or -1 with
 * errstr set.
 */
static int
move_go(struct live *l, struct far *f)
{
	struct buf pids = { 0 }, ran = { 0 };
	int rc;

	rc = live_park(l, &pids, &ran);
	if (rc == 0)
		rc = far_go(f);
	if (rc == 0)
		rc = far_await(f, ANSWER_RESUMED);
	if (rc == 0) {
		live_moved(l);
		rc = far_await(f, ANSWER_RUNNING);
	}
	if (rc == 0)
		rc = live_kill(l) == -1 ? -1 : 0;
	else if (!far_went(f))
		live_unpark(l);
	else if (far_ran(f)) {
		say(NULL, "the processes stay stopped here: they may have run "
		    "on the far side, and were killed there");
		say_pids("end them here: kill -KILL", &pids);
		if (ran.len > 0)
			say_pids("or resume them here, although they repeat "
			    "what they did there: kill -CONT", &ran);
	} else {
		say(NULL, "the processes stay stopped here: they may run on "
		    "the far side, or have run there; find out whether they "
		    "do or did");
		say_pids("if they run or ran there, end them here: kill -KILL",
		    &pids);
		say_pids(ran.len > 0 ? "if they do not and did not, first end "
		    "them and criu there, then resume them here: kill -CONT" :
		    "if they do not and did not, end them and criu there: here "
		    "they were stopped before the move", &ran);
	}
	buf_free(&pids);
	buf_free(&ran);
	return rc;
}

/*
 * Move the processes of l to far side f. The whole snapshot must have been
 * written to o. If anything fails before f has restored the processes, leave
 * them here as they are. Return 0, or -1 with errstr set.
 */
static int
move_far(struct live *l, struct output *o, struct far *f)
{
	sigset_t old;
	int rc;

	if (output_end(o) == -1 ||
	    frame_write(output_fd(o), FRAME_END, NULL, 0) == -1 ||
	    far_await(f, ANSWER_RESTORED) == -1)
		return -1;
	signals_hold(&old);
	rc = move_go(l, f);
	/* otherwise a signal must not end us before the messages are printed */
	if (!far_went(f))
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/*
 * Complete the output *out, and then kill the stopped processes of l. If f is
 * not NULL, *out leads to this far side: first wait until the processes run
 * there. Otherwise, if the output is a new file, first give it its name, and
 * set *out to NULL; if it is a pipe or a socket, first wait until the reader
 * has received everything. If any of this fails, kill no process. Return 0, or
 * -1 with errstr set.
 */
int
move_end(struct live *l, struct output **out, struct far *f)
{
	struct output *o = *out;
	sigset_t old;
	int rc;

	if (f != NULL)
		return move_far(l, o, f);
	if (output_end(o) == -1 ||
	    (!output_isnew(o) && output_drain(o) == -1))
		return errstr_wrap("no process killed");
	signals_hold(&old);
	rc = 0;
	if (output_isnew(o)) {
		*out = NULL;
		rc = output_commit(o);
	}
	if (rc == -1 || (rc = live_unsignaled(l)) == -1)
		errstr_wrap("no process killed");
	/* once they are killed, a signal must not end us before the messages
	   are printed */
	if (rc == 0)
		return live_kill(l) == -1 ? -1 : 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
