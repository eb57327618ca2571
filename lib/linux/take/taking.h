/*
 * What a process is taken with: what the files of this room share.
 */
#ifndef TAKING_H
#define TAKING_H

#include "linux/namespace/namespace.h"
#include "take.h"

/* outside.c: what of a thread can be told from outside */
void		 spaces_read(struct lproc *p, pid_t tid,
		    uint64_t space[NSPACES]);
unsigned int	 thread_apart(struct lproc *p, const struct lthread *t,
		    pid_t with, const uint64_t space[NSPACES]);
bool		 apart_holds(struct lproc *p, const uint64_t space[NSPACES]);
void		 apart_record(unsigned int set, struct filelist *to);
void		 outside_look(struct lthread *t);
void		 thread_outside(const struct lthread *t, struct filelist *to);

/* peek.c: what is read by several threads at once */
struct peeks	*peeks_begin(const struct live *l);
void		 peeks_end(struct peeks *k);
void		 peek_thread(struct lproc *p, struct lthread *t);

/* perfmap.c: names of code that processes made */
void		 perfmap_record(const struct lproc *p, const struct task *t,
		    struct filelist *to);

/* seccomp.c: filters that threads have */
void		 filters_record(struct live *l, pid_t tid,
		    struct filelist *to);

/* ownfiles.c: what is read of a process alone, by any thread */
void		 proc_peek(struct lproc *p);

/* task.c: what /proc gives of a stopped thread */
int		 task_read(struct live *l, struct lproc *p, struct lthread *th,
		    struct task *t);
void		 thread_name(struct lproc *p, struct lthread *th);
void		 task_record(struct live *l, struct snap *s, struct lproc *p,
		    struct lthread *th, struct task *t, struct filelist *to);
void		 task_own(const struct lproc *p, struct filelist *to);
void		 task_finish(struct live *l, struct lproc *p, struct task *t,
		    struct filelist *to);

/* gather.c: what is told of a thread in the stop */
int		 thread_gather(struct live *l, struct snap *s,
		    struct lproc *lp, struct lthread *th);
void		 thread_finish(struct live *l, struct lproc *lp,
		    struct lthread *th);

/* source.c: the memory of a stopped process as a source */
struct source	*source_live(struct live *l, struct snap *s, struct lproc *p);
struct source	*source_livefar(struct live *l, struct snap *s,
		    struct lproc *p);
int		 source_live_pagemap(const struct source *src);

/* alone.c: pages that no other process has */
int		 alone_source(struct snap *s, const struct lproc *p,
		    struct source *all, struct source **alone);
int		 alone_run(struct builder *b, const struct vma *v,
		    uint64_t start, uint64_t end, struct source *all,
		    struct source *alone);

/* vdso.c: what a process has not touched of its [vdso] */
struct source	*vdso_source(struct live *l, struct snap *s,
		    struct source *mem, const struct vma *v, bool clone);

/* memory.c: text and memory of a process as images */
int		 memory_image(struct live *l, struct lproc *lp,
		    struct snap *s, struct proc *p, const struct task *t,
		    struct buf *own);
int		 text_image(struct live *l, struct lproc *lp, struct snap *s,
		    struct proc *p);

#endif
