/*
 * Parse numbers and lines in bytes that do not end in NUL: digits.c
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const char	*digits_clip(const char *s, const char *end,
		    unsigned int base, uint64_t *num, bool *over);
const char	*digits_read(const char *s, const char *end,
		    unsigned int base, uint64_t *num);
bool		 digits_number(const char *s, size_t n, unsigned int base,
		    uint64_t *num);
bool		 digits_device(const char *s, size_t n, uint64_t *dev);
bool		 line_next(const void *text, size_t len, size_t *off,
		    const char **line, size_t *n);

#endif
