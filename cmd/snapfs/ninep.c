/*
 * Serve a 9P2000 client: section 5 of the Plan 9 manual. Requests are answered
 * in order, so one that is flushed has been answered already. A message that is
 * too long or has no header ends the connection; other wrong messages are
 * answered with an error.
 */
#include "ninep.h"

#include "bisect.h"
#include "full.h"
#include "num.h"

#include <unistd.h>

enum { RERROR = 107 };

/*
 * A request without a function is not parsed. It is answered with the error or,
 * if that is 0, with an empty answer.
 */
static const struct request {
	uint8_t		 type;
	const char	*form;	/* as for msg_parse() */
	int		(*answer)(struct client *); /* returns 0 or an errno
						       value */
	int		 error;	/* errno value */
} requests[] = {
	{ 100, "4s", answer_version, 0 },
	{ 102, NULL, NULL, EOPNOTSUPP },	/* Tauth */
	{ 104, "44ss", answer_attach, 0 },
	{ 108, NULL, NULL, 0 },			/* Tflush */
	{ 110, "44w", answer_walk, 0 },
	{ 112, "41", answer_open, 0 },
	{ 114, NULL, NULL, EROFS },		/* Tcreate */
	{ 116, "484", answer_read, 0 },
	{ 118, NULL, NULL, EROFS },		/* Twrite */
	{ 120, "4", answer_clunk, 0 },
	{ 122, "4", answer_remove, 0 },
	{ 124, "4", answer_stat, 0 },
	{ 126, NULL, NULL, EROFS }		/* Twstat */
};

/*
 * Answer the request of n bytes. Return false if the connection has ended.
 */
static bool
request_answer(struct client *c, size_t n)
{
	const struct request *q = SEEK_IN(requests, x->type == c->in[4]);
	int rc;

	c->n = HEADER;
	if (q == NULL)
		rc = ENOSYS;
	else if (c->msize == 0 && q->answer != answer_version)
		rc = EPROTO;
	else if (q->answer == NULL)
		rc = q->error;
	else
		rc = msg_parse(c, q->form, n) ? q->answer(c) : EBADMSG;
	if (rc != 0) {
		c->n = HEADER;
		msg_putstring(c, strerror(rc));
	}
	msg_putat(c, 0, c->n, 4);
	c->out[4] = rc != 0 ? RERROR : (uint8_t)(q->type + 1);
	memcpy(c->out + 5, c->in + 5, 2);
	return full_write(c->fd, c->out, c->n) == 0;
}

static bool
read_whole(int fd, uint8_t *p, size_t n)
{
	ssize_t got;

	for (; n > 0; p += got, n -= (size_t)got)
		if ((got = read(fd, p, n)) <= 0)
			return false;
	return true;
}

/*
 * Read a request. Return its size in bytes, or 0 at the end of the connection.
 */
static size_t
request_read(struct client *c)
{
	size_t n;

	if (!read_whole(c->fd, c->in, 4))
		return 0;
	n = (size_t)num_get(c->in, 4);
	if (n < HEADER || n > (c->msize != 0 ? c->msize : MSIZE_MAX))
		return 0;
	return read_whole(c->fd, c->in + 4, n - 4) ? n : 0;
}

/*
 * Serve sv to the client at descriptor fd until the connection ends.
 */
void
ninep_serve(struct served *sv, int fd)
{
	struct client *c;
	size_t n;

	if ((c = calloc(1, sizeof *c)) == NULL)
		return;
	c->sv = sv;
	c->fd = fd;
	while ((n = request_read(c)) != 0 && request_answer(c, n))
		continue;
	fids_free(c);
	free(c);
}
