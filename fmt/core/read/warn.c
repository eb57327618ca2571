/*
 * Warnings of the reader of cores.
 */
#include "read.h"

#include <stdlib.h>

/*
 * Tell the caller of r, in a sentence made of fmt as printf(3) does, what is
 * missing from the result.
 */
void
core_warn(struct corereader *r, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	if (r->opts->warn == NULL)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return;
	warn_tell(r->opts->warn, r->opts->arg, "%s: %s", r->name, text);
	free(text);
}
