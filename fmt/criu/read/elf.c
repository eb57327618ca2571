/*
 * Use ELF files of this machine that the processes of a checkpoint had mapped,
 * if they have the recorded size and build ID.  The executable becomes the text
 * image, and the other files are embedded in the snapshot; both supply pages
 * that the checkpoint omits.
 */
#include "read.h"
#include "bisect.h"

#include <unistd.h>

enum { HEAD = 65536 }; /* number of bytes at the start of a file in which to
			  look for its notes */

/*
 * Return true if the build ID of file src is *want, which is padded with zeros
 * to a multiple of four bytes.
 */
static bool
same_id(struct criureader *r, const struct source *src,
    const struct buildid *want)
{
	struct buildid id = { 0 };
	ssize_t n;

	if (r->head == NULL && (r->head = pool_new(&r->pool, HEAD, 1)) == NULL)
		return false;
	n = pread(source_fd(src), r->head, HEAD, 0);
	if (n <= 0 || buildid_parse(&id, r->head, (size_t)n) == -1 ||
	    id.len == 0)
		return false;
	memset(id.id + id.len, 0, sizeof id.id - id.len);
	id.len = (id.len + 3) / 4 * 4;
	return buildid_same(&id, want);
}

/*
 * Return a source with the bytes of mapped file f. Return NULL if this machine
 * has no file of that name, or if the file may have changed.
 */
struct source *
criuelf_source(struct criureader *r, struct criufile *f)
{
	struct source *src;
	uint32_t n;

	if (f->looked)
		return f->src;
	f->looked = true;
	if (*f->name != '/' || f->dev != 0 || f->buildid.len == 0 ||
	    !f->has_size)
		return NULL;
	n = r->snap->nsource;
	if ((src = source_open(r->snap, f->name)) == NULL)
		return NULL;
	if (source_size(src) == f->size && same_id(r, src, &f->buildid))
		f->src = src;
	else if (r->snap->nsource > n)
		source_drop(r->snap);
	return f->src;
}

/*
 * Record the path of the executable of process t. If this machine has the file,
 * make the text image of t from it. Return 0, or -1 with errstr set.
 */
int
criuelf_text(struct criureader *r, struct criutask *t)
{
	struct proc *p = t->proc;
	struct criufile *f;
	struct source *src;

	if ((f = criufile_find(r, FD_REG, t->mm->exe_file_id)) == NULL)
		return errstr_set("%s/mm-%ju.img: the executable, file %u, is "
		    "not in files.img", r->dir, (uintmax_t)p->pid,
		    t->mm->exe_file_id);
	filelist_copy(&t->rec, "exe", f->name, strlen(f->name));
	if ((src = criuelf_source(r, f)) == NULL || source_size(src) == 0)
		return 0;
	p->text = image_whole(p, src, source_size(src));
	return p->text == NULL ? -1 : 0;
}

/*
 * Return true if src is the text image of a process.
 */
static bool
is_text(const struct criureader *r, const struct source *src)
{
	return PSEEK(r->snap->proc, r->snap->nproc, x->text != NULL &&
	    x->text->nseg > 0 && x->text->seg[0]->next > 0 &&
	    x->text->seg[0]->ext[0].src == src) != NULL;
}

/*
 * Embed all mapped files for which a source was found, except executables.
 * Return 0, or -1 with errstr set.
 */
int
criuelf_carry(struct criureader *r)
{
	struct vma v = { 0 };
	struct proc *p;
	size_t i;

	for (i = 0; i < r->nfile; i++) {
		if (r->file[i].src == NULL || is_text(r, r->file[i].src))
			continue;
		v.name = r->file[i].name;
		p = embedded_add(r->snap, &v, r->file[i].src, r->file[i].size);
		if (p == NULL ||
		    linuxrec_pack(p, r->machine->name, NULL, 0) == -1)
			return -1;
	}
	return 0;
}
