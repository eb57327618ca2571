/*
 * Parse and wait for the time of day at which a snapshot is taken, so that
 * several machines can take one at the same moment.
 */
#include "job.h"

/*
 * Parse s, a time of day in local time, HH:MM or HH:MM:SS, into *t. Of its
 * occurrences yesterday, today and tomorrow, choose the one nearest to now.
 * Return 0, or -1 if s is malformed.
 */
static int
day_parse(time_t *t, const char *s, time_t now)
{
	const long sec = day_seconds(s);
	struct tm tm, day;
	time_t one;
	int n;

	if (sec == -1 || localtime_r(&now, &tm) == NULL)
		return -1;
	*t = -1;
	for (n = -1; n <= 1; n++) {
		day = tm;
		day.tm_mday += n;
		day.tm_hour = (int)(sec / 3600);
		day.tm_min = (int)(sec / 60 % 60);
		day.tm_sec = (int)(sec % 60);
		day.tm_isdst = -1;
		one = mktime(&day);
		if (*t == -1 || llabs((long long)(one - now)) <
		    llabs((long long)(*t - now)))
			*t = one;
	}
	return 0;
}

/*
 * Parse s, a time, into *start. s is HH:MM, HH:MM:SS, or @ followed by seconds
 * since the Epoch. Return 0, 1 with errstr set if that time has passed, or -1
 * with errstr set if s is malformed.
 */
int
at_parse(time_t *start, const char *s)
{
	time_t now = time(NULL);
	const char *bad = NULL;

	if (*s == '@')
		*start = (time_t)strtonum(s + 1, 1, INT_MAX * 1000LL, &bad);
	else if (day_parse(start, s, now) == -1)
		bad = "";
	if (bad != NULL)
		return errstr_set("\"%s\" is not a time: use HH:MM:SS, or @ "
		    "and seconds since the Epoch", s);
	if (*start >= now)
		return 0;
	(void)errstr_set("%s passed %lld seconds ago", s,
	    (long long)(now - *start));
	return 1;
}

/*
 * Wait until the system clock reaches start, even if the clock is set during
 * the wait.
 */
void
at_wait(time_t start)
{
	const struct timespec ts = { .tv_sec = start };

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL) ==
	    EINTR)
		continue;
}
