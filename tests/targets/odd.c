/*
 * A process that is named by its argument.
 */
#include "target.h"

#include <sys/prctl.h>

int
main(int argc, char *argv[])
{
	static char kept[2 * MIN_PAGE];

	if (argc > 1 && prctl(PR_SET_NAME, argv[1]) == -1)
		err(1, "prctl");
	region("kept", kept, sizeof kept, 1);
	ready_await();
	return 0;
}
