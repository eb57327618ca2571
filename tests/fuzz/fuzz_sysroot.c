/*
 * Any bytes as the memory of a process with a link map, and as its mappings:
 * the files of its root directory have valid names within it, sorted and
 * different.
 *
 * The first byte of an input divides the rest, in sixteenths, into the text of
 * maps and the memory at BASE. The memory has 64 KiB; according to its auxv,
 * three program headers are at its beginning. A file is embedded for each of
 * the first mappings. The first name is that of the executable.
 */
#include "fuzz_snap.h"
#include "../../fmt/tree/tree.h"
#include "../../lib/num.h"
#include "model.h"
#include "record/record.h"
#include "space.h"

#include <elf.h>
#include <limits.h>

enum { BASE = 0x10000, SIZE = 0x10000, CARRIED = 40, FIRSTFILE = 1 << 22 };

#ifdef LIBFUZZER
#include "fuzz_mutate.h"

/*
 * Set a word of the memory to one of its addresses, or change the text.
 */
size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	uint8_t *mem;
	size_t cut, r;

	mutate_seed(seed);
	if (n < 64 || mutate_pick(16) == 0)
		return LLVMFuzzerMutate(p, n, max);
	cut = 1 + (n - 1) * (p[0] % 16) / 16;
	mem = p + cut;
	if (cut < 2 || n - cut < 16)
		return LLVMFuzzerMutate(p, n, max);
	if (mutate_pick(2)) {
		num_put(mem + mutate_pick((n - cut) / 8) * 8, BASE +
		    mutate_pick(n - cut), 8);
		return n;
	}
	if (mutate_pick(2))
		return cut + mutate_binary(mem, n - cut, n - cut);
	r = mutate_text(p + 1, cut - 1, cut - 1);
	memset(p + 1 + r, '\n', cut - 1 - r);
	return n;
}
#endif

static struct image *
memory_make(struct snap *s, struct proc *p, const uint8_t *data, size_t n)
{
	struct segment *seg;
	struct source *src;
	struct image *im;
	int fd;

	fd = memory_file(data, n < SIZE ? n : SIZE);
	MUST(ftruncate(fd, SIZE) == 0);
	MUST((src = source_file(s, fd, "memory", KB)) != NULL);
	MUST((im = image_new(p, IMAGE_MEM)) != NULL);
	MUST((seg = segment_new(BASE, SIZE)) != NULL);
	MUST(segment_append(seg, SIZE / KB, src, 0) == 0);
	MUST(image_insert(im, seg) == 0);
	return im;
}

static struct image *
text_make(struct proc *p)
{
	struct segment *seg;
	struct image *im;

	MUST((im = image_new(p, IMAGE_TEXT)) != NULL);
	MUST((seg = segment_new(0, KB)) != NULL);
	MUST(segment_append(seg, 1, NULL, 0) == 0);
	MUST(image_insert(im, seg) == 0);
	return im;
}

static void
record_make(struct proc *p, const struct vmas *l)
{
	static char auxv[] = "auxv", exe[] = "exe";
	static const uint64_t value[] = { AT_PHDR, BASE, AT_PHENT, 56,
	    AT_PHNUM, 3, AT_BASE, BASE + 0x8000, AT_NULL, 0 };
	struct file f[2] = { { .name = auxv }, { .name = exe } };
	uint8_t aux[sizeof value];
	size_t i;

	for (i = 0; i < sizeof value / sizeof *value; i++)
		num_put(aux + i * 8, value[i], 8);
	f[0].data = aux;
	f[0].len = sizeof aux;
	if (l->n > 0) {
		f[1].data = (uint8_t *)l->v[0].name;
		f[1].len = strlen(l->v[0].name);
	}
	MUST(linuxrec_pack(p, "amd64", f, l->n > 0 ? 2 : 1) == 0);
}

/*
 * Make a process, and files for its mappings.
 */
static struct snap *
snap_make(const uint8_t *mem, size_t n, const struct vmas *l)
{
	struct snap *s;
	struct proc *p;
	size_t i;

	MUST((s = snap_new()) != NULL);
	MUST((s->header = strdup("process snapshot 1")) != NULL);
	MUST((p = snap_add(s, 1)) != NULL);
	p->mem = memory_make(s, p, mem, n);
	p->text = text_make(p);
	record_make(p, l);
	for (i = 0; i < l->n && i < CARRIED; i++) {
		if (l->v[i].name[0] != '/')
			continue;
		MUST((p = snap_add(s, FIRSTFILE + i)) != NULL);
		MUST(embedded_set(p, l->v[i].dev, l->v[i].ino,
		    l->v[i].name) == 0);
		p->text = text_make(p);
	}
	return s;
}

static void
check_path(const char *path)
{
	size_t n;

	MUST(strlen(path) < PATH_MAX);
	for (;; path += n + 1) {
		n = strcspn(path, "/");
		MUST(n > 0 && n <= NAME_MAX);
		MUST(n != 1 || *path != '.');
		MUST(n != 2 || memcmp(path, "..", 2) != 0);
		if (path[n] == '\0')
			return;
	}
}

static void
check_root(const struct sysroot *root)
{
	const char *a, *b;
	size_t i;

	for (i = 0; i < root->n; i++) {
		a = root->f[i].path;
		check_path(a);
		MUST(root->f[i].image != NULL);
		if (i == 0)
			continue;
		b = root->f[i - 1].path;
		MUST(path_cmp(b, strlen(b), a, strlen(a)) < 0);
		MUST(strncmp(a, b, strlen(b)) != 0 || a[strlen(b)] != '/');
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sysroot root = { 0 };
	struct vmas l = { 0 };
	struct linuxrec r;
	struct snap *s;
	size_t cut;

	if (n == 0)
		return 0;
	cut = 1 + (n - 1) * (*data % 16) / 16;
	if (vmas_parse(&l, data + 1, cut - 1) == 0) {
		s = snap_make(data + cut, n - cut, &l);
		MUST(linuxrec_open(&r, proc_file(s->proc[0], "proc")) == 0);
		MUST(sysroot_open(&root, s, s->proc[0], &r, &l) == 0);
		check_root(&root);
		sysroot_close(&root);
		linuxrec_close(&r);
		snap_free(s);
	}
	vmas_free(&l);
	return 0;
}
