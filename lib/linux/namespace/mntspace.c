/*
 * What it takes to make a mount namespace again, of processes that have one for
 * themselves: all that is mounted there, what is mounted where we are, and the
 * files of each tmpfs that is not.  A proxy goes there, sees that, and ends:
 * mount_namespaces(7).
 */
#include "full.h"
#include "linux/proxy/proxy.h"
#include "spaces.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <linux/magic.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428	/* asm/unistd.h, since Linux 5.2 */
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442	/* since 5.12 */
#endif

enum {				/* linux/mount.h */
	TREE_CLONE = 1, TREE_CLOEXEC = O_CLOEXEC, ATTR_RDONLY = 0x1,
	ATTR_NOATIME = 0x10
};

struct attr {			/* mount_setattr(2) */
	uint64_t	 set;
	uint64_t	 clear;
	uint64_t	 propagation;
	uint64_t	 userns;
};

enum { TMPFS_MOST = 16 * 1024 * 1024 }; /* bytes that are read: all are stopped
				   meanwhile */

struct mntvisit {
	int		 proc;	/* /proc as we see it */
	struct bytes	 ours;	/* borrowed; what we have mounted */
	struct filelist	 found;	/* owned */
	size_t		 left;	/* of TMPFS_MOST */
};

struct seen {			/* a mount, on the way through a list */
	struct mntvisit	*v;	/* borrowed */
	struct bytes	*theirs; /* borrowed; the list */
};

static const char *const inside = "mounts/inside";

/*
 * Return the directory that a tmpfs is mounted on, without what is mounted
 * below; or -1.
 */
static int
tmpfs_open(const char *point, dev_t dev)
{
	struct attr attr = { .set = ATTR_RDONLY | ATTR_NOATIME };
	struct statfs fs;
	struct stat st;
	int fd, dir;

	fd = (int)syscall(SYS_open_tree, AT_FDCWD, point, TREE_CLONE |
	    TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
	if (fd == -1)
		fd = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else	/* older kernels do without: times of access may change */
		(void)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr,
		    sizeof attr);
	if (fd == -1)
		return -1;
	dir = -1;
	if (fstat(fd, &st) == 0 && st.st_dev == dev && fstatfs(fd, &fs) == 0 &&
	    fs.f_type == TMPFS_MAGIC)
		dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NOATIME |
		    O_CLOEXEC);
	close(fd);
	return dir;
}

struct other {			/* that a device is looked for in a list */
	dev_t	 dev;
	bool	 found;
};

static void
device_cmp(const struct mountinfo *m, void *arg)
{
	struct other *o = arg;

	o->found |= m->dev == o->dev;
}

/*
 * Take along the files of a mount, if it is a tmpfs that is not mounted where
 * we are, and was not taken yet.
 */
static void
tmpfs_take(const struct mountinfo *m, void *arg)
{
	const struct seen *s = arg;
	struct other other = { .dev = m->dev };
	struct buf b = { 0 };
	char name[64];
	int dir;

	if (!m->tmpfs || !mounts_waylocal(s->theirs, m->point))
		return;
	mounts_each(&s->v->ours, device_cmp, &other);
	snprintf(name, sizeof name, "mounts/tmpfs/%x:%x", major(m->dev),
	    minor(m->dev));
	if (other.found || filelist_find(&s->v->found, name) != NULL ||
	    (dir = tmpfs_open(m->point, m->dev)) == -1)
		return;
	if (tmpfs_archive(&b, dir, s->v->proc, s->v->left) == 0) {
		s->v->left -= b.len < s->v->left ? b.len : s->v->left;
		filelist_buf(&s->v->found, name, &b);
	} else
		buf_free(&b);
	close(dir);
}

/*
 * See what is in the mount namespace that is open as ns, where the proxy stays.
 * Return 0, or -1 with errstr.
 */
static int
mntvisit_make(struct mntvisit *v, int ns)
{
	struct buf text = { 0 };
	struct bytes theirs;
	struct seen s = { v, &theirs };

	if (setns(ns, CLONE_NEWNS) == -1)
		return errstr_sys("its mount namespace");
	if (full_readfile(v->proc, "self/mountinfo", &text) == -1) {
		buf_free(&text);
		return errstr_sys("mountinfo");
	}
	theirs = (struct bytes){ .data = text.data, .len = text.len };
	mounts_each(&theirs, tmpfs_take, &s);
	filelist_buf(&v->found, inside, &text);
	return 0;
}

/*
 * Answer what is in a mount namespace, which comes with the question.
 */
static int
mntvisit_serve(struct serving *s)
{
	struct mntvisit v = { .left = TMPFS_MOST };
	struct buf ours = { 0 };
	int rc;

	s->last = true;
	v.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v.proc == -1 || full_readfile(v.proc, "self/mountinfo", &ours) ==
	    -1)
		return errstr_sys("mountinfo");
	v.ours = (struct bytes){ .data = ours.data, .len = ours.len };
	filelist_copy(&v.found, "mounts/outside", ours.data, ours.len);
	rc = mntvisit_make(&v, s->fd);
	return rc == -1 ? -1 : serve_files(s, &v.found);
}

/*
 * Return true if the namespace ns, its link, is ours.
 */
static bool
space_isours(const char *ns)
{
	char *here;
	bool same;

	here = proc_link(getpid(), gettid(), "ns/mnt");
	same = here != NULL && strcmp(here, ns) == 0;
	free(here);
	return same;
}

/*
 * Record in to what it takes to make the mount namespace of process p again,
 * the first of set l that is in it, which is stopped: snap(6), mounts.  Nothing
 * is recorded where it is ours.
 */
void
mntspace_record(struct live *l, const struct lproc *p, struct filelist *to)
{
	struct proxy_key k = { .kind = KEY_SPACE };
	char *link, what[64];
	struct stat st;
	int ns;

	if ((link = proc_link(p->mmtid, 0, "ns/mnt")) == NULL ||
	    space_isours(link) || space_told(l, link)) {
		free(link);
		return;
	}
	free(link);
	snprintf(what, sizeof what, "process %d: its mounts", p->pid);
	k.what = what;
	ns = proc_open(p->mmtid, 0, "ns/mnt", O_RDONLY);
	if (ns == -1 || fstat(ns, &st) == -1)
		filelist_text(to, "mounts/why", "its mount namespace: %s\n",
		    strerror(errno));
	else {
		k.id = st.st_ino;
		if (proxy_files(&k, mntvisit_serve, NULL, 0, ns, to) == -1)
			filelist_text(to, "mounts/why", "%s\n",
			    snap_errstr());
	}
	if (ns != -1)
		close(ns);
}
