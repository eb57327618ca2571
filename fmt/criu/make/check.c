/*
 * Decide whether criu can restore each process: its session, its namespaces,
 * and what it shares with others. Also check its threads: criu restores
 * registers, credentials, scheduling and signals for each thread; all other
 * attributes are those of the process, and a thread that differs in one is
 * refused.
 */
#include "criumake.h"
#include "bisect.h"

/*
 * Return true if criu creates the session of t although its leader has exited.
 * It does so if the parent of t is the init of the pid namespace, or is in the
 * same session and this is true for the parent (prepare_pstree_ids() in criu's
 * pstree.c).
 */
static bool
is_leftover(const struct criumake *m, const struct maketask *t)
{
	if (!maketask_isinit(m->root) || t->sid == 0)
		return false;
	while (t->parent != NULL && t->parent != m->root &&
	    t->parent->sid == t->sid)
		t = t->parent;
	return t->parent != NULL && t->parent == m->root;
}

/*
 * Record an obstacle if the leader of t's session is not restored, and criu
 * does not create the session without it. However, if t and the root process
 * are in the same session, and the root process is not the first in its pid
 * namespace, record only a note that the processes join criu's session.
 */
static int
session_check(struct criumake *m, const struct maketask *t)
{
	if (maketask_leader(m, t->sid) != NULL || is_leftover(m, t))
		return 0;
	if (maketask_isinit(m->root))
		return make_refuse(m, t, NULL, WHY_NEVER, "the leader of its "
		    "session is not in its pid namespace");
	if (t->sid != m->root->sid)
		return make_refuse(m, t, NULL, WHY_NEVER, "the leader of its "
		    "session, %u, is not in the snapshot", t->sid);
	if (t != m->root)
		return 0;
	m->need |= CRIU_SHELL_JOB;
	if (t->sid == 0) /* the session leader is outside the pid namespace */
		return make_note(m, t, NULL, "joins the session of criu when "
		    "it is restored: the leader of its own is not in its pid "
		    "namespace");
	return make_note(m, t, NULL, "joins the session of criu when it is "
	    "restored: the leader of its own, %u, is not in the snapshot",
	    t->sid);
}

/*
 * Record an obstacle for each kind of namespace in which t and the root process
 * differ, except mount namespaces: see makespaces_check().
 */
static int
namespaces_check(struct criumake *m, const struct maketask *t)
{
	static const char *const kind[] = { "ipc", "net", "pid", "time",
	    "user", "uts" };
	struct recfile f, g;
	char name[16];
	size_t i;

	for (i = 0; i < sizeof kind / sizeof *kind; i++) {
		snprintf(name, sizeof name, "ns/%s", kind[i]);
		if (linuxrec_find(&t->rec, name, &f) &&
		    linuxrec_find(&m->root->rec, name, &g) &&
		    !maketask_same(t, m->root, name) &&
		    make_never(m, t, "in another %s namespace than process %"
		    PRIu64 ": cannot be restored", kind[i],
		    m->root->proc->pid) == -1)
			return -1;
	}
	return 0;
}

/*
 * Record an obstacle if new children of t would be in a different pid or time
 * namespace from t. An unreadable link ns/pid_for_children is also an obstacle:
 * the next child would be the first process of its pid namespace.
 */
static int
children_check(struct criumake *m, const struct maketask *t)
{
	static const char *const kind[] = { "pid", "time" };
	struct recfile f, g;
	char name[32];
	size_t i;
	bool knows, same;

	knows = linuxrec_find(&t->rec, "ns/time_for_children", &f);
	for (i = 0; i < sizeof kind / sizeof *kind; i++) {
		snprintf(name, sizeof name, "ns/%s_for_children", kind[i]);
		same = !linuxrec_find(&t->rec, name, &f) ? !knows :
		    linuxrec_find(&t->rec, i == 0 ? "ns/pid" : "ns/time",
		    &g) && f.len == g.len && memcmp(f.data, g.data, f.len) ==
		    0;
		if (!same && make_never(m, t, "its children would be in "
		    "another %s namespace: cannot be restored", kind[i]) == -1)
			return -1;
	}
	return 0;
}

/*
 * Record what t shares with other processes that are to be restored. Set
 * t->files if t shares a descriptor table; criu can restore this only if the
 * parent of t shares the table. Record an obstacle if t shares anything else,
 * because criu restores such sharing only between threads. For each resource,
 * the record of t names the first process that shares it. That process may not
 * be among those restored, so its member first keeps the first restored process
 * that shares the resource.
 */
static int
shares_check(struct criumake *m, struct maketask *t)
{
	static const struct {
		const char	*key;
		const char	*what;	/* name in messages, or NULL for
					   descriptors */
	} share[MAKESHARES] = {
		{ "vm", "memory" }, { "files", NULL },
		{ "fs", "current directory" }, { "sighand", "signal handlers" }
	};
	struct maketask *with, *first;
	struct words w;
	uint64_t pid;
	size_t k;
	int rc;

	rc = maketask_words(t, "shares", &w);
	while (rc != -1 && (rc = words_next(&w)) == 1) {
		for (k = 0; k < MAKESHARES; k++)
			if (strcmp(w.word[0], share[k].key) == 0)
				break;
		if (k == MAKESHARES || !words_form(&w, 1, "d", &pid))
			return words_bad(&w, "vm|files|fs|sighand pid");
		if ((with = maketask_process(m, pid)) == NULL)
			continue;
		if ((first = with->first[k]) == NULL)
			with->first[k] = t;
		else if (share[k].what != NULL)
			rc = make_never(m, t, "shares its %s with process %"
			    PRIu64 ": cannot be restored", share[k].what,
			    first->proc->pid);
		else {
			t->files = first;
			if (t->parent == NULL || t->parent->files != first)
				rc = make_never(m, t, "shares its descriptors "
				    "with process %" PRIu64 ", but not with "
				    "its parent: cannot be restored",
				    first->proc->pid);
		}
	}
	return rc;
}

/*
 * Record an obstacle if the user namespace of t, the root process, cannot be
 * restored: t would then have different privileges. Neither the initial
 * namespace, whose inode number is always the kernel's PROC_USER_INIT_INO, nor
 * one that criu creates is an obstacle.
 */
static int
user_check(struct criumake *m, const struct maketask *t)
{
	static const char first[] = "user:[4026531837]";
	const char *s;

	if (makeusers_read(m) == -1)
		return -1;
	s = m->users ? NULL : maketask_text(t, "ns/user");
	return s == NULL || strcmp(s, first) == 0 ? 0 : make_refuse(m, t, NULL,
	    WHY_USERNS, "its user namespace");
}

/*
 * Return a description of an attribute in t's status file that cannot be
 * restored, or NULL if there is none. See proc_pid_status(5), and the kernel's
 * fs/proc/array.c.
 */
static const char *
status_obstacle(const struct maketask *t)
{
	static const struct never {
		const char	*key;
		const char	*value;
		const char	*why;
	} never[] = {
		{ "Speculation_Store_Bypass", "thread mitigated",
		    "its speculation is restricted" },
		{ "Speculation_Store_Bypass", "thread force mitigated",
		    "its speculation is restricted" },
		{ "SpeculationIndirectBranch", "conditional disabled",
		    "its speculation is restricted" },
		{ "SpeculationIndirectBranch", "conditional force disabled",
		    "its speculation is restricted" },
		{ "x86_Thread_features", "shstk", "a shadow stack" },
		/* the mask of LAM_U57, which leaves bits 57 to 62 out */
		{ "untag_mask", "0x81ffffffffffffff", "tagged addresses" }
	};
	const struct never *n = SEEK_IN(never, status_begins(t->status.data,
	    t->status.len, x->key, x->value));

	return n == NULL ? NULL : n->why;
}

/*
 * Record an obstacle if thread t of process p cannot be restored; t may be p.
 */
static int
thread_check(struct criumake *m, const struct maketask *p,
    const struct maketask *t)
{
	char who[64] = "";
	const char *own, *why;

	if (t != p)
		snprintf(who, sizeof who, ", thread %" PRIu64, t->proc->pid);
	if ((why = status_obstacle(t)) != NULL &&
	    make_never(m, NULL, "process %" PRIu64 "%s: %s: cannot be restored",
	    p->proc->pid, who, why) == -1)
		return -1;
	own = maketask_line(t, "apart");
	return own == NULL ? 0 : make_never(m, NULL, "process %" PRIu64 "%s: "
	    "not shared with its process: %s: cannot be restored",
	    p->proc->pid, who, own);
}

/*
 * Record an obstacle for each thread of process p that cannot be restored.
 */
static int
threads_check(struct criumake *m, const struct maketask *p)
{
	const struct maketask *t;

	if (thread_check(m, p, p) == -1)
		return -1;
	for (t = p->thread; t != NULL; t = t->thread)
		if (!maketask_ended(t) && thread_check(m, p, t) == -1)
			return -1;
	return 0;
}

/*
 * Record an obstacle if values in t's environment were excluded with snap(1)
 * -x, because the snapshot has other bytes in their place.
 */
static int
environ_check(struct criumake *m, struct maketask *t)
{
	const char *why = maketask_text(t, "excluded");

	return why == NULL || (strncmp(why, "env ", 4) != 0 &&
	    strstr(why, "\nenv ") == NULL) ? 0 : make_refuse(m, t, NULL,
	    WHY_PAGES, "values of its environment are not in the snapshot");
}

/*
 * Record an obstacle if process t as a whole cannot be restored. The caller
 * must have set m->root, and checked the processes before t in m->order.
 */
int
makecheck_process(struct criumake *m, struct maketask *t)
{
	const char *why;

	if (session_check(m, t) == -1)
		return -1;
	if (maketask_ended(t) && t == m->root)
		return make_never(m, t, "it is a zombie whose parent is not in "
		    "the snapshot: cannot be restored");
	if (maketask_ended(t))
		return t->stat.v[STAT_THREADS] <= 1 ? 0 : make_never(m, t,
		    "its first thread has ended, but others have not: cannot "
		    "be restored");
	if (namespaces_check(m, t) == -1 || children_check(m, t) == -1 ||
	    shares_check(m, t) == -1 ||
	    (t == m->root && user_check(m, t) == -1) ||
	    threads_check(m, t) == -1 || environ_check(m, t) == -1)
		return -1;
	why = maketask_line(t, "observed");
	return why == NULL ? 0 : make_never(m, t, "it was only observed (%s), "
	    "which is not enough to restore it", why);
}
