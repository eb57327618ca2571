/*
 * Worker threads: worker.c
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stddef.h>

enum { MAX_WORKERS = 17 };	/* maximum number of threads at a time */

int		 processors_count(void);
int		 worker_start(pthread_t *t, void *(*fn)(void *), void *arg);
void		 workers_run(size_t n, void *(*fn)(void *), void *arg);

#endif
