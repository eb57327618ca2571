/*
 * Shared code of sources that read files: source.c, io/spool.c and
 * io/gzip/source.c.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "model.h"

enum { PAGE_TAG = 'r' };	/* byte that precedes each page of a stream; see
				   snap(6) */

struct filesource {
	struct source	 src;
	int		 fd;	/* owned */
	uint64_t	 size;	/* size of the file when it was opened; bytes
				   beyond this size are zero */
	dev_t		 dev;
	ino_t		 ino;
	struct timespec	 changed; /* ctime of the file, the only difference
				     between System V segments in two IPC
				     namespaces */
	uint8_t		*buf;	/* owned; buffer of a spool that is being
				   filled */
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
