/*
 * The index from hashes to places, eight bytes an entry:
 *
 *	slot	tag: 26 bits of the hash | place: 38 bits
 *
 * Six other bits of the hash choose one of 64 shards, which grow one at a
 * time, and large ones by a quarter, so that the index never takes much more
 * than its entries.  In a shard the entries are kept in order of their tags (an
 * ordered hash table: Amble and Knuth, Ordered hash tables, The Computer
 * Journal 17, 1974): the home of a tag is tag * cap / 2^26, entries lie at
 * their home or in the next free slot behind it, and a search ends at the
 * first greater tag.  So a table nine tenths full is searched in some five
 * steps, and grows by one pass from left to right.  Of equal tags the one
 * that was added first comes first.
 *
 * A tag is a hint: who asks compares what lies at the places.
 */
#include "index.h"
#include "snap.h"

#include <sys/mman.h>

#include <string.h>
#include <unistd.h>

enum {
	PLACEBITS = 38,
	TAGBITS = 26,
	SLACK = 64,		/* slots behind the last home */
	FIRSTCAP = 448,
	LARGE = 4096		/* below, a shard doubles */
};

#define EMPTY		UINT64_MAX

static uint64_t
tag_of(uint64_t entry)
{
	return entry >> PLACEBITS;
}

static size_t
home_of(const struct shard *sh, uint64_t tag)
{
	return (size_t)((tag * sh->cap) >> TAGBITS);
}

static const struct shard *
shard_of(const struct index *ix, uint64_t hash)
{
	return &ix->shard[hash % SHARDS];
}

void
index_free(struct index *ix)
{
	int i;

	for (i = 0; i < SHARDS; i++)
		if (ix->shard[i].slot != NULL)
			munmap(ix->shard[i].slot, ix->shard[i].size);
	memset(ix, 0, sizeof *ix);
}

/*
 * Return how many bytes the index takes.
 */
size_t
index_bytes(const struct index *ix)
{
	size_t i, n;

	for (i = n = 0; i < SHARDS; i++)
		n += ix->shard[i].size;
	return n;
}

/*
 * Where an entry of this tag goes: behind those of smaller and equal tags.
 */
static size_t
shard_place(const struct shard *sh, uint64_t tag)
{
	size_t i;

	for (i = home_of(sh, tag);
	    sh->slot[i] != EMPTY && tag_of(sh->slot[i]) <= tag; i++)
		continue;
	return i;
}

/*
 * Give a shard room for cap homes, and move what it has.
 */
static int
shard_resize(struct shard *sh, size_t cap)
{
	struct shard to;
	size_t i, at, end, page;

	page = (size_t)sysconf(_SC_PAGESIZE);
again:
	memset(&to, 0, sizeof to);
	to.cap = cap;
	to.n = sh->n;
	to.size = ((cap + SLACK) * sizeof *to.slot + page - 1) / page * page;
	to.slot = mmap(NULL, to.size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to.slot == MAP_FAILED)
		return errstr_set("out of memory for the index");
	memset(to.slot, 0xff, to.size);
	end = sh->size / sizeof *sh->slot;
	for (i = at = 0; i < end; i++) {
		if (sh->slot[i] == EMPTY)
			continue;
		if (at < home_of(&to, tag_of(sh->slot[i])))
			at = home_of(&to, tag_of(sh->slot[i]));
		if (at + 1 >= to.size / sizeof *to.slot) {
			munmap(to.slot, to.size);
			cap += cap / 8;
			goto again;
		}
		to.slot[at++] = sh->slot[i];
	}
	if (sh->slot != NULL)
		munmap(sh->slot, sh->size);
	*sh = to;
	return 0;
}

static int
shard_grow(struct shard *sh)
{
	size_t cap;

	cap = sh->cap + (sh->cap < LARGE ? sh->cap : sh->cap / 4);
	return shard_resize(sh, cap == 0 ? FIRSTCAP : cap);
}

/*
 * Add a place, below PLACE_MOST, under a hash.
 */
int
index_add(struct index *ix, uint64_t hash, uint64_t place)
{
	struct shard *sh;
	uint64_t tag;
	size_t i, end, last;

	if (place >= PLACE_MOST)
		return errstr_set("more than 256 TiB in one snapshot");
	sh = &ix->shard[hash % SHARDS];
	tag = hash >> PLACEBITS;
	if (sh->n >= sh->cap / 10 * 9 && shard_grow(sh) == -1)
		return -1;
	for (;;) {
		last = sh->size / sizeof *sh->slot - 1;
		i = shard_place(sh, tag);
		for (end = i; sh->slot[end] != EMPTY; end++)
			continue;
		if (end < last)	/* the last slot stays empty: a sentinel */
			break;
		if (shard_grow(sh) == -1)
			return -1;
	}
	memmove(&sh->slot[i + 1], &sh->slot[i],
	    (end - i) * sizeof *sh->slot);
	sh->slot[i] = tag << PLACEBITS | place;
	sh->n++;
	return 0;
}

/*
 * Return the first place under a hash, or PLACE_NONE; index_next gives the
 * others.  The cursor is good until the next index_add.
 */
uint64_t
index_first(const struct index *ix, uint64_t hash, struct cursor *c)
{
	const struct shard *sh;

	c->shard = sh = shard_of(ix, hash);
	c->tag = hash >> PLACEBITS;
	if (sh->slot == NULL)
		return PLACE_NONE;
	for (c->i = home_of(sh, c->tag); sh->slot[c->i] != EMPTY &&
	    tag_of(sh->slot[c->i]) < c->tag; c->i++)
		continue;
	return index_next(c);
}

uint64_t
index_next(struct cursor *c)
{
	uint64_t entry;

	if (c->shard->slot == NULL)
		return PLACE_NONE;
	entry = c->shard->slot[c->i];
	if (entry == EMPTY || tag_of(entry) != c->tag)
		return PLACE_NONE;
	c->i++;
	return entry & PLACE_MOST;
}

/*
 * Have the memory of a hash's slots at hand soon.
 */
void
index_prefetch(const struct index *ix, uint64_t hash)
{
	const struct shard *sh;

	sh = shard_of(ix, hash);
	if (sh->slot != NULL)
		__builtin_prefetch(&sh->slot[home_of(sh, hash >> PLACEBITS)]);
}
