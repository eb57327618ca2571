/*
 * The system call that a thread was seen in before it was stopped, for where
 * its registers do not tell that afterwards: linux/machine/.
 */
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Return how often a thread had gone to sleep, as status tells.
 */
static uint64_t
sleeps_told(const void *status, size_t len)
{
	return status_first(status, len, "voluntary_ctxt_switches", 10);
}

/*
 * Return what l, of which status was read first, tells of the call.
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
	t->seencall = call_seen(&l);
	filelist_free(&l);
}

/*
 * Thread t of process p, which is stopped, is about to be let go.  If it makes
 * again the call that it was seen in, it goes to sleep once more in that.
 */
void
call_recount(const struct lproc *p, struct lthread *t)
{
	struct seencall *c = &t->seencall;
	struct bytes b;

	if (c->sleeps == 0)
		return;
	c->sleeps = 0;
	if (proc_read(p->pid, t->tid, "status", &b) == -1)
		return;
	c->sleeps = sleeps_told(b.data, b.len);
	c->sleeps += c->sleeps != 0;
	free(b.data);
}
