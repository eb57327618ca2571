/*
 * Read ahead of a reader that reads an open file sequentially.
 *
 * A reader waits for each of its reads, so filling a buffer and passing it to
 * the kernel would alternate. Here, a thread that has answered a read goes on
 * to fill the buffer for the read after the next, while another thread answers
 * the next:
 *
 *	thread 1	answer n	fill n + 2	answer n + 2 ...
 *	thread 2	fill n + 1	answer n + 1	fill n + 3 ...
 */
#include "snapfs.h"
#include "bisect.h"

#include <sys/queue.h>

#include <pthread.h>

enum { AHEAD = 2, SLOTS = 3, LEAST = 64 * 1024 };

enum slot_state { EMPTY, FILLING, FULL, TAKEN };

struct slot {
	enum slot_state	 state;
	uint64_t	 off;
	size_t		 len;	/* number of bytes requested */
	ssize_t		 got;
	uint8_t		*buf;	/* owned; buffer of "cap" bytes */
	size_t		 cap;
};

struct stream {
	LIST_ENTRY(stream) entry;
	pthread_mutex_t	 lock;
	pthread_cond_t	 change;
	struct fstree	*tree;	/* borrowed */
	uint64_t	 ino;
	uint64_t	 next;	/* offset where a sequential read would begin */
	size_t		 refs;	/* number of references: 1 for the open file,
				   and 1 for each read under way */
	struct slot	 slot[SLOTS];
};

static LIST_HEAD(, stream) streams = LIST_HEAD_INITIALIZER(streams);
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Return a new stream for an open file with inode number ino in tree. The
 * caller releases it with stream_close(). Return NULL if memory ran out.
 */
struct stream *
stream_new(struct fstree *tree, uint64_t ino)
{
	struct stream *s;

	if ((s = calloc(1, sizeof *s)) == NULL)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	s->tree = tree;
	s->ino = ino;
	s->refs = 1;
	pthread_mutex_lock(&streams_lock);
	LIST_INSERT_HEAD(&streams, s, entry);
	pthread_mutex_unlock(&streams_lock);
	return s;
}

/*
 * Release one reference to s, and unlock s. Free s if that was the last
 * reference.
 */
static void
stream_unlock(struct stream *s)
{
	bool last;
	size_t i;

	last = --s->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	pthread_mutex_lock(&streams_lock);
	LIST_REMOVE(s, entry);
	pthread_mutex_unlock(&streams_lock);
	for (i = 0; i < SLOTS; i++)
		free(s->slot[i].buf);
	pthread_cond_destroy(&s->change);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/*
 * Release the reference to s held by the open file, because the file was
 * closed.
 */
void
stream_close(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	stream_unlock(s);
}

/*
 * Close the streams of files that the kernel has not closed. All reads must
 * have ended.
 */
void
streams_end(void)
{
	struct stream *s;

	while ((s = LIST_FIRST(&streams)) != NULL)
		stream_close(s);
}

/*
 * Return the slot that has, or will have, the len bytes at offset off, or NULL.
 */
static struct slot *
slot_find(struct stream *s, uint64_t off, size_t len)
{
	return SEEK_IN(s->slot, (x->state == FILLING || x->state == FULL) &&
	    x->off == off && x->len == len);
}

/*
 * Return a slot whose data is no longer useful, with a buffer for len bytes, or
 * NULL if there is none.
 */
static struct slot *
slot_spare(struct stream *s, size_t len)
{
	struct slot *sl;

	for (sl = s->slot; sl < s->slot + SLOTS; sl++) {
		if (sl->state != EMPTY && (sl->state != FULL ||
		    (sl->off >= s->next && sl->off - s->next <= AHEAD * len)))
			continue;
		if (sl->cap < len) {
			free(sl->buf);
			sl->buf = malloc(len);
			sl->cap = sl->buf == NULL ? 0 : len;
		}
		return sl->buf == NULL ? NULL : sl;
	}
	return NULL;
}

/*
 * Begin to read len bytes at offset off of s, and store the state of this read
 * in *r. If these bytes were read ahead, set r->buf to them. Return the number
 * of bytes read ahead, or 0.
 */
size_t
stream_begin(struct stream *s, uint64_t off, size_t len, struct reading *r)
{
	struct slot *sl;

	r->off = off;
	r->len = len;
	pthread_mutex_lock(&s->lock);
	s->refs++;
	r->inorder = off == s->next;
	s->next = off + len;
	while ((sl = slot_find(s, off, len)) != NULL && sl->state == FILLING)
		pthread_cond_wait(&s->change, &s->lock);
	r->slot = sl != NULL && sl->got > 0 ? sl : NULL;
	if (sl != NULL)
		sl->state = r->slot != NULL ? TAKEN : EMPTY;
	pthread_mutex_unlock(&s->lock);
	if (r->slot == NULL)
		return 0;
	r->buf = r->slot->buf;
	return (size_t)r->slot->got;
}

/*
 * Read the len bytes at offset off ahead of time, into a free slot. The caller
 * must hold the lock, which is released during the read.
 */
static void
stream_ahead(struct stream *s, uint64_t off, size_t len)
{
	struct slot *sl;
	ssize_t n;

	if (slot_find(s, off, len) != NULL ||
	    (sl = slot_spare(s, len)) == NULL)
		return;
	sl->state = FILLING;
	sl->off = off;
	sl->len = len;
	pthread_mutex_unlock(&s->lock);
	n = fstree_read(s->tree, s->ino, sl->buf, len, off);
	pthread_mutex_lock(&s->lock);
	sl->got = n;
	sl->state = FULL;
	pthread_cond_broadcast(&s->change);
}

/*
 * End read r of s after it has been answered, and read ahead. The file may have
 * been closed during the read.
 */
void
stream_end(struct stream *s, const struct reading *r)
{
	uint64_t at;

	pthread_mutex_lock(&s->lock);
	if (r->slot != NULL)
		r->slot->state = EMPTY;
	if (r->inorder && r->len >= LEAST &&
	    !__builtin_add_overflow(r->off, AHEAD * r->len, &at) &&
	    at <= INT64_MAX && s->refs > 1)
		stream_ahead(s, at, r->len);
	stream_unlock(s);
}
