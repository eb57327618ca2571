/*
 * Hold back messages until the processes run again, because the terminal or the
 * reader of standard error may be one of them.
 */
#include "job.h"

#include <pthread.h>

static struct buf messages;	/* messages held back, each ended by NUL */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool holding;

/*
 * Print text, a sentence, or store it while messages are held back. This is the
 * warn callback for everything that snap(1) calls. Any thread may call it. arg
 * is not used.
 */
void
say(void *arg, const char *text)
{
	(void)arg;
	if (!holding) {
		program_warn("%s", text);
		return;
	}
	pthread_mutex_lock(&lock);
	buf_add(&messages, text, strlen(text) + 1);
	pthread_mutex_unlock(&lock);
}

/*
 * Hold back messages until say_kept() is called.
 */
void
say_hold(void)
{
	holding = true;
}

/*
 * Discard text. This is a warn callback.
 */
void
say_nothing(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/*
 * Print the messages that were held back or, if drop is true, discard them.
 */
void
say_kept(bool drop)
{
	const char *s;
	size_t at;

	holding = false;
	for (at = 0; at < messages.len; at += strlen(s) + 1) {
		s = (const char *)messages.data + at;
		if (!drop)
			program_warn("%s", s);
	}
	buf_free(&messages);
}

/*
 * Finish output out, to which snapshot s was written, and print the totals of
 * s. Return 0, or -1 with errstr set.
 */
int
say_totals(const struct snap *s, struct output *out)
{
	char text[240];

	if (output_end(out) == -1)
		return -1;
	totals_text(s, out, text, sizeof text);
	say(NULL, text);
	if (totals_plan9(s, text, sizeof text))
		say(NULL, text);
	return 0;
}
