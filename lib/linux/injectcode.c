/*
 * The instructions with which a process makes system calls for us: those that
 * it has, wherever their bytes are in the code of the files it has mapped.
 */
#include "injectrun.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

/*
 * The instructions that are needed, wherever their bytes are.
 */
static const struct {
	uint8_t	 bytes[4];
	size_t	 len;
	size_t	 at;		/* in struct gadgets */
} want[] = {
	{ "\x0f\x05\xc3", 3, offsetof(struct gadgets, call) },
	{ "\x58\xc3", 2, offsetof(struct gadgets, rax) },
	{ "\x5f\xc3", 2, offsetof(struct gadgets, rdi) },
	{ "\x5e\xc3", 2, offsetof(struct gadgets, rsi) },
};

enum { NWANT = sizeof want / sizeof *want };

static struct {			/* where they were found last */
	uint64_t	 dev;
	uint64_t	 ino;		/* 0: not yet */
	uint64_t	 off;
} last[NWANT];

struct seeking {
	int		 mem;		/* of the process */
	int		 pagemap;
	uint64_t	*found;		/* addresses, as in want; 0: not yet */
};

/*
 * Look for what is not found yet in some bytes of code; how much is missing.
 */
static size_t
seek_bytes(struct seeking *s, const uint8_t *buf, size_t len, uint64_t at)
{
	const uint8_t *p;
	size_t i, left;

	for (left = 0, i = 0; i < NWANT; i++) {
		if (s->found[i] != 0)
			continue;
		p = memmem(buf, len, want[i].bytes, want[i].len);
		if (p != NULL)
			s->found[i] = at + (uint64_t)(p - buf);
		else
			left++;
	}
	return left;
}

/*
 * Look in the code of a file, page by page; with absent, also in pages that
 * the process has not touched, and gets by that.
 */
static size_t
seek_code(struct seeking *s, const struct vma *v, bool absent)
{
	enum { PAGES = 256, SIZE = 4096 };
	uint64_t at, entry[PAGES];
	uint8_t buf[SIZE];
	size_t i, left;
	ssize_t n;

	for (left = 1, i = 0, at = v->start; at < v->end && left > 0;
	    at += SIZE, i++) {
		if (i % PAGES == 0 && pread(s->pagemap, entry, sizeof entry,
		    (off_t)(at / SIZE * 8)) <= 0)
			break;
		if (!absent && entry[i % PAGES] >> 63 == 0)
			continue;
		n = pread(s->mem, buf, sizeof buf, (off_t)at);
		if (n > 0)
			left = seek_bytes(s, buf, (size_t)n, at);
	}
	return left;
}

/*
 * Is a mapping code of a file, which stays as it is?
 */
static bool
is_code(const struct vma *v)
{
	return v->ino != 0 && v->flags & VMA_EXEC &&
	    (v->flags & (VMA_READ | VMA_SHARED)) == VMA_READ;
}

/*
 * Look where they were found last, in another process or this one, if that
 * is there; how much is missing.
 */
static size_t
seek_last(struct seeking *s, const struct vmas *l)
{
	const struct vma *v;
	uint64_t at, entry;
	uint8_t code[4];
	size_t i, k, left;

	for (left = 0, i = 0; i < NWANT; i++) {
		for (k = 0; k < l->n && s->found[i] == 0; k++) {
			v = &l->v[k];
			at = v->start + last[i].off - v->off;
			if (v->ino == last[i].ino && v->dev == last[i].dev &&
			    is_code(v) && at >= v->start && at < v->end &&
			    pread(s->pagemap, &entry, sizeof entry,
			    (off_t)(at / 4096 * 8)) == sizeof entry &&
			    entry >> 63 != 0 && pread(s->mem, code,
			    want[i].len, (off_t)at) == (ssize_t)want[i].len &&
			    memcmp(code, want[i].bytes, want[i].len) == 0)
				s->found[i] = at;
		}
		left += s->found[i] == 0;
	}
	return left;
}

/*
 * Remember where they were found.
 */
static void
seek_remember(const struct seeking *s, const struct vmas *l)
{
	const struct vma *v;
	size_t i;

	for (i = 0; i < NWANT; i++)
		if ((v = vmas_find(l, s->found[i])) != NULL) {
			last[i].dev = v->dev;
			last[i].ino = v->ino;
			last[i].off = s->found[i] - v->start + v->off;
		}
}

/*
 * Find the instructions that are needed, in the code of files, which stays
 * as it is; mem is the memory of the process.  What lies highest comes first:
 * the libraries that it was started with, of which all can be found in a
 * few pages, and not one that another of its threads may just unmap.  What it
 * has not touched is looked at last.
 */
int
gadgets_find(struct gadgets *g, pid_t pid, int mem, const struct vmas *l)
{
	uint64_t found[NWANT] = { 0 };
	struct seeking s = { .mem = mem, .found = found };
	const struct vma *v;
	size_t i, left;
	int absent;

	if ((s.pagemap = proc_open(pid, 0, "pagemap", O_RDONLY)) == -1)
		return errstr_sys("/proc/%d/pagemap", pid);
	left = seek_last(&s, l);
	for (absent = 0; absent < 2; absent++)
		for (i = l->n; i > 0 && left > 0; i--) {
			v = &l->v[i - 1];
			if (is_code(v))
				left = seek_code(&s, v, absent == 1);
		}
	if (left == 0)
		seek_remember(&s, l);
	close(s.pagemap);
	if (left > 0)
		return errstr_set("no instructions for a system call in its "
		    "memory");
	for (i = 0; i < NWANT; i++)
		memcpy((char *)g + want[i].at, &found[i], sizeof found[i]);
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
