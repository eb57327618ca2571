/*
 * Jobs done by threads, returned in order: jobs.c
 */
#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>
#include <stddef.h>

struct jobs;

struct jobs	*jobs_new(size_t threads, size_t njob, size_t size,
		    void (*work)(void *arg, void *job), void *arg, bool help);
void		 jobs_free(struct jobs *r, void (*drop)(void *job));
void		*jobs_idle(const struct jobs *r);
void		 jobs_submit(struct jobs *r, bool easy);
void		*jobs_oldest(struct jobs *r, bool wait);
void		 jobs_retire(struct jobs *r);

#endif
