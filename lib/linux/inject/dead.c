/*
 * Where the stack of a thread is dead: below its stack pointer, and what the
 * ABI lets functions use there.
 */
#include "linux/pages/pages.h"
#include "linux/proc/proc.h"
#include "num.h"
#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	NEAR = 64,		/* pages that are looked at for one that is
				   not shared, */
	FAR = 1024		/* and for one that is there */
};

/*
 * Return true if n pages, of which these are the entries in pagemap, are there,
 * so that to write to them adds none and waits for nobody (userfaultfd(2));
 * with alone, if they are mapped by this process only, so that it gets no
 * copies of them.
 */
static bool
are_there(const uint64_t *entry, size_t n, bool alone)
{
	const uint64_t there = alone ? PME_EXCLUSIVE : PME_PRESENT |
	    PME_SWAPPED;
	size_t i;

	for (i = 0; i < n; i++)
		if ((entry[i] & there) == 0 || (entry[i] & PME_UFFD) != 0)
			return false;
	return true;
}

/*
 * Return true if a mapping may be a stack: private memory of no file, and not
 * under userfaultfd(2), as far as that is told, where who writes might wait.
 */
static bool
is_stack(const struct vma *v)
{
	return v->ino == 0 && (v->flags & (VMA_READ | VMA_WRITE |
	    VMA_SHARED | VMA_UFFD)) == (VMA_READ | VMA_WRITE);
}

/*
 * Return where the guard below a mapping v of l begins; v->start if it has
 * none.
 */
static uint64_t
guarded_from(const struct vmas *l, const struct vma *v)
{
	const unsigned int rights = VMA_READ | VMA_WRITE | VMA_EXEC;

	return v > l->v && v[-1].end == v->start && (v[-1].flags & rights) ==
	    0 ? v[-1].start : v->start;
}

/*
 * Return where the pages begin that are above the nearest guard below address
 * sp (MADV_GUARD_INSTALL of madvise(2)), in a mapping that begins at start; 0
 * if there is none, or the kernel does not report guards.
 */
static uint64_t
guard_below(const struct inject *in, uint64_t start, uint64_t sp)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at, end, entry[FAR], found;
	size_t n;
	int fd;

	if ((fd = proc_open(in->pid, in->tid, "pagemap", O_RDONLY)) == -1)
		return 0;
	found = 0;
	for (end = sp - sp % size; found == 0 && end > start; end = at) {
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
 * Set *stack to the stack of a thread that the leader runs on, for it was
 * forked by one: private memory above a guard, which is a mapping or, with
 * glibc from 2.42 on, in the same mapping.  Return false if it runs on
 * something else.
 */
static bool
thread_stack(const struct inject *in, const struct vmas *l, struct vma *stack)
{
	const uint64_t sp = gregs_sp(&in->regs);
	const struct vma *v;
	uint64_t low;

	if ((v = vmas_find(l, sp)) == NULL || !is_stack(v))
		return false;
	*stack = *v;
	if ((low = guard_below(in, v->start, sp)) != 0)
		stack->start = low;
	return low != 0 || guarded_from(l, v) < v->start;
}

/*
 * Find len bytes between lower and at, and not far from that, of those best
 * that are in pages which the process does not share, as after fork(2), else in
 * such as are there.  Where there are none, return at.
 */
static uint64_t
find_pages(const struct inject *in, uint64_t lower, uint64_t at, size_t len)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t end = (at + len + size - 1) / size * size;
	uint64_t entry[FAR], best, p, start;
	const uint64_t *e;
	size_t i, n;
	ssize_t got;
	int fd;

	n = (end - lower) / size < FAR ? (size_t)((end - lower) / size) : FAR;
	start = end - n * size;
	if ((fd = proc_open(in->pid, in->tid, "pagemap", O_RDONLY)) == -1)
		return at;
	got = pagemap_read(fd, start, end, entry, n);
	close(fd);
	if (got != (ssize_t)n)
		return at;
	best = 0;
	for (i = 0, p = at; p >= start && (i < NEAR || best == 0);
	    i++, p -= size) {
		e = &entry[(p - start) / size];
		n = (size_t)((p + len - 1) / size - p / size + 1);
		if (are_there(e, n, true))
			return p;
		if (best == 0 && are_there(e, n, false))
			best = p;
	}
	return best != 0 ? best : at;
}

/*
 * Take len bytes of a stack that are dead: below the stack pointer, where it
 * was once, in one page if they fit there; or, when the leader is on another
 * stack, at the very end, if that was never reached.  False if there is no
 * room for them.
 */
static bool
take_dead(struct inject *in, const struct vma *v, size_t len)
{
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at;
	bool below;

	at = gregs_sp(&in->regs) - (uint64_t)(isa.redzone + len);
	at -= at % 64;
	if (len <= size && at / size != (at + len - 1) / size)
		at -= at % size;
	below = gregs_sp(&in->regs) >= v->start && gregs_sp(&in->regs) < v->end;
	if (below && at < v->start)
		return false;
	at = below ? find_pages(in, v->start, at, len) : v->start;
	if (pread(in->mem, in->was, len, (off_t)at) != (ssize_t)len ||
	    (!below && !bytes_arezero(in->was, len)))
		return false;
	in->dead = at;
	in->len = len;
	return true;
}

/*
 * Find where the stack of the leader of in is dead, by the mappings l of the
 * process: its own or, if it is on another (of a thread, of a coroutine, or for
 * signals) and has used its own to the end, the one of a thread.  Only if it
 * was never further down than now, or shares all of that, do we add to it: a
 * page, or three for a thread that has tiles.  Return 0, or -1 with errstr.
 */
int
dead_find(struct inject *in, const struct vmas *l)
{
	const struct way w = { .tid = in->tid, .gadget = &in->gadget,
	    .regs = &in->regs, .mapped.iov_len = 1 };
	const struct vma *v;
	struct vma other;
	struct stacks none;
	size_t i;
	bool has;
	int len;

	for (v = NULL, i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, "[stack]") == 0)
			v = &l->v[i];
	len = frame_build(in->buf, 0, &w, &none);
	if (len == -1)
		return inject_refused(in, "extended state");
	has = thread_stack(in, l, &other);
	if (v == NULL && !has)
		return errstr_set("it has no stack");
	if ((v != NULL && take_dead(in, v, (size_t)len)) ||
	    (has && take_dead(in, &other, (size_t)len)))
		return 0;
	return errstr_set("no room on its stack");
}
