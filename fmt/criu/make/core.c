/*
 * Write core-N.img, the state of a thread.
 */
#include "criumake.h"

/*
 * Set the five capability sets in k to those of thread t. Each set has two
 * 32-bit words.
 */
static int
caps_set(struct criumake *m, Criu__Creds *k, const struct maketask *t)
{
	static const struct {
		const char	*key;	/* key in /proc/PID/status */
		size_t		 at;	/* offset of the field in the message */
	} caps[] = {
		{ "CapInh", offsetof(Criu__Creds, cap_inh) },
		{ "CapPrm", offsetof(Criu__Creds, cap_prm) },
		{ "CapEff", offsetof(Criu__Creds, cap_eff) },
		{ "CapBnd", offsetof(Criu__Creds, cap_bnd) },
		{ "CapAmb", offsetof(Criu__Creds, cap_amb) }
	};
	uint32_t *to;
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof caps / sizeof *caps; i++) {
		to = msg_many(&m->msgs, &k->base, caps[i].at, 2);
		if (to == NULL)
			return -1;
		if (maketask_status(t, caps[i].key, 16, &v, 1) == 1) {
			to[0] = (uint32_t)v;
			to[1] = (uint32_t)(v >> 32);
		}
	}
	if (k->cap_amb[0] != 0 || k->cap_amb[1] != 0)
		make_since(m, SINCE_AMBIENT);
	return 0;
}

/*
 * Set the supplementary groups in k to those of thread t.
 */
static int
groups_set(struct criumake *m, Criu__Creds *k, const struct maketask *t)
{
	uint32_t *to;
	uint64_t *v;
	size_t i, n;

	n = maketask_status(t, "Groups", 10, NULL, 0);
	if (n > GROUPS)
		n = GROUPS;
	if ((v = pool_new(&m->msgs, n, sizeof *v)) == NULL ||
	    (to = MSG_MANY(&m->msgs, k, groups, n)) == NULL)
		return -1;
	(void)maketask_status(t, "Groups", 10, v, n);
	for (i = 0; i < n; i++)
		to[i] = makeusers_gid(m, v[i]);
	return 0;
}

/*
 * Copy the security label of process p to k. The label is in attr/current
 * (proc(5)). For AppArmor, it is "NAME (MODE)" or "unconfined".
 * For SELinux, it is four or more words separated by colons.
 */
static int
profile_set(struct criumake *m, Criu__Creds *k, const struct maketask *p)
{
	enum { MAX_LABEL = 4096 }; /* criu's limit on the length of a label */
	char *text, *mode;

	if ((text = maketask_line(p, "attr/current")) == NULL)
		return 0;
	mode = strstr(text, " (");
	if (strlen(text) >= MAX_LABEL ||
	    (mode == NULL && strchr(text, ':') == NULL))
		return 0;
	if (mode != NULL && strchr(text, ':') != NULL)
		return make_note(m, p, NULL, "its AppArmor profile is in a "
		    "policy namespace, and is not restored: %s", text);
	m->lsm = mode != NULL ? LSM_APPARMOR : LSM_SELINUX;
	if (mode != NULL)
		*mode = '\0';
	k->lsm_profile = text;
	return 0;
}

/*
 * Set k to the credentials of thread t of process p (credentials(7),
 * capabilities(7)).
 */
static int
creds_set(struct criumake *m, Criu__Creds *k, const struct maketask *p,
    struct maketask *t)
{
	uint64_t u[4], g[4], v;
	size_t i;
	int rc;

	if (maketask_status(t, "Uid", 10, u, 4) != 4 ||
	    maketask_status(t, "Gid", 10, g, 4) != 4)
		return errstr_set("process %" PRIu64 ": status: no Uid or Gid",
		    t->proc->pid);
	for (i = 0; i < 4; i++) {
		u[i] = makeusers_uid(m, u[i]);
		g[i] = makeusers_gid(m, g[i]);
	}
	MSG_FILL(k, CRIU_UIDS, u);
	MSG_FILL(k, CRIU_GIDS, g);
	k->has_secbits = true;
	if (caps_set(m, k, t) == -1 || (rc = maketask_must(m, t, "securebits",
	    "x", "bits (x)", &v)) == -1)
		return -1;
	if (rc == 1)
		k->secbits = (uint32_t)v;
	if (maketask_status(t, "NoNewPrivs", 10, &v, 1) == 1 && v != 0) {
		MSG_FILL(k, "no_new_privs", &(uint64_t){ 1 });
		make_since(m, SINCE_PRIVS);
	}
	return profile_set(m, k, p) == -1 ? -1 : groups_set(m, k, t);
}

/*
 * Set the scheduling policy, priority and nice value in th to those of thread
 * t. Leave out those that are not recorded. If the policy is SCHED_DEADLINE,
 * record a note that its parameters are lost.
 */
static int
sched_set(struct criumake *m, Criu__ThreadCore *th, const struct maketask *t)
{
	enum { DEADLINE = 6, RESET_ON_FORK = 0x40000000 };
	uint64_t v[3];
	int rc;

	rc = maketask_one(t, "scheduling", "ddi", "policy priority nice", v);
	if (rc != 1)
		return rc;
	MSG_FILL(th, "sched_policy sched_prio sched_nice", v);
	if (v[0] & RESET_ON_FORK)
		make_since(m, SINCE_RESET);
	return (v[0] & ~(uint64_t)RESET_ON_FORK) != DEADLINE ? 0 : make_note(m,
	    t, NULL, "its deadlines (SCHED_DEADLINE) are not restored");
}

/*
 * Set the registers and the rseq(2) area in c to those of thread t of process
 * p. Return 1 on success, 0 if there are no usable registers (the reason is
 * recorded), or -1 with errstr set.
 */
static int
regs_set(struct criumake *m, Criu__Core *c, struct maketask *p,
    struct maketask *t)
{
	Criu__ThreadCore *th = c->thread_core;
	uint64_t rseq[4];
	int rc;

	rc = maketask_one(t, "rseq", "xdxx", "address (x) length signature (x) "
	    "flags (x)", rseq);
	if (rc == 1 && MSG_PART(&m->msgs, th, rseq_entry) == NULL)
		rc = -1;
	if (rc == 1)
		MSG_FILL(th->rseq_entry, "abi_pointer abi_size signature",
		    rseq);
	return rc == -1 ? -1 : makeregs_get(m, p, t, rc == 1 ? rseq : NULL, c);
}

/*
 * Set in c the addresses that thread t registered with the kernel through
 * set_tid_address(2), set_robust_list(2) and sigaltstack(2).
 */
static int
addresses_set(struct criumake *m, Criu__Core *c, struct maketask *t)
{
	Criu__ThreadCore *th = c->thread_core;
	uint64_t v[3] = { 0 };
	int rc;

	if (maketask_must(m, t, "tid_address", "x", "address (x)", v) == -1)
		return -1;
	msg_fill(c->thread_info != NULL ? &c->thread_info->base :
	    &c->ti_arm64->base, "clear_tid_addr", v);
	rc = maketask_one(t, "robust_list", "xd", "head (x) length", v);
	if (rc == -1)
		return -1;
	if (rc == 1)
		MSG_FILL(th, "futex_rla futex_rla_len", v);
	rc = maketask_must(m, t, "sigaltstack", "xdx", "address (x) size flags "
	    "(x)", v);
	if (rc != 1)
		return rc;
	if (MSG_PART(&m->msgs, th, sas) == NULL)
		return -1;
	MSG_FILL(th->sas, "ss_sp ss_size ss_flags", v);
	return 0;
}

/*
 * Set in c, for thread t of process p, the state that every thread has. comm is
 * the name of the thread. Record a reason if something is missing.
 */
static int
thread_set(struct criumake *m, Criu__Core *c, struct maketask *p,
    struct maketask *t, char *comm)
{
	Criu__ThreadCore *th;
	uint64_t v;
	int rc;

	if ((th = MSG_PART(&m->msgs, c, thread_core)) == NULL ||
	    (rc = regs_set(m, c, p, t)) == -1)
		return -1;
	if (rc == 0) {
		c->thread_core = NULL;
		return 0;
	}
	if (addresses_set(m, c, t) == -1 || (rc = maketask_must(m, t,
	    "pdeath_signal", "d", "signal", &v)) == -1)
		return -1;
	/* criu is the parent of the root process, and would send it on exit */
	if (rc == 1 && p == m->root && v != 0)
		rc = make_note(m, t, NULL, "its parent-death signal, %" PRIu64
		    ", is not restored", v);
	else if (rc == 1)
		MSG_FILL(th, "pdeath_sig", &v);
	if (rc == -1)
		return -1;
	if (MSG_PART(&m->msgs, th, creds) == NULL ||
	    MSG_PART(&m->msgs, th, signals_p) == NULL ||
	    sched_set(m, th, t) == -1 ||
	    creds_set(m, th->creds, p, t) == -1 ||
	    makeseccomp_set(m, p, t, th) == -1 ||
	    makecore_pending(m, th->signals_p, p, t, false) == -1)
		return -1;
	if (p == t) {
		rc = maketask_one(t, "timerslack_ns", "d", "number", &v);
		if (rc == -1)
			return -1;
		if (rc == 1)
			MSG_FILL(th, "timerslack_ns", &v);
	}
	th->has_blk_sigset = true;
	th->blk_sigset = makecore_blocked(t);
	th->comm = comm;
	th->has_cg_set = p->cgset != 0;
	th->cg_set = t->cgset != 0 ? t->cgset : p->cgset;
	if (th->cg_set != p->cgset)
		make_since(m, SINCE_CGROUP);
	return 0;
}

/*
 * Set c to the core of thread t of process p; t may be p.
 */
static int
core_set(struct criumake *m, Criu__Core *c, struct maketask *p,
    struct maketask *t)
{
	enum { NAME = 32 };
	char *name = maketask_text(t, "comm"), *comm, *end;

	makeregs_machine(c, t);
	if ((comm = pool_new(&m->msgs, NAME, 1)) == NULL)
		return -1;
	if (name != NULL) {
		/* the name itself may have newlines */
		if ((end = strrchr(name, '\n')) != NULL && end[1] == '\0')
			*end = '\0';
		strlcpy(comm, name, NAME);
	}
	if (p == t) {
		if (MSG_PART(&m->msgs, c, tc) == NULL)
			return -1;
		c->tc->comm = comm;
		c->tc->task_state = ALIVE;
	}
	if (p == t && maketask_ended(t)) {
		c->tc->task_state = ENDED;
		c->tc->exit_code = (uint32_t)t->stat.v[STAT_EXITCODE];
	}
	if (maketask_ended(t))
		return 0;
	if (thread_set(m, c, p, t, comm) == -1)
		return -1;
	return p == t ? makecore_task(m, c->tc, t) : 0;
}

/*
 * Write core-N.img for thread t of process p; t may be p. Return 0, or -1 with
 * errstr set.
 */
int
makecore_write(struct criumake *m, struct maketask *p, struct maketask *t)
{
	Criu__Core c = CRIU__CORE__INIT;

	return core_set(m, &c, p, t) == -1 ? -1 : make_message(m, CRIU_CORE,
	    &c.base, "core-%u.img", t->pid);
}
