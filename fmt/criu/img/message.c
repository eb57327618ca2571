/*
 * Messages of CRIU images by their descriptors: made, with what hangs from
 * them, in memory that is freed at once, and filled in by the names of their
 * fields.
 */
#include "img.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Return memory of a for n elements of size bytes, all zero; or NULL with
 * errstr.
 */
void *
msgs_get(struct msgs *a, size_t n, size_t size)
{
	void *p;

	if (VEC_ROOM(a->v, a->n) == -1 || (p = mem_new(n, size)) == NULL)
		return NULL;
	return a->v[a->n++] = p;
}

/*
 * Free all that is in a.
 */
void
msgs_free(struct msgs *a)
{
	while (a->n > 0)
		free(a->v[--a->n]);
	free(a->v);
	a->v = NULL;
}

/*
 * Return n messages of the type d, in a row in a; or NULL with errstr.
 */
static void *
msgs_new(struct msgs *a, const ProtobufCMessageDescriptor *d, size_t n)
{
	char *p;
	size_t i;

	if ((p = msgs_get(a, n, d->sizeof_message)) == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		protobuf_c_message_init(d, p + i * d->sizeof_message);
	return p;
}

/*
 * Return the field of message m that lies at an offset of it.
 */
static const ProtobufCFieldDescriptor *
field_at(const ProtobufCMessage *m, size_t at)
{
	const ProtobufCFieldDescriptor *f = m->descriptor->fields;

	while (f->offset != at)
		f++;
	return f;
}

/*
 * Let the field of message m at an offset, which is a message, be a new one, in
 * a.  Return that, or NULL with errstr.
 */
void *
msg_part(struct msgs *a, ProtobufCMessage *m, size_t at)
{
	void *p;

	if ((p = msgs_new(a, field_at(m, at)->descriptor, 1)) != NULL)
		memcpy((char *)m + at, &p, sizeof p);
	return p;
}

/*
 * Let the field of message m at an offset, which is repeated messages, be n new
 * ones, in a.  Return them, in a row, or NULL with errstr.
 */
void *
msg_many(struct msgs *a, ProtobufCMessage *m, size_t at, size_t n)
{
	const ProtobufCFieldDescriptor *f = field_at(m, at);
	const ProtobufCMessageDescriptor *d = f->descriptor;
	char *p, **each;
	size_t i;

	if ((p = msgs_new(a, d, n)) == NULL ||
	    (each = msgs_get(a, n, sizeof *each)) == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		each[i] = p + i * d->sizeof_message;
	memcpy((char *)m + at, &each, sizeof each);
	memcpy((char *)m + f->quantifier_offset, &n, sizeof n);
	return p;
}

/*
 * Set the field f of message m, which is a number, to v, or to its low bits.
 */
static void
number_set(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, uint64_t v)
{
	const protobuf_c_boolean yes = true;
	uint32_t low;

	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		memcpy((char *)m + f->offset, &v, sizeof v);
		break;
	default:
		low = f->type == PROTOBUF_C_TYPE_BOOL ? v != 0 : (uint32_t)v;
		memcpy((char *)m + f->offset, &low, sizeof low);
	}
	if (f->label == PROTOBUF_C_LABEL_OPTIONAL)
		memcpy((char *)m + f->quantifier_offset, &yes, sizeof yes);
}

/*
 * Set the fields of message m whose names are the words of fields, each a
 * number, to the numbers at v, one for each word, or to their low bits.  A word
 * that m has no field of is passed over with its number.
 */
void
msg_fill(ProtobufCMessage *m, const char *fields, const uint64_t *v)
{
	const ProtobufCFieldDescriptor *f;
	const char *s;
	char name[32];
	size_t n;

	for (s = fields; *s != '\0'; s += n + (s[n] == ' '), v++) {
		n = strcspn(s, " ");
		snprintf(name, sizeof name, "%.*s", (int)n, s);
		f = protobuf_c_message_descriptor_get_field_by_name(
		    m->descriptor, name);
		if (f != NULL)
			number_set(m, f, *v);
	}
}
