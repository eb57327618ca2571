/*
 * Record the mount of each mapped file of a process. The process may have
 * mapped files before it entered its mount namespace.
 */
#include "calls.h"
#include "spaces.h"
#include "task.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

/*
 * Add to rec, the record of process p, the mount of each mapped file
 * (snap-linux(6), mounts/maps). p must be stopped, and rec must have its
 * mappings. Leave out files whose mount the kernel does not report.
 */
void
mapmounts_record(const struct lproc *p, struct filelist *rec)
{
	const struct file *f = filelist_find(rec, "maps");
	struct vmas maps = { 0 };
	struct filemount m;
	struct buf b = { 0 };
	const struct vma *v;
	char path[96];

	if (f == NULL || vmas_parse(&maps, f->data, f->len) == -1)
		maps.n = 0;
	for (v = maps.v; v < maps.v + maps.n; v++) {
		snprintf(path, sizeof path, "/proc/%d/map_files/%jx-%jx",
		    p->mmtid, (uintmax_t)v->start, (uintmax_t)v->end);
		if (v->name[0] == '/' && call_filemount(AT_FDCWD, path, &m) ==
		    0 && m.mount != -1)
			buf_printf(&b, "%" PRIx64 " %" PRId64 "\n", v->start,
			    m.mount);
	}
	vmas_free(&maps);
	filelist_buf(rec, "mounts/maps", &b);
}
