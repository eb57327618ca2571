/*
 * Shared by the files that write a minidump:
 *
 *	minidump.c	threads, memory and the other streams
 *	dumppart.c	its directory, strings and modules
 *	context.c	registers of a thread
 */
#ifndef MINIDUMP_H
#define MINIDUMP_H

#include "write.h"

enum {
	HEADER = 32,
	ENTRY = 12,		/* bytes of an entry of the directory */
	CONTEXT = 1232		/* bytes of an amd64 context */
};

enum stream {
	THREAD_LIST = 3,
	MODULE_LIST = 4,
	MEMORY_LIST = 5,
	EXCEPTION = 6,
	SYSTEM_INFO = 7,
	MEMORY64_LIST = 9,
	MISC_INFO = 15,
	LINUX_STATUS = 0x47670004,
	LINUX_CMDLINE = 0x47670006,
	LINUX_AUXV = 0x47670008,
	LINUX_MAPS = 0x47670009
};

struct dump {
	struct core	*core;	/* borrowed; core->part has the stacks, in the
				   order of the threads that have one, and then
				   the parts of a full minidump */
	struct coreloads all;	/* owned; the captured memory */
	bool		 full;	/* have all memory in the minidump */
	struct buf	*b;	/* borrowed; core->head */
	const struct corethreads *t; /* borrowed */
	const struct vmas *v;	/* borrowed */
	size_t		*stack;	/* owned; index of the part with the stack of
				   each thread, or SIZE_MAX */
	size_t		 contexts; /* offset of the first context */
	size_t		 nstream;
};

/* dumppart.c */
void		 add_zeros(struct buf *b, size_t n);
void		 pad_add(struct buf *b);
void		 put_at(struct buf *b, size_t at, uint64_t v, size_t n);
void		 stream_add(struct dump *d, enum stream type, size_t at);
void		 string_add(struct buf *b, const char *s);
int		 modules_add(struct dump *d, struct image *mem);

/* context.c */
void		 context_add(struct buf *b, const struct coreregs *r);

#endif
