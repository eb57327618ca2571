/*
 * What sets of inotify(7) and groups of fanotify(7) watch, as the record tells.
 */
#include "facts.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

static const struct watchline {	/* what a line tells, but the path behind */
	const char	*key;
	const char	*form;	/* of words_form */
	bool		 handle; /* and a handle */
	const char	*want;
} lines[] = {
	{ "watch", "dxmdd", true, "watch wd mask (x) dev inode type handle "
	    "path|-" },
	{ "mark", "xxxmdd", true, "mark flags (x) mask (x) ignored mask (x) "
	    "dev inode type handle path|-" },
	{ "mountmark", "xxxd", false, "mountmark flags (x) mask (x) ignored "
	    "mask (x) mount path|-" }
};

enum { LINE_WATCH, LINE_MARK, LINE_MOUNT, LINE_MOST = 6 };

/*
 * Set *v to the numbers of a line of lines[k].
 */
static void
watch_numbers(struct makewatch *v, size_t k, const uint64_t n[LINE_MOST])
{
	const uint64_t *file = k == LINE_WATCH ? n + 2 : n + 3;

	v->mask = n[1];
	if (k == LINE_WATCH) {
		v->wd = n[0];
	} else {
		v->flags = n[0];
		v->ignored = n[2];
	}
	v->mounted = k == LINE_MOUNT;
	if (v->mounted)
		return;
	v->dev = file[0];
	v->ino = file[1];
	v->type = file[2];
}

/*
 * Add a line of one of lines to the watches of f.  PATH, which may have blanks,
 * is "-" if it is not known.
 */
static int
watch_add(struct makeopen *f, struct words *w, size_t k)
{
	const size_t before = strlen(lines[k].form) + lines[k].handle;
	struct makewatch *v;
	uint64_t n[LINE_MOST];
	char *path;
	size_t i;
	int rc;

	for (path = w->rest, i = 0; path != NULL && i < before; i++)
		if ((path = strchr(path, ' ')) != NULL)
			path++;
	if (path == NULL)
		return words_bad(w, lines[k].want);
	path[-1] = '\0';
	if (VEC_ROOM(f->watch, f->nwatch) == -1 ||
	    words_split(w, w->rest) == -1)
		return -1;
	v = &f->watch[f->nwatch];
	memset(v, 0, sizeof *v);
	w->n = strlen(lines[k].form);
	if (!words_form(w, 0, lines[k].form, n))
		return words_bad(w, lines[k].want);
	f->nwatch++;
	watch_numbers(v, k, n);
	rc = lines[k].handle ? words_bytes(w, w->word[before - 1], &v->handle,
	    &v->len) : 0;
	if (rc == 0 && strcmp(path, "-") != 0 &&
	    (v->path = strdup(path)) == NULL)
		rc = errstr_set("out of memory");
	return rc;
}

/*
 * Take the line at hand of w, if it tells of what f watches, into f.  Return 1;
 * 0 if it is none of those; or -1 with errstr.
 */
int
makewatch_read(struct makeopen *f, struct words *w)
{
	size_t k;

	for (k = 0; k < sizeof lines / sizeof *lines; k++)
		if (strcmp(w->word[0], lines[k].key) == 0)
			return watch_add(f, w, k) == -1 ? -1 : 1;
	return 0;
}

/*
 * Free what f watches.
 */
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
