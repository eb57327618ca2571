/*
 * Make a stopped process run system calls.
 *
 * The caller has stopped all threads of the process with ptrace(2). Between
 * inject_begin() and inject_end() the caller must not do anything else to the
 * process. All of these functions must be called by the thread that traces it.
 *
 * inject_begin() writes to memory of the process that a running thread could be
 * using. It therefore takes the whole process, and fails if a thread of the
 * process is not stopped.
 */
#ifndef INJECT_H
#define INJECT_H

#include "space.h"

enum {				/* size of scratch memory in bytes */
	INJECT_ROOM = 4096 /* if the argument "room" of inject_begin() is true;
			      else the size is isa.stage */
};

struct inject;
struct lproc;
struct lthread;
struct vmas;

void		 inject_learn(pid_t pid, const struct vmas *l);
struct inject	*inject_begin(const struct lproc *p, bool room,
		    const struct vmas *l);
int		 inject_thread(struct inject *inj, const struct lthread *t);
int		 inject_call(struct inject *inj, int64_t *ret, long nr,
		    const uint64_t arg[6]);
int		 inject_callbegin(struct inject *inj, const uint64_t arg[6]);
int		 inject_callstart(struct inject *inj, long nr,
		    const uint64_t arg[6]);
int		 inject_callend(struct inject *inj, int64_t *ret);
uint64_t	 inject_scratch(const struct inject *inj);
int		 inject_read(struct inject *inj, void *buf, size_t len);
int		 inject_write(struct inject *inj, const void *buf, size_t len);
int		 inject_clonebegin(struct inject *inj);
int		 inject_clonestart(struct inject *inj);
int		 inject_cloneawait(struct inject *inj, pid_t *pid);
int		 inject_cloneend(struct inject *inj, pid_t *pid);
int		 inject_willclone(pid_t tid);
struct inject	*inject_entrust(const struct inject *inj, pid_t clone);
int		 inject_allow(struct inject *c, uint64_t start, uint64_t len,
		    bool exec);
int		 inject_munmap(struct inject *c, uint64_t start, uint64_t len);
int		 inject_resume(struct inject *c);
int		 inject_relinquish(struct inject *inj, int rc);
void		 inject_ending(struct inject *inj);
int		 inject_end(struct inject *inj, int rc);

#endif
