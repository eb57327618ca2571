/*
 * Count which kilobytes of a snapshot that was not read from a stream are raw,
 * zero, and equal to others, as in a stream of it.
 */
#include "engine.h"

struct counting {
	struct dedup	*dedup;	/* owned */
	struct kbcount	*count;	/* borrowed; counts of the process */
	uint64_t	 lost;	/* number of kilobytes of the process that
				   cannot be read */
	char		 why[256];
};

static int
count_finding(void *arg, const struct finding *f)
{
	struct counting *c = arg;

	switch (f->verdict) {
	case VERDICT_RAW:
		c->count->raw += f->n;
		break;
	case VERDICT_ZERO:
		c->count->zero += f->n;
		break;
	case VERDICT_SAME:
		c->count->same += f->n;
		break;
	case VERDICT_LOST:
		c->lost += f->n;
		if (*f->why != '\0')
			strlcpy(c->why, f->why, sizeof c->why);
		break;
	}
	return 0;
}

/*
 * Count the kilobytes of image im in c->count. Treat each segment of a text as
 * a record of its own, but all segments of memory as one record, as snap(6)
 * does.
 */
static int
count_image(struct counting *c, const struct image *im)
{
	size_t i;

	if (im == NULL)
		return 0;
	if (im->kind == IMAGE_MEM)
		return dedup_segments(c->dedup, im->seg, im->nseg, true);
	for (i = 0; i < im->nseg; i++)
		if (dedup_segments(c->dedup, &im->seg[i], 1, true) == -1)
			return -1;
	return 0;
}

/*
 * Count the kilobytes that each process of s would have in a stream, and store
 * the counts in the processes. This reads all of s. For each process that
 * cannot be read completely, call warn, unless it is NULL, with arg and a
 * message. Return 0, or -1 with errstr set.
 */
int
snap_count(struct snap *s, void (*warn)(void *, const char *), void *arg)
{
	struct counting c = { 0 };
	struct proc *p;
	char msg[512];
	size_t i;
	int rc;

	if ((c.dedup = dedup_new(count_finding, &c)) == NULL)
		return -1;
	for (rc = 0, i = 0; i < s->nproc && rc == 0; i++) {
		p = s->proc[i];
		c.count = &p->count;
		c.lost = 0;
		*c.why = '\0';
		memset(&p->count, 0, sizeof p->count);
		if (count_image(&c, p->text) == -1 ||
		    count_image(&c, p->mem) == -1)
			rc = errstr_wrap("process %" PRIu64, p->pid);
		snprintf(msg, sizeof msg, "process %" PRIu64 ": %" PRIu64
		    " kilobytes cannot be read: %s", p->pid, c.lost, c.why);
		if (c.lost > 0 && warn != NULL)
			warn(arg, msg);
	}
	dedup_free(c.dedup);
	return rc;
}

/*
 * Return true if s has memory or text that has not been counted.
 */
bool
snap_uncounted(const struct snap *s)
{
	const struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (p->count.raw + p->count.zero + p->count.same > 0)
			return false;
	}
	return snap_kb(s) > 0;
}
