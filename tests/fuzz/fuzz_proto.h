/*
 * Changes of a directory of CRIU images (fuzz_dir.h): of a field at any depth
 * of a message of a file. The lengths around it are corrected.
 *
 *	image	magic ... u32 length, message, ... (criu/img/img.h)
 *	message	key (number << 3 | type), value ...
 */
#ifndef FUZZ_PROTO_H
#define FUZZ_PROTO_H

#include "fuzz_mutate.h"

enum { FIELDS = 512, NESTED = 8 };

enum { VARINT = 0, WORD64 = 1, BYTES = 2, WORD32 = 5 };

struct field {
	size_t	 at;		/* offset of the key */
	size_t	 value;		/* offset after the key and the length */
	size_t	 end;
	int	 type;
};

/*
 * Find the fields of a message. Return their number; 0 if it is not a message.
 */
static size_t
fields_get(const uint8_t *p, size_t n, struct field f[FIELDS])
{
	size_t at, k;
	uint64_t v;

	for (at = k = 0; at < n && k < FIELDS; k++) {
		f[k].at = at;
		if (!varint_get(p, n, &at, &v) || v >> 3 == 0)
			return 0;
		f[k].type = (int)(v & 7);
		f[k].value = at;
		if (f[k].type == VARINT && !varint_get(p, n, &at, &v))
			return 0;
		v = f[k].type == WORD64 ? 8 : f[k].type == WORD32 ? 4 : 0;
		if (f[k].type == BYTES && !varint_get(p, n, &at, &v))
			return 0;
		if (f[k].type != VARINT && f[k].type != WORD64 &&
		    f[k].type != BYTES && f[k].type != WORD32)
			return 0;
		if (f[k].type == BYTES)
			f[k].value = at;
		if (v > n - at)
			return 0;
		at += (size_t)v;
		f[k].end = at;
	}
	return k;
}

/*
 * Change a message of n bytes that has room for max. Return its new length.
 */
static size_t
message_mutate(uint8_t *p, size_t n, size_t max, int depth)
{
	uint8_t s[4096 + 16], num[10];
	struct field f[FIELDS];
	size_t k, len, got, key;
	const struct field *t;
	uint64_t v;

	if ((k = fields_get(p, n, f)) == 0 || mutate_pick(32) == 0)
		return depth > 0 && n > 0 && mutate_pick(2) ?
		    mutate_text(p, n, max) : LLVMFuzzerMutate(p, n, max);
	t = &f[mutate_pick(k)];
	len = t->end - t->at;
	switch (mutate_pick(8)) {
	case 0:
		return mutate_put(p, n, max, t->at, t->end, NULL, 0);
	case 1:
		if (len > sizeof s)
			return n;
		memcpy(s, p + t->at, len);
		k = f[mutate_pick(k)].at;
		return mutate_put(p, n, max, k, k, s, len);
	}
	if (t->type == WORD32 || t->type == WORD64) {
		num_put(p + t->value, mutate_number(), t->end - t->value);
		return n;
	}
	if (t->type == VARINT) {
		got = t->value;
		(void)varint_get(p, n, &got, &v);
		v = mutate_pick(2) ? v + mutate_pick(9) - 4 : mutate_number();
		return mutate_put(p, n, max, t->value, t->end, num,
		    varint_put(num, v));
	}
	len = t->end - t->value;
	if (len > 4000 || depth > NESTED)
		return n;
	memcpy(s + 16, p + t->value, len);
	got = message_mutate(s + 16, len, 4096, depth + 1);
	for (key = t->at; p[key] & 0x80; key++)
		continue;
	k = varint_put(num, got);
	memcpy(s + 16 - k, num, k);
	return mutate_put(p, n, max, key + 1, t->end, s + 16 - k, k + got);
}

/*
 * Change one of the messages of an image.
 */
static size_t
image_mutate(uint8_t *p, size_t n, size_t max)
{
	size_t start[64], k, at, len, got;
	uint8_t *s;

	at = n >= 4 && num_get(p, 4) == 0x54564319 ? 8 : 4;
	for (k = 0; k < 64 && at + 4 <= n; k++) {
		start[k] = at;
		len = (size_t)num_get(p + at, 4);
		if (len > n - at - 4)
			break;
		at += 4 + len;
	}
	if (k == 0)
		return mutate_binary(p, n, max);
	at = start[mutate_pick(k)];
	len = (size_t)num_get(p + at, 4);
	if (mutate_pick(12) == 0)	/* duplicate or drop */
		return mutate_pick(2) ? mutate_put(p, n, max, at + 4 + len,
		    at + 4 + len, p + at, 4 + len) : mutate_put(p, n, max, at,
		    at + 4 + len, NULL, 0);
	if ((s = malloc(len + 512)) == NULL)
		return n;
	memcpy(s + 4, p + at + 4, len);
	got = message_mutate(s + 4, len, len + 500, 0);
	num_put(s, got, 4);
	n = mutate_put(p, n, max, at, at + 4 + len, s, 4 + got);
	free(s);
	return n;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	size_t start[FILEMOST], k, at, len, room, got;
	uint8_t *s;

	mutate_seed(seed);
	for (k = at = 0; k < FILEMOST && n - at >= 3; k++) {
		start[k] = at;
		len = p[at + 1] | (size_t)p[at + 2] << 8;
		len = p[at] & 0x80 ? 0 : len;
		if (len > n - at - 3)
			break;
		at += 3 + len;
	}
	if (k == 0 || mutate_pick(16) == 0)
		return LLVMFuzzerMutate(p, n, max);
	at = start[mutate_pick(k)];
	len = p[at + 1] | (size_t)p[at + 2] << 8;
	if (p[at] & 0x80 || mutate_pick(16) == 0) {
		num_put(p + at + mutate_pick(3), mutate_random(), 1);
		return n;
	}
	room = len + 1024 < 0xffff ? len + 1024 : 0xffff;
	if ((s = malloc(room)) == NULL)
		return n;
	memcpy(s, p + at + 3, len);
	got = image_mutate(s, len, room);
	if (n - len + got <= max) {
		n = mutate_put(p, n, max, at + 3, at + 3 + len, s, got);
		num_put(p + at + 1, got, 2);
	}
	free(s);
	return n;
}

#endif
