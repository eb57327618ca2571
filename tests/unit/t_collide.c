/*
 * t_dedup.c with a hash under which most pages collide.
 */
#define WEAK_HASH
#include "t_dedup.c"
