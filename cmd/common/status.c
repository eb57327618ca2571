/*
 * Read words of Plan 9's status file (proc(3) there), which has columns of
 * fixed width.
 */
#include "common.h"

#include <string.h>

/*
 * Copy one word of p's status file to word, which has width + 1 bytes. The word
 * begins at column col, in a field of width columns. Replace control
 * characters. Set word to "-" if there is no such word.
 */
void
status_word(const struct proc *p, size_t col, size_t width, char *word)
{
	const struct file *f;
	size_t n;

	strlcpy(word, "-", width + 1);
	if ((f = proc_file(p, "status")) == NULL || f->len < col + width)
		return;
	for (n = 0; n < width && f->data[col + n] > ' '; n++)
		word[n] = (char)f->data[col + n];
	if (n > 0)
		word[n] = '\0';
	text_sanitize(word);
}
