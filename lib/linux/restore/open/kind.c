/*
 * Write the record of an open file description, file/ID: snap-linux(6). This
 * file decides on its kind, and records files with names.
 */
#include "calls.h"
#include "linux/file/file.h"
#include "opened.h"

#include <sys/vfs.h>

#include <linux/magic.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Return time t in nanoseconds.
 */
intmax_t
statx_ns(const struct statx_timestamp *t)
{
	return (intmax_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void
stat_record(struct filerec *t, const struct statx *sx)
{
	buf_printf(&t->out, "mode %o\nuid %u\ngid %u\nsize %ju\nnlink %u\n"
	    "ino %ju\ndev %02x:%02x\nrdev %02x:%02x\nmtime %jd\n", sx->stx_mode,
	    sx->stx_uid, sx->stx_gid, (uintmax_t)sx->stx_size, sx->stx_nlink,
	    (uintmax_t)sx->stx_ino, sx->stx_dev_major, sx->stx_dev_minor,
	    sx->stx_rdev_major, sx->stx_rdev_minor,
	    (intmax_t)sx->stx_mtime.tv_sec);
}

/*
 * If the file of t has a lease, record which process gets the signal when the
 * lease is broken; the descriptor must be duplicated for that. If the file is
 * on a file server, set the reason in t instead, because closing a duplicate
 * might have side effects there.
 */
static void
lease_record(struct filerec *t)
{
	struct scan text = scan_begin(t->info, strlen(t->info));
	struct filelock l;
	bool lease;

	for (lease = false; !lease && filelock_next(&text, &l);)
		lease = l.kind == LOCK_LEASE;
	if (!lease)
		return;
	if (file_islocal(t))
		(void)filerec_dup(t);
	else
		tell_why(t, "cannot determine the owner of its lease");
}

/*
 * Record file t, which has or had a name. sx is its statx(2) result.
 */
static void
named_record(struct filerec *t, const struct statx *sx)
{
	const struct filemount f = { sx->stx_mode, t->dev, t->ino,
	    (int64_t)t->fdinfo.mount };
	const char *why;
	bool deleted;

	deleted = path_isdeleted(t->link);
	if ((!deleted || hardlink_find(t->live, t->dev, t->ino) == NULL) &&
	    (why = hidden_why(t->viewer, t->link, &f)) != NULL)
		tell_why(t, "%s", why);
	filerec_path(t, t->link);
	stat_record(t, sx);
	if (hidden_ended(t->viewer, t->link, &f))
		buf_puts(&t->out, "ended 1\n");
	if (S_ISREG(t->mode))
		lease_record(t);
	if (!deleted && sx->stx_nlink > 0)
		return;
	buf_printf(&t->out, "deleted 1\ntimes %jd %jd\n",
	    statx_ns(&sx->stx_atime), statx_ns(&sx->stx_mtime));
	nameless_record(t, sx);
}

/*
 * Return true if file t is from memfd_create(2), or is shared memory opened
 * through map_files (proc_pid_map_files(5)). Such a file is on an internal
 * mount of the kernel, which no mountinfo shows.
 */
static bool
is_memfd(struct filerec *t)
{
	const struct bytes *mounts = t->proc->mounts;
	struct mountinfo m;

	return S_ISREG(t->mode) && (strncmp(t->link, "/memfd:", 7) == 0 ||
	    strcmp(t->link, "/dev/zero (deleted)") == 0) &&
	    localfs_hasdevice(t->proc->pid, t->dev) &&
	    (mounts == NULL || !mountinfo_find(mounts->data, mounts->len,
	    t->fdinfo.mount, &m));
}

static void
memfd_record(struct filerec *t, const struct statx *sx)
{
	struct statfs fs;
	int seals;

	filerec_type(t, "memfd");
	filerec_path(t, t->link);
	stat_record(t, sx);
	if (filerec_dup(t)) {
		seals = fcntl(t->dup, F_GET_SEALS);
		if (seals == -1)
			tell_why(t, "cannot read its seals");
		else
			buf_printf(&t->out, "seals %x\n",
			    (unsigned int)seals);
		if (fstatfs(t->dup, &fs) == -1)
			tell_why(t, "cannot read its page size");
		else if ((uint32_t)fs.f_type == HUGETLBFS_MAGIC)
			buf_printf(&t->out, "hugepages %ju\n",
			    (uintmax_t)fs.f_bsize);
	}
	content_record(t);
}

/*
 * Record file t, a POSIX message queue. path is the path by which the queue can
 * be opened, or "". If it is not "", record the queue as a regular file with
 * that path.
 */
static void
mqueue_record(struct filerec *t, const struct statx *sx, const char *path)
{
	if (*path == '\0')
		tell_why(t, "it has no name by which it can be opened");
	filerec_type(t, *path != '\0' ? "reg" : "mqueue");
	filerec_path(t, *path != '\0' ? path : t->link);
	stat_record(t, sx);
}

/*
 * Return the type of the character device that sx describes, according to the
 * numbers in Linux's Documentation/admin-guide/devices.txt.
 */
static const char *
device_type(const struct statx *sx)
{
	unsigned int maj = sx->stx_rdev_major, min = sx->stx_rdev_minor;

	if (maj == 1 && (min == 3 || min == 5 || (min >= 7 && min <= 9)))
		return "chr"; /* devices null, zero, full, random and urandom */
	return maj == 4 || maj == 5 || (maj >= 136 && maj <= 143) ||
	    maj == 166 || maj == 188 || maj == 204 || maj == 229 ?
	    "tty" : "device";
}

/*
 * If file t is a namespace, whose link is KIND:[INODE] (namespaces(7)), record
 * it and return true. Otherwise return false.
 */
static bool
namespace_record(struct filerec *t)
{
	char inode[32];
	size_t n;

	n = strcspn(t->link, ":");
	snprintf(inode, sizeof inode, ":[%ju]", (uintmax_t)t->ino);
	if (!S_ISREG(t->mode) || *t->link == '/' ||
	    strcmp(t->link + n, inode) != 0)
		return false;
	filerec_type(t, "namespace");
	buf_printf(&t->out, "space %.*s\nino %ju\n", (int)n, t->link,
	    (uintmax_t)t->ino);
	return true;
}

/*
 * Append to the record of t the type of the file, and the lines that are
 * specific to that type.
 */
static void
inode_record(struct filerec *t, const struct statx *sx)
{
	const char *type;
	char *path;

	if (S_ISSOCK(t->mode)) {
		socket_record(t);
	} else if (S_ISFIFO(t->mode)) {
		filerec_type(t, t->link[0] == '/' ? "fifo" : "pipe");
		if (t->link[0] == '/')
			named_record(t, sx);
		else
			buf_printf(&t->out, "ino %ju\n", (uintmax_t)t->ino);
		if (filerec_dup(t)) {
			t->reads = pipe_isread(t);
			t->proxyrec = pipe_record;
		}
	} else if (namespace_record(t)) {
		;
	} else if (t->link[0] != '/') {
		filerec_type(t, "other");
		tell_why(t, "a file of an unknown kind");
	} else if (is_memfd(t)) {
		memfd_record(t, sx);
	} else if (S_ISREG(t->mode) && (path = mqueue_path(t)) != NULL) {
		mqueue_record(t, sx, path);
		free(path);
	} else {
		type = S_ISREG(t->mode) ? "reg" : S_ISDIR(t->mode) ? "dir" :
		    S_ISCHR(t->mode) ? device_type(sx) :
		    S_ISBLK(t->mode) ? "device" :
		    S_ISLNK(t->mode) ? "link" : "other";
		filerec_type(t, type);
		if (strcmp(type, "tty") == 0) {
			filerec_path(t, t->link);
			stat_record(t, sx);
			if (filerec_dup(t))
				t->proxyrec = tty_record;
			return;
		}
		if (type[0] == 'o' || strcmp(type, "device") == 0)
			tell_why(t, "a device");
		named_record(t, sx);
	}
}

static void
filerec_free(struct filerec *t)
{
	fd_drop(t->dup);
	free(t->link);
	free(t->info);
}

/*
 * Read what /proc says about file t: link, fdinfo and stat. If the kernel does
 * not show the link because it is too long, set t->link to "". Its descriptor
 * is not duplicated. Set *sx to the statx(2) result. Return false if the
 * descriptor no longer exists.
 */
static bool
file_look(struct filerec *t, struct statx *sx)
{
	char name[32];

	if (fd_see(t->pid, t->fd, sx) == -1)
		return false;
	t->mode = sx->stx_mode;
	t->dev = statx_dev(sx);
	t->ino = sx->stx_ino;
	t->rmajor = sx->stx_rdev_major;
	t->rminor = sx->stx_rdev_minor;
	snprintf(name, sizeof name, "fd/%d", t->fd);
	t->link = proc_link(t->pid, 0, name);
	if (t->link == NULL && errno == ENAMETOOLONG) {
		t->link = strdup("");
		tell_why(t, "a file whose path is too long");
	}
	if (t->link == NULL || !info_read(t))
		return false;
	t->flags = t->fdinfo.flags & ~(unsigned)O_CLOEXEC;
	return t->fdinfo.has_flags;
}

/*
 * Begin the record of file t in t->out. Add the content of the file to the
 * snapshot if it would otherwise be lost. If the proxy has to record more, set
 * t->proxyrec to the function that the proxy must run before file_end() is
 * called. Return false if the descriptor no longer exists.
 */
bool
file_record(struct filerec *t)
{
	struct statx sx;

	if (!file_look(t, &sx)) {
		filerec_free(t);
		return false;
	}
	if (t->file->unsure)
		tell_why(t, "kcmp(2) failed: cannot determine which other "
		    "processes have it open");
	if (!anoninode_record(t))
		inode_record(t, &sx);
	return true;
}

/*
 * Append the last lines of the record to t->out, and free the rest of t. The
 * caller frees t->out.
 */
void
file_end(struct filerec *t)
{
	if (S_ISSOCK(t->mode))
		buf_printf(&t->out, "ino %ju\n", (uintmax_t)t->ino);
	buf_printf(&t->out, "flags %o\npos %" PRId64 "\n", t->flags,
	    t->fdinfo.pos);
	if (t->fdinfo.lock)
		buf_puts(&t->out, "lock 1\n");
	if (t->why[0] != '\0')
		buf_printf(&t->out, "why %s\n", t->why);
	filerec_free(t);
}
