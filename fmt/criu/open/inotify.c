/*
 * Sets of inotify(7) as CRIU images, and what they and groups of fanotify(7)
 * watch, with the path of each file that they
 * watch: criu finds it by that, wherever it is.
 */
#include "open.h"
#include "bisect.h"

/*
 * Return why f, an inotify set, cannot be restored, or NULL.  What watches a
 * deleted file that is open could be, but would lose that: criu makes the file
 * under a name, opens it by another, and removes both; when the last name goes,
 * the kernel ends watches (fsnotify_inoderemove) if nobody has the file open by
 * that very name.
 */
const char *
makeinotify_hinders(struct criumake *m, const struct makeopen *f)
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
 * Set h, a message of m's, to the file of l, a watch or a mark.  Return 0, or
 * -1 with errstr.
 */
int
makewatch_handle(struct criumake *m, Criu__FileHandle *h,
    const struct openline *l)
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
		    makewatch_handle(m, w[i].f_handle, &l[i]) == -1)
			return -1;
	}
	SORT(p->wd, p->n_wd, wd_cmp);
	return 0;
}
