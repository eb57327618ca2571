/*
 * In which namespaces a process is and we are not, and the names that it knows
 * its machine by: namespaces(7).
 */
#include "spaces.h"

#include <sys/utsname.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const kind[] = { "cgroup", "ipc", "mnt", "net", "pid",
    "time", "user", "uts" };

/*
 * Return whether a namespace of a record, told by its link, is not ours.
 */
static bool
is_other(const struct filelist *rec, const char *name)
{
	const struct file *f;
	char path[40], own[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/thread-self/ns/%s", name);
	f = filelist_find(rec, path + strlen("/proc/thread-self/"));
	n = readlink(path, own, sizeof own);
	return f != NULL && n > 0 && (f->len != (size_t)n ||
	    memcmp(f->data, own, f->len) != 0);
}

/*
 * Add what the machine is called in the UTS namespace of process pid to a
 * record: this thread goes there for a moment.  Where it may not, it is not
 * told.
 */
static void
names_add(struct filelist *rec, pid_t pid)
{
	struct utsname u;
	struct visit v;
	int ns, rc;

	if ((ns = proc_open(pid, 0, "ns/uts", O_RDONLY)) == -1)
		return;
	if (visit_begin(&v, VISIT_UTS, ns) == 0) {
		rc = uname(&u);
		/* where this fails, nothing here needs the other names */
		(void)visit_end(&v);
		if (rc == 0) {
			filelist_text(rec, "hostname", "%s", u.nodename);
			filelist_text(rec, "domainname", "%s", u.domainname);
		}
	}
	close(ns);
}

/*
 * Add to rec, the record of process p, which has its namespaces: in which of
 * them we are not; the names of such a UTS namespace; what such a network
 * namespace has, and where such a cgroup namespace begins, if no other record
 * of set l has that.  The last two are not added to the record of a process
 * that dumps core: only a restore needs them, and root alone sees them.
 */
void
namespaces_tell(struct live *l, struct filelist *rec, const struct lproc *p)
{
	char text[80];
	size_t i;

	for (i = 0, *text = '\0'; i < sizeof kind / sizeof *kind; i++)
		if (is_other(rec, kind[i])) {
			strlcat(text, *text == '\0' ? "" : " ", sizeof text);
			strlcat(text, kind[i], sizeof text);
		}
	if (*text != '\0')
		filelist_text(rec, "namespaces", "%s\n", text);
	if (strstr(text, "uts") != NULL)
		names_add(rec, p->mmtid);
	if (p->core != NULL)
		return;
	if (strstr(text, "net") != NULL)
		netspace_record(l, p->mmtid, rec);
	if (strstr(text, "cgroup") != NULL)
		cgroups_roots(l, rec, p->mmtid);
}
