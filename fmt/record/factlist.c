/*
 * Lists of facts about a process, each with a subject, a key and a value; and
 * the differences between two lists.
 */
#include "bisect.h"
#include "facts.h"
#include "vec.h"

/*
 * Return the word for the given subject.
 */
const char *
subject_word(enum subject subject)
{
	static const char *const words[SUBJECTS] = {
		[SUBJECT_NAME] = "name",
		[SUBJECT_PARENT] = "parent",
		[SUBJECT_ARGUMENTS] = "arguments",
		[SUBJECT_EXECUTABLE] = "executable",
		[SUBJECT_DIRECTORY] = "directory",
		[SUBJECT_ROOT] = "root",
		[SUBJECT_CGROUP] = "cgroup",
		[SUBJECT_NAMESPACE] = "namespace",
		[SUBJECT_THREAD] = "thread",
		[SUBJECT_DESCRIPTOR] = "descriptor",
		[SUBJECT_POSITION] = "position",
		[SUBJECT_FLAGS] = "flags",
		[SUBJECT_ENVIRONMENT] = "environment",
		[SUBJECT_LIMIT] = "limit",
		[SUBJECT_CREDENTIAL] = "credential",
		[SUBJECT_SIGNAL] = "signal",
		[SUBJECT_SIGNALS] = "signals"
	};

	return words[subject];
}

/*
 * Add a fact to l. order is its place among the facts of its subject. key and
 * the n bytes of value are copied. In the copy of value, NUL bytes become
 * blanks; trailing blanks and newlines are dropped. Return 0, or -1 with errstr
 * set.
 */
int
factlist_add(struct factlist *l, enum subject subject, uint64_t order,
    const char *key, const char *value, size_t n)
{
	struct fact *f;
	size_t i;

	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	while (n > 0 && (value[n - 1] == '\n' || value[n - 1] == ' ' ||
	    value[n - 1] == '\0'))
		n--;
	f = &l->v[l->n];
	*f = (struct fact){ .subject = subject, .order = order,
	    .key = str_dup(key), .value = mem_dup(value, n) };
	l->n++;
	if (f->key == NULL || f->value == NULL)
		return -1;
	for (i = 0; i < n; i++)
		if (f->value[i] == '\0')
			f->value[i] = ' ';
	l->told |= 1U << subject;
	return 0;
}

static int
fact_order(const struct fact *a, const struct fact *b)
{
	if (a->subject != b->subject)
		return a->subject < b->subject ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->key, b->key);
}

CMP_BY(fact_cmp, struct fact, fact_order(x, y) != 0 ? fact_order(x, y) :
    x->id != y->id ? ORDER(x->id, y->id) : strcmp(x->value, y->value))

/*
 * Sort the facts of l into the order that factlist_diff() needs.
 */
void
factlist_sort(struct factlist *l)
{
	SORT(l->v, l->n, fact_cmp);
}

/*
 * Free the facts of l, and leave l empty.
 */
void
factlist_free(struct factlist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->v[i].key);
		free(l->v[i].value);
		free(l->v[i].more);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}

/*
 * Add to l a change to fact f. old and new are its values before and after. One
 * of the two may be NULL: the fact was then added or removed.
 */
static int
change_add(struct changes *l, const struct fact *f, const char *old,
    const char *new)
{
	return VEC_ADD(l->v, l->n, (struct change){ .how = old == NULL ?
	    CHANGE_ADDED : new == NULL ? CHANGE_REMOVED : CHANGE_CHANGED,
	    .subject = f->subject, .key = f->key, .was = old, .is = new,
	    .more = f->more });
}

/*
 * Add to l the change for fact f, which only one of the two lists has. removed
 * is true if the old list has it. Skip a detail of a descriptor, because the
 * descriptor itself is reported.
 */
static int
change_one(struct changes *l, const struct fact *f, bool removed)
{
	if (f->subject == SUBJECT_POSITION || f->subject == SUBJECT_FLAGS)
		return 0;
	return change_add(l, f, removed ? f->value : NULL,
	    removed ? NULL : f->value);
}

/*
 * Add to l the changes between facts a and b, which have the same subject and
 * key.
 */
static int
change_both(struct changes *l, const struct fact *a, const struct fact *b)
{
	if (a->id != b->id)
		return change_one(l, a, true) == -1 ? -1 :
		    change_one(l, b, false);
	return strcmp(a->value, b->value) == 0 ? 0 :
	    change_add(l, b, a->value, b->value);
}

/*
 * Add the differences between the fact lists old and new to l. Compare only
 * subjects that are in both lists. Both lists must be sorted. The caller frees
 * the array in l. Return 0, or -1 with errstr set.
 */
int
factlist_diff(struct changes *l, const struct factlist *old,
    const struct factlist *new)
{
	const struct fact *f;
	unsigned int both;
	size_t i, k;
	int order, rc;

	both = old->told & new->told;
	if (both & 1U << SUBJECT_SIGNAL) /* the facts of SUBJECT_SIGNAL include
					    those of SUBJECT_SIGNALS */
		both &= ~(1U << SUBJECT_SIGNALS);
	for (rc = 0, i = k = 0; rc == 0 && (i < old->n || k < new->n);) {
		order = i == old->n ? 1 : k == new->n ? -1 :
		    fact_order(&old->v[i], &new->v[k]);
		f = order > 0 ? &new->v[k] : &old->v[i];
		if ((both & 1U << f->subject) != 0)
			rc = order == 0 ? change_both(l, f, &new->v[k]) :
			    change_one(l, f, order < 0);
		i += order <= 0;
		k += order >= 0;
	}
	return rc;
}
