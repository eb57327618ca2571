/*
 * The threads of a process that go into its core, and what the Linux record
 * of each tells of it.
 */
#include "core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of a small file, what fits into n bytes, and a NUL.
 */
bool
rec_text(const struct linuxrec *r, const char *name, char *s, size_t n)
{
	struct recfile f;
	bool found;

	if ((found = linuxrec_find(r, name, &f)) && f.len > 0) {
		if (f.len < n)
			n = f.len + 1;
		memcpy(s, f.data, n - 1);
		s[n - 1] = '\0';
	} else
		*s = '\0';
	return found;
}

/*
 * Of status of proc_pid_status(5), what is behind a key, as far as it fits
 * into n bytes with a NUL.
 */
static bool
status_line(const struct linuxrec *r, const char *key, char *s, size_t n)
{
	const uint8_t *p, *end, *nl;
	struct recfile f;
	size_t k;

	k = strlen(key);
	if (!linuxrec_find(r, "status", &f))
		return false;
	for (p = f.data, end = p + f.len; p < end; p = nl + 1) {
		if ((nl = memchr(p, '\n', (size_t)(end - p))) == NULL)
			nl = end;
		if ((size_t)(nl - p) > k && memcmp(p, key, k) == 0 &&
		    p[k] == ':') {
			snprintf(s, n, "%.*s", (int)((size_t)(nl - p) < n ?
			    (size_t)(nl - p) : n) - (int)k - 1,
			    (const char *)p + k + 1);
			return true;
		}
	}
	return false;
}

/*
 * A number of status: the first behind a key, or 0.
 */
uint64_t
rec_status(const struct linuxrec *r, const char *key, int base)
{
	char text[64];

	return status_line(r, key, text, sizeof text) ?
	    strtoull(text, NULL, base) : 0;
}

/*
 * A number as the process sees it, if status has it so: the last one behind a
 * key, which is that of the innermost pid namespace (pid_namespaces(7)).
 * Returns in how many namespaces it is seen.
 */
static size_t
status_innermost(const struct linuxrec *r, const char *key, uint64_t *v)
{
	char text[1024], *s, *end;
	uint64_t num;
	size_t n;

	if (!status_line(r, key, text, sizeof text))
		return 0;
	for (n = 0, s = text;; n++, s = end, *v = num) {
		num = strtoull(s, &end, 10);
		if (end == s)
			return n;
	}
}

/*
 * Make the numbers of a process those that it sees itself, as the kernel does
 * for a core (fill_prstatus of fs/binfmt_elf.c): the C library has them in
 * memory, and debuggers compare.
 */
static void
stat_inside(const struct linuxrec *r, struct stat_line *st)
{
	char text[24];

	if (status_innermost(r, "NSpid", &st->pid) > 1)
		st->ppid = rec_text(r, "nsppid", text, sizeof text) ?
		    strtoull(text, NULL, 10) : 0;
	(void)status_innermost(r, "NSpgid", &st->pgrp);
	(void)status_innermost(r, "NSsid", &st->session);
}

/*
 * What stat tells, or for a process of Plan 9 its status and noteid.
 */
void
rec_stat(const struct proc *p, const struct linuxrec *r, struct stat_line *st)
{
	enum { STATE = 56 };
	const struct file *f;
	char text[1024];
	const char *s;

	memset(st, 0, sizeof *st);
	st->state = 'S';
	st->pid = p->pid;
	if (rec_text(r, "stat", text, sizeof text) &&
	    (s = strrchr(text, ')')) != NULL) {
		/* cppcheck-suppress invalidscanf_libc */
		(void)sscanf(s + 1, " %c %" SCNu64 " %" SCNu64 " %" SCNu64
		    " %*d %*d %" SCNu64 " %*u %*u %*u %*u %" SCNu64
		    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %*d %" SCNd64,
		    &st->state, &st->ppid, &st->pgrp, &st->session,
		    &st->flags, &st->time[0], &st->time[1], &st->time[2],
		    &st->time[3], &st->nice);
		st->pid = strtoull(text, NULL, 10);
		stat_inside(r, st);
		return;
	}
	if ((f = proc_file(p, "status")) != NULL && f->len > STATE + 5 &&
	    memcmp(f->data + STATE, "Runni", 5) == 0)
		st->state = 'R';
	if ((f = proc_file(p, "noteid")) != NULL && f->len < sizeof text) {
		memcpy(text, f->data, f->len);
		text[f->len] = '\0';
		st->pgrp = strtoull(text, NULL, 10);
	}
}

/*
 * The siginfo of a thread that got a signal: SIGINFO bytes.  NULL if there
 * is none, or it is of a stop for a tracer, whose si_code has the event in
 * its second byte (ptrace(2)): that of the snapshot itself.
 */
const uint8_t *
rec_siginfo(const struct linuxrec *r)
{
	struct recfile f;
	uint64_t code;

	if (!linuxrec_find(r, "siginfo", &f) || f.len != SIGINFO)
		return NULL;
	code = num_get(f.data + 8, 4);
	if (num_get(f.data, 4) == 0 || (code >= 0x100 && code <= INT32_MAX))
		return NULL;
	return f.data;
}

/*
 * Why a process has no registers.
 */
static int
no_registers(const struct proc *p, const struct linuxrec *r)
{
	struct stat_line st;
	uint64_t tracer;

	rec_stat(p, r, &st);
	tracer = rec_status(r, "TracerPid", 10);
	if (st.state == 'Z' || st.state == 'X')
		return errstr_set("no registers: it is a zombie");
	if (tracer != 0)
		return errstr_set("no registers: it was traced by %" PRIu64,
		    tracer);
	return errstr_set("no registers in the snapshot");
}

/*
 * Look at a thread: 1 if it has registers, 0 if not, -1 on an error.
 */
static int
thread_look(struct corethreads *t, const struct snap *s, struct proc *p,
    bool *fatal)
{
	const struct corearch *a;
	struct linuxrec r;
	struct stat_line st;
	int rc;

	if ((rc = linuxrec_open(&r, proc_file(p, "proc"))) == -1)
		goto out;
	if ((a = corearch_find(s, p, &r)) == NULL) {
		rec_stat(p, &r, &st);
		if (*snap_errstr() != '\0')
			rc = -1;
		else if (st.state != 'Z' && st.state != 'X')
			t->left++;
		goto out;
	}
	rc = 1;
	*fatal = rec_siginfo(&r) != NULL;
	/* where threads differ, the process is the wider */
	if (t->arch == NULL || a->word > t->arch->word)
		t->arch = a;
out:
	linuxrec_close(&r);
	return rc;
}

/*
 * Add a thread, if it has registers; before all others, if it is the first
 * that got a signal.
 */
static int
thread_add(struct corethreads *t, const struct snap *s, struct proc *p,
    bool *known)
{
	struct proc **v;
	bool fatal;
	int rc;

	fatal = false;
	if ((rc = thread_look(t, s, p, &fatal)) != 1)
		return rc;
	if ((t->n & (t->n - 1)) == 0) {
		v = reallocarray(t->p, t->n == 0 ? 1 : t->n * 2, sizeof *v);
		if (v == NULL)
			return errstr_set("out of memory");
		t->p = v;
	}
	t->p[t->n++] = p;
	if (fatal && !*known) {
		memmove(t->p + 1, t->p, (t->n - 1) * sizeof *t->p);
		t->p[0] = p;
		*known = true;
	}
	return 0;
}

/*
 * The threads of a process that have registers: its own first, but before
 * it one that got a signal.  An error if there are none.  The caller frees
 * t->p, after a failure too; *t is all zero.
 */
int
corethreads_find(struct corethreads *t, struct snap *s, struct proc *p)
{
	struct linuxrec r;
	const size_t *at;
	size_t i, n;
	bool known;

	known = false;
	if (snap_threads(s, p->pid, &at, &n) == -1 ||
	    thread_add(t, s, p, &known) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (s->proc[at[i]] != p &&
		    thread_add(t, s, s->proc[at[i]], &known) == -1)
			return -1;
	if (t->n > 0)
		return 0;
	if (linuxrec_open(&r, proc_file(p, "proc")) == 0)
		(void)no_registers(p, &r);
	linuxrec_close(&r);
	return -1;
}
