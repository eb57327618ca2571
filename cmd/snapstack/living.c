/*
 * Read live processes. They are stopped only while their registers, stacks and
 * system calls are read, and no code is run in them; everything else is read
 * after they were resumed.
 */
#include "snapstack.h"

/*
 * Pack the n files at rec as the record of p. p is a process, a thread, or a
 * mapped file stored in the snapshot. live_take() calls this function.
 */
static int
take(void *arg, struct proc *p, const struct task *t, const struct file *rec,
    size_t n)
{
	(void)arg;
	(void)t;
	return linuxrec_pack(p, plan9_cputype(), rec, n);
}

static int
gather_all(struct living *l, const struct asked *asked)
{
	struct snap *s = l->snap;
	size_t i;

	/* their members have pointers to them, so the array must not move */
	if ((l->ps = calloc(s->nproc + 1, sizeof *l->ps)) == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < s->nproc; i++) {
		if (!proc_isprocess(s->proc[i]))
			continue;
		if (process_gather(&l->ps[l->n], s, s->proc[i], asked,
		    true) == -1) {
			process_close(&l->ps[l->n]);
			return -1;
		}
		l->n++;
	}
	return 0;
}

/*
 * Gather in l the data about the live processes in src that the options in
 * asked require. Stop the processes while their data is read. Return 0, even if
 * there are no such processes, or -1 with errstr set.
 */
int
living_take(struct living *l, const struct sources *src,
    const struct asked *asked)
{
	struct liveopts o = { .out = -1, .no_inject = true,
	    .timeout = (unsigned int)asked->timeout, .warn = program_lose };
	struct proc *p;
	size_t i;
	int rc;

	if (!sources_now(src))
		return 0;
	if ((l->snap = snap_new()) == NULL ||
	    (l->snap->header = live_header(plan9_cputype())) == NULL ||
	    (l->live = live_new(&o)) == NULL)
		return -1;
	if ((rc = sources_add(src, l->live)) == 0)
		rc = live_stop(l->live);
	if (rc == 0)
		rc = live_take(l->live, l->snap, take, NULL);
	while (rc == 0 && (rc = live_next(l->live, &p)) == 1)
		rc = 0;
	if (rc == 0)
		rc = gather_all(l, asked);
	live_thaw(l->live);
	for (i = 0; i < l->n; i++)
		(void)live_perfmap(l->live, (pid_t)l->ps[i].t.proc->pid,
		    &l->ps[i].t.perfmap);
	return rc;
}
