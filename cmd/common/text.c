/*
 * Print untrusted text, cut paths, and encode UTF-8.
 */
#include "common.h"

/*
 * Return the last component of path, which may be "".
 */
const char *
path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/*
 * Print string s to standard output with control characters replaced.
 */
void
text_put(const char *s)
{
	char *copy = must(strdup(s));

	fputs(text_sanitize(copy), stdout);
	free(copy);
}

/*
 * Encode character c, of up to 21 bits, as UTF-8 in s. Return the number of
 * bytes used.
 */
size_t
utf8_make(char s[4], uint32_t c)
{
	size_t n, i;

	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	/* of n > 1 bytes the first begins with n one bits; the others begin
	   with 10 */
	for (i = n; i-- > 1; c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | (c & (0x7f >> n)));
	return n;
}
