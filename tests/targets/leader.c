/*
 * A process whose first thread has ended, while another one lives. With an
 * argument the first thread ends as soon as it is traced.
 */
#include "target.h"

#include <pthread.h>

static char kept[8 * MIN_PAGE];

static void *
run(void *arg)
{
	char state;
	FILE *f;
	int tries;

	for (state = 0, tries = 0; arg == NULL && state != 'Z' &&
	    tries < timeout(10000); tries++) {
		usleep(1000);
		if ((f = fopen("/proc/self/stat", "r")) == NULL)
			err(1, "stat");
		if (fscanf(f, "%*d %*s %c", &state) != 1)
			errx(1, "stat");
		fclose(f);
	}
	ready_await();
	report("changed", pattern_check(kept, sizeof kept, 1));
	exit(0);
}

int
main(int argc, char *argv[])
{
	pthread_t t;

	region("kept", kept, sizeof kept, 1);
	if (pthread_create(&t, NULL, run, argv[1]) != 0)
		err(1, "pthread_create");
	while (argc > 1 && !is_traced())
		usleep(1000);
	pthread_exit(NULL);
}
