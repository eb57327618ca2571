/*
 * What programs print: program.c
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
	{ "\302\205\302\233\302\240", "????\302\240" },	/* C1, no-break */
	{ "\205\233\240\377", "????" },
	{ "gr\303\274n \345\215\261 \360\237\230\200",
	    "gr\303\274n \345\215\261 \360\237\230\200" },
	{ "\342\200\256\342\201\246\342\200\217\330\234\342\200\250",
	    "?????????" "?????" },
	{ "\303", "?" },			/* cut off */
	{ "\300\233\355\240\200", "?????" },	/* overlong, half a pair */
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
		assert_string_equal(text_harmless(s), names[i].clean);
		assert_false(text_isharmful(s));
	}
	strlcpy(s, "a\033b\302\233", sizeof s);
	assert_string_equal(text_clean(s, '_'), "a_b__");
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
		cmocka_unit_test(test_warn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
