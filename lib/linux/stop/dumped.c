/*
 * The threads of a process that dumps core: they stand still until the kernel
 * has written that, and nobody can trace them.  What ptrace(2) would tell of
 * them, the notes of the core do.
 */
#include "linux/machine/machine.h"
#include "stopping.h"

#include <elf.h>

enum { SIGINFO = 128 };		/* bytes of a siginfo_t */

/*
 * Add to what is seen of a thread what a note tells.
 */
static void
note_record(const struct dumpnote *n, struct filelist *to)
{
	const struct regnote *set;

	if (n->type == NT_SIGINFO && n->len == SIGINFO)
		filelist_copy(to, "siginfo", n->data, n->len);
	for (set = isa.regset + 1; set->name != NULL; set++)
		if (set->note == (int)n->type)
			filelist_pack(to, set->name, n->data, n->len);
}

static void
thread_dumped(const struct lproc *p, struct lthread *t)
{
	struct buf b = { 0 };
	struct dumpthread d;
	struct dumpnote n;
	uint64_t inner;

	t->hold = HOLD_DUMPED;
	if (proc_inner(p->pid, t->tid, &inner) == 0)
		inner = (uint64_t)t->tid;
	if (!coredump_find(p->core, (pid_t)inner, &d))
		return;
	buf_add(&b, d.general.data, d.general.len);
	t->seen.failed |= b.failed;
	t->general = (struct bytes){ b.data, b.len };
	t->regs = true;
	filelist_copy(&t->seen, "sigmask", &d.blocked, sizeof d.blocked);
	if (d.signal != 0)
		filelist_text(&t->seen, "cursig", "%d\n", d.signal);
	while (coredump_note(p->core, &d, &n))
		note_record(&n, &t->seen);
}

/*
 * Have the registers of all threads of process p, which dumps core.  Return 1
 * if there were new ones, else 0.
 */
int
threads_dumped(struct lproc *p)
{
	struct lthread *t;
	int any;

	any = 0;
	TAILQ_FOREACH(t, &p->threads, entry)
		if (t->hold == HOLD_NONE) {
			thread_dumped(p, t);
			any = 1;
		}
	return any;
}
