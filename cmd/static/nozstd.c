/*
 * Build the two users of zstd without it for programs without shared libraries:
 * to decompress takes a fifth of their size, to compress a third. A frame of
 * such a snap is sent as it is.
 */
#undef ZSTD
#include "../../lib/io/frame.c"
#include "../../lib/io/unzstd.c"
