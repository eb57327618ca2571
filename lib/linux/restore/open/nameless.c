/*
 * Files whose names are deleted: their content, which is carried along, and
 * what they have that a file which is made in their place would lack.  Their
 * file systems may be served by who does not answer, so the proxy asks them.
 */
#include "calls.h"
#include "linux/file/file.h"
#include "opened.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <linux/magic.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nameless {		/* a file whose name is deleted */
	bool		 attributes; /* it has some that would get lost */
	bool		 huge;	/* and is on a hugetlbfs */
	char		 leads[PATH_MAX]; /* of a link; "": not known */
};

/*
 * Return true if a file has what would get lost if it were made anew: rights
 * and attributes that xattr(7) tells of.
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
	size_t i;

	if ((n = listxattr(path, names, sizeof names - 1)) == -1)
		return errno == ERANGE;
	names[n] = '\0';
	for (s = names; s < names + n; s += strlen(s) + 1)
		for (i = 0; i < sizeof lost / sizeof *lost; i++)
			if (strncmp(s, lost[i], strlen(lost[i])) == 0)
				return true;
	return false;
}

/*
 * Look at a file for the proxy, as its file system may be served: the answer is
 * a struct nameless.  A symbolic link comes as a descriptor, any other file as
 * a path.
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
		/* nothing can be written there */
		n.huge = statfs(s->arg, &fs) == 0 && (uint32_t)fs.f_type ==
		    HUGETLBFS_MAGIC;
	}
	serve_put(s, &n, sizeof n);
	return 0;
}

/*
 * Have the proxy look at t: *n is what it finds, nothing where it does not
 * answer, which is said.
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
		tell_why(t, "it is deleted: %s", snap_errstr());
		return;
	}
	memcpy(n, answer.data, sizeof *n);
	free(answer.data);
}

/*
 * Return true if the content of a file may be recorded.  A process that dumps
 * core may have got the descriptor from another user, and its own user may get
 * the snapshot: only what the process could read is recorded (open(2): O_PATH,
 * and access mode 3, which allows neither to read nor to write).
 */
static bool
content_isallowed(const struct filerec *t)
{
	const unsigned int mode = t->flags & ACCESS_MODE;

	return t->proc->core == NULL || (!(t->flags & O_PATH) &&
	    (mode == O_RDONLY || mode == O_RDWR));
}

/*
 * Carry along the content of t, a file of this machine that is nowhere else, or
 * say why it cannot be had.
 */
void
content_record(struct filerec *t)
{
	struct vma v = { .dev = t->dev, .ino = t->ino, .name = t->link };
	struct lproc has = *t->proc;
	char name[32];

	if (!content_isallowed(t)) {
		tell_why(t, "it is not open for reading: its content is left "
		    "out");
		return;
	}
	has.mmtid = t->pid;
	snprintf(name, sizeof name, "fd/%d", t->fd);
	if (carry_open(t->live, t->snap, &has, &v, name) == -1)
		tell_why(t, "its content cannot be had: %s", snap_errstr());
}

/*
 * Return true if file t can be read without asking a server, which may be
 * stopped by us.
 */
bool
file_islocal(struct filerec *t)
{
	return served_notmount(t->proc->pid, t->fdinfo.mount) ||
	    served_not(t->proc->pid, t->dev);
}

/*
 * A regular file whose name is deleted, and that has another one, or none.
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
		tell_why(t, "it is deleted, and another name that it has was "
		    "not found");
	else if (t->flags & O_PATH)
		tell_why(t, "it was opened with O_PATH, and is deleted");
	else if (!file_islocal(t))
		tell_why(t, "it is deleted, and its content not on this "
		    "machine");
	else {
		content_record(t);
		nameless_ask(t, -1, &n);
		if (n.attributes)
			tell_why(t, "it is deleted, and has extended "
			    "attributes");
		else if (n.huge)
			tell_why(t, "it is deleted, and was on a hugetlbfs, "
			    "where criu cannot write it");
	}
}

/*
 * Tell where a symbolic link leads whose name is deleted.  Such a thing can
 * only be open with O_PATH, and then to close a duplicate has no effect.
 */
static void
symlink_record(struct filerec *t)
{
	struct nameless n = { 0 };
	int fd;

	fd = t->pidfd == -1 ? -1 : (int)syscall(SYS_pidfd_getfd, t->pidfd,
	    t->fd, 0);
	if (fd != -1) {
		nameless_ask(t, fd, &n);
		close(fd);
	}
	if (*n.leads == '\0' || strchr(n.leads, '\n') != NULL)
		tell_why(t, "it is deleted, and where it leads is not known");
	else
		buf_printf(&t->out, "leads %s\n", n.leads);
}

/*
 * Tell of t, a file whose name is deleted, what follows from that; sx is what
 * statx(2) told of it.
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
			tell_why(t, "it is deleted, and has extended "
			    "attributes");
	} else
		tell_why(t, "it is deleted, and another name that it has was "
		    "not found");
}
