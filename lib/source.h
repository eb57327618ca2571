/*
 * What the sources that read files share: source.c, io/spool.c and
 * io/gzip/source.c.
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

int		 file_read(struct source *src, const struct run *r,
		    uint8_t *buf);
void		 file_free(struct source *src);
int		 source_rest(uint8_t *buf, size_t n, size_t len, uint64_t off,
		    uint64_t size);
void		 source_identify(const struct source *src, uint64_t size,
		    uint64_t loc, size_t n, uint64_t *id);
int		 spool_file(void);
struct source	*file_new(struct snap *s, int fd, const char *name,
		    uint32_t pitch, const struct source_ops *ops);

#endif
