/*
 * For tests that trace processes themselves.
 */
#ifndef TRACER_H
#define TRACER_H

#include "linux/set/set.h"

#include <sys/ptrace.h>

/*
 * Return process pid as one of which thread tid, the only one that is known, is
 * stopped and was in call c before; that is in use until the next call of this.
 */
static inline const struct lproc *
stopped(pid_t pid, pid_t tid, const struct seencall *c)
{
	static struct lthread t;
	static struct lproc p;

	p = (struct lproc){ .pid = pid };
	t = (struct lthread){ .tid = tid, .hold = HOLD_STOPPED,
	    .seencall = *c };
	TAILQ_INIT(&p.threads);
	TAILQ_INSERT_TAIL(&p.threads, &t, entry);
	return &p;
}

/*
 * The same of one that was not seen in any call.
 */
static inline const struct lproc *
stopped_anywhere(pid_t pid)
{
	return stopped(pid, pid, &(struct seencall){ .nr = -1 });
}

/* what the first argument of ptrace(2) is: glibc alone has a type for it */
#ifdef __GLIBC__
typedef enum __ptrace_request tracer_request;
#else
typedef int tracer_request;
#endif

#endif
