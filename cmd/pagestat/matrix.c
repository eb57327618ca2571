/*
 * Which processes share how much with which others, and what it saves.
 */
#include "pagestat.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Add process sp and its pages l to m.  Return 0, or -1 with errstr.
 */
int
matrix_add(struct matrix *m, const struct space *sp, const struct pagelist *l)
{
	size_t i;

	if (m->sharing == NULL && (m->sharing = sharing_new()) == NULL)
		return -1;
	if (VEC_ROOM(m->pid, m->n) == -1 || VEC_ROOM(m->kb, m->n) == -1 ||
	    VEC_ROOM(m->name, m->n) == -1)
		return -1;
	m->pid[m->n] = sp->pid;
	m->kb[m->n] = 0;
	memcpy(m->name[m->n], sp->name, sizeof *m->name);
	for (i = 0; i < l->n; i++) {
		if (l->v[i].kind != PAGES_RAW && l->v[i].kind != PAGES_SHARED)
			continue;
		m->kb[m->n] += (l->v[i].end - l->v[i].start) / KB;
		m->hidden = m->hidden || (l->v[i].kind == PAGES_SHARED &&
		    l->v[i].store == 0);
	}
	m->n++;
	return sharing_add(m->sharing, l, sp->pid);
}

/*
 * Print a line for each process of m: what it has in memory, and then how much
 * of it each has, too.  Return 0, or -1 with errstr.
 */
int
matrix_show(const struct matrix *m)
{
	uint64_t *common, sum, repeated;
	size_t i, k;
	int n;

	if (m->n == 0)
		return 0;
	if ((common = calloc(m->n * m->n, sizeof *common)) == NULL)
		return errstr_set("out of memory");
	if (sharing_matrix(m->sharing, m->pid, m->n, common, &repeated) ==
	    -1) {
		free(common);
		return -1;
	}
	printf("%10s %10s", "PID", "KB");
	for (k = 0; k < m->n; k++)
		printf(" %10ju", (uintmax_t)m->pid[k]);
	printf(" Name\n");
	for (i = 0, sum = 0; i < m->n; i++) {
		n = printf("%10ju %10ju", (uintmax_t)m->pid[i],
		    (uintmax_t)m->kb[i]);
		for (k = 0; k < m->n; k++)
			n += i == k ? printf(" %10s", ".") :
			    printf(" %10ju", (uintmax_t)common[i * m->n + k]);
		printf(" %s\n", name_fit(m->name[i], n + 1));
		sum += m->kb[i];
	}
	printf("%10s %10ju\n%10s %10ju\n%10s %10ju\n", "total",
	    (uintmax_t)sum, "different", (uintmax_t)(sum - repeated),
	    "saved", (uintmax_t)repeated);
	free(common);
	return 0;
}

/*
 * Free what m has.
 */
void
matrix_free(struct matrix *m)
{
	sharing_free(m->sharing);
	free(m->pid);
	free(m->kb);
	free(m->name);
}
