/*
 * Open file descriptions that descriptors lead to which wait in sockets
 * (SCM_RIGHTS of unix(7)), and perhaps no process has any more.  The looker has
 * them, by whose descriptors they are told of and compared, until the processes
 * go on.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/syscall.h>

#include <stdlib.h>
#include <unistd.h>

/*
 * Note descriptor fd of the looker, which waited in socket t, and set *id to
 * the number of its open file.  Return 0, or -1 with errstr.
 */
int
passed_add(struct filerec *t, int fd, uint64_t *id)
{
	struct files *f = t->live->files;
	struct fdref r;
	int rc;

	if (VEC_ROOM(f->passed, f->npassed) == -1 ||
	    (rc = resource_fd(f, proxy_process(PROXY_PEEKER), fd, &r)) == -1)
		return -1;
	if (rc == 1)
		f->passed[f->npassed++] = r;
	*id = r.file->id;
	return 0;
}

static void
peeker_forget(struct files *f)
{
	if (f->peeker != 0 && f->peekerfd != -1)
		close(f->peekerfd);
	f->peeker = 0;
}

/*
 * Free what f knows of what waited in sockets.
 */
void
passed_free(struct files *f)
{
	peeker_forget(f);
	free(f->passed);
}

/*
 * Have t lead to the next open file that nobody has told of, which a process
 * has found in a socket, and set *r to its descriptor.  Return false when there
 * are no more.
 */
bool
passed_next(struct filerec *t, struct fdref *r)
{
	struct files *f = t->live->files;

	if (f->npassedrec == f->npassed)
		return false;
	*r = f->passed[f->npassedrec++];
	if (r->file->pid != f->peeker) {
		peeker_forget(f);
		f->peeker = r->file->pid;
		f->peekerfd = (int)syscall(SYS_pidfd_open, f->peeker, 0);
	}
	t->pid = f->peeker;
	t->pidfd = f->peekerfd;
	return true;
}

/*
 * Close all that waited in sockets of set l.  What is told of by then is told.
 */
void
passed_close(struct live *l)
{
	if (l->files != NULL)
		proxy_close(PROXY_PEEKER);
}
