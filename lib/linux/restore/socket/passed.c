/*
 * Open file descriptions whose descriptors wait in sockets (SCM_RIGHTS of
 * unix(7)), and that perhaps no process has open any more. The socket peeker
 * (peek.c) holds descriptors of them until the processes resume; through these
 * they are recorded and compared.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/syscall.h>

#include <unistd.h>

/*
 * Add an open file that was received from socket t to the list of passed files,
 * unless it is already known. fd is the descriptor of the file in the socket
 * peeker, the proxy that received it. Set *id to the number of the file in the
 * record. Return 0, or -1 with errstr set.
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
 * Free the list of the open files that were received from sockets.
 */
void
passed_free(struct files *f)
{
	peeker_forget(f);
	free(f->passed);
}

/*
 * Set *r to the next open file that was received from a socket and is not yet
 * recorded. Set t->pid and t->pidfd to the socket peeker, the proxy that has it
 * open. Return false when there are no more.
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
 * End the socket peeker, which closes the descriptors that it received from
 * sockets. The caller must have recorded all files of l.
 */
void
passed_close(struct live *l)
{
	if (l->files != NULL)
		proxy_close(PROXY_PEEKER);
}
