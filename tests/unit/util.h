/*
 * Functions of the unit tests: random numbers, sources and streams in memory,
 * comparisons of snapshots, and Linux records.
 */
#ifndef UTIL_H
#define UTIL_H

#include "machine.h"
#include "model.h"
#include "library.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Random numbers, the same for the same seed. rng_init() prints the seed.
 * TEST_SEED in the environment replaces it.
 */
struct rng {
	uint64_t	 state;
};

void		 rng_init(struct rng *, const char *, uint64_t);
uint64_t	 rng_next(struct rng *);
uint64_t	 rng_below(struct rng *, uint64_t);
bool		 rng_percent(struct rng *, unsigned int);
void		 rng_bytes(struct rng *, void *, size_t);

/*
 * Return n, multiplied by TIMEFACTOR of the environment if that is set. A loop
 * that waits a millisecond each time uses it as its limit.
 */
int		 timeout(int);

/*
 * Run a command with system(3) and return its result.
 */
int		 shell(const char *, ...) __attribute__((format(printf, 1, 2)));

/*
 * Skip the current test and print the reason, which tests/one adds to its line.
 */
#define skip_because(why) do {						\
	print_message("# skipping: %s\n", why);				\
	skip();								\
} while (0)

/*
 * A source in memory: kilobyte i is at i * pitch. A test may set its own
 * ops.identify, and mark kilobytes as lost.
 */
struct memsource {
	struct source	 src;
	struct source_ops ops;
	uint8_t		*data;
	size_t		 nkb;
	bool		*lost;		/* of each kilobyte */
	bool		 broken;	/* every read fails */
	atomic_ulong	 nread;		/* kilobytes read so far */
	void		*arg;
};

struct memsource *memsource_new(struct snap *, size_t, uint32_t);
uint8_t		*memsource_kb(struct memsource *, size_t);

/*
 * Streams in memory.  A path from stream_file or stream_pipe is good until
 * stream_close.
 */
struct stream {
	char		 path[64];
	int		 fd;
	uint8_t		*data;		/* pipe: data for its writer */
	size_t		 len;
	size_t		 piece;		/* bytes per write */
	int		 to;
	pthread_t	 thread;
	bool		 piped;	/* the thread that writes */
};

void		 stream_file(struct stream *, const void *, size_t);
void		 stream_pipe(struct stream *, const void *, size_t, size_t);
void		 stream_close(struct stream *);
struct snap	*stream_read(const void *, size_t, bool);
int		 try_write(struct snap *, struct buf *);
void		 snap_bytes(struct snap *, struct buf *);
void		 trailer_strip(struct buf *);

/*
 * Read the snapshot in a file and write it as images to a directory.
 */
int		 images_write(const char *, const char *, struct criuopts *,
		    struct criustat *);

/*
 * Set n bytes to a number in the byte order of a machine.
 */
void		 number_put(const struct machine *, uint8_t *, uint64_t,
		    size_t);

/*
 * Snapshots.
 */
void		 segment_bytes(const struct segment *, uint8_t *);
void		 assert_images_equal(struct image *, struct image *);
void		 assert_snaps_equal(struct snap *, struct snap *);
struct snap	*snap_make(struct rng *, bool);
void		 file_set(struct proc *, const char *, const void *, size_t);
struct segment	*segment_add(struct proc *, enum image_kind, uint64_t,
		    uint64_t, struct source *, uint64_t);
void		 assert_contains(const char *, const char *);

/*
 * Fail unless least <= v <= most; all are unsigned.
 */
#define assert_between(v, least, most) \
	assert_between_at(v, least, most, __FILE__, __LINE__)
void		 assert_between_at(uintmax_t, uintmax_t, uintmax_t,
		    const char *, int);

/*
 * Linux records: files are added to a buffer, which is empty at first. All of
 * them are given to a process.
 */
void		 testrec_file(struct buf *, const char *, const void *, size_t);
void		 testrec_text(struct buf *, const char *, const char *);
void		 testrec_give(struct buf *, struct proc *);

#endif
