/*
 * Record which namespaces of a process are not ours, their contents once in a
 * snapshot, and the host name in the process's UTS namespace: namespaces(7).
 */
#include "spaces.h"

#include <sys/utsname.h>

#include <unistd.h>

static const char *const kind[] = { "cgroup", "ipc", "mnt", "net", "pid",
    "time", "user", "uts" };

/*
 * Return true if the record rec has a link for the namespace called name, and
 * the link differs from ours.
 */
bool
space_isother(const struct filelist *rec, const char *name)
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
 * Return true if the contents of the namespace called name are to be recorded:
 * rec shows that it is not ours, and l has not yet recorded it. Before
 * returning true, mark the namespace as recorded.
 */
bool
space_isnew(struct live *l, const struct filelist *rec, const char *name)
{
	const struct file *f;
	char link[64];

	if (!space_isother(rec, name))
		return false;
	snprintf(link, sizeof link, "ns/%s", name);
	f = filelist_find(rec, link);
	return cell_once(live_cell(l, "space %.*s", (int)f->len,
	    (const char *)f->data));
}

/*
 * Make the proxy run fn, which reads the contents of a namespace of process p,
 * and add the files of its answer to rec. The argument of fn is p->mmtid. desc
 * describes the namespace in messages. Return 0. On failure, add the reason to
 * rec under the file name given by file, and return -1.
 */
int
space_ask(const struct lproc *p, proxy_fn fn, const char *desc,
    const char *file, struct filelist *rec)
{
	char text[64];
	const struct proxy_key k = { KEY_SPACE, (uint64_t)p->mmtid, text, 0 };

	snprintf(text, sizeof text, "process %d: %s", p->pid, desc);
	if (proxy_files(&k, fn, &p->mmtid, sizeof p->mmtid, -1, rec) == 0)
		return 0;
	filelist_text(rec, file, "%s\n", snap_errstr());
	return -1;
}

/*
 * Add the host name and domain name of the UTS namespace of process pid to rec.
 * This thread enters that namespace and comes back. Record nothing if the
 * thread may not enter.
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
	/* if it fails: nothing in this process needs our own host name */
	(void)visit_end(&v);
	if (rc == 0) {
		filelist_text(rec, "hostname", "%s", u.nodename);
		filelist_text(rec, "domainname", "%s", u.domainname);
	}
}

/*
 * Record in rec, the record of process p, which of its namespaces are not ours.
 * rec already has the links of the namespaces. If the UTS namespace is not
 * ours, add the host name. Unless p dumps core, also add the contents of the
 * network namespace, and the root of the cgroup namespace. Only restoring needs
 * these, and only root may see them. Namespaces that are ours, or that l has
 * already recorded, are left out.
 */
void
namespaces_record(struct live *l, struct filelist *rec, const struct lproc *p)
{
	char text[80];
	size_t i;

	for (i = 0, *text = '\0'; i < sizeof kind / sizeof *kind; i++)
		if (space_isother(rec, kind[i])) {
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
