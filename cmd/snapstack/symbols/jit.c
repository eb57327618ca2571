/*
 * Look up names of code that a process generated, in the map that JIT compilers
 * write for perf(1). A line has an address and a length, both in hexadecimal,
 * and a name. If code replaces other code, the map gets another line, so of
 * several lines for an address the last one counts.
 */
#include "snapstack/snapstack.h"
#include "bisect.h"
#include "vec.h"

#include <ctype.h>

enum {
	MAX_LINES = 1 << 21,
	MAX_LENGTH = 1 << 26,	/* maximum size of a function in bytes */
	LOOKED_AT = 1 << 16,	/* maximum number of lines searched before an
				   address */
	MAX_NAME = 1024
};

struct line {
	uint64_t	 start;
	uint64_t	 end;
	const char	*name;	/* borrowed from the text of the map */
	size_t		 len;
};

struct jit {
	struct line	*line;	/* owned; sorted by address */
	size_t		 n;
	uint64_t	 longest; /* size of the longest function in bytes */
	char		 name[MAX_NAME]; /* the name returned last */
};

/*
 * Parse a hexadecimal number of at most 16 digits at *p into *v. Advance *p
 * past the number and the blanks that must follow it. Return false if either is
 * missing.
 */
static bool
hex_read(const char **p, uint64_t *v)
{
	const char *s = *p;
	char *end;

	if (!isxdigit((uint8_t)*s))
		return false;
	*v = strtoull(s, &end, 16);
	*p = end + strspn(end, " ");
	return *p > end && end - s <= (tolower(s[1]) == 'x' ? 18 : 16);
}

/*
 * Add to j the line that begins at s and ends before end, if it is valid.
 * Return -1 if there is no room for it.
 */
static int
line_add(struct jit *j, const char *s, const char *end)
{
	struct line *l;
	uint64_t start, len;

	if (!hex_read(&s, &start) || !hex_read(&s, &len) ||
	    s == end || len == 0 || len > MAX_LENGTH || start + len < start)
		return 0;
	if (j->n == MAX_LINES || VEC_ROOM(j->line, j->n) == -1)
		return -1;
	l = &j->line[j->n++];
	*l = (struct line){ start, start + len, s, (size_t)(end - s) };
	if (len > j->longest)
		j->longest = len;
	return 0;
}

CMP(line_cmp, struct line, start)

/*
 * Return the line whose range of addresses contains pc, or NULL. If there are
 * several, return the last one in the map.
 */
static const struct line *
line_find(const struct jit *j, uint64_t pc)
{
	const struct line *l, *last = NULL;
	const size_t most = BISECT(j->line, j->n, start, pc);
	size_t i;

	for (i = most; i > 0 && most - i < LOOKED_AT; i--) {
		l = &j->line[i - 1];
		if (pc - l->start >= j->longest)
			break;
		/* name points into the map, so it shows which line is later */
		if (pc < l->end && (last == NULL || l->name > last->name))
			last = l;
	}
	return last;
}

/*
 * Return the map of process t, which t owns. Read it on the first call. Return
 * NULL if memory ran out.
 */
static struct jit *
jit_open(struct target *t)
{
	const char *s, *end, *stop;
	struct recfile f = { 0 };
	struct jit *j;

	if (t->jit != NULL || (j = t->jit = calloc(1, sizeof *j)) == NULL)
		return t->jit;
	if (t->perfmap.len > 0) {
		f.data = t->perfmap.data;
		f.len = t->perfmap.len;
	} else if (!linuxrec_find(t->rec, "perfmap", &f))
		return j;
	s = (const char *)f.data;
	end = s + f.len;
	for (; s < end && (stop = memchr(s, '\n', (size_t)(end - s))) != NULL;
	    s = stop + 1)
		if (line_add(j, s, stop) == -1)
			break;
	SORT(j->line, j->n, line_cmp);
	return j;
}

/*
 * Look up pc in the map of code that process t has generated. Set *start to the
 * first address of the code that contains pc. Return the name of the code,
 * which is valid until the next call, or NULL if the map does not contain pc.
 */
const char *
jit_name(struct target *t, uint64_t pc, uint64_t *start)
{
	const struct vma *v = vmas_find(&t->vma, pc);
	const struct line *l;
	struct jit *j;
	size_t i;

	if (v == NULL || !vma_ismade(v) || (j = jit_open(t)) == NULL)
		return NULL;
	if ((l = line_find(j, pc)) == NULL)
		return NULL;
	i = l->len < sizeof j->name ? l->len : sizeof j->name - 1;
	memcpy(j->name, l->name, i);
	j->name[i] = '\0';
	*start = l->start;
	return j->name;
}

/*
 * Free the map of t.
 */
void
jit_close(struct target *t)
{
	if (t->jit != NULL)
		free(t->jit->line);
	free(t->jit);
	buf_free(&t->perfmap);
}
