/*
 * Progress of long work, in counters that another thread may read at any time.
 * All functions do nothing if p is NULL.
 */
#include "io.h"
#include "clock.h"

/*
 * Begin a phase in p, which may be NULL. The phase reads total bytes, or an
 * unknown number if total is 0.
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
 * Record in p, which may be NULL, that n more bytes were read.
 */
void
progress_read(struct progress *p, uint64_t n)
{
	if (p != NULL)
		p->done += n;
}

/*
 * Add to the counts in p, which may be NULL, the given numbers of kilobytes:
 * raw, all-zero, and the same as others.
 */
void
progress_count(struct progress *p, uint64_t raw, uint64_t zero, uint64_t same)
{
	if (p == NULL)
		return;
	/* skip counts of 0: an atomic addition is expensive */
	if (raw > 0)
		p->raw += raw;
	if (zero > 0)
		p->zero += zero;
	if (same > 0)
		p->same += same;
}

/*
 * Record in p, which may be NULL, that a write that may wait for a reader
 * starts or ends. Call this once for each.
 */
void
progress_write(struct progress *p)
{
	if (p != NULL)
		p->writes++;
}
