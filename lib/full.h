/*
 * Read and write completely, despite short results: full.c.
 */
#ifndef FULL_H
#define FULL_H

#include "model.h"

size_t		 full_pread(int fd, void *buf, size_t len, uint64_t off);
int		 full_readfile(int dir, const char *path, struct buf *b);
int		 full_write(int fd, const void *buf, size_t len);
int		 full_pwrite(int fd, const void *buf, size_t len, uint64_t off);

#endif
