/*
 * Groups of fanotify(7) as CRIU images.
 */
#include "open.h"

#include <sys/fanotify.h>

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
mark_hinders(const struct openline *l)
{
	const uint64_t flags = FAN_MARK_IGNORED_SURV_MODIFY |
	    FAN_MARK_EVICTABLE;
	const uint64_t ask = FAN_OPEN_PERM | FAN_ACCESS_PERM |
	    FAN_OPEN_EXEC_PERM | FAN_PRE_ACCESS;
	const uint64_t events = l->v[MARK_MASK] | l->v[MARK_IGNORED];

	if (l->text[0] == NULL || *l->text[0] != '/')
		return l->key == OK_MOUNTMARK ?
		    "a fanotify group that watches a mount whose path is not "
		    "known" : "a fanotify group that watches a file whose "
		    "path is not known";
	if (events & ask)
		return "a fanotify group that is asked for permission";
	return (l->v[MARK_FLAGS] & ~flags) != 0 || events > UINT32_MAX ?
	    "a fanotify group with a mark that criu does not know" : NULL;
}

/*
 * Return why f, a fanotify group, cannot be restored, or NULL.
 */
const char *
makefanotify_hinders(struct criumake *m, const struct makeopen *f)
{
	const char *why;
	size_t i;

	(void)m;
	if (!makeopen_has(f, OK_GROUP))
		return "a fanotify group that little is known of";
	for (i = 0; i < f->nline; i++)
		if ((why = mark_hinders(&f->line[i])) != NULL)
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
	return fd->open->v[OK_WAITING][0] == 0 ? 0 : make_note(m, t, fd, "the "
	    "events that wait in it are lost when it is restored");
}

/*
 * Set mark e, a message of m's, to l.
 */
static int
mark_set(struct criumake *m, Criu__FanotifyMark *e, const struct openline *l)
{
	e->type = l->key == OK_MOUNTMARK ? TYPE_MOUNT : TYPE_INODE;
	makeline_fill(l, &e->base);
	if (l->key == OK_MOUNTMARK) {
		if (MSG_PART(&m->msgs, e, me) == NULL)
			return -1;
		e->me->path = l->text[0];
		return 0;
	}
	if (MSG_PART(&m->msgs, e, ie) == NULL ||
	    MSG_PART(&m->msgs, e->ie, f_handle) == NULL)
		return -1;
	makeline_fill(l, &e->ie->base);
	return makewatch_handle(m, e->ie->f_handle, l);
}

/*
 * Set the message of fanotify group f.  Return 0, or -1 with errstr.
 */
int
makefanotify_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__FanotifyMark *mark;
	size_t i;

	/* no other of its keys may have many lines */
	mark = MSG_MANY(&m->msgs, (Criu__Fanotify *)msg, mark, f->nline);
	for (i = 0; mark != NULL && i < f->nline; i++) {
		mark[i].id = f->id;
		if (mark_set(m, &mark[i], &f->line[i]) == -1)
			return -1;
	}
	return mark == NULL ? -1 : 0;
}
