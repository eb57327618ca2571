/*
 * The status file of Plan 9, of columns of fixed width: proc(3) there.
 */
#include "common.h"

#include <string.h>

/*
 * Set word, of width + 1 bytes, to the word of the status file of p that begins
 * at column at and takes width columns (proc(3) of Plan 9); "-" where there is
 * none.
 */
void
status_word(const struct proc *p, size_t at, size_t width, char *word)
{
	const struct file *f;
	size_t n;

	strlcpy(word, "-", width + 1);
	if ((f = proc_file(p, "status")) == NULL || f->len < at + width)
		return;
	for (n = 0; n < width && f->data[at + n] > ' '; n++)
		word[n] = (char)f->data[at + n];
	if (n > 0)
		word[n] = '\0';
	text_harmless(word);
}
