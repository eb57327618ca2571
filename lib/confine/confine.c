/*
 * Confine a program that reads untrusted input: before it reads the first byte,
 * it gives up everything that it does not need, so that a bug in it can do no
 * worse than give a wrong answer.
 *
 *	capabilities	none, except to read or write files that were named
 *			and are not accessible otherwise (caps.c)
 *	files		only those that were named (landlock.c)
 *	system calls	only those of a table (callfilter.c)
 *
 * Needs that only the input shows, and files that have no name yet, are served
 * by a helper process (helperjob.c), which is started before.
 */
#include "confine.h"
#include "io/io.h"

#include <sys/prctl.h>

#include <time.h>
#include <unistd.h>

static char lacks[160];

static unsigned int
calls_needed(const struct confined *c)
{
	struct stat st;
	unsigned int programs;
	size_t i;

	programs = (c->outdir != NULL ? CALLS_MAKE : 0) |
	    (c->far ? CALLS_ASK : 0);
	for (i = 0; i < c->nin; i++)
		if (c->in[i] != NULL && stat(c->in[i], &st) == 0 &&
		    S_ISDIR(st.st_mode))
			programs |= CALLS_BENEATH;
	return c->act != NULL ? programs | CALLS_SERVE : programs;
}

static void
lack(const char *what)
{
	if (*lacks != '\0')
		strlcat(lacks, " and no ", sizeof lacks);
	strlcat(lacks, what, sizeof lacks);
}

/*
 * Create the directory at path if it does not exist. Return true if it was
 * created.
 */
static bool
dir_make(const char *path)
{
	int fd, in;

	fd = outname_opendir(path, &in);
	fd_drop(fd);
	fd_drop(in);
	return fd != -1 && in != -1;
}

/*
 * Confine this process to the files in c. It must have only one thread. Skip
 * each kind of confinement that the kernel does not support; confine_lacks()
 * names the kinds skipped. Return 0, or -1 with errstr set if the helper cannot
 * be started.
 */
int
confine(const struct confined *c)
{
	bool made;

	tzset();	/* reads a file, which is hidden later */
	made = c->outdir != NULL && dir_make(c->outdir);
	if (helperjob_start(c, made) == -1) {
		if (made)
			(void)rmdir(c->outdir);
		return errstr_sys("cannot start the helper process");
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
 * Return the kinds of confinement that the kernel does not support, as text
 * that follows "no" in a message. Return NULL if it supports them all.
 */
const char *
confine_lacks(void)
{
	return *lacks == '\0' ? NULL : lacks;
}

/*
 * Make the helper call act() of struct confined. Return 0 with *fd set to the
 * descriptor that act() returned; the caller owns it. Return 1 if act() failed,
 * after printing a message. Return -1 with errstr set on other errors.
 */
int
confine_act(int *fd)
{
	int rc;

	*fd = helper_ask('A', NULL, &rc);
	return rc == 0 && *fd == -1 ?
	    errstr_set("the helper passed no descriptor") : rc;
}
