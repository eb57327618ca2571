/*
 * Give new process IDs to the processes of a snapshot that is merged into
 * another, where their IDs are taken.
 */
#include "bisect.h"
#include "merge.h"

CMP(newpid_cmp, struct newpid, old)

/*
 * Return the new ID of the process that has the ID old in m->b. If m->b has no
 * such process, return old itself.
 */
uint64_t
merge_pid(const struct merge *m, uint64_t old)
{
	const struct newpid *p = FIND(m->pid, m->npid, old, old);

	return p == NULL ? old : p->pid;
}

/*
 * Raise the next free ID to a value above pid. The ID to raise is m->nextfile
 * if pid is above all possible process IDs, as IDs of embedded files are;
 * otherwise it is m->next.
 */
static void
number_above(struct merge *m, uint64_t pid)
{
	if (pid <= PID_MAX_LIMIT && pid >= m->next)
		m->next = pid + 1;
	if (pid > PID_MAX_LIMIT && pid >= m->nextfile && pid < UINT32_MAX)
		m->nextfile = pid + 1;
}

/*
 * Choose an ID in the merged snapshot for the process or embedded file that has
 * the ID old in m->b. Keep the ID if m->a does not use it; otherwise choose one
 * that is free in both snapshots. file is true for an embedded file.
 */
static void
number_give(struct merge *m, uint64_t old, bool file)
{
	struct newpid *n;
	uint64_t *next;

	n = &m->pid[m->npid++];
	n->old = n->pid = old;
	if (snap_find(m->a, old) == NULL)
		return;
	next = file || m->next > PID_MAX_LIMIT ? &m->nextfile : &m->next;
	while (snap_find(m->a, *next) != NULL ||
	    snap_find(m->b, *next) != NULL)
		++*next;
	n->pid = (*next)++;
}

CMP_BY(number_cmp, uint64_t, ORDER(*x, *y))

/*
 * Set m->pid to the new IDs of all processes in m->b. If m->b has threads of a
 * process but lacks its first thread, also choose a new ID for the first
 * thread: the other threads could otherwise become threads of a process in
 * m->a. Return 0, or -1 with errstr set.
 */
int
merge_number(struct merge *m)
{
	const struct snap *s[2] = { m->a, m->b };
	uint64_t *lost;
	size_t i, k, n;

	m->pid = pool_new(&m->pool, 2 * m->b->nproc, sizeof *m->pid);
	lost = pool_new(&m->pool, m->b->nproc + 1, sizeof *lost);
	if (m->pid == NULL || lost == NULL)
		return -1;
	m->next = 1;
	m->nextfile = PID_MAX_LIMIT + 1;
	for (k = 0; k < 2; k++)
		for (i = 0; i < s[k]->nproc; i++) {
			number_above(m, s[k]->proc[i]->pid);
			number_above(m, s[k]->proc[i]->leader);
		}
	for (i = n = 0; i < m->b->nproc; i++) {
		number_give(m, m->b->proc[i]->pid,
		    m->b->proc[i]->embedded != NULL);
		lost[n] = m->b->proc[i]->leader;
		n += lost[n] != 0 && snap_find(m->b, lost[n]) == NULL;
	}
	SORT(lost, n, number_cmp);
	for (i = 0; i < n; i++)
		if (i == 0 || lost[i] != lost[i - 1])
			number_give(m, lost[i], false);
	SORT(m->pid, m->npid, newpid_cmp);
	return 0;
}
