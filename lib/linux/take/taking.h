/*
 * What a process is taken with: what the files of this room share.
 */
#ifndef TAKING_H
#define TAKING_H

#include "linux/restore/namespace/namespace.h"
#include "take.h"

/* outside.c: what of a thread can be told from outside */
enum { NSPACES = 7 };		/* namespaces that a thread may have alone */

void		 spaces_read(pid_t pid, pid_t tid, uint64_t space[NSPACES]);
void		 thread_apart(pid_t pid, const struct lthread *t, pid_t with,
		    const uint64_t space[NSPACES], struct filelist *to);
void		 thread_outside(const struct lthread *t, struct filelist *to);

/* perfmap.c: names of code that processes made */
void		 perfmap_record(const struct lproc *p, const struct task *t,
		    struct filelist *to);

/* seccomp.c: filters that threads have */
void		 filters_record(struct live *l, pid_t tid,
		    struct filelist *to);

/* ownfiles.c: what is read of a process alone, by any thread */
void		 proc_peek(struct lproc *p);
void		 procs_peek(struct live *l);

/* task.c: what /proc gives of a stopped thread */
int		 task_read(struct live *l, struct lproc *p, struct lthread *th,
		    struct task *t);
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

/* source.c: the memory of a stopped process as sources */
struct source	*source_live(struct live *l, struct snap *s, struct lproc *p,
		    bool far);
int		 source_live_pagemap(const struct source *src);
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
