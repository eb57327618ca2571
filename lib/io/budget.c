/*
 * Limit the memory that a stream can make its reader use. What a stream
 * describes takes at most ten times its bytes. But a compressed stream can
 * expand a thousandfold, and a file with holes without limit, so that a file of
 * two megabytes could fill a machine.
 */
#include "io.h"

#include <unistd.h>

enum { MIN_ROOM = 256 * 1024 * KB, ROOM_TIMES = 64 };

/*
 * Return the number of bytes that regular file fd takes on disk. st is its
 * status. If the file has no holes, return its size, since some file systems
 * update the block count late. The caller must not have read anything from fd
 * yet. The argument from is the offset of fd, which is the same after the call.
 */
uint64_t
room_real(int fd, const struct stat *st, off_t from)
{
	uint64_t size, blocks;
	off_t hole;

	size = st->st_size < 0 ? 0 : (uint64_t)st->st_size;
	blocks = (uint64_t)st->st_blocks * 512;
	if (blocks >= size)
		return size;
	hole = lseek(fd, 0, SEEK_HOLE);
	(void)lseek(fd, from, SEEK_SET);
	return hole == -1 || (uint64_t)hole >= size ? size : blocks;
}

/*
 * Return the number of bytes that were read from the stream, counted before
 * decompression.
 */
uint64_t
input_taken(const struct input *in)
{
	return in->packed != NULL ? in->packed->pos : in->pos;
}

/*
 * Return the maximum number of bytes of memory that the data from the stream
 * may take. If the stream is not a regular file, the maximum grows as the
 * stream is read.
 */
uint64_t
input_room(const struct input *in)
{
	uint64_t real, room;

	real = in->real;
	if (real == UINT64_MAX)
		real = input_taken(in);
	if (__builtin_mul_overflow(real, ROOM_TIMES, &room) ||
	    __builtin_add_overflow(room, MIN_ROOM, &room))
		return UINT64_MAX;
	return room;
}
