/*
 * What the record tells of sets of inotify(7).
 */
#include "facts.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Add a line "watch WD MASK DEV INO TYPE HANDLE PATH" to the watches of
 * inotify set f; PATH, which may have blanks, is "-" if it is not known.
 */
int
makewatch_read(struct makeopen *f, struct words *w)
{
	enum { BEFORE = 6 };	/* words before the path */
	struct makewatch *v;
	uint64_t n[BEFORE - 1];
	char *path;
	size_t i;
	int rc;

	for (path = w->rest, i = 0; path != NULL && i < BEFORE; i++)
		if ((path = strchr(path, ' ')) != NULL)
			path++;
	if (path == NULL)
		return words_bad(w, "watch wd mask (x) dev inode type handle "
		    "path|-");
	path[-1] = '\0';
	if (VEC_ROOM(f->watch, f->nwatch) == -1 ||
	    words_split(w, w->rest) == -1)
		return -1;
	v = &f->watch[f->nwatch];
	memset(v, 0, sizeof *v);
	w->n = BEFORE - 1;
	if (!words_form(w, 0, "dxmdd", n))
		return words_bad(w, "watch wd mask (x) dev inode type handle "
		    "path|-");
	f->nwatch++;
	v->wd = n[0];
	v->mask = n[1];
	v->dev = n[2];
	v->ino = n[3];
	v->type = n[4];
	rc = words_bytes(w, w->word[BEFORE - 1], &v->handle, &v->len);
	if (rc == 0 && strcmp(path, "-") != 0 &&
	    (v->path = strdup(path)) == NULL)
		rc = errstr_set("out of memory");
	return rc;
}

void
makewatch_free(struct makeopen *f)
{
	size_t i;

	for (i = 0; i < f->nwatch; i++) {
		free(f->watch[i].handle);
		free(f->watch[i].path);
	}
	free(f->watch);
}
