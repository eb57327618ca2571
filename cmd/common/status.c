/*
 * Read words of Plan 9's status file (proc(3) there), which has columns of
 * fixed width.
 */
#include "common.h"

#include <string.h>

/*
 * Copy a word from the status file of p into word, of width + 1 bytes. The word
 * starts at column at and is width columns wide. Replace control characters.
 * Set word to "-" if there is no such word.
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
	text_sanitize(word);
}
