/*
 * Find other names of open files whose own name was deleted. They are searched
 * for before any process is stopped, and not on file systems that a server must
 * answer for. Names found are checked again when all processes are stopped.
 */
#include "calls.h"
#include "bisect.h"
#include "clock.h"
#include "linux/file/file.h"
#include "linux/proxy/proxy.h"
#include "opened.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	MAX_LINKS = 64,	/* maximum number of files; each uses a descriptor */
	MAX_LEVELS = 32, /* maximum number of parent directories searched */
	LOOK_MS = 4000,		/* time limit for all files together */
	EACH_PART = 8		/* one file gets at most 1/8 of the time left */
};

struct hardlink {		/* a file whose name was deleted */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*path;	/* owned; another path to the file; NULL: none
				   found */
	const char	*name;	/* borrowed; last component of "path" */
	int		 dir;	/* owned; descriptor of the directory that
				   "path" is in; -1: not found */
};

struct hardlinks {
	struct hardlink v[MAX_LINKS];
	size_t		 n;
};

struct search {
	struct live	*live;		/* borrowed */
	const struct lproc *proc;
	uint64_t	 until; /* deadline in ms, as returned by now_ms() */
	struct bytes	 mounts;	/* owned */
	char		 from[32]; /* path of the process's root directory; "":
				      the same as ours */
	int		 root;		/* owned; descriptor of the process's
					   root directory, or -1 */
};

static const struct hardlink *
link_get(const struct live *l, uint64_t dev, uint64_t ino)
{
	const struct hardlinks *o = l->links;

	return o == NULL ? NULL : SEEK(o->v, o->n, x->dev == dev && x->ino ==
	    ino);
}

/*
 * Return true if the file called name in the directory open as dir has device
 * dev and inode ino.
 */
static bool
link_leads(int dir, const char *name, uint64_t dev, uint64_t ino)
{
	struct statx sx;
	bool is;
	int fd;

	fd = beneath_resolve(dir, name, O_PATH | O_NOFOLLOW, PROXY_PLAIN);
	if (fd == -1)
		return false;
	is = statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO,
	    &sx) == 0 && sx.stx_ino == ino && statx_dev(&sx) == dev;
	close(fd);
	return is;
}

/*
 * Open the directory at path, as the process of k sees it. It must be on the
 * mount with ID mount. Return a descriptor, or -1.
 */
static int
dir_open(const struct search *k, const char *path, uint64_t mount)
{
	struct filemount f;
	int fd;

	fd = beneath_resolve(k->root, *path == '\0' ? "/" : path, O_PATH |
	    O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
	    RESOLVE_NO_MAGICLINKS);
	if (fd != -1 && (call_filemount(fd, "", &f) == -1 || f.mount == -1 ||
	    (uint64_t)f.mount != mount)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * Run find(1) to search for a file with inode number ino near path. It searches
 * the directory that contains path, then the parents of that directory, up to
 * the root of the mount with ID mount. It follows no links, and stays on the
 * file system. Return its output, which the caller frees, or NULL if it finds
 * nothing.
 */
static char *
find_run(struct search *k, const char *path, uint64_t mount, uint64_t ino)
{
	char *level[MAX_LEVELS] = { NULL }, number[32], *dir;
	const char *argv[MAX_LEVELS + 16] = { "find" };
	/* in overlayfs the inodes in directory entries are wrong: -links
	   makes find stat the file */
	const char *const tests[] = { "-xdev", "-type", "f", "-links", "+0",
	    "-inum", number, "-print", "-quit" };
	const uint64_t now = now_ms();
	uint64_t ms;
	size_t i, n, nlevel;
	struct buf b = { 0 };
	char *cut;
	int fd;

	if (now >= k->until || (dir = strdup(path)) == NULL)
		return NULL;
	ms = (k->until - now) / EACH_PART + 1;
	snprintf(number, sizeof number, "%ju", (uintmax_t)ino);
	n = 1;
	for (nlevel = 0; nlevel < MAX_LEVELS &&
	    (cut = strrchr(dir, '/')) != NULL;) {
		*cut = '\0';
		if ((fd = dir_open(k, dir, mount)) == -1)
			continue;
		close(fd);
		if (asprintf(&level[nlevel], "%s%s/", k->from, dir) == -1)
			break;
		argv[n++] = level[nlevel++];
	}
	free(dir);
	memcpy(&argv[n], tests, sizeof tests);
	if (nlevel > 0 &&
	    program_run(argv, -1, -1, (int)ms, NULL, 0, &b) != 0 &&
	    access("/usr/bin/find", X_OK) == -1 &&
	    access("/bin/find", X_OK) == -1)
		live_warn(k->live, "cannot search for another name of %s: "
		    "find(1) is not installed", path);
	for (i = 0; i < nlevel; i++)
		free(level[i]);
	return b.len == 0 ? NULL : buf_text(&b);
}

/*
 * Search for another name of a deleted file. path is the path it had, mount the
 * ID of its mount, dev its device and ino its inode. Add the result to the
 * links of k->live, even if no name was found.
 */
static void
link_search(struct search *k, const char *path, uint64_t mount, uint64_t dev,
    uint64_t ino)
{
	struct live *l = k->live;
	struct hardlink *v;
	char *found, *name;

	if ((l->links == NULL &&
	    (l->links = calloc(1, sizeof *l->links)) == NULL) ||
	    l->links->n == MAX_LINKS || link_get(l, dev, ino) != NULL)
		return;
	v = &l->links->v[l->links->n++];
	*v = (struct hardlink){ .dev = dev, .ino = ino, .dir = -1 };
	if ((found = find_run(k, path, mount, ino)) == NULL)
		return;
	found[strcspn(found, "\n")] = '\0';
	name = strrchr(found, '/');
	if (name != NULL && strlen(k->from) <= (size_t)(name - found)) {
		*name = '\0';
		v->dir = dir_open(k, found + strlen(k->from), mount);
		*name = '/';
	}
	if (v->dir != -1 && link_leads(v->dir, name + 1, dev, ino))
		v->path = strdup(found + strlen(k->from));
	v->name = v->path == NULL ? NULL : strrchr(v->path, '/') + 1;
	free(found);
}

/*
 * Read the mountinfo of the process of k and open its root, once per process.
 * Return false if that fails.
 */
static bool
search_begin(struct search *k)
{
	if (k->mounts.data != NULL)
		return k->root != -1;
	if (proc_read(k->proc->pid, 0, "mountinfo", &k->mounts) == -1)
		return false;
	*k->from = '\0';
	/* a process in another mount namespace has another root */
	if (ns_number(k->proc->pid, "mnt") != ns_number(getpid(), "mnt"))
		snprintf(k->from, sizeof k->from, "/proc/%d/root",
		    k->proc->pid);
	k->root = open(*k->from == '\0' ? "/" : k->from, O_PATH |
	    O_DIRECTORY | O_CLOEXEC);
	return k->root != -1;
}

/*
 * Search for another name of the file that the process of k has open as fd. Do
 * nothing if the file has no links left. link is the name that /proc shows for
 * the file, with " (deleted)" at its end.
 */
static void
deleted_search(struct search *k, long fd, const char *link)
{
	struct fdinfo info;
	char path[64];
	struct statx sx;
	struct bytes b;

	if (fd_see(k->proc->pid, fd, &sx) == -1 || !S_ISREG(sx.stx_mode) ||
	    sx.stx_nlink == 0)
		return;
	snprintf(path, sizeof path, "fdinfo/%ld", fd);
	if (!search_begin(k) ||
	    proc_read(k->proc->pid, 0, path, &b) == -1)
		return;
	fdinfo_parse(&info, b.data, b.len);
	free(b.data);
	if (localfs_hasmount(k->proc->pid, info.mount) &&
	    localfs_haspath(&k->mounts, link))
		link_search(k, link, info.mount, statx_dev(&sx), sx.stx_ino);
}

static int
fd_search(void *arg, long fd)
{
	struct search *k = arg;
	char name[64], *link;

	snprintf(name, sizeof name, "fd/%ld", fd);
	link = proc_link(k->proc->pid, 0, name);
	if (link != NULL && link[0] == '/' && path_isdeleted(link))
		deleted_search(k, fd, link);
	free(link);
	return 0;
}

/*
 * Search for other names of deleted files that the processes of l have open.
 * Call this while no process is stopped. The names are used only to restore a
 * process. So processes that dump core are skipped: they cannot be restored,
 * and a name may be in a directory that their user cannot read.
 */
void
hardlinks_look(struct live *l)
{
	struct search k = { .live = l, .until = now_ms() + LOOK_MS };

	TAILQ_FOREACH(k.proc, &l->procs, entry) {
		if (!lproc_istaken(k.proc) || k.proc->core != NULL)
			continue;
		k.root = -1;
		(void)proc_list(k.proc->pid, "fd", fd_search, &k);
		fd_drop(k.root);
		free(k.mounts.data);
		memset(&k.mounts, 0, sizeof k.mounts);
	}
}

/*
 * Return the other name that l has found for a deleted file, given by device
 * dev and inode ino. Return NULL if there is none, or if it no longer leads to
 * the file.
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
 * Free the names that l has found.
 */
void
hardlinks_free(struct live *l)
{
	struct hardlinks *o = l->links;
	size_t i;

	for (i = 0; o != NULL && i < o->n; i++) {
		fd_drop(o->v[i].dir);
		free(o->v[i].path);
	}
	free(o);
	l->links = NULL;
}
