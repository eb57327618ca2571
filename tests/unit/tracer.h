/*
 * For tests that take the place of ptrace(2): what its first argument is, which
 * glibc alone has a type for.
 */
#ifndef TRACER_H
#define TRACER_H

#include <sys/ptrace.h>

#ifdef __GLIBC__
typedef enum __ptrace_request tracer_request;
#else
typedef int tracer_request;
#endif

#endif
