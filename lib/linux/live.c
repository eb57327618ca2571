/*
 * A set of live processes, from beginning to end: add.c tells which they are,
 * freeze.c stops them and lets them go.
 */
#include "clock.h"
#include "linux/choose/choose.h"
#include "linux/clone/clone.h"
#include "linux/file/file.h"
#include "linux/restore/namespace/namespace.h"
#include "linux/restore/open/open.h"
#include "linux/proxy/proxy.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"
#include "vec.h"

#include <sys/utsname.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* seconds, for who may not answer: snap(1), -t */
enum { PATIENCE = 5 };

/*
 * Return an empty set, as o, which is copied, wants it; NULL with errstr.
 */
struct live *
live_new(const struct liveopts *o)
{
	struct live *l;

	if ((l = mem_new(1, sizeof *l)) == NULL)
		return NULL;
	l->opts = *o;
	if (l->opts.observe)	/* and a clone is made by who is cloned */
		l->opts.clone = false;
	if (l->opts.patience == 0)
		l->opts.patience = PATIENCE;
	TAILQ_INIT(&l->procs);
	RB_INIT(&l->pids);
	proxy_allow(l->opts.patience);
	return l;
}

/*
 * Let all processes of set l go, and free it.
 */
void
live_free(struct live *l)
{
	if (l == NULL)
		return;
	live_thaw(l);
	lprocs_free(l);
	carry_free(l);
	hardlinks_free(l);
	files_free(l);
	shmcopies_free(l);
	prepared_free(l);
	plains_free(l);
	setfiles_free(l);
	headroom_free(l);
	mounted_free(l);
	spaces_free(l);
	filters_free(l);
	sysv_free(l);
	cgroups_free(l->cgroups);
	pipeline_free(l);
	users_free(l);
	free(l);
	proxy_end();
	served_forget();
}

/*
 * Begin to take what is stopped of set l into snapshot s: gather what is told
 * of all processes; then clone them and let them go, or keep them stopped where
 * that is not wanted or cannot be done.  What is asked and taken from then on
 * is asked and taken of the clones.  take is called for each thread, from
 * another thread than the caller's, with arg, what /proc and ptrace tell of it
 * and the files of its Linux record, to make its small files.  live_next gives
 * what was taken.  Those without a clone must stay stopped until the pages have
 * been read.  arg, and what warn needs, are in use until live_thaw; warn is
 * called from that thread as well.  Return 0; or -1 with errstr where nothing
 * can be taken.
 */
int
live_take(struct live *l, struct snap *s, take_fn take, void *arg)
{
	struct lproc *p;
	bool made, told;

	told = false;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (!p->skip && proc_gather(l, s, p) == -1)
			return -1;
		told |= p->inert && !p->skip;
	}
	/* a file that was to be frozen may have put an end to it */
	made = !told && l->opts.clone && clones_make(l, s);
	if (!made)	/* this takes long */
		live_unhurry(l);
	state_finish(l, false);
	procs_finish(l);
	if (made) {
		family_read(l);
		live_release(l);
		clones_watch(l);
	}
	if (prepared_write(l) == -1) {
		l->lost = true;
		return -1;
	}
	state_finish(l, true);
	return take_begin(l, s, take, arg);
}

/*
 * Return true if all that was asked for in set l was stopped by us and taken
 * whole, as far as it has not ended: a zombie has nothing to be stopped.
 */
bool
live_whole(const struct live *l)
{
	return !l->parted;
}

/*
 * Return true if something that was asked for in set l was left out, or could
 * not be had.
 */
bool
live_incomplete(const struct live *l)
{
	return l->incomplete;
}

/*
 * Return what the first line of a snapshot tells of this machine, with cputype
 * for its processors, and of this moment, behind "process snapshot ": the
 * caller frees it.  NULL with errstr when memory runs out.
 */
char *
live_header(const char *cputype)
{
	struct timespec now, up;
	struct utsname u;
	char user[32];

	/* time(2) lags behind by a few milliseconds */
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	if (uname(&u) == -1)
		strlcpy(u.nodename, "unknown", sizeof u.nodename);
	user_name(getuid(), user, sizeof user);
	return str_printf("%lld %s@%.64s %s %ju \"Linux %.40s\"",
	    (long long)now.tv_sec, user, u.nodename, cputype,
	    (uintmax_t)(timespec_ns(&now) - timespec_ns(&up)) / 1000000000,
	    u.release);
}
