/*
 * Read live processes. They are stopped only while their registers, stacks and
 * system calls are read, and no code is run in them; everything else is read
 * after they were resumed.
 */
#include "snapstack.h"
#include "worker.h"

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

struct taker {			/* arguments and result of living_work */
	struct living	*l;	/* borrowed, like "src" and "asked" */
	const struct sources *src;
	const struct asked *asked;
	int		 rc;
	char		 why[1024]; /* errstr if rc is -1 */
};

/*
 * Gather what the arguments of t ask for. A thread that did not stop in time is
 * released when this thread ends, and so is never held up by a reader of the
 * output.
 */
static void *
living_work(void *arg)
{
	struct taker *t = arg;
	struct living *l = t->l;
	struct proc *p;
	size_t i;
	int rc;

	if ((rc = sources_add(t->src, l->live)) == 0)
		rc = live_stop(l->live);
	if (rc == 0)
		rc = live_take(l->live, l->snap, take, NULL);
	while (rc == 0 && (rc = live_next(l->live, &p)) == 1)
		rc = 0;
	if (rc == 0)
		rc = gather_all(l, t->asked);
	if ((t->rc = rc) == -1)
		strlcpy(t->why, snap_errstr(), sizeof t->why);
	live_thaw(l->live);
	for (i = 0; i < l->n; i++)
		(void)live_perfmap(l->live, (pid_t)l->ps[i].t.proc->pid,
		    &l->ps[i].t.perfmap);
	return NULL;
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
	struct taker t = { .l = l, .src = src, .asked = asked };
	pthread_t thread;

	if (!sources_now(src))
		return 0;
	if ((l->snap = snap_new()) == NULL ||
	    (l->snap->header = live_header(plan9_cputype())) == NULL ||
	    (l->live = live_new(&o)) == NULL)
		return -1;
	if (worker_start(&thread, living_work, &t) == 0)
		pthread_join(thread, NULL);
	else
		(void)living_work(&t);
	return t.rc == 0 ? 0 : errstr_set("%s", t.why);
}
