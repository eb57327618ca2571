/*
 * ELF files of the snapshot as libelf wants them: in memory, each once,
 * whoever has it mapped.
 */
#include "snapstack/snapstack.h"
#include "vec.h"

#include <sys/mman.h>

#include <string.h>

enum { PIECE = 64 * KB };

static const uint64_t most = UINT64_C(4) << 30;	/* bytes of all files */

struct elfbytes {
	const struct image *im;	/* what they are of; borrowed */
	void		*data;	/* owned, of mmap(2) */
	size_t		 size;
};

static struct elfbytes *all;	/* owned */
static size_t nall;
static uint64_t nbytes;		/* that they take */

/*
 * Forget the files of a snapshot, which is closed.
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
 * Forget them if they are many, between processes, of which none has any.
 */
void
elfimage_tidy(void)
{
	if (nbytes > most / 4)
		elfimage_forget();
}

static uint64_t
image_size(struct image *im)
{
	struct piece *p;
	uint64_t size;

	size = 0;
	for (p = image_first(im); p != NULL; p = piece_next(p))
		size = p->last + 1;
	return size;
}

/*
 * Copy what is there of im to data.  What is zero is left alone, that it take
 * no memory, however much of it a stranger's snapshot claims.
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
			if (image_read(im, at, buf, n) == 0 &&
			    memcmp(buf, zero, n) != 0)
				memcpy(data + at, buf, n);
		}
}

/*
 * Make room for size bytes of an ELF file, which is im, or NULL where it is in
 * none.  Return NULL if there is none.
 */
static struct elfbytes *
bytes_new(const struct image *im, uint64_t size)
{
	struct elfbytes *b;

	if (size == 0 || size > most - nbytes || VEC_ROOM(all, nall) == -1)
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

static const struct elfbytes *
bytes_get(struct image *im)
{
	struct elfbytes *b;
	size_t i;

	for (i = 0; i < nall; i++)
		if (all[i].im == im)
			return &all[i];
	if ((b = bytes_new(im, image_size(im))) != NULL)
		image_copy(im, b->data);
	return b;
}

/*
 * Return the ELF file of those bytes, or NULL if it is none.
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
 * Return the ELF file whose bytes are im, the caller's; NULL if it is none.
 */
Elf *
elfimage_open(struct image *im)
{
	return bytes_elf(bytes_get(im));
}

/*
 * Return the ELF file that lies in the memory of process t from start to end,
 * as [vdso] does; the caller's.  NULL if there is none.
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
