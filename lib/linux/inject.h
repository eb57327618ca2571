/*
 * System calls that a stopped process is made to run.
 *
 * Of the process there must be a thread that the caller has stopped with
 * ptrace(2), and nothing but what is asked for here may happen to it between
 * inject_begin and inject_end.  The calls are made by the thread that traces.
 */
#ifndef INJECT_H
#define INJECT_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

enum { INJECT_ROOM = 4096 };	/* bytes of scratch memory */

struct inject;

struct inject	*inject_begin(pid_t, pid_t);
int		 inject_thread(struct inject *, pid_t);
int		 inject_call(struct inject *, int64_t *, long, ...);
uint64_t	 inject_scratch(const struct inject *);
int		 inject_read(struct inject *, void *, size_t);
int		 inject_write(struct inject *, const void *, size_t);
int		 inject_clone(struct inject *, pid_t *);
int		 inject_end(struct inject *);

#endif
