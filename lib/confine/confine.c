/*
 * Confinement of a program that reads what strangers wrote: before it looks at
 * the first byte, it gives up all that it does not need, so that a bug in it
 * can do nothing but give a wrong answer.
 *
 *	capabilities	none, but for reading or writing what was named and
 *			cannot be had otherwise; never any again (caps.c)
 *	files		what was named can be opened (landlock.c)
 *	system calls	those of a table (callfilter.c)
 *
 * Where something is needed from outside that only the input tells of, or that
 * has no name yet, a helper is asked (helperjob.c), which was there before.
 */
#include "confine.h"
#include "io/io.h"

#include <sys/prctl.h>

#include <string.h>
#include <unistd.h>

static char lacks[160];

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
 * Confine this process, which has one thread, to what c needs.  What the kernel
 * does not know is left out: confine_lacks.  Return 0; or -1 with errstr where
 * it has no process for the helper.
 */
int
confine(const struct confined *c)
{
	bool made;

	made = c->outdir != NULL && dir_make(c->outdir);
	if (helperjob_start(c, made) == -1) {
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
 * Return what the kernel would not do of what confine wanted, for a message; or
 * NULL.
 */
const char *
confine_lacks(void)
{
	return *lacks == '\0' ? NULL : lacks;
}

/*
 * Have the helper do what the program was confined with as act.  Return 0 with
 * a descriptor in *fd, the caller's; 1 when act failed, which has told of it
 * itself; or -1 with errstr.
 */
int
confine_act(int *fd)
{
	int rc;

	*fd = helper_ask('A', NULL, &rc);
	return rc == 0 && *fd == -1 ?
	    errstr_set("the helper passed no descriptor") : rc;
}
