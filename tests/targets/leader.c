/*
 * A process whose first thread has ended, while another one lives.
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

	(void)arg;
	for (state = 0, tries = 0; state != 'Z' && tries < timeout(10000);
	    tries++) {
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
main(void)
{
	pthread_t t;

	region("kept", kept, sizeof kept, 1);
	if (pthread_create(&t, NULL, run, NULL) != 0)
		err(1, "pthread_create");
	pthread_exit(NULL);
}
