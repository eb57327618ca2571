/*
 * The names that a process knows its machine by, where these are not ours:
 * uts_namespaces(7).
 */
#include "taking.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

/*
 * Add the names in the UTS namespace that is open as ns to a record: this
 * thread goes there for a moment.  Where it may not, there are none.
 */
static void
names_add(struct filelist *l, int ns, int own)
{
	struct utsname u;
	int rc;

	if (setns(ns, CLONE_NEWUTS) == -1)
		return;
	rc = uname(&u);
	/* where this fails, nothing here needs the other names */
	(void)setns(own, CLONE_NEWUTS);
	if (rc == -1)
		return;
	filelist_text(l, "hostname", "%s", u.nodename);
	filelist_text(l, "domainname", "%s", u.domainname);
}

/*
 * Add hostname and domainname of process p to a record, if it is in another UTS
 * namespace than we are.
 */
void
uts_add(struct filelist *l, const struct lproc *p)
{
	struct stat here, there;
	int ns, own;

	ns = proc_open(p->pid, 0, "ns/uts", O_RDONLY);
	own = open("/proc/thread-self/ns/uts", O_RDONLY | O_CLOEXEC);
	if (ns != -1 && own != -1 && fstat(ns, &there) == 0 &&
	    fstat(own, &here) == 0 && here.st_ino != there.st_ino)
		names_add(l, ns, own);
	if (ns != -1)
		close(ns);
	if (own != -1)
		close(own);
}
