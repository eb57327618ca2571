/*
 * Demangle C++ and Rust names with libiberty, as gdb(1) does.
 */
#include "snapstack/snapstack.h"

#include <libiberty/demangle.h>

enum { LONGEST = 8 * KB };	/* maximum length of a name that is demangled */

static char *last;		/* owned; the name returned last */

/*
 * Return the demangled form of name, without a symbol version. If name cannot
 * be demangled, return name itself. The result is valid until the next call.
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
