/*
 * What the sources that read files share: source.c, spool.c and io/gzip/source.c.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "model.h"

enum { PAGE_TAG = 'r' };	/* before a page of a stream: snap(6) */

struct filesource {
	struct source	 src;
	int		 fd;	/* owned */
	uint64_t	 size;	/* when opened; beyond it, bytes are zero */
	dev_t		 dev;
	ino_t		 ino;
	struct timespec	 changed; /* two segments of System V shared memory,
				   of two IPC namespaces, differ in no more */
	uint8_t		*buf;	/* owned; of a spool that is being filled */
	size_t		 nbuf;
};

int		 file_read(struct source *, const struct run *, size_t,
		    uint8_t *);
void		 file_free(struct source *);
int		 source_rest(uint8_t *, size_t, size_t, uint64_t, uint64_t);
void		 source_identify(const struct source *, uint64_t, uint64_t,
		    size_t, uint64_t *);
struct source	*file_new(struct snap *, int, const char *, uint32_t,
		    const struct source_ops *);

#endif
