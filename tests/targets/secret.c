/*
 * A process that is not dumpable, so that its user cannot read it.
 */
#include "target.h"

#include <sys/prctl.h>

int
main(void)
{
	static char kept[2 * MIN_PAGE];

	if (prctl(PR_SET_DUMPABLE, 0) == -1)
		err(1, "prctl");
	region("kept", kept, sizeof kept, 1);
	ready_await();
	return 0;
}
