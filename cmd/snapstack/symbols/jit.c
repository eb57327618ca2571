/*
 * What the code is called that a process made itself: the map that compilers
 * write for perf(1), of lines of an address, a length, both in hexadecimal, and
 * a name.  Code that is made where other code was is told by a later line, so
 * of several lines for an address the last one counts.
 */
#include "snapstack/snapstack.h"
#include "bisect.h"
#include "vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_LINES = 1 << 21,
	MAX_LENGTH = 1 << 26,	/* of one function, bytes */
	LOOKED_AT = 1 << 16,	/* lines, those nearest to an address */
	MAX_NAME = 1024
};

struct line {
	uint64_t	 start;
	uint64_t	 end;
	const char	*name;	/* borrowed, of the map */
	size_t		 len;
};

struct jit {
	struct line	*line;	/* owned; by their addresses */
	size_t		 n;
	uint64_t	 longest; /* of them */
	char		 name[MAX_NAME]; /* that was told last */
};

/*
 * Read a hexadecimal number of a line, of 16 digits at most, and the blanks
 * behind it.  Return false if either is missing.
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
 * Add a line, if it tells something.  Return -1 if there is no room for it.
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
 * Return the last line of the map that has pc; NULL if there is none.
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
		/* a name lies where its line does */
		if (pc < l->end && (last == NULL || l->name > last->name))
			last = l;
	}
	return last;
}

/*
 * Return the map of process t, which t owns; NULL if memory runs out.
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
 * Return the name of the code of process t that pc lies in, as its map has it,
 * and set *start to where that begins; NULL if it has none.  It is valid until
 * the next call.
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
 * Free what t knows of code that its process made.
 */
void
jit_close(struct target *t)
{
	if (t->jit != NULL)
		free(t->jit->line);
	free(t->jit);
	buf_free(&t->perfmap);
}
