/*
 * Lists of named files from which the Linux record of a process is made.
 */
#include "model.h"
#include "bisect.h"
#include "num.h"
#include "vec.h"

/*
 * Add to list l a file called name with the len bytes at data. data is from
 * malloc(3) or data_map(); the list takes ownership of it, even on failure. If
 * memory runs out, set l->failed.
 */
void
filelist_add(struct filelist *l, const char *name, uint8_t *data, size_t len)
{
	char *copy;

	if ((copy = strdup(name)) == NULL || VEC_ADD(l->file, l->n,
	    (struct file){ copy, data, len }) == -1) {
		l->failed = true;
		free(copy);
		data_free(data);
	}
}

/*
 * Add to list l a file called name with text formatted as by printf(3). Set
 * l->failed if memory runs out.
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
 * Add to list l a file called name with the bytes of b. Leave b empty. Set
 * l->failed if memory runs out, or if b has failed.
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
 * Add to list l a file called name with a copy of the n bytes at data. Set
 * l->failed if memory runs out.
 */
void
filelist_copy(struct filelist *l, const char *name, const void *data, size_t n)
{
	struct buf b = { 0 };

	buf_add(&b, data, n);
	filelist_buf(l, name, &b);
}

/*
 * Return the first file called name in list l, or NULL.
 */
struct file *
filelist_find(const struct filelist *l, const char *name)
{
	return SEEK(l->file, l->n, strcmp(x->name, name) == 0);
}

/*
 * Move all files of the list *from to the end of l.
 */
void
filelist_join(struct filelist *l, struct filelist *from)
{
	size_t i;

	l->failed |= from->failed;
	if (l->why == 0 && from->why != 0) {
		l->why = from->why;
		memcpy(l->lost, from->lost, sizeof l->lost);
	}
	for (i = 0; i < from->n; i++) {
		filelist_add(l, from->file[i].name, from->file[i].data,
		    from->file[i].len);
		from->file[i].data = NULL;
	}
	filelist_free(from);
}

/*
 * Add to list l a file called name with the n numbers at v, 8 bytes each,
 * little-endian.
 */
void
filelist_nums(struct filelist *l, const char *name, const uint64_t *v, size_t n)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		num_add(&b, v[i], 8);
	filelist_buf(l, name, &b);
}

/*
 * Free the files of list l, and make it empty.
 */
void
filelist_free(struct filelist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->file[i].name);
		data_free(l->file[i].data);
	}
	free(l->file);
	memset(l, 0, sizeof *l);
}
