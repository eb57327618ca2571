/*
 * Outputs that are complete more than once: the file is whole after each
 * output_publish(), and output_rewind() removes its ending, so that more can be
 * appended. A compressed file keeps all members before the mark, so that a
 * reader finds the bytes before it at any time.
 */
#include "full.h"
#include "model.h"
#include "io/gzip/gzip.h"
#include "outstream.h"

#include <fcntl.h>
#include <unistd.h>

enum { READ_MIB = 64 };		/* MiB of decompressed data to keep in memory */

/*
 * Return how many bytes must be appended to o before output_mark(): 0, or at
 * least the given number. A member of a compressed output must end there.
 */
uint64_t
output_lacks(const struct output *o, uint64_t least)
{
	const uint64_t n = o->gz == NULL ? 0 : -o->pos % GZIP_RAW;

	return n > 0 && n < least ? n + GZIP_RAW : n;
}

/*
 * Write all bytes that were appended to o, and mark their end for
 * output_rewind(). Return 0, or -1 with errstr set.
 */
int
output_mark(struct output *o)
{
	if (output_flush(o) == 0 && o->gz != NULL && gzipout_mark(o->gz) == -1)
		output_fail(o, "compress");
	if (output_check(o) == -1)
		return -1;
	o->markpos = o->pos;
	o->markwritten = o->written;
	return 0;
}

/*
 * Complete o, and give its new file its name. After output_rewind(), more bytes
 * can be appended. output_abort() keeps the file. Return 0, or -1 with errstr
 * set.
 */
int
output_publish(struct output *o)
{
	(void)output_end(o);
	if (!o->failed && !o->published && newfile_finish(&o->file) == -1)
		output_fail(o, "finish");
	o->published = true;
	return output_check(o) == -1 ? -1 :
	    o->reads == NULL ? 0 : gzipfile_again(o->reads, o->written);
}

/*
 * Write the bytes of o, which was published, to its disk. Return 0, or -1 with
 * errstr set.
 */
int
output_sync(struct output *o)
{
	if (!o->failed && fsync(o->fd) == -1)
		output_fail(o, "finish");
	return output_check(o);
}

/*
 * Keep a copy of the bytes that follow the mark in the new file of o.
 */
static int
ending_keep(struct output *o)
{
	const size_t n = (size_t)(o->written - o->markwritten);
	struct buf *b = &o->ending;
	int fd;

	b->len = 0;
	if (buf_room(b, n) == NULL)
		return buf_check(b);
	if ((fd = beneath_reopen(o->fd, O_RDONLY)) == -1)
		return errstr_sys("cannot read the output");
	b->len = full_pread(fd, b->data, n, o->markwritten);
	o->endingat = o->markwritten;
	close(fd);
	return b->len < n ? errstr_set("cannot read the output") : 0;
}

/*
 * Truncate the new file of o at the mark, and append there. Return 0, or -1
 * with errstr set.
 */
int
output_rewind(struct output *o)
{
	o->rewound = false;
	if (output_check(o) == -1 || ending_keep(o) == -1)
		return -1;
	o->rewound = true;
	if (ftruncate(o->fd, (off_t)o->markwritten) == -1 ||
	    lseek(o->fd, (off_t)o->markwritten, SEEK_SET) == -1)
		output_fail(o, "seek");
	if (o->gz != NULL)
		gzipout_rewind(o->gz);
	o->pos = o->markpos;
	o->written = o->markwritten;
	o->ended = false;
	return output_check(o);
}

/*
 * Remove all that was appended to o since output_rewind(), even if a mark is in
 * it, and write what output_rewind() removed. If that failed without a change
 * of the file, do nothing. Nothing more can be appended. Return 0, or -1 with
 * errstr set.
 */
int
output_undo(struct output *o)
{
	if (!o->rewound)
		return 0;
	(void)output_flush(o);
	return ftruncate(o->fd, (off_t)o->endingat) == -1 ||
	    full_pwrite(o->fd, o->ending.data, o->ending.len,
	    o->endingat) == -1 ? errstr_sys("cannot remove a moment") : 0;
}

/*
 * Make a source of snapshot s that reads the bytes before the mark of o, which
 * was published. Its locations are positions in the stream before compression,
 * and its kilobytes are pitch bytes apart. The source remains valid after later
 * marks, until o is freed. Return the source, or NULL with errstr set.
 */
struct source *
output_source(struct output *o, struct snap *s, uint32_t pitch)
{
	static const char name[] = "the output";
	int fd, rc;

	if ((fd = beneath_reopen(o->fd, O_RDONLY)) == -1) {
		errstr_sys("cannot read the output");
		return NULL;
	}
	if (o->gz == NULL)
		return source_file(s, fd, name, pitch);
	rc = gzipfile_open(&o->reads, fd, 0, o->written, false);
	close(fd);
	if (rc != 1) {
		errstr_wrap("cannot read the output");
		return NULL;
	}
	gzipfile_keep(o->reads, READ_MIB);
	return gzipfile_source(s, o->reads, name, pitch);
}
