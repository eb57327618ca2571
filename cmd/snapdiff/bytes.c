/*
 * Print the bytes that changed in a mapping, old and new side by side.
 */
#include "snapdiff.h"

enum { WIDTH = 8 };		/* number of bytes on each side of a line */

/*
 * Read n bytes of m at address addr into buf. Unmapped memory reads as zeros.
 * Return false if the bytes are not known.
 */
static bool
bytes_at(const struct memory *m, uint64_t addr, uint8_t *buf, size_t n)
{
	const struct vma *v = vmas_find(&m->vma, addr);

	memset(buf, 0, n);
	return v == NULL || memory_read(m, v, addr, buf, n) == 0;
}

/*
 * Print one side of a line: the n bytes at p, or question marks if known is
 * false.
 */
static void
put_side(const uint8_t *p, size_t n, bool known)
{
	size_t i;

	for (i = 0; i < WIDTH; i++)
		if (i >= n)
			fputs("   ", stdout);
		else if (known)
			printf(" %02x", p[i]);
		else
			fputs(" ??", stdout);
	fputs("  ", stdout);
	for (i = 0; i < WIDTH; i++)
		putchar(i >= n || !known ? ' ' :
		    p[i] >= ' ' && p[i] <= '~' ? p[i] : '.');
}

/*
 * Print the lines of bytes that changed, for the addresses from start to end.
 * All of these addresses must be in one kilobyte.
 */
static void
put_kb(const struct result *res, uint64_t start, uint64_t end)
{
	uint8_t x[KB], y[KB];
	size_t i, n, len = (size_t)(end - start);
	bool a, b;

	a = bytes_at(res->was, start, x, len);
	b = bytes_at(res->is, start, y, len);
	for (i = 0; i < len; i += n) {
		n = len - i < WIDTH ? len - i : WIDTH;
		if (a && b && memcmp(x + i, y + i, n) == 0)
			continue;
		printf("%12" PRIx64, start + i);
		put_side(x + i, n, a);
		fputs(" ", stdout);
		put_side(y + i, n, b);
		putchar('\n');
	}
}

/*
 * Print the old and new bytes of each changed address range of mapping r.
 */
void
print_bytes(const struct result *res, const struct row *r)
{
	const struct pagespan *p;
	uint64_t at, end;
	size_t i;

	for (i = 0; i < r->run.n; i++) {
		p = &r->run.v[i];
		if (p->kind == PAGES_MISSING)
			continue;
		for (at = p->start; at < p->end; at = end) {
			end = at + KB - at % KB;
			if (end > p->end || end < at)
				end = p->end;
			put_kb(res, at, end);
		}
	}
}
