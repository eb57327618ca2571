/*
 * Measure, cut and print text for a terminal, and encode UTF-8.
 */
#include "common.h"

#include <sys/ioctl.h>

#include <unistd.h>

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
 * Return the number of columns that string s needs on a terminal.
 */
int
text_width(const char *s)
{
	int n;

	for (n = 0; *s != '\0';)
		n += text_columns(&s);
	return n;
}

/*
 * Return the width of the terminal that is standard output, in columns, or 0 if
 * it is unknown, or if standard output is not a terminal.
 */
int
terminal_width(void)
{
	struct winsize ws;
	const char *s, *why = "";
	int n = 0;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if ((s = getenv("COLUMNS")) != NULL)
		n = (int)strtonum(s, 1, 10000, &why);
	return why == NULL ? n : ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 ?
	    ws.ws_col : 0;
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
