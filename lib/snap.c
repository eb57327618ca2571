/*
 * A snapshot and its processes.
 */
#include "snap.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

static int
proc_cmp(struct proc *a, struct proc *b)
{
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

TREE_GENERATE(proctree, proc, entry, proc_cmp)

/*
 * A snapshot without processes.  NULL when memory runs out.
 */
struct snap *
snap_new(void)
{
	struct snap *s;

	if ((s = calloc(1, sizeof *s)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	RB_INIT(&s->bypid);
	return s;
}

static void
proc_free(struct proc *p)
{
	size_t i;

	for (i = 0; i < p->nfile; i++) {
		free(p->file[i].name);
		free(p->file[i].data);
	}
	free(p->file);
	image_free(p->text);
	image_free(p->mem);
	carried_free(p->carried);
	free(p);
}

/*
 * Free a snapshot and all that it owns; its sources are closed.
 */
void
snap_free(struct snap *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nproc; i++)
		proc_free(s->proc[i]);
	while (s->sources != NULL)
		source_drop(s);
	free(s->proc);
	free(s->header);
	free(s);
}

/*
 * Is it a thread, which has no text and no memory of its own?
 */
bool
proc_isthread(const struct proc *p)
{
	return p->leader != 0 && p->leader != p->pid && p->text == NULL &&
	    p->mem == NULL;
}

/*
 * The process or thread of that number, or NULL (which is no error).
 */
struct proc *
snap_find(struct snap *s, uint64_t pid)
{
	struct proc key = { .pid = pid };

	return RB_FIND(proctree, &s->bypid, &key);
}

/*
 * Add a process behind the others; its number must be new.  The snapshot
 * owns it.
 */
struct proc *
snap_add(struct snap *s, uint64_t pid)
{
	struct proc *p, **v;
	size_t cap;

	if (s->nproc == s->cap) {
		cap = s->cap == 0 ? 8 : s->cap * 2;
		if ((v = reallocarray(s->proc, cap, sizeof *v)) == NULL)
			goto nomem;
		s->proc = v;
		s->cap = cap;
	}
	if ((p = calloc(1, sizeof *p)) == NULL)
		goto nomem;
	p->pid = pid;
	if (RB_INSERT(proctree, &s->bypid, p) != NULL) {
		free(p);
		errstr_set("process %ju is there already", (uintmax_t)pid);
		return NULL;
	}
	s->proc[s->nproc++] = p;
	return p;
nomem:
	errstr_set("out of memory");
	return NULL;
}

/*
 * A small file of a process by name, or NULL (which is no error).
 */
struct file *
proc_file(const struct proc *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nfile; i++)
		if (strcmp(p->file[i].name, name) == 0)
			return &p->file[i];
	return NULL;
}

/*
 * Give a process a small file; it replaces one of the same name.  The
 * bytes, from malloc(3), belong to the process from here on, on failure
 * too.
 */
int
proc_setfile(struct proc *p, const char *name, uint8_t *data, size_t len)
{
	struct file *f, *v;
	char *copy;

	if ((f = proc_file(p, name)) == NULL) {
		if ((copy = strdup(name)) == NULL)
			goto nomem;
		v = reallocarray(p->file, p->nfile + 1, sizeof *v);
		if (v == NULL) {
			free(copy);
			goto nomem;
		}
		p->file = v;
		f = &p->file[p->nfile++];
		f->name = copy;
		f->data = NULL;
	}
	free(f->data);
	f->data = data;
	f->len = len;
	return 0;
nomem:
	free(data);
	return errstr_set("out of memory");
}
