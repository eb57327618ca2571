/*
 * System calls that a stopped process is made to run.
 *
 * The caller has stopped all threads of the process with ptrace(2), and
 * nothing but what is asked for here may happen to it between inject_begin
 * and inject_end.  All of it is for the thread that traces.
 */
#ifndef INJECT_H
#define INJECT_H

#include "space.h"

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INJECT_ROOM = 4096 };	/* bytes of scratch memory */

struct inject;
struct vmas;

void		 inject_learn(pid_t, const struct vmas *);
struct inject	*inject_begin(pid_t, bool);
int		 inject_thread(struct inject *, pid_t);
int		 inject_call(struct inject *, int64_t *, long,
		    const uint64_t [6]);
uint64_t	 inject_scratch(const struct inject *);
int		 inject_read(struct inject *, void *, size_t);
int		 inject_write(struct inject *, const void *, size_t);
int		 inject_clone(struct inject *, pid_t *, pid_t *);
int		 inject_willclone(pid_t);
int		 inject_end(struct inject *, int);

#endif
