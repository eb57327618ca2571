/*
 * Open file descriptions that descriptors lead to which wait in sockets
 * (SCM_RIGHTS of unix(7)), and perhaps no process has any more.  The looker has
 * them, by whose descriptors they are told of and compared, until the processes
 * go on.
 */
#include "sockets.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Note descriptor fd of the looker, which waited in socket t, and set *id to
 * the number of its open file.  Return 0, or -1 with errstr.
 */
int
passed_add(struct telling *t, int fd, uint64_t *id)
{
	struct files *f = t->live->files;
	struct resource key = { .kind = KCMP_FILE, .fd = (unsigned long)fd };
	struct resource *r;
	struct statx sx;
	char path[64];

	key.pid = proxy_process(PROXY_LOOKER);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", key.pid, fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
	    &sx) == -1)
		return errstr_sys("a descriptor");
	key.dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	key.ino = sx.stx_ino;
	if (VEC_ROOM(f->passed, f->npassed) == -1 ||
	    (r = resource_get(f, &key)) == NULL)
		return -1;
	if (r->id == 0) {
		r->id = ++f->nfile;
		f->passed[f->npassed++] = (struct fdref){ .fd = fd,
		    .mode = sx.stx_mode, .file = r };
	}
	*id = r->id;
	return 0;
}

static void
looker_forget(struct files *f)
{
	if (f->looker != 0 && f->lookerfd != -1)
		close(f->lookerfd);
	f->looker = 0;
}

/*
 * Free what f knows of what waited in sockets.
 */
void
passed_free(struct files *f)
{
	looker_forget(f);
	free(f->passed);
}

/*
 * Have t lead to the next open file that nobody has told of, which a process
 * has found in a socket, and set *r to its descriptor.  Return false when there
 * are no more.
 */
bool
passed_next(struct telling *t, struct fdref *r)
{
	struct files *f = t->live->files;

	if (f->ntold == f->npassed)
		return false;
	*r = f->passed[f->ntold++];
	if (r->file->pid != f->looker) {
		looker_forget(f);
		f->looker = r->file->pid;
		f->lookerfd = (int)syscall(SYS_pidfd_open, f->looker, 0);
	}
	t->pid = f->looker;
	t->pidfd = f->lookerfd;
	return true;
}

/*
 * Close all that waited in sockets of set l.  What is told of by then is told.
 */
void
passed_close(struct live *l)
{
	if (l->files != NULL)
		proxy_close(PROXY_LOOKER);
}
