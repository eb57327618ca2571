/*
 * Files of a Linux record as lines of words, which are divided by one blank.
 * What is not as snap(6) has it is an error that names process, file and
 * line.
 */
#include "record.h"
#include "digits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return the bytes of the file of that name in record r as a string, the
 * caller's; NULL if there is none or no memory for it.
 */
char *
words_text(const struct linuxrec *r, const char *name)
{
	struct recfile f;
	char *s;

	if (!linuxrec_find(r, name, &f) || (s = malloc(f.len + 1)) == NULL)
		return NULL;
	memcpy(s, f.data, f.len);
	s[f.len] = '\0';
	return s;
}

/*
 * Begin to read by w the file of that name in r, the record of process pid.
 * Return 1; 0 if it has none; or -1 with errstr.  It is ended with words_close
 * in all cases.
 */
int
words_open(struct words *w, const struct linuxrec *r, uint64_t pid,
    const char *name)
{
	struct recfile f;

	memset(w, 0, sizeof *w);
	w->pid = pid;
	snprintf(w->name, sizeof w->name, "%s", name);
	if (!linuxrec_find(r, name, &f))
		return 0;
	if (f.len > 0 && (f.data[f.len - 1] != '\n' ||
	    memchr(f.data, '\0', f.len) != NULL))
		return errstr_set("process %" PRIu64 ": %s: not lines of text",
		    pid, name);
	if ((w->text = words_text(r, name)) == NULL)
		return errstr_set("out of memory");
	w->next = w->text;
	return 1;
}

/*
 * Free what words_open made of w.
 */
void
words_close(struct words *w)
{
	free(w->text);
	w->text = NULL;
}

/*
 * Set the error string: the line at hand of w is not what it should be, which
 * want tells.  Return -1.
 */
int
words_bad(const struct words *w, const char *want)
{
	return errstr_set("process %" PRIu64 ": %s: line %zu: not \"%s\"",
	    w->pid, w->name, w->line, want);
}

/*
 * Divide s, the rest of a line, into words of w.  Return 0, or -1 with errstr
 * if they are too many or one is empty.
 */
int
words_split(struct words *w, char *s)
{
	char *blank;

	for (w->n = 0; w->n < WORDS_MAX; s = blank + 1) {
		w->word[w->n++] = s;
		blank = strchr(s, ' ');
		if (*s == '\0' || blank == s)
			return words_bad(w, "words, one blank between two");
		if (blank == NULL)
			return 0;
		*blank = '\0';
	}
	return words_bad(w, "so few words");
}

/*
 * Go to the next line of w, whose first word is w->word[0], and whose others
 * are w->rest.  Return 1, or 0 at the end.
 */
int
words_key(struct words *w)
{
	char *nl;

	if (w->next == NULL || *w->next == '\0')
		return 0;
	w->line++;
	nl = strchr(w->next, '\n');
	*nl = '\0';
	w->word[0] = w->next;
	w->n = 1;
	w->next = nl + 1;
	w->rest = strchr(w->word[0], ' ');
	if (w->rest == NULL)
		w->rest = nl;
	else
		*w->rest++ = '\0';
	return 1;
}

/*
 * Go to the next line of w, in words.  Return 1; 0 at the end; or -1 with
 * errstr.
 */
int
words_next(struct words *w)
{
	char *line;

	if (w->next == NULL || *w->next == '\0')
		return 0;
	line = w->next;
	w->line++;
	w->next = strchr(line, '\n');
	*w->next++ = '\0';
	return words_split(w, line) == -1 ? -1 : 1;
}

/*
 * Return true if all of s is a number below 2^64 of that kind, and set *v to
 * it: 'd' decimal, 'o' octal, 'x' hexadecimal in small letters, 'i' decimal
 * with a sign before it or none (modulo 2^64), 'm' MAJOR:MINOR of a device in
 * hexadecimal, as makedev(3) has it.
 */
bool
number_parse(const char *s, char kind, uint64_t *v)
{
	bool minus;

	if (kind == 'm')
		return digits_device(s, strlen(s), v);
	minus = kind == 'i' && *s == '-';
	s += minus;
	if (!digits_number(s, strlen(s), kind == 'x' ? 16 :
	    kind == 'o' ? 8 : 10, v))
		return false;
	if (minus)
		*v = -*v;
	return true;
}

/*
 * Return true if the words of w from number skip on, which count from 0, are
 * numbers as form has them, a letter of number_parse each, and no more.  They
 * go to v.
 */
bool
words_form(const struct words *w, size_t skip, const char *form, uint64_t *v)
{
	size_t i;

	if (w->n != skip + strlen(form))
		return false;
	for (i = 0; form[i] != '\0'; i++)
		if (!number_parse(w->word[skip + i], form[i], &v[i]))
			return false;
	return true;
}

/*
 * Set *bytes, in place of what it was, which is freed, to the *len bytes of
 * which hex, in a line of w that begins with a key, has two digits each.
 * Return 0, or -1 with errstr.
 */
int
words_bytes(const struct words *w, const char *hex, uint8_t **bytes,
    size_t *len)
{
	char two[3] = "", want[48];
	uint64_t v;
	size_t i, n;

	n = strlen(hex);
	free(*bytes);
	*len = 0;
	if ((*bytes = malloc(n / 2 + 1)) == NULL)
		return errstr_set("out of memory");
	for (i = 0; i + 1 < n; i += 2) {
		memcpy(two, hex + i, 2);
		if (!number_parse(two, 'x', &v))
			break;
		(*bytes)[(*len)++] = (uint8_t)v;
	}
	snprintf(want, sizeof want, "%.15s, two digits (x) a byte",
	    w->word[0]);
	return i == n ? 0 : words_bad(w, want);
}

/*
 * Read the file of that name in r, the record of process pid, which is one line
 * of numbers, as form has them, into v.  Return 1; 0 if there is none; or -1
 * with errstr, for which what is such a line in words.
 */
int
words_one(const struct linuxrec *r, uint64_t pid, const char *name,
    const char *form, const char *what, uint64_t *v)
{
	struct words w;
	int rc;

	rc = words_open(&w, r, pid, name);
	if (rc == 1 && (words_next(&w) != 1 || !words_form(&w, 0, form, v) ||
	    *w.next != '\0'))
		rc = words_bad(&w, what);
	words_close(&w);
	return rc;
}

/*
 * Set *part to the part of a snapshot that process p is of: what was taken at
 * once.  Return 0, or -1 with errstr.
 */
int
proc_part(const struct proc *p, uint64_t *part)
{
	struct linuxrec r;
	int rc;

	*part = 0;
	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0 && words_one(&r, p->pid, "part", "d", "number",
	    part) == -1)
		rc = -1;
	linuxrec_close(&r);
	return rc;
}
