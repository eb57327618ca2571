/*
 * Exclude secrets from a snapshot: memory, and values of environment variables.
 *
 *	dontdump	memory that a program asked to keep out of dumps
 *	env=PATTERN	values of variables whose names match
 *	START-END	addresses, in whole pages
 *	secrets		dontdump, and variables whose names suggest a secret
 *
 * Excluded memory is missing from all processes that map it, and from embedded
 * files of memory that they share. Excluded values are overwritten with x, in
 * the file environ of the record and on the stack of the process.
 */
#include "digits.h"
#include "exclude.h"

/*
 * Return an empty set of exclusions, or NULL with errstr set.
 */
struct exclude *
exclude_new(void)
{
	return mem_new(1, sizeof(struct exclude));
}

/*
 * Free x, which may be NULL.
 */
void
exclude_free(struct exclude *x)
{
	if (x == NULL)
		return;
	pool_free(&x->pool);
	free(x->leaving);
	buf_free(&x->asked);
	free(x);
}

/*
 * Return true if x excludes the memory that is excluded from core dumps.
 */
bool
exclude_dontdump(const struct exclude *x)
{
	return x->dontdump;
}

static int
env_add(struct exclude *x, const char *pattern)
{
	char *copy = pool_string(&x->pool, pattern);

	return copy == NULL ? -1 : POOL_ADD(&x->pool, x->env, x->nenv, copy);
}

/*
 * Parse the hexadecimal address at s, with or without 0x, into *v. Return a
 * pointer to the byte after it, or NULL if there is none.
 */
static const char *
address_parse(const char *s, uint64_t *v)
{
	const char *end;

	if (strncmp(s, "0x", 2) == 0)
		s += 2;
	end = digits_read(s, s + strlen(s), 16, v);
	return end == s ? NULL : end;
}

/*
 * Add to x the address range s, which is START-END in hexadecimal.
 */
static int
range_add(struct exclude *x, const char *s)
{
	uint64_t start, end;
	const char *p;

	if ((p = address_parse(s, &start)) == NULL || *p != '-' ||
	    (p = address_parse(p + 1, &end)) == NULL || *p != '\0' ||
	    start >= end || end > UINT64_MAX - MAX_MACHINE_PAGE)
		return errstr_set("%s: expected dontdump, secrets, "
		    "env=PATTERN, or START-END (hexadecimal addresses)", s);
	return POOL_ADD(&x->pool, x->range, x->nrange,
	    (struct excluderange){ start, end });
}

static int
word_add(struct exclude *x, const char *s)
{
	static const char *const secrets[] = { "*KEY*", "*TOKEN*", "*SECRET*",
	    "*PASS*", "*PWD_*", "*_PWD", "*CREDENTIAL*", "*AUTH*",
	    "*COOKIE*", "*_DSN", "*_URL", "*_URI", "*CONNECTION*" };
	size_t i;

	if (strcmp(s, "secrets") == 0) {
		x->dontdump = true;
		for (i = 0; i < sizeof secrets / sizeof *secrets; i++)
			if (env_add(x, secrets[i]) == -1)
				return -1;
		return 0;
	}
	if (strcmp(s, "dontdump") == 0) {
		x->dontdump = true;
		return 0;
	}
	if (strncmp(s, "env=", 4) == 0 && s[4] != '\0')
		return env_add(x, s + 4);
	return range_add(x, s);
}

/*
 * Add to x the comma-separated exclusions in the string words. Return 0, or -1
 * with errstr set.
 */
int
exclude_add(struct exclude *x, const char *words)
{
	char *next, *s;

	if ((next = pool_string(&x->pool, words)) == NULL)
		return -1;
	while ((s = strsep(&next, ",")) != NULL) {
		if (word_add(x, s) == -1)
			return -1;
		buf_printf(&x->asked, "asked %s\n", text_sanitize(s));
	}
	return buf_check(&x->asked);
}

/*
 * Record that the addresses from start to end, which are in mapping v, are
 * excluded. If the file or shared memory mapped there is embedded in the
 * snapshot, the same range of it can then also be excluded.
 */
static int
shared_add(struct exclude *x, const struct vma *v, uint64_t start,
    uint64_t end, const char *reason)
{
	struct sharedrange r = { .start = v->off + (start - v->start),
	    .end = v->off + (end - v->start), .reason = reason };

	r.file = (struct embedded){ .dev = v->dev, .ino = v->ino,
	    .path = pool_string(&x->pool, v->name) };
	return r.file.path == NULL ? -1 :
	    POOL_ADD(&x->pool, x->shared, x->nshared, r);
}

/*
 * Add the address range from start to end to x->leaving, the ranges to be
 * excluded from the current process.
 */
static int
leaving_add(struct exclude *x, uint64_t start, uint64_t end,
    const char *reason)
{
	struct missing *m;

	if (VEC_ROOM(x->leaving, x->nleaving) == -1)
		return -1;
	m = &x->leaving[x->nleaving++];
	m->start = start;
	m->end = end;
	strlcpy(m->reason, reason, sizeof m->reason);
	return 0;
}

/*
 * Exclude the addresses from start to end from the current process. l has its
 * mappings. For mappings of a file, also record the range of the file, because
 * the file may be embedded in the snapshot.
 */
static int
leave_mapped(struct exclude *x, const struct vmas *l, uint64_t start,
    uint64_t end, const char *reason)
{
	const struct vma *v;

	for (v = vmas_next(l, start); v != NULL && v < l->v + l->n &&
	    v->start < end; v++)
		if ((v->dev != 0 || v->ino != 0) && shared_add(x, v,
		    v->start > start ? v->start : start,
		    v->end < end ? v->end : end, reason) == -1)
			return -1;
	return leaving_add(x, start, end, reason);
}

/*
 * Return true if l, parsed from smaps, has all mappings of *now, parsed from
 * maps. Otherwise some mappings are newer than smaps.
 */
static bool
smaps_covers(const struct vmas *l, const struct vmas *now)
{
	const struct vma *v;
	uint64_t at;
	size_t i;

	for (i = 0; i < now->n; i++)
		for (at = now->v[i].start; at < now->v[i].end; at = v->end)
			if ((v = vmas_find(l, at)) == NULL)
				return false;
	return true;
}

/*
 * Exclude from p the mappings that must not be dumped (MADV_DONTDUMP), as
 * listed in the file smaps of record r. Return 1; 0 if smaps is missing, or
 * lacks mappings or their flags; or -1 with errstr set.
 */
static int
leave_dontdump(struct exclude *x, const struct proc *p,
    const struct linuxrec *r)
{
	struct space sp = { 0 };
	struct vmas now = { 0 };
	struct recfile f;
	size_t i;
	int rc;

	if (!linuxrec_find(r, "smaps", &f))
		return 0;
	rc = space_smaps(&sp, f.data, f.len) == -1 ||
	    proc_vmas(p, &now) == -1 ? -1 : smaps_covers(&sp.vma, &now);
	for (i = 0; i < sp.vma.n && rc != -1; i++) {
		if ((sp.m[i].flags & VMF_FLAGS_KNOWN) == 0)
			rc = 0;
		/* Files are found in maps: after older merges smaps has
		   wrong device numbers. */
		else if (sp.m[i].flags & VMF_DONTDUMP &&
		    leave_mapped(x, &now, sp.vma.v[i].start,
		    sp.vma.v[i].end, "dontdump") == -1)
			rc = -1;
	}
	vmas_free(&now);
	space_free(&sp);
	return rc;
}

/*
 * Exclude from process p of s the address ranges that the user asked for,
 * rounded outwards to whole pages.
 */
static int
leave_ranges(struct exclude *x, struct snap *s, struct proc *p)
{
	struct vmas l = { 0 };
	uint64_t page;
	size_t i;
	int rc;

	if (x->nrange == 0)
		return 0;
	page = snap_page(s, p);
	rc = proc_vmas(p, &l);
	for (i = 0; i < x->nrange && rc == 0; i++)
		rc = leave_mapped(x, &l, x->range[i].start / page * page,
		    (x->range[i].end + page - 1) / page * page, "excluded");
	vmas_free(&l);
	return rc;
}

/*
 * Exclude from p, an embedded file, the ranges that were excluded from the
 * processes that map it. Its bytes are a text if they begin like an ELF file,
 * even those of shared memory.
 */
static int
leave_embedded(struct exclude *x, struct proc *p)
{
	const struct sharedrange *r;
	size_t i;

	for (i = 0; i < x->nshared; i++) {
		r = &x->shared[i];
		if (embedded_cmp(p->embedded, &r->file) == 0 &&
		    leaving_add(x, r->start, r->end, r->reason) == -1)
			return -1;
	}
	return image_leave(p->mem, x->leaving, x->nleaving) == -1 ||
	    image_leave(p->text, x->leaving, x->nleaving) == -1 ||
	    (x->nleaving > 0 && linuxrec_update(p) == -1) ? -1 : 0;
}

/*
 * Exclude the secrets that x names from p, a process of s or an embedded file.
 * All processes that may map an embedded file must be handled before it.
 * warn(arg, sentence) is called if the location of some secrets is unknown.
 * Return 0, or -1 with errstr set.
 */
int
exclude_proc(struct exclude *x, struct snap *s, struct proc *p,
    void (*warn)(void *, const char *), void *arg)
{
	size_t missing = p->mem == NULL ? 0 : p->mem->nmissing;
	struct linuxrec r;
	int rc, told;

	x->nleaving = 0;
	if (p->embedded != NULL)
		return leave_embedded(x, p);
	if (proc_isthread(p) || p->mem == NULL)
		return 0;
	told = 1;
	if ((rc = linuxrec_open(&r, proc_file(p, "proc"))) == 0 && x->dontdump)
		rc = told = leave_dontdump(x, p, &r);
	linuxrec_close(&r);
	if (told == 0)
		warn_tell(warn, arg, "process %" PRIu64 ": some MADV_DONTDUMP "
		    "memory may still be included: the snapshot does not "
		    "list all of it", p->pid);
	if (rc == -1 || leave_ranges(x, s, p) == -1 ||
	    image_leave(p->mem, x->leaving, x->nleaving) == -1 ||
	    (told = environ_exclude(x, s, p)) == -1 ||
	    (rc = linuxrec_update(p)) == -1)
		return errstr_wrap("process %" PRIu64, p->pid);
	if (told == 0)
		warn_tell(warn, arg, "process %" PRIu64 ": the environment in "
		    "its memory is not excluded: its address is unknown",
		    p->pid);
	return rc == 1 || p->mem->nmissing == missing ? 0 :
	    errstr_set("process %" PRIu64 ": no Linux record in which to list "
	    "the excluded memory", p->pid);
}

/*
 * Exclude the secrets that x names from all processes and embedded files of s,
 * as exclude_proc() does. Return 0, or -1 with errstr set.
 */
int
exclude_snap(struct exclude *x, struct snap *s,
    void (*warn)(void *, const char *), void *arg)
{
	size_t i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < s->nproc; i++)
			if ((s->proc[i]->embedded != NULL) == (pass == 1) &&
			    exclude_proc(x, s, s->proc[i], warn, arg) == -1)
				return -1;
	return 0;
}
