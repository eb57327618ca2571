/*
 * Threads as CRIU images: core-N.img.
 */
#include "criumake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Set caps, two words, *n and *to to the capabilities that a key of status
 * has.
 */
static void
caps_set(const struct maketask *t, const char *key, uint32_t *caps, size_t *n,
    uint32_t **to)
{
	uint64_t v;

	if (maketask_status(t, key, 16, &v, 1) != 1)
		v = 0;
	caps[0] = (uint32_t)v;
	caps[1] = (uint32_t)(v >> 32);
	*n = 2;
	*to = caps;
}

/*
 * Set the supplementary groups of a thread.
 */
static int
groups_set(const struct criumake *m, struct corebits *c,
    const struct maketask *t)
{
	uint64_t *v;
	size_t i, n;

	n = maketask_status(t, "Groups", 10, NULL, 0);
	if (n > GROUPS)
		n = GROUPS;
	if ((v = calloc(n + 1, sizeof *v)) == NULL)
		return errstr_set("out of memory");
	(void)maketask_status(t, "Groups", 10, v, n);
	c->groups = calloc(n + 1, sizeof *c->groups);
	for (i = 0; c->groups != NULL && i < n; i++)
		c->groups[i] = makeusers_gid(m, v[i]);
	free(v);
	c->creds.groups = c->groups;
	c->creds.n_groups = n;
	return c->groups == NULL ? errstr_set("out of memory") : 0;
}

/*
 * Set the profile that a security module has for process p: attr/current of
 * proc(5), NAME (MODE) or unconfined of AppArmor, and four or more words with
 * colons between them of SELinux.
 */
static int
profile_set(struct criumake *m, struct corebits *c, const struct maketask *p)
{
	const size_t size = sizeof c->profile;
	char *text, *mode;
	size_t n;

	if ((text = words_text(&p->rec, "attr/current")) == NULL)
		return 0;
	n = strlcpy(c->profile, text, size);
	free(text);
	c->profile[strcspn(c->profile, "\n")] = '\0';
	mode = strstr(c->profile, " (");
	if (n >= size || (mode == NULL && (strchr(c->profile, ':') == NULL)))
		return 0;
	if (mode != NULL && strchr(c->profile, ':') != NULL)
		return make_note(m, "process %" PRIu64 ": its AppArmor profile "
		    "is of a namespace, and is not restored: %s",
		    p->proc->pid, c->profile);
	m->lsm = mode != NULL ? LSM_APPARMOR : LSM_SELINUX;
	if (mode != NULL)
		*mode = '\0';
	c->creds.lsm_profile = c->profile;
	return 0;
}

/*
 * Set the credentials of thread t of process p: credentials(7),
 * capabilities(7).
 */
static int
creds_set(struct criumake *m, struct corebits *c, const struct maketask *p,
    struct maketask *t)
{
	Criu__Creds *k = &c->creds;
	uint64_t u[4], g[4], v;
	int rc;

	criu__creds__init(k);
	if (maketask_status(t, "Uid", 10, u, 4) != 4 ||
	    maketask_status(t, "Gid", 10, g, 4) != 4)
		return errstr_set("process %" PRIu64 ": status: no Uid or Gid",
		    t->proc->pid);
	k->uid = makeusers_uid(m, u[0]);
	k->euid = makeusers_uid(m, u[1]);
	k->suid = makeusers_uid(m, u[2]);
	k->fsuid = makeusers_uid(m, u[3]);
	k->gid = makeusers_gid(m, g[0]);
	k->egid = makeusers_gid(m, g[1]);
	k->sgid = makeusers_gid(m, g[2]);
	k->fsgid = makeusers_gid(m, g[3]);
	caps_set(t, "CapInh", c->caps[0], &k->n_cap_inh, &k->cap_inh);
	caps_set(t, "CapPrm", c->caps[1], &k->n_cap_prm, &k->cap_prm);
	caps_set(t, "CapEff", c->caps[2], &k->n_cap_eff, &k->cap_eff);
	caps_set(t, "CapBnd", c->caps[3], &k->n_cap_bnd, &k->cap_bnd);
	caps_set(t, "CapAmb", c->caps[4], &k->n_cap_amb, &k->cap_amb);
	if (c->caps[4][0] != 0 || c->caps[4][1] != 0)
		make_since(m, SINCE_AMBIENT);
	if ((rc = maketask_must(m, t, "securebits", "x", "bits (x)", &v)) == 1)
		k->secbits = (uint32_t)v;
	k->has_secbits = true;
	if (maketask_status(t, "NoNewPrivs", 10, &v, 1) == 1 && v != 0) {
		k->has_no_new_privs = true;
		k->no_new_privs = 1;
		make_since(m, SINCE_PRIVS);
	}
	c->th.creds = k;
	return rc == -1 || profile_set(m, c, p) == -1 ? -1 :
	    groups_set(m, c, t);
}

/*
 * Set the scheduling of a thread.  Its nice value is told only with the
 * policy.  Note if it has deadlines, which criu has no place for.
 */
static int
sched_set(struct criumake *m, struct corebits *c, const struct maketask *t)
{
	enum { DEADLINE = 6, RESET_ON_FORK = 0x40000000 };
	uint64_t v[3];
	int rc;

	rc = maketask_one(t, "scheduling", "ddi", "policy priority nice", v);
	if (rc != 1)
		return rc;
	c->th.has_sched_policy = c->th.has_sched_prio = true;
	c->th.has_sched_nice = true;
	c->th.sched_policy = (uint32_t)v[0];
	c->th.sched_prio = (uint32_t)v[1];
	c->th.sched_nice = (int32_t)v[2];
	if (v[0] & RESET_ON_FORK)
		make_since(m, SINCE_RESET);
	return (v[0] & ~(uint64_t)RESET_ON_FORK) != DEADLINE ? 0 : make_note(m,
	    "process %" PRIu64 ": its deadlines (SCHED_DEADLINE) are not "
	    "restored", t->proc->pid);
}

/*
 * Set the area of rseq(2) of thread t of process p and its registers, which
 * depend on that.  Return 1; 0 when it is noted that it has no registers; or
 * -1.
 */
static int
regs_set(struct criumake *m, struct corebits *c, struct maketask *p,
    struct maketask *t)
{
	uint64_t rseq[4];
	int rc;

	criu__rseq__init(&c->rseq);
	rc = maketask_one(t, "rseq", "xdxx", "address (x) length signature (x) "
	    "flags (x)", rseq);
	if (rc == 1) {
		c->rseq.abi_pointer = rseq[0];
		c->rseq.abi_size = (uint32_t)rseq[1];
		c->rseq.signature = (uint32_t)rseq[2];
		c->th.rseq_entry = &c->rseq;
	}
	return rc == -1 ? -1 : makeregs_get(m, p, t, rc == 1 ? rseq : NULL,
	    &c->regs);
}

/*
 * Set the addresses that a thread has told the kernel: set_tid_address(2),
 * set_robust_list(2), sigaltstack(2).
 */
static int
addresses_set(struct criumake *m, struct corebits *c, struct maketask *t)
{
	uint64_t v[3] = { 0 };
	int rc;

	criu__sas__init(&c->sas);
	if (maketask_must(m, t, "tid_address", "x", "address (x)", v) == -1)
		return -1;
	c->regs->put(&c->core, c->regs, v[0]);
	rc = maketask_one(t, "robust_list", "xd", "head (x) length", v);
	if (rc == -1)
		return -1;
	if (rc == 1) {
		c->th.futex_rla = v[0];
		c->th.futex_rla_len = (uint32_t)v[1];
	}
	rc = maketask_must(m, t, "sigaltstack", "xdx", "address (x) size flags "
	    "(x)", v);
	if (rc != 1)
		return rc;
	c->sas.ss_sp = v[0];
	c->sas.ss_size = v[1];
	c->sas.ss_flags = (uint32_t)v[2];
	c->th.sas = &c->sas;
	return 0;
}

/*
 * Set what every thread has, of thread t of process p.  Return 0, also when
 * it is noted that something is missing; or -1.
 */
static int
thread_set(struct criumake *m, struct corebits *c, struct maketask *p,
    struct maketask *t)
{
	uint64_t v;
	int rc;

	criu__thread_core__init(&c->th);
	if ((rc = regs_set(m, c, p, t)) != 1)
		return rc;
	if (addresses_set(m, c, t) == -1 || (rc = maketask_must(m, t,
	    "pdeath_signal", "d", "signal", &v)) == -1)
		return -1;
	c->th.has_pdeath_sig = rc == 1;
	c->th.pdeath_sig = rc == 1 ? (uint32_t)v : 0;
	if (sched_set(m, c, t) == -1 || creds_set(m, c, p, t) == -1 ||
	    makeseccomp_set(m, p, t, &c->th) == -1 ||
	    corebits_pending(m, c, p, t, false) == -1)
		return -1;
	c->th.signals_p = &c->pending[1];
	c->th.has_blk_sigset = true;
	c->th.blk_sigset = corebits_blocked(t);
	c->th.comm = c->comm;
	c->th.has_cg_set = p->cgset != 0;
	c->th.cg_set = t->cgset != 0 ? t->cgset : p->cgset;
	if (c->th.cg_set != p->cgset)
		make_since(m, SINCE_CGROUP);
	c->core.thread_core = &c->th;
	return 0;
}

static void
corebits_free(struct corebits *c)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		free(c->siginfo[i]);
		free(c->pending[i].signals);
	}
	for (i = 0; i < c->timers.n_posix; i++)
		free(c->timers.posix[i]);
	free(c->timers.posix);
	free(c->groups);
	free(c->regs);
	free(c);
}

/*
 * Set the core of thread t of process p, which may be the same.
 */
static int
core_set(struct criumake *m, struct corebits *c, struct maketask *p,
    struct maketask *t)
{
	char *comm;

	criu__core__init(&c->core);
	criu__task_core__init(&c->tc);
	makeregs_machine(&c->core, t);
	if ((comm = words_text(&t->rec, "comm")) != NULL)
		snprintf(c->comm, sizeof c->comm, "%.*s",
		    (int)strcspn(comm, "\n"), comm);
	free(comm);
	if (p == t) {
		c->core.tc = &c->tc;
		c->tc.comm = c->comm;
		c->tc.task_state = ALIVE;
	}
	if (maketask_ended(t)) {
		c->tc.task_state = ENDED;
		c->tc.exit_code = (uint32_t)t->stat.v[STAT_EXITCODE];
		return 0;
	}
	if (thread_set(m, c, p, t) == -1)
		return -1;
	return p == t ? corebits_task(m, c, t) : 0;
}

/*
 * Make core-N.img of thread t of process p, which may be the same.  Return 0,
 * or -1 with errstr.
 */
int
makecore_write(struct criumake *m, struct maketask *p, struct maketask *t)
{
	struct corebits *c;
	struct made *im;
	int rc;

	if ((im = make_image(m, CRIU_CORE, "core-%u.img", t->pid)) == NULL)
		return -1;
	if ((c = calloc(1, sizeof *c)) == NULL)
		return errstr_set("out of memory");
	if ((rc = core_set(m, c, p, t)) == 0)
		criuimg_add(&im->b, &c->core.base);
	corebits_free(c);
	return rc;
}
