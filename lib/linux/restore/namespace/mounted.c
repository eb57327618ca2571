/*
 * What processes have mounted.  It is shared, and changed by others who are
 * not stopped: so it is of the stop, and read once for all that are shown the
 * same, which are those of one mount namespace with one root directory
 * (show_mountinfo of fs/proc_namespace.c).
 */
#include "calls.h"
#include "spaces.h"
#include "vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mounted {
	struct mounted	*next;	/* owned */
	uint64_t	 ns;	/* the number of the namespace */
	struct rootid	 root;
	struct bytes	 text;	/* owned; mountinfo */
};

/*
 * Set *w to where process pid looks files up.  Return false if that cannot be
 * seen.
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
 * Add to set l what process p has mounted, in the namespace of that number.
 * Return it, or NULL with errno.
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
 * See what process p of set l, which is stopped and has memory, has mounted,
 * and where it looks files up: p->mounts, which is empty if that cannot be
 * had, and p->root.
 */
void
mounted_see(struct live *l, struct lproc *p)
{
	const bool seen = rootid_read(p->mmtid, &p->root);
	const uint64_t ns = seen ? ns_number(p->mmtid, "mnt") : 0;
	struct mounted *m;

	/* where that is not told, it is shared with nobody */
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
 * Free what was seen of set l.
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
