/*
 * Warnings: whoever reads or writes a snapshot is told, a sentence each, what
 * is missing from the result.
 */
#include "model.h"

#include <stdlib.h>

/*
 * Call warn, unless it is NULL, with arg and a sentence made of fmt and ap as
 * by vprintf(3).
 */
void
warn_vtell(warn_fn warn, void *arg, const char *fmt, va_list ap)
{
	char *s;

	if (warn == NULL || vasprintf(&s, fmt, ap) == -1)
		return;
	warn(arg, s);
	free(s);
}

/*
 * Call warn, unless it is NULL, with arg and a sentence made of fmt as by
 * printf(3).
 */
void
warn_tell(warn_fn warn, void *arg, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_vtell(warn, arg, fmt, ap);
	va_end(ap);
}
