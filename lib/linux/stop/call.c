/*
 * The system call that a thread was seen in before it was stopped, for where
 * its registers do not tell that afterwards: linux/machine/.
 */
#include "restart.h"
#include "stop.h"

#include <sys/syscall.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return how often a thread had gone to sleep, as status tells.
 */
static uint64_t
sleeps_told(const void *status, size_t len)
{
	return status_first(status, len, "voluntary_ctxt_switches", 10);
}

/*
 * Return the number of the call that a thread waits in: nr, as syscall tells,
 * or that which restart_syscall(2) goes on with, as wchan, which was read next,
 * and the first argument tell.
 */
static int64_t
call_first(int64_t nr, const struct file *wchan, uint64_t first)
{
	static const struct {
		const char	*name;
		int64_t		 nr;
	} timed[] = {
#ifdef SYS_poll
		{ "poll", SYS_poll },
#endif
		{ "nanosleep", SYS_nanosleep },
		{ "clock_nanosleep", SYS_clock_nanosleep },
		{ "futex", SYS_futex }
	};
	const char *name;
	char in[64];
	size_t i;

	if (nr != SYS_restart_syscall || wchan == NULL)
		return nr;
	snprintf(in, sizeof in, "%.*s", (int)wchan->len,
	    (const char *)wchan->data);
	name = restart_name(in, first);
	for (i = 0; name != NULL && i < sizeof timed / sizeof *timed; i++)
		if (strcmp(timed[i].name, name) == 0)
			return timed[i].nr;
	return nr;
}

/*
 * Return what l tells of the call: status of it was read first, then syscall,
 * then wchan.
 */
struct seencall
call_seen(const struct filelist *l)
{
	const struct file *status = filelist_find(l, "status"),
	    *f = filelist_find(l, "syscall");
	struct seencall c = { .nr = -1 };
	char text[256];

	if (f == NULL)
		return c;
	snprintf(text, sizeof text, "%.*s", (int)f->len, (const char *)f->data);
	if (sscanf(text, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %"
	    SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &c.nr,
	    &c.arg[0], &c.arg[1], &c.arg[2], &c.arg[3], &c.arg[4], &c.arg[5],
	    &c.sp, &c.pc) != 9)
		c.nr = -1;
	c.nr = call_first(c.nr, filelist_find(l, "wchan"), c.arg[0]);
	if (restart_counts(c.nr) && status != NULL)
		c.sleeps = sleeps_told(status->data, status->len);
	return c;
}

/*
 * See what call thread t of process p is in, which is not stopped yet.
 */
void
call_look(const struct lproc *p, struct lthread *t)
{
	struct filelist l = { 0 };

	filelist_read(&l, p->pid, t->tid, "status");
	filelist_read(&l, p->pid, t->tid, "syscall");
	filelist_read(&l, p->pid, t->tid, "wchan");
	t->seencall = call_seen(&l);
	filelist_free(&l);
}
