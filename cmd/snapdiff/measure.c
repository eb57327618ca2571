/*
 * Measure what a process has at a moment: threads, descriptors, memory by class
 * and by mapping, and chunks of its heaps by size.
 */
#include "snapdiff.h"
#include "bisect.h"

enum order {
	ORDER_THREADS, ORDER_DESCRIPTORS, ORDER_LEADS, ORDER_MAPPINGS,
	ORDER_CLASS, ORDER_HELD, ORDER_RANGE, ORDER_RANGE_HELD, ORDER_ARENAS,
	ORDER_HEAP, ORDER_READY, ORDER_USED, ORDER_FREE
};

/*
 * Return true if m measures free memory that malloc(3) keeps ready for use.
 * Growth of such memory is not a leak.
 */
bool
measure_isready(const struct measure *m)
{
	return m->order == ORDER_READY;
}

/*
 * Append a measure to l. Its text is formatted as by printf(3).
 */
static void __attribute__((format(printf, 6, 7)))
measure_add(struct measures *l, enum order order, uint64_t rank, enum unit unit,
    uint64_t value, const char *fmt, ...)
{
	struct measure *m;
	va_list ap;
	int n;

	MUST_ROOM(l->v, l->n);
	m = &l->v[l->n++];
	m->order = order;
	m->rank = rank;
	m->unit = unit;
	m->value = value;
	va_start(ap, fmt);
	n = vasprintf(&m->text, fmt, ap);
	va_end(ap);
	if (n == -1)
		program_nomem();
}

CMP_BY(measure_cmp, struct measure,
    x->order != y->order ? ORDER(x->order, y->order) :
    x->rank != y->rank ? ORDER(x->rank, y->rank) : strcmp(x->text, y->text))

/*
 * Return the value of the measure in l that matches key, or 0 if there is none.
 */
uint64_t
measure_value(const struct measures *l, const struct measure *key)
{
	const struct measure *m = FIND_BY(key, l->v, l->n, measure_cmp);

	return m == NULL ? 0 : m->value;
}

/*
 * Return true if l shows the value of the measure key. A moment whose snapshot
 * records no descriptors, as in a core, does not show how many there are.
 */
bool
measure_isknown(const struct measures *l, const struct measure *key)
{
	return (key->order != ORDER_DESCRIPTORS && key->order != ORDER_LEADS) ||
	    SEEK(l->v, l->n, x->order == ORDER_DESCRIPTORS) != NULL;
}

/*
 * Sort the measures of l. Merge those with equal order, rank and text, and add
 * up their values.
 */
static void
measures_join(struct measures *l)
{
	size_t i, n;

	SORT(l->v, l->n, measure_cmp);
	for (i = n = 0; i < l->n; i++)
		if (n > 0 && measure_cmp(&l->v[n - 1], &l->v[i]) == 0) {
			l->v[n - 1].value += l->v[i].value;
			free(l->v[i].text);
		} else
			l->v[n++] = l->v[i];
	l->n = n;
}

/*
 * Add to l the number of threads and the number of descriptors of process d.
 * Also add the number of descriptors for each file, or for each kind of object.
 * Return 0, or -1 with errstr set.
 */
static int
measure_facts(struct measures *l, const struct side *d)
{
	struct factlist facts = { 0 };
	const struct fact *f;
	uint64_t threads = 1, fds = 0;
	size_t i, n;
	int rc;

	if ((rc = proc_facts(&facts, d->snap, d->proc)) == -1)
		goto out;
	for (i = 0; i < facts.n; i++) {
		f = &facts.v[i];
		threads += f->subject == SUBJECT_THREAD;
		if (f->subject != SUBJECT_DESCRIPTOR)
			continue;
		fds++;
		/* cut socket:[12345] to its kind */
		n = strcspn(f->value, ":");
		if (f->value[n] != ':' || f->value[n + 1] != '[' ||
		    strspn(f->value + n + 2, "0123456789") == 0)
			n = strlen(f->value);
		measure_add(l, ORDER_LEADS, 0, UNIT_COUNT, 1,
		    "descriptors of %.*s", (int)(n < 4096 ? n : 4096),
		    f->value);
	}
	measure_add(l, ORDER_THREADS, 0, UNIT_COUNT, threads, "threads");
	if ((facts.told & 1U << SUBJECT_DESCRIPTOR) != 0)
		measure_add(l, ORDER_DESCRIPTORS, 0, UNIT_COUNT, fds,
		    "descriptors");
out:
	factlist_free(&facts);
	return rc;
}

/*
 * Return how many bytes of the process's own pages are in the address range
 * that begins at start and ends before end. The range must be in mapping v.
 */
static uint64_t
memory_held(const struct memory *m, const struct vma *v, uint64_t start,
    uint64_t end)
{
	struct here h;
	uint64_t at, bytes;

	for (bytes = 0, at = start; at < end; at = h.end) {
		h.end = end;
		memory_at(m, v, at, &h);
		if (h.content == CONTENT_BYTES && h.data)
			bytes += h.end - at;
	}
	return bytes;
}

static void
measure_classes(struct measures *l, const struct memory *m)
{
	uint64_t size[CLASS_COUNT] = { 0 }, held[CLASS_COUNT] = { 0 };
	const struct vma *v;
	size_t i;

	for (i = 0; i < m->vma.n; i++) {
		v = &m->vma.v[i];
		size[class_of(v)] += v->end - v->start;
		held[class_of(v)] += memory_held(m, v, v->start, v->end);
	}
	measure_add(l, ORDER_MAPPINGS, 0, UNIT_COUNT, m->vma.n, "mappings");
	for (i = 0; i < CLASS_COUNT; i++) {
		measure_add(l, ORDER_CLASS, i, UNIT_BYTES, size[i], "%s",
		    class_word((enum class)i));
		measure_add(l, ORDER_HELD, i, UNIT_BYTES, held[i],
		    "%s, with data", class_word((enum class)i));
	}
}

/*
 * Add to l two measures of the address range of w, a mapping that the process
 * has at the last moment. The first is how much of the range m maps with the
 * same class and permissions. The second is how much of that has data.
 */
static void
measure_range(struct measures *l, const struct memory *m, const struct vma *w)
{
	const char *name = *w->name == '\0' ? "anonymous" : w->name;
	const struct vma *v, *end = m->vma.v + m->vma.n;
	uint64_t from, to, size, held;

	size = held = 0;
	for (v = vmas_next(&m->vma, w->start); v != NULL && v < end &&
	    v->start < w->end; v++) {
		if (class_of(v) != class_of(w) || ((v->flags ^ w->flags) &
		    (VMA_READ | VMA_WRITE | VMA_EXEC)) != 0)
			continue;
		from = v->start > w->start ? v->start : w->start;
		to = v->end < w->end ? v->end : w->end;
		size += to - from;
		held += memory_held(m, v, from, to);
	}
	measure_add(l, ORDER_RANGE, w->start, UNIT_BYTES, size,
	    "%" PRIx64 "-%" PRIx64 " %s", w->start, w->end, name);
	measure_add(l, ORDER_RANGE_HELD, w->start, UNIT_BYTES, held,
	    "%" PRIx64 "-%" PRIx64 " %s, with data", w->start, w->end, name);
}

/*
 * Add to l the numbers of used and free chunks of a class.
 */
static void
measure_class(struct measures *l, const struct heap *h, size_t class)
{
	uint64_t size = heapclass_size(class), last;
	char range[48];

	last = class + 1 < HEAP_CLASSES ? heapclass_size(class + 1) - 16 : size;
	if (last > size)
		snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, size,
		    last);
	else
		snprintf(range, sizeof range, "%" PRIu64, size);
	if (h->class[class].used > 0)
		measure_add(l, ORDER_USED, size, UNIT_COUNT,
		    h->class[class].used, "chunks of %s bytes, in use", range);
	if (h->class[class].free > 0)
		measure_add(l, ORDER_FREE, size, UNIT_COUNT,
		    h->class[class].free, "chunks of %s bytes, free", range);
}

static void
measure_heap(struct measures *l, const struct memory *m)
{
	struct heap *h = must(malloc(sizeof *h));
	size_t i;

	heap_get(h, m);
	if (h->arenas > 0) {
		const struct {
			enum order	 order;
			const char	*text;
			uint64_t	 value;
		} sums[] = { { ORDER_HEAP, "heap", h->system },
		    { ORDER_HEAP, "heap, in use", h->used },
		    { ORDER_HEAP, "heap, free", h->free },
		    { ORDER_READY, "heap, free in caches of threads",
		    h->cached },
		    { ORDER_READY, "heap, not used yet", h->top } };

		measure_add(l, ORDER_ARENAS, 0, UNIT_COUNT, h->arenas,
		    "heap arenas");
		for (i = 0; i < sizeof sums / sizeof *sums; i++)
			measure_add(l, sums[i].order, i, UNIT_BYTES,
			    sums[i].value, "%s", sums[i].text);
		for (i = 0; i < HEAP_CLASSES; i++)
			measure_class(l, h, i);
	}
	free(h);
}

/*
 * Set *l, which must be all zero, to the measures of process m. last has the
 * mappings of the same process at the last moment. The caller must call
 * measures_free() even on failure. Return 0, or -1 with errstr set.
 */
int
measures_get(struct measures *l, const struct memory *m,
    const struct vmas *last)
{
	size_t i;

	if (measure_facts(l, m->side) == -1)
		return -1;
	measure_classes(l, m);
	measure_heap(l, m);
	for (i = 0; i < last->n; i++)
		measure_range(l, m, &last->v[i]);
	measures_join(l);
	return 0;
}

/*
 * Empty l, and free its measures.
 */
void
measures_free(struct measures *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].text);
	free(l->v);
	memset(l, 0, sizeof *l);
}
