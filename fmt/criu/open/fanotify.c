/*
 * Groups of fanotify(7) as CRIU images.
 */
#include "open.h"

#include <sys/fanotify.h>

#include <inttypes.h>
#include <stdlib.h>

#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE	0x200	/* linux/fanotify.h, 5.19 */
#endif
#ifndef FAN_PRE_ACCESS
#define FAN_PRE_ACCESS		0x100000 /* the same, 6.14 */
#endif

enum { TYPE_INODE = 1, TYPE_MOUNT = 2 };	/* images/fsnotify.proto */

/*
 * Return why a mark cannot be restored, or NULL.  criu opens files while it
 * restores: with a mark that asks for permission it would wait for itself.
 */
static const char *
mark_hinders(const struct makewatch *v)
{
	const uint64_t flags = FAN_MARK_IGNORED_SURV_MODIFY |
	    FAN_MARK_EVICTABLE;
	const uint64_t ask = FAN_OPEN_PERM | FAN_ACCESS_PERM |
	    FAN_OPEN_EXEC_PERM | FAN_PRE_ACCESS;

	if (v->path == NULL || *v->path != '/')
		return v->mounted ? "a fanotify group that watches a mount "
		    "whose path is not known" : "a fanotify group that "
		    "watches a file whose path is not known";
	if ((v->mask | v->ignored) & ask)
		return "a fanotify group that is asked for permission";
	return (v->flags & ~flags) != 0 ||
	    (v->mask | v->ignored) > UINT32_MAX ?
	    "a fanotify group with a mark that criu does not know" : NULL;
}

/*
 * Return why f, a fanotify group, cannot be restored, or NULL.
 */
const char *
makefanotify_hinders(const struct makeopen *f)
{
	const char *why;
	size_t i;

	if (!makeopen_has(f, OK_GROUP))
		return "a fanotify group that little is known of";
	for (i = 0; i < f->nwatch; i++)
		if ((why = mark_hinders(&f->watch[i])) != NULL)
			return why;
	return NULL;
}

/*
 * Note that what waits in the group that descriptor fd of t leads to is lost.
 * Of a mount, there is mostly something: that the group was looked at is an
 * event, too.  Return 0, or -1 with errstr.
 */
int
makefanotify_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	return fd->open->v[OK_WAITING][0] == 0 ? 0 : make_note(m, "process %"
	    PRIu64 ", descriptor %" PRIu64 ": the events that wait in it are "
	    "lost when it is restored", t->proc->pid, fd->fd);
}

struct parts {			/* of a mark */
	Criu__FanotifyMark e;
	Criu__FanotifyInode file;
	Criu__FanotifyMount mount;
	Criu__FileHandle h;
	uint64_t	 words[16];
};

static void
mark_set(struct parts *p, const struct makeopen *f, const struct makewatch *v)
{
	criu__fanotify_mark__init(&p->e);
	p->e.id = f->id;
	p->e.type = v->mounted ? TYPE_MOUNT : TYPE_INODE;
	p->e.mflags = (uint32_t)v->flags;
	p->e.mask = (uint32_t)v->mask;
	p->e.ignored_mask = (uint32_t)v->ignored;
	p->e.s_dev = (uint32_t)v->dev;
	if (v->mounted) {
		criu__fanotify_mount__init(&p->mount);
		p->mount.path = v->path;
		p->e.me = &p->mount;
		return;
	}
	criu__fanotify_inode__init(&p->file);
	makewatch_handle(&p->h, p->words, v);
	p->file.i_ino = v->ino;
	p->file.f_handle = &p->h;
	p->e.ie = &p->file;
}

/*
 * Add fanotify group f to files.img, whose entry e is begun; fown is to whom it
 * sends signals.  Return 0, or -1 with errstr.
 */
int
makefanotify_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	Criu__Fanotify g = CRIU__FANOTIFY__INIT;
	Criu__FanotifyMark **mark;
	struct parts *p;
	size_t i;
	int rc = -1;

	p = calloc(f->nwatch + 1, sizeof *p);
	mark = calloc(f->nwatch + 1, sizeof *mark);
	if (p == NULL || mark == NULL) {
		errstr_set("out of memory");
		goto out;
	}
	for (i = 0; i < f->nwatch; i++) {
		mark_set(&p[i], f, &f->watch[i]);
		mark[i] = &p[i].e;
	}
	g.id = f->id;
	g.flags = (uint32_t)f->v[OK_FLAGS][0];
	g.fown = fown;
	g.faflags = (uint32_t)f->v[OK_GROUP][0];
	g.evflags = (uint32_t)f->v[OK_GROUP][1];
	g.mark = mark;
	g.n_mark = f->nwatch;
	e.ffy = &g;
	criuimg_add(m->files, &e.base);
	rc = 0;
out:
	free(p);
	free(mark);
	return rc;
}
