/*
 * Write seccomp(2) filters as a CRIU image. seccomp.img has the filters of all
 * threads, those of each thread from newest to oldest. "prev" of a filter is
 * the index of the filter installed after it, and core-N.img has the index of
 * the thread's oldest filter.
 */
#include "criumake.h"
#include "num.h"

static const char name[] = "seccomp-filters";

enum {
	MODE_FILTER = 2,	/* SECCOMP_MODE_FILTER */
	FLAG_TSYNC = 1,		/* SECCOMP_FILTER_FLAG_TSYNC: for all threads */
	INSTRUCTION = 8		/* size of a struct sock_filter in bytes */
};

/*
 * Return true if the filter with this code may ask another process for a
 * decision, that is, if code has an instruction that returns
 * SECCOMP_RET_USER_NOTIF.
 */
static bool
asks_another(const struct recfile *code)
{
	/* BPF_RET | BPF_K, and the upper half of SECCOMP_RET_USER_NOTIF */
	enum { RETURN = 0x06, ACTION = 0x7fc0 };
	size_t at;

	for (at = 0; at + INSTRUCTION <= code->len; at += INSTRUCTION)
		if (num_get(code->data + at, 2) == RETURN &&
		    num_get(code->data + at + 6, 2) == ACTION)
			return true;
	return false;
}

/*
 * Set *code to the code of the seccomp filter with this id. Of the threads with
 * that filter that were captured together with t, the first has the code in its
 * record. Return false, with code->len 0, if no record has it.
 */
static bool
code_find(const struct criumake *m, const struct maketask *t, uint64_t id,
    struct recfile *code)
{
	const struct maketask *has;
	char file[WORDS_NAME];

	snprintf(file, sizeof file, "seccomp/%" PRIu64, id);
	has = maketask_beside(m, t, NULL, file);
	code->len = 0;
	return has != NULL && linuxrec_find(&has->rec, file, code);
}

/*
 * Return true if process p has more than one thread, and all of them have the
 * same filters as the first.
 */
static bool
is_common(const struct maketask *p)
{
	const struct maketask *t;
	bool others = false;

	for (t = p->thread; t != NULL; t = t->thread) {
		if (!maketask_runs(t))
			continue;
		others = true;
		if (!maketask_same(p, t, name))
			return false;
	}
	return others;
}

/*
 * Append the seccomp filters of thread t of process p to m->filter, newest
 * first. Add the bits in flags to the flags of each filter. Return 1 on
 * success, 0 if the filters cannot be restored (the reason is recorded), or -1
 * with errstr set.
 */
static int
filters_add(struct criumake *m, const struct maketask *p, struct maketask *t,
    uint32_t flags)
{
	const size_t first = m->nfilter;
	struct makefilter swap;
	struct recfile code;
	struct words w;
	uint64_t n[2];
	size_t i;
	int rc;

	rc = maketask_words(t, name, &w);
	while (rc != -1 && (rc = words_next(&w)) == 1) {
		if (!words_form(&w, 0, "dx", n))
			return words_bad(&w, "id flags (x)");
		if (!code_find(m, t, n[0], &code) || code.len == 0 ||
		    code.len % INSTRUCTION != 0 || asks_another(&code))
			return make_never(m, p, "a seccomp filter %s: cannot "
			    "be restored",
			    code.len > 0 && code.len % INSTRUCTION == 0 ?
			    "that asks another process" :
			    "is not in the snapshot");
		if (POOL_ADD(&m->pool, m->filter, m->nfilter,
		    (struct makefilter){ code.data, code.len,
		    (uint32_t)n[1] | flags, false }) == -1)
			return -1;
	}
	for (i = 0; i < (m->nfilter - first) / 2; i++) {
		swap = m->filter[first + i];
		m->filter[first + i] = m->filter[m->nfilter - 1 - i];
		m->filter[m->nfilter - 1 - i] = swap;
	}
	for (i = first + 1; i < m->nfilter; i++)
		m->filter[i].chained = true;
	return rc == -1 ? -1 : 1;
}

/*
 * Set the seccomp mode and filters in th to those of thread t of process p. If
 * all threads have the same filters, set them only for the first thread, with
 * the flag that applies them to all threads. The first thread can then still
 * install a filter for all threads. Return 0, or -1 with errstr set.
 */
int
makeseccomp_set(struct criumake *m, struct maketask *p, struct maketask *t,
    Criu__ThreadCore *th)
{
	struct recfile f;
	uint64_t mode;
	bool common, filters;
	int rc;

	if (maketask_status(t, "Seccomp", 10, &mode, 1) != 1)
		mode = 0;
	filters = linuxrec_find(&t->rec, name, &f);
	if (!filters && mode == MODE_FILTER)
		return make_never(m, p, "its seccomp filters are not in the "
		    "snapshot: cannot be restored");
	if (!filters && mode == 0)
		return 0;
	if (t == p)
		p->filterssame = filters && is_common(p);
	common = filters && p->filterssame;
	if (common && t != p)
		return 0;
	th->has_seccomp_mode = true;
	th->seccomp_mode = filters ? MODE_FILTER : (uint32_t)mode;
	if (!filters)
		return 0;
	rc = filters_add(m, p, t, common ? FLAG_TSYNC : 0);
	th->has_seccomp_filter = true;
	th->seccomp_filter = (uint32_t)m->nfilter - 1;
	return rc == -1 ? -1 : 0;
}

/*
 * Write seccomp.img if there are filters. Return 0, or -1 with errstr set.
 */
int
makeseccomp_write(struct criumake *m)
{
	Criu__Seccomp e = CRIU__SECCOMP__INIT;
	Criu__SeccompFilter *v;
	size_t i;

	if (m->nfilter == 0)
		return 0;
	if ((v = MSG_MANY(&m->msgs, &e, filters, m->nfilter)) == NULL)
		return -1;
	for (i = 0; i < m->nfilter; i++) {
		v[i].filter.data = (uint8_t *)(uintptr_t)m->filter[i].code;
		v[i].filter.len = m->filter[i].len;
		v[i].has_flags = true;
		v[i].flags = m->filter[i].flags;
		v[i].has_prev = m->filter[i].chained;
		v[i].prev = (uint32_t)i - 1;
	}
	return make_message(m, CRIU_SECCOMP, &e.base, "seccomp.img");
}
