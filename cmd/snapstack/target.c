/*
 * Read a process of a snapshot: its mappings and its memory. Memory that was
 * not captured because it equals the mapped file is read from that file, if the
 * snapshot embeds it.
 */
#include "num.h"
#include "snapstack.h"
#include "bisect.h"
#include "machine.h"
#include "model.h"

#include <elf.h>

enum {
	BLOCK = 4 * KB, ALL_VALID = 15,
	COSTLY = 32 /* number of bytes read that cost as much as an access */
};

/*
 * Set t->exe to the path of the executable, spelled as in the file "maps".
 */
static void
exe_find(struct target *t)
{
	struct recfile f;

	*t->exe = '\0';
	if (!linuxrec_find(t->rec, "exe", &f) ||
	    f.len >= sizeof t->exe)
		return;
	memcpy(t->exe, f.data, f.len);
	t->exe[f.len] = '\0';
}

/*
 * Open process p of snapshot s as t. Both are borrowed. live says whether p is
 * a live process; such a process must be stopped. The caller must call
 * target_close() in either case. Return 0, or -1 with errstr set.
 */
int
target_open(struct target *t, struct snap *s, struct proc *p, bool live)
{
	memset(t, 0, sizeof *t);
	t->snap = s;
	t->proc = p;
	t->live = live;
	if (proc_vmas(p, &t->vma) == -1)
		return -1;
	t->rec = proc_record(p);
	exe_find(t);
	t->cache = pool_new(&t->pool, CACHED, sizeof *t->cache);
	return t->cache == NULL ? -1 : 0;
}

/*
 * Free what t owns.
 */
void
target_close(struct target *t)
{
	jit_close(t);
	vmas_free(&t->vma);
	pool_free(&t->pool);
}

/*
 * Return the contents of the file mapped at v. Return NULL if the snapshot of t
 * does not have them.
 */
struct image *
target_file(const struct target *t, const struct vma *v)
{
	return mapped_file(t->snap, t->proc, t->exe, v);
}

/*
 * Return the executable mapping of t that contains addr, or NULL.
 */
const struct vma *
target_code(const struct target *t, uint64_t addr)
{
	const struct vma *v = vmas_find(&t->vma, addr);

	return v != NULL && (v->flags & VMA_EXEC) != 0 ? v : NULL;
}

/*
 * Return the size of an address of t in bytes, from its auxiliary vector, or 0
 * if it is not known.
 */
size_t
target_wordsize(const struct target *t)
{
	struct recfile f;

	return linuxrec_find(t->rec, "auxv", &f) ?
	    auxv_word(machine_named(""), f.data, f.len) : 0;
}

/*
 * Return the entry point of the program of t, from its auxiliary vector
 * (getauxval(3)), or 0 if it is unknown.
 */
uint64_t
target_entry(const struct target *t)
{
	const struct machine *any = machine_named("");	/* little-endian */
	struct recfile f;
	size_t word;

	if (!linuxrec_find(t->rec, "auxv", &f))
		return 0;
	word = auxv_word(any, f.data, f.len);
	return auxv_get(any, f.data, f.len, word == 0 ? 8 : word, AT_ENTRY);
}

/*
 * Return true if memory missing from mapping v is identical to the mapped file.
 * why is the reason that it is missing, or NULL. In a core, this holds only for
 * mappings that cannot be written, because users can choose to leave memory out
 * of cores.
 */
static bool
is_file(const struct vma *v, const char *why)
{
	return why == NULL || strcmp(why, "file") == 0 ||
	    (strcmp(why, "core") == 0 && (v->flags & VMA_WRITE) == 0);
}

/*
 * Read the kilobyte of im at address addr into buf. Report damaged data, but
 * not while a live process is held stopped: it may be the one that reads our
 * messages. Return false on failure.
 */
static bool
kb_stored(const struct target *t, struct image *im, uint64_t addr, uint8_t *buf)
{
	return (t->live ? image_read(im, addr, buf, KB) :
	    program_read(im, addr, buf, KB)) == 0;
}

/*
 * Read the kilobyte at address addr into buf, from memory or from the mapped
 * file. If the process never touched the kilobyte, set buf to zeros. Return
 * false if the kilobyte is missing.
 */
static bool
kb_read(struct target *t, uint64_t addr, uint8_t *buf)
{
	struct image *mem = t->proc->mem;
	const struct vma *v;
	const struct missing *lost;
	struct image *im;

	if (mem != NULL && !t->released && kb_stored(t, mem, addr, buf))
		return true;
	lost = mem == NULL ? NULL : image_missing(mem, addr);
	if ((v = vmas_find(&t->vma, addr)) == NULL ||
	    !is_file(v, lost == NULL ? NULL : lost->reason))
		return false;
	if ((im = target_file(t, v)) != NULL)
		return kb_stored(t, im, addr - v->start + v->off, buf);
	if (mem == NULL || t->released || v->ino != 0 || v->name[0] == '/' ||
	    lost != NULL)
		return false;
	memset(buf, 0, KB);
	return true;
}

static const struct block *
block_get(struct target *t, uint64_t addr)
{
	const struct block *kept;
	struct block *b = &t->cache[addr / BLOCK % CACHED];
	struct image *mem = t->proc->mem;
	unsigned int i;

	if (b->valid != 0 && b->addr == addr)
		return b;
	if (t->released &&
	    (kept = PFIND(t->kept, t->nkept, addr, addr)) != NULL)
		return kept;
	b->addr = addr;
	b->valid = 0;
	if (mem != NULL && !t->released &&
	    image_read(mem, addr, b->data, BLOCK) == 0) {
		b->valid = ALL_VALID;
		return b;
	}
	for (i = 0; i < BLOCK / KB; i++)
		if (kb_read(t, addr + i * KB, b->data + i * KB))
			b->valid |= 1U << i;
	return b;
}

/*
 * Read len bytes at address addr of process t into buf. Return false if any of
 * them is missing.
 */
bool
target_read(struct target *t, uint64_t addr, void *buf, size_t len)
{
	const struct block *b;
	uint8_t *to = buf;
	size_t at, n;

	for (; len > 0; len -= n, addr += n, to += n) {
		b = block_get(t, addr - addr % BLOCK);
		at = (size_t)(addr % BLOCK);
		n = KB - at % KB;
		if (n > len)
			n = len;
		t->cost += 1 + n / COSTLY;
		if ((b->valid & 1U << at / KB) == 0)
			return false;
		memcpy(to, b->data + at, n);
	}
	return true;
}

/*
 * Read the integer of word bytes, at most 8, at address addr of process t into
 * *v. Return false if any of its bytes is missing.
 */
bool
target_word(struct target *t, uint64_t addr, size_t word, uint64_t *v)
{
	uint8_t p[8];

	if (word > sizeof p || !target_read(t, addr, p, word))
		return false;
	*v = num_get(p, word);
	return true;
}

PCMP(block_cmp, struct block, addr)

static void
block_keep(struct target *t, uint64_t addr)
{
	const struct block *b = block_get(t, addr);
	struct block *copy;

	if (b->valid != 0 &&
	    (copy = pool_dup(&t->pool, b, sizeof *b)) != NULL)
		(void)POOL_ADD(&t->pool, t->kept, t->nkept, copy);
}

/*
 * Keep a copy of the stack of t from "from" bytes above the stack pointer sp up
 * to "to" bytes above it, or up to the end of its mapping. If "from" is 0, also
 * keep the red zone below sp. Keep KEPT_ALL bytes of t at most.
 */
void
target_keep(struct target *t, uint64_t sp, uint64_t from, uint64_t to)
{
	enum { REDZONE = 128 };
	const struct vma *v = vmas_find(&t->vma, sp);
	uint64_t at, end;

	if (v == NULL || v->end - sp <= from)
		return;
	end = v->end - sp > to ? sp + to : v->end;
	at = from == 0 ? sp - REDZONE : sp + from + BLOCK - 1;
	for (at -= at % BLOCK; at < end && t->nkept < KEPT_ALL / BLOCK;
	    at += BLOCK)
		block_keep(t, at);
}

/*
 * From now on, read only mapped files and the memory of t that was kept.
 */
void
target_release(struct target *t)
{
	const struct vma *v;
	uint64_t at;

	for (v = t->vma.v; v < t->vma.v + t->vma.n; v++)
		if (strcmp(v->name, "[vdso]") == 0)
			for (at = v->start; at < v->end; at += BLOCK)
				block_keep(t, at);
	SORT(t->kept, t->nkept, block_cmp);
	t->released = true;
	t->live = false;
	memset(t->cache, 0, CACHED * sizeof *t->cache);
}
