/*
 * Index from hashes to places, private to dedup.
 */
#ifndef INDEX_H
#define INDEX_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARDS = 64 };

struct shard {
	uint64_t	*slot;	/* owned; from mmap(2) */
	size_t		 cap; /* number of home slots; a few more follow them */
	size_t		 n;
	size_t		 size;	/* size in bytes of the memory that the slots
				   use */
	size_t		 room;	/* size in bytes of the mapping at "slot" */
};

struct index {
	struct shard	 shard[SHARDS];
	struct shard	 spare;	/* memory for the next shard that grows; or
				   empty */
	pthread_rwlock_t moving; /* write-locked while slots are replaced */
};

/* limit for places: 2^38 kilobytes, 256 TiB */
#define MAX_PLACE	(((uint64_t)1 << 38) - 1)
#define PLACE_NONE	UINT64_MAX

struct cursor {			/* position among the places of one hash */
	const struct shard *shard;
	size_t		 i;
	uint64_t	 tag;
};

void		 index_init(struct index *ix);
void		 index_free(struct index *ix);
void		 index_clear(struct index *ix);
void		 index_hold(struct index *ix);
void		 index_release(struct index *ix);
int		 index_add(struct index *ix, uint64_t hash, uint64_t place);
uint64_t	 index_first(const struct index *ix, uint64_t hash,
		    struct cursor *c);
uint64_t	 index_next(struct cursor *c);
void		 index_prefetch(const struct index *ix, uint64_t hash);
size_t		 index_bytes(const struct index *ix);

#endif
