/*
 * Build lib/io/unzstd.c without zstd for programs without shared libraries: the
 * library would be a fifth of their size.
 */
#undef ZSTD
#include "../../lib/io/unzstd.c"
