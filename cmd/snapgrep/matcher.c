/*
 * Search a buffer for a pattern. Each thread has its own matcher.
 */
#include "snapgrep.h"
#include "num.h"

#include <endian.h>

enum { STEPS = 1000000 };	/* limit on the steps per match in PCRE2 */

/*
 * Initialize m as a matcher of pattern p, for one thread.
 */
void
matcher_open(struct matcher *m, const struct pattern *p)
{
	memset(m, 0, sizeof *m);
	m->p = p;
	if (p->code == NULL)
		return;
	m->data = must(pcre2_match_data_create(1, NULL));
	m->context = must(pcre2_match_context_create(NULL));
	m->stack = pcre2_jit_stack_create(32 * KB, 1024 * KB, NULL);
	pcre2_set_match_limit(m->context, STEPS);
	if (m->stack != NULL)
		pcre2_jit_stack_assign(m->context, NULL, m->stack);
}

/*
 * Free the members that m owns.
 */
void
matcher_close(struct matcher *m)
{
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	pcre2_jit_stack_free(m->stack);
	memset(m, 0, sizeof *m);
}

/*
 * In the len bytes at s, find the first number that is at least lo and at most
 * lo + span. The numbers have 8 bytes, are little-endian, and are at offsets
 * off, off + 8 and so on. Return the offset of the number found. If there is
 * none, return an offset after the last number.
 */
static size_t
word_next(const uint8_t *s, size_t len, size_t off, uint64_t lo,
    uint64_t span)
{
	uint64_t v;

	for (; len - off >= sizeof v; off += sizeof v) {
		memcpy(&v, s + off, sizeof v);
		if (le64toh(v) - lo <= span)
			break;
	}
	return off;
}

/*
 * In s, which has len bytes, find the first aligned pointer at or after offset
 * off that matches. Set *start and *end (exclusive) to its offsets. Return
 * MATCH_FOUND or MATCH_NONE.
 */
static enum match
pointer_next(const struct matcher *m, const uint8_t *s, size_t len,
    size_t off, size_t *start, size_t *end)
{
	const struct pattern *p = m->p;
	const size_t n = p->pointer;
	uint64_t v;

	off += (n - (m->base + off) % n) % n;
	if (n == sizeof v && !p->big && off < len)
		off = word_next(s, len, off, p->lo, p->hi - p->lo);
	for (; off < len && n <= len - off; off += n) {
		v = num_order(s + off, n, p->big);
		if (v - p->lo <= p->hi - p->lo) {
			*start = off;
			*end = off + n;
			return MATCH_FOUND;
		}
	}
	return MATCH_NONE;
}

/*
 * Use m to find the first match in the len bytes at s that begins at or after
 * offset off, but before offset limit (at most len). Set *start and *end
 * (exclusive) to its offsets, and return MATCH_FOUND. If m searches for
 * pointers, ignore limit. If partial is true, more bytes follow s. If the match
 * may depend on these, set only *start, and return MATCH_PARTIAL. If PCRE2
 * reaches its limit of steps, set m->costly, and try fewer possible beginnings
 * at a time. Skip each kilobyte where it still reaches that limit. Return
 * MATCH_NONE if there is no match.
 */
enum match
matcher_next(struct matcher *m, const uint8_t *s, size_t len, size_t off,
    size_t limit, bool partial, size_t *start, size_t *end)
{
	const size_t *at;
	size_t step, last;
	uint32_t how;
	int rc;

	if (m->p->kind == PATTERN_POINTER)
		return pointer_next(m, s, len, off, start, end);
	how = PCRE2_NOTEMPTY | (partial ? PCRE2_PARTIAL_HARD : 0);
	for (step = SIZE_MAX; off < limit; off = last + 1) {
		last = limit - off < step ? limit - 1 : off + step - 1;
		pcre2_set_offset_limit(m->context, last);
		rc = pcre2_match(m->p->code, s, len, off, how, m->data,
		    m->context);
		at = pcre2_get_ovector_pointer(m->data);
		if (rc == PCRE2_ERROR_PARTIAL) {
			*start = at[0];
			return MATCH_PARTIAL;
		}
		if (rc >= 0 && at[0] < at[1] && at[0] >= off) {
			*start = at[0];
			*end = at[1];
			return MATCH_FOUND;
		}
		if (rc >= 0)
			last = off;
		else if (rc == PCRE2_ERROR_NOMATCH)
			step = step < SIZE_MAX / 2 ? 2 * step : SIZE_MAX;
		else {
			m->costly = true;
			if (step > KB) {
				step = step == SIZE_MAX ? KB : step / 2;
				last = off - 1;
			}
		}
	}
	return MATCH_NONE;
}
