/*
 * Read mountinfo of processes. Processes that are not stopped may change it,
 * so it is read in the stop. It is read once for all processes with the same
 * mount namespace and root directory, which see the same text (show_mountinfo
 * of fs/proc_namespace.c). Record the mounts of mapped files as well: a process
 * may have mapped files before it entered its mount namespace.
 */
#include "calls.h"
#include "spaces.h"
#include "task.h"
#include "vec.h"

#include <fcntl.h>
#include <inttypes.h>

/*
 * Set *w to the identity of the root directory of process pid. Return false if
 * it cannot be read.
 */
static bool
rootid_read(pid_t pid, struct rootid *w)
{
	struct filemount f;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root", pid);
	if (call_filemount(AT_FDCWD, path, &f) == -1 || f.mount == -1)
		return false;
	*w = (struct rootid){ f.ino, (uint64_t)f.mount, f.dev };
	return true;
}

/*
 * Return the mountinfo of process p, which set l owns, or NULL with errno set.
 */
static struct bytes *
mounts_read(struct live *l, const struct lproc *p)
{
	struct bytes *text;

	if ((text = pool_new(&l->pool, 1, sizeof *text)) == NULL ||
	    proc_read(p->mmtid, 0, "mountinfo", text) == -1)
		return NULL;
	return text->data == NULL || pool_own(&l->pool, text->data) != NULL ?
	    text : NULL;
}

/*
 * Set p->mounts to the mountinfo of process p, and p->root to its root
 * directory. p must be stopped, and must have memory. On failure p->mounts
 * stays NULL.
 */
void
mounted_read(struct live *l, struct lproc *p)
{
	const struct rootid *root = &p->root;
	const uint64_t ns = rootid_read(p->mmtid, &p->root) ?
	    ns_number(p->mmtid, "mnt") : 0;
	void *alone = NULL, **text = NULL;

	if (ns != 0)
		text = live_cell(l, "mounts %ju %ju %ju %ju", (uintmax_t)ns,
		    (uintmax_t)root->ino, (uintmax_t)root->mount,
		    (uintmax_t)root->dev);
	if (text == NULL)
		text = &alone;	/* share the text with no process */
	if (*text == NULL && (*text = mounts_read(l, p)) == NULL &&
	    proc_islost(errno))
		live_warn(l, "process %d: its mounts are missing: %s", p->pid,
		    strerror(errno));
	p->mounts = *text;
}

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
