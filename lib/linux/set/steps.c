/*
 * What takes long while processes are stopped: each step's time is added up,
 * over all processes, so that who wonders about a long pause is told where it
 * went (snap -v).
 */
#include "set.h"
#include "clock.h"

enum { LONG_MS = 100 };

/*
 * Begin a step, and return the one that was under way, which is to be begun
 * again where this is a part of it.
 */
enum step
step_begin(struct steps *s, enum step step)
{
	enum step before;
	uint64_t now;

	before = s->now;
	now = now_ns();
	if (before != STEP_NONE)
		s->spent[before] += now - s->since;
	s->now = step;
	s->since = now;
	return before;
}

/*
 * Return what took longest, in words that follow "to", and set *us to its
 * microseconds; or return NULL where all took no time that a user would feel.
 */
const char *
steps_longest(const struct steps *s, uint64_t *us)
{
	static const char *const name[NSTEP] = {
		[STEP_STOP] = "stop all threads",
		[STEP_ASK] = "have them tell what only they know",
		[STEP_RECORD] = "read what proc tells of them",
		[STEP_FILES] = "look at open files and sockets",
		[STEP_CLONE] = "clone them",
		[STEP_MEMORY] = "read and write their memory"
	};
	enum step i, most;
	uint64_t sum;

	sum = 0;
	for (i = most = STEP_STOP; i < NSTEP; i++) {
		sum += s->spent[i];
		if (s->spent[i] > s->spent[most])
			most = i;
	}
	*us = s->spent[most] / 1000;
	return sum < LONG_MS * UINT64_C(1000000) ? NULL : name[most];
}
