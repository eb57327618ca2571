/*
 * Index from hashes to places, eight bytes for each entry:
 *
 *	slot	tag: 26 bits of the hash | place: 38 bits
 *
 * Six other bits of the hash choose one of 64 shards. Shards grow one at a
 * time, large ones by an eighth, so that the index never takes much more than
 * its entries. The entries of a shard are sorted by tag (an ordered hash
 * table: Amble and Knuth, Ordered hash tables, The Computer Journal 17, 1974):
 * the home of a tag is tag * cap / 2^26, an entry lies at its home or in the
 * next free slot after it, and a search ends at the first greater tag. Thus a
 * search in a table that is four fifths full takes about three steps, and a
 * shard grows in one pass, into memory that another shard has left. Equal tags
 * are in the order in which they were added.
 *
 * A tag is only a hint: the caller compares the contents of the places.
 *
 * One thread adds entries, and may look them up at any time. Other threads
 * look them up between index_hold and index_release, which keeps slots from
 * being replaced, but not entries from moving up by one slot. They may
 * therefore miss, or see twice, an entry that is being added or moved, but not
 * others.
 */
#include "index.h"
#include "library.h"

#include <sys/mman.h>

#include <unistd.h>

enum {
	PLACEBITS = 38,
	TAGBITS = 26,
	SLACK = 64,		/* number of slots after the last home slot */
	FIRSTCAP = 448,
	LARGE = 4096,		/* shards with fewer home slots than this double
				   in size */
	ROOM = 256 * 1024	/* minimum address space of a shard, in bytes */
};

#define EMPTY		UINT64_MAX

/*
 * Return the entry in slot, even if another thread sets it at the same time.
 */
static uint64_t
slot_get(const uint64_t *slot)
{
	return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

static void
slot_set(uint64_t *slot, uint64_t entry)
{
	__atomic_store_n(slot, entry, __ATOMIC_RELAXED);
}

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

/*
 * Initialize *ix as an empty index.
 */
void
index_init(struct index *ix)
{
	pthread_rwlockattr_t attr;

	memset(ix, 0, sizeof *ix);
	pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
	/* do not let lookups delay the thread that adds */
	pthread_rwlockattr_setkind_np(&attr,
	    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(&ix->moving, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static void
shard_free(struct shard *sh)
{
	if (sh->slot != NULL)
		munmap(sh->slot, sh->room);
	*sh = (struct shard){ 0 };
}

/*
 * Free the memory of ix, and set *ix to zero.
 */
void
index_free(struct index *ix)
{
	int i;

	for (i = 0; i < SHARDS; i++)
		shard_free(&ix->shard[i]);
	shard_free(&ix->spare);
	pthread_rwlock_destroy(&ix->moving);
	memset(ix, 0, sizeof *ix);
}

/*
 * Remove all entries of ix. No other thread may look them up.
 */
void
index_clear(struct index *ix)
{
	index_free(ix);
	index_init(ix);
}

/*
 * Allow this thread to look up entries, until it calls index_release(). The
 * thread that adds entries must not call this.
 */
void
index_hold(struct index *ix)
{
	pthread_rwlock_rdlock(&ix->moving);
}

void
index_release(struct index *ix)
{
	pthread_rwlock_unlock(&ix->moving);
}

/*
 * Return the number of bytes of memory that the index takes.
 */
size_t
index_bytes(const struct index *ix)
{
	size_t i, n;

	for (i = 0, n = ix->spare.size; i < SHARDS; i++)
		n += ix->shard[i].size;
	return n;
}

/*
 * Set up shard sh with cap homes and the slack after them. Its slots are not
 * initialized. They are in the spare memory of ix if that is large enough,
 * otherwise in new memory with extra address space.
 */
static int
shard_map(struct index *ix, struct shard *sh, size_t cap)
{
	struct shard *spare = &ix->spare;
	size_t page, size, room;
	void *p;

	page = (size_t)sysconf(_SC_PAGESIZE);
	size = ((cap + SLACK) * sizeof *sh->slot + page - 1) / page * page;
	if (size > spare->room) {
		shard_free(spare);
		room = size < ROOM / 2 ? ROOM : 2 * size;
		p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return errstr_set("out of memory for the index");
		/* else slots would be copied when they are set after a fork */
		(void)madvise(p, room, MADV_DONTFORK);
		spare->slot = p;
		spare->room = room;
	}
	sh->slot = spare->slot;
	sh->room = spare->room;
	sh->size = size;
	sh->cap = cap;
	*spare = (struct shard){ 0 };
	return 0;
}

/*
 * Copy all entries of the smaller shard *from to shard sh. Return false if they
 * would fill the last slot of sh, which must stay empty.
 */
static bool
shard_spread(struct shard *sh, const struct shard *from)
{
	const size_t n = from->size / sizeof *from->slot;
	const size_t last = sh->size / sizeof *sh->slot - 1;
	uint64_t entry;
	size_t i, at, to;

	for (i = at = 0; i < n; i++) {
		if ((entry = from->slot[i]) == EMPTY)
			continue;
		to = home_of(sh, tag_of(entry));
		if (to < at)
			to = at;
		if (to >= last)
			return false;
		while (at < to)
			sh->slot[at++] = EMPTY;
		sh->slot[at++] = entry;
	}
	while (at <= last)
		sh->slot[at++] = EMPTY;
	return true;
}

/*
 * Enlarge shard sh of ix by moving it to other memory. The old memory becomes
 * the spare memory.
 */
static int
shard_grow(struct index *ix, struct shard *sh)
{
	struct shard new = { .n = sh->n };
	size_t cap;

	cap = sh->cap + (sh->cap < LARGE ? sh->cap : sh->cap / 8);
	if (cap == 0)
		cap = FIRSTCAP;
	while (shard_map(ix, &new, cap) == 0) {
		if (shard_spread(&new, sh)) {
			pthread_rwlock_wrlock(&ix->moving);
			ix->spare = *sh;
			*sh = new;
			pthread_rwlock_unlock(&ix->moving);
			return 0;
		}
		ix->spare = new;
		cap += cap / 8;
	}
	return -1;
}

/*
 * Add place, which must be below MAX_PLACE, under hash. Return 0, or -1 with
 * errstr set.
 */
int
index_add(struct index *ix, uint64_t hash, uint64_t place)
{
	struct shard *sh;
	uint64_t tag;
	size_t i, end, last;

	if (place >= MAX_PLACE)
		return errstr_set("more than 256 TiB in one snapshot");
	sh = &ix->shard[hash % SHARDS];
	tag = hash >> PLACEBITS;
	if (sh->n >= sh->cap / 50 * 41 && shard_grow(ix, sh) == -1)
		return -1;
	for (;;) {
		last = sh->size / sizeof *sh->slot - 1;
		/* i is after all entries with smaller or equal tags */
		for (i = home_of(sh, tag); sh->slot[i] != EMPTY &&
		    tag_of(sh->slot[i]) <= tag; i++)
			continue;
		for (end = i; sh->slot[end] != EMPTY; end++)
			continue;
		if (end < last)	/* keep the last slot empty, as a sentinel */
			break;
		if (shard_grow(ix, sh) == -1)
			return -1;
	}
	for (; end > i; end--)
		slot_set(&sh->slot[end], sh->slot[end - 1]);
	slot_set(&sh->slot[i], tag << PLACEBITS | place);
	sh->n++;
	return 0;
}

/*
 * Return the first place under hash, or PLACE_NONE. Set *c for index_next(),
 * which returns the others; *c is valid until the next call of index_add().
 */
uint64_t
index_first(const struct index *ix, uint64_t hash, struct cursor *c)
{
	const struct shard *sh;
	uint64_t entry;

	c->shard = sh = shard_of(ix, hash);
	c->tag = hash >> PLACEBITS;
	if (sh->slot == NULL)
		return PLACE_NONE;
	for (c->i = home_of(sh, c->tag);
	    (entry = slot_get(&sh->slot[c->i])) != EMPTY &&
	    tag_of(entry) < c->tag; c->i++)
		continue;
	return index_next(c);
}

/*
 * Return the next place under the hash given to index_first(), or PLACE_NONE.
 */
uint64_t
index_next(struct cursor *c)
{
	uint64_t entry;

	if (c->shard->slot == NULL)
		return PLACE_NONE;
	entry = slot_get(&c->shard->slot[c->i]);
	if (entry == EMPTY || tag_of(entry) != c->tag)
		return PLACE_NONE;
	c->i++;
	return entry & MAX_PLACE;
}

/*
 * Prefetch the slots for hash into the cache.
 */
void
index_prefetch(const struct index *ix, uint64_t hash)
{
	const struct shard *sh;

	sh = shard_of(ix, hash);
	if (sh->slot != NULL)
		__builtin_prefetch(&sh->slot[home_of(sh, hash >> PLACEBITS)]);
}
