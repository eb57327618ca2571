/*
 * Names of C++ and Rust as they were written.  The C++ library is asked for
 * them (__cxa_demangle of its ABI), if there is one: it is looked for when the
 * program begins, and nothing is linked with it.
 */
#include "snapstack/snapstack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 8 * KB };	/* of a name that is tried */

typedef char	*(*demangle_fn)(const char *, char *, size_t *, int *);

static demangle_fn cxa;
static char *last;		/* owned */

/*
 * Find the C++ library, before the program is confined.
 */
void
demangle_begin(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	void *fn = lib == NULL ? NULL : dlsym(lib, "__cxa_demangle");

	memcpy(&cxa, &fn, sizeof cxa);
}

/*
 * Rust's names, before its mangling version 0, are those of C++ with a hash at
 * the end and with characters that C++ does not have between dollar signs.
 */
static bool
is_rust(const char *s)
{
	size_t n = strlen(s);

	return n > 19 && strncmp(s + n - 19, "::h", 3) == 0 &&
	    strspn(s + n - 16, "0123456789abcdef") == 16;
}

static void
rust_clean(char *s)
{
	static const struct {
		const char	*from;
		char		 to;
	} t[] = { { "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' },
	    { "$LT$", '<' }, { "$GT$", '>' }, { "$LP$", '(' },
	    { "$RP$", ')' }, { "$C$", ',' } };
	char *to, *end;
	unsigned long c;
	size_t i;

	s[strlen(s) - 19] = '\0';
	for (to = s; *s != '\0';) {
		for (i = 0; i < sizeof t / sizeof *t; i++)
			if (strncmp(s, t[i].from, strlen(t[i].from)) == 0)
				break;
		if (i < sizeof t / sizeof *t) {
			*to++ = t[i].to;
			s += strlen(t[i].from);
		} else if (s[0] == '$' && s[1] == 'u' && (c = strtoul(s + 2,
		    &end, 16)) >= ' ' && c < 0x7f && *end == '$') {
			*to++ = (char)c;
			s = end + 1;
		} else if (s[0] == '.' && s[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			s += 2;
		} else if (s[0] == '_' && s[1] == '$')
			s++;	/* it keeps a name from beginning with '$' */
		else
			*to++ = *s++;
	}
	*to = '\0';
}

/*
 * Return a symbol's name as it was written, without the version that a linker
 * added; valid until the next call.
 */
const char *
demangle(const char *name)
{
	int status;

	if (name == NULL || strlen(name) > LONGEST)
		return name;
	free(last);
	last = strncmp(name, "_R", 2) == 0 ? rust_demangle(name) : NULL;
	if (last != NULL)
		return last;
	if (strncmp(name, "_Z", 2) != 0 || cxa == NULL) {
		last = strndup(name, strcspn(name, "@"));
		return last == NULL ? name : last;
	}
	last = cxa(name, NULL, NULL, &status);
	if (last == NULL || status != 0)
		return name;
	if (is_rust(last))
		rust_clean(last);
	return last;
}
