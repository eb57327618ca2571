/*
 * Format names of mappings, and shorten them to fit the terminal.
 */
#include "procmap.h"

enum { MIN_NAME = 12 };	/* minimum width of a name, in columns */

/*
 * Write the name of mapping v, as OpenBSD shows it, to s, which has room for
 * size bytes. Put anything but a file name in brackets, after two blanks.
 */
void
name_make(char *s, size_t size, const struct vma *v)
{
	const char *name = v->name;
	size_t n = strlen(name);

	if (n == 0 || (v->flags & VMA_SHARED &&
	    strcmp(name, "/dev/zero (deleted)") == 0))
		strlcpy(s, "  [ anon ]", size);
	else if (strncmp(name, "/SYSV", 5) == 0 &&
	    strspn(name + 5, "0123456789abcdef") == 8 &&
	    strcmp(name + 13, " (deleted)") == 0)
		strlcpy(s, "  [ uvm_aobj ]", size);
	else if (name[0] == '[' && name[n - 1] == ']')
		snprintf(s, size, "  [ %.*s ]", (int)n - 2, name + 1);
	else
		strlcpy(s, name, size);
	text_sanitize(s);
}

/*
 * Shorten name to fit on a terminal line; used is the number of columns already
 * taken. Return name itself if it fits, or if the width of the terminal is
 * unknown. Otherwise return "..." and the end of name. The result is valid
 * until the next call.
 */
const char *
name_fit(const char *name, int used)
{
	static char buf[4096 + 8];
	static int columns = -1;
	int n, room;

	if (columns == -1)
		columns = terminal_width();
	if (columns == 0)
		return name;
	room = columns - used > MIN_NAME ? columns - used : MIN_NAME;
	if ((n = text_width(name)) <= room)
		return name;
	while (n > room - 3)
		n -= text_columns(&name);
	snprintf(buf, sizeof buf, "...%s", name);
	return buf;
}
