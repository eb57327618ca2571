/*
 * Reading a compressed stream of ours (gzip.c) at random, from a regular
 * file: the headers of its members, each of which tells where the next one
 * is, make a table; what members hold is kept in a few slots, and several
 * threads may read at once.
 *
 *	FREE		no member's
 *	FILLING		a thread reads a member into it
 *	FULL		it holds a member; with users, it stays
 */
#include "gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SLOTS = 64,
	PAGE_TAG = 'r'		/* before a page of a stream: snap(6) */
};

enum state { FREE, FILLING, FULL };

struct slot {
	enum state	 state;
	size_t		 member;
	size_t		 users;
	uint64_t	 used;	/* when, as clock tells */
	uint8_t		*raw;	/* owned; GZIP_RAW bytes, NULL before use */
	bool		 inited;
	z_stream	 z;	/* where inited */
};

struct gzipfile {
	int		 fd;	/* owned */
	size_t		 refs;	/* locked */
	uint64_t	*at;	/* owned; where members begin, and the end */
	size_t		 n;	/* of members that hold anything */
	size_t		 cap;
	uint64_t	 size;	/* of all that they hold */
	struct slot	 slot[SLOTS]; /* locked, but what FILLING or users
				   reserve */
	uint64_t	 clock;	/* locked */
	pthread_mutex_t	 lock;
	pthread_cond_t	 change;
};

struct gzipsource {
	struct source	 src;
	struct gzipfile	*file;	/* owned, with others */
};

/*
 * Read n bytes of the file.
 */
static int
file_get(int fd, void *buf, size_t n, uint64_t off)
{
	uint8_t *p;
	ssize_t r;

	for (p = buf; n > 0; p += r, off += (uint64_t)r, n -= (size_t)r) {
		r = pread(fd, p, n, (off_t)off);
		if (r == -1 && errno == EINTR)
			r = 0;
		else if (r == -1)
			return errstr_sys("byte %" PRIu64, off);
		else if (r == 0)
			return errstr_set("byte %" PRIu64 ": the file ends "
			    "here", off);
	}
	return 0;
}

/*
 * Note where a member begins; the first place behind them all, too.
 */
static int
table_add(struct gzipfile *f, uint64_t at)
{
	uint64_t *p;
	size_t cap;

	if (f->n == f->cap) {
		cap = f->cap == 0 ? 64 : f->cap * 2;
		if ((p = reallocarray(f->at, cap, sizeof *p)) == NULL)
			return errstr_set("out of memory");
		f->at = p;
		f->cap = cap;
	}
	f->at[f->n++] = at;
	return 0;
}

/*
 * Have the table of members from one byte of a file to another.  1; 0 if
 * they are not a whole stream of ours; -1 for want of memory.
 */
static int
table_read(struct gzipfile *f, uint64_t at, uint64_t end)
{
	uint8_t head[GZIP_HEAD];
	struct gzhead h = { .raw = GZIP_RAW };
	bool partial;

	do {
		partial = h.raw < GZIP_RAW;
		if (table_add(f, at) == -1)
			return -1;
		if (end - at < GZIP_LEAST ||
		    file_get(f->fd, head, sizeof head, at) == -1 ||
		    gzip_head(head, &h) != 1 || h.len > end - at ||
		    (partial && h.raw > 0))
			return 0;
		at += h.len;
		f->size += h.raw;
	} while (h.raw > 0);
	f->n--;			/* the empty one; it is where the others end */
	return at == end;
}

/*
 * A regular file that has a whole compressed stream of ours between two of
 * its bytes: no member of it is looked at but for its header.  1; 0 if it
 * is anything else; or -1.
 */
int
gzipfile_open(struct gzipfile **out, int fd, uint64_t start, uint64_t end)
{
	struct gzipfile *f;
	int rc;

	*out = NULL;
	if ((f = calloc(1, sizeof *f)) == NULL)
		return errstr_set("out of memory");
	f->refs = 1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->change, NULL);
	if ((f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) == -1)
		rc = errstr_sys("descriptor");
	else {
		/* reading ahead would read all between the headers */
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		rc = table_read(f, start, end);
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL);
	}
	if (rc == 1)
		*out = f;
	else
		gzipfile_free(f);
	return rc;
}

/*
 * Let go of it: the last who does frees it.
 */
void
gzipfile_free(struct gzipfile *f)
{
	size_t i, refs;

	if (f == NULL)
		return;
	pthread_mutex_lock(&f->lock);
	refs = --f->refs;
	pthread_mutex_unlock(&f->lock);
	if (refs > 0)
		return;
	for (i = 0; i < SLOTS; i++) {
		if (f->slot[i].inited)
			inflateEnd(&f->slot[i].z);
		free(f->slot[i].raw);
	}
	if (f->fd != -1)
		close(f->fd);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->change);
	free(f->at);
	free(f);
}

/*
 * How many bytes the stream has when it is not compressed.
 */
uint64_t
gzipfile_size(const struct gzipfile *f)
{
	return f->size;
}

/*
 * Read a member into its slot.
 */
static int
slot_fill(struct gzipfile *f, struct slot *s)
{
	struct gzhead h;
	uint8_t *packed;
	size_t len;
	int rc;

	len = (size_t)(f->at[s->member + 1] - f->at[s->member]);
	packed = malloc(len);
	if (s->raw == NULL)
		s->raw = malloc(GZIP_RAW);
	if (!s->inited)
		s->inited = inflateInit2(&s->z, -MAX_WBITS) == Z_OK;
	if (packed == NULL || s->raw == NULL || !s->inited) {
		free(packed);
		return errstr_set("out of memory");
	}
	rc = file_get(f->fd, packed, len, f->at[s->member]);
	if (rc == 0 && (gzip_head(packed, &h) != 1 || h.len != len ||
	    h.raw != (s->member + 1 < f->n ? GZIP_RAW :
	    (f->size - 1) % GZIP_RAW + 1)))
		rc = errstr_set("the file was changed");
	if (rc == 0)
		rc = gzip_unpack(&s->z, packed, &h, s->raw);
	if (rc == -1)
		errstr_wrap("gzip member %zu, at byte %" PRIu64,
		    s->member + 1, f->at[s->member]);
	free(packed);
	return rc;
}

/*
 * The slot that has, or will have, a member, or else the one that is to be
 * given up for it; NULL where all are in use.
 */
static struct slot *
slot_find(struct gzipfile *f, size_t member)
{
	struct slot *s, *old;

	old = NULL;
	for (s = f->slot; s < f->slot + SLOTS; s++) {
		if (s->state != FREE && s->member == member)
			return s;
		if (s->users == 0 && s->state != FILLING && (old == NULL ||
		    s->state == FREE || (old->state != FREE &&
		    s->used < old->used)))
			old = s;
	}
	return old;
}

/*
 * A slot with a member, which stays there until slot_put; or NULL.
 */
static struct slot *
slot_get(struct gzipfile *f, size_t member)
{
	struct slot *s;
	int rc;

	pthread_mutex_lock(&f->lock);
	while ((s = slot_find(f, member)) == NULL || s->state == FILLING)
		pthread_cond_wait(&f->change, &f->lock);
	if (s->state == FREE || s->member != member) {
		s->state = FILLING;
		s->member = member;
		pthread_mutex_unlock(&f->lock);
		rc = slot_fill(f, s);
		pthread_mutex_lock(&f->lock);
		s->state = rc == 0 ? FULL : FREE;
		pthread_cond_broadcast(&f->change);
	}
	if (s->state == FULL) {
		s->users++;
		s->used = ++f->clock;
	} else
		s = NULL;
	pthread_mutex_unlock(&f->lock);
	return s;
}

static void
slot_put(struct gzipfile *f, struct slot *s)
{
	pthread_mutex_lock(&f->lock);
	if (--s->users == 0)
		pthread_cond_broadcast(&f->change);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Read n bytes of the stream by way of a slot that is held, or NULL, and
 * another is held afterwards.
 */
static int
slots_read(struct gzipfile *f, struct slot **held, uint8_t *buf, size_t n,
    uint64_t pos)
{
	size_t member, off, part;

	for (; n > 0 && pos < f->size; buf += part, pos += part, n -= part) {
		member = (size_t)(pos / GZIP_RAW);
		off = (size_t)(pos % GZIP_RAW);
		if (*held != NULL && (*held)->member != member) {
			slot_put(f, *held);
			*held = NULL;
		}
		if (*held == NULL && (*held = slot_get(f, member)) == NULL)
			return -1;
		part = GZIP_RAW - off < n ? GZIP_RAW - off : n;
		if (part > f->size - pos)
			part = (size_t)(f->size - pos);
		memcpy(buf, (*held)->raw + off, part);
	}
	if (n > 0)
		memset(buf, 0, n);
	return 0;
}

/*
 * Read n bytes of the uncompressed stream, zeros where they lie beyond its
 * end.
 */
int
gzipfile_read(struct gzipfile *f, void *buf, size_t n, uint64_t pos)
{
	struct slot *held;
	int rc;

	held = NULL;
	rc = slots_read(f, &held, buf, n, pos);
	if (held != NULL)
		slot_put(f, held);
	return rc;
}

/*
 * Read a kilobyte; one of a snap(6) stream has an r before it.
 */
static int
slots_page(struct gzipfile *f, struct slot **held, uint8_t *buf, uint64_t loc,
    bool tagged)
{
	uint8_t tag;

	if (tagged && slots_read(f, held, &tag, 1, loc - 1) == -1)
		return -1;
	if (tagged && tag != PAGE_TAG)
		return errstr_set("byte %" PRIu64 ": 0x%02x, where a page "
		    "should begin", loc - 1, tag);
	return slots_read(f, held, buf, KB, loc);
}

/*
 * source_ops: read runs.  What is damaged is lost.
 */
static int
gzipsource_read(struct source *src, const struct run *r, size_t n,
    uint8_t *buf)
{
	struct gzipfile *f = ((struct gzipsource *)src)->file;
	struct slot *held;
	uint64_t k;
	size_t i;
	int rc;

	held = NULL;
	for (i = 0, rc = 0; i < n && rc == 0; i++)
		for (k = 0; k < r[i].n && rc == 0; k++, buf += KB)
			rc = slots_page(f, &held, buf, r[i].loc + k *
			    src->pitch, src->pitch == KB + 1);
	if (held != NULL)
		slot_put(f, held);
	return rc == 0 ? SOURCE_OK : SOURCE_LOST;
}

static void
gzipsource_free(struct source *src)
{
	gzipfile_free(((struct gzipsource *)src)->file);
}

static const struct source_ops gzipsource_ops = {
	gzipsource_read, NULL, gzipsource_free
};

/*
 * A source of a snapshot that reads it: locations are places in the
 * uncompressed stream.
 */
struct source *
gzipfile_source(struct snap *s, struct gzipfile *f, const char *name,
    uint32_t pitch)
{
	struct gzipsource *g;

	if ((g = calloc(1, sizeof *g)) == NULL ||
	    (g->src.name = strdup(name)) == NULL) {
		free(g);
		errstr_set("out of memory");
		return NULL;
	}
	pthread_mutex_lock(&f->lock);
	f->refs++;
	pthread_mutex_unlock(&f->lock);
	g->file = f;
	g->src.ops = &gzipsource_ops;
	g->src.pitch = pitch;
	source_add(s, &g->src);
	return &g->src;
}
