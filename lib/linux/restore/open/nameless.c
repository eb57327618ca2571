/*
 * Record files whose name was deleted: their content, which goes into the
 * snapshot, and what a file created in their place would lack. Calls that a
 * file server may delay are made by the proxy.
 */
#include "bisect.h"
#include "calls.h"
#include "linux/file/file.h"
#include "opened.h"

#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <linux/magic.h>

#include <fcntl.h>
#include <unistd.h>

struct nameless {		/* a file whose name was deleted */
	bool		 attributes; /* the file has extended attributes or ACLs
					that would be lost */
	bool		 huge;	/* the file is on a hugetlbfs */
	char		 leads[PATH_MAX]; /* target, if the file is a symbolic
					     link; "": unknown */
};

/*
 * Return true if the file at path has attributes that would be lost if it were
 * re-created: ACLs and extended attributes, xattr(7).
 */
static bool
has_attributes(const char *path)
{
	static const char *const lost[] = {
		"user.", "trusted.", "system.posix_acl_", "security.capability"
	};
	char names[4096];
	const char *s;
	ssize_t n;

	if ((n = listxattr(path, names, sizeof names - 1)) == -1)
		return errno == ERANGE;
	names[n] = '\0';
	for (s = names; s < names + n; s += strlen(s) + 1)
		if (SEEK_IN(lost, strncmp(s, *x, strlen(*x)) == 0) != NULL)
			return true;
	return false;
}

/*
 * In the proxy, inspect a deleted file. This may have to wait for a file
 * server. The question has a descriptor if the file is a symbolic link,
 * otherwise only a path. The answer is a struct nameless. Return 0.
 */
static int
nameless_serve(struct serving *s)
{
	struct nameless n = { 0 };
	struct statfs fs;
	ssize_t len;

	if (s->fd != -1) {
		len = readlinkat(s->fd, "", n.leads, sizeof n.leads);
		if (len <= 0 || len == sizeof n.leads)
			len = 0;
		n.leads[len] = '\0';
	} else {
		n.attributes = has_attributes(s->arg);
		/* write(2) does not work there */
		n.huge = statfs(s->arg, &fs) == 0 && (uint32_t)fs.f_type ==
		    HUGETLBFS_MAGIC;
	}
	serve_put(s, &n, sizeof n);
	return 0;
}

/*
 * Make the proxy inspect file t, which was deleted, and set *n to its answer.
 * fd is a descriptor of the file if it is a symbolic link, else -1. If there is
 * no answer, zero *n, and set the reason in t.
 */
static void
nameless_ask(struct filerec *t, int fd, struct nameless *n)
{
	struct bytes answer;
	char path[64];

	memset(n, 0, sizeof *n);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", t->pid, t->fd);
	if (filerec_ask(t, 0, nameless_serve, path, strlen(path) + 1, fd,
	    &answer) == -1) {
		tell_why(t, "it is deleted, and cannot be examined: %s",
		    snap_errstr());
		return;
	}
	memcpy(n, answer.data, sizeof *n);
	free(answer.data);
}

/*
 * Return true if the content of file t may be recorded. If the process dumps
 * core, it must have the file open for reading: not with O_PATH or access mode
 * 3 (see open(2)). Otherwise the user of the process, who may get the snapshot,
 * could see a file of another user, who passed the descriptor to the process.
 */
static bool
content_isallowed(const struct filerec *t)
{
	const unsigned int mode = t->flags & ACCESS_MODE;

	return t->proc->core == NULL || (!(t->flags & O_PATH) &&
	    (mode == O_RDONLY || mode == O_RDWR));
}

/*
 * Add the content of t, a file on this machine that has no name, to the
 * snapshot. If the content cannot be read, set the reason in t.
 */
void
content_record(struct filerec *t)
{
	struct vma v = { .dev = t->dev, .ino = t->ino, .name = t->link };
	struct lproc has = *t->proc;
	char name[32];

	if (!content_isallowed(t)) {
		tell_why(t, "it is not open for reading, so its content is "
		    "left out");
		return;
	}
	has.mmtid = t->pid;
	snprintf(name, sizeof name, "fd/%d", t->fd);
	if (carry_open(t->live, t->snap, &has, &v, name) == -1)
		tell_why(t, "cannot read its content: %s", snap_errstr());
}

/*
 * Return true if file t can be read without a file server, which may be among
 * the processes that we have stopped.
 */
bool
file_islocal(struct filerec *t)
{
	return localfs_hasmount(t->proc->pid, t->fdinfo.mount) ||
	    localfs_hasdevice(t->proc->pid, t->dev);
}

/*
 * Record t, a regular file whose name was deleted, with another name or with
 * its content. sx is its statx(2) result.
 */
static void
regular_record(struct filerec *t, const struct statx *sx)
{
	struct nameless n;
	const char *link;

	link = hardlink_find(t->live, t->dev, t->ino);
	if (link != NULL)
		buf_printf(&t->out, "link %s\n", link);
	else if (sx->stx_nlink > 0)
		tell_why(t, "it is deleted, and its other name was not found");
	else if (t->flags & O_PATH)
		tell_why(t, "it was opened with O_PATH and is deleted");
	else if (!file_islocal(t))
		tell_why(t, "it is deleted, and its content is not on this "
		    "machine");
	else {
		content_record(t);
		nameless_ask(t, -1, &n);
		if (n.attributes)
			tell_why(t, "it is deleted and has extended "
			    "attributes");
		else if (n.huge)
			tell_why(t, "it is deleted and was on a hugetlbfs, "
			    "where criu cannot write");
	}
}

/*
 * Record the target of t, a symbolic link whose name was deleted. Such a link
 * can only be open with O_PATH, so closing a duplicate of its descriptor has no
 * side effects.
 */
static void
symlink_record(struct filerec *t)
{
	struct nameless n = { 0 };
	int fd;

	fd = (int)syscall(SYS_pidfd_getfd, t->pidfd, t->fd, 0);
	if (fd != -1) {
		nameless_ask(t, fd, &n);
		close(fd);
	}
	if (*n.leads == '\0' || strchr(n.leads, '\n') != NULL)
		tell_why(t, "it is deleted, and its target is unknown");
	else
		buf_printf(&t->out, "leads %s\n", n.leads);
}

/*
 * Append to the record of t what is needed to re-create the file, whose name
 * was deleted. sx is its statx(2) result.
 */
void
nameless_record(struct filerec *t, const struct statx *sx)
{
	struct nameless n;

	if (S_ISLNK(t->mode))
		symlink_record(t);
	if (S_ISREG(t->mode))
		regular_record(t, sx);
	else if (S_ISDIR(t->mode) || sx->stx_nlink == 0) {
		nameless_ask(t, -1, &n);
		if (n.attributes)
			tell_why(t, "it is deleted and has extended "
			    "attributes");
	} else
		tell_why(t, "it is deleted, and its other name was not found");
}
