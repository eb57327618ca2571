/*
 * Write inotify(7) sets and fanotify(7) groups as CRIU images. Each watched
 * file is given by its path, by which criu finds it even if its inode has
 * changed.
 */
#include "open.h"
#include "bisect.h"

#include <sys/fanotify.h>
#include <sys/inotify.h>

#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE	0x200	/* linux/fanotify.h, Linux 5.19 */
#endif
#ifndef FAN_PRE_ACCESS
#define FAN_PRE_ACCESS		0x100000 /* linux/fanotify.h, Linux 6.14 */
#endif

#define GONE "(deleted)"	/* path of a deleted file: snap-linux(6) */

/*
 * Mark the open files with inode ino on device dev as watched, if the file was
 * deleted. Return false if there are none that criu opens.
 */
static bool
deleted_mark(struct criumake *m, uint64_t dev, uint64_t ino)
{
	struct makeopen *f;
	bool found = false;
	size_t i;

	for (i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (f->type == KIND_REG && f->v[OK_DELETED][0] != 0 &&
		    f->v[OK_DEV][0] == dev && f->v[OK_INO][0] == ino &&
		    makeopen_written(f))
			f->watched = found = true;
	}
	return found;
}

/*
 * Return true if criu can find the watched file by path, or if path is
 * "(deleted)" and criu creates the file. The file is inode ino on device dev.
 */
static bool
path_isknown(struct criumake *m, const char *path, uint64_t dev, uint64_t ino)
{
	return path != NULL && (*path == '/' || (strcmp(path, GONE) == 0 &&
	    deleted_mark(m, dev, ino)));
}

/*
 * Return whether a watch of inotify set f has the given flag. criu clears the
 * flags of a mask, and Linux before 5.19 does not report them.
 */
static bool
has_flag(const struct makeopen *f, uint64_t flag)
{
	const struct openline *l;
	size_t n;

	l = makekeys_lines(f, OK_WATCH, &n);
	return SEEK(l, n, x->v[WATCH_MASK] & flag) != NULL;
}

/*
 * Return the reason why inotify set f cannot be restored, or NULL if it can.
 */
const char *
makeinotify_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct openline *l;
	size_t n;

	if (f->v[OK_WAITING][0] != 0)
		return "an inotify set with unread events";
	if (has_flag(f, IN_ONESHOT))
		return "an inotify set with a watch for one event "
		    "(IN_ONESHOT)";
	l = makekeys_lines(f, OK_WATCH, &n);
	return SEEK(l, n, !path_isknown(m, x->text[0], x->v[WATCH_DEV],
	    x->v[WATCH_INO])) == NULL ? NULL : "an inotify set that watches a "
	    "file whose path is not known";
}

/*
 * Record a note if watches of an inotify set lose IN_EXCL_UNLINK. Descriptor fd
 * of t refers to the set. Return 0, or -1 with errstr set.
 */
int
makeinotify_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	return !has_flag(fd->open, IN_EXCL_UNLINK) ? 0 : make_note(m, t, fd,
	    "its watches are restored without IN_EXCL_UNLINK");
}

/*
 * Set h to the handle and path of the file in line l of f, which is a watch or
 * a mark.
 */
static int
handle_set(struct criumake *m, Criu__FileHandle *h, const struct makeopen *f,
    const struct openline *l)
{
	enum { WORDS = 16 }; /* number of words that criu requires in a handle:
				see its images/fh.proto */
	int32_t mount;
	size_t i;

	if (MSG_MANY(&m->msgs, h, handle, WORDS) == NULL)
		return -1;
	h->bytes = (uint32_t)l->len;
	h->type = (uint32_t)l->v[l->key == OK_MARK ? MARK_TYPE : WATCH_TYPE];
	for (i = 0; i < l->len && i / 8 < WORDS; i++)
		h->handle[i / 8] |= (uint64_t)l->bytes[i] << i % 8 * 8;
	/* criu finds a deleted file by its device and inode */
	h->path = strcmp(l->text[0], GONE) == 0 ? NULL : l->text[0];
	if (h->path != NULL) {
		makemount_path(m, f->user->mounts, h->path, &h->has_mnt_id,
		    &mount);
		h->mnt_id = h->has_mnt_id ? (uint32_t)mount : 0;
	}
	return 0;
}

PCMP(wd_cmp, Criu__InotifyWatch, wd)

/*
 * Fill in msg, the protobuf message of inotify set f. Sort the watches by watch
 * descriptor: criu adds them in the order of the image, and each must get its
 * old descriptor. Return 0, or -1 with errstr set.
 */
int
makeinotify_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Inotify *p = msg;
	const struct openline *l;
	Criu__InotifyWatch *w;
	size_t i, n;

	l = makekeys_lines(f, OK_WATCH, &n);
	if ((w = MSG_MANY(&m->msgs, p, wd, n)) == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		w[i].id = f->id;
		makeline_fill(&l[i], &w[i].base);
		if (MSG_PART(&m->msgs, &w[i], f_handle) == NULL ||
		    handle_set(m, w[i].f_handle, f, &l[i]) == -1)
			return -1;
	}
	SORT(p->wd, p->n_wd, wd_cmp);
	return 0;
}

enum { TYPE_INODE = 1, TYPE_MOUNT = 2 }; /* values from images/fsnotify.proto */

/*
 * Return the reason why fanotify mark l cannot be restored, or NULL if it can.
 * A mark with permission events cannot be restored: criu opens files while it
 * restores, and would wait for itself.
 */
static const char *
mark_obstacle(struct criumake *m, const struct openline *l)
{
	const uint64_t flags = FAN_MARK_IGNORED_SURV_MODIFY |
	    FAN_MARK_EVICTABLE;
	const uint64_t ask = FAN_OPEN_PERM | FAN_ACCESS_PERM |
	    FAN_OPEN_EXEC_PERM | FAN_PRE_ACCESS;
	const uint64_t events = l->v[MARK_MASK] | l->v[MARK_IGNORED];

	if (events & ask)
		return "a fanotify group with permission events";
	if (l->key == OK_MOUNTMARK ? l->text[0] == NULL ||
	    *l->text[0] != '/' : !path_isknown(m, l->text[0], l->v[MARK_DEV],
	    l->v[MARK_INO]))
		return l->key == OK_MOUNTMARK ?
		    "a fanotify group that watches a mount whose path is not "
		    "known" : "a fanotify group that watches a file whose "
		    "path is not known";
	return (l->v[MARK_FLAGS] & ~flags) != 0 || events > UINT32_MAX ?
	    "a fanotify group with a mark that criu does not support" : NULL;
}

/*
 * Return the reason why fanotify group f cannot be restored, or NULL if it can.
 */
const char *
makefanotify_obstacle(struct criumake *m, const struct makeopen *f)
{
	const char *why;
	size_t i;

	if (!makeopen_has(f, OK_GROUP))
		return "a fanotify group that is not fully recorded";
	for (i = 0; i < f->nline; i++)
		if ((why = mark_obstacle(m, &f->line[i])) != NULL)
			return why;
	return NULL;
}

/*
 * Record a note that the events queued in a fanotify group are lost. Descriptor
 * fd of t refers to the group. A group with a mark on a mount usually has such
 * events: snap itself causes an event when it looks at the group. Return 0, or
 * -1 with errstr set.
 */
int
makefanotify_note(struct criumake *m, const struct maketask *t,
    const struct makefd *fd)
{
	return fd->open->v[OK_WAITING][0] == 0 ? 0 : make_note(m, t, fd, "its "
	    "unread events are lost when it is restored");
}

/*
 * Set e to the mark that line l of f describes.
 */
static int
mark_set(struct criumake *m, Criu__FanotifyMark *e, const struct makeopen *f,
    const struct openline *l)
{
	protobuf_c_boolean has;
	int32_t mount = 0;

	e->type = l->key == OK_MOUNTMARK ? TYPE_MOUNT : TYPE_INODE;
	makeline_fill(l, &e->base);
	if (l->key == OK_MOUNTMARK) {
		if (MSG_PART(&m->msgs, e, me) == NULL)
			return -1;
		e->me->path = l->text[0];
		makemount_path(m, f->user->mounts, l->text[0], &has, &mount);
		e->me->mnt_id = (uint32_t)mount;
		return 0;
	}
	if (MSG_PART(&m->msgs, e, ie) == NULL ||
	    MSG_PART(&m->msgs, e->ie, f_handle) == NULL)
		return -1;
	makeline_fill(l, &e->ie->base);
	return handle_set(m, e->ie->f_handle, f, l);
}

/*
 * Fill in msg, the protobuf message of fanotify group f. Return 0, or -1 with
 * errstr set.
 */
int
makefanotify_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__FanotifyMark *mark;
	size_t i;

	/* a group has no other keys with many lines */
	mark = MSG_MANY(&m->msgs, (Criu__Fanotify *)msg, mark, f->nline);
	for (i = 0; mark != NULL && i < f->nline; i++) {
		mark[i].id = f->id;
		if (mark_set(m, &mark[i], f, &f->line[i]) == -1)
			return -1;
	}
	return mark == NULL ? -1 : 0;
}
