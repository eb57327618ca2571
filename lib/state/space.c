/*
 * The address space of a process, from the texts of smaps, status, stat and
 * limits (proc(5)), of a live process or as a snapshot keeps them.
 */
#include "state.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * What VmFlags tell: flags, and what mprotect(2) may allow.
 */
static const struct {
	unsigned int	 vmflag;
	unsigned int	 flag;
	unsigned int	 max;
} words[] = {
	{ VMF_MAYREAD, 0, VMA_READ },
	{ VMF_MAYWRITE, 0, VMA_WRITE },
	{ VMF_MAYEXEC, 0, VMA_EXEC },
	{ VMF_GROWSDOWN | VMF_SHADOW, MAPPING_STACK, 0 },
	{ VMF_SEALED, MAPPING_SEALED, 0 },
	{ VMF_LOCKED | VMF_LOCKONFAULT, MAPPING_WIRED, 0 },
	{ VMF_DONTFORK, MAPPING_DONTFORK, 0 },
	{ VMF_WIPEONFORK | VMF_DROPPABLE, MAPPING_WIPEONFORK, 0 },
	{ VMF_RANDOM, MAPPING_RANDOM, 0 },
	{ VMF_SEQUENTIAL, MAPPING_SEQUENTIAL, 0 },
	{ VMF_DONTDUMP, MAPPING_DONTDUMP, 0 },
	{ VMF_NORESERVE, MAPPING_NORESERVE, 0 },
	{ VMF_HUGETLB, MAPPING_HUGETLB, 0 }
};

/*
 * What is guessed of a mapping of which no more than maps tells is known.
 */
static void
mapping_guess(const struct vma *v, struct mapping *m)
{
	m->max = VMA_READ | VMA_WRITE | VMA_EXEC;
	if (strcmp(v->name, "[stack]") == 0 || v->flags & VMA_GROWSDOWN)
		m->flags |= MAPPING_STACK;
}

/*
 * What smaps tells of a mapping.
 */
static void
mapping_set(const struct vma *v, const struct smap *s, struct mapping *m)
{
	size_t i;

	*m = s->sizes;
	mapping_guess(v, m);
	if (!s->hasflags)
		return;
	m->flags |= MAPPING_FLAGS;
	m->max = 0;
	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (s->vmflags & words[i].vmflag) {
			m->flags |= words[i].flag;
			m->max |= words[i].max;
		}
}

/*
 * Guess what is not known of the mappings in sp->vma.  sp->m is NULL.  Return
 * 0, or -1 with errstr.
 */
int
space_vmas(struct space *sp)
{
	size_t i;

	sp->m = calloc(sp->vma.n + 1, sizeof *sp->m);
	if (sp->m == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < sp->vma.n; i++)
		mapping_guess(&sp->vma.v[i], &sp->m[i]);
	return 0;
}

/*
 * Take the mappings from text, len bytes of smaps or maps.  *sp has none.
 * Those that begin before the last one ends are dropped: the kernel gives the
 * text in pieces, and mappings change between them.  Return 0, or -1 with
 * errstr.
 */
int
space_smaps(struct space *sp, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len);
	struct vmas *l = &sp->vma;
	struct smap s;
	size_t n;
	int rc;

	while ((rc = smap_next(&t, &s)) == 1) {
		n = l->n;
		if (n > 0 && s.vma.start < l->v[n - 1].end)
			continue;
		if (VEC_ROOM(sp->m, n) == -1)
			return -1;
		if (vmas_addsmap(l, &s) == -1)
			return -1;
		mapping_set(&l->v[n], &s, &sp->m[n]);
	}
	return rc;
}

/*
 * The name in a text of status, which is its first line.
 */
static void
space_name(struct space *sp, const char *text, size_t len)
{
	size_t n;

	if (len < 6 || memcmp(text, "Name:\t", 6) != 0)
		return;
	for (n = 0; n + 1 < sizeof sp->name && n + 6 < len &&
	    text[n + 6] != '\n'; n++)
		sp->name[n] = text[n + 6];
	sp->name[n] = '\0';
	text_harmless(sp->name);
}

/*
 * Set in sp what text tells, len bytes of status; numbers that it does not have
 * are 0.
 */
void
space_status(struct space *sp, const void *text, size_t len)
{
	space_name(sp, text, len);
	if (status_list(text, len, "Threads", 10, &sp->threads, 1) == 0)
		sp->threads = 1;
	sp->rss = status_first(text, len, "VmRSS", 10);
	sp->text = status_first(text, len, "VmExe", 10);
	sp->data = status_first(text, len, "VmData", 10);
	sp->stack = status_first(text, len, "VmStk", 10);
}

/*
 * Set in sp what text tells, len bytes of stat.
 */
void
space_stat(struct space *sp, const void *text, size_t len)
{
	struct procstat st;

	(void)stat_parse(&st, text, len);
	sp->startcode = st.v[STAT_STARTCODE];
	sp->startstack = st.v[STAT_STARTSTACK];
	sp->startdata = st.v[STAT_STARTDATA];
	sp->startbrk = st.v[STAT_BRK];
}

/*
 * Set in sp what text tells, len bytes of limits: the soft ones.
 */
void
space_limits(struct space *sp, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len);
	struct limit l;

	sp->stacklimit = sp->datalimit = UINT64_MAX;
	while (limits_next(&t, &l))
		if (strcmp(l.name, "Max stack size") == 0)
			sp->stacklimit = l.cur;
		else if (strcmp(l.name, "Max data size") == 0)
			sp->datalimit = l.cur;
}

/*
 * Free what sp has, which is all zero then.
 */
void
space_free(struct space *sp)
{
	vmas_free(&sp->vma);
	free(sp->m);
	memset(sp, 0, sizeof *sp);
}
