/*
 * Read a compressed stream that we wrote (member.c) at random, from a regular
 * file: table.c finds its members; their contents are cached in slots, and
 * several threads may read at once. The states of a slot:
 *
 *	FREE		has no member
 *	FILLING		a thread reads a member into it
 *	FULL		has a member, which stays while it has users
 *
 * A member that is damaged is decompressed once.
 *
 * There are FIRST_SLOTS slots, enough to read the stream sequentially, and one
 * more, up to the maximum, whenever a member must be read again after it was
 * dropped.
 */
#include "gzip.h"
#include "vec.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum {
	MIN_SLOTS = 4,
	FIRST_SLOTS = 16,
	MAX_SLOTS = 256
};

enum state { FREE, FILLING, FULL };

struct slot {
	enum state	 state;
	size_t		 member;
	size_t		 users;
	uint64_t	 used; /* value of the member "clock" when the slot was
				  last used */
	uint8_t		*raw;	/* owned; GZIP_RAW bytes, NULL before use */
};

struct gzipfile {
	int		 fd;	/* owned */
	size_t		 refs;	/* number of references; under lock */
	struct gziptable t;	/* owned */
	struct slot	**in;	/* owned; for each member, the slot that has it
				   or is being filled with it; NULL: no slot;
				   under lock */
	bool		*had;	/* owned; for each member, whether a slot had
				   it before; under lock */
	char		**why;	/* owned; for each member, why it is damaged;
				   NULL: not known to be; under lock */
	size_t		 nwhy;	/* number of elements of "why" */
	bool		 damaged; /* the table was built from a damaged
				     stream */
	struct slot	*slot;	/* owned; MAX_SLOTS slots; under lock, except
				   slots that are FILLING or have users */
	size_t		 nslot;	/* number of slots in use; under lock */
	size_t		 maxslot; /* limit on "nslot", at most MAX_SLOTS */
	uint64_t	 clock;	/* counts the uses of slots; under lock */
	pthread_mutex_t	 lock;
	pthread_cond_t	 change;
};

/*
 * Free what f has for each member.
 */
static void
slots_free(struct gzipfile *f)
{
	size_t i;

	for (i = 0; f->why != NULL && i < f->nwhy; i++)
		free(f->why[i]);
	free(f->why);
	free(f->in);
	free(f->had);
}

/*
 * Mark all slots of f as free, and prepare f for a stream with the given number
 * of members.
 */
static int
slots_reset(struct gzipfile *f, size_t members)
{
	struct slot **in;
	char **why;
	bool *had;
	size_t i;

	in = calloc(members + 1, sizeof *in);
	had = calloc(members + 1, sizeof *had);
	why = calloc(members + 1, sizeof *why);
	if (in == NULL || had == NULL || why == NULL) {
		free(in);
		free(had);
		free(why);
		return -1;
	}
	for (i = 0; i < MAX_SLOTS; i++)
		f->slot[i].state = FREE;
	slots_free(f);
	f->in = in;
	f->had = had;
	f->why = why;
	f->nwhy = members + 1;
	return 0;
}

/*
 * Open a gzip stream that we wrote. It is in regular file fd, from offset start
 * up to offset end. This reads only the headers of members. If salvage is set,
 * the stream may be damaged; the contents of damaged members cannot be read.
 * Return 1 with *out set, 0 if we did not write the stream, or -1 with errstr
 * set.
 */
int
gzipfile_open(struct gzipfile **out, int fd, uint64_t start, uint64_t end,
    bool salvage)
{
	struct gzipfile *f;
	int rc;

	*out = NULL;
	if ((f = mem_new(1, sizeof *f)) == NULL)
		return -1;
	f->refs = 1;
	f->nslot = FIRST_SLOTS;
	f->maxslot = MAX_SLOTS;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->change, NULL);
	if ((f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) == -1)
		rc = errstr_sys("descriptor");
	else {
		/* avoid read-ahead between the headers */
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		rc = gziptable_read(&f->t, f->fd, start, end);
		f->damaged = rc == 0;
		if (rc == 0 && salvage)
			rc = gziptable_salvage(&f->t, f->fd, start, end);
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL);
	}
	f->slot = calloc(MAX_SLOTS, sizeof *f->slot);
	if (rc == 1 && (f->slot == NULL || slots_reset(f, f->t.n) == -1))
		rc = errstr_set("out of memory");
	if (rc == 1)
		*out = f;
	else
		gzipfile_free(f);
	return rc;
}

/*
 * Find the members of f again, up to offset end, after more were written. The
 * caller must ensure that no thread is reading f. Return 0, or -1 with errstr
 * set.
 */
int
gzipfile_again(struct gzipfile *f, uint64_t end)
{
	const uint64_t start = f->t.at[0];
	int rc;

	free(f->t.at);
	f->t = (struct gziptable){ .at = NULL };
	if ((rc = gziptable_read(&f->t, f->fd, start, end)) == 0)
		return errstr_set("the members of the file are damaged");
	return rc == -1 ? -1 : slots_reset(f, f->t.n) == -1 ?
	    errstr_set("out of memory") : 0;
}

/*
 * Add a reference to f, and return f. gzipfile_free() drops the reference.
 */
struct gzipfile *
gzipfile_share(struct gzipfile *f)
{
	pthread_mutex_lock(&f->lock);
	f->refs++;
	pthread_mutex_unlock(&f->lock);
	return f;
}

/*
 * Drop a reference to f, which may be NULL. Free f when the last one is
 * dropped.
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
	for (i = 0; f->slot != NULL && i < MAX_SLOTS; i++)
		free(f->slot[i].raw);
	fd_drop(f->fd);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->change);
	free(f->t.at);
	slots_free(f);
	free(f->slot);
	free(f);
}

/*
 * Keep in memory at most mib MiB of the decompressed data of f, but at least
 * MIN_SLOTS members. The caller must ensure that no thread is reading f.
 */
void
gzipfile_keep(struct gzipfile *f, size_t mib)
{
	const size_t n = mib * KB * KB / GZIP_RAW;
	size_t i;

	f->maxslot = n < MIN_SLOTS ? MIN_SLOTS : n < MAX_SLOTS ? n : MAX_SLOTS;
	if (f->nslot > f->maxslot)
		f->nslot = f->maxslot;
	for (i = f->maxslot; i < MAX_SLOTS; i++) {
		if (f->slot[i].state == FULL)
			f->in[f->slot[i].member] = NULL;
		f->slot[i].state = FREE;
		free(f->slot[i].raw);
		f->slot[i].raw = NULL;
	}
}

/*
 * Return the decompressed size of stream f in bytes.
 */
uint64_t
gzipfile_size(const struct gzipfile *f)
{
	return f->t.size;
}

/*
 * Increase the size of f, a damaged stream, by the given number of bytes. The
 * caller must know from another source that so many bytes are missing from the
 * members of f, and must ensure that no thread is reading f. The added bytes
 * cannot be read. Return 0, or -1 with errstr set.
 */
int
gzipfile_widen(struct gzipfile *f, uint64_t bytes)
{
	uint64_t more;

	more = bytes / GZIP_RAW;
	if (!f->damaged || bytes % GZIP_RAW != 0 || more >
	    (f->t.at[f->t.n] - f->t.at[0]) / (GZIP_RAW / GZIP_RATIO))
		return errstr_set("members are missing");
	if (more > SIZE_MAX - f->t.n ||
	    slots_reset(f, (size_t)(f->t.n + more)) == -1 ||
	    gziptable_widen(&f->t, more) == -1)
		return errstr_set("out of memory");
	return 0;
}

/*
 * Decompress a member of f into raw, which has room for GZIP_RAW bytes. Set
 * *damaged if its bytes were read but could not be decompressed. Return 0, or
 * -1 with errstr set.
 */
int
gzipfile_member(const struct gzipfile *f, size_t member, uint8_t *raw,
    bool *damaged)
{
	const uint64_t *at = f->t.at + member;
	struct gzhead h;
	int rc;

	rc = gzip_read(f->fd, at[0], at[1] - at[0], &h, raw, damaged);
	if (rc == 0 && h.raw != (member + 1 < f->t.n ? GZIP_RAW :
	    (f->t.size - 1) % GZIP_RAW + 1))
		rc = errstr_set("its header is damaged");
	if (rc == -1)
		errstr_wrap("gzip member %zu, at byte %" PRIu64, member + 1,
		    at[0]);
	return rc;
}

/*
 * Return a slot for a member that has none. This is a free slot, or the least
 * recently used one. If the member had a slot before, there are too few slots,
 * so first allow one more. Return NULL if all slots are in use.
 */
static struct slot *
slot_new(struct gzipfile *f, size_t member)
{
	struct slot *s, *old;

	if (f->had[member] && f->nslot < f->maxslot)
		f->nslot++;
	old = NULL;
	for (s = f->slot; s < f->slot + f->nslot; s++)
		if (s->users == 0 && s->state != FILLING && (old == NULL ||
		    s->state == FREE || (old->state != FREE &&
		    s->used < old->used)))
			old = s;
	if (old == NULL)
		return NULL;
	if (old->state == FULL)
		f->in[old->member] = NULL;
	old->state = FREE;
	old->member = member;
	return old;
}

/*
 * Load the member of slot s into the slot. The caller must hold the lock, which
 * is released during the read.
 */
static int
slot_load(struct gzipfile *f, struct slot *s)
{
	bool damaged;
	int rc;

	damaged = false;
	s->state = FILLING;
	f->in[s->member] = s;
	pthread_mutex_unlock(&f->lock);
	if (s->raw == NULL && (s->raw = malloc(GZIP_RAW)) == NULL)
		rc = errstr_set("out of memory");
	else
		rc = gzipfile_member(f, s->member, s->raw, &damaged);
	pthread_mutex_lock(&f->lock);
	s->state = rc == 0 ? FULL : FREE;
	if (rc == 0)
		f->had[s->member] = true;
	else
		f->in[s->member] = NULL;
	if (damaged)
		f->why[s->member] = strdup(snap_errstr());
	pthread_cond_broadcast(&f->change);
	return rc;
}

/*
 * Return a slot that contains the member, or NULL with errstr set. The member
 * stays there until slot_put().
 */
static struct slot *
slot_get(struct gzipfile *f, size_t member)
{
	struct slot *s;

	pthread_mutex_lock(&f->lock);
	while (f->why[member] == NULL && (((s = f->in[member]) == NULL &&
	    (s = slot_new(f, member)) == NULL) || s->state == FILLING))
		pthread_cond_wait(&f->change, &f->lock);
	if (f->why[member] != NULL) {
		(void)errstr_set("%s", f->why[member]);
		s = NULL;
	} else if (s->state == FULL || slot_load(f, s) == 0) {
		s->users++;
		s->used = ++f->clock;
	} else
		s = NULL;
	pthread_mutex_unlock(&f->lock);
	return s;
}

/*
 * Drop one use of slot s of f. The member of a slot without uses may be
 * replaced.
 */
void
slot_put(struct gzipfile *f, struct slot *s)
{
	pthread_mutex_lock(&f->lock);
	if (--s->users == 0)
		pthread_cond_broadcast(&f->change);
	pthread_mutex_unlock(&f->lock);
}

/*
 * Read n bytes at decompressed position pos of stream f into buf. Bytes beyond
 * the end of f read as zeros. *held must be a slot that the caller has in use,
 * or NULL. It is replaced with the last slot that was needed. Return 0, or -1
 * with errstr set.
 */
int
slots_read(struct gzipfile *f, struct slot **held, uint8_t *buf, size_t n,
    uint64_t pos)
{
	size_t member, off, part;

	for (; n > 0 && pos < f->t.size; buf += part, pos += part, n -= part) {
		member = (size_t)(pos / GZIP_RAW);
		off = (size_t)(pos % GZIP_RAW);
		if (*held != NULL && (*held)->member != member) {
			slot_put(f, *held);
			*held = NULL;
		}
		if (*held == NULL && (*held = slot_get(f, member)) == NULL)
			return -1;
		part = GZIP_RAW - off < n ? GZIP_RAW - off : n;
		if (part > f->t.size - pos)
			part = (size_t)(f->t.size - pos);
		memcpy(buf, (*held)->raw + off, part);
	}
	if (n > 0)
		memset(buf, 0, n);
	return 0;
}

/*
 * Decompress up to n bytes from the start of stream f into buf, even if the
 * first member is damaged. Return the number of bytes.
 */
size_t
gzipfile_guess(struct gzipfile *f, void *buf, size_t n)
{
	z_stream z = { 0 };
	uint64_t span;
	uint8_t *packed;
	size_t len;

	span = f->t.at[1] - f->t.at[0];
	len = span < MAX_GZIP ? (size_t)span : MAX_GZIP;
	packed = malloc(len);
	if (packed == NULL || len < MIN_GZIP ||
	    gzip_get(f->fd, packed, len, f->t.at[0]) == -1 ||
	    inflateInit2(&z, -MAX_WBITS) != Z_OK) {
		free(packed);
		return 0;
	}
	z.next_in = packed + GZIP_HEAD;
	z.avail_in = (uInt)(len - GZIP_HEAD);
	z.next_out = buf;
	z.avail_out = (uInt)n;
	(void)inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	free(packed);
	return n - z.avail_out;
}
