/*
 * Very long sequences of bytes, appended in pieces: kept in memory while they
 * are short, then in a temporary file.
 */
#include "full.h"
#include "io.h"

#include <unistd.h>

enum {
	BULK_MANY = 8192 * KB,	/* number of bytes kept in memory before a file
				   is made */
	BULK_PIECE = 1024 * KB	/* number of bytes per write to the file */
};

/*
 * Append the buffered bytes to the file. If that fails, set k->full, and keep
 * all later bytes in memory.
 */
static void
bulk_write(struct bulk *k)
{
	if (k->filed == 0 && (k->fd = spool_file()) == -1)
		k->full = true;
	else if (full_pwrite(k->fd, k->b.data, k->b.len, k->filed) == -1) {
		k->full = true;
		if (k->filed == 0)
			close(k->fd);
	} else {
		k->filed += k->b.len;
		k->b.len = 0;
	}
}

/*
 * Append the n bytes at data to k. bulk_finish() reports errors.
 */
void
bulk_add(struct bulk *k, const void *data, size_t n)
{
	buf_add(&k->b, data, n);
	if (!k->full && k->b.len >= (k->filed > 0 ? BULK_PIECE : BULK_MANY))
		bulk_write(k);
}

/*
 * Set *data to a new allocation with all bytes of k, first those in the file,
 * then those in memory.
 */
static int
bulk_join(struct bulk *k, uint8_t **data)
{
	if ((*data = malloc(k->filed + k->b.len)) == NULL)
		return errstr_set("out of memory");
	if (full_pread(k->fd, *data, k->filed, 0) < k->filed) {
		free(*data);
		errno = errno == 0 ? EIO : errno;
		return errstr_sys("temporary file");
	}
	memcpy(*data + k->filed, k->b.data, k->b.len);
	return 0;
}

/*
 * Set *data to all bytes of k, and *len to their number. Leave k empty, even on
 * failure. The caller frees *data with data_free(). Return 0, or -1 with errstr
 * set.
 */
int
bulk_finish(struct bulk *k, uint8_t **data, size_t *len)
{
	int rc;

	*len = k->filed + k->b.len;
	*data = NULL;
	if (k->filed > 0 && !k->full && k->b.len > 0)
		bulk_write(k);
	if ((rc = buf_check(&k->b)) == 0 && k->filed == 0) {
		*data = k->b.data;
		k->b.data = NULL;
	} else if (rc == 0 && k->b.len > 0)
		rc = bulk_join(k, data);
	else if (rc == 0)
		rc = (*data = data_map(k->fd, k->filed)) == NULL ? -1 : 0;
	bulk_free(k);
	return rc;
}

/*
 * Free the bytes of k, close its file, and leave k empty.
 */
void
bulk_free(struct bulk *k)
{
	if (k->filed > 0)
		close(k->fd);
	buf_free(&k->b);
	memset(k, 0, sizeof *k);
}
