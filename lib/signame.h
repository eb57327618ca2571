/*
 * The names of signals: signame.c
 */
#ifndef SIGNAME_H
#define SIGNAME_H

#include <stdint.h>

const char	*signal_name(uint64_t sig);

#endif
