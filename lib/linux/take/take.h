/*
 * Taking what is stopped.
 */
#ifndef TAKE_H
#define TAKE_H

#include "linux/set/set.h"
#include "space.h"

/* take.c */
int		 proc_gather(struct live *, struct snap *, struct lproc *);
int		 take_begin(struct live *, struct snap *, take_fn, void *);
void		 take_finish(struct live *);

/* outside.c: what of a thread can be told from outside */
void		 thread_outside(const struct lproc *, struct lthread *);

/* state.c: what only a process itself can tell */
void		 state_read(struct live *);

/* task.c: what /proc gives of a stopped thread */
int		 task_read(struct live *, struct lproc *, struct lthread *,
		    struct task *);
void		 task_record(struct live *, struct snap *, struct lproc *,
		    struct lthread *, struct task *, struct filelist *);

/* source.c: the memory of a stopped process as a source */
struct source	*source_live(struct live *, struct snap *, struct lproc *);
struct source	*source_livefar(struct live *, struct snap *, struct lproc *);
int		 source_live_pagemap(const struct source *);

/* vdso.c: what a process has not touched of its [vdso] */
struct source	*vdso_source(struct live *, struct snap *, struct source *,
		    const struct vma *, bool);

/* memory.c: text and memory of a process as images */
int		 memory_image(struct live *, struct lproc *, struct snap *,
		    struct proc *, const struct task *, struct buf *);
int		 text_image(struct live *, struct lproc *, struct snap *,
		    struct proc *);

#endif
