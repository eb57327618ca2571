/*
 * Confinement of a program that reads what strangers wrote: before it looks at
 * the first byte, it gives up all that it does not need, so that a bug in it
 * can do nothing but give a wrong answer.
 *
 *	capabilities	none, but for reading or writing what was named and
 *			cannot be had otherwise; never any again
 *	files		what was named can be opened (landlock.c)
 *	system calls	those of a table (callfilter.c)
 *
 * Where something is needed from outside that only the input tells of, or that
 * has no name yet, a helper is asked (helper.c), which was there before.
 */
#include "confine.h"
#include "io/outname.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/capability.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char lacks[160];

static int
caps_get(struct __user_cap_data_struct *d)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };

	return (int)syscall(SYS_capget, &h, d);
}

/*
 * Have those capabilities, of those that there are, and no others; unless
 * forget, they can be had back.
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
 * Can a path be had without capabilities?  Files in a directory that is
 * another's may be anyone's.
 */
static bool
can_have(const char *path, int how)
{
	struct stat st;

	if (path == NULL || (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) ==
	    -1 && errno == ENOENT))
		return true;
	return faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0 &&
	    stat(path, &st) == 0 && (!S_ISDIR(st.st_mode) ||
	    st.st_uid == geteuid());
}

/*
 * Give up all capabilities that are not needed.
 */
static void
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
 * What the helper may need: to read and to write in the directories of others
 * (in sticky ones, to replace a file).
 */
void
caps_drop_helper(void)
{
	caps_set(1U << CAP_DAC_READ_SEARCH | 1U << CAP_DAC_OVERRIDE |
	    1U << CAP_FOWNER, true);
}

static unsigned int
calls_needed(const struct confined *c)
{
	struct stat st;
	unsigned int who;
	size_t i;

	who = c->outdir != NULL ? CALLS_MAKE : 0;
	for (i = 0; i < c->nin; i++)
		if (c->in[i] != NULL && stat(c->in[i], &st) == 0 &&
		    S_ISDIR(st.st_mode))
			who |= CALLS_BENEATH;
	return c->act != NULL ? who | CALLS_SERVE : who;
}

static void
lack(const char *what)
{
	if (*lacks != '\0')
		strlcat(lacks, " and no ", sizeof lacks);
	strlcat(lacks, what, sizeof lacks);
}

/*
 * Make a directory to be written into, if there is none: was it made?
 */
static bool
dir_make(const char *path)
{
	int fd, in;

	fd = outname_opendir(path, &in);
	if (fd != -1)
		close(fd);
	if (in != -1)
		close(in);
	return fd != -1 && in != -1;
}

/*
 * Confine this process, which has one thread, to what is needed.  What the
 * kernel does not know is left out: confine_lacks.  -1 where it has no
 * process for the helper.
 */
int
confine(const struct confined *c)
{
	bool made;

	made = c->outdir != NULL && dir_make(c->outdir);
	if (helper_start(c, made) == -1) {
		if (made)
			(void)rmdir(c->outdir);
		return errstr_sys("cannot start a process");
	}
#ifndef UNCONFINED
	caps_drop(c);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (landlock_apply(c) == -1)
		lack("Landlock");
	if (callfilter_apply(calls_needed(c)) == -1)
		lack("filters for system calls");
#endif
	return 0;
}

/*
 * What the kernel would not do of that, for a message; or NULL.
 */
const char *
confine_lacks(void)
{
	return *lacks == '\0' ? NULL : lacks;
}
