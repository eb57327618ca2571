/*
 * List the facts that are known about a process, except its memory; and
 * identify the process at the time of its capture. Records may come from an
 * untrusted snapshot.
 */
#include "facts.h"

/*
 * Add to l the facts from those files of record r that have a single value
 * each.
 */
static int
facts_files(struct factlist *l, const struct linuxrec *r)
{
	static const struct {
		const char	*name;
		enum subject	 subject;
	} files[] = { { "cmdline", SUBJECT_ARGUMENTS },
	    { "exe", SUBJECT_EXECUTABLE }, { "cwd", SUBJECT_DIRECTORY },
	    { "root", SUBJECT_ROOT }, { "cgroup", SUBJECT_CGROUP } };
	struct recfile f;
	char key[64];
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++)
		if (linuxrec_find(r, files[i].name, &f) && factlist_add(l,
		    files[i].subject, 0, "", (const char *)f.data, f.len) == -1)
			return -1;
	for (i = 0; i < r->n; i++) {
		linuxrec_get(r, i, &f);
		if (f.namelen <= 3 || f.namelen >= sizeof key ||
		    memcmp(f.name, "ns/", 3) != 0)
			continue;
		memcpy(key, f.name + 3, f.namelen - 3);
		key[f.namelen - 3] = '\0';
		/* these exist only while a process is in the namespace */
		if (strstr(key, "_for_children") == NULL &&
		    factlist_add(l, SUBJECT_NAMESPACE, 0, key,
		    (const char *)f.data, f.len) == -1)
			return -1;
	}
	return 0;
}

/*
 * Add to l the threads of process leader, except the first, which is the
 * process itself.
 */
static int
facts_threads(struct factlist *l, struct snap *s, const struct proc *leader)
{
	const struct taskstate *st;
	const size_t *at;
	struct proc *p;
	char key[24];
	uint64_t tid;
	size_t i, n;

	if (snap_threads(s, leader->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++) {
		p = s->proc[at[i]];
		if (!proc_isthread(p))
			continue;
		if ((st = state_get(p)) == NULL)
			return -1;
		tid = st->stat.v[STAT_PID];
		snprintf(key, sizeof key, "%" PRIu64, tid);
		if (factlist_add(l, SUBJECT_THREAD, tid, key, st->name,
		    strlen(st->name)) == -1)
			return -1;
		l->v[l->n - 1].id = st->stat.v[STAT_START];
	}
	l->told |= 1U << SUBJECT_THREAD;
	return 0;
}

/*
 * Add to l all facts in r, the record of a process with state st.
 */
static int
facts_record(struct factlist *l, const struct linuxrec *r,
    const struct taskstate *st)
{
	char parent[24];
	struct recfile f;
	int n;

	if (factlist_add(l, SUBJECT_NAME, 0, "", st->name,
	    strlen(st->name)) == -1)
		return -1;
	n = snprintf(parent, sizeof parent, "%" PRIu64,
	    st->stat.v[STAT_PPID]);
	if (linuxrec_find(r, "stat", &f) && factlist_add(l, SUBJECT_PARENT, 0,
	    "", parent, (size_t)n) == -1)
		return -1;
	return facts_files(l, r) == -1 || facts_descriptors(l, r) == -1 ||
	    facts_environ(l, r) == -1 || facts_limits(l, r) == -1 ||
	    facts_status(l, r) == -1 || facts_signals(l, r) == -1 ? -1 : 0;
}

/*
 * Set *l, which must be all zero, to the facts about process p of s. Facts
 * about its memory are left out. The caller frees *l, even after a failure.
 * Return 0, or -1 with errstr set.
 */
int
proc_facts(struct factlist *l, struct snap *s, struct proc *p)
{
	const struct taskstate *st;
	struct linuxrec r;
	int rc;

	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0 && ((st = state_get(p)) == NULL ||
	    facts_record(l, &r, st) == -1 || facts_threads(l, s, p) == -1))
		rc = -1;
	linuxrec_close(&r);
	factlist_sort(l);
	return rc == -1 ? errstr_wrap("process %" PRIu64, p->pid) : 0;
}

/*
 * Set *o to the identity that process or thread p had when it was captured. If
 * p is in a merged snapshot, it may have a different process ID now. Return 0,
 * or -1 with errstr set if its record is damaged.
 */
int
proc_identity(struct identity *o, struct proc *p)
{
	const struct taskstate *st;
	struct recfile f;
	struct scan t;
	uint64_t pid;

	memset(o, 0, sizeof *o);
	o->pid = p->pid;
	if (linuxrec_find(proc_record(p), "origin", &f)) {
		t = scan_begin(f.data, f.len);
		if (scan_number(&t, 10, &pid))
			o->pid = pid;
	}
	if ((st = state_get(p)) == NULL || proc_part(p, &o->part) == -1)
		return errstr_wrap("process %" PRIu64, p->pid);
	o->start = st->stat.v[STAT_START];
	strlcpy(o->name, st->name, sizeof o->name);
	return 0;
}
