/*
 * What the code is called that a process made itself: the map that compilers
 * write for perf(1), of lines of an address, a length, both in hexadecimal, and
 * a name.  Code that is made where other code was is told by a later line, so
 * of several lines for an address the last one counts.
 */
#include "snapstack/snapstack.h"
#include "bisect.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINES_MOST = 1 << 21,
	LENGTH_MOST = 1 << 26,	/* of one function, bytes */
	NAME_MOST = 1024
};

#define NOBODY		SIZE_MAX

struct line {
	uint64_t	 start;
	uint64_t	 end;
	const char	*name;	/* borrowed, of the map */
	size_t		 len;
};

struct part {			/* from its address to that of the next */
	uint64_t	 at;
	size_t		 line;	/* the last one that has it, or NOBODY */
	size_t		 next;	/* it, or one behind it: see part_free */
};

struct jit {
	struct line	*line;	/* owned */
	size_t		 n;
	struct part	*part;	/* owned; ascending */
	size_t		 npart;
	char		 name[NAME_MOST]; /* that was told last */
};

/*
 * Read a hexadecimal number and what divides it from what follows it.
 */
static bool
hex_read(const char **p, const char *end, uint64_t *v)
{
	const char *s = *p;
	unsigned int digits;
	int c;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (*v = 0, digits = 0; s < end; s++, digits++) {
		c = *s >= 'A' && *s <= 'F' ? *s - 'A' + 'a' : *s;
		if (c >= '0' && c <= '9')
			*v = *v << 4 | (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*v = *v << 4 | (unsigned int)(c - 'a' + 10);
		else
			break;
	}
	if (digits == 0 || digits > 16 || s == end || *s != ' ')
		return false;
	while (s < end && *s == ' ')
		s++;
	*p = s;
	return true;
}

/*
 * Add a line, if it tells something.  Return -1 if there is no room for it.
 */
static int
line_add(struct jit *j, const char *s, const char *end)
{
	struct line *l;
	uint64_t start, len;

	if (!hex_read(&s, end, &start) || !hex_read(&s, end, &len) ||
	    s == end || len == 0 || len > LENGTH_MOST || start + len < start)
		return 0;
	if (j->n == LINES_MOST || VEC_ROOM(j->line, j->n) == -1)
		return -1;
	l = &j->line[j->n++];
	*l = (struct line){ start, start + len, s, (size_t)(end - s) };
	return 0;
}

static int
part_cmp(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Return the first part from i on that no line has yet.
 */
static size_t
part_free(struct part *p, size_t i)
{
	while (p[i].next != i) {
		p[i].next = p[p[i].next].next;
		i = p[i].next;
	}
	return i;
}

/*
 * Return the part that begins at an address.
 */
static size_t
part_at(const struct jit *j, uint64_t at)
{
	return BISECT(j->part, j->npart, at, at) - 1;
}

/*
 * Divide addresses into parts at which lines begin or end, and give each to
 * the last line that has it.
 */
static void
parts_make(struct jit *j)
{
	struct part *p;
	size_t i, k, n, end;

	if (j->n == 0 || (p = calloc(2 * j->n, sizeof *p)) == NULL)
		return;
	for (i = 0; i < j->n; i++) {
		p[2 * i].at = j->line[i].start;
		p[2 * i + 1].at = j->line[i].end;
	}
	qsort(p, 2 * j->n, sizeof *p, part_cmp);
	for (i = n = 0; i < 2 * j->n; i++)
		if (n == 0 || p[n - 1].at != p[i].at)
			p[n++].at = p[i].at;
	for (i = 0; i < n; i++) {
		p[i].line = NOBODY;
		p[i].next = i;
	}
	j->part = p;
	j->npart = n;
	for (k = j->n; k-- > 0;) {
		end = part_at(j, j->line[k].end);
		for (i = part_free(p, part_at(j, j->line[k].start));
		    i < end; i = part_free(p, i)) {
			p[i].line = k;
			p[i].next = i + 1;
		}
	}
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
	} else if (!t->hasrec || !linuxrec_find(&t->rec, "perfmap", &f))
		return j;
	s = (const char *)f.data;
	end = s + f.len;
	for (; s < end && (stop = memchr(s, '\n', (size_t)(end - s))) != NULL;
	    s = stop + 1)
		if (line_add(j, s, stop) == -1)
			break;
	parts_make(j);
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
	i = BISECT(j->part, j->npart, at, pc);
	if (i == 0 || j->part[i - 1].line == NOBODY)
		return NULL;
	l = &j->line[j->part[i - 1].line];
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
	if (t->jit != NULL) {
		free(t->jit->line);
		free(t->jit->part);
	}
	free(t->jit);
	buf_free(&t->perfmap);
}
