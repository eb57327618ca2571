/*
 * The clocks used to wait and to measure.
 */
#include "clock.h"

#include <time.h>

/*
 * Return the time of CLOCK_MONOTONIC in nanoseconds.
 */
uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * Return the time of CLOCK_MONOTONIC in milliseconds.
 */
uint64_t
now_ms(void)
{
	return now_ns() / 1000000;
}

/*
 * Return the time since boot in nanoseconds, including time in which the
 * machine was suspended. Start times of processes are by this clock.
 */
uint64_t
boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)timespec_ns(&ts);
}

/*
 * Return the time of boot_ns() in milliseconds.
 */
uint64_t
boot_ms(void)
{
	return boot_ns() / 1000000;
}

/*
 * Sleep for us microseconds, or until a signal handler runs.
 */
void
nap_us(long us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/*
 * Return time t in nanoseconds; a time before the epoch is negative.
 */
intmax_t
timespec_ns(const struct timespec *t)
{
	return (intmax_t)t->tv_sec * 1000000000 + t->tv_nsec;
}
