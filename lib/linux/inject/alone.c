/*
 * System calls in one thread of a process of which the others run meanwhile.
 * What they take and give, and what leads the thread back should we die, is on
 * the dead part of its own stack: dead.c.
 */
#include "clock.h"
#include "linux/proc/proc.h"
#include "run.h"

#include <fcntl.h>
#include <stdlib.h>

/*
 * Set in->caught to the signals that the process handles.  Return 0, or -1 with
 * errstr.
 */
static int
caught_read(struct inject *in)
{
	struct bytes b;
	int rc;

	if (proc_read(in->pid, 0, "status", &b) == -1)
		return errstr_sys("/proc/%d/status", in->pid);
	rc = status_list(b.data, b.len, "SigCgt", 16, &in->caught, 1) == 1 ?
	    0 : errstr_set("/proc/%d/status: no SigCgt", in->pid);
	free(b.data);
	return rc;
}

/*
 * Be ready to run system calls in single threads of process p while its other
 * threads run; l, its mappings, are in use until inject_free.  Return what is
 * used for that, or NULL with errstr where that cannot be.
 */
struct inject *
inject_alone(const struct lproc *p, const struct vmas *l)
{
	const pid_t pid = p->pid;
	struct inject *in;

	if (p->sharer != 0) {
		errstr_set("process %d shares its memory", p->sharer);
		return NULL;
	}
	if ((in = inject_new(pid)) == NULL)
		return NULL;
	in->until = now_ms() + CALL_MS;	/* all but one run */
	in->alone = l;
	in->pagemap = proc_open(pid, 0, "pagemap", O_RDONLY);
	if (in->pagemap == -1)
		errstr_sys("/proc/%d/pagemap", pid);
	else if (caught_read(in) == 0 &&
	    gadgets_find(&in->gadget, pid, in->mem, l) == 0)
		return in;
	inject_free(in);
	return NULL;
}

/*
 * Go on with in in thread t, which is stopped, and not the one that leads the
 * process: on the dead part of its own stack.  Return 0, or -1 with errstr,
 * also when those before have taken too long: inject_islate.  Either way,
 * inject_leaveone must follow.
 */
int
inject_enterone(struct inject *in, const struct lthread *t)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &in->ours);
	in->dead = 0;
	in->nstops = 0;
	in->entered = in->ready = in->gone = in->lost = false;
	if (inject_thread_enter(in, t) == -1)
		return -1;
	if (in->stopped)
		return errstr_set("its process is stopped");
	if (inject_may(in) == -1 || dead_own(in) == -1 ||
	    inject_frame(in, false) == -1)
		return -1;
	in->ready = true;
	return 0;
}

/*
 * Have the thread as it was that inject_enterone went into with in; rc is 0, or
 * -1 if what was asked of it failed.  Return as inject_end, with errno as that
 * has it.
 */
int
inject_leaveone(struct inject *in, int rc)
{
	return inject_finish(in, rc);
}
