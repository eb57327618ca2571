/*
 * Read and write the framing of CRIU images, that is, sequences of messages,
 * and check and free the images of a directory, which are kept in memory until
 * they are written.
 */
#include "img.h"
#include "vec.h"
#include "bisect.h"
#include "num.h"

enum { MAX_MESSAGE = 256 * 1024 * KB };	/* maximum size of a message in bytes */

/*
 * Set errstr to a message, formatted as by printf(3), about image im. The
 * message begins with the name of im and, if an entry has been read, the number
 * of the current entry, counted from 1. Return -1.
 */
int
criuimg_error(const struct criuimg *im, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	if (im->entry == 0)
		return errstr_set("%s: %s", im->in->name, why);
	return errstr_set("%s: entry %zu: %s", im->in->name, im->entry, why);
}

/*
 * Check that im begins with the magic numbers of its kind of image, and skip
 * them. magic is the number that identifies the kind.
 */
static int
criuimg_magic(struct criuimg *im, uint32_t magic)
{
	const uint8_t *p;
	uint32_t first, second;
	size_t skip;

	skip = magic == CRIU_INVENTORY ? 0 : 4;
	if ((p = input_peek(im->in, skip + 4)) == NULL)
		return criuimg_error(im, "too short for a CRIU image");
	first = (uint32_t)num_get(p, 4);
	second = (uint32_t)num_get(p + skip, 4);
	if ((skip != 0 && first != CRIU_COMMON) || second != magic)
		return criuimg_error(im, "not a CRIU image of this kind: "
		    "begins with %08x %08x, expected %08x", first,
		    skip == 0 ? 0 : second, magic);
	input_skip(im->in, skip + 4);
	return 0;
}

/*
 * Open the image called name in directory dir as im. Check that its magic
 * number is magic. The caller closes im with criuimg_close(), even on failure.
 * Return 1 on success, 0 if there is no such file, or -1 with errstr set.
 */
int
criuimg_open(struct criuimg *im, const struct imgdir *dir, const char *name,
    uint32_t magic)
{
	int rc;

	memset(im, 0, sizeof *im);
	im->unknown = dir->unknown;
	if ((rc = imgdir_input(dir, name, &im->in)) != 1)
		return rc;
	return criuimg_magic(im, magic) == -1 ? -1 : 1;
}

/*
 * Open a copy of the len bytes at data as image im, which is then called name.
 * Check that its magic number is magic. Return 0, or -1 with errstr set.
 */
int
criuimg_memory(struct criuimg *im, const char *name, const void *data,
    size_t len, uint32_t magic)
{
	memset(im, 0, sizeof *im);
	if ((im->in = input_memory(name, data, len)) == NULL)
		return -1;
	return criuimg_magic(im, magic);
}

/*
 * Find a field of m, or of a message in m, that criu.proto does not list. If w
 * is not NULL, skip fields that were reported. Set *u to the field. Return true
 * if there is one.
 */
static bool
field_unknown(const ProtobufCMessage *m, const struct imgunknown *w,
    struct imgfield *u)
{
	const ProtobufCFieldDescriptor *f;
	ProtobufCMessage *const *v;
	size_t i, n;

	for (i = 0; i < m->n_unknown_fields; i++) {
		*u = (struct imgfield){ m->descriptor,
		    m->unknown_fields[i].tag };
		if (w == NULL || SEEK(w->field, w->n, x->d == u->d &&
		    x->tag == u->tag) == NULL)
			return true;
	}
	for (f = m->descriptor->fields; f < m->descriptor->fields +
	    m->descriptor->n_fields; f++) {
		if (f->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		v = (const void *)((const char *)m + f->offset);
		n = *v != NULL;
		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			memcpy(&n, (const char *)m + f->quantifier_offset,
			    sizeof n);
			v = *(const void *const *)v;
		}
		for (; n > 0; n--, v++)
			if (field_unknown(*v, w, u))
				return true;
	}
	return false;
}

/*
 * Warn of the fields of m, a message of im, that criu.proto does not list. Warn
 * once for each field of a message type.
 */
static void
unknown_report(const struct criuimg *im, const ProtobufCMessage *m)
{
	struct imgunknown *w = im->unknown;

	while (w != NULL && w->n < sizeof w->field / sizeof *w->field &&
	    field_unknown(m, w, &w->field[w->n])) {
		warn_tell(w->warn, w->arg, "%s: entry %zu: field %u of %s is "
		    "unknown: it is kept for criu, and not used otherwise",
		    im->in->name, im->entry, w->field[w->n].tag,
		    w->field[w->n].d->short_name);
		w->n++;
	}
}

/*
 * Return 0 if criu.proto lists all fields of m, a message of im. Otherwise
 * return -1 with errstr set.
 */
int
criuimg_known(const struct criuimg *im, const ProtobufCMessage *m)
{
	struct imgfield u;

	return field_unknown(m, NULL, &u) ? criuimg_error(im, "field %u of "
	    "%s is unknown", u.tag, u.d->short_name) : 0;
}

/*
 * Read the next message of im, which has type d, into *m. Report unknown
 * fields. The caller frees *m with protobuf_c_message_free_unpacked(). Return 1
 * on success, 0 at the end of the image, or -1 with errstr set.
 */
int
criuimg_next(struct criuimg *im, const ProtobufCMessageDescriptor *d, void *m)
{
	ProtobufCMessage **out = m;
	const uint8_t *p;
	uint32_t len;

	*out = NULL;
	if (input_fill(im->in, 1) == 0)
		return input_end(im->in) == -1 ? errstr_wrap("%s",
		    im->in->name) : 0;
	im->entry++;
	if ((p = input_peek(im->in, 4)) == NULL)
		return criuimg_error(im, "image ends in the middle of a "
		    "message length");
	len = (uint32_t)num_get(p, 4);
	if (len > MAX_MESSAGE || len > input_room(im->in))
		return criuimg_error(im, "message too long: %u bytes", len);
	if ((p = input_peek(im->in, 4 + (size_t)len)) == NULL)
		return criuimg_error(im, "message truncated: expected %u "
		    "bytes, read %zu", len, im->in->end - im->in->start - 4);
	*out = protobuf_c_message_unpack(d, NULL, len, p + 4);
	if (*out == NULL)
		return criuimg_error(im, "cannot parse a %s message",
		    d->short_name);
	input_skip(im->in, 4 + (size_t)len);
	unknown_report(im, *out);
	return 1;
}

/*
 * Close im if it is open.
 */
void
criuimg_close(struct criuimg *im)
{
	input_close(im->in);
	im->in = NULL;
}

/*
 * Call fn(arg, im, message) for each message of the image called name in dir.
 * The magic number of the image is magic, and its messages have type d. fn
 * returns 0 to have the message freed, 1 to keep it, or -1 with errstr set.
 * Return 1 on success, 0 if there is no such file, or -1 with errstr set.
 */
int
criuimg_each(const struct imgdir *dir, const char *name, uint32_t magic,
    const ProtobufCMessageDescriptor *d, criuimg_fn *fn, void *arg)
{
	ProtobufCMessage *m;
	struct criuimg im;
	int rc, more, kept;

	rc = criuimg_open(&im, dir, name, magic);
	while (rc == 1 && (more = criuimg_next(&im, d, &m)) != 0) {
		kept = more == -1 ? -1 : fn(arg, &im, m);
		if (more == 1 && kept != 1)
			protobuf_c_message_free_unpacked(m, NULL);
		rc = kept == -1 ? -1 : 1;
	}
	criuimg_close(&im);
	return rc;
}

/*
 * Begin an image: append its two magic numbers to b. magic is the second one.
 * Do not use this for the inventory, which has only one magic number.
 */
void
criuimg_begin(struct buf *b, uint32_t magic)
{
	num_add(b, CRIU_COMMON, 4);
	num_add(b, magic, 4);
}

/*
 * Append the bytes of message m to b.
 */
void
criuimg_pack(struct buf *b, const ProtobufCMessage *m)
{
	const size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *p;

	if (n > 0 && (p = buf_room(b, n)) != NULL)
		b->len += protobuf_c_message_pack(m, p);
}

/*
 * Append message m to image b, which already has its magic numbers.
 */
void
criuimg_add(struct buf *b, const ProtobufCMessage *m)
{
	const size_t at = b->len;

	num_add(b, 0, 4);	/* the size of the message, once it is known */
	criuimg_pack(b, m);
	if (!b->failed)
		num_put(b->data + at, b->len - at - 4, 4);
}

CMP_BY(name_cmp, struct made *const, strcmp((*x)->name, (*y)->name))

/*
 * Check that no image in l is incomplete because memory ran out, and that no
 * two images have the same name. Two images have the same name if two processes
 * or threads have the same pid in their namespaces. Return 0, or -1 with errstr
 * set.
 */
int
mades_check(struct mades *l)
{
	struct made **v;
	size_t i;
	int rc;

	if ((v = mem_new(l->n + 1, sizeof *v)) == NULL)
		return -1;
	for (i = 0; i < l->n; i++)
		v[i] = l->v[i];
	SORT(v, l->n, name_cmp);
	for (rc = 0, i = 0; rc == 0 && i < l->n; i++)
		rc = i > 0 && strcmp(v[i - 1]->name, v[i]->name) == 0 ?
		    errstr_set("two processes or threads have the same "
		    "ID: both need image %s",
		    v[i]->name) : buf_check(&v[i]->b);
	free(v);
	return rc;
}

/*
 * Free all images of l, and leave l empty.
 */
void
mades_free(struct mades *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!l->v[i]->lent)
			buf_free(&l->v[i]->b);
		free(l->v[i]->name);
		free(l->v[i]);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}
