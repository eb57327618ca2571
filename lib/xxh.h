/*
 * XXH3 with the best vector instructions of the machine. A library that can
 * choose them at run time has its own header for that.
 */
#ifndef XXH_H
#define XXH_H

#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
