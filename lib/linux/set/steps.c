/*
 * Measure how long each step of the stop takes, summed over all processes, to
 * explain a long pause to the user (snap -v).
 */
#include "set.h"
#include "clock.h"

enum { LONG_MS = 100 };

/*
 * End the current step of s, and begin step next. Return the step that was
 * ended. If next is a part of the ended step, the caller later begins the ended
 * step again.
 */
enum step
step_begin(struct steps *s, enum step next)
{
	enum step before;
	uint64_t now;

	before = s->now;
	now = now_ns();
	if (before != STEP_NONE)
		s->spent[before] += now - s->since;
	s->now = next;
	s->since = now;
	return before;
}

static const struct {
	const char	*name;
	const char	*words;	/* verb phrase for messages, without "to" */
} step[NSTEP] = {
	[STEP_STOP] = { "stop", "stop all threads" },
	[STEP_REGS] = { "registers", "wait for all threads to stop" },
	[STEP_ASK] = { "asking", "ask them for state that only they know" },
	[STEP_RECORD] = { "records", "read about them in /proc" },
	[STEP_FILES] = { "files", "look at open files and sockets" },
	[STEP_CLONE] = { "clones", "clone them" },
	[STEP_SHARED] = { "shared memory", "copy memory that they share" },
	[STEP_MEMORY] = { "memory", "read and write their memory" },
	[STEP_RELEASE] = { "release", "let them go" }
};

/*
 * Return a phrase for the step of s that took longest, to be printed after
 * "to". Set *us to its duration in microseconds. Return NULL if all steps
 * together took less than LONG_MS.
 */
const char *
steps_longest(const struct steps *s, uint64_t *us)
{
	enum step i, most;
	uint64_t sum;

	sum = 0;
	for (i = most = STEP_STOP; i < NSTEP; i++) {
		sum += s->spent[i];
		if (s->spent[i] > s->spent[most])
			most = i;
	}
	*us = s->spent[most] / 1000;
	return sum < LONG_MS * UINT64_C(1000000) ? NULL : step[most].words;
}

/*
 * Write to text, which has room for size bytes, how long each step of s took,
 * in milliseconds. Leave out steps that took no time. The text looks like "stop
 * 0.2, registers 1.5".
 */
void
steps_text(const struct steps *s, char *text, size_t size)
{
	enum step i;
	size_t n;

	*text = '\0';
	for (n = 0, i = STEP_STOP; i < NSTEP && n < size; i++)
		if (s->spent[i] > 0)
			n += (size_t)snprintf(text + n, size - n, "%s%s %.1f",
			    n > 0 ? ", " : "", step[i].name,
			    (double)s->spent[i] / 1e6);
}
