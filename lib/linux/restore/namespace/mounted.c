/*
 * What processes have mounted.  It is shared, and changed by others who are
 * not stopped: so it is of the stop, and read once for all that are shown the
 * same, which are those of one mount namespace with one root directory
 * (show_mountinfo of fs/proc_namespace.c).
 */
#include "calls.h"
#include "spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mounted {
	struct mounted	*next;	/* owned */
	char		*ns;	/* owned; the namespace, as its link tells */
	struct whence	 root;
	struct bytes	 text;	/* owned; mountinfo */
};

/*
 * Set *w to where process pid looks files up.  Return false if that cannot be
 * seen.
 */
static bool
whence_see(pid_t pid, struct whence *w)
{
	struct filemount f;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/root", pid);
	if (call_filemount(AT_FDCWD, path, &f) == -1 || f.mount == -1)
		return false;
	*w = (struct whence){ f.ino, (uint64_t)f.mount, f.dev };
	return true;
}

/*
 * Add to set l what process p has mounted, in the namespace ns.  Return it, or
 * NULL with errno.
 */
static struct mounted *
mounted_add(struct live *l, const struct lproc *p, const char *ns)
{
	struct mounted *m;

	if ((m = calloc(1, sizeof *m)) == NULL ||
	    (m->ns = strdup(ns)) == NULL ||
	    proc_read(p->mmtid, 0, "mountinfo", &m->text) == -1) {
		if (m != NULL)
			free(m->ns);
		free(m);
		return NULL;
	}
	m->root = p->root;
	m->next = l->mounted;
	l->mounted = m;
	return m;
}

/*
 * See what process p of set l, which is stopped and has memory, has mounted,
 * and where it looks files up: p->mounts, which is empty if that cannot be
 * had, and p->root.  rec is its record, which tells its mount namespace.
 */
void
mounted_see(struct live *l, struct lproc *p, const struct filelist *rec)
{
	const struct file *f;
	struct mounted *m;
	char ns[64];

	f = filelist_find(rec, "ns/mnt");
	snprintf(ns, sizeof ns, "%.*s", f == NULL ? 0 : (int)f->len,
	    f == NULL ? "" : (const char *)f->data);
	/* where that is not told, it is shared with nobody */
	if (!whence_see(p->mmtid, &p->root))
		*ns = '\0';
	for (m = *ns == '\0' ? NULL : l->mounted; m != NULL; m = m->next)
		if (whence_same(&m->root, &p->root) && strcmp(m->ns, ns) == 0)
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
		free(m->ns);
		free(m->text.data);
		free(m);
	}
}
