/*
 * Make root/, the mapped files of a process that are in its snapshot, under the
 * names by which the process knew them. A debugger uses it as its sysroot.
 *
 * The names come, in this order, from the link map, from mappings of existing
 * files, from mappings of deleted files without " (deleted)", and from all
 * mappings as maps has them. If a name occurs twice, the first is used. Names
 * of the last kind whose files are not in the snapshot become empty files: a
 * debugger opens each mapped file, and complains if one is not there.
 */
#include "bisect.h"
#include "record/record.h"
#include "tree.h"

enum { NAMES_MAX = 65536, BYTES_MAX = 4 * 1024 * 1024 };

enum named { KEPT, DELETED_FILES, AS_MAPPED };

struct rooter {
	struct sysroot	*root;
	struct snap	*snap;
	struct proc	*proc;
	const struct vmas *vmas;
	char		*exe;	/* path of the executable, or NULL */
};

/*
 * Write to path, which has room for PATH_MAX bytes, the absolute path name of
 * len bytes as a relative one: without a leading slash, empty components and
 * "." components. Return false if name is not a valid path or contains "..".
 */
static bool
path_clean(char *path, const char *name, size_t len)
{
	const char *end, *slash;
	size_t n, to;

	if (len == 0 || name[0] != '/' || len >= PATH_MAX)
		return false;
	for (to = 0, end = name + len; name < end; name = slash + 1) {
		slash = memchr(name, '/', (size_t)(end - name));
		if (slash == NULL)
			slash = end;
		n = (size_t)(slash - name);
		if (n == 0 || (n == 1 && name[0] == '.'))
			continue;
		if (n > NAME_MAX || (n == 2 && memcmp(name, "..", 2) == 0))
			return false;
		if (to > 0)
			path[to++] = '/';
		memcpy(path + to, name, n);
		to += n;
	}
	path[to] = '\0';
	return to > 0 && !text_isharmful(path);
}

static int
sysroot_add(struct sysroot *root, const char *name, size_t len,
    struct image *im)
{
	char path[PATH_MAX];
	struct sysfile f = { .image = im, .seq = root->n };

	/* with too many bytes, the link map is probably cyclic */
	if (root->bytes + len > BYTES_MAX || !path_clean(path, name, len))
		return 0;
	root->bytes += len;
	return (f.path = pool_string(&root->pool, path)) == NULL ? -1 :
	    POOL_ADD(&root->pool, root->f, root->n, f);
}

/*
 * Add a file from the link map (the dynamic linker's list) to root/. addr is an
 * address in the mapping of the file.
 */
static int
add_linked(void *arg, const char *name, uint64_t addr)
{
	struct rooter *r = arg;
	const struct vma *v;
	struct image *im;

	if ((v = vmas_find(r->vmas, addr)) == NULL ||
	    (im = mapped_file(r->snap, r->proc, r->exe, v)) == NULL)
		return 0;
	return sysroot_add(r->root, name, strlen(name), im);
}

/*
 * Add mapped files to root/, as selected by the last argument: existing files
 * for KEPT, deleted files for DELETED_FILES, or all files for AS_MAPPED. For
 * DELETED_FILES, remove " (deleted)" from the end of each name. For AS_MAPPED,
 * use the name that maps shows.
 */
static int
add_mapped(struct rooter *r, enum named which)
{
	const struct vma *v;
	const char *last;
	struct image *im;
	size_t i, n;
	bool is;

	for (i = 0, last = ""; i < r->vmas->n && r->root->n < 2 * NAMES_MAX;
	    i++) {
		v = &r->vmas->v[i];
		n = path_stem(v->name);
		is = v->name[n] != '\0';
		if (v->name[0] != '/' || strcmp(v->name, last) == 0)
			continue;
		im = mapped_file(r->snap, r->proc, r->exe, v);
		if (which != AS_MAPPED &&
		    (im == NULL || is != (which == DELETED_FILES)))
			continue;
		last = v->name;
		if (which != DELETED_FILES)
			n = strlen(v->name);
		if (sysroot_add(r->root, v->name, n, im) == -1)
			return -1;
	}
	return 0;
}

CMP_BY(path_order, struct sysfile, path_cmp(x->path, strlen(x->path), y->path,
    strlen(y->path)))
CMP_BY(sysfile_cmp, struct sysfile, path_order(x, y) != 0 ? path_order(x, y) :
    ORDER(x->seq, y->seq))

/*
 * Sort the files by path. Of several with the same path, keep the first. Drop a
 * file if its path is a directory in the path of another file.
 */
static void
sysroot_sort(struct sysroot *root)
{
	struct sysfile *f, *last;
	size_t i, n, len;

	SORT(root->f, root->n, sysfile_cmp);
	for (i = n = 0; i < root->n; i++) {
		f = &root->f[i];
		last = n > 0 ? &root->f[n - 1] : NULL;
		len = last != NULL ? strlen(last->path) : 0;
		if (last != NULL && strcmp(last->path, f->path) == 0)
			continue;
		if (last != NULL && strncmp(last->path, f->path, len) == 0 &&
		    f->path[len] == '/')
			n--;
		root->f[n++] = *f;
	}
	root->n = n;
}

/*
 * Set *root, which must be all zero, to the files in root/ of process p of s.
 * rec is the record of p, and vmas are its mappings. Return 0, or -1 with
 * errstr set.
 */
int
sysroot_open(struct sysroot *root, struct snap *s, struct proc *p,
    const struct linuxrec *rec, const struct vmas *vmas)
{
	struct rooter r = { root, s, p, vmas, NULL };
	struct recfile f;
	char type[32];
	int rc;

	if (linuxrec_find(rec, "exe", &f) && p->text != NULL &&
	    (r.exe = pool_dup(&root->pool, f.data, f.len)) == NULL)
		return -1;
	rc = linkmap_walk(p->mem, machine_named(linuxrec_cputype(
	    proc_file(p, "proc"), type, sizeof type)), rec, add_linked, &r);
	if (rc == 0)
		rc = add_mapped(&r, KEPT);
	if (rc == 0)
		rc = add_mapped(&r, DELETED_FILES);
	if (rc == 0)
		rc = add_mapped(&r, AS_MAPPED);
	if (rc == -1)
		sysroot_close(root);
	sysroot_sort(root);
	return rc;
}

/*
 * Free the files of root.
 */
void
sysroot_close(struct sysroot *root)
{
	pool_free(&root->pool);
	root->f = NULL;
	root->n = 0;
}
