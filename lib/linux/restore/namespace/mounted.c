/*
 * Read mountinfo of processes. Processes that are not stopped may change it,
 * so it is read in the stop. It is read once for all processes with the same
 * mount namespace and root directory, which see the same text (show_mountinfo
 * of fs/proc_namespace.c).
 */
#include "calls.h"
#include "spaces.h"
#include "vec.h"

#include <fcntl.h>

struct mounted {
	struct mounted	*next;	/* owned */
	uint64_t	 ns;	/* number of the mount namespace */
	struct rootid	 root;
	struct bytes	 text;	/* owned; text of mountinfo */
};

/*
 * Set *w to the identity of the root directory of process pid. Return false if
 * it cannot be read.
 */
static bool
rootid_read(pid_t pid, struct rootid *w)
{
	struct filemount f;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root", pid);
	if (call_filemount(AT_FDCWD, path, &f) == -1 || f.mount == -1)
		return false;
	*w = (struct rootid){ f.ino, (uint64_t)f.mount, f.dev };
	return true;
}

/*
 * Read the mountinfo of process p, and add it to l. ns is the number of its
 * mount namespace. Return the new entry, or NULL with errno set.
 */
static struct mounted *
mounted_add(struct live *l, const struct lproc *p, uint64_t ns)
{
	struct mounted *m;

	if ((m = mem_new(1, sizeof *m)) == NULL ||
	    proc_read(p->mmtid, 0, "mountinfo", &m->text) == -1) {
		free(m);
		return NULL;
	}
	m->ns = ns;
	m->root = p->root;
	m->next = l->mounted;
	l->mounted = m;
	return m;
}

/*
 * Set p->mounts to the mountinfo of process p, and p->root to its root
 * directory. p must be stopped, and must have memory. On failure p->mounts
 * stays NULL.
 */
void
mounted_read(struct live *l, struct lproc *p)
{
	const bool seen = rootid_read(p->mmtid, &p->root);
	const uint64_t ns = seen ? ns_number(p->mmtid, "mnt") : 0;
	struct mounted *m;

	/* if the namespace is unknown, share the text with no process */
	for (m = ns == 0 ? NULL : l->mounted; m != NULL; m = m->next)
		if (rootid_same(&m->root, &p->root) && m->ns == ns)
			break;
	if (m == NULL && (m = mounted_add(l, p, ns)) == NULL) {
		if (proc_islost(errno))
			live_warn(l, "process %d: its mounts are missing: %s",
			    p->pid, strerror(errno));
		return;
	}
	p->mounts = &m->text;
}

/*
 * Free the mountinfo texts of l.
 */
void
mounted_free(struct live *l)
{
	struct mounted *m;

	while ((m = l->mounted) != NULL) {
		l->mounted = m->next;
		free(m->text.data);
		free(m);
	}
}
