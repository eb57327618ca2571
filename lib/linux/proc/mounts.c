/*
 * The mounts that a process sees, as mountinfo has them:
 * proc_pid_mountinfo(5).
 */
#include "proc.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mount {
	uint64_t	 id;
	dev_t		 dev;
	char		 point[256]; /* where it is; cut at an escaped byte */
	char		 type[32];
	char		 root[3]; /* of its file system, what is there; cut */
};

/*
 * Call fn for each mount of a mountinfo until it returns true.  Return whether
 * it did.
 */
static bool
mounts_any(const struct bytes *mounts,
    bool (*fn)(const struct mount *, const void *), const void *arg)
{
	unsigned int ma, mi;
	struct mount m;
	char *line, *nl, *text;
	const char *s;
	bool did;

	if (mounts->len == 0 ||
	    (text = strndup((const char *)mounts->data, mounts->len)) == NULL)
		return false;
	did = false;
	for (line = text; line != NULL && !did; line = nl) {
		if ((nl = strchr(line, '\n')) != NULL)
			*nl++ = '\0';
		if (sscanf(line, "%" SCNu64 " %*u %u:%u %*s %255[^ \\]",
		    &m.id, &ma, &mi, m.point) != 4 ||
		    (s = strstr(line, " - ")) == NULL ||
		    sscanf(s, " - %31s", m.type) != 1 ||
		    sscanf(line, "%*s %*s %*s %2s", m.root) != 1)
			continue;
		m.dev = makedev(ma, mi);
		did = fn(&m, arg);
	}
	free(text);
	return did;
}

/*
 * Return whether this machine's kernel alone serves the file system: another
 * server may be stopped by us, or be gone.
 */
static bool
mount_islocal(const struct mount *m)
{
	static const char *const local[] = {
		"bcachefs", "btrfs", "devtmpfs", "hugetlbfs", "overlay",
		"ramfs", "rootfs", "tmpfs", "ubifs", "zfs"
	};
	size_t i;

	for (i = 0; i < sizeof local / sizeof *local; i++)
		if (strcmp(m->type, local[i]) == 0)
			return true;
	return major(m->dev) != 0 && strncmp(m->type, "fuse", 4) != 0;
}

static bool
has_id(const struct mount *m, const void *id)
{
	return m->id == *(const uint64_t *)id;
}

/*
 * Return true if mounts, a text of mountinfo, has one of number id.
 */
bool
mounts_have(const struct bytes *mounts, uint64_t id)
{
	return mounts_any(mounts, has_id, &id);
}

static bool
is_localid(const struct mount *m, const void *id)
{
	return has_id(m, id) && mount_islocal(m);
}

/*
 * Return true if mounts, a text of mountinfo, has one of number id, and its
 * files can be read without asking a server.
 */
bool
mounts_local(const struct bytes *mounts, uint64_t id)
{
	return mounts_any(mounts, is_localid, &id);
}

static bool
is_localdev(const struct mount *m, const void *dev)
{
	return m->dev == *(const dev_t *)dev && mount_islocal(m);
}

/*
 * Return true if the files of device dev can be read without asking a server,
 * by the mounts that we or process 1 are shown.  A process in a chroot is not
 * shown the mount that its root directory is on.
 */
bool
mounts_localdev(dev_t dev)
{
	const pid_t who[] = { getpid(), 1 };
	struct bytes mounts;
	bool local;
	size_t i;

	local = false;
	for (i = 0; i < sizeof who / sizeof *who && !local; i++)
		if (proc_read(who[i], 0, "mountinfo", &mounts) == 0) {
			local = mounts_any(&mounts, is_localdev, &dev);
			free(mounts.data);
		}
	return local;
}

static bool
is_layeredid(const struct mount *m, const void *id)
{
	return has_id(m, id) && strcmp(m->type, "overlay") == 0;
}

/*
 * Return true if the mount of number id in mounts, a text of mountinfo, is one
 * of layers, as overlay is, whose directories tell inode numbers of these.
 */
bool
mounts_layered(const struct bytes *mounts, uint64_t id)
{
	return mounts_any(mounts, is_layeredid, &id);
}

/*
 * Return whether the kernel itself makes the directories of the file system, on
 * which others may be mounted.
 */
static bool
mount_iskernels(const struct mount *m)
{
	static const char *const kernels[] = { "cgroup", "cgroup2", "proc",
	    "securityfs", "sysfs" };
	size_t i;

	for (i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (strcmp(m->type, kernels[i]) == 0)
			return true;
	return false;
}

static bool
is_farbefore(const struct mount *m, const void *path)
{
	return !mount_islocal(m) && !mount_iskernels(m) &&
	    strncmp(path, m->point, strlen(m->point)) == 0;
}

/*
 * Return true if no server is asked for anything on the way along a path, by
 * mounts, a text of mountinfo.
 */
bool
mounts_waylocal(const struct bytes *mounts, const char *path)
{
	return mounts->len > 0 && !mounts_any(mounts, is_farbefore, path);
}

struct each {
	mount_fn	 fn;
	void		*arg;
};

static bool
mount_tell(const struct mount *m, const void *arg)
{
	const struct each *e = arg;
	const struct mountinfo i = { m->id, m->dev, mount_islocal(m),
	    strcmp(m->type, "overlay") == 0, strcmp(m->type, "tmpfs") == 0 &&
	    strcmp(m->root, "/") == 0, m->point };

	e->fn(&i, e->arg);
	return false;
}

/*
 * Call fn, with arg before it, for each mount of mounts, a text of mountinfo.
 */
void
mounts_each(const struct bytes *mounts, mount_fn fn, void *arg)
{
	const struct each e = { fn, arg };

	(void)mounts_any(mounts, mount_tell, &e);
}
