/*
 * Attributes of netlink(7), complete and cut at each byte: netlink.c.
 */
#include "util.h"

#include "linux/proc/proc.h"

#include <linux/netlink.h>

#include <string.h>

enum { FIRST = 3, SECOND = 5, LACKING = 7 };

static uint8_t message[64];
static size_t len;

/*
 * Append an attribute to the message.
 */
static void
add(unsigned int type, const void *value, size_t n)
{
	const struct nlattr a = { (uint16_t)(sizeof a + n), (uint16_t)type };

	memcpy(message + len, &a, sizeof a);
	memcpy(message + len + sizeof a, value, n);
	len += NLA_ALIGN(sizeof a + n);
}

static int
setup(void **state)
{
	const uint32_t number = 0x01020304;

	(void)state;
	memset(message, 0, sizeof message);
	len = 0;
	add(FIRST, "odd", 3);
	add(SECOND | NLA_F_NESTED, &number, sizeof number);
	add(SECOND, "later", 5);
	return 0;
}

static void
test_found(void **state)
{
	struct attributes a = { message, len }, v;
	uint32_t number;

	(void)state;
	assert_true(attribute_get(a, FIRST, &v));
	assert_int_equal(v.len, 3);
	assert_memory_equal(v.p, "odd", 3);
	assert_true(attribute_get(a, SECOND, &v));
	assert_int_equal(v.len, sizeof number);
	assert_true(attribute_copy(a, SECOND, &number, sizeof number));
	assert_int_equal(number, 0x01020304);
	assert_false(attribute_get(a, LACKING, &v));
	assert_false(attribute_copy(a, FIRST, &number, sizeof number));
}

/*
 * An attribute is complete or not found, wherever the message is cut.
 */
static void
test_cut(void **state)
{
	struct attributes v;
	size_t n;

	(void)state;
	for (n = 0; n <= len; n++) {
		assert_int_equal(attribute_get((struct attributes){ message,
		    n }, FIRST, &v), n >= 7);
		assert_int_equal(attribute_get((struct attributes){ message,
		    n }, SECOND, &v), n >= 16);
		assert_false(attribute_get((struct attributes){ message, n },
		    LACKING, &v));
	}
}

/*
 * An invalid length ends the search.
 */
static void
test_short(void **state)
{
	struct attributes a = { message, len }, v;

	(void)state;
	memset(message, 0, 2);
	assert_false(attribute_get(a, SECOND, &v));
	message[0] = 3;
	assert_false(attribute_get(a, SECOND, &v));
	memset(message, 0xff, 2);
	assert_false(attribute_get(a, FIRST, &v));
}

/*
 * Messages of an answer are complete, or the answer ends.
 */
static void
test_messages(void **state)
{
	const struct nlmsghdr head[2] = { { .nlmsg_len = sizeof head[0] + 2,
	    .nlmsg_type = 20 }, { .nlmsg_len = 0 } };
	struct attributes in, a;
	struct netmessage m;
	uint8_t text[64] = { 0 }, body[2];
	size_t n;

	(void)state;
	memcpy(text, head, sizeof head[0]);
	memcpy(text + sizeof head[0], "ab", 2);
	memcpy(text + NLMSG_SPACE(2), &head[1], sizeof head[1]);
	for (n = 0; n <= sizeof text; n++) {
		in = (struct attributes){ text, n };
		assert_int_equal(netmessage_next(&in, &m),
		    n >= NLMSG_LENGTH(2));
		if (n < NLMSG_LENGTH(2))
			continue;
		assert_int_equal(m.type, 20);
		assert_true(netmessage_body(&m, body, 2, &a));
		assert_memory_equal(body, "ab", 2);
		assert_int_equal(a.len, 0);
		assert_false(netmessage_body(&m, body, 3, &a));
		assert_false(netmessage_next(&in, &m));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_found, setup),
		cmocka_unit_test_setup(test_cut, setup),
		cmocka_unit_test_setup(test_short, setup),
		cmocka_unit_test(test_messages)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
