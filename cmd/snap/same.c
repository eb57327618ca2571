/*
 * Notice that another process has the ID of one that ended, between two looks
 * at the processes of the command line.
 */
#include "job.h"

/*
 * Let the words of w that are process IDs select the same processes each time.
 * The first call records which these are, and replaces the ID of a thread by
 * the ID of its process. If another process has the ID of one later, print a
 * message, and let that word select none.
 */
void
same_check(const struct words *w)
{
	static uint64_t *starts;
	static char (*ids)[16];
	static char none[] = "";
	const bool first = starts == NULL;
	char text[100];
	uint64_t start;
	pid_t leader;
	size_t i;

	if (first) {
		starts = must(calloc(w->n + 1, sizeof *starts));
		ids = must(calloc(w->n + 1, sizeof *ids));
	}
	for (i = 0; i < w->n; i++) {
		if (!program_isnumber(w->v[i]))
			continue;
		/* a thread may end before its process */
		if (first && (leader = proc_leader((pid_t)strtol(w->v[i], NULL,
		    10))) != -1) {
			snprintf(ids[i], sizeof *ids, "%d", leader);
			w->v[i] = ids[i];
		}
		start = proc_began((pid_t)strtol(w->v[i], NULL, 10));
		if (first)
			starts[i] = start;
		else if (start != 0 && start != starts[i]) {
			snprintf(text, sizeof text, "process %.20s ended, and "
			    "another process has its ID: left out", w->v[i]);
			say(NULL, text);
			w->v[i] = none;
		}
	}
}
