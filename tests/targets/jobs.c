/*
 * A hung process: a list of jobs whose last one leads back to the second, and
 * no job that ends.
 */
#include <stdio.h>
#include <unistd.h>

struct job {
	struct job	*next;
	const char	*name;
};

static struct job third = { NULL, "mail-3" };
static struct job second = { &third, "print-2" };
static struct job first = { &second, "index-1" };
struct job *jobs = &first;

int
main(void)
{
	third.next = &second;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
