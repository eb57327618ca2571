/*
 * Answer the other side of a move: snap-internals(7) lists the lines.
 */
#include "receive.h"

#include "common/common.h"

#include <unistd.h>

/*
 * Send line to the other side as an answer. Ignore errors: if the other side is
 * gone, the end of standard input shows this.
 */
void
answer(const char *line)
{
	char text[600];
	int n;

	n = snprintf(text, sizeof text, "%s\n", line);
	/* at most PIPE_BUF bytes, so lines of two threads do not mix */
	if (write(STDOUT_FILENO, text, (size_t)n) == -1)
		return;
}

/*
 * Answer that the move has failed with outcome end, for the reason in errstr.
 */
void
refuse(enum outcome end)
{
	static const char *const words[] = {
		[UNDONE] = "undone", [KILLED] = "ran", [UNKNOWN] = "failed"
	};
	char text[500];	/* see far_read() of snap */

	snprintf(text, sizeof text, "%s far side: %s", words[end],
	    snap_errstr());
	answer(text_sanitize(text));
}

/*
 * Every second, show the other side that we are alive. This is the main
 * function of a thread.
 */
void *
beat(void *arg)
{
	(void)arg;
	for (;;) {
		answer("alive");
		sleep(1);
	}
	return NULL;
}
