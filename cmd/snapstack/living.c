/*
 * Live processes: stopped for as long as it takes to have their registers and
 * stacks, and what they wait for.  Nothing is run in them, and the rest is
 * found out when they run again.
 */
#include "snapstack.h"

#include <stdlib.h>

/*
 * Make the record of a process or thread, or of a file that is carried along,
 * of the n files rec: the take function of live_take.
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

	/* what they have points to them: they do not move */
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
 * Stop the live processes of from, gather what is asked of them in l, and let
 * them go.  Return 0, also where there are none; or -1 with errstr.
 */
int
living_take(struct living *l, const struct sources *from,
    const struct asked *asked)
{
	struct liveopts o = { .out = -1, .observe = true,
	    .patience = (unsigned int)asked->timeout, .warn = program_lose };
	struct proc *p;
	char *line;
	size_t i;
	int rc;

	if (!sources_live(from))
		return 0;
	if ((l->snap = snap_new()) == NULL ||
	    (l->live = live_new(&o)) == NULL)
		return -1;
	if ((line = live_header(plan9_cputype())) == NULL ||
	    asprintf(&l->snap->header, "process snapshot %s", line) == -1)
		return -1;
	free(line);
	if ((rc = sources_add(from, l->live)) == 0)
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
