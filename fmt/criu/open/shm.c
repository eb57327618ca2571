/*
 * Write shared memory as CRIU images: memfd.img and pagemap-shmem-N.img.
 * criu/write/place.c adds the content of the pages.
 */
#include "open.h"
#include "bisect.h"

#include <sys/mman.h>

enum {
	SEAL_SEAL = 1,		/* F_SEAL_SEAL: no seals may be added */
	HUGE_SHIFT = 26		/* MAP_HUGE_SHIFT from linux/mman.h */
};

/*
 * Return the shared memory with inode ino on device dev. user is a process that
 * uses it. Return NULL if its content is not in the snapshot. Return NULL with
 * errstr set if memory runs out.
 */
struct makeshm *
makeshm_get(struct criumake *m, uint64_t dev, uint64_t ino,
    const struct maketask *user)
{
	struct makeshm *o;
	struct proc *p;

	if ((p = makereg_content(m, dev, ino)) == NULL)
		return NULL;
	if ((o = SEEK(m->shm, m->nshm, x->proc == p)) != NULL)
		return o;
	return POOL_ADD(&m->pool, m->shm, m->nshm, (struct makeshm){
	    .proc = p, .user = user }) == -1 ? NULL : &m->shm[m->nshm - 1];
}

/*
 * Set *id to the number in files.img of the file through which criu maps shared
 * memory o. Add the file on the first call for o. Return 1.
 */
int
makeshm_mapped(struct criumake *m, struct makeshm *o, uint32_t *id)
{
	Criu__MemfdFile f = CRIU__MEMFD_FILE__INIT;

	if (o->file == 0) {
		o->file = ++m->lastid;
		f.flags = 2;	/* O_RDWR */
		f.inode_id = (uint32_t)(o - m->shm) + 1;
		makeopen_entry(m, NULL, FD_MEMFD, offsetof(Criu__FileEntry,
		    memfd), o->file, &f.base);
	}
	*id = o->file;
	return 1;
}

/*
 * Return the flag bits that request huge pages of the given size in bytes
 * (mmap(2), memfd_create(2)).
 */
uint32_t
makeshm_huge(uint64_t bytes)
{
	uint32_t n;

	for (n = 0; bytes > 1; n++)
		bytes >>= 1;
	return n << HUGE_SHIFT;
}

/*
 * Return a copy of the name that memfd_create(2) gave to shared memory o, or
 * NULL if memory runs out.
 */
static char *
shm_name(struct criumake *m, const struct makeshm *o)
{
	static const char prefix[] = "/memfd:";
	const char *s = o->proc->embedded->path;
	size_t n = path_stem(s), head = 0;

	if (strncmp(s, prefix, sizeof prefix - 1) == 0)
		head = sizeof prefix - 1;
	return pool_dup(&m->texts, s + head, n - head);
}

/*
 * Append the pages of im that are not all zero to pagemap image b. page is the
 * page size in bytes. Extents have whole kilobytes, and may begin or end inside
 * a page: append such a page whole.
 */
static void
shm_pages(struct buf *b, struct image *im, uint64_t page)
{
	struct pages p = { .flags = PE_PRESENT };
	const struct extent *e;
	struct piece *pc;
	uint64_t from, to, kb;

	for (pc = im == NULL ? NULL : image_first(im); pc != NULL;
	    pc = piece_next(pc))
		for (kb = 0; kb < segment_kb(pc->seg); kb = e->kb + e->n) {
			if ((e = segment_extent(pc->seg, kb)) == NULL) {
				b->failed = true;
				return;
			}
			from = (pc->seg->base + e->kb * KB) / page * page;
			to = (pc->seg->base + (e->kb + e->n) * KB +
			    page - 1) / page * page;
			if (e->src == NULL)
				continue;
			if (p.len > 0 && from <= p.addr + p.len) {
				if (to > p.addr + p.len)
					p.len = to - p.addr;
				continue;
			}
			if (p.len > 0)
				pagemap_put(b, &p, page, NULL);
			p.addr = from;
			p.len = to - from;
		}
	if (p.len > 0)
		pagemap_put(b, &p, page, NULL);
}

/*
 * Write the pagemap of shared memory p as pagemap-shmem-ID.img. Return 0, or
 * -1 with errstr set.
 */
int
makeshm_content(struct criumake *m, struct proc *p, uint32_t id)
{
	struct made *im;

	if (make_missing(m, p->mem, "shared memory", p->pid, 0, UINT64_MAX) ==
	    -1)
		return -1;
	im = make_image(m, CRIU_PAGEMAP, "pagemap-shmem-%u.img", id);
	if (im == NULL)
		return -1;
	im->pages = p;
	im->b.len = 0;
	pagemap_begin(&im->b, 0);
	shm_pages(&im->b, p->mem, snap_page(m->snap, p));
	return 0;
}

/*
 * Add shared memory o as inode id to memfd, the content of memfd.img. Write its
 * pages to pagemap-shmem-N.img. N is above the IDs of all System V segments,
 * because the images of these have the same kind of name.
 */
static int
shm_write(struct criumake *m, const struct makeshm *o, uint32_t id,
    struct buf *memfd)
{
	Criu__MemfdInode e = CRIU__MEMFD_INODE__INIT;
	const struct makeopen *f = o->open;
	uint64_t uid[2] = { 0 }, gid[2] = { 0 };
	const uint32_t shmid = m->lastsysv + id;

	if (makeshm_content(m, o->proc, shmid) == -1 ||
	    (e.name = shm_name(m, o)) == NULL)
		return -1;
	maketask_status(o->user, "Uid", 10, uid, 2);
	maketask_status(o->user, "Gid", 10, gid, 2);
	e.uid = makeusers_uid(m, f != NULL ? f->v[OK_UID][0] : uid[1]);
	e.gid = makeusers_gid(m, f != NULL ? f->v[OK_GID][0] : gid[1]);
	e.has_mode = f != NULL && makeopen_has(f, OK_MODE);
	e.mode = e.has_mode ? (uint32_t)f->v[OK_MODE][0] : 0;
	if (e.has_mode && (e.mode & 07777) != 0777)
		make_since(m, SINCE_MODE);
	e.seals = f != NULL && makeopen_has(f, OK_SEALS) ?
	    (uint32_t)f->v[OK_SEALS][0] : SEAL_SEAL;
	e.size = makereg_size(o->proc);
	e.has_hugetlb_flag = o->huge != 0;
	e.hugetlb_flag = MFD_HUGETLB | makeshm_huge(o->huge);
	e.shmid = shmid;
	e.inode_id = id;
	criuimg_add(memfd, &e.base);
	return 0;
}

/*
 * Write memfd.img, and the pages of all shared memory that is mapped or open.
 * Return 0, or -1 with errstr set.
 */
int
makeshm_write(struct criumake *m)
{
	struct made *im;
	size_t i;

	if (m->nshm == 0)
		return 0;
	if ((im = make_image(m, CRIU_MEMFD, "memfd.img")) == NULL)
		return -1;
	for (i = 0; i < m->nshm; i++)
		if (shm_write(m, &m->shm[i], (uint32_t)i + 1, &im->b) == -1)
			return -1;
	return 0;
}
