/*
 * Put the processes that the user asks for into a set, except ourselves and the
 * readers of our output.
 */
#include "linux/choose/choose.h"
#include "linux/clone/clone.h"
#include "linux/proxy/proxy.h"
#include "linux/stop/stop.h"
#include "live.h"

#include <signal.h>
#include <unistd.h>

/*
 * Return true if process p is this process, or the guard of this or another
 * snap. A guard must not be stopped, because it could not reap its clones. Tell
 * the user why p is left out, unless it is our own guard, which the user cannot
 * have asked for.
 */
static bool
live_isown(struct live *l, const struct lproc *p)
{
	if (p->pid == getpid())
		live_warn(l, "process %d is this program itself: "
		    "left out", p->pid);
	else if (p->pid == guard_pid(l->guard))
		return true;
	else if (!guard_is(p->pid))
		return false;
	else if (p->found)
		live_say(l, "process %d is a guard process of snap: left out",
		    p->pid);
	else
		live_warn(l, "process %d is a guard process of snap: left out",
		    p->pid);
	return true;
}

/*
 * Leave process p out of set l if it reads the output of this program. Warn the
 * user of that if warns is true.
 */
static void
reader_leave(struct live *l, struct lproc *p, bool warns)
{
	if (p->skip || !pipeline_reads(l, p->pid))
		return;
	p->skip = true;
	if (warns)
		live_warn(l, "process %d reads the output of this program: "
		    "left out", p->pid);
}

/*
 * Let fd be the output of this program. Leave out the processes of set l that
 * read it; warn the user about those that were added by their process IDs.
 * Nothing must be stopped yet.
 */
void
live_output(struct live *l, int fd)
{
	struct lproc *p;

	l->opts.out = fd;
	l->pipeline = NULL;	/* of the output before; the pool owns it */
	TAILQ_FOREACH(p, &l->procs, entry)
		reader_leave(l, p, !p->found);
}

/*
 * Add process pid to set l. If the process must be left out, set its member
 * skip. found is false if the user named the process by its ID; otherwise do
 * not add a clone of another snap. Return 0, or -1 with errstr set if memory
 * runs out.
 */
int
live_add(struct live *l, pid_t pid, bool found)
{
	struct lproc *p;
	char user[32];

	if (lproc_find(l, pid) != NULL ||
	    live_isclone(l->opts.before, pid) || (found && clone_is(pid)))
		return 0;
	if ((p = lproc_add(l, pid)) == NULL)
		return -1;
	p->found = found;
	p->skip = live_isown(l, p);
	reader_leave(l, p, true);
	if (!p->skip)
		live_user(l, (uid_t)proc_status(pid, 0, "Uid"), user,
		    sizeof user);
	return 0;
}

/*
 * Add process pid to set l. If pid is a thread, add its process. If pid does
 * not exist, warn the user and mark the snapshot incomplete; this is not an
 * error. Do not warn in a later moment of a series, since the process may have
 * ended. Return 0, or -1 with errstr set.
 */
int
live_addpid(struct live *l, pid_t pid)
{
	pid_t leader;

	if ((leader = proc_leader(pid)) == -1) {
		if (l->opts.moment <= 1)
			live_warn(l, "no such process: %d", pid);
		return 0;
	}
	return live_add(l, leader, false);
}

/*
 * Add process pid, which is dumping core, to set l. core is the pipe to which
 * the kernel writes the core. Read the part of the core that precedes the
 * memory. The process exists until the caller closes core. The caller must free
 * the set before closing core. Return 0, or -1 with errstr set.
 */
int
live_addcore(struct live *l, pid_t pid, int core)
{
	struct lproc *p;

	if (proc_status(pid, 0, "CoreDumping") != 1)
		return errstr_set("process %d is not dumping core", pid);
	if (live_add(l, pid, false) == -1)
		return -1;
	p = lproc_find(l, pid);
	if (p->skip || p->core != NULL)
		return 0;
	return (p->core = coredump_read(core)) == NULL ? -1 : 0;
}

/*
 * Call fn() for each general register of each thread of process pid, which
 * live_addcore() added to set l. fn() gets arg, the register's value, and true
 * if the register is the stack pointer.
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
 * Add process pid, which was found by name, user or cgroup, to the set that arg
 * points to. Skip our guard and the readers of our output without a message,
 * since the user did not name them.
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
 * Add to set l all processes of l->opts.user that are called name. If name is
 * NULL, add all processes of that user. Return 0, or -1 with errstr set on
 * failure or if there are none.
 */
int
live_addname(struct live *l, const char *name)
{
	return proc_named(name, l->opts.user, chosen_add, l);
}

/*
 * Add to set l all processes of l->opts.user in and below the cgroup called
 * name. Processes that enter the cgroup later are also added, until all are
 * stopped. Return 0, or -1 with errstr set on failure or if there are none.
 */
int
live_addcgroup(struct live *l, const char *name)
{
	if (cgroups_add(&l->cgroups, name) == -1)
		return -1;
	if (cgroups_choose(l->cgroups, name, l->opts.user, chosen_add, l) == 0)
		return 0;
	cgroups_drop(l->cgroups);
	return -1;
}

struct members {
	struct live	*live;
	struct whose	 whose;
	bool		 grew;
};

/*
 * Add process pid, which was listed in a cgroup, to the set of arg, a struct
 * members. If the process has ended since, the cgroup must be listed again: the
 * process may have left a child that is not in the list. kill(2) finds zombies,
 * and processes that proc(5) hides: these would be listed again and again.
 */
static int
member_add(void *arg, pid_t pid)
{
	struct members *m = arg;
	int rc;

	if (pid == getpid() || lproc_find(m->live, pid) != NULL ||
	    proxy_isours(pid))
		return 0;
	if (whose_has(&m->whose, pid) != 1) {
		m->grew |= kill(pid, 0) == -1 && errno == ESRCH;
		return 0;
	}
	rc = chosen_add(m->live, pid);
	m->grew |= lproc_find(m->live, pid) != NULL;
	return rc;
}

/*
 * Add to set l the processes in its cgroups that are not in the set yet. Set
 * *grew to true if there are any. Return 0, or -1 with errstr set.
 */
int
live_members(struct live *l, bool *grew)
{
	struct members m = { l, whose_begin(l->opts.user), false };

	if (l->cgroups == NULL)
		return 0;
	if (cgroups_list(l->cgroups, 0, member_add, &m) == -1)
		return -1;
	*grew |= m.grew;
	return 0;
}
