/*
 * XXH3 with the best vector instructions of the machine. A library that can
 * choose them at run time has its own header for that. Debian's libxxhash.a
 * lacks these functions: they are weak, and programs linked with it call the
 * others.
 */
#ifndef XXH_H
#define XXH_H

#if __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#pragma weak XXH3_64bits_dispatch
#pragma weak XXH3_64bits_update_dispatch
#pragma weak XXH3_64bits_withSecret_dispatch
#undef XXH3_64bits
#undef XXH3_64bits_update
#undef XXH3_64bits_withSecret
#define XXH_BEST(f) (f##_dispatch != NULL ? f##_dispatch : f)
#else
#include <xxhash.h>
#define XXH_BEST(f) f
#endif

#endif
