/*
 * Whether each thread of CRIU images can be restored.  criu gives to each its
 * own registers, credentials, scheduling and signals; all else is that of
 * their process: what a thread has of its own is refused here.
 */
#include "make.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Is a value what stands behind a key of status, or the first words of it?
 */
static bool
status_is(const struct maketask *t, const char *key, const char *value)
{
	const char *s;
	size_t n;

	n = strlen(key);
	for (s = t->status; s != NULL; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, key, n) == 0 && s[n] == ':') {
			s += n + 1;
			s += strspn(s, "\t ");
			n = strlen(value);
			return strncmp(s, value, n) == 0 &&
			    (s[n] == '\n' || s[n] == ' ' || s[n] == '\0');
		}
	}
	return false;
}

/*
 * What status tells of a thread that cannot be restored, or NULL:
 * proc_pid_status(5), and fs/proc/array.c of the kernel.
 */
static const char *
status_hinders(const struct maketask *t)
{
	static const struct {
		const char	*key;
		const char	*value;
		const char	*why;
	} never[] = {
		{ "Speculation_Store_Bypass", "thread mitigated",
		    "it has had its speculation limited" },
		{ "Speculation_Store_Bypass", "thread force mitigated",
		    "it has had its speculation limited" },
		{ "SpeculationIndirectBranch", "conditional disabled",
		    "it has had its speculation limited" },
		{ "SpeculationIndirectBranch", "conditional force disabled",
		    "it has had its speculation limited" },
		{ "x86_Thread_features", "shstk", "a shadow stack" }
	};
	uint64_t seccomp;
	size_t i;

	if (status_numbers(t, "Seccomp", 10, &seccomp, 1) == 1 &&
	    seccomp != 0)
		return "under seccomp";
	for (i = 0; i < sizeof never / sizeof *never; i++)
		if (status_is(t, never[i].key, never[i].value))
			return never[i].why;
	return NULL;
}

/*
 * A thread of a process, which may be the one that leads it.
 */
static int
thread_check(struct criumake *m, const struct maketask *p,
    const struct maketask *t)
{
	char who[64] = "", *own;
	const char *why;
	int rc;

	if (t != p)
		snprintf(who, sizeof who, ", thread %" PRIu64, t->proc->pid);
	if ((why = status_hinders(t)) != NULL && make_never(m, "process %"
	    PRIu64 "%s: %s: cannot be restored", p->proc->pid, who, why) == -1)
		return -1;
	if ((own = words_text(&t->rec, "apart")) == NULL)
		return 0;
	own[strcspn(own, "\n")] = '\0';
	rc = make_never(m, "process %" PRIu64 "%s: not that of its process: "
	    "%s: cannot be restored", p->proc->pid, who, own);
	free(own);
	return rc;
}

/*
 * All threads of a process.
 */
int
makethread_check(struct criumake *m, const struct maketask *p)
{
	const size_t *at;
	size_t i, n;

	if (thread_check(m, p, p) == -1 ||
	    snap_threads(m->snap, p->proc->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (!maketask_ended(m->task[at[i]]) &&
		    thread_check(m, p, m->task[at[i]]) == -1)
			return -1;
	return 0;
}
