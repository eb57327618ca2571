/*
 * A hung process with a list of jobs: the last one links back to the second.
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
