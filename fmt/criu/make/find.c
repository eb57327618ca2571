/*
 * Open files and descriptors by their numbers, inodes, and what they lead to.
 */
#include "criumake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int
open_cmp(const void *a, const void *b)
{
	const struct makeopen *const *x = a, *const *y = b;

	return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

/*
 * The order of types and inodes: 0, if it is one inode.
 */
int
makefind_inodecmp(const struct makeopen *a, const struct makeopen *b)
{
	int c;

	if ((c = strcmp(a->type, b->type)) != 0)
		return c;
	return a->v[OK_INO][0] < b->v[OK_INO][0] ? -1 :
	    a->v[OK_INO][0] > b->v[OK_INO][0];
}

static int
byino_cmp(const void *a, const void *b)
{
	const struct makeopen *const *x = a, *const *y = b;
	int c;

	c = makefind_inodecmp(*x, *y);
	return c != 0 ? c : open_cmp(a, b);
}

/*
 * The first open file description of an inode, of a type; or NULL.
 */
struct makeopen *
makefind_inode(const struct criumake *m, const char *type, uint64_t ino)
{
	struct makeopen key = { .key = 0 };
	size_t lo, hi, mid;

	key.type = (char *)(uintptr_t)type;
	key.v[OK_INO][0] = ino;
	for (lo = 0, hi = m->nopen; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (makefind_inodecmp(m->byino[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->nopen && makefind_inodecmp(m->byino[lo], &key) == 0 ?
	    m->byino[lo] : NULL;
}

/*
 * The UNIX socket that one is connected to; NULL, if it is to none that is
 * known.
 */
struct makeopen *
makefind_peer(const struct criumake *m, const struct makeopen *f)
{
	uint64_t ino = f->v[OK_SOCKET][SOCK_PEER];

	return ino == 0 ? NULL : makefind_inode(m, "unix", ino);
}

/*
 * All open file descriptions are there: let them be found.
 */
int
makefind_opens(struct criumake *m)
{
	size_t i;

	if (m->nopen > 1)
		qsort(m->open, m->nopen, sizeof(*m->open), open_cmp);
	for (i = 1; i < m->nopen; i++)
		if (m->open[i - 1]->key == m->open[i]->key)
			return errstr_set("file/%" PRIu64 ": two processes "
			    "have it", m->open[i]->key);
	m->byino = calloc(m->nopen + 1, sizeof(*m->byino));
	if (m->byino == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < m->nopen; i++)
		m->byino[i] = m->open[i];
	qsort(m->byino, m->nopen, sizeof(*m->byino), byino_cmp);
	return 0;
}

/*
 * The open file description of a number of the record, or NULL.
 */
struct makeopen *
makefind_open(const struct criumake *m, uint64_t key)
{
	struct makeopen k = { .key = key }, *p = &k, **v;

	v = m->nopen == 0 ? NULL : bsearch(&p, m->open, m->nopen,
	    sizeof(*m->open), open_cmp);
	return v == NULL ? NULL : *v;
}

static int
byopen_cmp(const void *a, const void *b)
{
	const struct makefd *const *x = a, *const *y = b;

	if ((*x)->open->key != (*y)->open->key)
		return (*x)->open->key < (*y)->open->key ? -1 : 1;
	return (*x)->fd < (*y)->fd ? -1 : (*x)->fd > (*y)->fd;
}

/*
 * The descriptors are all there: they can be found by what they lead to.
 */
int
makefind_fds(struct maketask *t)
{
	size_t i;

	t->byopen = calloc(t->nfd + 1, sizeof(*t->byopen));
	if (t->byopen == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < t->nfd; i++)
		t->byopen[i] = &t->fd[i];
	qsort(t->byopen, t->nfd, sizeof(*t->byopen), byopen_cmp);
	return 0;
}

/*
 * A descriptor of a process that leads to an open file, the first from a
 * number on; or NULL.
 */
const struct makefd *
makefind_fd(const struct maketask *t, uint64_t key, uint64_t from)
{
	const struct makefd *f;
	size_t lo, hi, mid;

	for (lo = 0, hi = t->nfd; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		f = t->byopen[mid];
		if (f->open->key < key ||
		    (f->open->key == key && f->fd < from))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->nfd && t->byopen[lo]->open->key == key ?
	    t->byopen[lo] : NULL;
}
