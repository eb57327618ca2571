/*
 * In which namespaces a process is and we are not, of which of them a record
 * tells what they have, and the names that it knows its machine by:
 * namespaces(7).
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
 * Return true if the namespace that record rec has by that name is not ours and
 * no other record of set l describes it; note that rec describes it now.
 */
bool
space_isnew(struct live *l, const struct filelist *rec, const char *name)
{
	const struct file *f;
	char link[64];

	if (!is_other(rec, name))
		return false;
	snprintf(link, sizeof link, "ns/%s", name);
	f = filelist_find(rec, link);
	snprintf(link, sizeof link, "%.*s", (int)f->len,
	    (const char *)f->data);
	return !space_recorded(l, link);
}

/*
 * Have the proxy answer by fn, which is asked with the number of process p,
 * what a namespace of that has, and add the files of the answer to rec; what is
 * for the user.  Return 0; or -1, and the file why tells the reason.
 */
int
space_ask(const struct lproc *p, proxy_fn fn, const char *what,
    const char *why, struct filelist *rec)
{
	char text[64];
	const struct proxy_key k = { KEY_SPACE, (uint64_t)p->mmtid, text, 0 };

	snprintf(text, sizeof text, "process %d: %s", p->pid, what);
	if (proxy_files(&k, fn, &p->mmtid, sizeof p->mmtid, -1, rec) == 0)
		return 0;
	filelist_text(rec, why, "%s\n", snap_errstr());
	return -1;
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
	int rc;

	if (visit_begin(&v, VISIT_UTS, pid) == -1)
		return;
	rc = uname(&u);
	/* where this fails, nothing here needs the other names */
	(void)visit_end(&v);
	if (rc == 0) {
		filelist_text(rec, "hostname", "%s", u.nodename);
		filelist_text(rec, "domainname", "%s", u.domainname);
	}
}

/*
 * Add to rec, the record of process p, which has its namespaces: in which of
 * them we are not; the names of such a UTS namespace; what such a network
 * namespace has, and where such a cgroup namespace begins, if no other record
 * of set l has that.  The last two are not added to the record of a process
 * that dumps core: only a restore needs them, and root alone sees them.
 */
void
namespaces_record(struct live *l, struct filelist *rec, const struct lproc *p)
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
	if (space_isnew(l, rec, "net"))
		(void)space_ask(p, netspace_serve, "its network", "net/why",
		    rec);
	if (space_isnew(l, rec, "cgroup"))
		cgroups_roots(l, rec, p->mmtid);
}
