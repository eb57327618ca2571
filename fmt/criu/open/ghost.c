/*
 * Write deleted files as CRIU images: remap-fpath.img, and for each inode a
 * ghost-file-N.img, whose content is embedded in the snapshot.
 */
#include "open.h"
#include "bisect.h"

enum { GHOST = 1, PROCFS = 2 };	/* values of remap_type */

/*
 * Return the embedded file with inode ino on device dev, or NULL if there is
 * none.
 */
struct proc *
makereg_content(struct criumake *m, uint64_t dev, uint64_t ino)
{
	char none[] = "";
	struct vma key = { .dev = dev, .ino = ino, .name = none };

	return dev == 0 && ino == 0 ? NULL : embedded_find(m->snap, &key);
}

/*
 * Parse into v the numbers in the file called name in the record of p, an
 * embedded file or a process. form is their format (words_form()). Return true
 * if the file exists and is valid.
 */
static bool
content_numbers(const struct proc *p, const char *name, const char *form,
    uint64_t *v)
{
	struct linuxrec r;
	bool has;

	has = linuxrec_open(&r, proc_file(p, "proc")) == 0 &&
	    words_one(&r, p->pid, name, form, "numbers", v) == 1;
	linuxrec_close(&r);
	return has;
}

/*
 * Return the size in bytes of embedded file p, or of the executable of process
 * p.
 */
uint64_t
makereg_size(const struct proc *p)
{
	uint64_t size;

	if (content_numbers(p, "size", "d", &size))
		return size;
	return p->text != NULL ? image_bytes(p->text) : 0;
}

/*
 * Record a reason if part of the content of a deleted file is missing. p is the
 * embedded file with the content, or the process that has the file as its
 * executable. For an empty file, p is NULL.
 */
static int
content_check(struct criumake *m, const struct proc *p)
{
	const struct image *im;

	im = p == NULL ? NULL : p->text != NULL ? p->text : p->mem;
	return im == NULL || im->nmissing == 0 ? 0 : make_refuse(m, NULL, NULL,
	    WHY_PAGES, "%s: a part of it is not in the snapshot (%s)",
	    p->embedded != NULL ? p->embedded->path : "executable",
	    im->missing[0].reason);
}

/* numbers in the file "inode" of the record of an embedded file */
enum { MODE, NLINK, UID, GID, ATIME, MTIME, NUMBERS };

/*
 * Set v to the attributes of the inode of embedded file p. Return false if p
 * is NULL or its record lacks them.
 */
static bool
content_inode(const struct proc *p, uint64_t v[NUMBERS])
{
	return p != NULL && content_numbers(p, "inode", "odddii", v);
}

/*
 * Return the number of hard links of the file whose embedded content is p, or 0
 * if the number is not recorded.
 */
uint64_t
makeghost_names(const struct proc *p)
{
	uint64_t v[NUMBERS];

	return content_inode(p, v) ? v[NLINK] : 0;
}

/*
 * Set t to the time ns, in nanoseconds since 1970. A time before 1970 is
 * negative, in two's complement.
 */
static void
time_set(Criu__Timeval *t, uint64_t ns)
{
	int64_t sec, part;

	criu__timeval__init(t);
	sec = (int64_t)ns / NSEC;
	part = (int64_t)ns % NSEC;
	if (part < 0) {
		sec--;
		part += NSEC;
	}
	t->sec = (uint64_t)sec;
	t->usec = (uint64_t)part / (NSEC / USEC);
}

/*
 * Fill in *n, the facts about the inode of open file f, from the keys of f.
 */
void
makeghost_inode(struct makeinode *n, const struct makeopen *f)
{
	*n = (struct makeinode){
		.dev = f->v[OK_DEV][0], .ino = f->v[OK_INO][0],
		.mode = makeopen_has(f, OK_MODE) ?
		    (uint32_t)f->v[OK_MODE][0] : S_IFREG | 0755,
		.uid = (uint32_t)f->v[OK_UID][0],
		.gid = (uint32_t)f->v[OK_GID][0],
		.rdev = (uint32_t)f->v[OK_RDEV][0],
		.timed = makeopen_has(f, OK_TIMES),
		.atime = f->v[OK_TIMES][0], .mtime = f->v[OK_TIMES][1],
		.sized = makeopen_has(f, OK_SIZE), .size = f->v[OK_SIZE][0],
		.leads = f->leads, .pathlen = strlen(f->path)
	};
}

/*
 * Write to im the ghost-file-N.img for inode n. content is the embedded file
 * with the inode's content, or NULL.
 */
static void
ghost_write(const struct criumake *m, struct made *im, struct proc *content,
    const struct makeinode *n)
{
	Criu__GhostFile e = CRIU__GHOST_FILE__INIT;
	Criu__Timeval atime, mtime;
	uint64_t v[NUMBERS];

	e.mode = n->mode;
	e.uid = makeusers_uid(m, n->uid);
	e.gid = makeusers_gid(m, n->gid);
	if (content_inode(content, v)) {
		e.mode = (uint32_t)v[MODE];
		e.uid = makeusers_uid(m, v[UID]);
		e.gid = makeusers_gid(m, v[GID]);
		time_set(e.atim = &atime, v[ATIME]);
		time_set(e.mtim = &mtime, v[MTIME]);
	} else if (n->timed) {
		time_set(e.atim = &atime, n->atime);
		time_set(e.mtim = &mtime, n->mtime);
	}
	e.has_dev = e.has_ino = true;
	e.dev = (uint32_t)n->dev;
	e.ino = n->ino;
	if (S_ISREG(e.mode)) {
		im->body = content;
		im->bodylen = n->sized ? n->size : content != NULL ?
		    makereg_size(content) : 0;
		e.has_chunks = e.chunks = e.has_size = true;
		e.size = im->bodylen;
	} else if (S_ISCHR(e.mode)) {
		e.has_rdev = true;
		e.rdev = n->rdev;
	} else if (S_ISLNK(e.mode))
		e.symlnk_target = n->leads;
	criuimg_add(&im->b, &e.base);
}

/*
 * Return the entry in m->ghost for inode n, or NULL if there is none.
 */
struct makeghost *
makeghost_find(const struct criumake *m, const struct makeinode *n)
{
	return SEEK(m->ghost, m->nghost, x->dev == n->dev && x->ino == n->ino);
}

/*
 * Set *id to the number of the ghost-file-N.img for inode n. Create the image
 * on the first call for n.
 */
static int
ghost_get(struct criumake *m, struct proc *content, const struct makeinode *n,
    uint32_t *id)
{
	const struct makeghost *g;
	struct made *im;

	if ((g = makeghost_find(m, n)) != NULL) {
		*id = (uint32_t)(g - m->ghost) + 1;
		return 0;
	}
	if (content_check(m, content) == -1 ||
	    POOL_ROOM(&m->pool, m->ghost, m->nghost) == -1)
		return -1;
	m->ghost[m->nghost++] = (struct makeghost){ n->dev, n->ino, NULL };
	*id = (uint32_t)m->nghost;
	im = make_image(m, CRIU_GHOST_FILE, "ghost-file-%x.img", *id);
	if (im == NULL)
		return -1;
	ghost_write(m, im, content, n);
	return 0;
}

/*
 * Append to remap-fpath.img: the file with number id in files.img is replaced
 * by to, whose meaning depends on type.
 */
static int
remap_add(struct criumake *m, uint32_t id, uint32_t to, uint32_t type)
{
	Criu__Remap e = CRIU__REMAP__INIT;
	struct buf *b;

	b = make_common(m, CRIU_REMAP_FPATH, "remap-fpath.img");
	if (b == NULL)
		return -1;
	e.orig_id = id;
	e.remap_id = to;
	e.has_remap_type = true;
	e.remap_type = type;
	criuimg_add(b, &e.base);
	return 0;
}

/*
 * Mark the file with number id in files.img: it is below the directory of the
 * ended process pid in a proc file system. criu creates a process with that
 * number while it opens files. Return 0, or -1 with errstr set.
 */
int
makeghost_dead(struct criumake *m, uint32_t id, uint32_t pid)
{
	return remap_add(m, id, pid, PROCFS);
}

/*
 * Mark as deleted the file with number id in files.img, so that criu creates it
 * from content. n is the inode of the file. content is NULL if the file is
 * empty or of a type without content. Return 0, or -1 with errstr set.
 */
int
makeghost_add(struct criumake *m, uint32_t id, struct proc *content,
    const struct makeinode *n)
{
	uint32_t to;

	if (ghost_get(m, content, n, &to) == -1)
		return -1;
	return S_ISDIR(n->mode) ? POOL_ADD(&m->pool, m->ghostdir, m->nghostdir,
	    (struct makeghostdir){ id, to, n->pathlen }) :
	    remap_add(m, id, to, GHOST);
}

CMP(ghostdir_cmp, struct makeghostdir, pathlen)

/*
 * Mark the deleted directories that were given to makeghost_add(). criu creates
 * and removes deleted files in the order of these marks, and a directory must
 * be empty when criu removes it. So mark directories after all other files, and
 * the one with the longest path first. Return 0, or -1 with errstr set.
 */
int
makeghost_dirs(struct criumake *m)
{
	const struct makeghostdir *d;
	int rc;

	SORT(m->ghostdir, m->nghostdir, ghostdir_cmp);
	for (rc = 0, d = m->ghostdir + m->nghostdir; rc == 0 &&
	    d > m->ghostdir;) {
		d--;
		rc = remap_add(m, d->id, d->to, GHOST);
	}
	return rc;
}
