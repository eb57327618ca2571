/*
 * Threads that start and end all the time, next to some that stay.
 */
#include "target.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MAKERS = 4 };

static atomic_long made, wrong;
static atomic_bool over;

static void *
flash(void *arg)
{
	char stack[256];

	pattern_fill(stack, sizeof stack, 7);
	if (pattern_check(stack, sizeof stack, 7) != 0)
		wrong++;
	return arg;
}

static void *
make(void *arg)
{
	struct timespec ts = { 0, 100000 };
	pthread_t t;
	void *v;

	while (!over) {
		if (pthread_create(&t, NULL, flash, arg) != 0 ||
		    pthread_join(t, &v) != 0 || v != arg)
			wrong++;
		made++;
		if (nanosleep(&ts, NULL) == -1)
			wrong++;
	}
	return NULL;
}

int
main(void)
{
	static char kept[8 * MIN_PAGE];
	pthread_t t[MAKERS];
	long was;
	int i;

	region("kept", kept, sizeof kept, 1);
	for (i = 0; i < MAKERS; i++)
		if (pthread_create(&t[i], NULL, make, kept) != 0)
			err(1, "pthread_create");
	ready();
	await();
	for (was = made, i = 0; i < timeout(10000) && made == was; i++)
		usleep(1000);
	report("halted", made == was);
	over = 1;
	for (i = 0; i < MAKERS; i++)
		pthread_join(t[i], NULL);
	report("eintr", eintr);
	report("wrong", wrong);
	return 0;
}
