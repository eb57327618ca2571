/*
 * Handle one process: find its threads, what they wait for and their stacks,
 * and print them.
 */
#include "snapstack.h"
#include "vec.h"

/*
 * Set the facts about thread st that do not depend on its stack.
 */
static void
thread_facts(struct stack *st)
{
	const struct linuxrec *rec = proc_record(st->thread);
	struct recfile f;
	char *text, *p, line[32];

	st->inner = st->tid;
	if (!linuxrec_line(rec, "comm", st->comm, sizeof st->comm))
		*st->comm = '\0';
	if (linuxrec_line(rec, "tid_address", line, sizeof line))
		st->clears = strtoull(line, NULL, 16);
	if (linuxrec_line(rec, "robust_list", line, sizeof line))
		st->robust = strtoull(line, NULL, 16);
	if (linuxrec_find(rec, "status", &f) &&
	    (text = strndup((const char *)f.data, f.len)) != NULL) {
		if ((p = strstr(text, "\nState:")) != NULL)
			(void)sscanf(p + 7, " %*c (%15[a-z -])", st->state);
		if ((p = strstr(text, "\nNSpid:")) != NULL) {
			p[strcspn(p + 1, "\n") + 1] = '\0';
			if ((p = strrchr(p, '\t')) != NULL)
				st->inner = strtoull(p + 1, NULL, 10);
		}
		free(text);
	}
}

static int
thread_add(struct unwinder *u, struct proc *p)
{
	struct stack *st;

	if (POOL_ROOM(&u->target->pool, u->stack, u->n) == -1)
		return -1;
	st = &u->stack[u->n++];
	memset(st, 0, sizeof *st);
	st->thread = p;
	st->tid = p->pid;
	thread_facts(st);
	return 0;
}

/*
 * Add the threads of process p to u, beginning with its first thread. Return 0,
 * or -1 with errstr set.
 */
static int
threads_find(struct unwinder *u, struct snap *s, struct proc *p)
{
	const size_t *at;
	size_t i, n;

	if (thread_add(u, p) == -1 ||
	    snap_threads(s, p->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (s->proc[at[i]] != p &&
		    thread_add(u, s->proc[at[i]]) == -1)
			return -1;
	strlcpy(u->comm, u->stack->comm, sizeof u->comm);
	u->nthreads = u->n;
	return 0;
}

/*
 * Drop all threads of u except the one whose ID is tid.
 */
static void
threads_choose(struct unwinder *u, uint64_t tid)
{
	size_t i, k;

	for (i = k = 0; i < u->n; i++)
		if (u->stack[i].tid == tid)
			u->stack[k++] = u->stack[i];
	u->n = k;
}

/*
 * Keep the part of each thread's stack that is between "from" and "to" bytes
 * above its stack pointer and, if the thread is in a signal handler, above that
 * of the code that the signal interrupted.
 */
static void
stacks_keep(struct unwinder *u, uint64_t from, uint64_t to)
{
	const struct registers *r;
	size_t i;

	for (i = 0; i < u->n; i++) {
		r = &u->stack[i].regs;
		if (r->n == 0)
			continue;
		target_keep(u->target, r->sp, from, to);
		target_keep(u->target, sigframe_interrupted(u->target, r), from,
		    to);
	}
}

/*
 * Keep the stacks of the threads of u, up to KEPT_ALL: first an equal share of
 * each, and then the rest. Stacks of Go are long, because they have no mappings
 * of their own.
 */
static void
stacks_share(struct unwinder *u)
{
	enum { LEAST = 16 * KB };
	uint64_t share = KEPT_ALL / 2 / u->n;

	if (share < LEAST)
		share = LEAST;
	if (share > KEPT_STACK)
		share = KEPT_STACK;
	stacks_keep(u, 0, share);
	if (share < KEPT_STACK)
		stacks_keep(u, share, KEPT_STACK);
}

/*
 * Gather in ps the data about the threads of process p of snapshot s. The
 * options in asked say which data are required. If keep is true, also copy the
 * memory needed to unwind the threads, because s cannot be read later. The
 * caller must call process_close() in either case. Return 0, or -1 with errstr
 * set.
 */
int
process_gather(struct process *ps, struct snap *s, struct proc *p,
    const struct asked *asked, bool keep)
{
	struct unwinder *u = &ps->u;
	struct stack *st;
	struct header h;
	char word[32];
	const char *type;
	size_t i, wordsize;

	memset(ps, 0, sizeof *ps);
	u->target = &ps->t;
	u->locals = asked->locals;
	/* a live process is stopped now; its modules are opened later */
	if (target_open(&ps->t, s, p, keep) == -1 ||
	    (!keep && (u->dwfl = modules_open(&ps->t)) == NULL) ||
	    threads_find(u, s, p) == -1 || threads_sort(u) == -1)
		return errstr_wrap("process %" PRIu64, p->pid);
	header_parse(&h, s->header == NULL ? "" : s->header);
	wordsize = target_wordsize(&ps->t);
	for (i = 0; i < u->n; i++) {
		st = &u->stack[i];
		type = linuxrec_cputype(proc_file(st->thread, "proc"), word,
		    sizeof word);
		registers_get(&st->regs, st->thread, *type == '\0' ?
		    h.cputype : type, wordsize);
		wait_find(u, st);
		if (st->regs.n > 0 && !keep)
			fatal_find(st);
	}
	if (keep)
		stacks_share(u);
	python_find(u);
	if (keep)
		target_release(&ps->t);
	return 0;
}

/*
 * Unwind the stacks of process ps and print them as the options in asked say.
 * path is the name of its snapshot.
 */
void
process_print(struct process *ps, const struct asked *asked, const char *path)
{
	struct unwinder *u = &ps->u;
	char why[128];
	size_t i;

	failure_blame(ps->t.proc->pid);
	if (u->locals && u->nolocals != NULL) {
		snprintf(why, sizeof why, "process %" PRIu64 ": no local "
		    "variables: %s", ps->t.proc->pid, u->nolocals);
		program_lose(NULL, why);
	}
	modules_use(&ps->t);
	if (u->dwfl == NULL && (u->dwfl = modules_open(&ps->t)) == NULL) {
		program_lose(NULL, snap_errstr());
		return;
	}
	if (asked->tid != UINT64_MAX)
		threads_choose(u, asked->tid);
	for (i = 0; i < u->n; i++)
		if (u->stack[i].regs.n > 0) {
			stack_unwind(u, &u->stack[i]);
			python_merge(u, &u->stack[i]);
		}
	stacks_group(u->stack, u->n, asked->all || asked->json ||
	    asked->locals);
	if (asked->json)
		objects_process(u, path);
	else if (asked->folded)
		folded_process(u);
	else
		print_process(u, asked->all);
	memory_check();
}

/*
 * Free what ps owns.
 */
void
process_close(struct process *ps)
{
	unwinder_close(&ps->u);
	target_close(&ps->t);
}
