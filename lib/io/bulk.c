/*
 * Bytes of which there may be very many, one piece after another: few are in
 * memory, many in a temporary file.
 */
#include "full.h"
#include "io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BULK_MANY = 8192 * KB,	/* before there is a file */
	BULK_PIECE = 1024 * KB	/* that is written at once */
};

/*
 * Write what is in memory to the file.  Where that has no room any more, all
 * the rest stays in memory.
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
 * Add the n bytes at data to k.  What fails, for the want of memory,
 * bulk_finish tells.
 */
void
bulk_add(struct bulk *k, const void *data, size_t n)
{
	buf_add(&k->b, data, n);
	if (!k->full && k->b.len >= (k->filed > 0 ? BULK_PIECE : BULK_MANY))
		bulk_write(k);
}

/*
 * Put all bytes into memory, as the file could not take them.
 */
static int
bulk_join(struct bulk *k, uint8_t **data)
{
	if ((*data = malloc(k->filed + k->b.len)) == NULL)
		return errstr_set("out of memory");
	errno = EIO;
	if (full_pread(k->fd, *data, k->filed, 0) < k->filed) {
		free(*data);
		return errstr_sys("temporary file");
	}
	memcpy(*data + k->filed, k->b.data, k->b.len);
	return 0;
}

/*
 * Set *data to all bytes, to be freed by data_free, and *len to how many they
 * are: k is empty then.  Return 0; -1 with errstr, and k is empty, too.
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
 * Free what k has gathered, and its file; it is empty then.
 */
void
bulk_free(struct bulk *k)
{
	if (k->filed > 0)
		close(k->fd);
	buf_free(&k->b);
	memset(k, 0, sizeof *k);
}
