/*
 * Read the open and mapped files of a checkpoint from files.img and memfd.img,
 * and the descriptors of its processes.
 */
#include "read.h"
#include "vec.h"
#include "bisect.h"

#include <sys/sysmacros.h>

#include <fcntl.h>

enum {
	CLOEXEC = 1,		/* flag of a descriptor in fdinfo-N.img */
	MAX_REPEATED = 1 << 18	/* maximum number of descriptors of processes
				   that use an image which another process
				   uses: a small image can name many */
};

/* targets of /proc/PID/fd links that are not paths */
static const char *const fixed[FD_TYPES] = {
	[FD_EVENTFD] = "anon_inode:[eventfd]",
	[FD_EVENTPOLL] = "anon_inode:[eventpoll]",
	[FD_INOTIFY] = "anon_inode:inotify",
	[FD_SIGNALFD] = "anon_inode:[signalfd]",
	[FD_FANOTIFY] = "anon_inode:[fanotify]",
	[FD_TUN] = "/dev/net/tun",
	[FD_TIMERFD] = "anon_inode:[timerfd]",
	[FD_BPFMAP] = "anon_inode:bpf-map",
	[FD_PIDFD] = "anon_inode:[pidfd]",
};

static void
reg_file(struct criureader *r, struct criufile *f, const Criu__RegFile *reg)
{
	size_t i, k;

	f->flags = reg->flags;
	f->pos = reg->pos;
	f->dir = reg->has_mode && S_ISDIR(reg->mode);
	f->has_size = reg->has_size;
	f->size = reg->size;
	for (i = 0; i < reg->n_build_id &&
	    i < sizeof f->buildid.id / 4; i++)
		for (k = 0; k < 4; k++)
			f->buildid.id[f->buildid.len++] =
			    (uint8_t)(reg->build_id[i] >> 8 * k);
	f->name = pool_string(&r->pool, reg->name);
}

PCMP(memfd_cmp, Criu__MemfdInode, inode_id)

static int
memfd_file(struct criureader *r, struct criufile *f, const Criu__MemfdFile *m)
{
	const Criu__MemfdInode *in;

	in = PFIND(r->memfd, r->nmemfd, inode_id, m->inode_id);
	if (in == NULL)
		return errstr_set("file %u: no object %u in memfd.img", f->id,
		    m->inode_id);
	f->flags = m->flags;
	f->pos = m->pos;
	f->dev = makedev(0, 1);
	f->ino = in->shmid;
	/* memory shared with children is named /dev/zero as well */
	f->name = pool_own(&r->pool, str_printf("%s%s (deleted)",
	    strcmp(in->name, "/dev/zero") == 0 ? "" : "/memfd:", in->name));
	return 0;
}

static uint32_t
socket_ino(const Criu__FileEntry *e)
{
	return e->isk != NULL && e->isk->has_ino ? e->isk->ino :
	    e->nlsk != NULL && e->nlsk->has_ino ? e->nlsk->ino :
	    e->usk != NULL && e->usk->has_ino ? e->usk->ino : e->id;
}

/*
 * Set f, which must be all zero, to the file that entry e of files.img
 * describes.
 */
static int
file_make(struct criureader *r, struct criufile *f, const Criu__FileEntry *e)
{
	const char *link = e->type < FD_TYPES ? fixed[e->type] : NULL;
	struct pool *p = &r->pool;

	f->id = e->id;
	f->type = e->type;
	if (e->reg != NULL)
		reg_file(r, f, e->reg);
	else if (e->memfd != NULL) {
		if (memfd_file(r, f, e->memfd) == -1)
			return -1;
	} else if (e->pipe != NULL) {
		f->flags = e->pipe->flags;
		f->ino = e->pipe->pipe_id;
		f->name = pool_own(p, str_printf("pipe:[%u]",
		    e->pipe->pipe_id));
	} else if (e->isk != NULL || e->usk != NULL || e->nlsk != NULL ||
	    e->type == FD_PACKETSK) {
		f->flags = O_RDWR;
		f->name = pool_own(p, str_printf("socket:[%u]",
		    socket_ino(e)));
	} else {
		if (e->fifo != NULL && e->fifo->has_regf_id)
			f->named = e->fifo->regf_id;
		if (e->tty != NULL) {
			f->flags = e->tty->flags;
			f->named = e->tty->has_regf_id ? e->tty->regf_id : 0;
		}
		if (e->type == FD_TUN)	/* the file's path is in an FD_REG entry
					   with the same ID */
			f->named = e->id;
		else if (link != NULL)
			f->flags |= O_RDWR;
		f->name = link != NULL ? pool_string(p, link) :
		    pool_own(p, str_printf("file of type %u", e->type));
	}
	return f->name == NULL ? -1 : 0;
}

CMP2(file_cmp, struct criufile, id, type)

/*
 * Return the file of r with this type and id, or NULL if there is none. The id
 * alone is not enough: a tun device has two entries with the same id
 * (find_file_desc_raw() in criu's files.c).
 */
struct criufile *
criufile_find(struct criureader *r, uint32_t type, uint64_t id)
{
	struct criufile key = { .id = (uint32_t)id, .type = type };

	return id > UINT32_MAX ? NULL :
	    FIND_BY(&key, r->file, r->nfile, file_cmp);
}

/*
 * Return the file of mapping v, or NULL if r has none.
 */
struct criufile *
criufile_mapped(struct criureader *r, const Criu__Vma *v)
{
	return criufile_find(r, v->status & CRIU_MAPS_MEMFD ? FD_MEMFD :
	    FD_REG, v->shmid);
}

/*
 * Set the name of each terminal, FIFO and tun device to the path in the FD_REG
 * entry that it refers to.
 */
static void
resolve_names(struct criureader *r)
{
	const struct criufile *g;
	struct criufile *f;
	size_t i;

	for (i = 0; i < r->nfile; i++) {
		f = &r->file[i];
		if (f->named == 0 ||
		    (g = criufile_find(r, FD_REG, f->named)) == NULL)
			continue;
		f->name = g->name;
		if (f->flags == 0)
			f->flags = g->flags;
	}
}

static int
memfd_add(void *arg, const struct criuimg *im, void *m)
{
	struct criureader *r = arg;

	(void)im;
	return POOL_ADD(&r->pool, r->memfd, r->nmemfd, m) == -1 ? -1 : 1;
}

static int
file_add(void *arg, const struct criuimg *im, void *e)
{
	struct criureader *r = arg;
	struct criufile *v;

	if (POOL_ROOM(&r->pool, r->file, r->nfile) == -1)
		return -1;
	v = &r->file[r->nfile++];
	memset(v, 0, sizeof *v);
	return file_make(r, v, e) == -1 ? criuimg_error(im, "%s",
	    snap_errstr()) : 0;
}

/*
 * Read all open and mapped files into r->file, sorted by id and type. Return
 * 0, or -1 with errstr set.
 */
int
criufiles_read(struct criureader *r)
{
	size_t i;

	if (criuimg_each(r->images, "memfd.img", CRIU_MEMFD,
	    &criu__memfd_inode__descriptor, memfd_add, r) == -1)
		return -1;
	SORT(r->memfd, r->nmemfd, memfd_cmp);
	if (criuimg_each(r->images, "files.img", CRIU_FILES,
	    &criu__file_entry__descriptor, file_add, r) != 1)
		return -1;
	SORT(r->file, r->nfile, file_cmp);
	for (i = 1; i < r->nfile; i++)
		if (file_cmp(&r->file[i], &r->file[i - 1]) == 0)
			return errstr_set("%s/files.img: duplicate file %u of "
			    "type %u", r->dir, r->file[i].id,
			    r->file[i].type);
	resolve_names(r);
	return 0;
}

/*
 * Add descriptor d, which refers to file f, to the open files of t. Also add it
 * to the record of t, in the form used in /proc.
 */
static int
add_fd(struct criureader *r, struct criutask *t, const Criu__Fdinfo *d,
    const struct criufile *f)
{
	unsigned int flags;
	char name[32];

	flags = f->flags | (d->flags & CLOEXEC ? O_CLOEXEC : 0U);
	snprintf(name, sizeof name, "fd/%u", d->fd);
	filelist_copy(&t->rec, name, f->name, strlen(f->name));
	snprintf(name, sizeof name, "fdinfo/%u", d->fd);
	filelist_text(&t->rec, name, "pos:\t%" PRIu64 "\nflags:\t0%o\n",
	    f->pos, flags);
	return POOL_ADD(&r->pool, t->task.open, t->task.nopen,
	    (struct openfile){ .fd = (int)d->fd, .flags = flags,
	    .pos = f->pos, .dev = f->dev, .ino = f->ino,
	    .mode = f->dir ? S_IFDIR : 0, .path = f->name });
}

CMP(fd_cmp, Criu__Fdinfo, fd)

struct fdinfos {		/* descriptors of a process */
	Criu__Fdinfo	*v;	/* owned */
	size_t		 n;
};

static int
fdinfo_add(void *arg, const struct criuimg *im, void *m)
{
	struct fdinfos *l = arg;

	(void)im;
	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	l->v[l->n++] = *(Criu__Fdinfo *)m;	/* a shallow copy is enough: the
						   message has no pointers */
	return 0;
}

/*
 * Add the descriptors in l, which are sorted by number, to process t. They come
 * from the image file called name.
 */
static int
add_fds(struct criureader *r, struct criutask *t, const char *name,
    const struct fdinfos *l)
{
	const struct criufile *f;
	const Criu__Fdinfo *d;
	size_t i;

	for (i = 0; i < l->n; i++) {
		d = &l->v[i];
		if (d->fd > INT32_MAX || (i > 0 && d->fd == d[-1].fd))
			return errstr_set("%s/%s: duplicate descriptor "
			    "%u", r->dir, name, d->fd);
		if ((f = criufile_find(r, d->type, d->id)) == NULL)
			return errstr_set("%s/%s: descriptor %u: no file %u "
			    "of type %u in files.img", r->dir, name, d->fd,
			    d->id, d->type);
		if (add_fd(r, t, d, f) == -1)
			return -1;
	}
	return 0;
}

/*
 * Add the descriptors in the image fdinfo-N.img, where N is id, to process t.
 * Do nothing if there is no such image. Add the image itself to the record of
 * the first process that uses it. Return 0, or -1 with errstr set.
 */
int
criufiles_open(struct criureader *r, struct criutask *t, uint32_t id)
{
	struct fdinfos l = { 0 };
	struct buf b = { 0 };
	char name[32];
	bool first;
	int rc;

	snprintf(name, sizeof name, "fdinfo-%u.img", id);
	first = criudir_use(r, name);
	rc = criuimg_each(r->images, name, CRIU_FDINFO,
	    &criu__fdinfo__descriptor, fdinfo_add, &l);
	SORT(l.v, l.n, fd_cmp);
	if (rc != -1 && !first && (r->nrepeated += l.n) > MAX_REPEATED)
		rc = errstr_set("%s/%s: more than %d descriptors in processes "
		    "that share them", r->dir, name, MAX_REPEATED);
	if (rc != -1)
		rc = add_fds(r, t, name, &l);
	free(l.v);
	if (rc == -1 || !first)
		return rc;
	return criudir_slurp(r, name, &b) == -1 ? -1 :
	    criudir_keep(&t->rec, name, &b);
}
