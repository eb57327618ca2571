/*
 * Format the sentence with totals that programs print at the end.
 */
#include "common.h"

/*
 * Return true if 9front's snapfs cannot read snapshot s, because a process has
 * too many memory segments. In this case, write a sentence that says so to
 * text, which has room for n bytes.
 */
bool
totals_plan9(const struct snap *s, char *text, size_t n)
{
	enum { SEGMENTS = 16 };	/* maximum number of segments of a process in
				   9front's snapfs; see snap(6) */
	const struct image *im;
	size_t i, many, most;

	for (i = many = most = 0; i < s->nproc; i++) {
		im = s->proc[i]->mem;
		if (im == NULL || im->nseg <= SEGMENTS)
			continue;
		many++;
		if (im->nseg > most)
			most = im->nseg;
	}
	if (many == 0)
		return false;
	snprintf(text, n, "9front's snapfs cannot read the snapshot: it "
	    "accepts at most %d memory segments per process, and %zu "
	    "process%s more, up to %zu; Bell Labs' snapfs can", SEGMENTS, many,
	    many == 1 ? " has" : "es have", most);
	return true;
}

/*
 * Write a sentence about the size of snapshot s to text, which has room for n
 * bytes. It gives the numbers of processes and bytes in s, and the number of
 * bytes written to o, before and after any compression. The caller must have
 * called output_end() on o.
 */
void
totals_text(const struct snap *s, const struct output *o, char *text, size_t n)
{
	struct kbcount sum = { 0 };
	const struct proc *p;
	char raw[24], zero[24], same[24], written[24], packed[24];
	size_t i, nproc, nthread, nfile;

	for (i = nproc = nthread = nfile = 0; i < s->nproc; i++) {
		p = s->proc[i];
		nfile += p->embedded != NULL;
		nthread += p->embedded == NULL;
		nproc += proc_isprocess(p);
		sum.raw += p->count.raw;
		sum.zero += p->count.zero;
		sum.same += p->count.same;
	}
	text_bytes(raw, sizeof raw, sum.raw * KB);
	text_bytes(zero, sizeof zero, sum.zero * KB);
	text_bytes(same, sizeof same, sum.same * KB);
	text_bytes(written, sizeof written, output_pos(o));
	text_bytes(packed, sizeof packed, output_written(o));
	snprintf(text, n, "processes: %zu, threads: %zu, files: %zu; memory "
	    "raw: %s, zero: %s, shared: %s; written: %s%s%s", nproc, nthread,
	    nfile, raw, zero, same, written,
	    output_written(o) == output_pos(o) ? "" : ", compressed: ",
	    output_written(o) == output_pos(o) ? "" : packed);
}
