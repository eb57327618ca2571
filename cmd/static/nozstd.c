/*
 * Build the two users of zstd without it, for programs without shared
 * libraries: zstd's decompressor would be a fifth of such a program, and its
 * compressor a third. A frame of a snap without zstd is sent uncompressed.
 */
#undef ZSTD
#include "../../lib/io/frame.c"
#include "../../lib/io/unzstd.c"
