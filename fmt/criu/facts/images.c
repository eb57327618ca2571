/*
 * Keep the images that are being made in memory: all files of an image
 * directory.
 */
#include "facts.h"
#include "bisect.h"
#include "num.h"
#include "vec.h"

/*
 * Add an image to m->out, with a name formatted as by vprintf(3). Start its
 * content with the magic number magic. Return the image, or NULL with errstr
 * set.
 */
static struct made *
made_new(struct criumake *m, uint32_t magic, const char *fmt, va_list ap)
{
	struct made *im;

	if (VEC_ROOM(m->out->v, m->out->n) == -1 ||
	    (im = mem_new(1, sizeof *im)) == NULL)
		return NULL;
	if (vasprintf(&im->name, fmt, ap) == -1) {
		free(im);
		errstr_set("out of memory");
		return NULL;
	}
	if (magic == CRIU_INVENTORY)	/* the inventory lacks the common
					   first magic number */
		num_add(&im->b, magic, 4);
	else if (magic != CRIU_RAW)
		criuimg_begin(&im->b, magic);
	m->out->v[m->out->n++] = im;
	return im;
}

/*
 * Add an image to m->out, with a name formatted as by printf(3). Start its
 * content with the magic number magic. Return the image, or NULL with errstr
 * set.
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
 * Add an image with the single message e to m->out. Its name is formatted as by
 * printf(3), and its magic number is magic. Free m->msgs, which owns the parts
 * of e. Return 0, or -1 with errstr set.
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
	pool_free(&m->msgs);
	return im == NULL ? -1 : 0;
}

/*
 * Return the content of the image called name, which all processes share. The
 * first call creates the image, with magic number magic. Return NULL with
 * errstr set on error.
 */
struct buf *
make_common(struct criumake *m, uint32_t magic, const char *name)
{
	struct made *im;

	im = PSEEK(m->common, m->ncommon, strcmp(x->name, name) == 0);
	if (im != NULL)
		return &im->b;
	if (m->ncommon == sizeof m->common / sizeof *m->common ||
	    (im = make_image(m, magic, "%s", name)) == NULL)
		return NULL;
	m->common[m->ncommon++] = im;
	return &im->b;
}
