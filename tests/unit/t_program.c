/*
 * Output of programs: program.c
 */
#include "common/common.h"
#include "model.h"
#include "util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char	*raw;
	const char	*clean;
} names[] = {
	{ "", "" },
	{ "plain name", "plain name" },
	{ "\033]0;t\a\177\t\n", "?]0;t????" },
	{ "\302\205\302\233\302\240", "????\302\240" },	/* C1, no-break space */
	{ "\205\233\240\377", "????" },
	{ "gr\303\274n \345\215\261 \360\237\230\200",
	    "gr\303\274n \345\215\261 \360\237\230\200" },
	{ "\342\200\256\342\201\246\342\200\217\330\234\342\200\250",
	    "?????????" "?????" },
	{ "\303", "?" },			/* truncated */
	{ "\300\233\355\240\200", "?????" },	/* overlong, a lone surrogate */
};

static void
test_harmless(void **state)
{
	char s[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		strlcpy(s, names[i].raw, sizeof s);
		assert_int_equal(text_isharmful(s),
		    strcmp(names[i].raw, names[i].clean) != 0);
		assert_string_equal(text_sanitize(s), names[i].clean);
		assert_false(text_isharmful(s));
	}
	strlcpy(s, "a\033b\302\233", sizeof s);
	assert_string_equal(text_clean(s, '_'), "a_b__");
}

static void
test_units(void **state)
{
	static const struct {
		uint64_t	 v;
		const char	*bytes;
		const char	*us;
	} want[] = {
		{ 0, "0 bytes", "0 us" },
		{ 1, "1 byte", "1 us" },
		{ 999, "999 bytes", "999 us" },
		{ 1023, "1023 bytes", "1.0 ms" },
		{ 1024, "1.0 KiB", "1.0 ms" },
		{ 9949, "9.7 KiB", "9.9 ms" },
		{ 9990, "9.8 KiB", "10 ms" },
		{ 348123, "340 KiB", "348 ms" },
		{ 999499, "976 KiB", "999 ms" },
		{ 999500, "976 KiB", "1.0 s" },
		{ 1024 * 1024 - 1, "1.0 MiB", "1.0 s" },
		{ 5400000, "5.1 MiB", "5.4 s" },
		{ 119499999, "114 MiB", "119 s" },
		{ 119500000, "114 MiB", "2 min 0 s" },
		{ 725000000, "691 MiB", "12 min 5 s" },
		{ 1288490189, "1.2 GiB", "21 min 28 s" },
		{ UINT64_C(1) << 62, "4.0 EiB", "76861433640 min 27 s" }
	};
	char s[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		text_bytes(s, sizeof s, want[i].v);
		assert_string_equal(s, want[i].bytes);
		text_time(s, sizeof s, want[i].v);
		assert_string_equal(s, want[i].us);
	}
}

static void
test_warn(void **state)
{
	char got[300];
	int fd[2], save;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	save = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(dup2(fd[1], STDERR_FILENO), STDERR_FILENO);
	program_warn("%s: %d", "memfd:\033[31m\302\233", 4711);
	dup2(save, STDERR_FILENO);
	n = read(fd[0], got, sizeof got - 1);
	assert_true(n > 0);
	got[n] = '\0';
	assert_string_equal(strchr(got, ':'), ": memfd:?[31m??: 4711\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_warn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
