/*
 * Write JSON (RFC 8259) to standard output piece by piece, one line per object.
 *
 * Strings may contain any bytes. Each byte that is not part of valid UTF-8 is
 * written as \udc80 to \udcff, an unpaired low surrogate, which Python decodes
 * back to the byte ("surrogateescape" of os.fsdecode). Characters that would
 * control a terminal are escaped as well.
 */
#include "common.h"

static bool more; /* the current object or array already has a member */

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
 * Begin a value: print a comma if needed, then key. In an array, key is NULL
 * and not printed.
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
 * Begin an object (bracket '{') or an array (bracket '[') under key. key is
 * NULL in an array and at the top level.
 */
void
json_open(const char *key, char bracket)
{
	put_key(key);
	putchar(bracket);
	more = false;
}

/*
 * End the object (bracket '}') or array (bracket ']') begun by json_open().
 */
void
json_close(char bracket)
{
	putchar(bracket);
	more = true;
}

/*
 * Begin an object at the top level, of the given type.
 */
void
json_begin(const char *type)
{
	json_open(NULL, '{');
	json_text("type", type);
}

/*
 * End the object begun by json_begin(), and its line.
 */
void
json_end(void)
{
	fputs("}\n", stdout);
	more = false;
}

/*
 * Write string s, or null if s is NULL, under key. key is NULL in an array.
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
 * Write number v under key. key is NULL in an array.
 */
void
json_number(const char *key, uint64_t v)
{
	put_key(key);
	printf("%" PRIu64, v);
}

/*
 * Write true or false under key. key is NULL in an array.
 */
void
json_flag(const char *key, bool v)
{
	put_key(key);
	fputs(v ? "true" : "false", stdout);
}

/*
 * Write an address under key, as a hexadecimal string, because JSON numbers are
 * exact only up to 2^53. The address is addr or, if end is true, addr + 1,
 * which may be 2^64. key is NULL in an array.
 */
void
json_address(const char *key, uint64_t addr, bool end)
{
	put_key(key);
	if (end && addr == UINT64_MAX)
		fputs("\"10000000000000000\"", stdout);
	else
		printf("\"%" PRIx64 "\"", addr + end);
}
