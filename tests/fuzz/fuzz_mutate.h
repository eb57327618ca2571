/*
 * Changes of inputs that random bytes would not achieve: to tokens of texts,
 * and to words of binary structures.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "../../lib/library.h"
#include "../../lib/num.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

size_t	 LLVMFuzzerMutate(uint8_t *, size_t, size_t);
size_t	 LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t, unsigned int);

static uint64_t mutate_state;

static uint64_t
mutate_random(void)
{
	mutate_state = mutate_state * 6364136223846793005U +
	    1442695040888963407U;
	return mutate_state >> 33;
}

static size_t
mutate_pick(size_t n)
{
	return (size_t)(mutate_random() % n);
}

/*
 * Copy b to p, which has room for max bytes, and free b.  Return its length, or
 * 0 if it does not fit.
 */
static size_t
mutate_finish(uint8_t *p, struct buf *b, size_t max)
{
	const size_t n = b->failed || b->len > max ? 0 : b->len;

	if (n > 0)
		memcpy(p, b->data, n);
	buf_free(b);
	return n;
}

static void
mutate_seed(unsigned int seed)
{
	mutate_state = seed;
	(void)mutate_random();
}

/*
 * Return a number that is likely to find errors.
 */
static uint64_t
mutate_number(void)
{
	uint64_t v;

	switch (mutate_pick(8)) {
	case 0:
		return mutate_pick(4);
	case 1:
		return 0 - (uint64_t)mutate_pick(4);
	case 2:		/* near a power of two */
		v = (uint64_t)1 << mutate_pick(64);
		return v + mutate_pick(3) - 1;
	case 3:		/* an address in user space */
		return 0x7f0000000000U + mutate_pick(256) * 4096;
	case 4:
		return mutate_pick(1 << 16) * KB;
	default:
		return mutate_pick(64) * KB;
	}
}

static const char *const mutate_word[] = { "../../x", "/", "//", "..", ".",
    "/etc/passwd", " (deleted)", "/memfd:x (deleted)", "[stack]", "[heap]",
    "[vdso]", "[vvar]", "[anon:x]", "\033[31m", "\n", "\\012", "\302\233",
    "\377", "a/b/c/d/e/f/g/h", "ps", "rwxs", "r-xp", "---p",
    "rd wr mr mw me gd ss sl ht", "fd/", "map/", "/SYSV00000000 (deleted)",
    "/dev/zero (deleted)", "&lt;", "<&>\"'", "]]>", "-1", "0x", "08:01", "%s",
    "NaN", "unreadable", "damaged", "guard", "kernel" };

/*
 * Replace the bytes from..to of a text of n bytes, which has room for max, with
 * s. Return the new length.
 */
static size_t
mutate_put(uint8_t *p, size_t n, size_t max, size_t from, size_t to,
    const void *s, size_t len)
{
	if (n - (to - from) + len > max)
		return n;
	memmove(p + from + len, p + to, n - to);
	if (len > 0)
		memcpy(p + from, s, len);
	return n - (to - from) + len;
}

/*
 * Duplicate, drop or move a line of a text.
 */
static size_t
mutate_line(uint8_t *p, size_t n, size_t max)
{
	uint8_t line[512];
	size_t from, to, len;

	for (from = mutate_pick(n); from > 0 && p[from - 1] != '\n'; from--)
		continue;
	for (to = from; to < n && p[to++] != '\n';)
		continue;
	len = to - from < sizeof line ? to - from : sizeof line;
	memcpy(line, p + from, len);
	switch (mutate_pick(3)) {
	case 0:
		return mutate_put(p, n, max, from, from, line, len);
	case 1:
		return mutate_put(p, n, max, from, to, NULL, 0);
	default:
		n = mutate_put(p, n, max, from, to, NULL, 0);
		return mutate_put(p, n, max, 0, 0, line, len);
	}
}

/*
 * Change a token of a text, or a line of it.
 */
static size_t
mutate_text(uint8_t *p, size_t n, size_t max)
{
	char s[64];
	size_t from, to;

	if (n == 0 || mutate_pick(8) == 0)
		return LLVMFuzzerMutate(p, n, max);
	if (mutate_pick(4) == 0)
		return mutate_line(p, n, max);
	for (from = mutate_pick(n); from > 0 && isalnum(p[from - 1]); from--)
		continue;
	for (to = from; to < n && isalnum(p[to]); to++)
		continue;
	if (to == from)
		to++;
	if (mutate_pick(3) == 0)
		snprintf(s, sizeof s, "%s", mutate_word[mutate_pick(
		    sizeof mutate_word / sizeof *mutate_word)]);
	else
		snprintf(s, sizeof s, mutate_pick(2) ? "%ju" : "%jx",
		    (uintmax_t)mutate_number());
	return mutate_put(p, n, max, from, to, s, strlen(s));
}

/*
 * Change a word of a binary structure: to a number, to one near its value, or
 * to another word of the structure.
 */
static __attribute__((unused)) size_t
mutate_binary(uint8_t *p, size_t n, size_t max)
{
	size_t size, at, from;
	uint64_t v;

	size = (size_t)1 << mutate_pick(4);
	if (n < size || mutate_pick(4) == 0)
		return LLVMFuzzerMutate(p, n, max);
	at = mutate_pick(n / size) * size;
	from = mutate_pick(n / size) * size;
	switch (mutate_pick(4)) {
	case 0:
		v = mutate_number();
		break;
	case 1:
		v = num_get(p + at, size) + mutate_pick(9) - 4;
		break;
	case 2:
		v = num_get(p + from, size);
		break;
	default:
		v = mutate_pick(n);
	}
	num_put(p + at, v, size);
	return n;
}

/*
 * Read the varint at *at, and advance *at past it. Return false if it does not
 * end before n.
 */
static __attribute__((unused)) bool
varint_get(const uint8_t *p, size_t n, size_t *at, uint64_t *v)
{
	unsigned int shift;

	for (*v = 0, shift = 0; *at < n && shift < 64; shift += 7) {
		*v |= (uint64_t)(p[*at] & 0x7f) << shift;
		if ((p[(*at)++] & 0x80) == 0)
			return true;
	}
	return false;
}

/*
 * Store v as a varint. Return its length.
 */
static __attribute__((unused)) size_t
varint_put(uint8_t *p, uint64_t v)
{
	size_t n;

	for (n = 0; v > 0x7f; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/*
 * Change, drop or duplicate a varint of a buffer of varints.
 */
static __attribute__((unused)) size_t
mutate_varint(uint8_t *p, size_t n, size_t max)
{
	uint8_t room[10];
	size_t from, to;
	uint64_t v;

	if (n == 0)
		return n;
	for (from = mutate_pick(n); from > 0 && p[from - 1] & 0x80; from--)
		continue;
	to = from;
	if (!varint_get(p, n, &to, &v))
		return LLVMFuzzerMutate(p, n, max);
	switch (mutate_pick(8)) {
	case 0:
		return mutate_put(p, n, max, from, to, NULL, 0);
	case 1:
		to = from;
		break;
	case 2:
		v = mutate_number();
		break;
	case 3:
		v = mutate_pick(64);
		break;
	default:
		v += mutate_pick(9) - 4;
	}
	return mutate_put(p, n, max, from, to, room, varint_put(room, v));
}

#endif
