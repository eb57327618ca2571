/*
 * Sources: places from which the bytes of pages are read. This file has
 * sources that are files (a snapshot or any other regular file), and one whose
 * bytes were not kept.
 */
#include "full.h"
#include "source.h"
#include "vec.h"

#include <unistd.h>

enum {
	STRIDED = 64		/* maximum number of kilobytes to read from a
				   stream at once */
};

/*
 * Add source src to snapshot s, which then owns it.
 */
void
source_add(struct snap *s, struct source *src)
{
	src->id = ++s->nsource;
	src->next = s->sources;
	s->sources = src;
}

/*
 * Make a source of snapshot s, which owns it. It is a struct of size bytes
 * whose first member is a struct source; the other bytes are zero. It is read
 * with ops, and its kilobytes are pitch bytes apart. name is for messages, and
 * is copied. Return the struct, or NULL with errstr set.
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
 * Free the source added last to snapshot s.
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
 * Move all sources of snapshot b to snapshot a, and renumber them.
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
 * Read runs as source_read() does, but do not prefix errstr with the name of
 * src.
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
 * Read the n runs r of kilobytes from src into buf, one after another. Return
 * SOURCE_OK on success. Return SOURCE_LOST with errstr set if some kilobytes
 * cannot be read but the source still works. Return -1 with errstr set on other
 * errors.
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
 * Finish a read of len bytes at offset off of a file into buf. full_pread() has
 * read the first n of them, and errno must still be as it left it. The file had
 * size bytes when it was opened; bytes of buf beyond that become zero. Return
 * SOURCE_OK, or SOURCE_LOST with errstr set if bytes of the file are missing.
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
 * Read len bytes at offset off of file f into buf. Bytes of buf beyond the end
 * of the file become zero.
 */
static int
file_pread(const struct filesource *f, uint8_t *buf, size_t len, uint64_t off)
{
	size_t n;

	n = off < f->size ? full_pread(f->fd, buf, len, off) : 0;
	return source_rest(buf, n, len, off, f->size);
}

/*
 * Read n kilobytes, at most STRIDED, of a snap(6) stream, where PAGE_TAG
 * precedes each. Read all with one pread(2), and copy them to their places.
 * This is faster than preadv(2) with a buffer for each. Return false if the
 * read fails or a tag is missing.
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
 * Read one kilobyte of a snap(6) stream into buf, and pad a short last one with
 * zeros.
 */
static int
read_tagged(struct filesource *f, uint64_t loc, uint8_t *buf)
{
	uint8_t tag;
	int rc;

	rc = file_pread(f, &tag, 1, loc - 1);
	if (rc == SOURCE_OK && (loc == 0 || tag != PAGE_TAG)) {
		errstr_set("byte %ju: expected a page, found 0x%02x",
		    (uintmax_t)(loc - 1), tag);
		rc = SOURCE_LOST;
	}
	return rc != SOURCE_OK ? rc : file_pread(f, buf, KB, loc);
}

/*
 * Read run r of file source src into buf. This is the callback called "read" in
 * struct source_ops.
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
		/* end of file or error: find out which */
		for (k = i; k < i + n; k++) {
			rc = read_tagged(f, r->loc + k * pitch, buf + k * KB);
			if (rc != SOURCE_OK)
				return rc;
		}
	}
	return SOURCE_OK;
}

/*
 * Set id to the identities of n consecutive parts of src, a file of size bytes.
 * The first part starts at byte loc. Each part has IDENTITY_KB kilobytes. An
 * identity combines the number of the source and the offset of the part. It is
 * 0, which means none, if the part is short or not aligned, or if the number
 * exceeds 16 bits.
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
 * Set id to the identities of n consecutive parts of file source src. The first
 * part starts at byte loc. This is the callback called "identify" in struct
 * source_ops.
 */
static int
file_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	const struct filesource *f = (const struct filesource *)src;

	source_identify(src, f->size, loc, n, id);
	return 0;
}

/*
 * Close file source src. This is the callback called "free" in struct
 * source_ops.
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
 * Make a source of snapshot s that reads file fd with ops. Its kilobytes are
 * pitch bytes apart. name is for messages, and is copied. Return the source,
 * which then owns fd. If memory runs out, return NULL with errstr set; the
 * caller then still owns fd.
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
 * Return a source of snapshot s for the regular file fd. Its kilobytes are
 * pitch bytes apart: KB, or KB + 1 for a snap(6) stream. Its locations are byte
 * offsets in the file. name is for messages. Calls for the same unchanged file
 * return the same source. The source takes ownership of fd, which is closed
 * even on failure. Return NULL with errstr set on failure.
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
 * Set the size of src, a file source, to size bytes, which its file has now.
 */
void
source_resize(struct source *src, uint64_t size)
{
	((struct filesource *)src)->size = size;
}

/*
 * Return the descriptor of src, a file source or spool. src still owns it.
 */
int
source_fd(const struct source *src)
{
	return ((const struct filesource *)src)->fd;
}

/*
 * Return the length in bytes of src, a file source or spool.
 */
uint64_t
source_size(const struct source *src)
{
	return ((const struct filesource *)src)->size;
}

/*
 * Find the next run of data of file source src, at or after offset off
 * (SEEK_DATA of lseek(2)). Set *start and *end (exclusive) to its bounds.
 * Return false if there is no more data.
 */
bool
source_data(const struct source *src, uint64_t off, uint64_t *start,
    uint64_t *end)
{
	const struct filesource *f = (const struct filesource *)src;
	off_t data, hole;

	data = lseek(f->fd, (off_t)off, SEEK_DATA);
	if (data == -1 && errno == ENXIO)
		return false;
	if (data == -1 || (uint64_t)data < off)
		data = (off_t)off; /* SEEK_DATA is not supported: treat all
				      bytes as data */
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
 * Make a source of snapshot s for bytes that were not kept. Every read from it
 * fails. Return the source, or NULL with errstr set if memory runs out.
 */
struct source *
source_nothing(struct snap *s)
{
	return source_new(s, sizeof(struct source), &nothing_ops, "stream",
	    KB + 1);
}
