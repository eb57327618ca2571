/*
 * Commands as one would type them.
 */
#include "snap.h"

#include <string.h>

/*
 * Add s to b as a word of sh(1).
 */
void
shell_word(struct buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	if (*s != '\0' && s[strspn(s, plain)] == '\0') {
		buf_puts(b, s);
		return;
	}
	buf_puts(b, "'");
	for (; *s != '\0'; s++)
		if (*s == '\'')
			buf_puts(b, "'\\''");
		else
			buf_add(b, s, 1);
	buf_puts(b, "'");
}
