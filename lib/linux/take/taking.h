/*
 * Functions and structures with which the files of this room capture a process.
 */
#ifndef TAKING_H
#define TAKING_H

#include "linux/inject/inject.h"
#include "linux/restore/namespace/namespace.h"
#include "take.h"

#include <signal.h>

/* threadattrs.c: attributes of a thread that need no injected call */
enum { NSPACES = 7 }; /* number of kinds of namespaces that may be a thread's
			 own */

void		 spaces_read(pid_t tid, uint64_t space[NSPACES]);
void		 thread_apart(const struct lthread *t, pid_t other,
		    const uint64_t space[NSPACES], struct filelist *l);
void		 thread_attrs(const struct lthread *t, struct filelist *l);

/* perfmap.c: names of code that processes generated */
void		 perfmap_record(const struct lproc *p, const struct task *t,
		    struct filelist *rec);

/* seccomp.c: filters of threads */
void		 filters_record(struct live *l, pid_t tid,
		    struct filelist *rec);

/* ownfiles.c: files that are read of each process by several threads */
void		 procs_peek(struct live *l);

/* task.c: facts from /proc about a stopped process and its threads */
int		 task_read(struct live *l, struct lproc *p,
		    const struct lthread *leader);
bool		 thread_gather(struct live *l, const struct lproc *p,
		    struct lthread *th, struct task *t);
void		 task_record(struct live *l, struct snap *s, struct lproc *p,
		    struct lthread *leader);
void		 task_own(const struct lproc *p, struct filelist *rec);
void		 task_finish(struct live *l, struct lproc *p,
		    struct filelist *rec);

/* gather.c: complete the record of a thread */
void		 thread_finish(struct live *l, struct lproc *lp,
		    struct lthread *th);

/* source.c: the memory of a stopped process as sources */
struct source	*source_live(struct live *l, struct snap *s, struct lproc *p,
		    bool far);
int		 source_live_pagemap(const struct source *src);
int		 alone_source(const struct live *live, struct snap *s,
		    const struct lproc *p, struct source *all,
		    struct source **alone);
int		 alone_run(struct builder *b, const struct vma *v,
		    uint64_t start, uint64_t end, struct source *all,
		    struct source *alone);

/* vdso.c: pages of the [vdso] that a process has not touched */
struct source	*vdso_source(struct live *l, struct snap *s,
		    struct source *mem, const struct vma *v, bool clone);

/* memory.c: text and memory of a process as images */
int		 memory_image(struct live *l, struct lproc *lp,
		    struct snap *s, struct proc *p, const struct task *t,
		    struct buf *own);
int		 text_image(struct live *l, struct lproc *lp, struct snap *s,
		    struct proc *p, struct filelist *rec);

/*
 * Make stopped processes run system calls, several processes at once, and
 * record the results. Functions that take an array v of n of them skip those in
 * which a call has failed. No two may share memory, and all signals must be
 * blocked.
 */
struct asking {			/* a process or thread in which calls are
				   injected */
	struct inject	*in;
	struct lproc	*proc;	/* borrowed; process of the thread */
	struct filelist	*to;	/* borrowed; record that receives the answers */
	int		 rc;	/* -1, with "why" set, if no more calls are made
				   in the process or thread; else 0 */
	char		 why[256];
	uint64_t	 arg[6]; /* arguments of the last call */
	int64_t		 ret;	/* result of the last call */
	struct buf	 told;	/* owned; text that becomes a file of the
				   record */
};

enum { MAX_ASKED = 32 };

struct round {			/* processes that are asked at once */
	struct asking	 v[MAX_ASKED];
	size_t		 n;
	bool		 rest;	/* ask for the state that a clone has in common
				   with its process */
	sigset_t	 ours;	/* our signal mask before the rounds */
};

/* asking.c */
void		 ask_each(struct asking *v, size_t n, long nr,
		    const uint64_t arg[6], size_t room);
bool		 asking_got(struct asking *a, void *buf, size_t len);
void		 asking_failed(struct asking *a);
int		 asking_result(const struct asking *a);
void		 asking_reported(struct asking *v, size_t n, const char *name);
void		 ask_number(struct asking *v, size_t n, const char *name,
		    long nr, long option, size_t size, bool hex);

/* askprocess.c */
void		 ask_thread(struct asking *v, size_t n);
void		 ask_process(struct asking *v, size_t n);
void		 ask_memory(struct asking *v, size_t n);
void		 ask_sessionkeys(struct asking *a);

/* rounds.c: which processes are asked, and for what */
void		 ask_begin(struct round *r, bool rest);
void		 ask(struct live *l, struct round *r, struct lproc *p);
void		 ask_end(struct live *l, struct round *r);

#endif
