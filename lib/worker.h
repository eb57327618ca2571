/*
 * Threads that work for others: worker.c
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>

int		 worker_start(pthread_t *t, void *(*fn)(void *), void *arg);

#endif
