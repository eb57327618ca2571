/*
 * Collect facts about a process of a snapshot: from its Linux record if there
 * is one, else from the small files of Plan 9. All data is untrusted.
 */
#include "snapls.h"
#include "bisect.h"

#include <err.h>

/*
 * Return Linux's word for the process state with the given letter, without
 * blanks. Return NULL if the letter is unknown. See task_state_array in
 * fs/proc/array.c.
 */
static const char *
state_word(uint8_t letter)
{
	static const struct state {
		uint8_t		 letter;
		const char	*word;
	} states[] = { { 'R', "running" }, { 'S', "sleeping" },
	    { 'D', "disk-sleep" }, { 'T', "stopped" }, { 't', "tracing-stop" },
	    { 'X', "dead" }, { 'Z', "zombie" }, { 'P', "parked" },
	    { 'I', "idle" } };
	const struct state *s = SEEK_IN(states, x->letter == letter);

	return s == NULL ? NULL : s->word;
}

/*
 * Return the process state in the file "status" of record r
 * (proc_pid_status(5)), in Linux's words, or NULL if there is none.
 */
static const char *
state_linux(const struct linuxrec *r)
{
	static const char key[] = "\nState:\t";
	struct recfile f;
	const uint8_t *s;

	if (!linuxrec_find(r, "status", &f) ||
	    (s = memmem(f.data, f.len, key, sizeof key - 1)) == NULL)
		return NULL;
	s += sizeof key - 1;
	return s < f.data + f.len ? state_word(*s) : NULL;
}

/*
 * Store in f the number of the snapshot part that the process of record r
 * belongs to. If snapcat(1) copied the process, also store its original process
 * ID and the first line of the original snapshot. These two are in the file
 * "origin", separated by a blank.
 */
static void
origin_get(const struct linuxrec *r, struct facts *f)
{
	struct recfile o;
	char *s, *end;

	part_get(r, &f->part);
	if (!linuxrec_find(r, "origin", &o))
		return;
	s = must(strndup((const char *)o.data, o.len));
	f->origin = strtoull(s, &end, 10);
	end[strcspn(end, "\n")] = '\0';
	f->header = must(strdup(end + (*end == ' ')));
	free(s);
}

/*
 * Return the number of threads of process p of s, including the first.
 */
static size_t
count_threads(struct snap *s, const struct proc *p)
{
	const size_t *at;
	size_t i, n, found;

	if (snap_threads(s, p->pid, &at, &n) == -1)
		errx(1, "%s", snap_errstr());
	for (i = 0, found = 1; i < n; i++)
		found += proc_isthread(s->proc[at[i]]);
	return found;
}

/*
 * Set *f to the facts about process p of snapshot s. The caller frees it with
 * facts_free(). Control characters are replaced only in the members name, user
 * and state. Print a warning if the record cannot be read, unless ls->damaged
 * is true, because then the caller reports the damage.
 */
void
facts_get(struct facts *f, struct snap *s, struct proc *p,
    const struct listing *ls)
{
	const struct linuxrec *r = proc_record(p);
	struct recfile x;
	const char *word;

	memset(f, 0, sizeof *f);
	status_word(p, STATUS_NAME, 27, f->name);
	status_word(p, STATUS_USER, 27, f->user);
	status_word(p, STATUS_STATE, 11, f->state);
	f->threads = count_threads(s, p);
	(void)linuxrec_line(r, "comm", f->comm, sizeof f->comm);
	origin_get(r, f);
	if (linuxrec_find(r, "excluded", &x))
		f->excluded = must(strndup((const char *)x.data, x.len));
	if ((word = state_linux(r)) != NULL)
		strlcpy(f->state, word, sizeof f->state);
	if (proc_facts(&f->list, s, p) == -1 && !ls->damaged)
		program_lose(NULL, snap_errstr());
}

/*
 * Return the value of the fact about subject in f, or "" if there is none. Use
 * this only for a subject with at most one fact.
 */
const char *
facts_value(const struct facts *f, enum subject subject)
{
	const struct fact *t = SEEK(f->list.v, f->list.n,
	    x->subject == subject);

	return t == NULL ? "" : t->value;
}

/*
 * Free the members that f owns.
 */
void
facts_free(struct facts *f)
{
	free(f->excluded);
	free(f->header);
	factlist_free(&f->list);
}

/*
 * Split the range from first to last, inclusive, at mapping boundaries, and
 * call fn with arg for each part. A part outside all mappings has a NULL name.
 * Such parts exist because the writer joined them to their neighbours.
 */
static void
ranges_mapped(const struct vmas *l, uint64_t first, uint64_t last, range_fn fn,
    void *arg)
{
	const struct vma *v;
	struct range r;

	for (v = vmas_next(l, first); v != NULL && v < l->v + l->n &&
	    v->start <= last; v++) {
		if (first < v->start) {
			r = (struct range){ first, v->start - 1, "", NULL };
			fn(arg, &r);
			first = v->start;
		}
		r = (struct range){ first, v->end - 1 >= last ? last :
		    v->end - 1, "", v->name };
		vma_perms(v, r.perm);
		fn(arg, &r);
		if (v->end - 1 >= last)
			return;
		first = v->end;
	}
	r = (struct range){ first, last, "", NULL };
	fn(arg, &r);
}

/*
 * Call fn with arg for each range in the text of p, and then in its memory,
 * both in order of address. p is a process or an embedded file, that is, a
 * mapped file stored in the snapshot. Split memory ranges of a process at
 * mapping boundaries.
 */
void
ranges_each(struct proc *p, range_fn fn, void *arg)
{
	struct vmas l = { 0 };
	struct piece *pc;
	struct range r = { .name = p->embedded == NULL ? "text" :
	    p->embedded->path };

	if (p->embedded == NULL && proc_vmas(p, &l) == -1)
		errx(1, "process %" PRIu64 ": %s", p->pid, snap_errstr());
	for (pc = image_first(p->text); pc != NULL; pc = piece_next(pc)) {
		r.first = pc->first;
		r.last = pc->last;
		fn(arg, &r);
	}
	for (pc = image_first(p->mem); pc != NULL; pc = piece_next(pc)) {
		r.first = pc->first;
		r.last = pc->last;
		if (p->embedded != NULL)
			fn(arg, &r);
		else
			ranges_mapped(&l, pc->first, pc->last, fn, arg);
	}
	vmas_free(&l);
}

/*
 * Set *sum to the totals of snapshot s.
 */
void
sums_get(struct sums *sum, const struct snap *s)
{
	const struct proc *p;
	size_t i;

	memset(sum, 0, sizeof *sum);
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		sum->count.raw += p->count.raw;
		sum->count.zero += p->count.zero;
		sum->count.same += p->count.same;
		if (p->embedded != NULL) {
			sum->files++;
			sum->embedded.raw += p->count.raw;
			sum->embedded.zero += p->count.zero;
			sum->embedded.same += p->count.same;
			continue;
		}
		sum->mem += image_bytes(p->mem);
		sum->threads++;
		sum->processes += !proc_isthread(p);
	}
}
