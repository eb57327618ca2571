/*
 * The processors of this machine.
 */
#include "model.h"

#include <sched.h>
#include <unistd.h>

/*
 * Return how many processors this process may use.
 */
int
processors_count(void)
{
	cpu_set_t set;
	long n;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}
