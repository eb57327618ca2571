/*
 * Show the progress of long work. The work counts in a struct progress; a
 * thread here looks at it and keeps one line on the terminal up to date. On
 * SIGUSR1 it prints the state to standard error, whatever that is.
 *
 * The thread writes only what standard error takes without waiting: the
 * terminal may belong to a process that is stopped until the work is done, and
 * the work must not wait for that process.
 */
#include "common.h"
#include "clock.h"
#include "worker.h"

#include <sys/ioctl.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
	STEP = 250,		/* milliseconds between two checks */
	LONG = 1000 /* milliseconds before the progress line is shown */
};

static struct {
	struct progress	*p; /* borrowed; NULL: no progress is shown */
	pthread_t	 thread;
	atomic_bool	 quit;
	pthread_mutex_t	 lock;		/* protects the members below */
	bool		 drawn; /* the progress line is on the terminal */
	uint64_t	 until; /* time before which nothing is drawn, as
				   returned by now_ms() */
	bool		 stalled;	/* the stalled write was reported */
	unsigned int	 writes; /* value of p->writes at the last check */
	uint64_t	 since; /* time at which the current write was first
				   seen */
} shown = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Write v, a number of bytes, as text in units of K or M to s, which has room
 * for n bytes.
 */
static void
put_bytes(char *s, size_t n, uint64_t v)
{
	if (v < 10 * KB * KB)
		snprintf(s, n, "%juK", (uintmax_t)(v / KB));
	else
		snprintf(s, n, "%juM", (uintmax_t)(v / (KB * KB)));
}

static void
put_state(const struct progress *p, char *s, size_t n)
{
	char done[24], total[32], raw[24], zero[24], same[24], rate[24];
	char left[32];
	uint64_t ms, all, bytes, sec;

	bytes = p->done;
	all = p->total;
	ms = now_ms() - p->began;
	put_bytes(done, sizeof done, bytes);
	put_bytes(raw, sizeof raw, p->raw * KB);
	put_bytes(zero, sizeof zero, p->zero * KB);
	put_bytes(same, sizeof same, p->same * KB);
	put_bytes(rate, sizeof rate, bytes * 1000 / (ms + 1));
	*total = *left = '\0';
	if (all > 0 && bytes <= all) {
		strlcpy(total, " of ", sizeof total);
		put_bytes(total + 4, sizeof total - 4, all);
	}
	if (all > 0 && bytes <= all && bytes > 0) {
		sec = (uint64_t)((double)(all - bytes) / (double)bytes *
		    (double)ms / 1000 + 0.5);
		snprintf(left, sizeof left, ", %ju:%02ju left",
		    (uintmax_t)(sec / 60), (uintmax_t)(sec % 60));
	}
	snprintf(s, n, "%s: %s%s read, raw %s, zero %s, shared %s, %s/s%s",
	    getprogname(), done, total, raw, zero, same, rate, left);
}

/*
 * Write line s to standard error if this is possible without waiting. Return
 * true if anything was written.
 */
static bool
put_line(const char *s)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0 &&
	    write(STDERR_FILENO, s, strlen(s)) > 0;
}

/*
 * If standard error is a terminal, set *width to its number of columns. Return
 * true if we are also in its foreground process group.
 */
static bool
is_watched(size_t *width)
{
	struct winsize w;
	pid_t group;

	if (!isatty(STDERR_FILENO))
		return false;
	*width = 80;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		*width = w.ws_col;
	group = tcgetpgrp(STDERR_FILENO);
	return group <= 0 || group == getpgrp();
}

/*
 * Erase the progress line from the terminal. The caller must hold the lock.
 */
static void
line_clear(void)
{
	if (shown.drawn && put_line("\r\033[K"))
		shown.drawn = false;
}

/*
 * Draw the progress line if at least LONG milliseconds have passed since the
 * work began. start is the time when it began, and now is the current time.
 */
static void
line_draw(uint64_t start, uint64_t now)
{
	char text[160], line[200];
	size_t width;

	if (now - start < LONG || now < shown.until || !is_watched(&width))
		return;
	put_state(shown.p, text, sizeof text);
	if (width <= strlen(text))
		text[width - 1] = '\0';
	snprintf(line, sizeof line, "\r%s\033[K", text);
	shown.drawn |= put_line(line);
}

/*
 * Print text, a sentence. The caller must hold the lock. Return true if
 * anything was written.
 */
static bool
text_print(const char *text)
{
	char line[160];

	line_clear();
	snprintf(line, sizeof line, "%s: %s\n", getprogname(), text);
	shown.until = now_ms() + STEP;
	return put_line(line);
}

/*
 * If the same write has been waiting for LONG milliseconds, print that the
 * processes stay stopped until the output is read. Print this only once. now is
 * the current time.
 */
static void
stall_print(uint64_t now)
{
	const struct progress *p = shown.p;
	unsigned int writes;

	writes = p->writes;
	if (writes % 2 == 0 || writes != shown.writes || !p->held) {
		shown.writes = writes;
		shown.since = now;
		return;
	}
	if (!shown.stalled && now - shown.since >= LONG)
		shown.stalled = text_print("the processes stay stopped until "
		    "the output is read");
}

static void *
progress_work(void *arg)
{
	const struct timespec step = { .tv_nsec = STEP * 1000000 };
	char text[160], line[200];
	uint64_t start, now;
	sigset_t usr1;
	int sig;

	(void)arg;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	start = now_ms();
	while (!shown.quit) {
		sig = sigtimedwait(&usr1, NULL, &step);
		if (shown.quit)
			break;
		now = now_ms();
		pthread_mutex_lock(&shown.lock);
		if (sig == SIGUSR1) {
			line_clear();
			put_state(shown.p, text, sizeof text);
			snprintf(line, sizeof line, "%s\n", text);
			(void)put_line(line);
		}
		stall_print(now);
		line_draw(start, now);
		pthread_mutex_unlock(&shown.lock);
	}
	return NULL;
}

/*
 * Show the progress counted in p until progress_hide() is called. Block SIGUSR1
 * in the calling thread and in threads that it creates.
 */
void
progress_show(struct progress *p)
{
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	progress_phase(p, 0);
	shown.p = p;
	if (worker_start(&shown.thread, progress_work, NULL) != 0)
		shown.p = NULL;
}

/*
 * Print text, a sentence, but only if this is possible without waiting: the
 * terminal may belong to a process that is stopped.
 */
void
progress_say(const char *text)
{
	pthread_mutex_lock(&shown.lock);
	(void)text_print(text);
	pthread_mutex_unlock(&shown.lock);
}

/*
 * Erase the progress line to make room for a message.
 */
void
progress_clear(void)
{
	pthread_mutex_lock(&shown.lock);
	line_clear();
	shown.until = now_ms() + STEP;
	pthread_mutex_unlock(&shown.lock);
}

/*
 * Stop showing progress, because the work is done.
 */
void
progress_hide(void)
{
	if (shown.p == NULL)
		return;
	shown.quit = true;
	pthread_kill(shown.thread, SIGUSR1);
	pthread_join(shown.thread, NULL);
	shown.p = NULL;
	line_clear();
}
