/*
 * Parse and print stat: proc_pid_stat(5).
 *
 *	PID (COMM) STATE PPID ... EXITCODE
 *
 * The process chooses COMM, which may contain parentheses, blanks and newlines:
 * it extends from the first to the last parenthesis.
 */
#include "state.h"

/*
 * Parse text, len bytes of a stat file, into *st. Fields that are not in text
 * become zero. Return the number of the last field that was parsed. This is 52,
 * or less if the text is cut off or damaged. Return 0 if there is no name.
 */
int
stat_parse(struct procstat *st, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len);
	const char *open, *close;
	size_t n;
	int i;

	memset(st, 0, sizeof *st);
	open = memchr(t.s, '(', len);
	close = memrchr(t.s, ')', len);
	if (open == NULL || close == NULL || close < open)
		return 0;
	(void)scan_number(&t, 10, &st->v[STAT_PID]);
	n = (size_t)(close - open - 1);
	if (n >= sizeof st->comm)
		n = sizeof st->comm - 1;
	memcpy(st->comm, open + 1, n);
	t.s = close + 1;
	if (!scan_byte(&t, ' ') || t.s == t.end)
		return STAT_PID + 1;
	st->state = *t.s++;
	for (i = STAT_PPID; i < STAT_FIELDS; i++)
		if (!scan_number(&t, 10, &st->v[i]))
			break;
	return i - 1;
}

/*
 * Return true if the field of stat with this number is signed.
 */
static bool
is_signed(int field)
{
	static const uint64_t fields = 1 << STAT_PID | 0x1f << STAT_PPID |
	    0x3f << STAT_CUTIME | (uint64_t)3 << STAT_EXITSIGNAL |
	    (uint64_t)1 << 44 | (uint64_t)1 << STAT_EXITCODE;

	return (fields >> field & 1) != 0;
}

/*
 * Append to b a line of stat with all fields of st, which stat_parse() can
 * read.
 */
void
stat_print(struct buf *b, const struct procstat *st)
{
	int i;

	buf_printf(b, "%" PRId64 " (%s) %c", (int64_t)st->v[STAT_PID],
	    st->comm, st->state);
	for (i = STAT_PPID; i < STAT_FIELDS; i++)
		if (is_signed(i))
			buf_printf(b, " %" PRId64, (int64_t)st->v[i]);
		else
			buf_printf(b, " %" PRIu64, st->v[i]);
	buf_puts(b, "\n");
}
