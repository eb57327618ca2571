/*
 * Clock and sleep functions: clock.c.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t	 now_ns(void);
uint64_t	 now_ms(void);
uint64_t	 boot_ns(void);
uint64_t	 boot_ms(void);
void		 nap_us(long us);
intmax_t	 timespec_ns(const struct timespec *t);

#endif
