/*
 * Read and cache values of page frames from /proc/kpagecount or
 * /proc/kpageflags. Requested frames that are near each other are read
 * together, and frames that several processes map are read once.
 */
#include "pages.h"
#include "vec.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	BLOCK = 4096,		/* number of page frames per block */
	BLOCKS_MAX = 1 << 24,	/* maximum number of blocks: 2^36 page frames */
	BRIDGE = 2 /* maximum number of unrequested frames read to save a
		      call */
};

enum { WANTED = 1, KNOWN };	/* states of a page frame; 0: it is in neither
				   state */

struct block {
	uint8_t		 state[BLOCK];
	uint64_t	 v[BLOCK];
};

struct frames {
	int		 fd;
	char		 name[24];
	struct block	**block; /* owned; blocks of values; NULL: no frame of
				    the block was requested */
	size_t		 n;
};

/*
 * Open the file called name in /proc, which has a 64-bit value for each page
 * frame. Return a structure for reading it, which lives as long as the program.
 * Return NULL with errno and errstr set on failure.
 */
struct frames *
frames_open(const char *name)
{
	struct frames *f;
	char path[64];

	if ((f = mem_new(1, sizeof *f)) == NULL)
		return NULL;
	strlcpy(f->name, name, sizeof f->name);
	snprintf(path, sizeof path, "/proc/%s", name);
	if ((f->fd = open(path, O_RDONLY | O_CLOEXEC)) == -1) {
		(void)errstr_sys("%s", path);
		free(f);
		return NULL;
	}
	return f;
}

static struct block *
frames_block(struct frames *f, uint64_t i)
{
	struct block **v;
	size_t n;

	if (i >= BLOCKS_MAX) {
		(void)errstr_set("%s: page frame number out of range", f->name);
		return NULL;
	}
	if (i >= f->n) {
		n = (size_t)i + 256;
		if ((v = reallocarray(f->block, n, sizeof(*v))) == NULL) {
			(void)errstr_set("out of memory");
			return NULL;
		}
		memset(v + f->n, 0, (n - f->n) * sizeof(*v));
		f->block = v;
		f->n = n;
	}
	if (f->block[i] == NULL)
		f->block[i] = mem_new(1, sizeof **f->block);
	return f->block[i];
}

/*
 * Return the index of the first requested page frame in block b at or after
 * index i. Return BLOCK if there is none.
 */
static size_t
wanted_next(const struct block *b, size_t i)
{
	const uint8_t *p = memchr(b->state + i, WANTED, BLOCK - i);

	return p == NULL ? BLOCK : (size_t)(p - b->state);
}

/*
 * Request from f the value of the page frame with the number frame. Requested
 * values are read together later. Return 0, or -1 with errstr set.
 */
int
frames_want(struct frames *f, uint64_t frame)
{
	struct block *b;

	if ((b = frames_block(f, frame / BLOCK)) == NULL)
		return -1;
	if (b->state[frame % BLOCK] != KNOWN)
		b->state[frame % BLOCK] = WANTED;
	return 0;
}

/*
 * Read the requested values of block b, which begins at page frame number
 * first.
 */
static int
block_read(const struct frames *f, struct block *b, uint64_t first)
{
	size_t i, end, next;

	for (i = wanted_next(b, 0); i < BLOCK; i = next) {
		for (end = i + 1; (next = wanted_next(b, end)) < BLOCK &&
		    next - end <= BRIDGE;)
			end = next + 1;
		if (pread(f->fd, b->v + i, (end - i) * sizeof *b->v,
		    (off_t)((first + i) * sizeof *b->v)) == -1)
			return errstr_sys("/proc/%s", f->name);
		memset(b->state + i, KNOWN, end - i);
	}
	return 0;
}

/*
 * Set *value to the value that f has for the page frame with the number frame.
 * Set *value to 0 if the frame is beyond the end of memory. Return 0, or -1
 * with errstr set.
 */
int
frames_get(struct frames *f, uint64_t frame, uint64_t *value)
{
	struct block *b;

	if ((b = frames_block(f, frame / BLOCK)) == NULL)
		return -1;
	if (b->state[frame % BLOCK] != KNOWN) {
		b->state[frame % BLOCK] = WANTED;
		if (block_read(f, b, frame / BLOCK * BLOCK) == -1)
			return -1;
	}
	*value = b->v[frame % BLOCK];
	return 0;
}

/*
 * Set *value to the value that f has for the page frame with the number frame.
 * Unlike frames_get(), do not cache the value. Return 0, or -1 with errstr set.
 */
int
frames_once(const struct frames *f, uint64_t frame, uint64_t *value)
{
	*value = 0;
	return pread(f->fd, value, sizeof *value,
	    (off_t)(frame * sizeof *value)) == -1 ?
	    errstr_sys("/proc/%s", f->name) : 0;
}
