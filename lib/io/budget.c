/*
 * How much memory a stream may have its reader take.  What a stream tells of
 * takes no more than ten times its bytes.  But a thousand bytes can come out
 * of one that was compressed, and any number from a file that has holes: who
 * makes a file of two megabytes could fill a machine.
 */
#include "io.h"
#include "io/gzip/gzip.h"

#include <unistd.h>

enum { MIN_ROOM = 256 * 1024 * KB, ROOM_TIMES = 64 };

/*
 * Return how many bytes a regular file, of which nothing has been read, has on
 * the disk: it is open as fd at offset from, where it is left, and st tells of
 * it.  Where it has no holes these are all: some file systems know of their
 * blocks only later.
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
 * Return how many bytes were read of stream in, compressed as it is.
 */
uint64_t
input_taken(const struct input *in)
{
	return in->packed != NULL ? in->packed->pos : in->pos;
}

/*
 * Return how many bytes of memory may be taken by what stream in tells of, as
 * far as it was read.
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
