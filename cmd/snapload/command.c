/*
 * The command of criu(8) that restores what images hold.
 */
#include "snapload.h"

/*
 * Print the command that restores the images in dir.  need tells what they
 * take: bits of enum criu_need; where it does not tell, print nothing.
 */
int
command_print(const char *dir, unsigned int need)
{
	static const struct {
		unsigned int	 bit;
		const char	*option;
	} option[] = {
		{ CRIU_SHELL_JOB, "--shell-job" },
		{ CRIU_TCP_ESTABLISHED, "--tcp-established" },
		{ CRIU_TCP_CLOSE, "--tcp-close" },
		{ CRIU_FILE_LOCKS, "--file-locks" }
	};
	struct buf b = { 0 };
	size_t i;
	int rc;

	if (!(need & CRIU_MADE))
		return 0;
	buf_puts(&b, "criu restore -d -D ");
	shell_word(&b, dir);
	for (i = 0; i < sizeof option / sizeof *option; i++)
		if (need & option[i].bit)
			buf_printf(&b, " %s", option[i].option);
	buf_add(&b, "", 1);
	rc = buf_check(&b);
	if (rc == 0 && (puts(text_harmless((char *)b.data)) == EOF ||
	    fflush(stdout) == EOF))
		rc = errstr_sys("standard output");
	buf_free(&b);
	return rc;
}
