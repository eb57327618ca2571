/*
 * Sets of inotify(7) as CRIU images, and what they and groups of fanotify(7)
 * watch, with the path of each file that they
 * watch: criu finds it by that, wherever it is.
 */
#include "open.h"
#include "num.h"
#include "vec.h"
#include "bisect.h"

#include <stdlib.h>

/*
 * Return why f, an inotify set, cannot be restored, or NULL.  What watches a
 * deleted file that is open could be, but would lose that: criu makes the file
 * under a name, opens it by another, and removes both; when the last name goes,
 * the kernel ends watches (fsnotify_inoderemove) if nobody has the file open by
 * that very name.
 */
const char *
makeinotify_hinders(const struct makeopen *f)
{
	size_t i;

	for (i = 0; i < f->nwatch; i++)
		if (f->watch[i].path == NULL || *f->watch[i].path != '/')
			return "an inotify set that watches a file whose path "
			    "is not known";
	return f->v[OK_WAITING][0] == 0 ? NULL :
	    "an inotify set in which events wait to be read";
}

/*
 * Set h and words, which has room for MAX_HANDLE_SZ bytes, to the file of watch
 * v.
 */
void
makewatch_handle(Criu__FileHandle *h, uint64_t *words,
    const struct makewatch *v)
{
	size_t i;

	criu__file_handle__init(h);
	h->bytes = (uint32_t)v->len;
	h->type = (uint32_t)v->type;
	h->handle = words;
	h->n_handle = 16;	/* as many as criu wants: its images/fh.proto */
	for (i = 0; i < v->len && i / 8 < h->n_handle; i++)
		words[i / 8] |= (uint64_t)v->handle[i] << i % 8 * 8;
	h->path = v->path;
}

/*
 * Set e, h and words to a watch of set f.
 */
static void
watch_set(Criu__InotifyWatch *e, Criu__FileHandle *h, uint64_t *words,
    const struct makeopen *f, const struct makewatch *v)
{
	criu__inotify_watch__init(e);
	makewatch_handle(h, words, v);
	e->id = f->id;
	e->i_ino = v->ino;
	e->mask = (uint32_t)v->mask;
	e->s_dev = (uint32_t)v->dev;
	e->wd = (uint32_t)v->wd;
	e->f_handle = h;
}

PCMP(wd_cmp, Criu__InotifyWatch, wd)

/*
 * Add inotify set f to files.img, whose entry e is begun; fown is to whom it
 * sends signals. criu adds watches in their order, so that they get their
 * numbers.  Return 0, or -1 with errstr.
 */
int
makeinotify_write(struct criumake *m, const struct makeopen *f,
    Criu__FileEntry e, Criu__Fown *fown)
{
	struct parts {
		Criu__InotifyWatch e;
		Criu__FileHandle h;
		uint64_t words[16];
	} *v;
	Criu__Inotify p = CRIU__INOTIFY__INIT;
	Criu__InotifyWatch **w;
	size_t i;

	v = calloc(f->nwatch + 1, sizeof *v);
	w = calloc(f->nwatch + 1, sizeof *w);
	for (i = 0; v != NULL && w != NULL && i < f->nwatch; i++) {
		watch_set(&v[i].e, &v[i].h, v[i].words, f, &f->watch[i]);
		w[i] = &v[i].e;
	}
	if (v != NULL && w != NULL) {
		SORT(w, f->nwatch, wd_cmp);
		p.id = f->id;
		p.flags = (uint32_t)f->v[OK_FLAGS][0];
		p.fown = fown;
		p.wd = w;
		p.n_wd = f->nwatch;
		e.ify = &p;
		criuimg_add(m->files, &e.base);
	}
	i = v == NULL || w == NULL;
	free(v);
	free(w);
	return i ? errstr_set("out of memory") : 0;
}
