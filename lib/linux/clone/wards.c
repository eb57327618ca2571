/*
 * All the processes whose clones are to be reaped (reaper.c): what the guard is
 * told of them, and the reaping of one after another, or apart.
 */
#include "cloning.h"
#include "vec.h"

#include <sys/wait.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
wards_put(struct wards *l, const struct ward *w)
{
	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	l->v[l->n++] = *w;
	return 0;
}

/*
 * Remember in l what is told by w: a new ward, or the clone of one that is
 * known.  Return 0, or -1 with errstr.
 */
int
wards_add(struct wards *l, const struct ward *w)
{
	size_t i;

	for (i = l->n; w->clone != 0 && i-- > 0;)
		if (l->v[i].target == w->target && l->v[i].clone == 0) {
			l->v[i] = *w;
			return 0;
		}
	return wards_put(l, w);
}

enum {				/* what a sweeper's exit status tells: */
	SWEPT_MOST = 100,	/* how many wards it has swept at the most, */
	SWEPT_GOON = 128	/* and a bit, that the next may go as well */
};

/*
 * Sweep wards from number i on, one after another, up to the first that does
 * not go at once, or of which threads stay traced: they are let go when this
 * process ends.  Return how many were swept, with SWEPT_GOON if the next one
 * may go as well.
 */
static int
wards_try(const struct wards *l, size_t i)
{
	bool kept;
	int n;

	for (n = 0, kept = false; n < SWEPT_MOST && i < l->n && !kept; n++)
		if (!ward_sweep(&l->v[i++], &kept))
			return n;
	return n | SWEPT_GOON;
}

/*
 * Sweep wards from number i on in processes of their own, each of which ends
 * with what it could not let go, in whatever state that is then.  Return the
 * number of the first that does not go at once; l->n if there is none.
 */
static size_t
wards_sweep(const struct wards *l, size_t i)
{
	pid_t pid, rc;
	int status;

	for (status = SWEPT_GOON; status & SWEPT_GOON && i < l->n;
	    i += (size_t)(status & ~SWEPT_GOON)) {
		if ((pid = fork()) == 0)
			_exit(wards_try(l, i));
		if (pid == -1)
			return i;
		while ((rc = waitpid(pid, &status, 0)) == -1 && errno == EINTR)
			continue;
		if (rc != pid || !WIFEXITED(status))
			return i;
		status = WEXITSTATUS(status);
	}
	return i;
}

/*
 * Add to l the clones of the process of ward number i that earlier snapshots
 * left behind.
 */
static void
wards_inherit(struct wards *l, size_t i)
{
	const struct ward w = l->v[i];
	struct ward left;
	struct bytes b;
	char *end, *s, *text;
	pid_t pid;

	if (proc_read(w.target, w.target, "children", &b) == -1)
		return;
	text = b.len > 0 ? strndup((char *)b.data, b.len) : NULL;
	for (s = text; s != NULL && (pid = (pid_t)strtol(s, &end, 10)) != 0;
	    s = end)
		if (pid != w.clone && ward_isleft(&w, pid, &left))
			(void)wards_put(l, &left);
	free(text);
	free(b.data);
}

/*
 * Reap what is left of all wards, and of earlier snapshots of their processes,
 * and exit: with 1 if a clone stays.
 */
void __attribute__((noreturn))
wards_reap(struct wards *l)
{
	size_t i, n;
	pid_t pid;
	int status;
	bool done;

	done = true;
	for (i = 0, n = l->n; i < n; i++)
		wards_inherit(l, i);
	/* one may take long: none waits for another */
	for (i = 0; (i = wards_sweep(l, i)) < l->n; i++) {
		pid = i + 1 == l->n ? -1 : fork();
		if (pid > 0)
			continue;
		done &= ward_reap(&l->v[i]);
		if (pid == 0)
			_exit(done ? 0 : 1);
	}
	while ((pid = wait(&status)) != -1 || errno == EINTR)
		done &= pid == -1 || status == 0;
	_exit(done ? 0 : 1);
}
