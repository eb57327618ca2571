/*
 * Any bytes as two snap(6) streams that are merged: all memory of both is kept,
 * each process has its own number, and the result can be written and read back.
 */
#include "fuzz_snap.h"
#include "model.h"

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

/*
 * Return a sum of the memory of all processes, independent of their order.
 */
static uint64_t
memory_sum(struct snap *s)
{
	uint64_t h;
	size_t i;

	for (h = i = 0; i < s->nproc; i++)
		if (s->proc[i]->embedded == NULL)
			h += image_sum(s->proc[i]->mem) +
			    image_sum(s->proc[i]->text) * 3;
	return h;
}

static size_t
process_count(const struct snap *s)
{
	size_t i, n;

	for (i = n = 0; i < s->nproc; i++)
		n += s->proc[i]->embedded == NULL;
	return n;
}

static void
check_merged(struct snap *s, uint64_t sum, size_t all)
{
	struct snap *t;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		MUST(snap_find(s, s->proc[i]->pid) == s->proc[i]);
		if (s->proc[i]->mem != NULL)
			check_missing(s->proc[i]->mem);
	}
	if (snap_kb(s) >= WRITEMOST / KB)
		return;
	MUST((t = read_fd(write_back(s), NULL)) != NULL);
	MUST(process_count(t) == all);
	MUST(memory_sum(t) == sum);
	snap_free(t);
}

/*
 * Exclude secrets from the whole snapshot.
 */
static void
check_excluded(struct snap *s)
{
	struct exclude *x;
	size_t i;

	MUST((x = exclude_new()) != NULL);
	MUST(exclude_add(x, "secrets,env=*,1000-20000") == 0);
	if (exclude_snap(x, s, NULL, NULL) == -1)
		MUST(*snap_errstr() != '\0');
	else
		for (i = 0; i < s->nproc; i++)
			if (s->proc[i]->mem != NULL)
				check_missing(s->proc[i]->mem);
	exclude_free(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s[2];
	uint64_t sum;
	size_t all;

	read_two(data, n, s);
	if (s[0] != NULL && s[1] != NULL) {
		sum = memory_sum(s[0]) + memory_sum(s[1]);
		all = process_count(s[0]) + process_count(s[1]);
		if (snap_merge(s[0], s[1]) == -1)
			MUST(*snap_errstr() != '\0');
		else {
			MUST(s[1]->nproc == 0);
			MUST(process_count(s[0]) == all);
			MUST(memory_sum(s[0]) == sum);
			check_merged(s[0], sum, all);
			check_excluded(s[0]);
		}
	}
	snap_free(s[0]);
	snap_free(s[1]);
	return 0;
}
