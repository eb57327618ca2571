/*
 * Make the entry of a mapping in mm-N.img.
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
int
makevma_set(struct criumake *m, struct maketask *t, const struct vma *v,
    const struct smapfacts *facts, Criu__Mm *mm, Criu__Vma *e)
{
	const unsigned int flag = facts->flag;
	enum makewhy kind;
	const char *why;

	e->madv = advice_get(flag);
	e->has_madv = e->madv != 0;
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
	    ((flag & VMF_WIRED) == VMF_LOCKED ? MAP_LOCKED : 0U) |
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
unsigned int
makevma_pages(const struct vma *v, const Criu__Vma *e)
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
