/*
 * Write mm-N.img, the address space of a process; vma.c makes the entry of each
 * mapping, and memory.c writes pagemap-N.img.
 */
#include "criumake.h"
#include "bisect.h"

/*
 * Read smaps of t, and set facts[i] to its facts about mapping i.
 */
static int
smaps_read(struct maketask *t, struct smapfacts *facts)
{
	const struct vma *v;
	struct recfile f;
	struct scan text;
	struct smap sm;
	int rc;

	linuxrec_find(&t->rec, "smaps", &f);
	text = scan_begin(f.data, f.len);
	while ((rc = smap_next(&text, &sm)) == 1) {
		v = vmas_find(&t->maps, sm.vma.start);
		if (v != NULL && v->start == sm.vma.start)
			facts[v - t->maps.v] = (struct smapfacts){
			    sm.mapping.flags, sm.page };
	}
	return rc;
}

/*
 * Append the guard regions of t (MADV_GUARD_INSTALL) to mm, after its mappings.
 * Split a region where a mapping ends. If the user asked to leave guard regions
 * out, append none and record a reason.
 */
static int
guards_add(struct criumake *m, const struct maketask *t, Criu__Mm *mm)
{
	const size_t n = mm->n_vmas;
	const struct image *im = t->proc->mem;
	const struct missing *x;
	const Criu__Vma *v;
	Criu__Vma *e;
	size_t i, k;

	for (i = k = 0; im != NULL && i < im->nmissing && k < n;) {
		x = &im->missing[i];
		v = mm->vmas[k];
		if (x->start < v->end && v->start < x->end &&
		    strcmp(x->reason, "guard") == 0) {
			if ((e = MSG_PUSH(&m->msgs, mm, vmas)) == NULL)
				return -1;
			e->start = x->start > v->start ? x->start : v->start;
			e->end = x->end < v->end ? x->end : v->end;
			e->status = CRIU_GUARD;
			e->fd = -1;
		}
		if (x->end <= v->end)
			i++;
		else
			k++;
	}
	if (mm->n_vmas == n)
		return 0;
	if (m->opts->leave >> WHY_GUARD & 1) {
		mm->n_vmas = n;
		return make_refuse(m, t, NULL, WHY_GUARD, "guard pages");
	}
	make_since(m, SINCE_GUARD);
	return 0;
}

/*
 * Record in m the properties of the memory of t that are lost. flags has the
 * bits of enum vmflag of all its mappings.
 */
static int
lost_note(struct criumake *m, const struct maketask *t, unsigned int flags)
{
	return (flags & VMF_PKEY && make_note(m, t, NULL, "the protection keys "
	    "of its memory are not restored") == -1) ||
	    (flags & VMF_SEALED && make_note(m, t, NULL, "the seals of its "
	    "memory are not restored") == -1) ||
	    (flags & VMF_LOCKONFAULT && make_note(m, t, NULL, "the locks of "
	    "its memory (MLOCK_ONFAULT) are not restored") == -1) ? -1 : 0;
}

/*
 * Set the mappings in mm to those of t, and set t->pages. facts has the facts
 * from smaps, one element for each mapping. As in criu, [vvar] and
 * [vvar_vclock] are one mapping, and [vsyscall] is ignored.
 */
static int
vmas_set(struct criumake *m, struct maketask *t, const struct smapfacts *facts,
    Criu__Mm *mm)
{
	const struct vma *v;
	Criu__Vma e, *last = NULL;
	unsigned int flags = 0;
	size_t i;
	int rc;

	t->pages = pool_new(&m->texts, t->maps.n, sizeof *t->pages);
	if (t->pages == NULL)
		return -1;
	for (i = 0; i < t->maps.n; i++) {
		v = &t->maps.v[i];
		if (strcmp(v->name, "[vsyscall]") == 0)
			continue;
		if (strcmp(v->name, "[vvar_vclock]") == 0 && last != NULL &&
		    last->status & CRIU_VVAR && last->end == v->start) {
			last->end = v->end;
			continue;
		}
		criu__vma__init(&e);
		if ((rc = makevma_set(m, t, v, &facts[i], mm, &e)) == -1)
			return -1;
		if (rc == 0)
			continue;
		t->pages[i] = makevma_pages(v, &e);
		/* the kernel seals its own mappings again */
		if (!(e.status & (CRIU_VDSO | CRIU_VVAR)))
			flags |= facts[i].flag;
		if ((last = MSG_PUSH(&m->msgs, mm, vmas)) == NULL)
			return -1;
		*last = e;
	}
	return lost_note(m, t, flags) == -1 ? -1 : guards_add(m, t, mm);
}

/*
 * Set the bounds of code, data, stack, arguments and environment in mm to those
 * of t. Record an obstacle if a bound is 0: the kernel does not accept that
 * (PR_SET_MM_MAP of prctl(2)).
 */
static int
bounds_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	static const unsigned int field[] = { CRIU_STATS };
	enum { FIELDS = sizeof field / sizeof *field };
	uint64_t v[FIELDS];
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if ((v[i] = t->stat.v[field[i]]) == 0)
			return make_never(m, t, "stat: field %u is 0, which "
			    "criu does not restore", field[i]);
	MSG_FILL(mm, CRIU_BOUNDS, v);
	return maketask_must(m, t, "brk", "x", "address (x)", &mm->brk);
}

/*
 * Set in mm the attributes that t changed with prctl(2).
 */
static int
prctls_set(struct maketask *t, Criu__Mm *mm)
{
	uint64_t v;
	int rc;

	if ((rc = maketask_one(t, "dumpable", "d", "number", &v)) == -1)
		return -1;
	if (rc == 1)
		MSG_FILL(mm, "dumpable", &v);
	if ((rc = maketask_one(t, "thp_disable", "d", "number", &v)) == -1)
		return -1;
	if (rc == 1 && v != 0)
		MSG_FILL(mm, "thp_disabled", &v);
	return 0;
}

/*
 * Set the executable in mm to that of t. If t maps a file with the path of the
 * executable, use that file. Otherwise use the path alone.
 */
static int
exe_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	struct vma exe = { .name = maketask_text(t, "exe") };
	char *path = exe.name;
	size_t i;
	int rc;

	if (path == NULL || *path != '/')
		return make_never(m, t, "its executable is not known");
	for (i = 0; i < t->maps.n; i++)
		if (strcmp(t->maps.v[i].name, path) == 0)
			exe = t->maps.v[i];
	rc = makereg_mapped(m, t, &exe, &mm->exe_file_id);
	if (rc == 0)
		rc = make_never(m, t, "its executable, %s, cannot be restored",
		    path);
	return rc == -1 ? -1 : 0;
}

/*
 * Set mm to the address space of process t: its mappings, bounds, prctl(2)
 * attributes, executable and auxiliary vector (getauxval(3)). Cut the vector to
 * the number of words that criu accepts.
 */
static int
mm_set(struct criumake *m, struct maketask *t, Criu__Mm *mm)
{
	size_t most = makeregs_auxv(t);
	struct smapfacts *facts;
	struct recfile f;

	if (proc_vmas(t->proc, &t->maps) == -1 || (facts = pool_new(&m->msgs,
	    t->maps.n, sizeof *facts)) == NULL || smaps_read(t, facts) == -1)
		return errstr_wrap("process %" PRIu64, t->proc->pid);
	linuxrec_find(&t->rec, "auxv", &f);
	return MSG_BYTES(&m->msgs, mm, mm_saved_auxv, f.data,
	    f.len / 8 < most ? f.len / 8 : most) == -1 ||
	    vmas_set(m, t, facts, mm) == -1 || bounds_set(m, t, mm) == -1 ||
	    prctls_set(t, mm) == -1 || exe_set(m, t, mm) == -1 ? -1 : 0;
}

/*
 * Write mm-N.img and pagemap-N.img of process t. Return 0, or -1 with errstr
 * set.
 */
int
makemm_write(struct criumake *m, struct maketask *t)
{
	Criu__Mm mm = CRIU__MM__INIT;
	int rc;

	rc = mm_set(m, t, &mm) == -1 || make_message(m, CRIU_MM, &mm.base,
	    "mm-%u.img", t->pid) == -1 ? -1 : makemem_pages(m, t);
	/* Free them now: together they would be as large as the records. */
	vmas_free(&t->maps);
	return rc;
}
