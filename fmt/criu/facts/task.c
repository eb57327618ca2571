/*
 * Read processes and threads of a snapshot from their Linux records, and answer
 * questions on them.
 */
#include "facts.h"
#include "bisect.h"

enum { FIRST_ID = 2 }; /* lowest ID of a process in images; criu itself has 1 */

/*
 * Find the line for key in t's status, whose numbers are written in the given
 * base. Store at most max of them in v. Return how many numbers the line has,
 * which may be more than max. Return 0 if there is no such line.
 */
size_t
maketask_status(const struct maketask *t, const char *key, unsigned int base,
    uint64_t *v, size_t max)
{
	return status_list(t->status.data, t->status.len, key, base, v, max);
}

/*
 * Set *out to the last number after key in the status of t, which is the value
 * in the innermost pid namespace.
 */
static int
inner_number(const struct maketask *t, const char *key, uint32_t *out)
{
	uint64_t v;

	if (status_inner(t->status.data, t->status.len, key, &v) == 0 ||
	    v > INT32_MAX)
		return errstr_set("status: no %s", key);
	*out = (uint32_t)v;
	return 0;
}

static int
task_read(struct maketask *t)
{
	struct recfile f;

	if (linuxrec_open(&t->rec, proc_file(t->proc, "proc")) == -1)
		return -1;
	if (!linuxrec_find(&t->rec, "stat", &f))
		return errstr_set("the record has no stat");
	if (stat_parse(&t->stat, f.data, f.len) != STAT_FIELDS - 1)
		return errstr_set("stat: expected %d fields", STAT_FIELDS - 1);
	linuxrec_find(&t->rec, "status", &t->status);
	if (inner_number(t, "NSpid", &t->pid) == -1)
		return -1;
	if (!proc_isprocess(t->proc))
		return 0;
	return inner_number(t, "NSpgid", &t->pgid) == -1 ? -1 :
	    inner_number(t, "NSsid", &t->sid);
}

PCMP(task_cmp, struct maketask, proc->pid)

/*
 * Link the threads of each process through the member called thread, in the
 * order of the snapshot.
 */
static void
threads_link(struct criumake *m)
{
	struct maketask *t, *p;
	size_t i;

	for (i = m->snap->nproc; i-- > 0;) {
		if ((t = m->task[i]) == NULL || proc_isprocess(t->proc) ||
		    (p = maketask_process(m, t->proc->pid)) == NULL)
			continue;
		t->thread = p->thread;
		p->thread = t;
	}
}

/*
 * Read the records of all processes and threads into m->task and m->bypid. If
 * the user selected a root process, read only the records captured together
 * with it: pids and inodes in the others may come from another machine. Return
 * 0, or -1 with errstr set.
 */
int
maketask_read(struct criumake *m)
{
	struct maketask *t;
	struct proc *p;
	uint64_t part, only;
	size_t i;

	m->task = pool_new(&m->pool, m->snap->nproc, sizeof(*m->task));
	m->bypid = pool_new(&m->pool, m->snap->nproc, sizeof(*m->bypid));
	if (m->task == NULL || m->bypid == NULL)
		return -1;
	only = 0;
	p = m->opts->root == 0 ? NULL : snap_find(m->snap, m->opts->root);
	if (p != NULL && proc_part(p, &only) == -1)
		return -1;
	for (i = 0; i < m->snap->nproc; i++) {
		p = m->snap->proc[i];
		if (p->embedded != NULL || proc_isearly(p))
			continue;
		if (proc_part(p, &part) == -1)
			return -1;
		if (m->opts->root != 0 && part != only)
			continue;
		if ((t = pool_new(&m->pool, 1, sizeof *t)) == NULL)
			return -1;
		m->task[i] = t;
		m->bypid[m->nbypid++] = t;
		t->proc = p;
		t->part = part;
		t->files = t;
		t->texts = &m->texts;
		if (task_read(t) == -1)
			return errstr_wrap("process %" PRIu64, p->pid);
	}
	SORT(m->bypid, m->nbypid, task_cmp);
	threads_link(m);
	return 0;
}

/*
 * Return the process or thread of m with this pid in the snapshot, or NULL if
 * there is none.
 */
struct maketask *
maketask_find(const struct criumake *m, uint64_t pid)
{
	return PFIND(m->bypid, m->nbypid, proc->pid, pid);
}

/*
 * Return the process of m that has ID pid in the snapshot, or has a thread with
 * that ID. Return NULL if there is none.
 */
struct maketask *
maketask_process(const struct criumake *m, uint64_t pid)
{
	struct maketask *t;

	t = maketask_find(m, pid);
	if (t != NULL && !proc_isprocess(t->proc))
		t = maketask_find(m, t->proc->leader);
	return t == NULL || !proc_isprocess(t->proc) ? NULL : t;
}

/*
 * Return true if t is a zombie, or a thread that is ending.
 */
bool
maketask_ended(const struct maketask *t)
{
	return t->stat.state == 'Z' || t->stat.state == 'X';
}

/*
 * Return true if t is the first process of its pid namespace
 * (pid_namespaces(7)).
 */
bool
maketask_isinit(const struct maketask *t)
{
	return t->pid == 1;
}

/*
 * Return true if t and snap were in different namespaces of the given kind, for
 * example "ipc". See namespaces in snap-linux(6).
 */
bool
maketask_isapart(const struct maketask *t, const char *kind)
{
	char *name, *next;

	next = maketask_text(t, "namespaces");
	while ((name = strsep(&next, " \n")) != NULL)
		if (strcmp(name, kind) == 0)
			return true;
	return false;
}

/*
 * Return true if thread t runs code of its process. A thread that has ended
 * does not. A kernel worker of io_uring(7) or of a device does not either: the
 * kernel creates such workers again.
 */
bool
maketask_runs(const struct maketask *t)
{
	return !maketask_ended(t) &&
	    (t->stat.v[STAT_FLAGS] & (PF_IO_WORKER | PF_USER_WORKER)) == 0;
}

/*
 * Return the ID that images use for the resources of process t. This function
 * ignores sharing: for a descriptor table that t shares with an earlier
 * process, the caller must use the ID of that process.
 */
uint32_t
maketask_id(const struct maketask *t)
{
	return (uint32_t)t->place + FIRST_ID;
}

/*
 * Return the leader of session sid, or NULL if the leader is not restored.
 */
const struct maketask *
maketask_leader(const struct criumake *m, uint32_t sid)
{
	return PSEEK(m->order, m->norder, x->pid == sid);
}

/*
 * Return the contents of the file called name in t's record as a string. Return
 * NULL if there is no such file, or if memory runs out. The string is valid
 * until the images of a process are made.
 */
char *
maketask_text(const struct maketask *t, const char *name)
{
	return words_text(t->texts, &t->rec, name);
}

/*
 * Return true if the contents of the file called name in t's record are text.
 */
bool
maketask_is(const struct maketask *t, const char *name, const char *text)
{
	struct recfile f;
	struct scan s;

	if (!linuxrec_find(&t->rec, name, &f))
		return false;
	s = scan_begin(f.data, f.len);
	return scan_is(&s, text);
}

/*
 * Return the first line of the file called name in t's record, without its
 * newline, as maketask_text() does.
 */
char *
maketask_line(const struct maketask *t, const char *name)
{
	char *s = maketask_text(t, name);

	if (s != NULL)
		s[strcspn(s, "\n")] = '\0';
	return s;
}

/*
 * Open the file called name in t's record for reading with w. Return 1; 0 if
 * there is no such file; or -1 with errstr set.
 */
int
maketask_words(const struct maketask *t, const char *name, struct words *w)
{
	return words_open(w, t->texts, &t->rec, t->proc->pid, name);
}

/*
 * Parse the file called name in t's record, a single line of numbers, into v.
 * form is a format for words_form(), and desc describes the line in errstr.
 * Return 1 on success, 0 if there is no such file, or -1 with errstr set.
 */
int
maketask_one(const struct maketask *t, const char *name, const char *form,
    const char *desc, uint64_t *v)
{
	return words_one(&t->rec, t->proc->pid, name, form, desc, v);
}

/*
 * Parse the file called name in t's record, as maketask_one() does. If there is
 * no such file, record that t cannot be restored, and return 0.
 */
int
maketask_must(struct criumake *m, const struct maketask *t, const char *name,
    const char *form, const char *desc, uint64_t *v)
{
	int rc;

	rc = maketask_one(t, name, form, desc, v);
	return rc != 0 ? rc : make_never(m, t, "the snapshot has no %s of it",
	    name);
}

/*
 * Return true if the records of t and u both have a file called name, with
 * identical content.
 */
bool
maketask_same(const struct maketask *t, const struct maketask *u,
    const char *name)
{
	struct recfile f, g;

	return linuxrec_find(&t->rec, name, &f) &&
	    linuxrec_find(&u->rec, name, &g) && f.len == g.len &&
	    memcmp(f.data, g.data, f.len) == 0;
}

/*
 * Find a process or thread that was captured together with t and has a file
 * called name in its record. If ns is not NULL, it must also be in the same
 * namespace as t; ns is the kind of namespace, such as "ns/net". Return the
 * first one found, or NULL if there is none.
 */
struct maketask *
maketask_beside(const struct criumake *m, const struct maketask *t,
    const char *ns, const char *name)
{
	struct recfile f;

	return PSEEK(m->bypid, m->nbypid, x->part == t->part &&
	    linuxrec_find(&x->rec, name, &f) &&
	    (ns == NULL || maketask_same(t, x, ns)));
}

/*
 * Close the records of the processes and threads of m.
 */
void
maketask_free(struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->nbypid; i++) {
		linuxrec_close(&m->bypid[i]->rec);
		vmas_free(&m->bypid[i]->maps);
	}
}
