/*
 * How far long work is, in numbers that another thread may look at meanwhile.
 * All functions do nothing where p is NULL.
 */
#include "io.h"
#include "clock.h"

/*
 * Begin work that reads total bytes, and is told to p, unless that is NULL; 0:
 * it is not known how many.
 */
void
progress_phase(struct progress *p, uint64_t total)
{
	if (p == NULL)
		return;
	p->done = p->raw = p->zero = p->same = 0;
	p->total = total;
	p->began = now_ms();
}

/*
 * Count n bytes that were read, in p, unless that is NULL.
 */
void
progress_read(struct progress *p, uint64_t n)
{
	if (p != NULL)
		p->done += n;
}

/*
 * Count kilobytes of memory that turned out to be raw, zero, or the same as
 * others, in p, unless that is NULL.
 */
void
progress_count(struct progress *p, uint64_t raw, uint64_t zero, uint64_t same)
{
	if (p == NULL)
		return;
	/* one at a time, mostly: each takes as long as a few dozen others */
	if (raw > 0)
		p->raw += raw;
	if (zero > 0)
		p->zero += zero;
	if (same > 0)
		p->same += same;
}

/*
 * Note in p, unless that is NULL, that a write that may wait for a reader
 * begins, or ends.
 */
void
progress_write(struct progress *p)
{
	if (p != NULL)
		p->writes++;
}
