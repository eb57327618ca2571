/*
 * Descriptors of processes as CRIU images: pidfd_open(2).
 */
#include "open.h"

#include <fcntl.h>

/*
 * Return whether the process of pidfd f has ended and was waited for.
 */
static bool
is_gone(const struct makeopen *f)
{
	return (int64_t)f->v[OK_PID][0] == -1;
}

/*
 * Return why f, a pidfd, cannot be restored, or NULL. criu opens it before
 * there are threads.
 */
const char *
makepidfd_hinders(struct criumake *m, const struct makeopen *f)
{
	const struct maketask *t;

	if (!makeopen_has(f, OK_PID) || f->v[OK_PID][0] == 0)
		return "a pidfd of who is not known";
	if (is_gone(f))
		return NULL;
	t = maketask_find(m, f->v[OK_PID][0]);
	if (f->v[OK_FLAGS][0] & O_EXCL || (t != NULL &&
	    maketask_process(m, f->v[OK_PID][0]) != t))
		return "a pidfd of a thread";
	return t != NULL && t->chosen ? NULL :
	    "a pidfd of who is not in the snapshot";
}

/*
 * Set the message of pidfd f.  Return 0.
 */
int
makepidfd_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	Criu__Pidfd *p = msg;

	p->flags &= ~(uint32_t)O_RDWR;
	p->nspid = is_gone(f) ? -1 :
	    (int32_t)maketask_find(m, f->v[OK_PID][0])->pid;
	make_since(m, SINCE_PIDFD);
	return 0;
}
