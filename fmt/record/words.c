/*
 * Read files of a Linux record as lines of words separated by one blank. A line
 * that violates snap-linux(6) is an error that names the process, the file and
 * the line.
 */
#include "record.h"
#include "digits.h"

/*
 * Return the contents of the file called name in record r as a string that p
 * owns. Return NULL if there is no such file, or if memory runs out.
 */
char *
words_text(struct pool *p, const struct linuxrec *r, const char *name)
{
	struct recfile f;

	return linuxrec_find(r, name, &f) ? pool_dup(p, f.data, f.len) : NULL;
}

/*
 * Open the file called name in r for reading with w. r is the record of process
 * pid. Memory is allocated in p. Return 1; 0 if there is no such file; or -1
 * with errstr set.
 */
int
words_open(struct words *w, struct pool *p, const struct linuxrec *r,
    uint64_t pid, const char *name)
{
	struct recfile f;

	memset(w, 0, sizeof *w);
	w->pool = p;
	w->pid = pid;
	snprintf(w->name, sizeof w->name, "%s", name);
	if (!linuxrec_find(r, name, &f))
		return 0;
	if (f.len > 0 && (f.data[f.len - 1] != '\n' ||
	    memchr(f.data, '\0', f.len) != NULL))
		return errstr_set("process %" PRIu64 ": %s: expected lines of "
		    "text", pid, name);
	return (w->next = pool_dup(p, f.data, f.len)) == NULL ? -1 : 1;
}

/*
 * Set errstr to say that the current line of w should have the form want.
 * Return -1.
 */
int
words_bad(const struct words *w, const char *want)
{
	return errstr_set("process %" PRIu64 ": %s: line %zu: expected \"%s\"",
	    w->pid, w->name, w->line, want);
}

/*
 * Split s, the rest of a line, into the words of w. Return 0, or -1 with errstr
 * set if there are too many words or one is empty.
 */
int
words_split(struct words *w, char *s)
{
	char *blank;

	for (w->n = 0; w->n < WORDS_MAX; s = blank + 1) {
		w->word[w->n++] = s;
		blank = strchr(s, ' ');
		if (*s == '\0' || blank == s)
			return words_bad(w, "words separated by one blank");
		if (blank == NULL)
			return 0;
		*blank = '\0';
	}
	return words_bad(w, "at most 16 words");
}

/*
 * Go to the next line of w. Set w->word[0] to its first word, and w->rest to
 * the text after that word. Return 1, or 0 at the end.
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
 * Go to the next line of w, and split it into words. Return 1; 0 at the end; or
 * -1 with errstr set.
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
 * Parse all of s as a number below 2^64, and store it in *v. kind is its form:
 * 'd' decimal, 'o' octal, 'x' hexadecimal in lower case, 'i' decimal with an
 * optional minus sign (modulo 2^64). Kind 'm' is a device number MAJOR:MINOR in
 * hexadecimal, converted as by makedev(3). Return false if s is not such a
 * number.
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
 * Skip the first skip words of w, and parse the others into v. form has a
 * letter for each of these: its kind, as for number_parse(). Return false if a
 * word is not a number of its kind, or if the number of words differs from that
 * in form.
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
 * Decode hex, which has two hexadecimal digits for each byte, into *bytes,
 * which the pool of w owns. Set *len to the number of bytes. hex is in the
 * current line of w, which error messages name. Return 0, or -1 with errstr
 * set.
 */
int
words_bytes(const struct words *w, const char *hex, uint8_t **bytes,
    size_t *len)
{
	char two[3] = "", want[48];
	uint64_t v;
	size_t i, n;

	n = strlen(hex);
	*len = 0;
	if ((*bytes = pool_new(w->pool, n / 2 + 1, 1)) == NULL)
		return -1;
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
 * Parse the file called name in r, the record of process pid, into v. The file
 * must be one line of numbers of the kinds in form. expected describes a valid
 * line, for the error message. Return 1; 0 if there is no such file; or -1 with
 * errstr set.
 */
int
words_one(const struct linuxrec *r, uint64_t pid, const char *name,
    const char *form, const char *expected, uint64_t *v)
{
	struct pool pool = { 0 };
	struct words w;
	int rc;

	rc = words_open(&w, &pool, r, pid, name);
	if (rc == 1 && (words_next(&w) != 1 || !words_form(&w, 0, form, v) ||
	    *w.next != '\0'))
		rc = words_bad(&w, expected);
	pool_free(&pool);
	return rc;
}

/*
 * Set *part to the number of the part of the snapshot that process p belongs
 * to. A part is a set of processes captured at one instant; a merged snapshot
 * has several. Return 0, or -1 with errstr set.
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
