/*
 * Lists of named files, on the way into the record of a process: what is
 * below /proc as it is, and what is told of it in other words.
 */
#include "proc.h"
#include "vec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Add a file to a list; its bytes, from malloc(3), belong to the list.
 */
void
filelist_add(struct filelist *l, const char *name, uint8_t *data, size_t len)
{
	char *copy;

	if ((copy = strdup(name)) == NULL || VEC_ROOM(l->file, l->n) == -1) {
		l->failed = true;
		free(copy);
		free(data);
		return;
	}
	l->file[l->n].name = copy;
	l->file[l->n].data = data;
	l->file[l->n++].len = len;
}

/*
 * Add a file that holds text.
 */
void
filelist_text(struct filelist *l, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n == -1)
		l->failed = true;
	else
		filelist_add(l, name, (uint8_t *)s, (size_t)n);
}

/*
 * Add what is in a buffer, which is empty then.
 */
void
filelist_buf(struct filelist *l, const char *name, struct buf *b)
{
	if (b->failed) {
		buf_free(b);
		l->failed = true;
	} else
		filelist_add(l, name, b->data, b->len);
	memset(b, 0, sizeof *b);
}

/*
 * Note that a file below /proc could not be read, with errno, if it is there:
 * proc_islost.
 */
void
filelist_lose(struct filelist *l, const char *name)
{
	if (l->why != 0 || !proc_islost(errno))
		return;
	l->why = errno;
	strlcpy(l->lost, name, sizeof l->lost);
}

/*
 * Add a file below /proc, if it is there, and ours to read.
 */
void
filelist_read(struct filelist *l, pid_t pid, pid_t tid, const char *name)
{
	struct bytes b;

	if (proc_read(pid, tid, name, &b) == 0)
		filelist_add(l, name, b.data, b.len);
	else
		filelist_lose(l, name);
}

/*
 * Add the target of a link below /proc, likewise.
 */
void
filelist_link(struct filelist *l, pid_t pid, pid_t tid, const char *name)
{
	char *s;

	if ((s = proc_link(pid, tid, name)) != NULL)
		filelist_add(l, name, (uint8_t *)s, strlen(s));
	else
		filelist_lose(l, name);
}

void
filelist_free(struct filelist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->file[i].name);
		free(l->file[i].data);
	}
	free(l->file);
	memset(l, 0, sizeof *l);
}
