/*
 * Find the instructions with which a process makes system calls for us. Two are
 * needed, anywhere in code of the process that does not change: one that makes
 * a call, and one that does rt_sigreturn(2) (machine.h).
 */
#include "linux/file/file.h"
#include "linux/pages/pages.h"
#include "linux/proxy/proxy.h"
#include "run.h"

#include <fcntl.h>
#include <unistd.h>

enum { CODE_STEP = 4096 }; /* number of bytes to read at a time; the page size
			      is a multiple of this */

enum want { WANT_CALL, WANT_BACK, NWANT };

static struct {			/* where each instruction was last found, in any
				   process */
	uint64_t	 dev;
	uint64_t	 ino;		/* 0 for the [vdso], like "dev" */
	uint64_t	 off;
	bool		 known;
} last[NWANT];

struct seeking {
	pid_t		 pid;
	int		 mem;		/* descriptor of /proc/PID/mem */
	int		 pagemap;
	struct gadgets	*found; /* result; an address is 0 until it is found */
};

/*
 * Return true if the file of mapping v is on a file system whose server may not
 * answer.
 */
static bool
is_far(const struct seeking *s, const struct vma *v)
{
	return v->ino != 0 && !localfs_hasdevice(s->pid, v->dev);
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
 * Read len bytes at address addr of the process into buf. If the file of
 * mapping v is on a file server, read through the proxy: the page may have been
 * evicted, and the server may never answer. Return the result of pread(2).
 */
static ssize_t
seek_read(const struct seeking *s, const struct vma *v, void *buf, size_t len,
    uint64_t addr)
{
	return is_far(s, v) && proxy_ison() ?
	    proxy_memory(s->mem, s->pid, true, buf, len, addr) :
	    pread(s->mem, buf, len, (off_t)addr);
}

/*
 * Search mapping v for instructions, page by page. Pages that are not resident
 * are searched only if absent is set, because reading makes them resident. If
 * the file of v is on a file server, they are never searched.
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
	before = 0; /* number of bytes kept in buf from the last read */
	from = v->start; /* address of the page that entry[0] describes */
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
 * Return true if the code of mapping v does not change. That is so for the
 * [vdso], and for a private file mapping without write permission.
 *
 * A process that can write to the file can still change the code, but this is
 * harmless. Each of our calls is checked at its entry (see step.c). If we die,
 * a thread that runs the changed code does only what the writer could make it
 * do before.
 */
static bool
is_code(const struct vma *v)
{
	return (v->ino != 0 || strcmp(v->name, "[vdso]") == 0) &&
	    (v->flags & (VMA_READ | VMA_WRITE | VMA_EXEC | VMA_SHARED)) ==
	    (VMA_READ | VMA_EXEC);
}

/*
 * Look for instruction w in mapping v, at the place where it was last found,
 * perhaps in another process. Do nothing if v does not contain that place.
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
 * Remember the file and the offset at which each instruction was found. l has
 * the mappings of the process.
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
 * Find the two instructions for injected calls in process pid, and set *g to
 * their addresses. l has the mappings of the process, and mem is its open
 * /proc/PID/mem. The highest mappings are searched first: the [vdso] and the
 * libraries loaded at start have both instructions within a few pages, and are
 * unlikely to be unmapped. Pages that are not resident are searched last.
 * Return 0, or -1 with errstr set.
 */
int
gadgets_find(struct gadgets *g, pid_t pid, int mem, const struct vmas *l)
{
	struct seeking s = { .pid = pid, .mem = mem, .found = g };
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
		for (i = l->n; i > 0 && !gadgets_whole(g); i--)
			if (is_code(&l->v[i - 1]))
				seek_code(&s, &l->v[i - 1], absent == 1);
	close(s.pagemap);
	if (!gadgets_whole(g))
		return errstr_set("found no system call instruction in its "
		    "memory");
	seek_remember(&s, l);
	return 0;
}

/*
 * While process pid is still running, locate the instructions (gadgets) needed
 * for calls. l has the mappings of the process. Once the process is stopped,
 * gadgets_find() finds the instructions quickly.
 */
void
inject_learn(pid_t pid, const struct vmas *l)
{
	struct gadgets g;
	int mem;

	if (!isa.injects || (mem = proc_open(pid, 0, "mem", O_RDONLY)) == -1)
		return;
	(void)gadgets_find(&g, pid, mem, l);
	close(mem);
}
