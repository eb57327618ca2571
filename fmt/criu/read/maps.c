/*
 * Convert the mappings in an mm image to those that the kernel shows in
 * /proc/PID/maps.
 */
#include "read.h"
#include "bisect.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

/*
 * Return the name of a private anonymous mapping: "[heap]", "[stack]" or "".
 * Choose it as the kernel's fs/proc/task_mmu.c does.
 */
static const char *
anon_name(const Criu__Mm *mm, const Criu__Vma *v)
{
	if (v->status & CRIU_HEAP || (v->start < mm->brk &&
	    v->end > mm->start_brk))
		return "[heap]";
	if (v->start <= mm->start_stack && v->end >= mm->start_stack)
		return "[stack]";
	return mm->start_stack == 0 && v->flags & MAP_GROWSDOWN ? "[stack]" :
	    "";
}

/*
 * Set the name, device and inode of m to those of mapping v. If v maps System V
 * shared memory, note that in the object, which then gets the same name.
 */
static int
vma_name(struct criureader *r, const Criu__Mm *mm, const Criu__Vma *v,
    struct vma *m)
{
	const char *name = v->status & CRIU_VSYSCALL ? "[vsyscall]" :
	    v->status & CRIU_VVAR ? "[vvar]" :
	    v->status & CRIU_VDSO ? "[vdso]" :
	    v->status & CRIU_AIORING ? "/[aio] (deleted)" : NULL;
	const struct criufile *f;
	struct criushm *shm;

	if (name == NULL &&
	    v->status & (CRIU_FILE_PRIVATE | CRIU_FILE_SHARED)) {
		if ((f = criufile_mapped(r, v)) == NULL)
			return errstr_set("no file %" PRIu64 " in files.img",
			    v->shmid);
		name = f->name;
		m->dev = f->dev;
		m->ino = f->dev != 0 ? f->ino : 0;
	} else if (name == NULL &&
	    v->status & (CRIU_ANON_SHARED | CRIU_SYSVIPC)) {
		/* shared memory without an entry in files.img */
		name = v->status & CRIU_SYSVIPC ? "/SYSV00000000 (deleted)" :
		    "/dev/zero (deleted)";
		m->dev = makedev(0, 1);
		m->ino = v->shmid;
		shm = FIND(r->shm, r->nshm, id, v->shmid);
		if (shm != NULL && v->status & CRIU_SYSVIPC)
			shm->sysv = true;
	}
	m->name = str_dup(name != NULL ? name : anon_name(mm, v));
	return m->name == NULL ? -1 : 0;
}

static int
vma_make(struct criureader *r, struct criutask *t, const Criu__Vma *v)
{
	struct vmas *l = &t->task.vma;
	struct vma m = { .start = v->start, .end = v->end };

	if (v->start >= v->end || v->start % r->page != 0 ||
	    v->end % r->page != 0 || v->pgoff % r->page != 0)
		return errstr_set("empty or not page-aligned");
	if (l->n > 0 && v->start < l->v[l->n - 1].end)
		return errstr_set("begins below the end of the mapping at %"
		    PRIx64, l->v[l->n - 1].start);
	m.flags = vma_flags(v->prot, v->flags);
	if (v->status & (CRIU_FILE_PRIVATE | CRIU_FILE_SHARED |
	    CRIU_ANON_SHARED | CRIU_SYSVIPC))
		m.off = v->pgoff;
	if (vma_name(r, t->mm, v, &m) == -1)
		return -1;
	return vmas_add(l, &m);
}

/*
 * Add the mappings in t->mm to process t. Skip guard regions, which newer
 * versions of criu list after the mappings. Return 0, or -1 with errstr set.
 */
int
criumaps_make(struct criureader *r, struct criutask *t)
{
	const Criu__Vma *v;
	size_t i;

	for (i = 0; i < t->mm->n_vmas; i++) {
		v = t->mm->vmas[i];
		if (!(v->status & CRIU_GUARD) && vma_make(r, t, v) == -1)
			return errstr_wrap("%s/mm-%" PRIu64 ".img: mapping %zu "
			    "at %" PRIx64, r->dir, t->proc->pid, i + 1,
			    v->start);
	}
	return 0;
}
