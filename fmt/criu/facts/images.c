/*
 * The images that are made, in memory: all of a directory.
 */
#include "facts.h"
#include "num.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Return a new image whose name is made of fmt and ap, with the head that a
 * magic number makes; or NULL with errstr.
 */
static struct made *
made_new(struct criumake *m, uint32_t magic, const char *fmt, va_list ap)
{
	struct made *im;

	if (VEC_ROOM(m->out->v, m->out->n) == -1)
		return NULL;
	if ((im = mem_new(1, sizeof *im)) == NULL)
		return NULL;
	if (vasprintf(&im->name, fmt, ap) == -1) {
		free(im);
		errstr_set("out of memory");
		return NULL;
	}
	if (magic == CRIU_INVENTORY)	/* it has no first word */
		num_add(&im->b, magic, 4);
	else if (magic != CRIU_RAW)
		criuimg_begin(&im->b, magic);
	m->out->v[m->out->n++] = im;
	return im;
}

/*
 * Return a new image whose name is made of fmt as printf(3) does, with the head
 * that a magic number makes, which is among those of m->out; or NULL with
 * errstr.
 */
struct made *
make_image(struct criumake *m, uint32_t magic, const char *fmt, ...)
{
	struct made *im;
	va_list ap;

	va_start(ap, fmt);
	im = made_new(m, magic, fmt, ap);
	va_end(ap);
	return im;
}

/*
 * Make such an image of the one message e, and free m->msgs, what hangs from
 * it.  Return 0, or -1 with errstr.
 */
int
make_message(struct criumake *m, uint32_t magic, const ProtobufCMessage *e,
    const char *fmt, ...)
{
	struct made *im;
	va_list ap;

	va_start(ap, fmt);
	im = made_new(m, magic, fmt, ap);
	va_end(ap);
	if (im != NULL)
		criuimg_add(&im->b, e);
	msgs_free(&m->msgs);
	return im == NULL ? -1 : 0;
}

/*
 * Return what is in the one image of that name, with the head that a magic
 * number makes, which is made when it is first asked for; or NULL with errstr.
 * Such images are few.
 */
struct buf *
make_common(struct criumake *m, uint32_t magic, const char *name)
{
	struct made *im;
	size_t i;

	for (i = 0; i < m->ncommon; i++)
		if (strcmp(m->common[i]->name, name) == 0)
			return &m->common[i]->b;
	if (m->ncommon == sizeof m->common / sizeof *m->common ||
	    (im = make_image(m, magic, "%s", name)) == NULL)
		return NULL;
	m->common[m->ncommon++] = im;
	return &im->b;
}
