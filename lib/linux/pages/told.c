/*
 * What smaps tells of pages: how many are there, and how many are mapped as
 * huge ones, where the kernel has no PAGEMAP_SCAN that tells that (before
 * Linux 6.7).  What pagemap has and smaps does not count is the zero page, but
 * in memory of a device (proc_pid_smaps(5)).
 */
#include "bisect.h"
#include "linux/proc/proc.h"
#include "pages.h"
#include "vec.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Read smaps of thread tid into l.  The caller frees the list, after a failure
 * too.  Return 0, or -1 with errstr.
 */
int
told_read(struct tolds *l, pid_t tid)
{
	struct bytes b;
	struct scan t;
	struct smap m;
	int rc;

	if (proc_read(tid, 0, "smaps", &b) == -1)
		return errno == ESRCH || errno == ENOENT ?
		    errstr_set("it ended meanwhile") : errstr_sys("smaps");
	for (t = scan_begin(b.data, b.len); (rc = smap_next(&t, &m)) == 1;) {
		if ((rc = VEC_ROOM(l->v, l->n)) == -1)
			break;
		l->v[l->n++] = (struct told){ m.vma.start, m.vma.end,
		    m.told.rss, m.told.swap, m.told.huge,
		    (m.told.flags & VMF_DEVICE) != 0 };
	}
	free(b.data);
	return rc;
}

/*
 * Return what l tells of mapping v, or NULL if there is none that begins and
 * ends where it does.
 */
const struct told *
told_find(const struct tolds *l, const struct vma *v)
{
	const struct told *t;

	t = FIND(l->v, l->n, start, v->start);
	return t != NULL && t->end == v->end ? t : NULL;
}

/*
 * Free what l has, which is empty then.
 */
void
told_free(struct tolds *l)
{
	free(l->v);
	*l = (struct tolds){ 0 };
}
