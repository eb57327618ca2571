/*
 * The command of criu(8) that restores what images hold.
 */
#include "snapload.h"

/*
 * Print the command that restores the images in dir to standard output. o tells
 * what they take: bits of enum criu_need, where those do not tell, print
 * nothing; and words.  Return 0, or -1 with errstr.
 */
int
command_print(const char *dir, const struct criuopts *o)
{
	const unsigned int need = *o->need;
	struct buf b = { 0 };
	int rc;

	if (!(need & CRIU_MADE))
		return 0;
	criu_command(&b, dir, need, o->words);
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && (puts(text_harmless((char *)b.data)) == EOF ||
	    fflush(stdout) == EOF))
		rc = errstr_sys("standard output");
	buf_free(&b);
	return rc;
}
