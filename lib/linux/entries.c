/*
 * The entries of /proc/PID/pagemap for all mappings of a process, in as few
 * calls as will do: large ones, across the borders of mappings, and none for
 * what is empty.
 */
#include "live.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	LEAST = 64,		/* entries of a call: behind a hole */
	MOST = 8192		/* and while there is no end */
};

struct walk {
	int		 fd;	/* pagemap */
	const struct vmas *l;	/* borrowed */
	size_t		 n;	/* mappings that pagemap has */
	size_t		 i;	/* the one that is next */
	uint64_t	 addr;	/* the page that is next */
	uint64_t	 page;	/* bytes */
	uint64_t	*v;	/* owned; MOST entries */
	size_t		 want;
	bool		 hole;	/* nothing may be at addr */
};

/*
 * Go to the next mapping, and over a hole: 1, 0 at the end, or -1.
 */
static int
walk_seek(struct walk *w)
{
	int rc;

	while (w->i < w->n && w->l->v[w->i].end <= w->addr)
		w->i++;
	if (w->i == w->n)
		return 0;
	if (w->addr < w->l->v[w->i].start)
		w->addr = w->l->v[w->i].start;
	if (!w->hole)
		return 1;
	w->hole = false;
	rc = pagemap_first(w->fd, &w->addr, w->l->v[w->n - 1].end);
	/* what was found may be of a mapping that is new */
	return rc == 1 ? walk_seek(w) : rc;
}

/*
 * Read entries from w->addr on, no more than are in mappings: how many, 0 at
 * the end, or -1.
 */
static ssize_t
walk_read(struct walk *w)
{
	uint64_t stop;
	ssize_t n;
	size_t i;

	stop = w->addr + w->want * w->page;
	for (i = w->i; i + 1 < w->n && w->l->v[i + 1].start < stop; i++)
		continue;
	if (stop > w->l->v[i].end)
		stop = w->l->v[i].end;
	n = pread(w->fd, w->v, (stop - w->addr) / w->page * sizeof *w->v,
	    (off_t)(w->addr / w->page * sizeof *w->v));
	return n == -1 ? errstr_sys("pagemap") : n / (ssize_t)sizeof *w->v;
}

/*
 * Hand out n entries, a mapping at a time.
 */
static int
walk_give(struct walk *w, size_t n, entries_fn fn, void *arg)
{
	struct entries e;
	const struct vma *v;
	uint64_t end, to;
	size_t i;

	end = w->addr + n * w->page;
	for (i = w->i; i < w->n && w->l->v[i].start < end; i++) {
		v = &w->l->v[i];
		e.vma = i;
		e.addr = v->start > w->addr ? v->start : w->addr;
		to = v->end < end ? v->end : end;
		e.v = w->v + (e.addr - w->addr) / w->page;
		e.n = (to - e.addr) / w->page;
		if (fn(arg, &e) == -1)
			return -1;
	}
	w->hole = w->v[n - 1] == 0;
	w->want = w->hole ? LEAST : w->want < MOST ? w->want * 2 : MOST;
	w->addr = end;
	return 0;
}

/*
 * Call fn for the entries of mappings, ascending, until it returns -1; those
 * of pages that are not there may be left out.  fd is the process's pagemap;
 * an error, too, is its end before the last.
 */
int
pagemap_entries(int fd, const struct vmas *l, entries_fn fn, void *arg)
{
	struct walk w = { .fd = fd, .l = l, .want = LEAST, .hole = true };
	ssize_t n;
	int rc;

	w.page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (w.n = l->n; w.n > 0 && l->v[w.n - 1].start > INT64_MAX; w.n--)
		continue;		/* [vsyscall] is not there */
	if ((w.v = calloc(MOST, sizeof *w.v)) == NULL)
		return errstr_set("out of memory");
	while ((rc = walk_seek(&w)) == 1) {
		if ((n = walk_read(&w)) == 0)
			n = errstr_set("it ended meanwhile");
		rc = n == -1 ? -1 : walk_give(&w, (size_t)n, fn, arg);
		if (rc == -1)
			break;
	}
	free(w.v);
	return rc;
}
