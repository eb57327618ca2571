/*
 * Files on file systems whose server may not answer, as sources that are read
 * through the proxy.
 */
#include "file.h"
#include "linux/proxy/proxy.h"
#include "source.h"

#include <unistd.h>

struct farfile {
	struct source	 src;
	int		 fd;	/* owned; opened with O_PATH */
	uint64_t	 number; /* number by which the proxy knows the file */
	uint64_t	 dev;
	struct stat	 st;	/* status of the file when it was opened */
};

/*
 * Read run r of the file into buf. The part of buf beyond the end of the file
 * is filled with zeros. This implements source_ops.read.
 */
static int
far_read(struct source *src, const struct run *r, uint8_t *buf)
{
	const struct farfile *f = (const struct farfile *)src;
	const uint64_t off = r->loc, len = r->n * KB;
	const uint64_t size = (uint64_t)f->st.st_size;
	size_t done;
	ssize_t n;

	for (done = 0; done < len && off + done < size; done += (size_t)n) {
		n = proxy_read(f->fd, f->number, f->dev, f->src.name,
		    buf + done, (size_t)len - done, off + done);
		if (n == -1 && errno == EINTR)
			n = 0;
		else if (n <= 0) {
			errno = n == 0 ? 0 : errno;
			break;
		}
	}
	return source_rest(buf, done, (size_t)len, off, size);
}

static int
far_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	const struct farfile *f = (const struct farfile *)src;

	source_identify(src, (uint64_t)f->st.st_size, loc, n, id);
	return 0;
}

static void
far_free(struct source *src)
{
	close(((struct farfile *)src)->fd);
}

static const struct source_ops far_ops = {
	.read = far_read, .identify = far_identify, .free = far_free
};

/*
 * Return a source of snapshot s that reads file t through the proxy (a process
 * that may hang in our place). Calls for the same file return the same source.
 * name describes the file in messages. t->fd is taken over, even on failure.
 * Return NULL with errstr set if memory runs out.
 */
struct source *
source_far(struct snap *s, const struct targetfile *t, const char *name)
{
	struct source *src;
	struct farfile *f;

	for (src = s->sources; src != NULL; src = src->next) {
		f = (struct farfile *)src;
		if (src->ops == &far_ops && f->st.st_dev == t->st.st_dev &&
		    f->st.st_ino == t->st.st_ino &&
		    f->st.st_size == t->st.st_size) {
			close(t->fd);
			return src;
		}
	}
	if ((f = source_new(s, sizeof *f, &far_ops, name, KB)) == NULL) {
		close(t->fd);
		return NULL;
	}
	f->fd = t->fd;
	f->number = t->number;
	f->dev = t->dev;
	f->st = t->st;
	return &f->src;
}
