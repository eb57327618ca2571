/*
 * Text of strangers', printed.
 */
#include "common.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Print a string to standard output, without what would control a terminal.
 * Exit with 2 if memory runs out.
 */
void
text_put(const char *s)
{
	char *copy;

	if ((copy = strdup(s)) == NULL)
		err(2, NULL);
	fputs(text_harmless(copy), stdout);
	free(copy);
}
