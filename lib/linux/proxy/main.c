/*
 * The main loop of the proxy. It has only its socket and the descriptors sent
 * to it, and traces nothing. If it blocks, only the thread that asked waits for
 * it, up to a time limit.
 */
#include "proxying.h"

#include <sys/uio.h>

#include <unistd.h>

static void (*at_end)(void);

/*
 * Set the function that the proxy calls before it exits.
 */
void
serve_end(void (*end)(void))
{
	at_end = end;
}

/*
 * Send the bytes in s, with header a, as one message of the answer.
 */
static void
answer_send(struct serving *s, const struct proxy_answer *a)
{
	const struct iovec v[2] = {
		{ (void *)(uintptr_t)a, sizeof *a }, { s->buf, s->n }
	};

	if (passfd_send(s->sock, v, 2, a->more ? -1 : s->out) == -1)
		s->last = true;
	s->n = 0;
}

/*
 * Return the place for the next bytes of answer s, where at least min bytes are
 * free. Set *room to the number of free bytes.
 */
uint8_t *
serve_room(struct serving *s, size_t min, size_t *room)
{
	const struct proxy_answer more = { .more = true };

	if (sizeof s->buf - s->n < min)
		answer_send(s, &more);
	*room = sizeof s->buf - s->n;
	return s->buf + s->n;
}

/*
 * Append n bytes to answer s.
 */
void
serve_put(struct serving *s, const void *data, size_t n)
{
	const uint8_t *from = data;
	size_t len, room;
	uint8_t *to;

	for (; n > 0; from += len, n -= len) {
		to = serve_room(s, 1, &room);
		len = n < room ? n : room;
		memcpy(to, from, len);
		s->n += len;
	}
}

/*
 * Answer question s by calling fn.
 */
static void
ask_serve(struct serving *s, proxy_fn fn)
{
	struct proxy_answer a = { 0 };

	s->out = -1;
	s->n = 0;
	(void)errstr_set("%s", "");
	errno = 0;
	if (fn(s) == -1) {
		a.error = errno == 0 ? EINVAL : errno;
		s->n = 0;
		serve_put(s, snap_errstr(), strlen(snap_errstr()));
	}
	a.last = s->last;
	answer_send(s, &a);
	fd_drop(s->out);
	fd_drop(s->fd);
}

/*
 * Answer the questions that come through sock, until its other end is closed.
 */
void
proxy_main(int sock)
{
	static uint8_t arg[MAX_PROXY];
	static struct serving s;
	proxy_fn fn;
	const struct iovec v[2] = {
		{ &fn, sizeof fn }, { arg, sizeof arg }
	};
	ssize_t n;

	s.sock = sock;
	s.arg = arg;
	while (!s.last && (n = passfd_receive(sock, v, 2, &s.fd)) >=
	    (ssize_t)sizeof fn) {
		s.len = (size_t)n - sizeof fn;
		ask_serve(&s, fn);
	}
	if (at_end != NULL)
		at_end();
	_exit(0);
}
