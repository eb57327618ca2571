/*
 * Streams in, from a file or a pipe: a reader looks at the next bytes and
 * skips them.  Nothing is allocated for a length that a stream claims
 * until its bytes have come.
 */
#include "snap.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024 };

/*
 * Open a stream: a path, or NULL or "-" for standard input.
 */
struct input *
input_open(const char *path)
{
	struct input *in;
	struct stat st;
	bool std;

	std = path == NULL || strcmp(path, "-") == 0;
	if (std)
		path = "standard input";
	if ((in = calloc(1, sizeof *in)) == NULL ||
	    (in->name = strdup(path)) == NULL ||
	    (in->buf = malloc(CHUNK)) == NULL) {
		errstr_set("out of memory");
		in != NULL ? in->fd = -1 : 0;
		goto fail;
	}
	in->cap = CHUNK;
	in->fd = std ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
	    open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd == -1 || fstat(in->fd, &st) == -1) {
		errstr_sys("%s", path);
		goto fail;
	}
	if (std && isatty(in->fd)) {
		errstr_set("standard input is a terminal; name a file");
		goto fail;
	}
	if (S_ISDIR(st.st_mode)) {
		errstr_set("%s: is a directory", path);
		goto fail;
	}
	in->st = st;
	in->size = UINT64_MAX;
	if (S_ISREG(st.st_mode)) {
		in->origin = lseek(in->fd, 0, SEEK_CUR);
		in->size = st.st_size < in->origin ? 0 :
		    (uint64_t)(st.st_size - in->origin);
		(void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return in;
fail:
	input_close(in);
	return NULL;
}

/*
 * A stream of len bytes in memory, which are copied.
 */
struct input *
input_memory(const char *name, const void *data, size_t len)
{
	struct input *in;

	if ((in = calloc(1, sizeof *in)) == NULL ||
	    (in->name = strdup(name)) == NULL ||
	    (in->buf = malloc(len + 1)) == NULL) {
		if (in != NULL)
			free(in->name);
		free(in);
		errstr_set("out of memory");
		return NULL;
	}
	if (len > 0)
		memcpy(in->buf, data, len);
	in->fd = -1;
	in->cap = len + 1;
	in->end = len;
	in->size = len;
	in->eof = true;
	return in;
}

void
input_close(struct input *in)
{
	if (in == NULL)
		return;
	if (in->fd != -1)
		close(in->fd);
	free(in->name);
	free(in->buf);
	free(in);
}

/*
 * Have at least n bytes at hand, if the stream has so many.  Returns how
 * many there are: less than n at the end of the stream or on an error, with
 * the error string set (to "" at the end).
 */
size_t
input_fill(struct input *in, size_t n)
{
	uint8_t *p;
	size_t have;
	ssize_t r;

	have = in->end - in->start;
	if (have >= n)
		return have;
	if (in->start > 0) {
		memmove(in->buf, in->buf + in->start, have);
		in->start = 0;
		in->end = have;
	}
	errstr_set("%s", "");
	while (in->end < n && !in->eof) {
		if (in->end == in->cap) {
			if ((p = realloc(in->buf, in->cap * 2)) == NULL) {
				errstr_set("out of memory");
				break;
			}
			in->buf = p;
			in->cap *= 2;
		}
		r = read(in->fd, in->buf + in->end, in->cap - in->end);
		if (r == -1 && errno == EINTR)
			continue;
		if (r == -1) {
			errstr_sys("read");
			break;
		}
		if (r == 0)
			in->eof = true;
		in->end += (size_t)r;
	}
	return in->end;
}

/*
 * The next n bytes, valid until the next call, or NULL when there are not
 * so many.
 */
const uint8_t *
input_peek(struct input *in, size_t n)
{
	return input_fill(in, n) >= n ? in->buf + in->start : NULL;
}

/*
 * Skip n bytes, all of which have been looked at.
 */
void
input_skip(struct input *in, size_t n)
{
	in->start += n;
	in->pos += n;
}
