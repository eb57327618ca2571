/*
 * Make the parts of a process other than its memory: the small files of Plan 9,
 * the Linux record, and in the first record how the snapshot was taken.
 * Secrets are left out here, before anything is written.
 */
#include "job.h"

/*
 * Print text, which says what is missing from the snapshot, and mark the
 * snapshot as incomplete. This is a warn callback; taking is a struct taking.
 */
void
take_lose(void *taking, const char *text)
{
	struct taking *k = taking;

	k->incomplete = true;
	say(NULL, text);
}

/*
 * Make the Linux record of p, a process or a thread, from the n files at rec.
 * If p is the first process, also add the file "taken" to its record. Return 0,
 * or -1 with errstr set.
 */
static int
take_record(struct taking *k, struct proc *p, const struct file *rec, size_t n)
{
	static char name[] = "taken";
	struct file *all;
	int rc;

	if (k->noted || proc_isthread(p))
		return linuxrec_pack(p, plan9_cputype(), rec, n);
	k->noted = true;
	if ((all = reallocarray(NULL, n + 1, sizeof *all)) == NULL)
		return errstr_set("out of memory");
	memcpy(all, rec, n * sizeof *all);
	all[n] = (struct file){ name, k->job->taken.data, k->job->taken.len };
	rc = linuxrec_pack(p, plan9_cputype(), all, n + 1);
	free(all);
	return rc;
}

/*
 * Remove secrets from p, which is ready to be written. p is a process or a
 * mapped file stored in the snapshot. Return 0, or -1 with errstr set.
 */
static int
take_exclude(struct taking *k, struct proc *p)
{
	if (k->job->most != 0 && p->pid == (uint64_t)k->job->dumps)
		k->tight = leave_choose(k->live, p, k->job->most,
		    k->job->exclude);
	return k->job->exclude == NULL ? 0 : exclude_proc(k->job->exclude,
	    k->snap, p, take_lose, k);
}

/*
 * Make the small files and the Linux record of p from task t and the n files at
 * rec. If t is NULL, p is a mapped file stored in the snapshot, and only its
 * record is made. This is the take callback of live_take(); taking is a struct
 * taking. Return 0, or -1 with errstr set.
 */
int
take(void *taking, struct proc *p, const struct task *t,
    const struct file *rec, size_t n)
{
	struct taking *k = taking;
	struct buf b = { 0 };

	if (t == NULL)
		return linuxrec_pack(p, plan9_cputype(), rec, n) == -1 ? -1 :
		    take_exclude(k, p);
	if (plan9_files(p, plan9_cputype(), t) == -1 ||
	    take_record(k, p, rec, n) == -1 || take_exclude(k, p) == -1)
		return -1;
	/* no registers: print it if this is because the architecture is
	   unsupported */
	if (!k->regs_warned && proc_file(p, "regs") == NULL &&
	    plan9_regs(&b, plan9_cputype(), t) == -1) {
		k->regs_warned = true;
		say(NULL, snap_errstr());
	}
	buf_free(&b);
	return 0;
}
