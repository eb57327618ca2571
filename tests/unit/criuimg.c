/*
 * Decode CRIU images: see criurec.h.
 */
#include "criurec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes_of image;

void
image_get(const char *name)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_not_equal(fd, -1);
	n = read(fd, image.b, sizeof image.b);
	assert_true(n >= 0);
	image.n = (size_t)n;
	close(fd);
}

static uint64_t
varint(struct part *m)
{
	uint64_t v;
	unsigned int shift;

	for (v = 0, shift = 0;; shift += 7) {
		assert_true(m->n > 0 && shift < 64);
		v |= (uint64_t)(*m->p & 127) << shift;
		m->n--;
		if (!(*m->p++ & 128))
			return v;
	}
}

/*
 * Return the i-th message of an image.
 */
struct part
frame(const char *name, size_t i)
{
	struct part m;
	size_t at, len;

	image_get(name);
	for (at = strcmp(name, "inventory.img") == 0 ? 4 : 8;; at += 4 + len) {
		assert_true(at + 4 <= image.n);
		len = image.b[at] | (size_t)image.b[at + 1] << 8;
		assert_true(at + 4 + len <= image.n);
		if (i-- == 0)
			break;
	}
	m.p = image.b + at + 4;
	m.n = len;
	return m;
}

/*
 * Find the i-th field with this number in message m. Store its value in *v if
 * that is a number, otherwise in *sub.
 */
bool
field_find(struct part m, uint64_t number, size_t i, uint64_t *v,
    struct part *sub)
{
	uint64_t key, x;
	size_t k;

	while (m.n > 0) {
		key = varint(&m);
		if ((key & 7) == 1) {	/* fixed64 */
			assert_true(m.n >= 8);
			for (x = 0, k = 8; k-- > 0;)
				x = x << 8 | m.p[k];
			m.p += 8;
			m.n -= 8;
		} else
			x = varint(&m);
		if ((key & 7) == 2) {
			assert_true(x <= m.n);
			sub->p = m.p;
			sub->n = (size_t)x;
			m.p += x;
			m.n -= (size_t)x;
		}
		if (key >> 3 == number && i-- == 0) {
			*v = x;
			return true;
		}
	}
	return false;
}

/*
 * Return the number at the path way. "3.8.1" is field 1 of field 8 of field 3.
 * "14#2" is the third of several fields 14.
 */
static uint64_t
field_get(struct part m, const char *way, struct part *sub)
{
	uint64_t v, f, i;
	char *s;

	for (v = 0;; way = s + 1, m = *sub) {
		f = strtoull(way, &s, 10);
		i = *s == '#' ? strtoull(s + 1, &s, 10) : 0;
		if (!field_find(m, f, (size_t)i, &v, sub))
			fail_msg("no field %s", way);
		if (*s == '\0')
			return v;
	}
}

uint64_t
number(struct part m, const char *way)
{
	struct part sub = { NULL, 0 };

	return field_get(m, way, &sub);
}

/*
 * Return the message or text at the path way.
 */
struct part
inner(struct part m, const char *way)
{
	struct part sub = { NULL, 0 };

	field_get(m, way, &sub);
	return sub;
}

void
assert_text(struct part m, const char *way, const char *text)
{
	m = inner(m, way);
	assert_int_equal(m.n, strlen(text));
	assert_memory_equal(m.p, text, m.n);
}

size_t
count(struct part m, uint64_t f)
{
	struct part sub;
	uint64_t v;
	size_t n;

	for (n = 0; field_find(m, f, n, &v, &sub); n++)
		continue;
	return n;
}

/*
 * Assert that message m has the numbers want at the paths in ways, which are
 * separated by blanks.
 */
void
assert_numbers(struct part m, const char *ways, const uint64_t *want)
{
	char way[32];
	size_t n;

	for (; *ways != '\0'; ways += n + (ways[n] == ' '), want++) {
		n = strcspn(ways, " ");
		snprintf(way, sizeof way, "%.*s", (int)n, ways);
		if (number(m, way) != *want)
			fail_msg("%s: %" PRIu64 ", not %" PRIu64, way,
			    number(m, way), *want);
	}
}
