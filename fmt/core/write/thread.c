/*
 * Choose the threads of a process that go into its core.
 */
#include "write.h"
#include "record/record.h"
#include "vec.h"

/*
 * Return the siginfo (SIGINFO bytes) of the signal that a thread received. st
 * is the state of the thread. Return NULL if it received none. Also return NULL
 * for a ptrace(2) stop, which snap itself caused; such a stop is recognized by
 * the event in the second byte of si_code.
 */
const uint8_t *
state_signal(const struct taskstate *st)
{
	const uint8_t *p = st->siginfo.data;
	uint64_t code;

	if (st->siginfo.len != SIGINFO)
		return NULL;
	code = num_get(p + 8, 4);
	if (num_get(p, 4) == 0 || (code >= 0x100 && code <= INT32_MAX))
		return NULL;
	return p;
}

static bool
has_ended(const struct taskstate *st)
{
	return st->stat.state == 'Z' || st->stat.state == 'X';
}

/*
 * Set errstr to the reason why a process has no registers. Return -1.
 */
static int
no_registers(const struct taskstate *st)
{
	if (has_ended(st))
		return errstr_set("no registers: it is a zombie");
	if (st->tracer != 0)
		return errstr_set("no registers: it was traced by %" PRIu64,
		    st->tracer);
	return errstr_set("no registers in the snapshot");
}

/*
 * Add thread p to t if it has registers. Put it before all others if it is the
 * first thread found that received a signal. *known says whether such a thread
 * has been found.
 */
static int
thread_add(struct corethreads *t, const struct snap *s, struct proc *p,
    bool *known)
{
	const struct machine *a;
	const struct taskstate *st;

	if ((st = state_get(p)) == NULL || corearch_find(s, p, st, &a) == -1)
		return -1;
	if (a == NULL) {
		t->left += !has_ended(st);
		return 0;
	}
	/* If threads differ, the machine with wider words is that of the
	   process. */
	if (t->arch == NULL || a->word > t->arch->word)
		t->arch = a;
	if (VEC_ADD(t->p, t->n, p) == -1)
		return -1;
	if (state_signal(st) != NULL && !*known) {
		memmove(t->p + 1, t->p, (t->n - 1) * sizeof *t->p);
		t->p[0] = p;
		*known = true;
	}
	return 0;
}

/*
 * Set *t, which must be all zero, to the threads of process p of s that have
 * registers. A thread that received a signal comes first, then the first thread
 * of p. The caller frees t->p, even on failure. Return 0, or -1 with errstr
 * set, for example if no thread has registers.
 */
int
corethreads_find(struct corethreads *t, struct snap *s, struct proc *p)
{
	const struct taskstate *st;
	const size_t *at;
	size_t i, n;
	bool known;

	known = false;
	t->page = snap_page(s, p);
	if (snap_threads(s, p->pid, &at, &n) == -1 ||
	    thread_add(t, s, p, &known) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (s->proc[at[i]] != p &&
		    thread_add(t, s, s->proc[at[i]], &known) == -1)
			return -1;
	if (t->n > 0)
		return 0;
	return (st = state_get(p)) == NULL ? -1 : no_registers(st);
}
