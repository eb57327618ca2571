/*
 * Messages after processes were released: which servers did not answer, and how
 * long processes were stopped.
 */
#include "linux/proxy/proxy.h"
#include "live.h"

enum { MAX_MISSED = 8 };	/* maximum number of unanswered requests that
				   are named */

/*
 * Warn the user of set l about k, an object about which the proxy was asked and
 * did not answer in time. If k is a process that was left out, the user was
 * warned when that was decided.
 */
static void
live_warnkey(struct live *l, const struct proxy_key *k)
{
	const struct lproc *p;

	if (k->kind != KEY_EXEC)
		live_warn(l, "%s: no answer in %u seconds: not captured (use "
		    "-t to wait longer)", k->what, l->opts.timeout);
	else if ((p = lproc_find(l, (pid_t)k->id)) != NULL && !p->skip)
		live_warn(l, "process %d was inside execve(2): not captured "
		    "completely", p->pid);
}

/*
 * Warn the user of set l about requests to the proxy that were not answered in
 * time. Do not repeat those that an earlier warning has named.
 */
void
live_warnmissed(struct live *l)
{
	struct proxy_key k;
	char what[256];
	size_t n;

	for (n = l->nmissed; proxy_missed(n, &k, what, sizeof what); n++)
		if (n < MAX_MISSED)
			live_warnkey(l, &k);
	if (n > MAX_MISSED && n > l->nmissed)
		live_warn(l, "no answer to %zu more requests: not captured",
		    n - MAX_MISSED);
	l->nmissed = n;
}

/*
 * Print how long processes of set l were stopped: the longest time and, if
 * there were several processes, the sum. If the stop was long, name the step
 * that took most of it. In a second line, print the time of each step.
 */
void
live_reportheld(struct live *l)
{
	const struct lproc *p, *most;
	char longest[24], sum[24], part[24], more[200], all[256];
	const char *step;
	uint64_t us;
	size_t n;

	most = NULL;
	us = 0;
	n = 0;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->held == 0)
			continue;
		n++;
		us += p->held;
		if (most == NULL || p->held > most->held)
			most = p;
	}
	if (most == NULL)
		return;
	text_time(longest, sizeof longest, most->held);
	text_time(sum, sizeof sum, us);
	*more = '\0';
	if ((step = steps_longest(&l->steps, &us)) != NULL) {
		text_time(part, sizeof part, us);
		snprintf(more, sizeof more, "; %s to %s", part, step);
	}
	if (l->copied > 0) {
		text_bytes(part, sizeof part, l->copied);
		snprintf(more + strlen(more), sizeof more - strlen(more),
		    "; %s were copied then, as they were written to", part);
	}
	if (n == 1)
		live_say(l, "process %d: stopped for %s%s", most->pid, longest,
		    more);
	else
		live_say(l, "%zu processes: stopped for %s at most (process "
		    "%d), %s in all%s", n, longest, most->pid, sum, more);
	steps_text(&l->steps, all, sizeof all);
	live_say(l, "pause in ms: %s", all);
}
