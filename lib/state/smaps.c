/*
 * Parse maps or smaps, mapping by mapping: proc_pid_maps(5), proc_pid_smaps(5).
 *
 *	START-END PERMS OFFSET MAJOR:MINOR INODE NAME
 *	KEY:	NUMBER kB		smaps only, as the next lines
 *	ProtectionKey: NUMBER
 *	VmFlags: rd wr mr mw me ac
 */
#include "io/io.h"
#include "state.h"

#include <sys/sysmacros.h>

static const struct {
	char		 word[3];
	enum vmflag	 flag;
} vmflags[] = {
	{ "mr", VMF_MAYREAD }, { "mw", VMF_MAYWRITE }, { "me", VMF_MAYEXEC },
	{ "gd", VMF_GROWSDOWN }, { "ss", VMF_SHADOW }, { "sl", VMF_SEALED },
	{ "lo", VMF_LOCKED }, { "lf", VMF_LOCKONFAULT },
	{ "io", VMF_DEVICE }, { "pf", VMF_DEVICE }, { "um", VMF_UFFD },
	{ "uw", VMF_UFFD }, { "ui", VMF_UFFD }, { "dc", VMF_DONTFORK },
	{ "wf", VMF_WIPEONFORK }, { "dp", VMF_DROPPABLE },
	{ "rr", VMF_RANDOM }, { "sr", VMF_SEQUENTIAL },
	{ "dd", VMF_DONTDUMP }, { "nr", VMF_NORESERVE },
	{ "ht", VMF_HUGETLB }, { "mg", VMF_MERGEABLE }, { "hg", VMF_HUGEPAGE },
	{ "nh", VMF_NOHUGEPAGE }
};

/*
 * Lines with kilobytes, and the members to which these are added.
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
	{ "Referenced:", offsetof(struct mapping, touched) },
	{ "AnonHugePages:", offsetof(struct mapping, huge) },
	{ "ShmemPmdMapped:", offsetof(struct mapping, huge) },
	{ "FilePmdMapped:", offsetof(struct mapping, huge) }
};

static void
vmflags_parse(struct scan *t, struct smap *m)
{
	char word[4];
	size_t i;

	m->mapping.flags |= VMF_FLAGS_KNOWN;
	while (scan_word(t, word, sizeof word) > 0)
		for (i = 0; i < sizeof vmflags / sizeof *vmflags; i++)
			if (strcmp(word, vmflags[i].word) == 0)
				m->mapping.flags |= vmflags[i].flag;
	m->vma.flags |= m->mapping.flags & VMA_SMAPS;
}

/*
 * Parse line into *m. line is any line of a mapping in smaps except the first.
 */
static void
line_parse(struct scan line, struct smap *m)
{
	struct scan t = line, value;
	uint64_t *member, kb;
	size_t i;

	if (scan_key(&t, "VmFlags:", &value)) {
		vmflags_parse(&value, m);
		return;
	}
	t = line;
	if (*line.s == 'P' && scan_key(&t, "ProtectionKey:", &value)) {
		if (scan_number(&value, 10, &kb) && kb != 0)
			m->mapping.flags |= VMF_PKEY;
		return;
	}
	t = line;
	if (*line.s == 'K' && scan_key(&t, "KernelPageSize:", &value)) {
		m->page = scan_number(&value, 10, &kb) ? kb * KB : 0;
		return;
	}
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		if (*line.s != *sizes[i].key)
			continue;
		t = line;
		if (!scan_key(&t, sizes[i].key, &value))
			continue;
		m->mapping.flags |= VMF_SIZES_KNOWN;
		member = (uint64_t *)(void *)((char *)&m->mapping +
		    sizes[i].member);
		*member += scan_number(&value, 10, &kb) ? kb : 0;
	}
}

/*
 * Parse line, the first line of a mapping, into *m.
 */
static int
head_parse(struct scan line, struct smap *m)
{
	struct scan t = line;
	uint64_t maj, min;
	struct vma *v = &m->vma;
	char perm[5] = "";

	if (!scan_number(&t, 16, &v->start) || !scan_byte(&t, '-') ||
	    !scan_number(&t, 16, &v->end) ||
	    scan_word(&t, perm, sizeof perm) == 0 ||
	    !scan_number(&t, 16, &v->off) || !scan_number(&t, 16, &maj) ||
	    !scan_byte(&t, ':') || !scan_number(&t, 16, &min) ||
	    !scan_number(&t, 10, &v->ino) || v->start >= v->end)
		return errstr_set("maps: cannot parse \"%.*s\"",
		    (int)(line.end - line.s), line.s);
	v->dev = makedev((unsigned int)maj, (unsigned int)min);
	v->flags = (perm[0] == 'r' ? VMA_READ : 0U) |
	    (perm[1] == 'w' ? VMA_WRITE : 0U) |
	    (perm[2] == 'x' ? VMA_EXEC : 0U) |
	    (perm[3] == 's' ? VMA_SHARED : 0U);
	while (scan_byte(&t, ' '))
		continue;
	m->name = t;
	return 0;
}

static bool
is_head(const struct scan *t)
{
	return (*t->s >= '0' && *t->s <= '9') ||
	    (*t->s >= 'a' && *t->s <= 'f');
}

/*
 * Parse the lines of the next mapping of text, from smaps or maps, into *m.
 * Skip unknown lines, and a last line without a newline. Return 1 on success,
 * or 0 at the end. Return -1 with errstr set if the first line of a mapping is
 * invalid.
 */
int
smap_next(struct scan *text, struct smap *m)
{
	struct scan line;
	bool found;

	memset(m, 0, sizeof *m);
	for (found = false; text->s < text->end; ) {
		if (is_head(text) && found)
			break;
		(void)scan_line(text, &line);
		if (line.end == text->end)
			break;
		if (line.s < line.end && is_head(&line)) {
			if (head_parse(line, m) == -1)
				return -1;
			found = true;
		} else if (line.s < line.end && found)
			line_parse(line, m);
	}
	return found;
}

/*
 * Parse the next mapping as smap_next() does, and set *lines to all its lines.
 */
static int
smap_lines(struct scan *text, struct smap *m, struct scan *lines)
{
	int rc;

	lines->s = text->s;
	rc = smap_next(text, m);
	lines->end = text->s;
	return rc;
}

/*
 * Return true if maps shows *was and *now as identical mappings. Their names
 * may differ.
 */
bool
vma_stayed(const struct vma *was, const struct vma *now)
{
	return was->start == now->start && was->end == now->end &&
	    (was->flags & VMA_MAPS) == (now->flags & VMA_MAPS) &&
	    was->off == now->off && was->dev == now->dev &&
	    was->ino == now->ino;
}

/*
 * Return true if the flags of the old mapping *was apply to the mapping *now.
 * They do if the two are identical, or if *now is a stack that has grown from
 * *was. Their names may differ. A mapping that grew in any other way may have
 * been merged or replaced.
 */
bool
vma_became(const struct vma *was, const struct vma *now)
{
	struct vma v = *was;

	if (v.flags & VMA_GROWSDOWN && now->start < v.start)
		v.start = now->start;
	return vma_stayed(&v, now);
}

static bool
smap_became(const struct smap *b, const struct smap *m)
{
	return vma_became(&b->vma, &m->vma) &&
	    scan_len(&m->name) == scan_len(&b->name) &&
	    memcmp(m->name.s, b->name.s, scan_len(&m->name)) == 0;
}

/*
 * Append to b the smaps lines of mapping m. The first is head, the line of m in
 * maps. The others are copied from lines, which are the lines of m in smaps
 * from a moment earlier; only the size is corrected.
 */
static void
smap_add(struct buf *b, const struct smap *m, struct scan head,
    struct scan lines)
{
	struct scan line;

	buf_add(b, head.s, scan_len(&head));
	(void)scan_line(&lines, &line);
	while (scan_line(&lines, &line))
		if (scan_begins(&line, "Size:"))
			buf_printf(b, "%-16s%8ju kB\n", "Size:", (uintmax_t)
			    (m->vma.end - m->vma.start) / 1024);
		else {
			/* the last one may lack its newline */
			buf_add(b, line.s, scan_len(&line));
			buf_add(b, "\n", 1);
		}
}

/*
 * Append to *to the present text of smaps for the mappings in maps. Make it
 * from smaps, the text from a moment earlier. In between, stacks may have grown
 * and mappings may have gone. Return 1 on success. Return 0 if a mapping was
 * created, merged, split or replaced, so that the old text is wrong for it.
 * Return -1 with errstr set on errors.
 */
int
smaps_refit(struct bulk *to, struct scan maps, struct scan smaps)
{
	const char *begin = smaps.s;
	struct scan head, lines;
	struct smap m, was;
	struct buf b = { 0 };
	int any, rc;

	any = smap_lines(&smaps, &was, &lines);
	while ((rc = smap_lines(&maps, &m, &head)) == 1) {
		while (any == 1 && was.vma.end <= m.vma.start)
			any = smap_lines(&smaps, &was, &lines);
		if (any != 1 || !smap_became(&was, &m))
			break;
		b.len = 0;
		smap_add(&b, &m, head, lines);
		bulk_add(to, b.data, b.len);
		data_forget((const uint8_t *)begin, (size_t)(smaps.s - begin));
		any = smap_lines(&smaps, &was, &lines);
		if (any == 1 && was.vma.start < m.vma.end)
			break;
	}
	if (rc != -1 && any != -1 && buf_check(&b) == -1)
		rc = -1;
	buf_free(&b);
	return rc == -1 || any == -1 ? -1 : rc == 0;
}
