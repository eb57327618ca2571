/*
 * The instructions with which a process makes system calls for us: those that
 * it has, wherever their bytes are in code that stays as it is, of which two
 * are needed (machine.h): what makes a call, and what does rt_sigreturn(2).
 */
#include "linux/file/file.h"
#include "linux/pages/pages.h"
#include "linux/proxy/proxy.h"
#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CODE_STEP = 4096 };	/* bytes that are read at once; a page has them
				   once, or some times */

enum want { WANT_CALL, WANT_BACK, NWANT };

static struct {			/* where they were found last */
	uint64_t	 dev;
	uint64_t	 ino;		/* 0, and dev: the [vdso] */
	uint64_t	 off;
	bool		 known;
} last[NWANT];

struct seeking {
	pid_t		 pid;
	int		 mem;		/* of the process */
	int		 pagemap;
	struct gadgets	*found;		/* addresses are 0: not yet */
};

/*
 * Do others serve the file of a mapping, who may not answer?
 */
static bool
is_far(const struct seeking *s, const struct vma *v)
{
	return v->ino != 0 && !served_not(s->pid, v->dev);
}

static uint64_t *
gadget_place(struct gadgets *g, enum want w)
{
	return w == WANT_CALL ? &g->call : &g->back;
}

static bool
gadgets_whole(const struct gadgets *g)
{
	return g->call != 0 && g->back != 0;
}

/*
 * Read some bytes of a page.  Where others serve the file, it may be gone by
 * now, and may never come.
 */
static ssize_t
seek_read(const struct seeking *s, const struct vma *v, void *buf, size_t len,
    uint64_t at)
{
	return is_far(s, v) && proxy_ison() ?
	    proxy_memory(s->mem, s->pid, true, buf, len, at) :
	    pread(s->mem, buf, len, (off_t)at);
}

/*
 * Look in some code, page by page; with absent, also in pages that the
 * process has not touched, and gets by that, unless others serve the file.
 */
static void
seek_code(struct seeking *s, const struct vma *v, bool absent)
{
	enum { PAGES = 256 };
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at, entry[PAGES], from;
	uint8_t buf[MAX_CODE + CODE_STEP];
	size_t before;
	ssize_t n;

	absent = absent && !is_far(s, v);
	before = 0;		/* bytes that were read before */
	from = v->start;	/* where the entries begin */
	for (at = from; at < v->end && !gadgets_whole(s->found);
	    at += CODE_STEP) {
		if ((at - v->start) % (PAGES * size) == 0) {
			from = at;
			if (pagemap_read(s->pagemap, at, v->end, entry,
			    PAGES) == -1)
				break;
		}
		n = -1;
		if (absent || entry[(at - from) / size] & PME_PRESENT)
			n = seek_read(s, v, buf + MAX_CODE, CODE_STEP, at);
		if (n == CODE_STEP)
			gadgets_seek(s->found, buf + MAX_CODE - before,
			    CODE_STEP + before, at - before);
		before = n == CODE_STEP ? MAX_CODE : 0;
		memcpy(buf, buf + CODE_STEP, MAX_CODE);
	}
}

/*
 * Return true if a mapping is code which stays as it is: that of the kernel,
 * or of a file.  That of a file may change all the same, by who may write to
 * the file.  That does no harm, for each call is looked at where it begins
 * (step.c), and who is led back by it when we are dead does what he could do
 * before.
 */
static bool
is_code(const struct vma *v)
{
	return (v->ino != 0 || strcmp(v->name, "[vdso]") == 0) &&
	    (v->flags & (VMA_READ | VMA_WRITE | VMA_EXEC | VMA_SHARED)) ==
	    (VMA_READ | VMA_EXEC);
}

/*
 * Look where one was found last, in another process or this one, if that is
 * in a mapping, and there.
 */
static void
seek_last(struct seeking *s, enum want w, const struct vma *v)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint8_t code[MAX_CODE];
	uint64_t at, entry;
	ssize_t n;

	at = v->start + last[w].off - v->off;
	if (!last[w].known || v->ino != last[w].ino || v->dev != last[w].dev ||
	    !is_code(v) || at < v->start || at >= v->end ||
	    pagemap_read(s->pagemap, at, at + page, &entry, 1) != 1 ||
	    !(entry & PME_PRESENT))
		return;
	n = seek_read(s, v, code, sizeof code, at);
	if (n > 0)
		(void)(w == WANT_CALL ? gadgets_call : gadgets_back)(s->found,
		    code, (size_t)n, at);
}

/*
 * Remember where they were found.
 */
static void
seek_remember(const struct seeking *s, const struct vmas *l)
{
	const struct vma *v;
	uint64_t at;
	enum want w;

	for (w = 0; w < NWANT; w++) {
		at = *gadget_place(s->found, w);
		if ((v = vmas_find(l, at)) == NULL)
			continue;
		last[w].dev = v->dev;
		last[w].ino = v->ino;
		last[w].off = at - v->start + v->off;
		last[w].known = true;
	}
}

/*
 * Find the instructions g that are needed in process pid, which has the
 * mappings l; mem is its memory.  What lies highest comes first: the [vdso],
 * and the libraries that it was started with, of which all can be found in a
 * few pages, and not one that another of its threads may just unmap.  What it
 * has not touched is looked at last.  Return 0, or -1 with errstr.
 */
int
gadgets_find(struct gadgets *g, pid_t pid, int mem, const struct vmas *l)
{
	struct seeking s = { .pid = pid, .mem = mem, .found = g };
	const struct vma *v;
	enum want w;
	size_t i;
	int absent;

	if ((s.pagemap = proc_open(pid, 0, "pagemap", O_RDONLY)) == -1)
		return errstr_sys("/proc/%d/pagemap", pid);
	memset(g, 0, sizeof *g);
	for (w = 0; w < NWANT; w++)
		for (i = 0; i < l->n && *gadget_place(g, w) == 0; i++)
			seek_last(&s, w, &l->v[i]);
	for (absent = 0; absent < 2; absent++)
		for (i = l->n; i > 0 && !gadgets_whole(g); i--) {
			v = &l->v[i - 1];
			if (is_code(v))
				seek_code(&s, v, absent == 1);
		}
	close(s.pagemap);
	if (!gadgets_whole(g))
		return errstr_set("no instructions for a system call in its "
		    "memory");
	seek_remember(&s, l);
	return 0;
}

/*
 * Find the instructions that are needed in process pid, which runs and has the
 * mappings l, so that they are known when it is stopped.
 */
void
inject_learn(pid_t pid, const struct vmas *l)
{
	struct gadgets g;
	int mem;

	if (!isa.injects)
		return;
	if ((mem = proc_open(pid, 0, "mem", O_RDONLY)) == -1)
		return;
	(void)gadgets_find(&g, pid, mem, l);
	close(mem);
}
