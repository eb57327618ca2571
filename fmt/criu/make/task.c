/*
 * Processes and threads of a snapshot, as their Linux records have them, and
 * what the other files ask of one.
 */
#include "criumake.h"
#include "bisect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ID = 2 };		/* of processes; criu itself has 1 */

/*
 * Set the fields of stat: 1 and those from 4 on are numbers, 3 is a letter.
 */
static int
stat_read(struct maketask *t)
{
	char *text, *s, *end;
	size_t i;

	if ((text = words_text(&t->rec, "stat")) == NULL)
		return errstr_set("no stat");
	t->stat[1] = strtoull(text, NULL, 10);
	i = 2;
	if ((s = strrchr(text, ')')) != NULL && s[1] == ' ' && s[2] != '\0') {
		t->state = s[2];
		for (s += 3, i = 4; i < STAT_FIELDS; i++, s = end) {
			t->stat[i] = *s != ' ' ? 0 : s[1] == '-' ?
			    (uint64_t)strtoll(s, &end, 10) :
			    strtoull(s, &end, 10);
			if (*s != ' ' || end == s)
				break;
		}
	}
	free(text);
	return i == STAT_FIELDS ? 0 : errstr_set("stat: not 52 fields");
}

/*
 * The numbers behind a key of status, in a base; at most max of them go to v.
 * How many there are; 0: none, or no such key.
 */
size_t
status_numbers(const struct maketask *t, const char *key, int base,
    uint64_t *v, size_t max)
{
	const char *s;
	char *end;
	size_t n, len;

	len = strlen(key);
	for (s = t->status; s != NULL && (strncmp(s, key, len) != 0 ||
	    s[len] != ':'); s = s == NULL ? NULL : s + 1)
		if ((s = strchr(s, '\n')) == NULL)
			return 0;
	if (s == NULL)
		return 0;
	for (n = 0, s += len + 1;; n++, s = end) {
		s += strspn(s, "\t ");
		if (strspn(s, "0123456789abcdef") == 0)
			return n;
		if (n < max)
			v[n] = strtoull(s, &end, base);
		else
			(void)strtoull(s, &end, base);
		if (end == s)
			return n;
	}
}

/*
 * Set *out to the last number of a line of status: that in the innermost
 * namespace.
 */
static int
inner_number(const struct maketask *t, const char *key, uint32_t *out)
{
	enum { DEEPEST = 33 };	/* MAX_PID_NS_LEVEL of the kernel, and 1 */
	uint64_t v[DEEPEST];
	size_t n;

	n = status_numbers(t, key, 10, v, DEEPEST);
	if (n == 0 || n > DEEPEST || v[n - 1] > INT32_MAX)
		return errstr_set("status: no %s", key);
	*out = (uint32_t)v[n - 1];
	return 0;
}

static int
task_read(struct maketask *t)
{
	if (linuxrec_open(&t->rec, proc_file(t->proc, "proc")) == -1 ||
	    stat_read(t) == -1)
		return -1;
	t->status = words_text(&t->rec, "status");
	if (inner_number(t, "NSpid", &t->pid) == -1)
		return -1;
	if (t->proc->leader != 0)
		return 0;
	return inner_number(t, "NSpgid", &t->pgid) == -1 ? -1 :
	    inner_number(t, "NSsid", &t->sid);
}

static int
task_cmp(const void *a, const void *b)
{
	const struct maketask *const *x = a, *const *y = b;

	return (*x)->proc->pid < (*y)->proc->pid ? -1 :
	    (*x)->proc->pid > (*y)->proc->pid;
}

/*
 * Read the records of all processes and threads to m->task and m->bypid;
 * where one process was asked for, of those that were taken with it, for the
 * others' numbers of processes and inodes are not its own.
 */
int
maketask_read(struct criumake *m)
{
	struct maketask *t;
	struct proc *p;
	uint64_t part, only;
	size_t i;

	m->task = calloc(m->snap->nproc, sizeof(*m->task));
	m->bypid = calloc(m->snap->nproc, sizeof(*m->bypid));
	if (m->task == NULL || m->bypid == NULL)
		return errstr_set("out of memory");
	only = 0;
	p = m->opts->root == 0 ? NULL : snap_find(m->snap, m->opts->root);
	if (p != NULL && proc_part(p, &only) == -1)
		return -1;
	for (i = 0; i < m->snap->nproc; i++) {
		p = m->snap->proc[i];
		if (p->carried != NULL)
			continue;
		if (proc_part(p, &part) == -1)
			return -1;
		if (m->opts->root != 0 && part != only)
			continue;
		if ((t = m->task[i] = calloc(1, sizeof *t)) == NULL)
			return errstr_set("out of memory");
		m->bypid[m->nbypid++] = t;
		t->proc = p;
		t->part = part;
		t->files = t;
		if (task_read(t) == -1)
			return errstr_wrap("process %" PRIu64, p->pid);
	}
	if (m->nbypid > 1)
		qsort(m->bypid, m->nbypid, sizeof(*m->bypid), task_cmp);
	return 0;
}

/*
 * Return the process or thread of a number of the snapshot, or NULL.
 */
struct maketask *
maketask_find(const struct criumake *m, uint64_t pid)
{
	size_t i;

	i = BISECT_WHILE(n, m->nbypid, m->bypid[n]->proc->pid < pid);
	return i < m->nbypid && m->bypid[i]->proc->pid == pid ?
	    m->bypid[i] : NULL;
}

/*
 * Return the process of a number of the snapshot, or that of the thread which
 * has that number; or NULL.
 */
struct maketask *
maketask_process(const struct criumake *m, uint64_t pid)
{
	struct maketask *t;

	t = maketask_find(m, pid);
	if (t != NULL && t->proc->leader != 0)
		t = maketask_find(m, t->proc->leader);
	return t == NULL || t->proc->leader != 0 ? NULL : t;
}

/*
 * Return whether t is a zombie, or a thread that is about to be gone.
 */
bool
maketask_ended(const struct maketask *t)
{
	return t->state == 'Z' || t->state == 'X';
}

/*
 * Return whether a thread runs what the process has it run.  One that has
 * ended does not, nor does a worker of the kernel, which is there for
 * io_uring(7) or a device, and comes again with it.
 */
bool
maketask_runs(const struct maketask *t)
{
	enum {			/* linux/sched.h */
		PF_IO_WORKER = 0x10,
		PF_USER_WORKER = 0x4000
	};

	return !maketask_ended(t) &&
	    (t->stat[9] & (PF_IO_WORKER | PF_USER_WORKER)) == 0;
}

/*
 * The number that images give to what process t has for itself; two have one
 * number for what they share.
 */
uint32_t
maketask_id(const struct maketask *t)
{
	return (uint32_t)t->place + FIRST_ID;
}

/*
 * Set v to the numbers that a file of one line has in the record of t, as form
 * has them (words_form).  what is such a line in words, for the error string.
 * Return 1; 0, if there is no such file; or -1.
 */
int
maketask_one(const struct maketask *t, const char *name, const char *form,
    const char *what, uint64_t *v)
{
	return words_one(&t->rec, t->proc->pid, name, form, what, v);
}

/*
 * The same of a file that must be there: when it is not, that is noted.
 */
int
maketask_must(struct criumake *m, const struct maketask *t, const char *name,
    const char *form, const char *what, uint64_t *v)
{
	int rc;

	rc = maketask_one(t, name, form, what, v);
	return rc != 0 ? rc : make_never(m, "process %" PRIu64 ": the snapshot "
	    "has no %s of it", t->proc->pid, name);
}

void
maketask_free(struct criumake *m)
{
	struct maketask *t;
	size_t i;

	for (i = 0; m->task != NULL && i < m->snap->nproc; i++) {
		if ((t = m->task[i]) == NULL)
			continue;
		linuxrec_close(&t->rec);
		free(t->status);
		free(t->fd);
		free(t->byopen);
		vmas_free(&t->maps);
		free(t->kept);
		free(t);
	}
	free(m->task);
	free(m->bypid);
}
