/*
 * Find a part of a thread's stack that is not in use: below the stack pointer
 * and the red zone that the ABI lets functions use.
 */
#include "linux/pages/pages.h"
#include "bisect.h"
#include "linux/proc/proc.h"
#include "num.h"
#include "run.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	NEAR = 64,		/* maximum number of pages to search for pages
				   that are not shared */
	FAR = 1024, /* maximum number of pages to search for pages that exist */
	DEEP = 64 * 1024	/* maximum number of pages to search for guard
				   pages */
};

/*
 * Return true if n pages exist, so that writing to them neither adds a page nor
 * waits for a userfaultfd(2) handler. The pagemap entries of these pages are in
 * entry. If alone is set, also require that no other process maps the pages, so
 * that writing to them copies none.
 */
static bool
are_there(const uint64_t *entry, size_t n, bool alone)
{
	const uint64_t there = alone ? PME_EXCLUSIVE : PME_PRESENT |
	    PME_SWAPPED;

	return SEEK(entry, n, (*x & there) == 0 || (*x & PME_UFFD) != 0) ==
	    NULL;
}

/*
 * Return true if mapping v may be a stack: private, readable, writable and
 * anonymous memory. Memory known to be under userfaultfd(2) is excluded,
 * because a write to it could block.
 */
static bool
is_stack(const struct vma *v)
{
	return v->ino == 0 && (v->flags & (VMA_READ | VMA_WRITE |
	    VMA_SHARED | VMA_UFFD)) == (VMA_READ | VMA_WRITE);
}

/*
 * Find the nearest guard page (MADV_GUARD_INSTALL of madvise(2)) below address
 * sp, at most DEEP pages below. start is the start of the mapping. Return the
 * end address of the guard page, or 0 if there is none or the kernel does not
 * report guards.
 */
static uint64_t
guard_below(const struct inject *inj, uint64_t start, uint64_t sp)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at, end, entry[FAR], found;
	size_t n;
	int fd;

	if ((fd = proc_open(inj->pid, inj->tid, "pagemap", O_RDONLY)) == -1)
		return 0;
	found = 0;
	end = sp - sp % size;
	if (end - start > DEEP * size)
		start = end - DEEP * size;
	for (; found == 0 && end > start; end = at) {
		n = (end - start) / size < FAR ? (size_t)((end - start) /
		    size) : FAR;
		at = end - n * size;
		if (pagemap_read(fd, at, end, entry, n) != (ssize_t)n)
			break;
		for (; found == 0 && n > 0; n--)
			if ((entry[n - 1] & PME_GUARD) != 0)
				found = at + n * size;
	}
	close(fd);
	return found;
}

/*
 * Set *stack to the thread stack on which the main thread runs. The main thread
 * runs on one if a thread other than the main thread of the parent forked the
 * process. A thread stack is private memory above a guard: a mapping without
 * access or, with glibc 2.42 and newer, guard pages in the mapping itself.
 * Return false if the main thread runs on something else.
 */
static bool
thread_stack(const struct inject *inj, const struct vmas *l, struct vma *stack)
{
	const uint64_t sp = gregs_sp(&inj->regs);
	const struct vma *v;
	uint64_t low;

	if ((v = vmas_find(l, sp)) == NULL || !is_stack(v))
		return false;
	*stack = *v;
	if ((low = guard_below(inj, v->start, sp)) != 0)
		stack->start = low;
	return low != 0 || (v > l->v && v[-1].end == v->start &&
	    !(v[-1].flags & (VMA_READ | VMA_WRITE | VMA_EXEC)));
}

/*
 * Find len bytes of stack that begin at addr or shortly below it, but not below
 * the address lower. Prefer pages that the process does not share with another
 * after fork(2), then pages that exist. Return the address of the bytes found,
 * or addr if there are none.
 */
static uint64_t
find_pages(const struct inject *inj, uint64_t lower, uint64_t addr, size_t len)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t end = (addr + len + size - 1) / size * size;
	uint64_t entry[FAR], best, p, start;
	const uint64_t *e;
	size_t i, n;
	ssize_t got;
	int fd;

	n = (end - lower) / size < FAR ? (size_t)((end - lower) / size) : FAR;
	start = end - n * size;
	if ((fd = proc_open(inj->pid, inj->tid, "pagemap", O_RDONLY)) == -1)
		return addr;
	got = pagemap_read(fd, start, end, entry, n);
	close(fd);
	if (got != (ssize_t)n)
		return addr;
	best = 0;
	for (i = 0, p = addr; p >= start && (i < NEAR || best == 0);
	    i++, p -= size) {
		e = &entry[(p - start) / size];
		n = (size_t)((p + len - 1) / size - p / size + 1);
		if (are_there(e, n, true))
			return p;
		if (best == 0 && are_there(e, n, false))
			best = p;
	}
	return best != 0 ? best : addr;
}

/*
 * Choose len unused bytes of stack v, and save them in inj->saved. If the main
 * thread runs on v, choose bytes below the stack pointer, preferably where
 * pages exist, and in one page if they fit. Otherwise choose the lowest bytes
 * of v, which must be zero and so were never used. Return false if there is no
 * room.
 */
static bool
take_unused(struct inject *inj, const struct vma *v, size_t len)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at;
	bool below;

	at = gregs_sp(&inj->regs) - (uint64_t)(isa.redzone + len);
	at -= at % 64;
	if (len <= size && at / size != (at + len - 1) / size)
		at -= at % size;
	below = gregs_sp(&inj->regs) >= v->start &&
	    gregs_sp(&inj->regs) < v->end;
	if (below && at < v->start)
		return false;
	at = below ? find_pages(inj, v->start, at, len) : v->start;
	if (pread(inj->mem, inj->saved, len, (off_t)at) != (ssize_t)len ||
	    (!below && !bytes_arezero(inj->saved, len)))
		return false;
	inj->unused = at;
	inj->len = len;
	return true;
}

/*
 * Find an unused part of the stack of the main thread of inj, for the return
 * frame. l has the mappings of the process. The part is in the [stack] mapping.
 * If that has no room, it is in the stack that the main thread runs on now,
 * such as the stack of a thread, a coroutine, or a signal handler. Return 0, or
 * -1 with errstr set.
 *
 * Writing to the part rarely adds pages to the process. It does so only if the
 * stack was never deeper than now, or if all pages below are shared. Then it
 * adds one page, or three if the thread has AMX tiles.
 */
int
unusedstack_find(struct inject *inj, const struct vmas *l)
{
	const struct frame w = { .tid = inj->tid, .gadget = &inj->gadget,
	    .regs = &inj->regs, .mapped.iov_len = 1 };
	const struct vma *v;
	struct vma other;
	struct stacks none;
	size_t i;
	bool has;
	int len;

	for (v = NULL, i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, "[stack]") == 0)
			v = &l->v[i];
	if ((len = frame_build(inj->buf, 0, &w, &none)) == -1)
		return inject_refused(inj, "extended state");
	if (v != NULL && take_unused(inj, v, (size_t)len))
		return 0;
	has = thread_stack(inj, l, &other);
	if (v == NULL && !has)
		return errstr_set("it has no stack");
	return has && take_unused(inj, &other, (size_t)len) ? 0 :
	    errstr_set("no room on its stack");
}
