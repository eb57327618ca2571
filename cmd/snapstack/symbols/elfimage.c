/*
 * Give ELF files of the snapshot to libelf: in memory, and each only once,
 * however many processes map it.
 */
#include "snapstack/snapstack.h"
#include "bisect.h"
#include "model.h"
#include "vec.h"

#include <sys/mman.h>

enum { PIECE = 64 * KB };

/* limit on the size of all files together */
static const uint64_t max_bytes = UINT64_C(4) << 30;

struct elfbytes {
	const struct image *im;	/* borrowed; the image copied to "data" */
	void		*data;	/* owned; from mmap(2) */
	size_t		 size;
};

static struct elfbytes *all;	/* owned */
static size_t nall;
static uint64_t nbytes;		/* total size of all copies in bytes */

/*
 * Free the copies of all files, because their snapshot is about to be closed.
 */
void
elfimage_forget(void)
{
	while (nall > 0) {
		nall--;
		munmap(all[nall].data, all[nall].size);
	}
	free(all);
	all = NULL;
	nbytes = 0;
}

/*
 * Free the copies if they are large. Call this between processes, when no copy
 * is in use.
 */
void
elfimage_tidy(void)
{
	if (nbytes > max_bytes / 4)
		elfimage_forget();
}

/*
 * Copy im to data, which must be all zero. Do not write blocks of zeros: they
 * would take memory, and an untrusted snapshot may claim to have very many.
 */
static void
image_copy(struct image *im, uint8_t *data)
{
	static uint8_t buf[PIECE];
	static const uint8_t zero[PIECE];
	struct piece *p;
	uint64_t at;
	size_t n;

	for (p = image_first(im); p != NULL; p = piece_next(p))
		for (at = p->first; at <= p->last; at += n) {
			n = PIECE - at % PIECE;
			if (n > p->last - at + 1)
				n = (size_t)(p->last - at + 1);
			if (program_read(im, at, buf, n) == 0 &&
			    memcmp(buf, zero, n) != 0)
				memcpy(data + at, buf, n);
		}
}

/*
 * Allocate size bytes for the ELF file im. im is NULL if the file is part of a
 * process's memory. Return the bytes, or NULL on failure.
 */
static struct elfbytes *
bytes_new(const struct image *im, uint64_t size)
{
	struct elfbytes *b;

	if (size == 0 || size > max_bytes - nbytes || VEC_ROOM(all, nall) == -1)
		return NULL;
	b = &all[nall];
	b->im = im;
	b->size = (size_t)size;
	b->data = mmap(NULL, b->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->data == MAP_FAILED)
		return NULL;
	nall++;
	nbytes += size;
	return b;
}

/*
 * Return b as an ELF file. b may be NULL. Return NULL if b is not an ELF file.
 */
static Elf *
bytes_elf(const struct elfbytes *b)
{
	Elf *e;

	if (b == NULL || (e = elf_memory(b->data, b->size)) == NULL)
		return NULL;
	if (elf_kind(e) == ELF_K_ELF)
		return e;
	elf_end(e);
	return NULL;
}

/*
 * Return image im as an ELF file. The caller closes the file with elf_end().
 * Return NULL if im is not an ELF file.
 */
Elf *
elfimage_open(struct image *im)
{
	const struct piece *last = image_last(im);
	struct elfbytes *b = SEEK(all, nall, x->im == im);

	if (b == NULL && last != NULL &&
	    (b = bytes_new(im, last->last + 1)) != NULL)
		image_copy(im, b->data);
	return bytes_elf(b);
}

/*
 * Open the ELF file, such as [vdso], that process t has in its memory from
 * address start up to address end. The caller closes the file with elf_end().
 * Return the file, or NULL if there is none.
 */
Elf *
elfimage_memory(struct target *t, uint64_t start, uint64_t end)
{
	enum { MAX_VDSO = 64 * KB };
	const struct elfbytes *b;

	if (end - start > MAX_VDSO ||
	    (b = bytes_new(NULL, end - start)) == NULL ||
	    !target_read(t, start, b->data, b->size))
		return NULL;
	return bytes_elf(b);
}
