/*
 * The clock by which we wait and measure.
 */
#include "clock.h"

#include <time.h>

/*
 * CLOCK_MONOTONIC in nanoseconds.
 */
uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * The same in milliseconds.
 */
uint64_t
now_ms(void)
{
	return now_ns() / 1000000;
}
