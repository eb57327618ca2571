/*
 * The error string: one sentence for each thread, set where a failure is found,
 * and prefixed with context by callers, as errstr(2) of Plan 9. And warnings:
 * sentences passed to a callback, one for each thing missing from a snapshot
 * that is read or written.
 */
#include "model.h"

enum { ERRMAX = 1024 };

static _Thread_local char text[ERRMAX];

/*
 * Set the error string to s, and make it safe for a terminal, since it may
 * quote untrusted text.
 */
static void
text_set(const char *s)
{
	strlcpy(text, s, sizeof text);
	text_sanitize(text);
}

/*
 * Return the error string: a sentence about the last failure in this thread.
 */
const char *
snap_errstr(void)
{
	return text;
}

/*
 * Set the error string to text formatted as by printf(3). Always return -1, so
 * that callers can return its result.
 */
int
errstr_set(const char *fmt, ...)
{
	char s[ERRMAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	text_set(s);
	return -1;
}

/*
 * Set the error string to text formatted as by printf(3), a colon, and
 * strerror(3) of errno. Leave errno unchanged and return -1.
 */
int
errstr_sys(const char *fmt, ...)
{
	char s[ERRMAX];
	va_list ap;
	int e;

	e = errno;
	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	if (strlen(s) > ERRMAX - 128)
		s[ERRMAX - 128] = '\0';
	strlcat(s, ": ", sizeof s);
	strlcat(s, strerror(e), sizeof s);
	text_set(s);
	errno = e;
	return -1;
}

/*
 * Prefix the error string with text formatted as by printf(3) and a colon.
 * Return -1.
 */
int
errstr_wrap(const char *fmt, ...)
{
	char s[ERRMAX], old[ERRMAX];
	va_list ap;

	strlcpy(old, text, sizeof old);
	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	strlcat(s, ": ", sizeof s);
	strlcat(s, old, sizeof s);
	text_set(s);
	return -1;
}

/*
 * Call warn with arg and a sentence formatted as by vprintf(3). Do nothing if
 * warn is NULL.
 */
void
warn_vtell(warn_fn warn, void *arg, const char *fmt, va_list ap)
{
	char *s;

	if (warn == NULL || vasprintf(&s, fmt, ap) == -1)
		return;
	warn(arg, s);
	free(s);
}

/*
 * Call warn with arg and a sentence formatted as by printf(3). Do nothing if
 * warn is NULL.
 */
void
warn_tell(warn_fn warn, void *arg, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_vtell(warn, arg, fmt, ap);
	va_end(ap);
}
