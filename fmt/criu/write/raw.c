/*
 * Find memory that must not be compressed, because criu cannot restore it then:
 * huge pages of hugetlbfs, and memory that a plugin of criu restores.
 */
#include "write.h"
#include "vec.h"

#include <sys/mman.h>

#define CRIU_PLUGIN (1U << 27)	/* status bit of a mapping that a plugin
				   restores */

/*
 * Note that the pages from address start up to end in the pagemap image called
 * name are not compressed.
 */
static int
raw_add(struct criuout *out, const char *name, uint64_t start, uint64_t end)
{
	struct raw r = { .start = start, .end = end };

	return strlcpy(r.name, name, sizeof r.name) >= sizeof r.name ? 0 :
	    VEC_ADD(out->raw, out->nraw, r);
}

/*
 * Note that no page of shared memory id is compressed. All mappings of it are
 * of one kind, so their addresses need not be translated to its offsets.
 */
static int
raw_shared(struct criuout *out, uint64_t id)
{
	char name[64];

	snprintf(name, sizeof name, "pagemap-shmem-%" PRIu64 ".img", id);
	return raw_add(out, name, 0, UINT64_MAX);
}

/*
 * Note the memory of the mappings in mm, which belongs to the pagemap image
 * called name.
 */
static int
raw_mappings(struct criuout *out, const char *name, const Criu__Mm *mm)
{
	const Criu__Vma *v;
	size_t i;
	int rc;

	for (i = 0, rc = 0; i < mm->n_vmas && rc == 0; i++) {
		v = mm->vmas[i];
		if (!(v->flags & MAP_HUGETLB || v->status & CRIU_PLUGIN))
			continue;
		rc = v->status & (CRIU_ANON_SHARED | CRIU_SYSVIPC) ?
		    raw_shared(out, v->shmid) :
		    raw_add(out, name, v->start, v->end);
	}
	return rc;
}

/*
 * Read mm-N.img or memfd.img, the image im, and note the memory in it that is
 * not compressed.
 */
static int
raw_image(struct criuout *out, const struct made *im)
{
	const bool isfd = strcmp(im->name, "memfd.img") == 0;
	ProtobufCMessage *m;
	struct criuimg in;
	char name[64];
	int rc, more;

	snprintf(name, sizeof name, "pagemap-%s", im->name + strlen("mm-"));
	rc = criuimg_memory(&in, im->name, im->b.data, im->b.len, isfd ?
	    CRIU_MEMFD : CRIU_MM);
	while (rc == 0 && (more = criuimg_next(&in, isfd ?
	    &criu__memfd_inode__descriptor : &criu__mm__descriptor, &m)) != 0) {
		if (more == -1)
			rc = -1;
		else if (!isfd)
			rc = raw_mappings(out, name, (Criu__Mm *)m);
		else if (((Criu__MemfdInode *)m)->hugetlb_flag & MFD_HUGETLB)
			rc = raw_shared(out, ((Criu__MemfdInode *)m)->shmid);
		protobuf_c_message_free_unpacked(m, NULL);
	}
	criuimg_close(&in);
	return rc;
}

/*
 * Find in the images l the memory that is not compressed. Return 0, or -1 with
 * errstr set.
 */
int
raw_find(struct criuout *out, const struct mades *l)
{
	size_t i;
	int rc;

	for (i = 0, rc = 0; i < l->n && rc == 0; i++)
		if (strncmp(l->v[i]->name, "mm-", 3) == 0 ||
		    strcmp(l->v[i]->name, "memfd.img") == 0)
			rc = raw_image(out, l->v[i]);
	return rc;
}

/*
 * Return true if the page at address addr of the pagemap image called name is
 * not compressed. Lower *len, a number of bytes from addr on, to those for
 * which the same is true.
 */
bool
raw_at(const struct criuout *out, const char *name, uint64_t addr,
    uint64_t *len)
{
	const struct raw *r;
	uint64_t end;
	bool found;

	for (r = out->raw; r < out->raw + out->nraw; r++) {
		if (addr >= r->end || addr + *len <= r->start ||
		    strcmp(r->name, name) != 0)
			continue;
		found = addr >= r->start;
		end = found ? r->end : r->start;
		if (*len > end - addr)
			*len = end - addr;
		if (found)
			return true;
	}
	return false;
}
