/*
 * Write entries for files that have a name to files.img.
 */
#include "calls.h"
#include "bisect.h"
#include "open.h"
#include "elf/elf.h"

#include <fcntl.h>

/*
 * Add file r to files.img. Its name is a path in the mount namespace of in
 * (makemount_path()). f is the open file, or NULL if r is only mapped or is a
 * directory of a process. Return 0, or -1 with errstr set.
 */
static int
reg_add(struct criumake *m, Criu__RegFile *r, const struct maketask *in,
    const struct makeopen *f)
{
	uint32_t pid;

	makemount_path(m, in, r->name, &r->has_mnt_id, &r->mnt_id);
	makeopen_entry(m, f, FD_REG, offsetof(Criu__FileEntry, reg), r->id,
	    &r->base);
	pid = makemount_dead(m, in, r->name);
	return pid == 0 ? 0 : makeghost_dead(m, r->id, pid);
}

/*
 * Add the directory or deleted file at path to files.img, and set *id to its
 * number. in is as in makemount_path(). Return 0, or -1 with errstr set.
 */
int
makereg_path(struct criumake *m, const struct maketask *in, const char *path,
    uint32_t *id)
{
	Criu__RegFile r = CRIU__REG_FILE__INIT;

	r.id = *id = ++m->lastid;
	r.name = (char *)(uintptr_t)path;
	return reg_add(m, &r, in, NULL);
}

/*
 * Return an open file that is inode ino on device dev. If linked is true, the
 * file was opened by a name that is now deleted, and its path is another name
 * of the inode. If linked is false, the file is watched. Return NULL if there
 * is none.
 */
static const struct makeopen *
gone_find(const struct criumake *m, uint64_t dev, uint64_t ino, bool linked)
{
	return PSEEK(m->open, m->nopen, (linked ? x->linked : x->watched) &&
	    x->v[OK_DEV][0] == dev && x->v[OK_INO][0] == ino);
}

/*
 * Add file r, whose name r->name was deleted, to files.img. in and f are as in
 * reg_add(), content and n are as in makeghost_add().
 *
 * criu creates the inode as NAME.cr.ID.ghost. To open a file, it links the
 * inode to the file's own name, opens it, and removes that name. Last, it
 * removes NAME.cr.ID.ghost. The kernel then ends the watches of the inode
 * (fsnotify_inoderemove()), unless the file is open by this name. Therefore
 * open a watched file as NAME.cr.ID.ghost. criu creates that name for an entry
 * of files.img that no process has open.
 */
static int
gone_add(struct criumake *m, Criu__RegFile *r, const struct maketask *in,
    const struct makeopen *f, struct proc *content, const struct makeinode *n)
{
	char *name = r->name;
	struct makeghost *g;
	uint32_t id;
	int rc;

	if (makemount_dead(m, in, r->name) != 0)
		return reg_add(m, r, in, f);
	if (gone_find(m, n->dev, n->ino, false) == NULL)
		return reg_add(m, r, in, f) == -1 ? -1 :
		    makeghost_add(m, r->id, content, n);
	if ((g = makeghost_find(m, n)) == NULL) {
		if (makereg_path(m, in, name, &id) == -1 ||
		    makeghost_add(m, id, content, n) == -1)
			return -1;
		g = &m->ghost[m->nghost - 1];
		g->name = pool_own(&m->pool, str_printf("%s.cr.%zx.ghost",
		    name, m->nghost));
		if (g->name == NULL)
			return -1;
	}
	r->name = g->name;
	rc = reg_add(m, r, in, f);
	r->name = name;
	return rc;
}

/*
 * Add open file f to files.img with number id. If bare is true, f is a FIFO or
 * a terminal, and the entry is only for its path. Write the size only if f is
 * open only for reading: criu refuses a file of a different size. Return 0, or
 * -1 with errstr set.
 */
int
makereg_open(struct criumake *m, const struct makeopen *f, uint32_t id,
    bool bare)
{
	Criu__RegFile r = CRIU__REG_FILE__INIT;
	const struct maketask *in = makemount_in(m, f->mount, f->user);
	struct makeinode n;
	const uint64_t *v;

	r.id = id;
	r.flags = (uint32_t)f->v[OK_FLAGS][0];
	r.pos = bare ? UINT64_MAX : f->v[OK_POS][0];
	r.name = f->path;
	v = f->v[OK_MODE];
	r.has_mode = makeopen_has(f, OK_MODE);
	r.mode = (uint32_t)v[0];
	r.has_size = r.has_mode && S_ISREG(r.mode) &&
	    makeopen_has(f, OK_SIZE) && (r.flags & ACCESS_MODE) == O_RDONLY &&
	    f->v[OK_DELETED][0] == 0;
	r.size = f->v[OK_SIZE][0];
	/* the user may pass criu a descriptor with the deleted name */
	r.has_ext = r.ext = f->linked;
	if (f->v[OK_DELETED][0] == 0)
		return reg_add(m, &r, in, f);
	makeghost_inode(&n, f);
	return gone_add(m, &r, in, f, makereg_content(m, n.dev, n.ino), &n);
}

/*
 * Store the build ID of ELF file im in words, four bytes in each. Return the
 * number of words. Return 0 if im is NULL or has no build ID.
 */
static size_t
build_id(struct image *im, uint32_t words[16])
{
	struct buildid b = { 0 };
	uint8_t head[ELF_HEAD];
	ssize_t n;
	size_t i;

	n = im == NULL ? -1 : image_readsome(im, image_origin(im), head,
	    sizeof head);
	if (n <= 0 || buildid_parse(&b, head, (size_t)n) == -1)
		return 0;
	memset(b.id + b.len, 0, sizeof b.id - b.len);
	for (i = 0; i < (b.len + 3) / 4; i++)
		words[i] = (uint32_t)(b.id[i * 4] | b.id[i * 4 + 1] << 8 |
		    b.id[i * 4 + 2] << 16) | (uint32_t)b.id[i * 4 + 3] << 24;
	return i;
}

/*
 * Return the embedded content of the file that t has mapped at v, or NULL if
 * there is none.
 */
static struct proc *
mapped_content(struct criumake *m, struct maketask *t, const struct vma *v)
{
	struct proc *content;

	if ((content = makereg_content(m, v->dev, v->ino)) != NULL)
		return content;
	return t->proc->text != NULL && maketask_is(t, "exe", v->name) ?
	    t->proc : NULL;
}

/*
 * Check that criu can create the deleted file that t has mapped at v. content
 * is the embedded content of the file. Return 1 if criu can, 0 if not (the
 * reason is recorded), or -1 with errstr set.
 */
static int
gone_check(struct criumake *m, const struct maketask *t, const struct vma *v,
    const struct proc *content)
{
	const char *why = content == NULL ?
	    "whose content is not in the snapshot" :
	    v->flags & VMA_SHARED && makeghost_names(content) > 0 ?
	    "which has another, unknown name" : NULL;

	return why == NULL ? 1 : make_refuse(m, t, NULL, WHY_DELETED, "mapping "
	    "at %" PRIx64 " of %s, %s", v->start, v->name, why);
}

/*
 * Replace each "\012" in path, which comes from /proc/PID/maps, with a newline
 * (proc_pid_maps(5)).
 */
static void
newlines_put(char *path)
{
	static const char escaped[] = "\\012";
	char *s;

	for (s = path; (s = strstr(s, escaped)) != NULL; s++) {
		*s = '\n';
		memmove(s + 1, s + sizeof escaped - 1,
		    strlen(s + sizeof escaped - 1) + 1);
	}
}

CMP(mapmount_cmp, struct mapmount, start)

/*
 * Read the mounts of the files that t has mapped into t->mapmount.
 */
static int
mapmounts_read(struct criumake *m, struct maketask *t)
{
	struct words w;
	uint64_t n[2];
	int rc;

	rc = maketask_words(t, "mounts/maps", &w);
	while (rc != -1 && (rc = words_next(&w)) == 1)
		if (!words_form(&w, 0, "xd", n))
			return words_bad(&w, "address (x) mount");
		else
			rc = POOL_ADD(&m->pool, t->mapmount, t->nmapmount,
			    (struct mapmount){ n[0], n[1] });
	SORT(t->mapmount, t->nmapmount, mapmount_cmp);
	return rc == -1 ? -1 : 0;
}

/*
 * Add the file that t has mapped at v to files.img, and set x->id to its
 * number. Return 1 on success, 0 if it cannot be restored (the reason is
 * recorded), or -1 with errstr set.
 */
static int
mapped_add(struct criumake *m, struct maketask *t, const struct vma *v,
    struct makeregfile *x)
{
	Criu__RegFile r = CRIU__REG_FILE__INIT;
	const struct makeopen *linked;
	uint32_t words[16];
	struct proc *content;
	struct image *im;
	char address[32];
	const char *why;
	size_t n;
	bool gone;
	int rc;

	n = path_stem(v->name);
	if (*v->name != '/')
		return make_unmapped(m, t, v, WHY_OTHER,
		    "a file whose path is not known");
	if (n >= PATH_MAX)	/* open(2) fails */
		return make_unmapped(m, t, v, WHY_OTHER,
		    "a file whose path is too long");
	gone = v->name[n] != '\0';
	content = mapped_content(m, t, v);
	linked = gone ? gone_find(m, v->dev, v->ino, true) : NULL;
	snprintf(address, sizeof address, "%" PRIx64, v->start);
	rc = linked != NULL ? 0 : makemount_hides(m, t, address, &why);
	if (rc != 0)
		return rc == -1 ? -1 : make_unmapped(m, t, v, WHY_OTHER, why);
	if (gone && linked == NULL &&
	    (rc = gone_check(m, t, v, content)) != 1)
		return rc;
	r.id = x->id = ++m->lastid;
	r.name = linked != NULL ? linked->path :
	    pool_dup(&m->texts, v->name, n);
	if (r.name == NULL)
		return -1;
	r.has_ext = r.ext = linked != NULL;
	if (linked == NULL)
		newlines_put(r.name);
	im = content == NULL ? NULL : content->text;
	if (im != NULL && !gone && im->nmissing == 0) {
		r.has_size = true;
		r.size = makereg_size(content);
		r.build_id = words;
		r.n_build_id = build_id(im, words);
	}
	rc = gone && linked == NULL ? gone_add(m, &r, x->mounts, NULL, content,
	    &(struct makeinode){ .dev = v->dev, .ino = v->ino,
	    .mode = S_IFREG | 0755 }) : reg_add(m, &r, x->mounts, NULL);
	return rc == -1 ? -1 : 1;
}

/*
 * Set *id to the number in files.img of the file that process t has mapped at
 * v. Add the file if it is not there yet. Return 1 on success, 0 with *id 0 if
 * the file cannot be restored (the reason is recorded), or -1 with errstr set.
 */
int
makereg_mapped(struct criumake *m, struct maketask *t, const struct vma *v,
    uint32_t *id)
{
	const struct mapmount *found;
	const struct maketask *in;
	struct makeregfile *f;
	uint64_t mount;
	int rc;

	*id = 0;
	if (t->mapmount == NULL && mapmounts_read(m, t) == -1)
		return -1;
	found = FIND(t->mapmount, t->nmapmount, start, v->start);
	mount = found == NULL ? 0 : found->mount;
	if (makemount_lacks(m, mount))
		return make_unmapped(m, t, v, WHY_OTHER,
		    "a file of another mount namespace");
	in = makemount_in(m, mount, t);
	f = SEEK(m->regfile, m->nregfile, x->dev == v->dev &&
	    x->ino == v->ino && x->mounts == in &&
	    strcmp(x->path, v->name) == 0);
	if (f != NULL) {
		*id = f->id;
		return f->id != 0;
	}
	if (POOL_ROOM(&m->pool, m->regfile, m->nregfile) == -1)
		return -1;
	f = &m->regfile[m->nregfile];
	*f = (struct makeregfile){ .dev = v->dev, .ino = v->ino,
	    .mounts = in };
	if ((f->path = pool_string(&m->pool, v->name)) == NULL)
		return -1;
	m->nregfile++;
	if ((rc = mapped_add(m, t, v, f)) == 1)
		*id = f->id;
	return rc;
}
