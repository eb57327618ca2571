/*
 * Record a mount namespace other than ours, for restoring it: the mounts there,
 * our own mounts, and the files of each tmpfs that is mounted only there. A
 * proxy enters the namespace, reads its mounts, and ends: mount_namespaces(7).
 */
#include "bisect.h"
#include "calls.h"
#include "full.h"
#include "linux/file/file.h"
#include "spaces.h"
#include "vec.h"

#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <linux/magic.h>
#include <linux/mount.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442	/* since Linux 5.12 */
#endif

struct attr {			/* struct mount_attr of mount_setattr(2) */
	uint64_t	 set;
	uint64_t	 clear;
	uint64_t	 propagation;
	uint64_t	 userns;
};

enum { TAR_CHANGED = 1 };	/* exit status of GNU tar if files changed while
				   it read them */
enum { MAX_TMPFS = 16 * 1024 * 1024 }; /* maximum size of all archives together,
					  in bytes; small, because processes are
					  stopped meanwhile */

struct tmpfs {			/* a tmpfs not mounted in our namespace */
	uint64_t	 dev;
	int		 dir;	/* owned; descriptor of the root directory of
				   the tmpfs */
};

struct mntvisit {
	struct filelist	 found;	/* owned; files of the answer */
	struct tmpfs	*v;	/* owned */
	size_t		 n;
};

static const char *const inside = "mounts/inside";
static const char *const why = "mounts/why";

/*
 * Open the root directory of the tmpfs that is mounted as m, whose mount point
 * is the path point. Leave out mounts below it. Return a descriptor, or -1 if
 * another mount covers it or on error.
 */
static int
tmpfs_open(const char *point, const struct mountinfo *m)
{
	struct attr attr = { .set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOATIME };
	struct filemount f;
	struct statfs fs;
	struct stat st;
	int fd, dir;

	if (call_filemount(AT_FDCWD, point, &f) == 0 && f.mount != -1 &&
	    (uint64_t)f.mount != m->id)
		return -1;
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, point, OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
	if (fd == -1)
		fd = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else	/* this fails on older kernels; reading may then change access
		   times */
		(void)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr,
		    sizeof attr);
	if (fd == -1)
		return -1;
	dir = -1;
	if (fstat(fd, &st) == 0 && st.st_dev == m->dev &&
	    fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC)
		dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_NOATIME |
		    O_CLOEXEC);
	close(fd);
	return dir;
}

/*
 * Return true if mounts, the text of a mountinfo, lists a mount of device dev.
 */
static bool
device_find(const struct buf *mounts, uint64_t dev)
{
	struct scan t = scan_begin(mounts->data, mounts->len);
	struct mountinfo m;

	while (mountinfo_next(&t, &m))
		if (m.dev == dev)
			return true;
	return false;
}

/*
 * Open mount m of the other namespace and add it to v, if m is a whole tmpfs
 * that only that namespace has. ours and theirs are the mountinfo texts of the
 * two namespaces. Each tmpfs is added only once.
 */
static int
tmpfs_add(struct mntvisit *v, const struct mountinfo *m,
    const struct buf *ours, const struct buf *theirs)
{
	const struct bytes mounts = { theirs->data, theirs->len };
	char point[PATH_MAX];
	size_t n;
	int dir;

	n = scan_len(&m->point);
	if (!scan_is(&m->type, "tmpfs") || !scan_is(&m->root, "/") ||
	    n >= sizeof point || device_find(ours, m->dev) ||
	    SEEK(v->v, v->n, x->dev == m->dev) != NULL)
		return 0;
	snprintf(point, sizeof point, "%.*s", (int)n, m->point.s);
	text_unescape(point);
	if (!localfs_haspath(&mounts, point) ||
	    (dir = tmpfs_open(point, m)) == -1)
		return 0;
	if (VEC_ADD(v->v, v->n, (struct tmpfs){ m->dev, dir }) == 0)
		return 0;
	close(dir);
	return -1;
}

/*
 * Enter the mount namespace ns for good. Add to v each tmpfs that only that
 * namespace has. ours is the mountinfo of our namespace, and proc is our /proc.
 */
static int
mntvisit_make(struct mntvisit *v, int ns, int proc, const struct buf *ours)
{
	struct buf text = { 0 };
	struct mountinfo m;
	struct scan t;
	int rc;

	if (ns == -1 || setns(ns, CLONE_NEWNS) == -1)
		return errstr_sys("its mount namespace");
	if (full_readfile(proc, "self/mountinfo", &text) == -1) {
		buf_free(&text);
		return errstr_sys("mountinfo");
	}
	t = scan_begin(text.data, text.len);
	for (rc = 0; rc == 0 && mountinfo_next(&t, &m);)
		rc = tmpfs_add(v, &m, ours, &text);
	filelist_buf(&v->found, inside, &text);
	return rc;
}

/*
 * Add an archive of each tmpfs of v to v->found. tar(1) runs in our own mount
 * namespace, and is killed when the other end of sock is closed. If tar fails,
 * add a file with the reason instead. Exit status TAR_CHANGED is not a failure:
 * another process changed a file while tar read it.
 */
static void
tmpfs_archive(struct mntvisit *v, int sock)
{
	char dir[48], name[64];
	/* without names: criu would look them up where it restores */
	const char *const argv[] = { "tar", "-C", dir, "--format=gnu", "-b1",
	    "--numeric-owner", "--one-file-system", "--atime-preserve=system",
	    "-cf", "-", ".", NULL };
	const struct tmpfs *t;
	size_t left = MAX_TMPFS;
	struct buf b;
	bool whole;
	int rc;

	for (t = v->v; t < v->v + v->n; t++) {
		b = (struct buf){ 0 };
		snprintf(dir, sizeof dir, "/proc/%d/fd/%d", getpid(), t->dir);
		snprintf(name, sizeof name, "mounts/tmpfs/%x:%x",
		    major(t->dev), minor(t->dev));
		rc = program_run(argv, -1, sock, -1, NULL, 0, &b);
		whole = rc == 0 || (rc == TAR_CHANGED && b.len > 0);
		if (!whole && b.len < left)
			filelist_text(&v->found, why, "tar(1) is not "
			    "installed or failed: files of a tmpfs\n");
		if (whole && b.len < left) {
			left -= b.len;
			filelist_buf(&v->found, name, &b);
		} else
			buf_free(&b);
	}
}

/*
 * In the proxy, read the mount namespace of a process, and answer with its
 * mounts and tmpfs archives. The argument is the pid of the process.
 */
static int
mntvisit_serve(struct serving *s)
{
	struct mntvisit v = { 0 };
	struct buf ours = { 0 };
	int here, proc;
	pid_t pid;

	s->last = true;
	memcpy(&pid, s->arg, sizeof pid);
	here = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here == -1 || proc == -1 || full_readfile(proc, "self/mountinfo",
	    &ours) == -1)
		return errstr_sys("mountinfo");
	filelist_copy(&v.found, "mounts/outside", ours.data, ours.len);
	if (mntvisit_make(&v, proc_open(pid, 0, "ns/mnt", O_RDONLY), proc,
	    &ours) == -1)
		return -1;
	if (setns(here, CLONE_NEWNS) == -1)
		return errstr_sys("cannot return to the original mount "
		    "namespace");
	tmpfs_archive(&v, s->sock);
	return serve_files(s, &v.found);
}

/*
 * Return the file called name in the record of process p. Return NULL if it has
 * not been read.
 */
static const struct file *
record_find(const struct lproc *p, const char *name)
{
	const struct lthread *t = TAILQ_FIRST(&p->threads);
	const struct file *f;

	f = t == NULL ? NULL : filelist_find(&t->rec, name);
	if (f == NULL)
		f = filelist_find(&p->links, name);
	return f != NULL || t == NULL ? f : filelist_find(&t->seen, name);
}

/*
 * Set l->init on the first call.
 */
static void
init_find(struct live *l)
{
	const struct file *f;
	struct lproc *p;
	uint64_t pid;

	if (l->initsought)
		return;
	l->initsought = true;
	TAILQ_FOREACH(p, &l->procs, entry) {
		f = record_find(p, "status");
		if (f != NULL && status_inner(f->data, f->len, "NSpid",
		    &pid) > 1 && pid == 1) {
			l->init = p;
			return;
		}
	}
}

/*
 * Return true if the process of record rec and process p are in one mount
 * namespace.
 */
static bool
is_beside(const struct filelist *rec, const struct lproc *p)
{
	const struct file *f = filelist_find(rec, "ns/mnt"), *g;

	g = record_find(p, "ns/mnt");
	return f != NULL && g != NULL && f->len == g->len &&
	    memcmp(f->data, g->data, f->len) == 0;
}

/*
 * Add to rec, the record of process p, what is needed to re-create the mount
 * namespace of p (snap-linux(6), mounts). p must be stopped. Do nothing if l
 * has no init, or if p is not the init but in its mount namespace. Record the
 * mounts only if the namespace is not ours, and not yet recorded for another
 * process.
 */
void
mntspace_record(struct live *l, const struct lproc *p, struct filelist *rec)
{
	const struct file *f;

	init_find(l);
	if (l->init == NULL || (p != l->init && is_beside(rec, l->init)))
		return;
	if (p != l->init)
		mapmounts_record(p, rec);
	if (space_isnew(l, rec, "mnt") && space_ask(p, mntvisit_serve,
	    "its mounts", why, rec) == 0 &&
	    (f = filelist_find(rec, why)) != NULL)
		live_warn(l, "process %d: %.*s are missing", p->pid,
		    (int)f->len - 1, (const char *)f->data);
}
