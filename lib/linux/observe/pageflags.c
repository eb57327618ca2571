/*
 * Count the pages of a process by their flags: those of /proc/kpageflags, which
 * only root can read, and those of pagemap, which everyone can read (Linux,
 * Documentation/admin-guide/mm/pagemap.rst).
 */
#include "linux/pages/pages.h"
#include "linux/proc/proc.h"
#include "vec.h"

#include <linux/kernel-page-flags.h>

#include <unistd.h>

#define PME_SOFTDIRTY	((uint64_t)1 << 55)
#define PME_FLAGS	(PME_SWAPPED | PME_FILE | PME_GUARD | PME_UFFD | \
    PME_EXCLUSIVE | PME_SOFTDIRTY)

/*
 * names by bit: kpageflags, from 32 its unstable flags, from 55 pagemap
 */
static const char *const names[64] = {
	[KPF_LOCKED] = "locked", [KPF_ERROR] = "error",
	[KPF_REFERENCED] = "referenced", [KPF_UPTODATE] = "uptodate",
	[KPF_DIRTY] = "dirty", [KPF_LRU] = "lru", [KPF_ACTIVE] = "active",
	[KPF_SLAB] = "slab", [KPF_WRITEBACK] = "writeback",
	[KPF_RECLAIM] = "reclaim", [KPF_BUDDY] = "buddy", [KPF_MMAP] = "mmap",
	[KPF_ANON] = "anon", [KPF_SWAPCACHE] = "swapcache",
	[KPF_SWAPBACKED] = "swapbacked",
	[KPF_COMPOUND_HEAD] = "compound_head",
	[KPF_COMPOUND_TAIL] = "compound_tail", [KPF_HUGE] = "huge",
	[KPF_UNEVICTABLE] = "unevictable", [KPF_HWPOISON] = "hwpoison",
	[KPF_NOPAGE] = "nopage", [KPF_KSM] = "ksm", [KPF_THP] = "thp",
	[KPF_OFFLINE] = "offline", [KPF_ZERO_PAGE] = "zero_page",
	[KPF_IDLE] = "idle", [KPF_PGTABLE] = "pgtable",
	[32] = "reserved", [33] = "mlocked", [34] = "owner_2",
	[35] = "private", [36] = "private_2", [37] = "owner_private",
	[38] = "arch", [39] = "uncached", [41] = "arch_2", [42] = "arch_3",
	[55] = "soft_dirty", [56] = "exclusive", [57] = "uffd_wp",
	[58] = "guard", [61] = "file", [62] = "swap"
};

struct tally {
	struct flagcounts *to;	/* borrowed, like "frames" */
	struct frames	*frames; /* flags by page frame; NULL: not readable */
	uint64_t	 kb;	/* page size in KB */
	uint64_t	 valid;	/* mask of the kpageflags bits that are valid */
	bool		 hidden;
};

/*
 * Return the name of the page flag with this bit number, or NULL if the flag
 * has no name.
 */
const char *
pageflag_name(unsigned int bit)
{
	return bit < 64 ? names[bit] : NULL;
}

static int
tally_add(struct flagcounts *c, uint64_t flags, uint64_t kb)
{
	size_t i;

	if (c->last < c->n && c->v[c->last].flags == flags) {
		c->v[c->last].kb += kb;
		return 0;
	}
	for (i = 0; i < c->n && c->v[i].flags != flags; i++)
		continue;
	if (i == c->n &&
	    VEC_ADD(c->v, c->n, (struct flagcount){ flags, 0 }) == -1)
		return -1;
	c->v[i].kb += kb;
	c->last = i;
	return 0;
}

static int
tally_entry(struct tally *t, uint64_t e)
{
	uint64_t flags, of;

	flags = e & PME_FLAGS;
	if (!(e & PME_PRESENT)) {
		if (e & PME_GUARD)
			flags = PME_GUARD;
		else if (!(e & PME_SWAPPED))
			return 0;
		return tally_add(t->to, flags, t->kb);
	}
	if (t->frames == NULL || (e & PME_FRAME) == 0)
		t->hidden = true;
	else if (frames_get(t->frames, e & PME_FRAME, &of) == -1)
		return -1;
	else
		flags |= of & t->valid;
	return tally_add(t->to, flags, t->kb);
}

static int
tally_entries(void *arg, const struct entries *es)
{
	const struct tally *t = arg;
	size_t i;

	for (i = 0; t->frames != NULL && i < es->n; i++)
		if (es->v[i] & PME_PRESENT && (es->v[i] & PME_FRAME) != 0 &&
		    frames_want(t->frames, es->v[i] & PME_FRAME) == -1)
			return -1;
	for (i = 0; i < es->n; i++)
		if (es->v[i] != 0 && tally_entry(arg, es->v[i]) == -1)
			return -1;
	return 0;
}

/*
 * Count the pages of sp, a live process, by their flags, and add the counts to
 * the histogram c. frames has kpageflags, or is NULL. Set *hidden to true if
 * the kpageflags of some pages cannot be read. The caller frees c->v. Return 0,
 * or -1 with errstr set.
 */
int
pageflags_live(struct flagcounts *c, const struct space *sp,
    struct frames *frames, bool *hidden)
{
	struct tally t = { .to = c, .frames = frames };
	int fd, rc;

	t.kb = (uint64_t)sysconf(_SC_PAGESIZE) / KB;
	t.valid = (((uint64_t)1 << 43) - 1);
	/* without idle tracking, the bit is set for every page */
	if (access("/sys/kernel/mm/page_idle", F_OK) == -1)
		t.valid &= ~((uint64_t)1 << 25);
	fd = space_pagemap(sp);
	rc = fd == -1 ? -1 : pagemap_entries(fd, &sp->vma, NULL, tally_entries,
	    &t);
	fd_drop(fd);
	*hidden = t.hidden;
	return rc == -1 ? errstr_wrap("%ld", (long)sp->pid) : 0;
}
