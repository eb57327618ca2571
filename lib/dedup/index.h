/*
 * The index from hashes to places, private to dedup.
 */
#ifndef INDEX_H
#define INDEX_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARDS = 64 };

struct shard {
	uint64_t	*slot;	/* owned; mapped */
	size_t		 cap;	/* home slots; a few more lie behind them */
	size_t		 n;
	size_t		 size;	/* bytes that it takes */
	size_t		 room;	/* bytes of addresses that it has */
};

struct index {
	struct shard	 shard[SHARDS];
	struct shard	 spare;	/* memory for the next that grows, or none */
	pthread_rwlock_t moving; /* writes: slots get another place */
};

/* places are below this: 2^38 kilobytes, 256 TiB */
#define MAX_PLACE	(((uint64_t)1 << 38) - 1)
#define PLACE_NONE	UINT64_MAX

struct cursor {			/* a walk over the places of one hash */
	const struct shard *shard;
	size_t		 i;
	uint64_t	 tag;
};

void		 index_init(struct index *ix);
void		 index_free(struct index *ix);
void		 index_hold(struct index *ix);
void		 index_release(struct index *ix);
int		 index_add(struct index *ix, uint64_t hash, uint64_t place);
uint64_t	 index_first(const struct index *ix, uint64_t hash,
		    struct cursor *c);
uint64_t	 index_next(struct cursor *c);
void		 index_prefetch(const struct index *ix, uint64_t hash);
size_t		 index_bytes(const struct index *ix);

#endif
