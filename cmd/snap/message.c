/*
 * Messages that wait: what is to be said is kept until the processes run
 * again, for who shows it may be one of them.
 */
#include "job.h"

#include <sys/queue.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct message {
	STAILQ_ENTRY(message) entry;
	char		*text;
};

static STAILQ_HEAD(, message) messages = STAILQ_HEAD_INITIALIZER(messages);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool holding;

/*
 * Say text, a sentence, or keep it: the warn function of all that snap(1)
 * calls. arg is not used.  Any thread may call it.
 */
void
say(void *arg, const char *text)
{
	struct message *m;

	(void)arg;
	if (!holding) {
		program_warn("%s", text);
		return;
	}
	pthread_mutex_lock(&lock);
	if ((m = malloc(sizeof *m)) == NULL ||
	    (m->text = strdup(text)) == NULL) {
		free(m);
		m = NULL;
	}
	if (m != NULL)
		STAILQ_INSERT_TAIL(&messages, m, entry);
	pthread_mutex_unlock(&lock);
}

/*
 * Keep what is said from here on, until say_kept.
 */
void
say_hold(void)
{
	holding = true;
}

/*
 * Say what was kept, or drop it.
 */
void
say_kept(bool drop)
{
	struct message *m;

	holding = false;
	while ((m = STAILQ_FIRST(&messages)) != NULL) {
		STAILQ_REMOVE_HEAD(&messages, entry);
		if (!drop)
			program_warn("%s", m->text);
		free(m->text);
		free(m);
	}
}

/*
 * End output out and say what was written to it of s.  Return 0, or -1 with
 * errstr.
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
