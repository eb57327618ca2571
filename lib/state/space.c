/*
 * The address space of a process from the texts of smaps, status, stat and
 * limits (proc(5)), live or in a snapshot.
 */
#include "state.h"
#include "vec.h"

/*
 * Set VMF_GROWSDOWN in m if the name or flags of v show that it is a stack.
 */
static void
mapping_guess(const struct vma *v, struct mapping *m)
{
	if (strcmp(v->name, "[stack]") == 0 || v->flags & VMA_GROWSDOWN)
		m->flags |= VMF_GROWSDOWN;
}

/*
 * Allocate sp->m, which must be NULL, with an element for each mapping in
 * sp->vma. Guess the flags of the elements. Return 0, or -1 with errstr set.
 */
int
space_vmas(struct space *sp)
{
	size_t i;

	if ((sp->m = mem_new(sp->vma.n, sizeof *sp->m)) == NULL)
		return -1;
	for (i = 0; i < sp->vma.n; i++)
		mapping_guess(&sp->vma.v[i], &sp->m[i]);
	return 0;
}

/*
 * Set the mappings of *sp, which must have none, from text. text is len bytes
 * of an smaps or maps file. Drop a mapping that begins before the end of the
 * previous one: mappings may change while the kernel produces the text in
 * pieces. Return 0, or -1 with errstr set.
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
		if (VEC_ROOM(sp->m, n) == -1 || vmas_addsmap(l, &s) == -1)
			return -1;
		sp->m[n] = s.mapping;
		mapping_guess(&l->v[n], &sp->m[n]);
	}
	return rc;
}

/*
 * Set the name and the numbers of sp from text, which is len bytes of
 * /proc/PID/status. Missing numbers become 0. In the name, the kernel escapes
 * newlines and backslashes (proc_task_name in fs/proc/array.c).
 */
void
space_status(struct space *sp, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len);
	size_t n = 0;

	if (scan_begins(&t, "Name:\t")) {	/* the first line */
		for (; n + 1 < sizeof sp->name && t.s < t.end &&
		    *t.s != '\n'; n++, t.s++) {
			sp->name[n] = *t.s;
			if (*t.s == '\\' && t.end - t.s > 1 &&
			    (t.s[1] == 'n' || t.s[1] == '\\'))
				sp->name[n] = *++t.s == 'n' ? '\n' : '\\';
		}
		sp->name[n] = '\0';
	}
	if (status_list(text, len, "Threads", 10, &sp->threads, 1) == 0)
		sp->threads = 1;
	sp->rss = status_first(text, len, "VmRSS", 10);
	sp->text = status_first(text, len, "VmExe", 10);
	sp->data = status_first(text, len, "VmData", 10);
	sp->stack = status_first(text, len, "VmStk", 10);
}

/*
 * Set the addresses of sp from text, which is len bytes of /proc/PID/stat.
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
 * Set the soft limits of sp from text, which is len bytes of /proc/PID/limits.
 */
void
space_limits(struct space *sp, const void *text, size_t len)
{
	const struct scan t = scan_begin(text, len);

	sp->stacklimit = sp->datalimit = UINT64_MAX;
	(void)limits_find(t, "Max stack size", &sp->stacklimit);
	(void)limits_find(t, "Max data size", &sp->datalimit);
}

/*
 * Free the memory of sp, and set *sp to zero.
 */
void
space_free(struct space *sp)
{
	vmas_free(&sp->vma);
	free(sp->m);
	memset(sp, 0, sizeof *sp);
}
