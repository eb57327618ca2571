/*
 * The address space of a process, from the texts of smaps, status, stat and
 * limits (proc(5)), of a live process or as a snapshot keeps them.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

/*
 * What a line of smaps tells, as kilobytes that are added to a member.
 */
static const struct {
	const char	*key;
	size_t		 member;
} sizes[] = {
	{ "Rss:", offsetof(struct mapping, rss) },
	{ "Shared_Clean:", offsetof(struct mapping, shared) },
	{ "Shared_Dirty:", offsetof(struct mapping, shared) },
	{ "Shared_Hugetlb:", offsetof(struct mapping, shared) },
	{ "Shared_Hugetlb:", offsetof(struct mapping, rss) },
	{ "Private_Clean:", offsetof(struct mapping, private) },
	{ "Private_Dirty:", offsetof(struct mapping, private) },
	{ "Private_Hugetlb:", offsetof(struct mapping, private) },
	{ "Private_Hugetlb:", offsetof(struct mapping, rss) },
	{ "Anonymous:", offsetof(struct mapping, anon) },
	{ "Swap:", offsetof(struct mapping, swap) },
	{ "Referenced:", offsetof(struct mapping, touched) }
};

static const struct {
	const char	*word;
	unsigned int	 flag;
	unsigned int	 max;
} vmflags[] = {
	{ " mr", 0, VMA_READ },
	{ " mw", 0, VMA_WRITE },
	{ " me", 0, VMA_EXEC },
	{ " gd", MAPPING_STACK, 0 },
	{ " ss", MAPPING_STACK, 0 },
	{ " sl", MAPPING_SEALED, 0 },
	{ " lo", MAPPING_WIRED, 0 },
	{ " lf", MAPPING_WIRED, 0 },
	{ " dc", MAPPING_DONTFORK, 0 },
	{ " wf", MAPPING_WIPEONFORK, 0 },
	{ " dp", MAPPING_WIPEONFORK, 0 },
	{ " rr", MAPPING_RANDOM, 0 },
	{ " sr", MAPPING_SEQUENTIAL, 0 },
	{ " dd", MAPPING_DONTDUMP, 0 },
	{ " nr", MAPPING_NORESERVE, 0 },
	{ " ht", MAPPING_HUGETLB, 0 }
};

/*
 * A line of smaps behind the first of a mapping.
 */
static void
mapping_line(struct mapping *m, const char *line)
{
	uint64_t *member;
	size_t i, n;

	if (strncmp(line, "VmFlags:", 8) == 0) {
		m->flags |= MAPPING_FLAGS;
		m->max = 0;
		for (i = 0; i < sizeof vmflags / sizeof *vmflags; i++)
			if (strstr(line + 8, vmflags[i].word) != NULL) {
				m->flags |= vmflags[i].flag;
				m->max |= vmflags[i].max;
			}
		return;
	}
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		n = strlen(sizes[i].key);
		if (strncmp(line, sizes[i].key, n) != 0)
			continue;
		m->flags |= MAPPING_SIZES;
		member = (uint64_t *)(void *)((char *)m + sizes[i].member);
		*member += strtoull(line + n, NULL, 10);
	}
}

/*
 * What is guessed of mappings of which no more than maps tells is known.
 * The mappings are in sp->vma.
 */
int
space_vmas(struct space *sp)
{
	size_t i;

	sp->m = calloc(sp->vma.n + 1, sizeof *sp->m);
	if (sp->m == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < sp->vma.n; i++) {
		sp->m[i].max = VMA_READ | VMA_WRITE | VMA_EXEC;
		if (strcmp(sp->vma.v[i].name, "[stack]") == 0 ||
		    sp->vma.v[i].flags & VMA_GROWSDOWN)
			sp->m[i].flags |= MAPPING_STACK;
	}
	return 0;
}

/*
 * Drop mappings that begin before the last one ends: the kernel gives the
 * text in pieces, and mappings change between them.
 */
static void
space_settle(struct space *sp)
{
	struct vmas *l = &sp->vma;
	size_t i, n;

	for (i = n = 0; i < l->n; i++) {
		if (n > 0 && l->v[i].start < l->v[n - 1].end) {
			free(l->v[i].name);
			continue;
		}
		l->v[n] = l->v[i];
		sp->m[n++] = sp->m[i];
	}
	l->n = n;
}

/*
 * Take the mappings from a text of smaps or maps.  *sp has none.
 */
int
space_smaps(struct space *sp, const void *text, size_t len)
{
	const char *s, *end, *nl;
	char *line;
	size_t i;

	if (vmas_parse(&sp->vma, text, len) == -1 || space_vmas(sp) == -1)
		return -1;
	s = text;
	for (i = 0, end = s + len; s < end; s = nl + 1) {
		if ((nl = memchr(s, '\n', (size_t)(end - s))) == NULL)
			break;
		if (*s < 'A' || *s > 'Z') {
			i++;
			continue;
		}
		if ((line = strndup(s, (size_t)(nl - s))) == NULL)
			return errstr_set("out of memory");
		if (i > 0 && i <= sp->vma.n)
			mapping_line(&sp->m[i - 1], line);
		free(line);
	}
	space_settle(sp);
	return 0;
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
 * Take what a text of status tells; numbers that it does not have are 0.
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
 * Take what a text of stat tells.
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
 * Take what a text of limits tells: the soft ones.
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

void
space_free(struct space *sp)
{
	vmas_free(&sp->vma);
	free(sp->m);
	memset(sp, 0, sizeof *sp);
}
