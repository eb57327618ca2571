/*
 * The mappings of a process, before it is stopped and then.  To read smaps
 * takes ten times as long as to read maps, for the kernel looks at each page;
 * so it is read before, and what it tells is right for as long as maps is the
 * same (proc_pid_maps(5), proc_pid_smaps(5)).
 */
#include "io/io.h"
#include "set.h"
#include "state/state.h"

#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void
bytes_drop(struct bytes *b)
{
	data_free(b->data);
	memset(b, 0, sizeof *b);
}

/*
 * Add mapping m to what process p has in common with others.
 */
static void
common_note(struct common *c, const struct smap *m)
{
	const struct mapping *z = &m->told;

	if (m->vma.flags & VMA_SHARED || m->vma.ino != 0 || m->vma.dev != 0)
		return;
	c->kb += z->shared;
	c->own += z->private;
	if (z->shared <= c->most)
		return;
	c->most = z->shared;
	c->start = m->vma.start;
	c->end = m->vma.end;
}

/*
 * Parse smaps of process p of set l, for its mappings and what is to be copied
 * of them.
 */
static int
smaps_parse(struct live *l, struct lproc *p)
{
	struct scan t = scan_begin(p->task.smaps.data, p->task.smaps.len);
	struct smap m;
	int rc;

	while ((rc = smap_next(&t, &m)) == 1) {
		if (vmas_addsmap(&p->task.vma, &m) == -1)
			return -1;
		shmems_note(l, &m);
		common_note(&p->common, &m);
		data_forget(p->task.smaps.data, (size_t)(t.s -
		    (const char *)p->task.smaps.data));
	}
	return rc;
}

/*
 * Look at the mappings of process p of set l, which runs: smaps, and maps after
 * it.  What cannot be had now is read when it is stopped.
 */
void
mappings_look(struct live *l, struct lproc *p)
{
	if (proc_readmany(p->pid, 0, "smaps", &p->task.smaps) == -1)
		return;
	if (proc_read(p->pid, 0, "maps", &p->task.maps) == -1)
		p->task.maps = (struct bytes){ 0 };
	if (smaps_parse(l, p) == -1) {
		mappings_free(p);
		return;
	}
	if (p->task.maps.data != NULL &&
	    !vmas_match(&p->task.maps, &p->task.vma))
		bytes_drop(&p->task.maps);
}

/*
 * Have smaps of before the stop for smaps of now, if what it tells can be told
 * of the mappings of now, which maps of the task has.  Return 1 if so, else 0;
 * -1 with errstr.
 */
static int
smaps_keep(struct lproc *p)
{
	struct task *t = &p->task;
	struct vmas was = t->vma;
	int rc;

	memset(&t->vma, 0, sizeof t->vma);
	if (t->maps.data == NULL || t->smaps.data == NULL)
		rc = 0;
	else if (vmas_parse(&t->vma, t->maps.data, t->maps.len) == -1)
		rc = -1;
	else
		rc = vmas_refit(&t->vma, &was);
	vmas_free(&was);
	if (rc == 1)
		p->maps = MAPS_REFIT;
	return rc;
}

/*
 * Set the mappings of process p, which is stopped, to what its smaps tells, or
 * maps in place of that.  Return 0, or -1 with errstr.
 */
static int
vmas_now(struct lproc *p)
{
	struct scan t = scan_begin(p->task.smaps.data, p->task.smaps.len);
	struct smap m;
	int rc;

	vmas_free(&p->task.vma);
	while ((rc = smap_next(&t, &m)) == 1) {
		if (vmas_addsmap(&p->task.vma, &m) == -1)
			return -1;
		/* of before the stop it would not hold: fork(2) shares */
		if (m.told.flags & VMF_SIZES && m.told.shared == 0)
			p->task.vma.v[p->task.vma.n - 1].flags |= VMA_ALONE;
	}
	return rc;
}

/*
 * Read maps of process p, which is stopped, for mappings_read, and see whether
 * that is as it was.  Any thread may.
 */
void
mappings_peek(struct lproc *p)
{
	struct bytes now;

	(void)proc_read(p->mmtid, 0, "maps", &now);
	p->maps = now.data != NULL && now.len == p->task.maps.len &&
	    memcmp(now.data, p->task.maps.data, now.len) == 0 ? MAPS_STOP :
	    MAPS_BEFORE;
	bytes_drop(&p->task.maps);
	p->task.maps = now;
}

/*
 * Read the mappings of process p, which is stopped, unless that was done, after
 * mappings_peek: smaps, perhaps to be refitted (mappings_smaps), and vma.
 * Return 0; -1 with errstr, and errno where they cannot be read.
 */
int
mappings_read(struct lproc *p)
{
	int rc;

	if (p->maps != MAPS_BEFORE)
		return 0;
	if ((rc = smaps_keep(p)) == 0) {
		bytes_drop(&p->task.smaps);
		if (proc_readmany(p->mmtid, 0, "smaps", &p->task.smaps) == -1 &&
		    proc_read(p->mmtid, 0, "maps", &p->task.smaps) == -1)
			return errno == ESRCH || errno == ENOENT ?
			    errstr_set("process %d exited", p->pid) :
			    errstr_sys("/proc/%d/maps", p->mmtid);
		if ((rc = vmas_now(p)) == 0)
			p->maps = MAPS_STOP;
	}
	return rc == -1 ? -1 : 0;
}

/*
 * Put into b what is told in place of smaps of before the stop, where that has
 * other mappings than maps of the stop: smaps of now, of process p while that
 * stands still, or maps alone, as of a kernel without smaps.
 */
static void
smaps_replace(const struct lproc *p, const struct bytes *maps, struct bulk *b)
{
	struct bytes now;

	bulk_free(b);
	if (p->clone == 0 && proc_readmany(p->mmtid, 0, "smaps", &now) == 0) {
		bulk_add(b, now.data, now.len);
		data_free(now.data);
	} else
		bulk_add(b, maps->data, maps->len);
}

/*
 * Make of *smaps, which is that of process p from before the stop, what smaps
 * told in the stop, when maps was so; where that cannot be done, it is as if
 * there were no smaps.  Return 0, or -1 with errstr.
 */
int
mappings_smaps(const struct lproc *p, const struct bytes *maps,
    struct bytes *smaps)
{
	struct bulk b = { 0 };
	struct bytes now;
	int rc;

	if (p->maps != MAPS_REFIT)
		return 0;
	rc = smaps_refit(&b, scan_begin(maps->data, maps->len),
	    scan_begin(smaps->data, smaps->len));
	if (rc == 0)
		smaps_replace(p, maps, &b);
	if (rc == -1) {
		bulk_free(&b);
		return -1;
	}
	if (bulk_finish(&b, &now.data, &now.len) == -1)
		return -1;
	data_free(smaps->data);
	*smaps = now;
	return 0;
}

/*
 * Return true if processes a and b have the same memory, or may have it:
 * kcmp(2).
 */
bool
lproc_shares(const struct lproc *a, const struct lproc *b)
{
	return syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0L, 0L) <= 0;
}

/*
 * Free what mappings_look has found of process p.
 */
void
mappings_free(struct lproc *p)
{
	bytes_drop(&p->task.smaps);
	bytes_drop(&p->task.maps);
	vmas_free(&p->task.vma);
}
