/*
 * How long things take: clock.c.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

uint64_t	 now_ns(void);
uint64_t	 now_ms(void);
void		 nap_us(long);

#endif
