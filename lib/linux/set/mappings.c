/*
 * The mappings of a process, before it is stopped and in the stop. To read
 * smaps takes ten times as long as to read maps, because the kernel looks at
 * each page. So smaps is read before the stop, and stays valid as long as maps
 * does not change (proc_pid_maps(5), proc_pid_smaps(5)).
 */
#include "io/io.h"
#include "set.h"
#include "state/state.h"

#include <sys/syscall.h>

#include <linux/kcmp.h>

#include <unistd.h>

static void
bytes_drop(struct bytes *b)
{
	data_free(b->data);
	memset(b, 0, sizeof *b);
}

/*
 * Add the sizes of mapping m to c if m is private and has no file.
 */
static void
common_note(struct common *c, const struct smap *m)
{
	const struct mapping *z = &m->mapping;

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
 * Parse smaps of process p into p->task.vma, and record which memory will have
 * to be copied while the process is stopped.
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
 * Read smaps, then maps, of process p, which is running. If that fails, or if
 * the two do not match, mappings_read() reads them again while the process is
 * stopped.
 */
void
mappings_look(struct live *l, struct lproc *p)
{
	if (proc_smaps(p->pid, &p->task.smaps) == -1)
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
 * Return true if the maps file of process p is as it was when it was last read.
 */
static bool
maps_same(const struct lproc *p)
{
	struct bytes now;
	bool same;

	if (proc_read(p->pid, 0, "maps", &now) == -1)
		return true;
	same = now.len == p->task.maps.len && (now.len == 0 ||
	    memcmp(now.data, p->task.maps.data, now.len) == 0);
	bytes_drop(&now);
	return same;
}

/*
 * Read smaps and maps of process p, which is running, again if its mappings
 * have changed since mappings_look(). The kernel takes long to show smaps of a
 * large process, so mappings_read() should not have to read it in the stop.
 */
void
mappings_relook(struct live *l, struct lproc *p)
{
	enum { TRIES = 3 };
	const uint64_t shmem = l->shmem;
	int i;

	for (i = 0; i < TRIES && !maps_same(p); i++) {
		mappings_free(p);
		mappings_look(l, p);
		l->shmem = shmem;	/* its memory was already counted */
	}
}

/*
 * Try to keep the smaps of process p that was read before the stop. Parse the
 * current maps, and copy to each mapping its flags from smaps. Return 1 on
 * success, 0 if smaps must be read again, or -1 with errstr set.
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
 * Set the mappings of process p, which is stopped, from its smaps, or from its
 * maps if the kernel has no smaps.
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
		/* not valid if read before the stop: fork(2) may share it */
		if (m.mapping.flags & VMF_SIZES_KNOWN && m.mapping.shared == 0)
			p->task.vma.v[p->task.vma.n - 1].flags |= VMA_ALONE;
	}
	return rc;
}

/*
 * Read the maps file of process p, which must be stopped. Record for
 * mappings_read() whether it is the same as before the stop. Any thread may
 * call this.
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
 * Update vma and smaps of process p, which must be stopped. The caller must
 * have called mappings_peek(). mappings_smaps() may still have to correct
 * smaps. Return 0, or -1 with errstr set; errno is also set if a file cannot be
 * read.
 */
int
mappings_read(struct lproc *p)
{
	int rc;

	if (p->maps != MAPS_BEFORE)
		return 0;
	if ((rc = smaps_keep(p)) == 0) {
		bytes_drop(&p->task.smaps);
		if (proc_smaps(p->mmtid, &p->task.smaps) == -1 &&
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
 * Fill b with a replacement for the smaps of process p, which no longer fits
 * the mappings of p. If p is still stopped, the replacement is its current
 * smaps. Otherwise it is maps, as on a kernel without smaps.
 */
static void
smaps_replace(const struct lproc *p, const struct bytes *maps, struct bulk *b)
{
	struct bytes now;

	bulk_free(b);
	if (p->clone == 0 && proc_smaps(p->mmtid, &now) == 0) {
		bulk_add(b, now.data, now.len);
		data_free(now.data);
	} else
		bulk_add(b, maps->data, maps->len);
}

/*
 * Make *smaps, which was read from process p before the stop, fit the mappings
 * in maps, which was read during the stop. If *smaps cannot be corrected,
 * replace it as smaps_replace() does. Return 0, or -1 with errstr set.
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
 * Return true if processes a and b share their memory, or if kcmp(2) cannot
 * determine that. Two processes marked "alone" do not share memory: only a new
 * process can share the memory of its parent, and a new process is not marked.
 */
bool
lproc_shares(const struct lproc *a, const struct lproc *b)
{
	return !(a->alone && b->alone) &&
	    syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0L, 0L) <= 0;
}

/*
 * Free the smaps, maps and mappings of process p, and forget the sizes from
 * smaps.
 */
void
mappings_free(struct lproc *p)
{
	bytes_drop(&p->task.smaps);
	bytes_drop(&p->task.maps);
	vmas_free(&p->task.vma);
	p->common = (struct common){ 0 };
}
