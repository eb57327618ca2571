/*
 * The instructions with which a process makes system calls for us: those that
 * it has, wherever their bytes are in code that stays as it is, of which two
 * are needed.
 *
 * The one makes a call, and gives itself an end:
 *
 *	syscall
 *	pop %rbx, xor %edx, %edx, add $8, %rsp ...	none, or some
 *	ret
 *
 * The other does rt_sigreturn(2), as that does which all handlers of signals
 * return to, in the C library or in the runtime of Go, or with the first:
 *
 *	mov $15, %eax			pop %rax
 *	syscall				ret
 */
#include "linux/file/file.h"
#include "linux/pages/pages.h"
#include "linux/proxy/proxy.h"
#include "run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

enum {
	CODE_PAGE = 4096,	/* bytes of a page: x86-64 has no other */
	CODE_MOST = 32,		/* bytes of instructions that are looked at */
	RET = 0xc3,
	POP = 0x58,		/* and what register, in three bits */
	XOR = 0x31,
	RSP = 4
};

enum want { WANT_CALL, WANT_BACK, NWANT };

/*
 * What does rt_sigreturn(2).
 */
static const struct {
	uint8_t	 bytes[8];
	size_t	 len;
	bool	 pops;
} back[] = {
	{ "\xb8\x0f\0\0\0\x0f\x05", 7, false },
	{ "\xc7\xc0\x0f\0\0\0\x0f\x05", 8, false },
	{ "\x58\xc3", 2, true },
};

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
 * Return how many bytes the code from p on takes off the stack before it
 * returns; -1 if it does anything else that matters to one who then gets all
 * registers anew.
 */
static int
code_skip(const uint8_t *p, const uint8_t *end)
{
	bool high;
	int skip;

	for (skip = 0; p < end && *p != RET;) {
		if (end - p >= 4 && memcmp(p, "\x48\x83\xc4", 3) == 0 &&
		    p[3] < 0x80 && p[3] % 8 == 0) { /* add $n, %rsp */
			skip += p[3];
			p += 4;
			continue;
		}
		/* with a prefix, one of the registers from %r8 on */
		high = (*p & 0xf1) == 0x41;
		p += (*p & 0xf0) == 0x40;
		if (end - p >= 1 && (*p & 0xf8) == POP &&
		    (high || *p != POP + RSP)) {
			skip += 8;
			p++;
		} else if (end - p >= 2 && *p == XOR && p[1] >= 0xc0 &&
		    (high || (p[1] & 7) != RSP))
			p += 2;
		else
			return -1;
	}
	return p < end && skip <= SKIP_MOST ? skip : -1;
}

/*
 * Return whether the bytes from p on, at an address, are those wanted.
 */
static bool
code_take(struct gadgets *g, enum want w, const uint8_t *p, const uint8_t *end,
    uint64_t at)
{
	size_t i;
	int skip;

	if (w == WANT_CALL) {
		if (end - p <= CALL_LEN || memcmp(p, "\x0f\x05", CALL_LEN) !=
		    0 || (skip = code_skip(p + CALL_LEN, end)) == -1)
			return false;
		g->call = at;
		g->skip = (size_t)skip;
		return true;
	}
	for (i = 0; i < sizeof back / sizeof *back; i++)
		if ((size_t)(end - p) >= back[i].len &&
		    memcmp(p, back[i].bytes, back[i].len) == 0) {
			g->back = at;
			g->pops = back[i].pops;
			return true;
		}
	return false;
}

/*
 * Look for what is not found yet in some bytes of code.
 */
static void
seek_bytes(struct seeking *s, const uint8_t *buf, size_t len, uint64_t at)
{
	size_t i;

	for (i = 0; i < len && !gadgets_whole(s->found); i++)
		switch (buf[i]) {
		case 0x0f:
			if (s->found->call == 0)
				(void)code_take(s->found, WANT_CALL, buf + i,
				    buf + len, at + i);
			break;
		case POP:
		case 0xb8:
		case 0xc7:
			if (s->found->back == 0)
				(void)code_take(s->found, WANT_BACK, buf + i,
				    buf + len, at + i);
		}
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
	uint64_t at, entry[PAGES];
	uint8_t buf[CODE_MOST + CODE_PAGE];
	size_t i, before;
	ssize_t n;

	absent = absent && !is_far(s, v);
	before = 0;		/* bytes of the page before */
	for (i = 0, at = v->start; at < v->end && !gadgets_whole(s->found);
	    at += CODE_PAGE, i++) {
		if (i % PAGES == 0 && pagemap_read(s->pagemap, at, v->end,
		    entry, PAGES) == -1)
			break;
		n = -1;
		if (absent || entry[i % PAGES] & PME_PRESENT)
			n = seek_read(s, v, buf + CODE_MOST, CODE_PAGE, at);
		if (n == CODE_PAGE)
			seek_bytes(s, buf + CODE_MOST - before,
			    CODE_PAGE + before, at - before);
		before = n == CODE_PAGE ? CODE_MOST : 0;
		memcpy(buf, buf + CODE_PAGE, CODE_MOST);
	}
}

/*
 * Return true if a mapping is code which stays as it is: that of the kernel,
 * or of a file.  That of a file may change all the same, by who may write to
 * the file.  That does no harm, for each call is looked at where it begins
 * (run.c), and who is led back by it when we are dead does what he could do
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
	uint8_t code[CODE_MOST];
	uint64_t at, entry;
	ssize_t n;

	at = v->start + last[w].off - v->off;
	if (!last[w].known || v->ino != last[w].ino || v->dev != last[w].dev ||
	    !is_code(v) || at < v->start || at >= v->end ||
	    pagemap_read(s->pagemap, at, at + CODE_PAGE, &entry, 1) != 1 ||
	    !(entry & PME_PRESENT))
		return;
	n = seek_read(s, v, code, sizeof code, at);
	if (n > 0)
		(void)code_take(s->found, w, code, code + n, at);
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
 * Find the instructions that are needed; mem is the memory of the process.
 * What lies highest comes first: the [vdso], and the libraries that it was
 * started with, of which all can be found in a few pages, and not one that
 * another of its threads may just unmap.  What it has not touched is looked
 * at last.
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
 * Find them in a process that runs, which has the mappings l, so that they are
 * known when it is stopped.
 */
void
inject_learn(pid_t pid, const struct vmas *l)
{
	struct gadgets g;
	int mem;

	if ((mem = proc_open(pid, 0, "mem", O_RDONLY)) == -1)
		return;
	(void)gadgets_find(&g, pid, mem, l);
	close(mem);
}
#endif
