/*
 * Build messages of CRIU images from their descriptors. Their parts are in
 * pools, and fields are set by name.
 */
#include "img.h"
#include "num.h"

/*
 * Allocate n consecutive messages of type d, owned by *a. Return them, or NULL
 * with errstr set.
 */
static void *
msgs_new(struct pool *a, const ProtobufCMessageDescriptor *d, size_t n)
{
	char *p;
	size_t i;

	if ((p = pool_new(a, n, d->sizeof_message)) == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		protobuf_c_message_init(d, p + i * d->sizeof_message);
	return p;
}

/*
 * Return the descriptor of the field at offset off in message m.
 */
static const ProtobufCFieldDescriptor *
field_at(const ProtobufCMessage *m, size_t off)
{
	const ProtobufCFieldDescriptor *f = m->descriptor->fields;

	while (f->offset != off)
		f++;
	return f;
}

/*
 * Set the message field of m at offset off to a new message, owned by *a.
 * Return the new message, or NULL with errstr set.
 */
void *
msg_part(struct pool *a, ProtobufCMessage *m, size_t off)
{
	void *p;

	if ((p = msgs_new(a, field_at(m, off)->descriptor, 1)) != NULL)
		memcpy((char *)m + off, &p, sizeof p);
	return p;
}

/*
 * Return the size in bytes of an element of the repeated field f.
 */
static size_t
field_width(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return 8;
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	default:
		return 4;
	}
}

/*
 * Set the repeated field of m at offset off to n new messages, or n zeros,
 * owned by *a. Return the array of messages or numbers, or NULL with errstr
 * set.
 */
void *
msg_many(struct pool *a, ProtobufCMessage *m, size_t off, size_t n)
{
	const ProtobufCFieldDescriptor *f = field_at(m, off);
	const ProtobufCMessageDescriptor *d = f->descriptor;
	char *p, **each;
	void *v;
	size_t i;

	if ((v = pool_new(a, n, field_width(f))) == NULL)
		return NULL;
	p = v;
	if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
		if ((p = msgs_new(a, d, n)) == NULL)
			return NULL;
		for (each = v, i = 0; i < n; i++)
			each[i] = p + i * d->sizeof_message;
	}
	memcpy((char *)m + off, &v, sizeof v);
	memcpy((char *)m + f->quantifier_offset, &n, sizeof n);
	return p;
}

/*
 * Append a new message, owned by *a, to the repeated field of m at offset off.
 * No other function may have filled that field. Return the new message, or NULL
 * with errstr set.
 */
void *
msg_push(struct pool *a, ProtobufCMessage *m, size_t off)
{
	const ProtobufCFieldDescriptor *f = field_at(m, off);
	void **v, *p;
	size_t n;

	memcpy(&v, (char *)m + off, sizeof v);
	memcpy(&n, (char *)m + f->quantifier_offset, sizeof n);
	if ((p = msgs_new(a, f->descriptor, 1)) == NULL ||
	    POOL_ADD(a, v, n, p) == -1)
		return NULL;
	memcpy((char *)m + off, &v, sizeof v);
	memcpy((char *)m + f->quantifier_offset, &n, sizeof n);
	return p;
}

/*
 * Set the repeated field of m at offset off to the n little-endian numbers at
 * p. *a owns the memory of the field. Return 0, or -1 with errstr set.
 */
int
msg_bytes(struct pool *a, ProtobufCMessage *m, size_t off, const uint8_t *p,
    size_t n)
{
	const size_t width = field_width(field_at(m, off));
	uint64_t num;
	uint32_t low;
	char *v;

	if ((v = msg_many(a, m, off, n)) == NULL)
		return -1;
	for (; n > 0; n--, p += width, v += width) {
		num = num_get(p, width);
		low = (uint32_t)num;
		memcpy(v, width == 8 ? (void *)&num : (void *)&low, width);
	}
	return 0;
}

/*
 * Set numeric field f of message m to v, truncated to the width of the field.
 */
static void
number_set(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, uint64_t v)
{
	const protobuf_c_boolean yes = true;
	const uint32_t low = f->type == PROTOBUF_C_TYPE_BOOL ? v != 0 :
	    (uint32_t)v;

	if (field_width(f) == 8)
		memcpy((char *)m + f->offset, &v, sizeof v);
	else
		memcpy((char *)m + f->offset, &low, sizeof low);
	if (f->label == PROTOBUF_C_LABEL_OPTIONAL)
		memcpy((char *)m + f->quantifier_offset, &yes, sizeof yes);
}

/*
 * Advance *fields past its first word. Return the field of message m that this
 * word names, or NULL if m has no such field.
 */
static const ProtobufCFieldDescriptor *
field_next(const ProtobufCMessage *m, const char **fields)
{
	char name[32];
	size_t n;

	n = strcspn(*fields, " ");
	snprintf(name, sizeof name, "%.*s", (int)n, *fields);
	*fields += n + ((*fields)[n] == ' ');
	return protobuf_c_message_descriptor_get_field_by_name(m->descriptor,
	    name);
}

/*
 * Set the numeric fields of m that are named in fields to the numbers at v, one
 * for each name, each cut to the width of its field. Skip a name that is not a
 * field of m, together with its number.
 */
void
msg_fill(ProtobufCMessage *m, const char *fields, const uint64_t *v)
{
	const ProtobufCFieldDescriptor *f;

	for (; *fields != '\0'; v++)
		if ((f = field_next(m, &fields)) != NULL)
			number_set(m, f, *v);
}

/*
 * Copy the numeric fields of m that are named in fields to the numbers at v,
 * one for each name. For a name that is not a field of m, leave the number
 * unchanged. Return the number of names.
 */
size_t
msg_take(const ProtobufCMessage *m, const char *fields, uint64_t *v)
{
	const ProtobufCFieldDescriptor *f;
	uint32_t low;
	size_t n;

	for (n = 0; *fields != '\0'; n++) {
		if ((f = field_next(m, &fields)) == NULL)
			continue;
		if (field_width(f) == 8) {
			memcpy(&v[n], (const char *)m + f->offset, 8);
			continue;
		}
		memcpy(&low, (const char *)m + f->offset, sizeof low);
		v[n] = low;
	}
	return n;
}
