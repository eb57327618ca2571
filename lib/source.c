/*
 * Sources: where the bytes of pages are read from.  Here are those that lie
 * in files, a snapshot or any other regular file, and nowhere.
 */
#include "full.h"
#include "source.h"
#include "vec.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STRIDED = 64		/* kilobytes of a stream read at once */
};

/*
 * Hand source src to snapshot s, which owns it from here on.
 */
void
source_add(struct snap *s, struct source *src)
{
	src->id = ++s->nsource;
	src->next = s->sources;
	s->sources = src;
}

/*
 * Make a source of snapshot s, which owns it, in a struct of size bytes that
 * begins with it and is zero behind it.  It is read by ops, and has kilobytes
 * pitch bytes apart and a copy of name, for messages.  Return that struct, or
 * NULL with errstr.
 */
void *
source_new(struct snap *s, size_t size, const struct source_ops *ops,
    const char *name, uint32_t pitch)
{
	struct source *src;

	if ((src = mem_new(1, size)) == NULL)
		return NULL;
	if ((src->name = str_dup(name)) == NULL) {
		free(src);
		return NULL;
	}
	src->ops = ops;
	src->pitch = pitch;
	source_add(s, src);
	return src;
}

/*
 * Free the source that was added to snapshot s last.
 */
void
source_drop(struct snap *s)
{
	struct source *src;

	if ((src = s->sources) == NULL)
		return;
	s->sources = src->next;
	s->nsource--;
	if (src->ops->free != NULL)
		src->ops->free(src);
	free(src->name);
	free(src);
}

/*
 * Hand all sources of b to a, where they get other numbers.
 */
void
source_move(struct snap *a, struct snap *b)
{
	struct source *src;

	while ((src = b->sources) != NULL) {
		b->sources = src->next;
		source_add(a, src);
	}
	b->nsource = 0;
}

/*
 * Read as source_read, without the name of src in errstr.
 */
int
source_runs(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	int rc;

	if (src->ops->many != NULL)
		return src->ops->many(src, r, n, buf);
	for (rc = SOURCE_OK; n > 0 && rc == SOURCE_OK; n--, r++) {
		rc = src->ops->read(src, r, buf);
		buf += r->n * KB;
	}
	return rc;
}

/*
 * Read the n runs r of kilobytes from src, one after another, into buf (KB
 * bytes for each kilobyte).  Return SOURCE_OK; SOURCE_LOST with errstr, when
 * some of them cannot be read although the source is still there; or -1 with
 * errstr.
 */
int
source_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	int rc;

	rc = source_runs(src, r, n, buf);
	if (rc != SOURCE_OK)
		errstr_wrap("%s", src->name);
	return rc;
}

/*
 * Of len bytes at off of a file that had size bytes when it was opened, n
 * could be read into buf: fill in zeros for those beyond its end.  Return
 * SOURCE_OK; or SOURCE_LOST with errstr, of errno as full_pread sets it.
 */
int
source_rest(uint8_t *buf, size_t n, size_t len, uint64_t off, uint64_t size)
{
	off += n;
	if (n < len && off < size) {
		if (errno == 0)
			errstr_set("byte %ju: the file became shorter",
			    (uintmax_t)off);
		else
			errstr_sys("byte %ju", (uintmax_t)off);
		return SOURCE_LOST;
	}
	memset(buf + n, 0, len - n);
	return SOURCE_OK;
}

/*
 * Read len bytes of a file, zeros where they lie beyond its end.
 */
static int
file_pread(const struct filesource *f, uint8_t *buf, size_t len, uint64_t off)
{
	size_t n;

	n = off < f->size ? full_pread(f->fd, buf, len, off) : 0;
	return source_rest(buf, n, len, off, f->size);
}

/*
 * Read n kilobytes, at most STRIDED, that lie in a snap(6) stream, each with
 * the r before it that makes it a page.  They are read in one piece and copied
 * to their places: a preadv(2) with a place for each costs more.  Return
 * whether that worked.
 */
static bool
read_strided(const struct filesource *f, uint64_t loc, size_t n, uint8_t *buf)
{
	uint8_t piece[STRIDED * (KB + 1)], *p;
	size_t k, len;

	len = n * (KB + 1);
	if (loc == 0 || pread(f->fd, piece, len, (off_t)(loc - 1)) !=
	    (ssize_t)len)
		return false;
	for (k = 0, p = piece; k < n && *p == PAGE_TAG; k++, p += KB + 1)
		memcpy(buf + k * KB, p + 1, KB);
	return k == n;
}

/*
 * Read one kilobyte of such a stream; it may be a short one at its end.
 */
static int
read_tagged(struct filesource *f, uint64_t loc, uint8_t *buf)
{
	uint8_t tag;
	int rc;

	rc = file_pread(f, &tag, 1, loc - 1);
	if (rc == SOURCE_OK && (loc == 0 || tag != PAGE_TAG)) {
		errstr_set("byte %ju: 0x%02x, where a page should begin",
		    (uintmax_t)(loc - 1), tag);
		rc = SOURCE_LOST;
	}
	return rc != SOURCE_OK ? rc : file_pread(f, buf, KB, loc);
}

/*
 * Read run r of the file that src is into buf: source_ops.
 */
int
file_read(struct source *src, const struct run *r, uint8_t *buf)
{
	struct filesource *f = (struct filesource *)src;
	uint64_t i, n, k;
	size_t pitch;
	int rc;

	pitch = f->src.pitch;
	if (pitch == KB)
		return file_pread(f, buf, (size_t)(r->n * KB), r->loc);
	for (i = 0; i < r->n; i += n) {
		n = r->n - i < STRIDED ? r->n - i : STRIDED;
		if (read_strided(f, r->loc + i * pitch, (size_t)n,
		    buf + i * KB))
			continue;
		/* at the end of the file, or an error: which, is told here */
		for (k = i; k < i + n; k++) {
			rc = read_tagged(f, r->loc + k * pitch, buf + k * KB);
			if (rc != SOURCE_OK)
				return rc;
		}
	}
	return SOURCE_OK;
}

/*
 * Set id to identities of n parts, of IDENTITY_KB kilobytes, of a file of size
 * bytes, from loc on; src is the file.  Parts are the same where the offset is:
 * an identity is the source's number and the place, never 0; or 0, of a part
 * that is not whole.
 */
void
source_identify(const struct source *src, uint64_t size, uint64_t loc,
    size_t n, uint64_t *id)
{
	uint64_t end;
	size_t i;

	for (i = 0; i < n; i++, loc += IDENTITY_KB * KB) {
		end = loc + IDENTITY_KB * KB;
		id[i] = loc % (IDENTITY_KB * KB) == 0 && end <= size &&
		    src->id <= UINT16_MAX ?
		    (uint64_t)src->id << 48 | loc / (IDENTITY_KB * KB) : 0;
	}
}

/*
 * Identify parts of a file: source_ops.
 */
static int
file_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	const struct filesource *f = (const struct filesource *)src;

	source_identify(src, f->size, loc, n, id);
	return 0;
}

/*
 * Close the file that src is: source_ops.
 */
void
file_free(struct source *src)
{
	struct filesource *f = (struct filesource *)src;

	close(f->fd);
	free(f->buf);
}

static const struct source_ops file_ops = {
	.read = file_read, .identify = file_identify, .free = file_free
};

/*
 * Make a source of snapshot s that reads the file open as fd, by ops, with
 * kilobytes pitch bytes apart; it has a copy of name, for messages.  Return it,
 * and the descriptor belongs to it; or NULL with errstr when memory runs out,
 * and the descriptor is still the caller's.
 */
struct source *
file_new(struct snap *s, int fd, const char *name, uint32_t pitch,
    const struct source_ops *ops)
{
	struct filesource *f;

	if ((f = source_new(s, sizeof *f, ops, name, pitch)) == NULL)
		return NULL;
	f->fd = fd;
	return &f->src;
}

/*
 * Make a source of snapshot s of the regular file that is open as fd, with
 * kilobytes pitch bytes apart: KB, or KB + 1 in a snap(6) stream.  Locations
 * are offsets in the file; name is for messages.  One file, as long as it does
 * not change, is one source, however often it is asked for.  The descriptor
 * belongs to the source, and is closed on failure too.  Return the source, or
 * NULL with errstr.
 */
struct source *
source_file(struct snap *s, int fd, const char *name, uint32_t pitch)
{
	struct source *src;
	struct filesource *f;
	struct stat st;

	if (fstat(fd, &st) == -1) {
		errstr_sys("%s", name);
		close(fd);
		return NULL;
	}
	for (src = s->sources; src != NULL; src = src->next) {
		f = (struct filesource *)src;
		if (src->ops == &file_ops && src->pitch == pitch &&
		    f->dev == st.st_dev && f->ino == st.st_ino &&
		    f->size == (uint64_t)st.st_size &&
		    f->changed.tv_sec == st.st_ctim.tv_sec &&
		    f->changed.tv_nsec == st.st_ctim.tv_nsec) {
			close(fd);
			return src;
		}
	}
	if ((src = file_new(s, fd, name, pitch, &file_ops)) == NULL) {
		close(fd);
		return NULL;
	}
	f = (struct filesource *)src;
	f->size = (uint64_t)st.st_size;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->changed = st.st_ctim;
	return src;
}

/*
 * Return the descriptor of src, a file source or a spool, which keeps it.
 */
int
source_fd(const struct source *src)
{
	return ((const struct filesource *)src)->fd;
}

/*
 * Return the length of src, a file source or a spool, in bytes.
 */
uint64_t
source_size(const struct source *src)
{
	return ((const struct filesource *)src)->size;
}

/*
 * Find where the data of file src are, at or behind byte at: set *start and
 * *end (exclusive) to a run that may be not all zero, the rest being holes
 * (lseek(2), SEEK_DATA).  Return false where there are none up to the end of
 * the file.
 */
bool
source_data(const struct source *src, uint64_t at, uint64_t *start,
    uint64_t *end)
{
	const struct filesource *f = (const struct filesource *)src;
	off_t data, hole;

	if (at >= f->size)
		return false;
	data = lseek(f->fd, (off_t)at, SEEK_DATA);
	if (data == -1 && errno == ENXIO)
		return false;
	if (data == -1 || (uint64_t)data < at)
		data = (off_t)at;	/* no such thing here: all is data */
	hole = lseek(f->fd, data, SEEK_HOLE);
	*start = (uint64_t)data;
	*end = hole <= data ? f->size : (uint64_t)hole;
	return *start < f->size;
}

static int
nothing_read(struct source *src, const struct run *r, uint8_t *buf)
{
	(void)src;
	(void)r;
	(void)buf;
	return errstr_set("page data was not kept");
}

static const struct source_ops nothing_ops = { .read = nothing_read };

/*
 * Make a source of snapshot s whose bytes were never kept: every read fails.
 * Return it, or NULL with errstr.
 */
struct source *
source_nothing(struct snap *s)
{
	return source_new(s, sizeof(struct source), &nothing_ops, "stream",
	    KB + 1);
}
