/*
 * Which processes are in a set: what the user asks for, but for ourselves and
 * who reads what we write.
 */
#include "linux/choose/choose.h"
#include "linux/clone/clone.h"
#include "linux/proxy/proxy.h"
#include "linux/stop/stop.h"
#include "live.h"

#include <unistd.h>

/*
 * Return true if process p is a part of us, or another's guard, which would
 * not see to its processes meanwhile.  That is told of what was asked for; of
 * our own guard, which can only be found, there is nothing to tell.
 */
static bool
live_isown(struct live *l, const struct lproc *p)
{
	if (p->pid == getpid())
		live_warn(l, "process %d is this one: left out", p->pid);
	else if (p->pid == guard_pid(l->guard))
		return true;
	else if (!guard_is(p->pid))
		return false;
	else if (p->found)
		live_say(l, "process %d is a guard of snap: left out", p->pid);
	else
		live_warn(l, "process %d is a guard of snap: left out", p->pid);
	return true;
}

/*
 * Add process pid to set l, or remember that it is left out; found, if the user
 * did not ask for it by number.
 */
static int
live_add(struct live *l, pid_t pid, bool found)
{
	struct lproc *p;
	char user[32];

	if (lproc_find(l, pid) != NULL)
		return 0;
	if ((p = lproc_add(l, pid)) == NULL)
		return -1;
	p->found = found;
	p->skip = live_isown(l, p);
	if (!p->skip && pipeline_reads(l, pid)) {
		live_warn(l, "process %d reads what this one writes: "
		    "left out", pid);
		p->skip = true;
	}
	if (!p->skip)
		live_user(l, (uid_t)proc_status(pid, 0, "Uid"), user,
		    sizeof user);
	return 0;
}

/*
 * Add process pid, which was found among the descendants, to set l.  Return 0,
 * or -1 with errstr.
 */
int
live_found(struct live *l, pid_t pid)
{
	return live_add(l, pid, true);
}

/*
 * Add process pid to set l, or the process that thread pid belongs to.  If
 * there is none that is told, and the result is incomplete.  Return 0, or -1
 * with errstr.
 */
int
live_addpid(struct live *l, pid_t pid)
{
	pid_t leader;

	if ((leader = proc_leader(pid)) == -1) {
		live_warn(l, "no such process: %d", pid);
		return 0;
	}
	return live_add(l, leader, false);
}

/*
 * Add process pid to set l, which dumps core: the kernel writes that into pipe
 * core, of which what comes before memory is read.  The process is there, as it
 * was, until the caller closes the pipe, which the set must be freed before.
 * Return 0, or -1 with errstr.
 */
int
live_addcore(struct live *l, pid_t pid, int core)
{
	struct lproc *p;

	if (proc_status(pid, 0, "CoreDumping") != 1)
		return errstr_set("process %d does not dump core", pid);
	if (live_add(l, pid, false) == -1)
		return -1;
	p = lproc_find(l, pid);
	if (p->skip || p->core != NULL)
		return 0;
	return (p->core = coredump_read(core)) == NULL ? -1 : 0;
}

/*
 * Call fn, with arg, with each general register of each thread of process pid
 * of set l, which live_addcore added, and whether that is the stack pointer.
 */
void
live_coreregs(struct live *l, pid_t pid, void (*fn)(void *, uint64_t, bool),
    void *arg)
{
	const struct lproc *p = lproc_find(l, pid);

	if (p != NULL && p->core != NULL)
		coredump_regs(p->core, fn, arg);
}

/*
 * Add process pid, which was found by what it is called, whose it is or where
 * it belongs.  Who reads what we write is no part of what was asked for then.
 */
static int
chosen_add(void *arg, pid_t pid)
{
	struct live *l = arg;

	if (pid == guard_pid(l->guard) || pipeline_reads(l, pid))
		return 0;
	return live_add(l, pid, true);
}

/*
 * Add to set l all processes of a name, or of any where that is NULL, of
 * l->opts.user.  Return 0, or -1 with errstr, also if there is none.
 */
int
live_addname(struct live *l, const char *name)
{
	return proc_named(name, l->opts.user, chosen_add, l);
}

/*
 * Add to set l all processes in the cgroup that what means and below it, of
 * l->opts.user; those that come into it are looked for until all are stopped.
 * Return 0, or -1 with errstr, also if there is none.
 */
int
live_addcgroup(struct live *l, const char *what)
{
	if (cgroups_add(&l->cgroups, what) == -1)
		return -1;
	return cgroups_choose(l->cgroups, what, l->opts.user, chosen_add, l);
}

struct members {
	struct live	*live;
	struct whose	 whose;
	bool		 grew;
};

static int
member_add(void *arg, pid_t pid)
{
	struct members *m = arg;
	int rc;

	if (pid == getpid() || lproc_find(m->live, pid) != NULL ||
	    proxy_isours(pid) || whose_has(&m->whose, pid) != 1)
		return 0;
	rc = chosen_add(m->live, pid);
	m->grew |= lproc_find(m->live, pid) != NULL;
	return rc;
}

/*
 * Add to set l what is in its cgroups and was not seen there yet; *grew: there
 * was some.  Return 0, or -1 with errstr.
 */
int
live_members(struct live *l, bool *grew)
{
	struct members m = { l, whose_begin(l->opts.user), false };

	if (l->cgroups == NULL)
		return 0;
	if (cgroups_list(l->cgroups, member_add, &m) == -1)
		return -1;
	*grew |= m.grew;
	return 0;
}
