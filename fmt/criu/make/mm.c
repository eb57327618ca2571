/*
 * Write mm-N.img, the address space of a process; memory.c writes its
 * pagemap-N.img.
 */
#include "criumake.h"
#include "bisect.h"

#include <sys/mman.h>

#include <fcntl.h>

#ifndef MAP_DROPPABLE
enum { MAP_DROPPABLE = 8 };	/* value from uapi/linux/mman.h */
#endif

static const struct {
	enum vmflag	 flag;
	unsigned int	 madv;
} advice[] = {
	{ VMF_SEQUENTIAL, MADV_SEQUENTIAL }, { VMF_RANDOM, MADV_RANDOM },
	{ VMF_DONTFORK, MADV_DONTFORK }, { VMF_MERGEABLE, MADV_MERGEABLE },
	{ VMF_HUGEPAGE, MADV_HUGEPAGE }, { VMF_NOHUGEPAGE, MADV_NOHUGEPAGE },
	{ VMF_DONTDUMP, MADV_DONTDUMP }, { VMF_WIPEONFORK, MADV_WIPEONFORK }
};

#define HUGE_NAME "/anon_hugepage"	/* prefix of a file name:
					   mm/hugetlb.c of Linux */

struct smapfacts { /* facts about a mapping, from the file "smaps" */
	unsigned int	 flag;	/* bits of enum vmflag */
	uint64_t	 page;	/* page size in bytes; 0: not known */
};

/*
 * Read smaps of t, and set facts[i] to its facts about mapping i.
 */
static int
smaps_read(struct maketask *t, struct smapfacts *facts)
{
	const struct vma *v;
	struct recfile f;
	struct scan text;
	struct smap sm;
	int rc;

	linuxrec_find(&t->rec, "smaps", &f);
	text = scan_begin(f.data, f.len);
	while ((rc = smap_next(&text, &sm)) == 1) {
		v = vmas_find(&t->maps, sm.vma.start);
		if (v != NULL && v->start == sm.vma.start)
			facts[v - t->maps.v] = (struct smapfacts){
			    sm.mapping.flags, sm.page };
	}
	return rc;
}

/*
 * Return the advice for a mapping (madvise(2)) as a set with a bit for each
 * MADV_ value. flag has the mapping's bits of enum vmflag.
 */
static uint64_t
advice_get(unsigned int flag)
{
	uint64_t madv;
	size_t i;

	for (madv = 0, i = 0; i < sizeof advice / sizeof *advice; i++)
		if (flag & advice[i].flag)
			madv |= (uint64_t)1 << advice[i].madv;
	return madv;
}

static bool
name_begins(const struct vma *v, const char *s)
{
	return strncmp(v->name, s, strlen(s)) == 0;
}

static bool
is_device(const struct vma *v)
{
	return v->flags & VMA_DEVICE || (name_begins(v, "/dev/") &&
	    !name_begins(v, "/dev/shm/") && !name_begins(v, "/dev/zero") &&
	    !name_begins(v, "/dev/hugepages"));
}

/*
 * Return true if v maps memory that processes can share. Anonymous huge pages
 * count as well, because the kernel keeps them in a file.
 */
static bool
is_shm(const struct vma *v)
{
	return name_begins(v, "/memfd:") || name_begins(v, HUGE_NAME) ||
	    strcmp(v->name, "/dev/zero (deleted)") == 0 ||
	    (v->flags & VMA_SHARED &&
	    (name_begins(v, "/dev/zero") || name_begins(v, "[anon_shmem:")));
}

/*
 * Return the reason why mapping v cannot be restored, and set *kind to the
 * class of the reason. Return NULL if v can be restored.
 */
static const char *
vma_obstacle(const struct vma *v, const struct smapfacts *facts,
    enum makewhy *kind)
{
	static const struct never {
		const char	*name;	/* prefix of the mapping's name, or
					   NULL */
		unsigned int	 flag;	/* matches mappings that have at least
					   one of these bits of enum vmflag */
		enum makewhy	 kind;
		const char	*why;
	} never[] = {
		{ "anon_inode:[io_uring]", 0, WHY_IO_URING,
		    "a ring of io_uring" },
		{ "/secretmem", 0, WHY_SECRETMEM,
		    "memory that only the process can read" },
		{ "secretmem", 0, WHY_SECRETMEM,
		    "memory that only the process can read" },
		{ NULL, VMF_SHADOW, WHY_SHSTK, "a shadow stack" },
		{ NULL, VMF_UFFD, WHY_USERFAULTFD,
		    "memory registered with userfaultfd" },
		{ NULL, VMF_DEVICE, WHY_DEVICE, "a device" }
	};
	const unsigned int flag = facts->flag;
	const struct never *n = SEEK_IN(never, flag & x->flag ||
	    (x->name != NULL && name_begins(v, x->name)));

	if (n != NULL) {
		*kind = n->kind;
		return n->why;
	}
	*kind = WHY_DEVICE;
	if (is_device(v))
		return "a device";
	*kind = WHY_HUGETLB;
	if (flag & VMF_HUGETLB && (!is_shm(v) || facts->page == 0))
		return name_begins(v, "/SYSV") ?
		    "huge pages of System V shared memory" :
		    "huge pages of a hugetlbfs file";
	*kind = WHY_OTHER;
	return *v->name != '/' && *v->name != '[' && *v->name != '\0' ?
	    "a file that criu cannot map" : NULL;
}

/*
 * Return true if the kernel made mapping v (vdso(7)).
 */
static bool
is_kernels(const struct vma *v)
{
	return strcmp(v->name, "[vdso]") == 0 || name_begins(v, "[vvar") ||
	    strcmp(v->name, "[vsyscall]") == 0;
}

/*
 * Set e to refer to the file or shared memory that v maps. Return 1 on success,
 * 0 if v cannot be restored (the reason is recorded), or -1 with errstr set.
 */
static int
vma_file(struct criumake *m, struct maketask *t, const struct vma *v,
    const struct smapfacts *facts, Criu__Vma *e)
{
	struct makeshm *o;
	uint32_t id;
	int rc;

	e->pgoff = v->off;
	e->has_fdflags = true;
	e->fdflags = v->flags & VMA_SHARED && (facts->flag & VMF_MAYWRITE ||
	    v->flags & VMA_WRITE) ? O_RDWR : O_RDONLY;
	if (makesysv_is(v))
		return makesysv_mapped(m, t, v, e);
	if (is_shm(v)) {
		if ((o = makeshm_get(m, v->dev, v->ino, t)) == NULL)
			return make_refuse(m, t, NULL, WHY_SHM, "mapping at %"
			    PRIx64 ": the content of %s is not in the "
			    "snapshot",
			    v->start, v->name);
		if (facts->flag & VMF_HUGETLB)
			o->huge = facts->page;
		rc = makeshm_mapped(m, o, &id);
		e->status |= CRIU_MAPS_MEMFD;
	} else
		rc = makereg_mapped(m, t, v, &id);
	if (rc != 1)
		return rc;
	e->shmid = id;
	e->status |= v->flags & VMA_SHARED ? CRIU_FILE_SHARED :
	    CRIU_FILE_PRIVATE;
	return 1;
}

/*
 * Set e to refer to the packet socket that v maps. Return 1 on success, 0 if v
 * cannot be restored (the reason is recorded), or -1 with errstr set.
 */
static int
vma_socket(struct criumake *m, struct maketask *t, const struct vma *v,
    Criu__Vma *e)
{
	uint32_t id = 0;
	int rc;

	rc = makepacket_mapped(m, t, v, &id);
	e->shmid = id;
	e->pgoff = v->off;
	return rc == 1 && id != 0 ? 1 : rc == -1 ? -1 : 0;
}

/*
 * Set e to the entry for mapping v of t. Return 1 on success, 0 if v cannot be
 * restored (the reason is recorded), or -1 with errstr set.
 */
static int
vma_set(struct criumake *m, struct maketask *t, const struct vma *v,
    const struct smapfacts *facts, Criu__Mm *mm, Criu__Vma *e)
{
	const unsigned int flag = facts->flag;
	enum makewhy kind;
	const char *why;

	e->start = v->start;
	e->end = v->end;
	e->prot = (v->flags & VMA_READ ? PROT_READ : 0U) |
	    (v->flags & VMA_WRITE ? PROT_WRITE : 0U) |
	    (v->flags & VMA_EXEC ? PROT_EXEC : 0U);
	e->flags = v->flags & VMA_SHARED ? MAP_SHARED : MAP_PRIVATE;
	e->status = CRIU_REGULAR;
	e->fd = -1;
	if (is_kernels(v)) {
		e->flags |= MAP_ANONYMOUS;
		e->status |= CRIU_ANON_PRIVATE | (name_begins(v, "[vdso]") ?
		    CRIU_VDSO : CRIU_VVAR);
		return 1;
	}
	if (name_begins(v, "socket:[")) {
		e->status |= CRIU_SOCKET;
		return vma_socket(m, t, v, e);
	}
	if (vma_isring(v)) {
		e->status = CRIU_AIORING;
		return makering_add(m, t, v, mm);
	}
	if ((why = vma_obstacle(v, facts, &kind)) != NULL) {
		if (kind == WHY_IO_URING && t->ring)
			return 0;	/* the io_uring is already recorded */
		t->ring |= kind == WHY_IO_URING;
		return make_unmapped(m, t, v, kind, why);
	}
	e->flags |= (flag & VMF_GROWSDOWN ? MAP_GROWSDOWN : 0U) |
	    (flag & VMF_LOCKED ? MAP_LOCKED : 0U) |
	    (flag & VMF_NORESERVE ? MAP_NORESERVE : 0U) |
	    (flag & VMF_HUGETLB ? MAP_HUGETLB | makeshm_huge(facts->page) : 0U);
	/* shared memory may have a name given by prctl(2): [anon_shmem:NAME] */
	if (v->flags & VMA_SHARED ||
	    (*v->name == '/' && !name_begins(v, HUGE_NAME) &&
	    (is_shm(v) || !name_begins(v, "/dev/zero"))))
		return vma_file(m, t, v, facts, e);
	e->flags |= MAP_ANONYMOUS;
	if (flag & VMF_DROPPABLE)
		e->flags = (e->flags & ~(unsigned int)MAP_PRIVATE) |
		    MAP_DROPPABLE;
	e->status |= CRIU_ANON_PRIVATE;
	if (strcmp(v->name, "[heap]") == 0)
		e->status |= CRIU_HEAP;
	return 1;
}

/*
 * Return the pagemap flags for pages of mapping v, or 0 if the pagemap does not
 * list them. Set PE_LAZY for pages that criu(8) itself would mark as lazy
 * (vma_entry_can_be_lazy()), but not for the stack, which is needed at once.
 */
static unsigned int
pages_flags(const struct vma *v, const Criu__Vma *e)
{
	const unsigned int kind = MAP_ANONYMOUS | MAP_PRIVATE;
	const unsigned int not = MAP_LOCKED | MAP_GROWSDOWN | MAP_HUGETLB;

	if (e->status & CRIU_AIORING)
		return PE_PRESENT;
	if (v->flags & VMA_SHARED || e->status & (CRIU_VVAR | CRIU_SOCKET))
		return 0;
	return (e->flags & (kind | not)) == kind &&
	    !(e->status & CRIU_VDSO) ? PE_PRESENT | PE_LAZY : PE_PRESENT;
}

/*
 * Append the guard regions of t (MADV_GUARD_INSTALL) to mm, after its mappings.
 * Split a region where a mapping ends. If the user asked to leave guard regions
 * out, append none and record a reason.
 */
static int
guards_add(struct criumake *m, const struct maketask *t, Criu__Mm *mm)
{
	const size_t n = mm->n_vmas;
	const struct image *im = t->proc->mem;
	const struct missing *x;
	const Criu__Vma *v;
	Criu__Vma *e;
	size_t i, k;

	for (i = k = 0; im != NULL && i < im->nmissing && k < n;) {
		x = &im->missing[i];
		v = mm->vmas[k];
		if (x->start < v->end && v->start < x->end &&
		    strcmp(x->reason, "guard") == 0) {
			if ((e = MSG_PUSH(&m->msgs, mm, vmas)) == NULL)
				return -1;
			e->start = x->start > v->start ? x->start : v->start;
			e->end = x->end < v->end ? x->end : v->end;
			e->status = CRIU_GUARD;
			e->fd = -1;
		}
		if (x->end <= v->end)
			i++;
		else
			k++;
	}
	if (mm->n_vmas == n)
		return 0;
	if (m->opts->leave >> WHY_GUARD & 1) {
		mm->n_vmas = n;
		return make_refuse(m, t, NULL, WHY_GUARD, "guard pages");
	}
	make_since(m, SINCE_GUARD);
	return 0;
}

/*
 * Set the mappings in mm to those of t, and set t->pages. facts has the facts
 * from smaps, one element for each mapping. As in criu, [vvar] and
 * [vvar_vclock] are one mapping, and [vsyscall] is ignored.
 */
static int
vmas_set(struct criumake *m, struct maketask *t, const struct smapfacts *facts,
    Criu__Mm *mm)
{
	const struct vma *v;
	Criu__Vma e, *last = NULL;
	size_t i;
	int rc;

	t->pages = pool_new(&m->texts, t->maps.n, sizeof *t->pages);
	if (t->pages == NULL)
		return -1;
	for (i = 0; i < t->maps.n; i++) {
		v = &t->maps.v[i];
		if (strcmp(v->name, "[vsyscall]") == 0)
			continue;
		if (strcmp(v->name, "[vvar_vclock]") == 0 && last != NULL &&
		    last->status & CRIU_VVAR && last->end == v->start) {
			last->end = v->end;
			continue;
		}
		criu__vma__init(&e);
		if ((rc = vma_set(m, t, v, &facts[i], mm, &e)) == -1)
			return -1;
		if (rc == 0)
			continue;
		t->pages[i] = pages_flags(v, &e);
		e.madv = advice_get(facts[i].flag);
		e.has_madv = e.madv != 0;
		if ((last = MSG_PUSH(&m->msgs, mm, vmas)) == NULL)
			return -1;
		*last = e;
	}
	return guards_add(m, t, mm);
}

/*
 * Set the bounds of code, data, stack, arguments and environment in mm to those
 * of t. Record an obstacle if a bound is 0: the kernel does not accept that
 * (PR_SET_MM_MAP of prctl(2)).
 */
static int
bounds_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	static const unsigned int field[] = { CRIU_STATS };
	enum { FIELDS = sizeof field / sizeof *field };
	uint64_t v[FIELDS];
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if ((v[i] = t->stat.v[field[i]]) == 0)
			return make_never(m, t, "stat: field %u is 0, which "
			    "criu does not restore", field[i]);
	MSG_FILL(mm, CRIU_BOUNDS, v);
	return maketask_must(m, t, "brk", "x", "address (x)", &mm->brk);
}

/*
 * Set in mm the attributes that t changed with prctl(2).
 */
static int
prctls_set(struct maketask *t, Criu__Mm *mm)
{
	uint64_t v;
	int rc;

	if ((rc = maketask_one(t, "dumpable", "d", "number", &v)) == -1)
		return -1;
	if (rc == 1)
		MSG_FILL(mm, "dumpable", &v);
	if ((rc = maketask_one(t, "thp_disable", "d", "number", &v)) == -1)
		return -1;
	if (rc == 1 && v != 0)
		MSG_FILL(mm, "thp_disabled", &v);
	return 0;
}

/*
 * Set the executable in mm to that of t. If t maps a file with the path of the
 * executable, use that file. Otherwise use the path alone.
 */
static int
exe_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	struct vma exe = { .name = maketask_text(t, "exe") };
	char *path = exe.name;
	size_t i;
	int rc;

	if (path == NULL || *path != '/')
		return make_never(m, t, "its executable is not known");
	for (i = 0; i < t->maps.n; i++)
		if (strcmp(t->maps.v[i].name, path) == 0)
			exe = t->maps.v[i];
	rc = makereg_mapped(m, t, &exe, &mm->exe_file_id);
	if (rc == 0)
		rc = make_never(m, t, "its executable, %s, cannot be restored",
		    path);
	return rc == -1 ? -1 : 0;
}

/*
 * Set mm to the address space of process t: its mappings, bounds, prctl(2)
 * attributes, executable and auxiliary vector (getauxval(3)). Cut the vector to
 * the number of words that criu accepts.
 */
static int
mm_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	size_t most = makeregs_auxv(t);
	struct smapfacts *facts;
	struct recfile f;

	if (proc_vmas(t->proc, &t->maps) == -1 || (facts = pool_new(&m->msgs,
	    t->maps.n, sizeof *facts)) == NULL || smaps_read(t, facts) == -1)
		return errstr_wrap("process %" PRIu64, t->proc->pid);
	linuxrec_find(&t->rec, "auxv", &f);
	return MSG_BYTES(&m->msgs, mm, mm_saved_auxv, f.data,
	    f.len / 8 < most ? f.len / 8 : most) == -1 ||
	    vmas_set(m, t, facts, mm) == -1 || bounds_set(m, t, mm) == -1 ||
	    prctls_set(t, mm) == -1 || exe_set(m, t, mm) == -1 ? -1 : 0;
}

/*
 * Write mm-N.img and pagemap-N.img of process t. Return 0, or -1 with errstr
 * set.
 */
int
makemm_write(struct criumake *m, struct maketask *t)
{
	Criu__Mm mm = CRIU__MM__INIT;
	int rc;

	rc = mm_set(m, t, &mm) == -1 || make_message(m, CRIU_MM, &mm.base,
	    "mm-%u.img", t->pid) == -1 ? -1 : makemem_pages(m, t);
	/* Free them now: together they would be as large as the records. */
	vmas_free(&t->maps);
	return rc;
}
