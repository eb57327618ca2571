/*
 * Make images of the text and the memory of a stopped process, or of its clone.
 * Only the page map is read here, no contents: extents say where the bytes are.
 *
 * Each page of a mapping is taken by its kind:
 *
 *	anonymous, present or in swap	the memory of the process
 *	shared zero page		zeros
 *	of a file, unmodified		the file, if it is to be taken; on an
 *					overlay, the memory; shared memory is a
 *					file of tmpfs
 *	guard, device, secret,
 *	of the kernel ([vvar])		missing
 *	of a ring of io_setup(2)	the memory of the process, all of it
 *	never touched			nothing; missing, if of a file that is
 *					not taken
 *
 * treatment.c decides which files are taken.
 */
#include "linux/clone/clone.h"
#include "linux/file/file.h"
#include "linux/pages/pages.h"
#include "model.h"
#include "taking.h"

#include <linux/magic.h>

#include <unistd.h>

struct taking {
	struct builder	 build;
	struct lproc	*proc;	/* borrowed */
	struct source	*mem;	/* borrowed; memory of the process or of its
				   clone */
	struct source	*alone;	/* borrowed; pages that no other process
				   maps, or NULL */
	struct source	*far;	/* borrowed; source of memory read through the
				   proxy, or NULL */
	struct source	*from;	/* borrowed; source of the current mapping's
				   pages */
	uint64_t	 shift;	/* add this to an address to get its location in
				   the source "from" */
	struct source	*text;	/* borrowed; the executable, or NULL */
	const struct vma *vma;	/* borrowed; the current mapping */
	const struct vma *vdso;	/* borrowed; the mapping [vdso], which is taken
				   whole */
	struct source	*file;	/* borrowed; file of the current mapping, or
				   NULL */
	bool		 overlay; /* the file is on an overlay, and no copy of
				     it was made during the stop */
	bool		 mapped; /* "file" is the memory where it is mapped */
	bool		 resident; /* resident pages of the file are taken from
				      the memory */
	int		 fd;	/* borrowed; descriptor of "file"; -1: do not
				   look for holes */
	uint64_t	 filesize;
	uint64_t	 page;
	uint64_t	 done;	/* addresses below this one were taken
				   already */
	enum treatment	 how;
	struct buf	*pages;	/* borrowed; the "pages" file of the record */
	uint64_t	 ownstart;	/* start of the last run of own pages,
					   which is not yet in "pages" */
	uint64_t	 ownend; /* end of that last run (exclusive); 0: no
				    run */
};

/*
 * Take the addresses from start to end (exclusive) of the mapping from its
 * file, up to the last page of the file.
 */
static int
take_file(struct taking *k, uint64_t start, uint64_t end)
{
	const struct vma *v = k->vma;
	uint64_t off, most;

	off = start - v->start + v->off;
	most = (k->filesize + k->page - 1) / k->page * k->page;
	if (off >= most)
		return 0;
	if (end - start > most - off)
		end = start + (most - off);
	return builder_run(&k->build, start, (end - start) / KB, k->file,
	    k->mapped ? start : off);
}

/*
 * Take the addresses from start to end (exclusive) of the mapping from its
 * file, without the holes of the file.
 */
static int
take_data(struct taking *k, uint64_t start, uint64_t end)
{
	const struct vma *v = k->vma;
	uint64_t page = k->page, from, to;
	off_t off, data, hole;

	if (k->fd == -1)
		return take_file(k, start, end);
	off = (off_t)(start - v->start + v->off);
	while (start < end) {
		if ((data = lseek(k->fd, off, SEEK_DATA)) == -1)
			return errno == ENXIO ? 0 : take_file(k, start, end);
		if ((hole = lseek(k->fd, data, SEEK_HOLE)) == -1)
			return take_file(k, start, end);
		from = start + (uint64_t)(data - off) / page * page;
		to = start + ((uint64_t)(hole - off) + page - 1) / page * page;
		if (to > end)
			to = end;
		if (from < to && take_file(k, from, to) == -1)
			return -1;
		off += (off_t)(to - start);
		start = to;
	}
	return 0;
}

/*
 * Take the addresses from k->done to end, where the process has no pages of its
 * own. k->how says what this means: read them from the file, record them as
 * missing, or skip them.
 */
static int
take_gap(struct taking *k, uint64_t end)
{
	uint64_t start;

	start = k->done;
	k->done = end;
	if (start >= end)
		return 0;
	if (k->how == TAKE_FILE)
		return take_file(k, start, end);
	if (k->how == TAKE_DATA || k->how == TAKE_DUMPED)
		return take_data(k, start, end);
	if (k->how == TAKE_PRESENT || k->how == LEAVE_FILE)
		return image_miss(k->build.image, start, end,
		    k->vma->name[0] == '[' ? "kernel" : "file");
	return 0;
}

static void
own_flush(struct taking *k)
{
	if (k->ownend != 0)
		buf_printf(k->pages, "%jx %jx\n", (uintmax_t)k->ownstart,
		    (uintmax_t)k->ownend);
	k->ownend = 0;
}

/*
 * Add the addresses from start to end (exclusive) to the list of pages that
 * belong to the process itself, which becomes the file "pages" of
 * snap-linux(6).
 */
static void
own_add(struct taking *k, uint64_t start, uint64_t end)
{
	if (k->ownend != start) {
		own_flush(k);
		k->ownstart = start;
	}
	k->ownend = end;
}

static int
take_run(void *arg, const struct pagerun *r)
{
	struct taking *k = arg;
	const struct vma *v = k->vma;
	uint64_t start, end;
	bool unmodified;

	start = r->start > k->done ? r->start : k->done;
	end = r->end < v->end ? r->end : v->end;
	if (start >= end)
		return 0;
	if (r->what & PM_HUGE && !(r->what & PM_ZERO) &&
	    k->how == TAKE_MEMORY && k->proc->clone != 0 &&
	    k->proc->head == NULL)
		huge_note(k->proc, r);
	if ((!(v->flags & VMA_SHARED) || vma_isring(v)) &&
	    k->vma != k->vdso && !(r->what & (PM_FILE | PM_ZERO | PM_GUARD)))
		own_add(k, start, end);
	unmodified = k->how != TAKE_MEMORY && k->how != TAKE_PRESENT &&
	    !(r->what & PM_GUARD) && !k->resident &&
	    (v->flags & VMA_SHARED || r->what & PM_FILE);
	if (unmodified && (k->how == TAKE_FILE || k->how == LEAVE_FILE))
		return 0; /* the next take_gap() takes this run with its
			     neighbours */
	if (take_gap(k, start) == -1)
		return -1;
	k->done = end;
	if (unmodified)
		return take_file(k, start, end);
	if (r->what & PM_GUARD)
		return image_miss(k->build.image, start, end, "guard");
	if (r->what & PM_ZERO)
		return builder_run(&k->build, start, (end - start) / KB, NULL,
		    0);
	if (k->alone != NULL && k->from == k->mem &&
	    !(r->what & (PM_SWAPPED | PM_HUGE)))
		return alone_run(&k->build, v, start, end, k->mem, k->alone);
	return builder_run(&k->build, start, (end - start) / KB, k->from,
	    start + k->shift);
}

/*
 * Return how the mapping's file is to be treated. If the file is to be read,
 * make a source of it.
 */
static enum treatment
file_treatment(struct live *l, struct lproc *p, struct snap *s,
    struct taking *k)
{
	const struct vma *v = k->vma;
	struct targetfile f;
	enum treatment how;

	how = treatment_choose(l, p, v, &f);
	if (f.fd == -1)
		return how;
	k->filesize = (uint64_t)f.st.st_size;
	k->overlay = f.type == OVERLAYFS_SUPER_MAGIC &&
	    !shmcopy_has(l, p, &f.st);
	if (how == TAKE_FILE || how == TAKE_DATA || how == TAKE_DUMPED) {
		k->file = file_source(s, &f, v->name, &k->fd);
		if (k->file == NULL)
			return TAKE_FAILED;
		if ((how == TAKE_FILE ? k->file != k->text :
		    file_isunlinked(v, &f.st)) &&
		    carry_note(l, p, v, k->file, &f.st, how == TAKE_DATA) ==
		    -1)
			return TAKE_FAILED;
	}
	file_close(&f);
	/* the beginning of the file is embedded, or is the text */
	return how == TAKE_FILE && l->opts.heads &&
	    !file_isunlinked(v, &f.st) ? LEAVE_FILE : how;
}

static enum treatment
vma_treatment(struct live *l, struct lproc *p, struct snap *s,
    struct taking *k)
{
	const struct vma *v = k->vma;

	if (strncmp(v->name, "[vvar", 5) == 0 ||
	    strcmp(v->name, "[vsyscall]") == 0)
		return LEAVE_KERNEL;
	if (v->flags & VMA_DEVICE)
		return LEAVE_DEVICE;
	if (strcmp(v->name, "/secretmem (deleted)") == 0)
		return LEAVE_SECRET;
	/* a process has all of the [vdso], even pages that it never touched */
	if (strcmp(v->name, "[vdso]") == 0) {
		k->vdso = v;
		own_add(k, v->start, v->end);
		k->file = vdso_source(l, s, k->mem, v, p->clone != 0);
		k->filesize = v->end - v->start;
		return k->file == NULL ? TAKE_PRESENT : TAKE_FILE;
	}
	/* System V shared memory may have the inode 0 */
	if (vma_isring(v) || (v->ino == 0 && v->dev == 0))
		return TAKE_MEMORY;
	return file_treatment(l, p, s, k);
}

/*
 * Record the whole mapping as missing, and warn the user unless it belongs to
 * the kernel.
 */
static int
vma_leave(struct live *l, struct lproc *p, struct taking *k)
{
	static const char *const why[] = {
		[LEAVE_KERNEL] = "kernel",
		[LEAVE_DEVICE] = "device",
		[LEAVE_SECRET] = "secret",
	};
	const struct vma *v = k->vma;

	if (k->how != LEAVE_KERNEL)
		live_warn(l, "process %d: %jx-%jx %s is left out: %s memory",
		    p->pid, (uintmax_t)v->start, (uintmax_t)v->end, v->name,
		    why[k->how]);
	return image_miss(k->build.image, v->start, v->end, why[k->how]);
}

/*
 * Take the pages of the mapping that the clone lacks, as described by its gaps,
 * starting with gap r.
 */
static int
take_lacking(struct taking *k, const struct lproc *p, const struct gap *r)
{
	struct source *const own = k->from;
	int rc;

	for (rc = 0; rc == 0 && r < p->gap + p->ngaps &&
	    r->start < k->vma->end; r++) {
		if (r->what & GAP_NOTHING)
			continue;
		if (r->src != NULL) {
			k->from = r->src;
			k->shift = r->loc - r->start;
		}
		rc = take_run(k, &(struct pagerun){ r->start, r->end,
		    r->what });
		k->from = own;
		k->shift = 0;
	}
	return rc;
}

/*
 * Set k->from to the source of the mapping's memory. If the file of the mapping
 * is on a file server, this source uses the proxy. A page that is present now
 * may be gone when it is read; the read may then never end.
 */
static int
vma_source(struct live *l, struct lproc *p, struct snap *s, struct taking *k)
{
	const struct vma *v = k->vma;

	k->from = k->mem;
	if ((v->ino == 0 && v->dev == 0) || vma_isring(v) ||
	    localfs_hasdevice(p->pid, v->dev))
		return 0;
	if (k->far == NULL && (k->far = source_live(l, s, p, true)) == NULL)
		return -1;
	k->from = k->far;
	return 0;
}

/*
 * Choose how to read the file of the current mapping of process p, if it is on
 * an overlay. Before a file of a lower layer is written to, overlayfs copies it
 * to the upper layer. From then on the copy is opened, also through map_files,
 * although the process still has the old file mapped. So read through the
 * mapping of the clone, or take resident pages from the process, which must not
 * get more of them. Memory that may not be read, or that the clone lacks, is
 * taken from the file all the same. gap is a gap in the mapping, or NULL.
 */
static void
overlay_choose(struct taking *k, const struct lproc *p, const struct gap *gap)
{
	const bool reads = k->overlay && k->how != LEAVE_FILE &&
	    gap == NULL && k->vma->flags & VMA_READ;

	k->mapped = reads && p->clone != 0;
	k->resident = reads && p->clone == 0;
	if (k->mapped)
		k->file = k->from;
}

static int
vma_take(struct live *l, struct lproc *p, struct snap *s, struct taking *k)
{
	const struct vma *v = k->vma;
	const struct pagerun ring = { .start = v->start, .end = v->end };
	const struct gap *gap;

	k->fd = -1;
	k->file = NULL;
	k->overlay = false;
	k->done = v->start;
	if (vma_source(l, p, s, k) == -1)
		return -1;
	k->how = vma_treatment(l, p, s, k);
	if (k->how == TAKE_FAILED)
		return -1;
	if (k->how >= LEAVE_KERNEL)
		return vma_leave(l, p, k);
	gap = gap_find(p, v->start, v->end);
	overlay_choose(k, p, gap);
	if (gap != NULL) {
		if (take_lacking(k, p, gap) == -1)
			return -1;
	} else if (vma_isring(v)) {
		/* reading it maps present pages, and creates none */
		if (take_run(k, &ring) == -1)
			return -1;
	} else if (pagemap_walk(source_live_pagemap(k->mem), v->start, v->end,
	    (k->how != TAKE_MEMORY ? PM_FILE : 0) |
	    (k->alone != NULL || p->clone != 0 ? PM_HUGE : 0), take_run,
	    k) == -1)
		return errstr_wrap("%jx-%jx %s", (uintmax_t)v->start,
		    (uintmax_t)v->end, v->name);
	return take_gap(k, v->end);
}

/*
 * Store the memory of process lp in process p of snapshot s. The memory is read
 * from lp or its clone. t has the facts about lp. Take every present page of
 * every readable mapping, and mapped ELF files whole. Append the address ranges
 * of the pages that belong to lp itself to own, in the format of the file
 * "pages" of the record. Return 0, or -1 with errstr set.
 */
int
memory_image(struct live *l, struct lproc *lp, struct snap *s,
    struct proc *p, const struct task *t, struct buf *own)
{
	struct taking k = { .proc = lp, .pages = own,
	    .page = (uint64_t)sysconf(_SC_PAGESIZE) };
	size_t i;
	int rc;

	/* without a clone, memory would change while an early copy reads it */
	if (t->vma.n == 0 || (l->opts.early != 0 && lp->clone == 0))
		return 0;
	if ((p->mem = image_new(p, IMAGE_MEM)) == NULL ||
	    (k.mem = source_live(l, s, lp, false)) == NULL ||
	    alone_source(l, s, lp, k.mem, &k.alone) == -1)
		return -1;
	k.build.image = p->mem;
	if (lp->memory == k.mem)
		k.mem->image = p->mem;
	if (p->text != NULL)
		k.text = p->text->seg[0]->ext[0].src;
	for (rc = 0, i = 0; i < t->vma.n && rc == 0; i++) {
		k.vma = &t->vma.v[i];
		if (l->opts.early == 0 || vma_isprivate(k.vma))
			rc = vma_take(l, lp, s, &k);
	}
	own_flush(&k);
	return builder_finish(&k.build) == -1 ? -1 : rc;
}

/*
 * Store the executable of process lp, even if it was deleted, as the text of
 * process p of snapshot s. treatment_length() decides whether this is the whole
 * file or its beginning. In the second case, add the file size to rec, the
 * record of p. If the executable cannot be read, warn the user. Return 0, or -1
 * with errstr set.
 */
int
text_image(struct live *l, struct lproc *lp, struct snap *s, struct proc *p,
    struct filelist *rec)
{
	struct targetfile f;
	struct source *src;
	uint64_t size;
	bool failed;
	char *name, why[256];
	int fd;

	failed = false;
	if (file_open(l, lp, "exe", &f, &failed) == -1 || f.st.st_size == 0 ||
	    clone_lost(lp)) {
		/* memory_take() reports a clone that was killed */
		strlcpy(why, f.fd == -1 ? snap_errstr() : "it is empty",
		    sizeof why);
		if (!clone_lost(lp))
			live_warn(l, "process %d: its executable cannot be "
			    "read: %s", lp->pid, why);
		file_close(&f);
		return 0;
	}
	name = proc_link(lp->mmtid, 0, "exe");
	size = treatment_length(l, name, &f.st);
	if (size < (uint64_t)f.st.st_size)
		filelist_text(rec, "size", "%ju\n",
		    (uintmax_t)f.st.st_size);
	src = file_source(s, &f, name == NULL ? "executable" : name, &fd);
	free(name);
	return src == NULL ||
	    (p->text = image_whole(p, src, size)) == NULL ? -1 : 0;
}
