/*
 * Embed each shared memory object of a checkpoint whole, like a file, because
 * processes may have mapped only a part of it, or nothing.
 */
#include "read.h"
#include "bisect.h"

#include <sys/sysmacros.h>

CMP(shm_cmp, struct criushm, id)

/*
 * Return true if name is that of the pagemap of a shared memory object. Set *id
 * to the object's number.
 */
static bool
shm_id(const char *name, uint64_t *id)
{
	char again[64];

	if (sscanf(name, "pagemap-shmem-%" SCNu64, id) != 1)
		return false;
	snprintf(again, sizeof again, "pagemap-shmem-%" PRIu64 ".img", *id);
	return strcmp(name, again) == 0;
}

/*
 * Read all shared memory objects into r->shm, one for each pagemap-shmem-N.img.
 * Return 0, or -1 with errstr set.
 */
int
criushm_read(struct criureader *r)
{
	struct criushm *v;
	char name[32];
	uint64_t id;
	size_t i;

	for (i = 0; i < r->nname; i++) {
		if (!shm_id(r->name[i].name, &id))
			continue;
		if (POOL_ROOM(&r->pool, r->shm, r->nshm) == -1)
			return -1;
		v = &r->shm[r->nshm++];
		memset(v, 0, sizeof *v);
		v->id = id;
		snprintf(name, sizeof name, "shmem-%" PRIu64, id);
		if (pagemap_open(&v->map, r->snap, r->images, name,
		    r->page) != 1)
			return -1;
	}
	SORT(r->shm, r->nshm, shm_cmp);
	return 0;
}

/*
 * Return the path that the mappings of shared memory object shm have in maps.c,
 * or NULL if memory runs out.
 */
static char *
shm_name(struct criureader *r, const struct criushm *shm)
{
	const Criu__MemfdInode *m = PSEEK(r->memfd, r->nmemfd,
	    x->shmid == shm->id);
	const char *name = shm->sysv ? "/SYSV00000000" :
	    m == NULL ? "/dev/zero" : m->name;
	char *s;
	size_t i;

	s = pool_own(&r->pool, str_printf("%s%.255s (deleted)",
	    *name == '/' ? "" : "/memfd:", name));
	for (i = 0; s != NULL && s[i] != '\0'; i++)
		if (s[i] == '\n')
			s[i] = '?';
	return s;
}

/*
 * Set the memory of p to the pages of a shared memory object, with pagemap l,
 * whose addresses begin at 0.
 */
static int
shm_memory(struct proc *p, const struct pagemap *l)
{
	struct builder b = { 0 };
	const struct pages *e;
	size_t i;
	int rc = 0;

	if ((b.image = p->mem = image_new(p, IMAGE_MEM)) == NULL)
		return -1;
	for (i = 0; i < l->n && rc == 0; i++) {
		e = &l->v[i];
		rc = e->flags & PE_PRESENT ? builder_run(&b, e->addr,
		    e->len / KB, e->src, e->off) : image_miss(p->mem, e->addr,
		    e->addr + e->len, "lazy");
	}
	return builder_finish(&b) == -1 ? -1 : rc;
}

static int
shm_carry(struct criureader *r, const struct criushm *shm)
{
	struct vma v = { .dev = makedev(0, 1), .ino = shm->id };
	struct filelist rec = { 0 };
	struct buf b = { 0 };
	struct proc *p;
	char name[48];
	int rc;

	if ((v.name = shm_name(r, shm)) == NULL)
		return -1;
	p = embedded_new(r->snap, &v);
	if (p == NULL || shm_memory(p, shm->map) == -1)
		return -1;
	pagemap_copy(&b, shm->map, 0);
	snprintf(name, sizeof name, "criu/pagemap-shmem-%" PRIu64 ".img",
	    shm->id);
	filelist_buf(&rec, name, &b);
	rc = rec.failed ? errstr_set("out of memory") :
	    linuxrec_pack(p, r->machine->name, rec.file, rec.n);
	filelist_free(&rec);
	return rc;
}

/*
 * Embed all shared memory objects of r in the snapshot. Return 0, or -1 with
 * errstr set.
 */
int
criushm_carry(struct criureader *r)
{
	size_t i;

	for (i = 0; i < r->nshm; i++)
		if (shm_carry(r, &r->shm[i]) == -1)
			return -1;
	return 0;
}
