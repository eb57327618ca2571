/*
 * The command of criu(8) that restores what images hold.
 */
#include "snapload.h"

/*
 * Print the command that restores the images in dir.  o tells what they take:
 * bits of enum criu_need, where those do not tell, print nothing; and words.
 */
int
command_print(const char *dir, const struct criuopts *o)
{
	const unsigned int need = *o->need;
	struct buf b = { 0 };
	const char *option;
	unsigned int bit;
	int rc;

	if (!(need & CRIU_MADE))
		return 0;
	buf_puts(&b, "criu restore -d -D ");
	shell_word(&b, dir);
	for (bit = 1; bit != 0; bit <<= 1)
		if (need & bit && (option = criu_option(bit)) != NULL)
			buf_printf(&b, " %s", option);
	buf_add(&b, o->words->data, o->words->len);
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && (puts(text_harmless((char *)b.data)) == EOF ||
	    fflush(stdout) == EOF))
		rc = errstr_sys("standard output");
	buf_free(&b);
	return rc;
}
