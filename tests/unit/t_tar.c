/*
 * Archives: fmt/tar/, by members and headers.
 */
#include "tar/tar.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { SUM = 148, MAGIC = 257, PREFIX = 345, SPARSE_MORE = 482,
    SPARSE_STILL = 504 };

static struct buf archive;

/*
 * Store in header h the right checksum, plus off.
 */
static void
sum_set(uint8_t *h, unsigned int off)
{
	unsigned int sum = off;
	size_t i;

	memset(h + SUM, ' ', 8);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += h[i];
	snprintf((char *)h + SUM, 8, "%06o", sum);
}

/*
 * Begin header h of a member. size is the text of its size. GNU types have a
 * GNU magic.
 */
static void
header_make(uint8_t *h, const char *name, char type, const char *size)
{
	memset(h, 0, TAR_BLOCK);
	memcpy(h, name, strlen(name));
	memcpy(h + 124, size, strlen(size));
	memcpy(h + 136, "00000000144 ", 12);
	h[156] = (uint8_t)type;
	memcpy(h + 157, "target", 6);
	memcpy(h + MAGIC, strchr("KLS", type) != NULL && type != '\0' ?
	    "ustar  " : "ustar\00000", 8);
	sum_set(h, 0);
}

/*
 * Append a header and the n bytes at data, padded to whole blocks.
 */
static void
blocks_put(const uint8_t *h, const char *data, size_t n)
{
	static const uint8_t zeros[TAR_BLOCK];

	buf_add(&archive, h, TAR_BLOCK);
	buf_add(&archive, data, n);
	buf_add(&archive, zeros, (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK);
}

static void
member_put(const char *name, char type, const char *data, size_t n)
{
	uint8_t h[TAR_BLOCK];
	char size[13];

	snprintf(size, sizeof size, "%011zo", n);
	header_make(h, name, type, size);
	blocks_put(h, data, n);
}

#define PUT(name, type, text)						\
	member_put(name, type, text, sizeof(text) - 1)

/*
 * Read the archive and empty it. Return its members, or NULL. The caller closes
 * *st and *in.
 */
static struct tar *
archive_read(struct stream *st, struct input **in)
{
	struct tar *t;

	stream_file(st, archive.data, archive.len);
	assert_non_null(*in = input_open(st->path));
	t = tar_read(*in);
	buf_free(&archive);
	memset(&archive, 0, sizeof archive);
	return t;
}

/*
 * Check that t has a member with these properties; link may be NULL.
 */
static void
member_is(const struct tar *t, const char *name, char type, const char *link,
    const char *text)
{
	const struct tarmember *m = tar_find(t, name);
	struct input *in;

	if (m == NULL)
		fail_msg("no member %s", name);
	assert_int_equal(m->type, type);
	assert_int_equal(m->time, 100);
	if (link == NULL)
		assert_null(m->link);
	else
		assert_string_equal(m->link, link);
	assert_int_equal(m->size, strlen(text));
	if (*text == '\0' || type != TAR_FILE)
		return;
	assert_non_null(in = tar_input(t, m, name));
	assert_int_equal(input_fill(in, m->size + 1), m->size);
	assert_memory_equal(in->buf + in->start, text, m->size);
	assert_int_equal(in->st.st_mtime, 100);
	input_close(in);
}

static void
test_members(void **state)
{
	char data[2 * TAR_BLOCK + 5] = "", name[2] = "";
	uint8_t h[TAR_BLOCK];
	struct stream st;
	struct input *in;
	struct tar *t;

	(void)state;
	PUT("./a//b/./c.d/", '0', "one");
	PUT("old", '\0', "two");
	PUT("contiguous", '7', "three");
	PUT("old", '0', "the later one");
	PUT("long", TAR_LONGNAME, "of/a/long/name\0more");
	PUT("long", TAR_LONGLINK, "to a long name");
	PUT("link", TAR_LINK, "");
	/* the target of a link applies to one member only */
	PUT("pax", TAR_PAX, "17 linkpath=none\n");
	PUT("file", '0', "four");
	PUT("next", TAR_LINK, "");
	PUT("pax", TAR_PAX, "15 path=p=q\n/r\n" "17 linkpath=some\n"
	    "18 SCHILY.ino=123\n" "17 realtime=path\n" "20 mtime=123456.789\n");
	PUT("short", TAR_LINK, "");
	PUT("pax", TAR_PAX, "10 size=5\n");
	header_make(h, "sized", '0', "777");
	blocks_put(h, "fives", 5);
	PUT("pax", TAR_PAX, "22 GNU.sparse.major=1\n");
	PUT("holes", '0', "sparse");
	PUT("global", TAR_GLOBAL, "10 size=7\n");
	PUT("block", '0', "");
	/* links, devices, directories and fifos have no bytes */
	for (*name = '1'; *name <= '6'; (*name)++) {
		header_make(h, name, *name, "00000000001");
		blocks_put(h, "", 0);
	}
	header_make(h, "gnu", TAR_SPARSE, "00000000005");
	h[SPARSE_MORE] = 1;
	sum_set(h, 0);
	data[SPARSE_STILL] = 1;
	blocks_put(h, data, sizeof data);
	PUT("last", '0', "end");
	buf_add(&archive, data + TAR_BLOCK, TAR_BLOCK);
	if ((t = archive_read(&st, &in)) == NULL)
		fail_msg("%s", snap_errstr());
	assert_int_equal(t->n, 19);
	member_is(t, "a/b/c.d", TAR_FILE, NULL, "one");
	member_is(t, "old", TAR_FILE, NULL, "the later one");
	member_is(t, "contiguous", TAR_FILE, NULL, "three");
	member_is(t, "of/a/long/name", TAR_LINK, "to a long name", "");
	member_is(t, "file", TAR_FILE, NULL, "four");
	member_is(t, "next", TAR_LINK, "target", "");
	member_is(t, "p=q\n/r", TAR_LINK, "some", "");
	member_is(t, "sized", TAR_FILE, NULL, "fives");
	member_is(t, "holes", TAR_SPARSE, NULL, "sparse");
	member_is(t, "block", TAR_FILE, NULL, "");
	member_is(t, "gnu", TAR_SPARSE, NULL, "fives");
	member_is(t, "last", TAR_FILE, NULL, "end");
	for (*name = '1'; *name <= '6'; (*name)++)
		assert_int_equal(tar_find(t, name)->type, *name);
	assert_null(tar_find(t, "short"));
	tar_free(t);
	input_close(in);
	stream_close(&st);
}

/*
 * Check that a header with this size field has the size want, or is refused if
 * want is -1.
 */
static void
size_is(const char *text, size_t len, int64_t want)
{
	struct tarmember m = { 0 };
	uint8_t h[TAR_BLOCK];

	header_make(h, "x", '0', "");
	memcpy(h + 124, text, len);
	sum_set(h, 0);
	assert_int_equal(tar_header(h, &m), want == -1 ? -1 : 0);
	if (want != -1)
		assert_int_equal(m.size, want);
	tarmember_clear(&m);
	assert_true(m.name == NULL && m.size == 0);
}

static void
test_header(void **state)
{
	struct tarmember m = { 0 };
	uint8_t h[TAR_BLOCK];

	(void)state;
	size_is("", 0, 0);
	size_is("00000001234 ", 12, 01234);
	size_is("     765 ", 9, 0765);
	size_is("777777777777", 12, 0777777777777);
	size_is("000000012347", 12, 012347);
	size_is("8", 1, -1);
	size_is("12x", 3, -1);
	size_is("-1", 2, -1);
	size_is("\200\0\0\0\0\0\0\0\0\2\1\3", 12, 0x20103);
	size_is("\200\0\0\0\177\377\377\377\377\377\377\377", 12, INT64_MAX);
	size_is("\200\0\0\0\200\0\0\0\0\0\0\0", 12, -1);
	size_is("\377\377\377\377\377\377\377\377\377\377\377\377", 12, -1);

	header_make(h, "x", '0', "1");
	memcpy(h + 136, "never       ", 12);
	sum_set(h, 0);
	assert_int_equal(tar_header(h, &m), 0);
	assert_int_equal(m.time, 0);
	tarmember_clear(&m);
	memcpy(h + PREFIX, "dir", 3);
	sum_set(h, 0);
	assert_int_equal(tar_header(h, &m), 0);
	assert_string_equal(m.name, "dir/x");
	tarmember_clear(&m);
	/* GNU uses this field otherwise */
	memcpy(h + MAGIC, "ustar  ", 8);
	sum_set(h, 0);
	assert_true(tar_magic(h, TAR_BLOCK));
	assert_false(tar_magic(h, TAR_BLOCK - 1));
	assert_int_equal(tar_header(h, &m), 0);
	assert_string_equal(m.name, "x");
	tarmember_clear(&m);
	sum_set(h, 1);
	assert_false(tar_magic(h, TAR_BLOCK));
	assert_int_equal(tar_header(h, &m), -1);
	memcpy(h + MAGIC, "bstar", 5);
	sum_set(h, 0);
	assert_false(tar_magic(h, TAR_BLOCK));
}

static void
test_malformed(void **state)
{
	static const struct {
		const char	*text;
		const char	*why;
	} bad[] = {
		{ "x", "malformed extended header, 1 bytes before its end" },
		{ "9 path=a\n8 path\n", "7 bytes before its end" },
		{ "9 path=a\n9 path=ab", "9 bytes before its end" },
		{ "9 path=a\n11 path=a\n", "10 bytes before its end" },
		{ "2\n", "2 bytes" }, { "2 \n", "3 bytes" },
		{ "0 path=a\n", "9 bytes" }, { "9path=ab\n", "9 bytes" },
		{ "7 path\n", "7 bytes" }, { "-9 path=\n", "9 bytes" },
		{ "8 size=\n", "a member has a malformed size" },
		{ "9 size=x\n", "a member has a malformed size" },
		{ "28 size=9223372036854775808\n",
		    "a member has a malformed size" },
	};
	struct tarmember m = { 0 };
	bool sized = false;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(tar_pax((const uint8_t *)bad[i].text,
		    strlen(bad[i].text), &m, &sized), -1);
		assert_contains(snap_errstr(), bad[i].why);
		tarmember_clear(&m);
	}
	assert_int_equal(tar_pax((const uint8_t *)"", 0, &m, &sized), 0);
	assert_int_equal(tar_pax((const uint8_t *)
	    "28 size=9223372036854775807\n", 28, &m, &sized), 0);
	assert_true(sized && m.size == INT64_MAX);
}

/*
 * An archive ends with a block of zeros, not in the middle of a member.
 */
static void
test_cut(void **state)
{
	struct stream st;
	struct input *in;
	size_t cut;

	(void)state;
	for (cut = 0; cut <= 3 * TAR_BLOCK; cut += TAR_BLOCK / 2) {
		PUT("file", '0', "a file");
		buf_add(&archive, (uint8_t[TAR_BLOCK]){ 0 }, TAR_BLOCK);
		archive.len -= cut;
		if (archive.len == 0)
			break;
		if (cut == 0) {
			struct tar *t = archive_read(&st, &in);

			assert_non_null(t);
			tar_free(t);
		} else {
			assert_null(archive_read(&st, &in));
			assert_contains(snap_errstr(),
			    "the archive is truncated");
		}
		input_close(in);
		stream_close(&st);
	}
	buf_free(&archive);
}

static void
owner_change(const void *arg, uint64_t *uid, uint64_t *gid)
{
	*uid += *(const uint64_t *)arg;
	*gid += 1 << 21;
}

/*
 * Owners are changed in each header, and nothing else.
 */
static void
test_owners(void **state)
{
	const uint64_t more = 5;
	struct stream st;
	struct input *in;
	struct tar *t;

	(void)state;
	PUT("a", TAR_FILE, "hello");
	memcpy(archive.data + 108, "0000010", 8);
	sum_set(archive.data, 0);
	PUT("b", TAR_DIR, "");
	assert_int_equal(tar_owners(archive.data, archive.len, owner_change,
	    &more), 0);
	assert_memory_equal(archive.data + 108, "0000015\0\200\0\0\0\0\40\0",
	    16);
	assert_memory_equal(archive.data + TAR_BLOCK, "hello", 6);
	assert_memory_equal(archive.data + 2 * TAR_BLOCK + 108, "0000005", 8);
	assert_int_equal(tar_owners(archive.data, TAR_BLOCK, owner_change,
	    &more), -1);
	assert_string_equal(snap_errstr(), "the archive is truncated");
	archive.data[2 * TAR_BLOCK + 108] = 'x';
	sum_set(archive.data + 2 * TAR_BLOCK, 0);
	assert_int_equal(tar_owners(archive.data, archive.len, owner_change,
	    &more), -1);
	assert_string_equal(snap_errstr(), "a member has a malformed owner");
	memcpy(archive.data + 2 * TAR_BLOCK + 108, "0000005", 8);
	sum_set(archive.data + 2 * TAR_BLOCK, 0);
	PUT("", 0, "");
	memset(archive.data + archive.len - TAR_BLOCK, 0, TAR_BLOCK);
	assert_non_null(t = archive_read(&st, &in));
	assert_int_equal(t->n, 2);
	tar_free(t);
	input_close(in);
	stream_close(&st);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
