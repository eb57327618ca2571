/*
 * Which pages a process touches in a window of time: the kernel forgets that
 * they were, and what smaps then tells as referenced was touched since
 * (proc_pid_clear_refs(5)).
 */
#include "linux/proc/proc.h"
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Begin the window of a process: from now on the member touched of a struct
 * mapping counts.  Nothing of this is seen by the process, but the kernel
 * knows less of which pages to take away first when memory is short.
 */
int
touched_forget(pid_t pid)
{
	int fd, rc;

	if ((fd = proc_open(pid, 0, "clear_refs", O_WRONLY)) == -1)
		return errno == ENOENT && proc_died(pid, 0) ?
		    errstr_set("%d: No such process", pid) :
		    errno == ENOENT ?
		    errstr_set("%d: this kernel cannot tell which pages are "
		    "touched: it has no clear_refs", pid) :
		    errstr_sys("%d: clear_refs", pid);
	rc = write(fd, "1", 1) == -1 ? errstr_sys("%d: clear_refs", pid) : 0;
	close(fd);
	return rc;
}
