/*
 * Other names of open files whose names are deleted: they are looked for
 * before anything is stopped, as far as no server of a file system is asked,
 * and what was found is looked at again when all is stopped.
 */
#include "clock.h"
#include "linksearch.h"
#include "opened.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINKS_MOST = 64,	/* files; each is a descriptor of ours */
	ENTRIES_MOST = 500000,	/* of directories that are looked at */
	LOOK_MS = 5000		/* and for how long */
};

struct hardlink {		/* a file whose name is deleted */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned; another name; NULL: not found */
	const char	*name;	/* borrowed; the last part of it */
	int		 dir;	/* owned; where that is; -1: not found */
};

struct hardlinks {
	struct hardlink v[LINKS_MOST];
	size_t		 n;
};

struct looking {
	struct live	*live;		/* borrowed, as the next two */
	const struct lproc *proc;
	struct linkbudget *budget;
	struct bytes	 mounts;	/* owned */
	int		 root;		/* owned; where paths begin, or -1 */
};

static const struct hardlink *
link_get(const struct live *l, uint64_t dev, uint64_t ino)
{
	const struct hardlinks *o = l->links;
	size_t i;

	for (i = 0; o != NULL && i < o->n; i++)
		if (o->v[i].dev == dev && o->v[i].ino == ino)
			return &o->v[i];
	return NULL;
}

/*
 * Look for another name of a file, and note what was found.
 */
static void
link_look(struct looking *k, const struct linkwish *w)
{
	struct live *l = k->live;
	struct hardlink *v;

	if (l->links == NULL &&
	    (l->links = calloc(1, sizeof *l->links)) == NULL)
		return;
	if (l->links->n == LINKS_MOST || link_get(l, w->dev, w->ino) != NULL)
		return;
	v = &l->links->v[l->links->n++];
	v->dev = w->dev;
	v->ino = w->ino;
	v->path = link_search(w, k->budget, &v->dir);
	v->name = v->path == NULL ? NULL : strrchr(v->path, '/') + 1;
}

/*
 * Return true if the paths of a process begin where ours do.
 */
static bool
is_ours(const struct lproc *p)
{
	struct stat a, b;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/ns/mnt", p->pid);
	return stat("/proc/self/ns/mnt", &a) == 0 && stat(path, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Find the mounts of the process, and where its paths begin.  Return whether
 * they can be had.
 */
static bool
looking_begin(struct looking *k)
{
	char path[64] = "/";

	if (k->mounts.data != NULL)
		return k->root != -1;
	if (proc_read(k->proc->pid, 0, "mountinfo", &k->mounts) == -1)
		return false;
	if (!is_ours(k->proc))
		snprintf(path, sizeof path, "/proc/%d/root", k->proc->pid);
	k->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return k->root != -1;
}

/*
 * A file whose name is deleted and that has another one is looked for.
 */
static void
deleted_look(struct looking *k, long fd, const char *link)
{
	struct linkwish w = { .path = link };
	struct fdinfo info;
	char path[64];
	struct statx sx;
	struct bytes b;

	snprintf(path, sizeof path, "/proc/%d/fd/%ld", k->proc->pid, fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
	    &sx) == -1 || !S_ISREG(sx.stx_mode) || sx.stx_nlink == 0)
		return;
	snprintf(path, sizeof path, "fdinfo/%ld", fd);
	if (!looking_begin(k) ||
	    proc_read(k->proc->pid, 0, path, &b) == -1)
		return;
	fdinfo_parse(&info, b.data, b.len);
	free(b.data);
	w.mount = info.mount;
	w.root = k->root;
	w.dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	w.ino = sx.stx_ino;
	w.layered = mounts_layered(&k->mounts, w.mount);
	if (mounts_local(&k->mounts, w.mount) &&
	    mounts_waylocal(&k->mounts, link))
		link_look(k, &w);
}

static int
fd_look(void *arg, long fd)
{
	struct looking *k = arg;
	char name[64], *link;

	snprintf(name, sizeof name, "fd/%ld", fd);
	link = proc_link(k->proc->pid, 0, name);
	if (link != NULL && link[0] == '/' && path_isdeleted(link))
		deleted_look(k, fd, link);
	free(link);
	return 0;
}

/*
 * Look for other names of what processes of set l have open.  None may be
 * stopped.  A process that dumps core cannot be restored, which is what a name
 * is for; and the name may be in a directory that its user cannot read.
 */
void
hardlinks_look(struct live *l)
{
	struct linkbudget budget = { ENTRIES_MOST, now_ms() + LOOK_MS };
	struct looking k = { .live = l, .budget = &budget };

	TAILQ_FOREACH(k.proc, &l->procs, entry) {
		if (k.proc->skip || k.proc->kernel || k.proc->core != NULL)
			continue;
		k.root = -1;
		(void)proc_list(k.proc->pid, "fd", fd_look, &k);
		if (k.root != -1)
			close(k.root);
		free(k.mounts.data);
		memset(&k.mounts, 0, sizeof k.mounts);
	}
}

/*
 * Return another name of the file with device dev and inode ino, as set l has
 * found one, which still is one; or NULL.
 */
const char *
hardlink_find(const struct live *l, uint64_t dev, uint64_t ino)
{
	const struct hardlink *v;

	v = link_get(l, dev, ino);
	return v != NULL && v->path != NULL &&
	    link_leads(v->dir, v->name, dev, ino) ? v->path : NULL;
}

/*
 * Free the names that set l has found.
 */
void
hardlinks_free(struct live *l)
{
	struct hardlinks *o = l->links;
	size_t i;

	for (i = 0; o != NULL && i < o->n; i++) {
		if (o->v[i].dir != -1)
			close(o->v[i].dir);
		free(o->v[i].path);
	}
	free(o);
	l->links = NULL;
}
