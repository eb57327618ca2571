/*
 * Choose the processes for the CRIU images, and write pstree.img, ids-N.img,
 * inventory.img and timens-0.img.
 *
 * All processes must have been in the same namespaces; namespace/spaces.c
 * decides which namespaces criu creates.
 */
#include "criumake.h"
#include "bisect.h"
#include "vec.h"

/*
 * Order processes by capture, then by the pid in "stat", which is their pid at
 * the time of the capture.
 */
CMP_BY(taken_cmp, struct maketask *const,
    (*x)->part != (*y)->part ? ORDER((*x)->part, (*y)->part) :
    ORDER((*x)->stat.v[STAT_PID], (*y)->stat.v[STAT_PID]))

/*
 * Set the parent of each process. Field 4 of a process's stat file is the pid
 * of its parent at the time of the capture.
 */
static int
parents_link(struct criumake *m)
{
	struct maketask key, **v, **found, *t, *p = &key;
	size_t i, n;

	if ((v = pool_new(&m->texts, m->nbypid, sizeof(*v))) == NULL)
		return -1;
	for (i = n = 0; i < m->nbypid; i++)
		if (proc_isprocess(m->bypid[i]->proc))
			v[n++] = m->bypid[i];
	SORT(v, n, taken_cmp);
	for (i = m->snap->nproc; i-- > 0;) {
		if ((t = m->task[i]) == NULL || !proc_isprocess(t->proc))
			continue;
		key.part = t->part;
		key.stat.v[STAT_PID] = t->stat.v[STAT_PPID];
		found = FIND_BY(&p, v, n, taken_cmp);
		if (found == NULL || *found == t)
			continue;
		t->parent = *found;
		t->sibling = t->parent->child;
		t->parent->child = t;
	}
	return 0;
}

/*
 * Find the processes whose parents are not in the snapshot. Set *pid to an
 * array of their pids, which the caller must free, and *n to their number. The
 * caller must have called maketask_read(). Return 0, or -1 with errstr set.
 */
int
maketree_roots(struct criumake *m, uint64_t **pid, size_t *n)
{
	const struct maketask *t;
	size_t i;

	*n = 0;
	if (parents_link(m) == -1 ||
	    (*pid = mem_new(m->snap->nproc + 1, sizeof **pid)) == NULL)
		return -1;
	for (i = 0; i < m->snap->nproc; i++) {
		t = m->task[i];
		if (t != NULL && proc_isprocess(t->proc) && t->parent == NULL)
			(*pid)[(*n)++] = t->proc->pid;
	}
	return 0;
}

/*
 * Set m->root to the process that the user gave. If none was given, use the
 * only process whose parent is not in the snapshot. Fail if there is no such
 * process, or if there are several; errstr then lists them.
 */
static int
root_find(struct criumake *m)
{
	uint64_t *pid, root = m->opts->root;
	struct buf b = { 0 };
	char *names;
	size_t i, n;
	int rc;

	if (maketree_roots(m, &pid, &n) == -1)
		return -1;
	for (i = 0; i < n; i++)
		buf_printf(&b, "%s%" PRIu64, i == 0 ? "" : ", ", pid[i]);
	rc = (names = buf_text(&b)) == NULL ? -1 : 0;
	if (rc == 0 && root == 0 && n == 0)
		rc = errstr_set("no root process: every process has its parent "
		    "in the snapshot");
	else if (rc == 0 && root == 0 && n > 1)
		rc = errstr_set("several process trees, but only one can be "
		    "restored; use -p with one of %s", names);
	else if (rc == 0 && root == 0)
		root = pid[0];
	free(names);
	free(pid);
	m->root = maketask_find(m, root);
	if (rc == 0 && (m->root == NULL || !proc_isprocess(m->root->proc)))
		rc = errstr_set("no process %" PRIu64 " in the snapshot", root);
	return rc;
}

/*
 * Set m->order to the root process and its descendants, parents before
 * children. A process that is its own ancestor is listed once.
 */
static int
order_make(struct criumake *m)
{
	struct maketask *t;
	size_t k;

	m->order = pool_new(&m->pool, m->snap->nproc, sizeof(*m->order));
	if (m->order == NULL)
		return -1;
	m->root->parent = NULL;
	m->root->chosen = true;
	m->order[m->norder++] = m->root;
	for (k = 0; k < m->norder; k++)
		for (t = m->order[k]->child; t != NULL; t = t->sibling)
			if (!t->chosen) {
				t->chosen = true;
				t->place = m->norder;
				m->order[m->norder++] = t;
			}
	return 0;
}

/*
 * Set m->root and m->order to the processes to restore. Record an obstacle for
 * each of them that cannot be restored. Return 0, or -1 with errstr set.
 */
int
maketree_choose(struct criumake *m)
{
	size_t i;

	if (root_find(m) == -1 || order_make(m) == -1)
		return -1;
	for (i = 0; i < m->norder; i++)
		if (makecheck_process(m, m->order[i]) == -1)
			return -1;
	return 0;
}

/*
 * Write ids-N.img, which records the resources that process t shares with other
 * processes. Return 0, or -1 with errstr set.
 */
int
maketree_ids(struct criumake *m, struct maketask *t)
{
	Criu__Ids ids = CRIU__IDS__INIT;

	ids.vm_id = ids.fs_id = ids.sighand_id = maketask_id(t);
	ids.files_id = maketask_id(t->files);
	makespaces_ids(m, &ids, t);
	return make_message(m, CRIU_IDS, &ids.base, "ids-%u.img", t->pid);
}

/*
 * Append process t and its threads to b, the content of pstree.img.
 */
static int
pstree_entry(struct criumake *m, struct buf *b, const struct maketask *t)
{
	Criu__PstreeEntry e = CRIU__PSTREE_ENTRY__INIT;
	const struct maketask *thread;
	size_t n = 1;

	for (thread = t->thread; thread != NULL; thread = thread->thread)
		n++;
	e.pid = t->pid;
	e.ppid = t->parent == NULL ? 0 : t->parent->pid;
	e.pgid = t->pgid;
	e.sid = t->sid;
	if (MSG_MANY(&m->msgs, &e, threads, n) == NULL)
		return -1;
	e.n_threads = 0;
	e.threads[e.n_threads++] = t->pid;
	thread = maketask_ended(t) ? NULL : t->thread;
	for (; thread != NULL; thread = thread->thread)
		if (maketask_runs(thread))
			e.threads[e.n_threads++] = thread->pid;
	criuimg_add(b, &e.base);
	pool_free(&m->msgs);
	return 0;
}

/*
 * Write timens-0.img with the clocks at the time of the capture, if they are
 * recorded.
 */
static int
timens_write(struct criumake *m)
{
	Criu__Timespec mono = CRIU__TIMESPEC__INIT;
	Criu__Timespec boot = CRIU__TIMESPEC__INIT;
	Criu__Timens tn = CRIU__TIMENS__INIT;
	struct words w;
	uint64_t v[2];
	size_t i;
	int rc;

	if ((rc = maketask_words(m->root, "clocks", &w)) != 1)
		return rc;
	for (i = 0; i < 2; i++)
		if (words_next(&w) != 1 || !words_form(&w, 1, "d", &v[i]) ||
		    strcmp(w.word[0], i == 0 ? "monotonic" : "boottime") != 0)
			return words_bad(&w, "monotonic|boottime nanoseconds");
	mono.sec = v[0] / NSEC;
	mono.nsec = v[0] % NSEC;
	boot.sec = v[1] / NSEC;
	boot.nsec = v[1] % NSEC;
	tn.monotonic = &mono;
	tn.boottime = &boot;
	return make_message(m, CRIU_TIMENS, &tn.base, "timens-0.img");
}

/*
 * Set in inv the method that criu must use to unlock TCP connections.
 */
static void
lock_put(const struct criumake *m, Criu__Inventory *inv)
{
	inv->has_network_lock_method = m->lock != NULL || m->net != NULL;
	if (m->lock != NULL && *m->lock != '\0') {
		inv->network_lock_method = CRIU_LOCK_NFT;
		inv->dump_criu_run_id = m->lock;
	} else if (m->net != NULL)
		/* Otherwise criu would remove iptables(8) rules that were
		   never set there. */
		inv->network_lock_method = CRIU_LOCK_NONE;
	else
		inv->network_lock_method = CRIU_LOCK_IPTABLES;
}

/*
 * Write pstree.img, inventory.img and timens-0.img. Return 0, or -1 with
 * errstr set.
 */
int
maketree_write(struct criumake *m)
{
	Criu__Inventory inv = CRIU__INVENTORY__INIT;
	Criu__Ids ids = CRIU__IDS__INIT;
	struct made *im;
	size_t i;

	if ((im = make_image(m, CRIU_PSTREE, "pstree.img")) == NULL)
		return -1;
	for (i = 0; i < m->norder; i++)
		if (pstree_entry(m, &im->b, m->order[i]) == -1)
			return -1;
	if (timens_write(m) == -1 || makespaces_write(m) == -1 ||
	    makemount_write(m) == -1 || makecgroup_write(m) == -1)
		return -1;
	ids.vm_id = ids.files_id = ids.fs_id = ids.sighand_id = CRIUS_IDS;
	makespaces_ids(m, &ids, NULL);
	inv.img_version = 2;
	inv.has_fdinfo_per_id = inv.fdinfo_per_id = true;
	inv.has_ns_per_id = inv.ns_per_id = true;
	inv.root_ids = &ids;
	inv.has_root_cg_set = m->cgroups != NULL;
	inv.root_cg_set = CRIUS_IDS;
	inv.has_tcp_close = inv.tcp_close = (m->need & CRIU_TCP_CLOSE) != 0;
	inv.has_lsmtype = m->lsm != LSM_NONE;
	inv.lsmtype = m->lsm;
	lock_put(m, &inv);
	return make_message(m, CRIU_INVENTORY, &inv.base, "inventory.img");
}
