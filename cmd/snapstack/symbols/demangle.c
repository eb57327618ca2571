/*
 * Names of C++ and Rust as they were written: libiberty knows both, as it does
 * for gdb(1).
 */
#include "snapstack/snapstack.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 8 * KB };	/* of a name that is tried */

static char *last;		/* owned */

/*
 * Return a symbol's name as it was written, without the version that a linker
 * added; valid until the next call.
 */
const char *
demangle(const char *name)
{
	char *plain, *written;

	if (name == NULL || strlen(name) > LONGEST ||
	    (plain = strndup(name, strcspn(name, "@"))) == NULL)
		return name;
	free(last);
	written = cplus_demangle(plain, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
	if (written != NULL)
		free(plain);
	last = written == NULL ? plain : written;
	return last;
}
