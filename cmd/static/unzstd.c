/*
 * Programs without shared libraries do not read what zstd(1) compressed: its
 * library would be a fifth of them.
 */
#undef ZSTD
#include "../../lib/io/unzstd.c"
