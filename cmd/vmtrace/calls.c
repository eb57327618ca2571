/*
 * Track mappings that are created, changed and removed: from the system calls
 * that do it, and from the kernel's records of new mappings, which already
 * include neighbours that they were merged with.
 */
#include "vmtrace.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <unistd.h>

enum { MAX_ERRNO = 4095 };	/* system calls return -1 to -4095 for errors */

static uint64_t
page_up(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) & ~(page - 1);
}

/*
 * Add a line to s for t, an event that affects len bytes at address addr in the
 * process of thread th. event is the word for t in the line. v is the mapping
 * at addr, or NULL.
 */
static void
map_line(struct stream *s, const struct thread *th, const struct trace *t,
    const char *event, uint64_t addr, uint64_t len, const struct vma *v)
{
	struct line *l;
	char perm[5] = "";

	l = line_add(&s->out, t->rec->time, th->process->pid, th->tid);
	if (v == NULL) {
		line_text(l, "%-7s %16jx +0x%jx", event, (uintmax_t)addr,
		    (uintmax_t)len);
		return;
	}
	vma_perms(v, perm);
	line_text(l, "%-7s %16jx +0x%jx %s %s+0x%jx", event, (uintmax_t)addr,
	    (uintmax_t)len, perm, vma_label(v),
	    (uintmax_t)(v->off + (addr > v->start ? addr - v->start : 0)));
}

/*
 * Return true if p is a 32-bit process on a 64-bit machine. Such a process uses
 * different system call numbers.
 */
static bool
is_compat(const struct process *p)
{
	const struct vmas *l = &p->map;

	return sizeof(long) == 8 && l->n > 0 &&
	    l->v[l->n - 1].end <= (uint64_t)1 << 32;
}

/*
 * Record that thread th has begun the system call that t reports.
 */
void
call_begin(struct thread *th, const struct trace *t)
{
	th->calling = !is_compat(th->process);
	memcpy(th->call, t->arg, sizeof th->call);
}

static void
brk_end(struct stream *s, struct thread *th, const struct trace *t,
    uint64_t brk, bool late)
{
	struct process *p = th->process;
	uint64_t old = p->brk;
	struct line *l;

	p->brk = brk;
	/* it only asked for the break, or the break did not move */
	if (th->call[1] == 0 || brk != th->call[1] || brk == old)
		return;
	l = line_add(&s->out, t->rec->time, p->pid, th->tid);
	if (old == 0)
		line_text(l, "%-7s %16jx", "brk", (uintmax_t)brk);
	else
		line_text(l, "%-7s %16jx %c0x%jx", "brk", (uintmax_t)brk,
		    brk > old ? '+' : '-', (uintmax_t)(brk > old ? brk - old :
		    old - brk));
	if (late && brk < old)
		must_do(vmas_unmap(&p->map, page_up(brk), page_up(old)));
}

static void
unmap_end(struct stream *s, struct thread *th, const struct trace *t,
    bool late)
{
	struct vmas *map = &th->process->map;
	uint64_t addr = th->call[1], end;

	end = addr + page_up(th->call[2]);
	map_line(s, th, t, "unmap", addr, end - addr, vmas_find(map, addr));
	if (late)
		must_do(vmas_unmap(map, addr, end));
}

static void
shmdt_end(struct stream *s, struct thread *th, const struct trace *t,
    bool late)
{
	const struct vma *v;

	if ((v = vmas_find(&th->process->map, th->call[1])) == NULL)
		return;
	map_line(s, th, t, "unmap", v->start, v->end - v->start, v);
	if (late)
		must_do(vmas_unmap(&th->process->map, v->start, v->end));
}

static void
protect_end(struct stream *s, struct thread *th, const struct trace *t,
    bool late)
{
	struct vmas *map = &th->process->map;
	uint64_t addr = th->call[1], len = page_up(th->call[2]);

	if (late)
		must_do(vmas_protect(map, addr, addr + len,
		    vma_flags(th->call[3], 0)));
	map_line(s, th, t, "protect", addr, len, vmas_find(map, addr));
}

static void
remap_end(struct stream *s, struct thread *th, const struct trace *t,
    uint64_t to, bool late)
{
	struct vmas *map = &th->process->map;
	uint64_t addr = th->call[1], old = page_up(th->call[2]);
	uint64_t len = page_up(th->call[3]);
	char event[64];

	/* MREMAP_DONTUNMAP: the old range stays mapped, but empty */
	if (late)
		must_do(vmas_move(map, addr,
		    th->call[4] & MREMAP_DONTUNMAP ? 0 : old, to, len));
	snprintf(event, sizeof event, "remap   %16jx +0x%jx to",
	    (uintmax_t)addr, (uintmax_t)old);
	map_line(s, th, t, event, to, len, vmas_find(map, to));
}

static void
map_end(struct stream *s, struct thread *th, const struct trace *t,
    uint64_t addr)
{
	const struct vma *v;
	uint64_t len;

	v = vmas_find(&th->process->map, addr);
	len = th->call[0] == SYS_mmap ? page_up(th->call[2]) :
	    v == NULL ? 0 : v->end - addr;
	map_line(s, th, t, "map", addr, len, v);
}

/*
 * Handle t, the return of thread th from a system call. If the call succeeded
 * and changed mappings, print a line for it, and update the mappings, unless
 * they were read after this event.
 */
void
call_end(struct stream *s, struct thread *th, const struct trace *t)
{
	uint64_t ret = t->arg[1];
	bool late = t->rec->time >= th->process->since;

	if (!th->calling || t->arg[0] != th->call[0])
		return;
	th->calling = false;
	if (ret >= (uint64_t)-MAX_ERRNO)
		return;
	switch (th->call[0]) {
	case SYS_brk:
		brk_end(s, th, t, ret, late);
		break;
	case SYS_munmap:
		unmap_end(s, th, t, late);
		break;
	case SYS_shmdt:
		shmdt_end(s, th, t, late);
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		protect_end(s, th, t, late);
		break;
	case SYS_mremap:
		remap_end(s, th, t, ret, late);
		break;
	case SYS_mmap:
	case SYS_shmat:
		map_end(s, th, t, ret);
	}
}

/*
 * Handle t, a new mapping that thread th made. Update the mappings, unless they
 * were read after this event. If the thread is in a system call, call_end()
 * prints the line. Otherwise print it here.
 */
void
mapping_made(struct stream *s, struct thread *th, const struct trace *t)
{
	struct vmas *map = &th->process->map;
	const struct perfrec *r = t->rec;
	const struct vma *old;
	struct vma v = { 0 };
	bool grows, anon;
	char name[4096];

	v.start = r->addr;
	if (__builtin_add_overflow(r->addr, r->len, &v.end))
		return;
	v.dev = makedev(r->major, r->minor);
	v.ino = r->ino;
	v.off = r->ino == 0 ? 0 : r->off;
	v.flags = vma_flags(r->prot, r->flags);
	anon = strcmp(r->name, "//anon") == 0;
	strlcpy(name, !anon ? r->name : th->calling &&
	    th->call[0] == SYS_brk ? "[heap]" : "", sizeof name);
	v.name = name;
	old = v.end == 0 ? NULL : vmas_find(map, v.end - 1);
	grows = old != NULL && old->start > v.start && old->end == v.end &&
	    old->flags & v.flags & VMA_GROWSDOWN;
	if (!th->calling)
		map_line(s, th, t, grows ? "grow" : "map", v.start,
		    grows ? old->start - v.start : v.end - v.start, &v);
	if (r->time >= th->process->since)
		must_do(vmas_map(map, &v));
}
