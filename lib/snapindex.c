/*
 * The index of a snapshot: its threads by process, and its embedded files by
 * device, inode and path.
 */
#include "bisect.h"
#include "model.h"

#include <pthread.h>

static int
thread_cmp(const void *a, const void *b, void *arg)
{
	const struct snap *s = arg;
	const size_t *x = a, *y = b;
	uint64_t p = s->proc[*x]->leader, q = s->proc[*y]->leader;

	return p != q ? ORDER(p, q) : ORDER(*x, *y);
}

static int
file_cmp(const void *a, const void *b, void *arg)
{
	const struct snap *s = arg;
	const size_t *x = a, *y = b;
	int c;

	c = embedded_order(s->proc[*x]->embedded, s->proc[*y]->embedded);
	return c != 0 ? c : ORDER(*x, *y);
}

static int
index_make(struct snap *s)
{
	size_t *t, *f;
	size_t i;

	t = reallocarray(s->thread, s->nproc + 1, sizeof *t);
	if (t != NULL)
		s->thread = t;
	f = reallocarray(s->file, s->nproc + 1, sizeof *f);
	if (f != NULL)
		s->file = f;
	if (t == NULL || f == NULL)
		return errstr_set("out of memory");
	s->nthread = s->nfile = 0;
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->embedded != NULL)
			f[s->nfile++] = i;
		else if (s->proc[i]->leader != 0)
			t[s->nthread++] = i;
	}
	if (s->nthread > 1)
		qsort_r(t, s->nthread, sizeof *t, thread_cmp, s);
	if (s->nfile > 1)
		qsort_r(f, s->nfile, sizeof *f, file_cmp, s);
	s->indexed = s->nproc;
	return 0;
}

/*
 * Update the index of threads and embedded files in s. Entries of s must not
 * change once they are in the index, but more may be added. Several threads may
 * call this at the same time, as long as none adds entries. Return 0, or -1
 * with errstr set.
 */
int
snap_index(struct snap *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int rc;

	pthread_mutex_lock(&lock);
	rc = s->indexed == s->nproc ? 0 : index_make(s);
	pthread_mutex_unlock(&lock);
	return rc;
}

/*
 * Find the threads of process pid, except its leader. Set *at to an array of
 * their indices in s->proc, in ascending order. Set *n to their number. Return
 * 0, or -1 with errstr set.
 */
int
snap_threads(struct snap *s, uint64_t pid, const size_t **at, size_t *n)
{
	size_t first;

	if (snap_index(s) == -1)
		return -1;
	first = BISECT_WHILE(i, s->nthread,
	    s->proc[s->thread[i]]->leader < pid);
	*at = s->thread + first;
	for (*n = 0; first + *n < s->nthread &&
	    s->proc[s->thread[first + *n]]->leader == pid; ++*n)
		continue;
	return 0;
}
