/*
 * Snapshots and their processes.
 */
#include "bisect.h"
#include "model.h"
#include "rbtree.h"
#include "vec.h"

CMP(proc_cmp, struct proc, pid)
TREE_GENERATE(proctree, proc, entry, proc_cmp)

/*
 * Return true if embedded file c is System V shared memory, judging by its
 * path.
 */
static bool
embedded_issysv(const struct embedded *c)
{
	return strncmp(c->path, "/SYSV", 5) == 0;
}

/*
 * Compare embedded files a and b by device and inode. If all these numbers are
 * 0 (unknown), compare the paths instead. If the numbers are the same, System V
 * shared memory is greater than another file: its inode number is the ID
 * of the segment, and other shared memory may have the same inode number.
 * Return a number less than, equal to or greater than 0, as strcmp(3) does.
 */
int
embedded_cmp(const struct embedded *a, const struct embedded *b)
{
	if (a->dev != b->dev)
		return ORDER(a->dev, b->dev);
	if (a->ino != b->ino)
		return ORDER(a->ino, b->ino);
	return a->dev != 0 || a->ino != 0 ?
	    embedded_issysv(a) - embedded_issysv(b) : strcmp(a->path, b->path);
}

/*
 * Compare embedded files a and b like embedded_cmp(), and then by path: files
 * of btrfs subvolumes or overlays may have equal numbers (carry_has).
 */
int
embedded_order(const struct embedded *a, const struct embedded *b)
{
	const int c = embedded_cmp(a, b);

	return c != 0 ? c : strcmp(a->path, b->path);
}

/*
 * Free embedded file c, which may be NULL.
 */
void
embedded_free(struct embedded *c)
{
	if (c == NULL)
		return;
	free(c->path);
	free(c);
}

/*
 * Return a new snapshot without processes, or NULL with errstr set if memory
 * runs out.
 */
struct snap *
snap_new(void)
{
	struct snap *s;

	if ((s = mem_new(1, sizeof *s)) == NULL)
		return NULL;
	RB_INIT(&s->bypid);
	return s;
}

/*
 * Free the parsed data of p that borrows from its small files.
 */
static void
borrowed_drop(struct proc *p)
{
	free(p->state);
	if (p->record != NULL)
		free(p->record->at);
	free(p->record);
	p->state = NULL;
	p->record = NULL;
}

/*
 * Free all small files of process p.
 */
void
proc_forget(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->nfile; i++) {
		free(p->file[i].name);
		data_free(p->file[i].data);
	}
	free(p->file);
	borrowed_drop(p);
	p->file = NULL;
	p->nfile = 0;
}

static void
proc_free(struct proc *p)
{
	proc_forget(p);
	image_free(p->text);
	image_free(p->mem);
	embedded_free(p->embedded);
	free(p);
}

/*
 * Free snapshot s, which may be NULL, with everything it owns, and close its
 * sources.
 */
void
snap_free(struct snap *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nproc; i++)
		proc_free(s->proc[i]);
	while (s->sources != NULL)
		source_drop(s);
	free(s->proc);
	free(s->thread);
	free(s->file);
	free(s->header);
	free(s->broken);
	free(s->trailer_error);
	free(s);
}

/*
 * Return true if p is only a thread of another process: it has no text or
 * memory of its own. An entry with text or memory counts as a process, even if
 * it has a leader.
 */
bool
proc_isthread(const struct proc *p)
{
	return p->leader != 0 && p->leader != p->pid && p->text == NULL &&
	    p->mem == NULL;
}

/*
 * Return true if p is recorded as a process: neither a thread nor an embedded
 * file.
 */
bool
proc_isprocess(const struct proc *p)
{
	return p->embedded == NULL && p->leader == 0;
}

/*
 * Return true if p is a process of an early copy of memory: see EARLY_PID.
 */
bool
proc_isearly(const struct proc *p)
{
	return p->embedded == NULL && p->pid >= EARLY_PID &&
	    proc_file(p, "proc") == NULL;
}

/*
 * Return true if p has the process ID of a mark, which ends a moment of a
 * series (man6/snap.6).
 */
bool
proc_ismark(const struct proc *p)
{
	return (p->pid + 1) % EARLY_PID == 0;
}

/*
 * Return true if p has no small files and no segments.
 */
bool
proc_isempty(const struct proc *p)
{
	return p->nfile == 0 && (p->text == NULL || p->text->nseg == 0) &&
	    (p->mem == NULL || p->mem->nseg == 0);
}

/*
 * Return the number of kilobytes that image im describes. im may be NULL.
 */
uint64_t
image_kb(const struct image *im)
{
	uint64_t n;
	size_t i;

	for (i = 0, n = 0; im != NULL && i < im->nseg; i++)
		n += segment_kb(im->seg[i]);
	return n;
}

/*
 * Return the number of kilobytes in all texts and memories of s.
 */
uint64_t
snap_kb(const struct snap *s)
{
	uint64_t n;
	size_t i;

	for (i = 0, n = 0; i < s->nproc; i++)
		n += image_kb(s->proc[i]->text) + image_kb(s->proc[i]->mem);
	return n;
}

/*
 * Return the entry of s with number pid, or NULL if there is none (which is not
 * an error).
 */
struct proc *
snap_find(struct snap *s, uint64_t pid)
{
	struct proc key = { .pid = pid };

	return RB_FIND(proctree, &s->bypid, &key);
}

/*
 * Return the process of s that has number pid. If pid is the number of a
 * thread, return the process of that thread. Return NULL if there is none,
 * which is not an error.
 */
struct proc *
snap_process(struct snap *s, uint64_t pid)
{
	struct proc *p;

	p = snap_find(s, pid);
	return p != NULL && proc_isthread(p) ? snap_find(s, p->leader) : p;
}

/*
 * Append a process with number pid to snapshot s, which owns the process. The
 * number must not be in use. Return the process, or NULL with errstr set.
 */
struct proc *
snap_add(struct snap *s, uint64_t pid)
{
	struct proc *p;

	if (VEC_ROOM(s->proc, s->nproc) == -1 ||
	    (p = mem_new(1, sizeof *p)) == NULL)
		return NULL;
	p->pid = pid;
	if (RB_INSERT(proctree, &s->bypid, p) != NULL) {
		free(p);
		errstr_set("duplicate process %ju", (uintmax_t)pid);
		return NULL;
	}
	s->proc[s->nproc++] = p;
	return p;
}

/*
 * Remove the process added last from snapshot s, and free it.
 */
void
snap_drop(struct snap *s)
{
	struct proc *p = s->proc[--s->nproc];

	RB_REMOVE(proctree, &s->bypid, p);
	proc_free(p);
}

/*
 * Move all sources of snapshot b to snapshot a. Also move each process
 * b->proc[i] for which keep[i] is set. The other processes of b are freed, and
 * b is left empty. The numbers of the moved processes must not be in use in a.
 * Embedded files are put after all processes. Return 0, or -1 with errstr set.
 */
int
snap_move(struct snap *a, struct snap *b, const bool *keep)
{
	struct proc **v, *p;
	size_t i, n;
	bool files;

	/* capacity as vec.h requires */
	for (n = 1; n < a->nproc + b->nproc; n *= 2)
		continue;
	if ((v = mem_new(n, sizeof *v)) == NULL)
		return -1;
	n = 0;
	files = false;
	do {
		for (i = 0; i < a->nproc; i++)
			if ((a->proc[i]->embedded != NULL) == files)
				v[n++] = a->proc[i];
		for (i = 0; i < b->nproc; i++)
			if (keep[i] && (b->proc[i]->embedded != NULL) == files)
				v[n++] = b->proc[i];
		files = !files;
	} while (files);
	for (i = 0; i < b->nproc; i++) {
		p = b->proc[i];
		if (keep[i])
			RB_INSERT(proctree, &a->bypid, p);
		else
			proc_free(p);
	}
	free(a->proc);
	a->proc = v;
	a->nproc = n;
	a->indexed = 0;
	b->nproc = b->indexed = 0;
	RB_INIT(&b->bypid);
	source_move(a, b);
	return 0;
}

/*
 * Move each process of s to snapshot v[i], where i is its process ID divided by
 * EARLY_PID. Its ID there is the remainder. Marks, and processes for which i is
 * n or more, are freed. Embedded files are put after all processes. s keeps its
 * sources. Return 0, or -1 with errstr set; processes that were not moved are
 * then freed.
 */
int
snap_split(struct snap *s, struct snap *const *v, size_t n)
{
	struct snap *to;
	struct proc *p;
	size_t i;
	int rc = 0;

	for (i = 0; i < 2 * s->nproc; i++) {
		p = s->proc[i % s->nproc];
		if (p == NULL || (i < s->nproc && p->embedded != NULL))
			continue;
		s->proc[i % s->nproc] = NULL;
		to = p->pid / EARLY_PID < n && !proc_ismark(p) ?
		    v[p->pid / EARLY_PID] : NULL;
		if (to != NULL && VEC_ROOM(to->proc, to->nproc) == -1)
			rc = -1;
		if (to == NULL || rc == -1) {
			proc_free(p);
			continue;
		}
		p->pid %= EARLY_PID;
		RB_INSERT(proctree, &to->bypid, p);
		to->proc[to->nproc++] = p;
	}
	s->nproc = s->indexed = 0;
	RB_INIT(&s->bypid);
	return rc;
}

/*
 * Return the small file called name of process p, or NULL if there is none
 * (which is not an error).
 */
struct file *
proc_file(const struct proc *p, const char *name)
{
	return SEEK(p->file, p->nfile, strcmp(x->name, name) == 0);
}

/*
 * Set the small file called name of process p to the len bytes at data. data is
 * from malloc(3) or data_map(); p takes ownership of it, even on failure. An
 * existing file is replaced. Return 0, or -1 with errstr set.
 */
int
proc_setfile(struct proc *p, const char *name, uint8_t *data, size_t len)
{
	struct file *f;
	char *copy;

	/* memcpy(3) and others must not get NULL, even for no bytes */
	if (data == NULL && (data = mem_new(1, 1)) == NULL)
		return -1;
	if ((f = proc_file(p, name)) == NULL) {
		if ((copy = str_dup(name)) == NULL ||
		    VEC_ROOM(p->file, p->nfile) == -1) {
			free(copy);
			data_free(data);
			return -1;
		}
		f = &p->file[p->nfile++];
		f->name = copy;
		f->data = NULL;
	}
	data_free(f->data);
	f->data = data;
	f->len = len;
	borrowed_drop(p);
	return 0;
}

/*
 * Remove the small file called name from process p, if it has one.
 */
void
proc_dropfile(struct proc *p, const char *name)
{
	struct file *f;

	if ((f = proc_file(p, name)) == NULL)
		return;
	free(f->name);
	data_free(f->data);
	*f = p->file[--p->nfile];
	borrowed_drop(p);
}
