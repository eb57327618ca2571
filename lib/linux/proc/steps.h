/*
 * What takes long while processes are stopped: steps.c.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdint.h>

enum step {
	STEP_NONE,	/* nothing is stopped */
	STEP_STOP,
	STEP_ASK,
	STEP_RECORD,
	STEP_FILES,
	STEP_CLONE,
	STEP_MEMORY,
	NSTEP
};

struct steps {
	enum step	 now;
	uint64_t	 since;		/* ns */
	uint64_t	 spent[NSTEP];	/* ns */
};

enum step	 step_begin(struct steps *, enum step);
const char	*steps_longest(const struct steps *, uint64_t *);

#endif
