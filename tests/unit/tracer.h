/*
 * For tests that are tracers themselves.
 */
#ifndef TRACER_H
#define TRACER_H

#include "linux/set/set.h"

#include <sys/ptrace.h>

/*
 * Return process pid with its only known thread tid, which is stopped and was
 * in call c. The result is valid until the next call.
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
 * The same for a thread that was not seen in a call.
 */
static inline const struct lproc *
stopped_anywhere(pid_t pid)
{
	return stopped(pid, pid, &(struct seencall){ .nr = -1 });
}

/* the first argument of ptrace(2); only glibc has a type for it */
#ifdef __GLIBC__
typedef enum __ptrace_request tracer_request;
#else
typedef int tracer_request;
#endif

#endif
