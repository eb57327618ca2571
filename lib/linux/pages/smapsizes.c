/*
 * Page counts of mappings in smaps: how many pages are present, and how many
 * are mapped as huge pages. Used if the kernel has no PAGEMAP_SCAN (before
 * Linux 6.7). Pages that pagemap shows and smaps does not count are zero pages,
 * except in device memory (proc_pid_smaps(5)).
 */
#include "bisect.h"
#include "linux/proc/proc.h"
#include "pages.h"
#include "vec.h"

/*
 * Read the smaps file of thread tid into l. The caller frees l, even after a
 * failure. Return 0, or -1 with errstr set.
 */
int
smapsizes_read(struct smapsizes *l, pid_t tid)
{
	struct bytes b;
	struct scan t;
	struct smap m;
	int rc;

	if (proc_read(tid, 0, "smaps", &b) == -1)
		return errno == ESRCH || errno == ENOENT ?
		    errstr_set("it ended before it was read") :
		    errstr_sys("smaps");
	for (t = scan_begin(b.data, b.len); (rc = smap_next(&t, &m)) == 1;) {
		rc = VEC_ADD(l->v, l->n, (struct smapsize){ m.vma.start,
		    m.vma.end, m.mapping.rss, m.mapping.swap, m.mapping.huge,
		    (m.mapping.flags & VMF_DEVICE) != 0 });
		if (rc == -1)
			break;
	}
	free(b.data);
	return rc;
}

/*
 * Return the counts in l for the mapping with the same start and end as v, or
 * NULL if there is none.
 */
const struct smapsize *
smapsizes_find(const struct smapsizes *l, const struct vma *v)
{
	const struct smapsize *t;

	t = FIND(l->v, l->n, start, v->start);
	return t != NULL && t->end == v->end ? t : NULL;
}

/*
 * Free the counts in l, and make l empty.
 */
void
smapsizes_free(struct smapsizes *l)
{
	free(l->v);
	*l = (struct smapsizes){ 0 };
}
