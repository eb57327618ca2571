/*
 * Make criu/, a directory of the CRIU images that restore a process and its
 * descendants; its images are made as they are read. Each process that can be
 * the root of a directory of images has one.
 *
 * Beside the images, which criu(8) looks up by name, there is a file "command"
 * with the command that restores them. If the process cannot be restored,
 * there is only a file "refused" with the reasons, one a line.
 */
#include "bisect.h"
#include "criu/write/write.h"
#include "tree.h"
#include "vec.h"

struct fsroots {		/* roots of a snapshot's process trees */
	const struct snap *snap; /* borrowed */
	uint64_t	*pid;	/* owned; in ascending order */
	size_t		 n;
};

CMP_BY(pid_cmp, uint64_t, ORDER(*x, *y))

/*
 * Return the roots of the process trees in snapshot s, or NULL if memory runs
 * out. They are found on the first call for s. The caller must hold the lock of
 * t.
 */
static const struct fsroots *
roots_get(struct fstree *t, struct snap *s)
{
	struct fsroots *r;

	if ((r = SEEK(t->roots, t->nroots, x->snap == s)) != NULL)
		return r;
	if (VEC_ADD(t->roots, t->nroots, (struct fsroots){ .snap = s }) == -1)
		return NULL;
	r = &t->roots[t->nroots - 1];
	if (!criumake_can(s) || criumake_roots(s, &r->pid, &r->n) == -1)
		return r;
	SORT(r->pid, r->n, pid_cmp);
	return r;
}

/*
 * Return true if process pid is the root of a process tree in s, a snapshot of
 * t (see criumake_roots()).
 */
bool
roots_have(struct fstree *t, struct snap *s, uint64_t pid)
{
	const struct fsroots *r;
	bool has;

	pthread_mutex_lock(&t->lock);
	r = roots_get(t, s);
	has = r != NULL && FIND_BY(&pid, r->pid, r->n, pid_cmp) != NULL;
	pthread_mutex_unlock(&t->lock);
	return has;
}

/*
 * Free the lists of roots in t.
 */
void
roots_free(struct fstree *t)
{
	size_t i;

	for (i = 0; i < t->nroots; i++)
		free(t->roots[i].pid);
	free(t->roots);
}

struct messages {		/* output collected while images are made */
	struct buf	 warned; /* warnings, one on each line */
	struct buf	 noted;
	struct buf	 words;	/* further arguments for the criu command */
};

/*
 * Append a line to b: prefix, then text. Control characters in text are
 * replaced, so that text cannot end the line or contain a command.
 */
static void
line_add(struct buf *b, const char *prefix, const char *text)
{
	char *s;

	if ((s = strdup(text)) == NULL) {
		b->failed = true;
		return;
	}
	buf_printf(b, "%s%s\n", prefix, text_sanitize(s));
	free(s);
}

static void
on_warn(void *arg, const char *text)
{
	line_add(&((struct messages *)arg)->warned, "", text);
}

static void
on_note(void *arg, const char *text)
{
	line_add(&((struct messages *)arg)->noted, "# ", text);
}

/*
 * Return a directory that has no images, but only the file "refused" with the
 * warnings and the message in errstr. Return NULL on failure.
 */
static struct criuview *
refused_make(struct messages *messages)
{
	struct criuview *v;

	line_add(&messages->warned, "", snap_errstr());
	if ((v = mem_new(1, sizeof *v)) == NULL)
		return NULL;
	if (criuview_add(v, "refused", &messages->warned) == 0)
		return v;
	criuview_free(v);
	return NULL;
}

/*
 * Add the file "command" to v: a command to be run in the directory of images.
 * need selects the options of the command. If CRIU_MADE is not set in need, the
 * options are unknown, and no file is added.
 */
static int
command_add(struct criuview *v, const struct messages *messages,
    unsigned int need)
{
	struct buf b = { 0 };

	if (!(need & CRIU_MADE))
		return 0;
	buf_add(&b, messages->noted.data, messages->noted.len);
	criu_command(&b, ".", need, &messages->words);
	buf_puts(&b, "\n");
	return criuview_add(v, "command", &b);
}

/*
 * Return member m's directory of CRIU images, which the caller frees, or NULL
 * with errstr set.
 */
struct criuview *
images_new(struct member *m)
{
	struct messages messages = { 0 };
	unsigned int need = 0;
	struct criuopts o = { .root = m->proc->pid, .check = true,
	    .warn = on_warn, .note = on_note, .arg = &messages,
	    .need = &need, .words = &messages.words };
	struct criuview *v;

	if ((v = criuview_new(m->snap, &o)) == NULL)
		v = refused_make(&messages);
	else if (command_add(v, &messages, need) == -1) {
		criuview_free(v);
		v = NULL;
	}
	buf_free(&messages.warned);
	buf_free(&messages.noted);
	buf_free(&messages.words);
	return v;
}
