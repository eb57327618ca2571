/*
 * Drop capabilities(7) that a confined program and its helper do not need.
 */
#include "confine.h"

#include <sys/syscall.h>

#include <linux/capability.h>

#include <fcntl.h>
#include <unistd.h>

static int
caps_get(struct __user_cap_data_struct *d)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };

	return (int)syscall(SYS_capget, &h, d);
}

/*
 * Make effective those of the permitted capabilities that are in keep, and no
 * others. If forget is set, drop the others for good.
 */
static void
caps_set(uint32_t keep, bool forget)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];

	if (caps_get(d) == -1)
		return;
	d[0].effective = d[0].permitted & keep;
	d[1].effective = 0;
	if (forget) {
		d[0].permitted = d[0].effective;
		d[1].permitted = 0;
	}
	d[0].inheritable = d[1].inheritable = 0;
	(void)syscall(SYS_capset, &h, d);
}

/*
 * Return true if path is NULL, does not exist, or can be accessed without
 * capabilities; mode is as for access(2). A directory must also belong to us,
 * since files in another user's directory may belong to anyone.
 */
static bool
can_have(const char *path, int mode)
{
	struct stat st;

	if (path == NULL || (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) ==
	    -1 && errno == ENOENT))
		return true;
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 &&
	    stat(path, &st) == 0 && (!S_ISDIR(st.st_mode) ||
	    st.st_uid == geteuid());
}

/*
 * Drop all capabilities that c does not need.
 */
void
caps_drop(const struct confined *c)
{
	struct __user_cap_data_struct d[2];
	uint32_t keep;
	size_t i;

	if (caps_get(d) == -1 || (d[0].permitted | d[1].permitted) == 0)
		return;
	caps_set(0, false);
	keep = 0;
	for (i = 0; i < c->nin; i++)
		if (!can_have(c->in[i], R_OK))
			keep |= 1U << CAP_DAC_READ_SEARCH;
	if (!can_have(c->parent, R_OK))
		keep |= 1U << CAP_DAC_READ_SEARCH;
	if (!can_have(c->outdir, R_OK | W_OK | X_OK))
		keep |= 1U << CAP_DAC_OVERRIDE;
	caps_set(keep, true);
}

/*
 * Drop all capabilities that the helper does not need. It keeps those for
 * reading and writing in other users' directories, and for replacing files in
 * sticky ones.
 */
void
caps_drop_helper(void)
{
	caps_set(1U << CAP_DAC_READ_SEARCH | 1U << CAP_DAC_OVERRIDE |
	    1U << CAP_FOWNER, true);
}
