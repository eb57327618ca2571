/*
 * Which processes are in a set: what the user asks for, but for ourselves and
 * who reads what we write.
 */
#include "linux/clone/clone.h"
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
 * Add process pid, which was found among the descendants.  Return 0, or -1
 * with errstr.
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

static int
byname_add(void *arg, pid_t pid)
{
	return live_add(arg, pid, true);
}

/*
 * Add to set l all processes of a name that the user owns.  Return 0, or -1
 * with errstr.
 */
int
live_addname(struct live *l, const char *name)
{
	size_t foreign;

	if (proc_named(name, byname_add, l, &foreign) == -1)
		return -1;
	if (foreign > 0)
		live_warn(l, "processes of others are called \"%s\", too: %zu "
		    "left out (use their pids)", name, foreign);
	return 0;
}
