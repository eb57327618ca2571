/*
 * XXH3 with the best vectors that the machine has.  Where the library can
 * choose them when it runs, it has a header that says so.
 */
#ifndef XXH_H
#define XXH_H

#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
