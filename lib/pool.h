/*
 * Memory that is freed all at once. Functions return NULL or -1 with errstr set
 * if memory runs out. The arrays grow as those of vec.h do.
 */
#ifndef POOL_H
#define POOL_H

#include "vec.h"

struct pool {
	void		**v;	/* owned, as are its elements */
	size_t		 n;
	bool		 failed; /* memory has run out; pool_free() keeps it */
};

void		*pool_own(struct pool *p, void *data);
void		*pool_new(struct pool *p, size_t n, size_t size);
void		*pool_dup(struct pool *p, const void *data, size_t n);
char		*pool_string(struct pool *p, const char *s);
int		 pool_room(struct pool *p, void *vp, size_t n, size_t size);
void		 pool_free(struct pool *p);

/* as VEC_ROOM and VEC_ADD */
#define POOL_ROOM(p, v, n) pool_room((p), &(v), (n), sizeof *(v))
#define POOL_ADD(p, v, n, ...)						\
	(POOL_ROOM(p, v, n) == -1 ? -1 : ((v)[(n)++] = (__VA_ARGS__), 0))

#endif
