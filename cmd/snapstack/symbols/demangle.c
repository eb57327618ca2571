/*
 * Demangle C++ and Rust names with libiberty, as gdb(1) does.
 */
#include "snapstack/snapstack.h"

#include <setjmp.h>

#include <libiberty/demangle.h>

enum {
	LONGEST = 8 * KB,	/* maximum length of a name that is demangled */
	MOST = 64 * KB		/* maximum length of the result: each part of a
				   name can refer to earlier ones several times,
				   so its length may grow exponentially */
};

static char written[MOST + 1];	/* the result that libiberty has written */
static size_t nwritten;
static jmp_buf too_long;

/*
 * Append the len bytes at s to the result; this is a libiberty callback. It has
 * no way to make libiberty stop, so jump out of it if the result becomes too
 * long. libiberty owns no memory then, except one buffer for an identifier of
 * Rust with other characters than those of ASCII.
 */
static void
part_write(const char *s, size_t len, void *arg)
{
	(void)arg;
	if (len > MOST - nwritten)
		longjmp(too_long, 1);
	memcpy(written + nwritten, s, len);
	nwritten += len;
}

/*
 * Return the demangled form of name, without a symbol version. If name cannot
 * be demangled, return name itself. The result is valid until the next call.
 */
const char *
demangle(const char *name)
{
	enum { HOW = DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI };
	static char plain[LONGEST + 1];

	if (name == NULL || strlen(name) > LONGEST)
		return name;
	strlcpy(plain, name, strcspn(name, "@") + 1);
	nwritten = 0;
	if (setjmp(too_long) != 0)
		return plain;
	if (rust_demangle_callback(plain, HOW, part_write, NULL) == 0) {
		nwritten = 0;
		if (cplus_demangle_v3_callback(plain, HOW, part_write,
		    NULL) == 0)
			return plain;
	}
	written[nwritten] = '\0';
	return written;
}
