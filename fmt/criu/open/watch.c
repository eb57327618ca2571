/*
 * Sets of inotify(7) and groups of fanotify(7) as CRIU images, with the path of
 * each file that they watch: criu finds it by that, wherever it is.
 */
#include "open.h"
#include "bisect.h"

#include <sys/fanotify.h>

#ifndef FAN_MARK_EVICTABLE
#define FAN_MARK_EVICTABLE	0x200	/* linux/fanotify.h, 5.19 */
#endif
#ifndef FAN_PRE_ACCESS
#define FAN_PRE_ACCESS		0x100000 /* the same, 6.14 */
#endif

/*
 * Return why f, an inotify set, cannot be restored, or NULL.  What watches a
 * deleted file that is open could be, but would lose that: criu makes the file
 * under a name, opens it by another, and removes both; when the last name goes,
 * the kernel ends watches (fsnotify_inoderemove) if nobody has the file open by
 * that very name.
 */
const char *
makeinotify_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct openline *l;
	size_t n;

	(void)m;
	for (l = makekeys_lines(f, OK_WATCH, &n); n > 0; n--, l++)
		if (l->text[0] == NULL || *l->text[0] != '/')
			return "an inotify set that watches a file whose path "
			    "is not known";
	return f->v[OK_WAITING][0] == 0 ? NULL :
	    "an inotify set in which events wait to be read";
}

/*
 * Set h, a message of m's, to the file of l, a watch or a mark.
 */
static int
handle_set(struct criumake *m, Criu__FileHandle *h, const struct openline *l)
{
	enum { WORDS = 16 };	/* as many as criu wants: its images/fh.proto */
	size_t i;

	if (MSG_MANY(&m->msgs, h, handle, WORDS) == NULL)
		return -1;
	h->bytes = (uint32_t)l->len;
	h->type = (uint32_t)l->v[l->key == OK_MARK ? MARK_TYPE : WATCH_TYPE];
	for (i = 0; i < l->len && i / 8 < WORDS; i++)
		h->handle[i / 8] |= (uint64_t)l->bytes[i] << i % 8 * 8;
	h->path = l->text[0];
	return 0;
}

PCMP(wd_cmp, Criu__InotifyWatch, wd)

/*
 * Set the message of inotify set f. criu adds watches in their order, so that
 * they get their numbers.  Return 0, or -1 with errstr.
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
		    handle_set(m, w[i].f_handle, &l[i]) == -1)
			return -1;
	}
	SORT(p->wd, p->n_wd, wd_cmp);
	return 0;
}

enum { TYPE_INODE = 1, TYPE_MOUNT = 2 };	/* images/fsnotify.proto */

/*
 * Return why a mark cannot be restored, or NULL.  criu opens files while it
 * restores: with a mark that asks for permission it would wait for itself.
 */
static const char *
mark_obstacle(const struct openline *l)
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
makefanotify_obstacle(struct criumake *m, const struct makeopen *f)
{
	const char *why;
	size_t i;

	(void)m;
	if (!makeopen_has(f, OK_GROUP))
		return "a fanotify group that little is known of";
	for (i = 0; i < f->nline; i++)
		if ((why = mark_obstacle(&f->line[i])) != NULL)
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
	return handle_set(m, e->ie->f_handle, l);
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
