/*
 * Who was asked, and did not answer in time: it is not asked again, and the
 * user is told of it.
 */
#include "proxy.h"
#include "vec.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct missed {
	enum proxy_kind	 kind;
	uint64_t	 id;
	char		 what[256];
};

static struct {
	pthread_mutex_t	 lock;	/* of what follows */
	struct missed	*v;	/* owned */
	size_t		 n;
} missed = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Return true if k is one of them; the lock is held.
 */
static bool
missed_find(const struct proxy_key *k)
{
	size_t i;

	for (i = 0; i < missed.n; i++)
		if (missed.v[i].kind == k->kind && missed.v[i].id == k->id)
			return true;
	return false;
}

/*
 * Return true if who k tells of has not answered before.
 */
bool
missed_has(const struct proxy_key *k)
{
	bool has;

	pthread_mutex_lock(&missed.lock);
	has = missed_find(k);
	pthread_mutex_unlock(&missed.lock);
	return has;
}

/*
 * Return how many they are.
 */
size_t
missed_count(void)
{
	size_t n;

	pthread_mutex_lock(&missed.lock);
	n = missed.n;
	pthread_mutex_unlock(&missed.lock);
	return n;
}

/*
 * Note that who is asked as k says does not answer in time, and is not to be
 * asked again.  Return -1 with errno ETIMEDOUT.
 */
int
proxy_miss(const struct proxy_key *k)
{
	struct missed *v;

	pthread_mutex_lock(&missed.lock);
	if (!missed_find(k) && VEC_ROOM(missed.v, missed.n) == 0) {
		v = &missed.v[missed.n++];
		v->kind = k->kind;
		v->id = k->id;
		strlcpy(v->what, k->what, sizeof v->what);
	}
	pthread_mutex_unlock(&missed.lock);
	errno = ETIMEDOUT;
	return -1;
}

/*
 * Copy what the nth was that did not answer in time, in words for a user, to
 * what, of size bytes.  Return false if there is none.
 */
bool
proxy_missed(size_t n, char *what, size_t size)
{
	bool is;

	pthread_mutex_lock(&missed.lock);
	if ((is = n < missed.n))
		strlcpy(what, missed.v[n].what, size);
	pthread_mutex_unlock(&missed.lock);
	return is;
}

/*
 * Forget all of them.
 */
void
missed_forget(void)
{
	pthread_mutex_lock(&missed.lock);
	free(missed.v);
	missed.v = NULL;
	missed.n = 0;
	pthread_mutex_unlock(&missed.lock);
}
