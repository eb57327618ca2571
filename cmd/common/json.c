/*
 * JSON (RFC 8259) to standard output, piece by piece: a line an object.
 *
 * Strings have any bytes.  What is no UTF-8 goes out as \udc80 to \udcff, a
 * lone half of a pair for each byte: the form that Python has for these
 * ("surrogateescape" of its os.fsdecode).  What would control a terminal is
 * escaped, too.
 */
#include "common.h"

#include <inttypes.h>

static bool more;		/* something is in front on this level */

static void
put_text(const char *s)
{
	uint32_t c;
	size_t n;

	putchar('"');
	for (; *s != '\0'; s += n) {
		if ((n = text_utf8(s, &c)) == 0) {
			printf("\\udc%02x", (unsigned int)(uint8_t)*s);
			n = 1;
		} else if (text_iscontrol(c))
			printf("\\u%04" PRIx32, c);
		else {
			if (c == '"' || c == '\\')
				putchar('\\');
			fwrite(s, 1, n, stdout);
		}
	}
	putchar('"');
}

/*
 * Begin a value: key is its name in the object, NULL in an array.
 */
static void
put_key(const char *key)
{
	if (more)
		putchar(',');
	more = true;
	if (key != NULL)
		printf("\"%s\":", key);
}

/*
 * Begin an object or an array, as bracket is { or [, under key, or without one
 * in an array (NULL).
 */
void
json_open(const char *key, char bracket)
{
	put_key(key);
	putchar(bracket);
	more = false;
}

/*
 * End what json_open began: bracket is } or ].
 */
void
json_close(char bracket)
{
	putchar(bracket);
	more = true;
}

/*
 * End a line, with no object open.
 */
void
json_end(void)
{
	putchar('\n');
	more = false;
}

/*
 * Put string s under key, as in json_open, or null where s is NULL.
 */
void
json_text(const char *key, const char *s)
{
	put_key(key);
	if (s == NULL)
		fputs("null", stdout);
	else
		put_text(s);
}

/*
 * Put number v under key, as in json_open.
 */
void
json_number(const char *key, uint64_t v)
{
	put_key(key);
	printf("%" PRIu64, v);
}

/*
 * Put true or false, which v is, under key, as in json_open.
 */
void
json_flag(const char *key, bool v)
{
	put_key(key);
	fputs(v ? "true" : "false", stdout);
}

/*
 * Put address at under key, as in json_open, in hexadecimal, as a string, for
 * numbers of JSON are exact up to 2^53 only: that of a byte, or of the one
 * behind it if end is true.
 */
void
json_address(const char *key, uint64_t at, bool end)
{
	put_key(key);
	if (end && at == UINT64_MAX)
		fputs("\"10000000000000000\"", stdout);
	else
		printf("\"%" PRIx64 "\"", at + end);
}
