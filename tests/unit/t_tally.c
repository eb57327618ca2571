/*
 * Totals of vmtrace: the row for faults beyond the limit on rows.
 */
#include "../../cmd/vmtrace/symbol.c"
#include "../../cmd/vmtrace/tally.c"
#include "../../cmd/vmtrace/total.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * Print the totals of o, and copy their second line to line, with one blank
 * between words.
 */
static void
second_line(struct output_state *o, char line[256])
{
	FILE *f = tmpfile();
	char text[256], *rest = text, *word;
	int was;

	assert_non_null(f);
	fflush(stdout);
	was = dup(STDOUT_FILENO);
	dup2(fileno(f), STDOUT_FILENO);
	total_print(o);
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	rewind(f);
	assert_non_null(fgets(text, sizeof text, f));
	assert_non_null(fgets(text, sizeof text, f));
	fclose(f);
	for (*line = '\0'; (word = strsep(&rest, " \n")) != NULL;)
		if (*word != '\0') {
			strlcat(line, *line == '\0' ? "" : " ", 256);
			strlcat(line, word, 256);
		}
}

static void
others_have_no_range(void **state)
{
	static char name[] = "x";
	static struct options opts;
	static struct output_state o = { .opts = &opts };
	struct line l = { .where.name = name, .access = ACCESS_WRITE };
	char line[256];
	int i;

	(void)state;
	for (i = 1; i <= MAX_ROWS + 2; i++) {
		l.pid = i;
		l.where.start = (uint64_t)i * 4096;
		l.where.end = l.where.start + 4096;
		total_fault(&o, &l);
	}
	second_line(&o, line);
	assert_string_equal(line, "2 2 0 0 0 2 0 0 others");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_have_no_range)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
