/*
 * Find open files and descriptors by number, by inode, and by the file that a
 * descriptor leads to.
 */
#include "facts.h"
#include "bisect.h"

PCMP(open_cmp, struct makeopen, key)

/*
 * Compare open files a and b by type, then by inode number. Return the result
 * as strcmp(3) does.
 */
int
makefind_inodecmp(const struct makeopen *a, const struct makeopen *b)
{
	return a->type != b->type ? ORDER(a->type, b->type) :
	    ORDER(a->v[OK_INO][0], b->v[OK_INO][0]);
}

CMP_BY(byino_cmp, struct makeopen *const, makefind_inodecmp(*x, *y) != 0 ?
    makefind_inodecmp(*x, *y) : ORDER((*x)->key, (*y)->key))

/*
 * Return the first open file with this type and inode number ino, or NULL if
 * there is none.
 */
struct makeopen *
makefind_inode(const struct criumake *m, enum openkind type, uint64_t ino)
{
	struct makeopen key = { .type = type };
	size_t i;

	key.v[OK_INO] = &ino;
	i = BISECT_WHILE(n, m->nopen,
	    makefind_inodecmp(m->byino[n], &key) < 0);
	return i < m->nopen && makefind_inodecmp(m->byino[i], &key) == 0 ?
	    m->byino[i] : NULL;
}

/*
 * Return the UNIX socket that f is connected to, or NULL if there is none in
 * the snapshot.
 */
struct makeopen *
makefind_peer(const struct criumake *m, const struct makeopen *f)
{
	uint64_t ino = f->v[OK_SOCKET][SOCK_PEER];

	return ino == 0 ? NULL : makefind_inode(m, KIND_UNIX, ino);
}

/*
 * Return true if a process to be restored uses f, and no reason found so far
 * prevents restoring f.
 */
bool
makeopen_written(const struct makeopen *f)
{
	return f->used && f->why == NULL;
}

/*
 * Return the listening UNIX socket that has yet to accept connection f, or NULL
 * if there is none that is restored.
 */
struct makeopen *
makefind_accepter(const struct criumake *m, const struct makeopen *f)
{
	const struct makeaccept *a;

	a = FIND(m->accept, m->naccept, caller, f->v[OK_INO][0]);
	return a == NULL || !makeopen_written(a->open) ? NULL : a->open;
}

CMP2(accept_cmp, struct makeaccept, caller, open->key)

/*
 * Fill m->accept with the pending connections of all open files, and sort it
 * for makefind_accepter().
 */
static int
accepts_sort(struct criumake *m)
{
	const struct openline *l;
	size_t i, n;

	for (i = 0; i < m->nopen; i++)
		for (l = makekeys_lines(m->open[i], OK_CALLER, &n); n > 0;
		    n--, l++)
			if (POOL_ADD(&m->pool, m->accept, m->naccept,
			    (struct makeaccept){ l->v[0], m->open[i] }) == -1)
				return -1;
	SORT(m->accept, m->naccept, accept_cmp);
	return 0;
}

/*
 * Sort the open files of m and build the tables that the searches in this file
 * use. The caller must have added all open files to m->open. Return 0, or -1
 * with errstr set.
 */
int
makefind_opens(struct criumake *m)
{
	size_t i;

	SORT(m->open, m->nopen, open_cmp);
	for (i = 1; i < m->nopen; i++)
		if (m->open[i - 1]->key == m->open[i]->key)
			return errstr_set("file/%" PRIu64 ": recorded "
			    "twice", m->open[i]->key);
	m->byino = pool_new(&m->pool, m->nopen, sizeof(*m->byino));
	if (m->byino == NULL)
		return -1;
	for (i = 0; i < m->nopen; i++)
		m->byino[i] = m->open[i];
	SORT(m->byino, m->nopen, byino_cmp);
	return accepts_sort(m);
}

/*
 * Return the open file whose number in the record is key, or NULL if there is
 * none.
 */
struct makeopen *
makefind_open(const struct criumake *m, uint64_t key)
{
	return PFIND(m->open, m->nopen, key, key);
}

CMP_BY(byopen_cmp, struct makefd *const,
    (*x)->open != (*y)->open ? ORDER((*x)->open->key, (*y)->open->key) :
    ORDER((*x)->fd, (*y)->fd))

/*
 * Build t->byopen, which makefind_fd() searches. t->fd must be complete. Return
 * 0, or -1 with errstr set.
 */
int
makefind_fds(struct criumake *m, struct maketask *t)
{
	size_t i;

	t->byopen = pool_new(&m->pool, t->nfd, sizeof(*t->byopen));
	if (t->byopen == NULL)
		return -1;
	for (i = 0; i < t->nfd; i++)
		t->byopen[i] = &t->fd[i];
	SORT(t->byopen, t->nfd, byopen_cmp);
	return 0;
}

/*
 * Among the descriptors of t that refer to the open file whose number in the
 * record is key, return the lowest that is not below the bound least. Return
 * NULL if there is none.
 */
const struct makefd *
makefind_fd(const struct maketask *t, uint64_t key, uint64_t least)
{
	size_t i;

	i = BISECT_WHILE(n, t->nfd, t->byopen[n]->open->key < key ||
	    (t->byopen[n]->open->key == key && t->byopen[n]->fd < least));
	return i < t->nfd && t->byopen[i]->open->key == key ?
	    t->byopen[i] : NULL;
}

/*
 * Find the first process whose record has the file dir/ino (such as pipe/123),
 * and set *f to that file. If no record has it, return false with f->len set to
 * 0.
 */
bool
makefind_data(const struct criumake *m, const char *dir, uint64_t ino,
    struct recfile *f)
{
	char name[48];

	snprintf(name, sizeof name, "%s/%" PRIu64, dir, ino);
	return PSEEK(m->task, m->snap->nproc, x != NULL &&
	    !proc_isthread(x->proc) &&
	    linuxrec_find(&x->rec, name, f)) != NULL;
}
