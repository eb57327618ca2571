/*
 * Read words of Plan 9's status file (proc(3) there), which has columns of
 * fixed width.
 */
#include "common.h"

/*
 * Copy the word at the beginning of a field of p's status file to word, which
 * has room for width + 1 bytes. The field begins at column col and is width
 * columns wide. Replace control characters. Set word to "-" if the field is
 * missing or begins with a blank.
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
