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
#include "vec.h"
#include "tree.h"

enum { NAMES_MAX = 65536, BYTES_MAX = 4 * 1024 * 1024 };

enum named { KEPT, DELETED_FILES, AS_MAPPED };

struct rooter {
	struct sysroot	*root;
	struct snap	*snap;
	struct proc	*proc;
	const struct vmas *vmas;
	char		*exe;	/* owned; path of the executable */
};

/*
 * Return a relative copy of the absolute path name, which has len bytes. The
 * copy has no leading slash, no empty components and no "." components. The
 * caller frees it. Return NULL if name is not a valid path or contains "..". If
 * memory runs out, return NULL with errstr set and *ok set to false. In all
 * other cases, *ok becomes true.
 */
static char *
path_clean(const char *name, size_t len, bool *ok)
{
	const char *end, *slash;
	char *path;
	size_t n, to;

	*ok = true;
	if (len == 0 || name[0] != '/' || len >= PATH_MAX)
		return NULL;
	if ((path = mem_new(1, len + 1)) == NULL) {
		*ok = false;
		return NULL;
	}
	for (to = 0, end = name + len; name < end; name = slash + 1) {
		slash = memchr(name, '/', (size_t)(end - name));
		if (slash == NULL)
			slash = end;
		n = (size_t)(slash - name);
		if (n == 0 || (n == 1 && name[0] == '.'))
			continue;
		if (n > NAME_MAX || (n == 2 && memcmp(name, "..", 2) == 0)) {
			free(path);
			return NULL;
		}
		if (to > 0)
			path[to++] = '/';
		memcpy(path + to, name, n);
		to += n;
	}
	path[to] = '\0';
	if (to > 0 && !text_isharmful(path))
		return path;
	free(path);
	return NULL;
}

static int
sysroot_add(struct sysroot *root, const char *name, size_t len,
    struct image *im)
{
	char *path;
	bool ok;

	if (root->bytes + len > BYTES_MAX)
		return 0;	/* the link map is probably cyclic */
	if ((path = path_clean(name, len, &ok)) == NULL)
		return ok ? 0 : -1;
	root->bytes += len;
	if (VEC_ADD(root->f, root->n, (struct sysfile){ .path = path,
	    .image = im }) == -1) {
		free(path);
		return -1;
	}
	root->f[root->n - 1].seq = root->n - 1;
	return 0;
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
		if (last != NULL && strcmp(last->path, f->path) == 0) {
			free(f->path);
			continue;
		}
		if (last != NULL && strncmp(last->path, f->path, len) == 0 &&
		    f->path[len] == '/') {
			free(last->path);
			n--;
		}
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
	    (r.exe = strndup((const char *)f.data, f.len)) == NULL)
		return errstr_set("out of memory");
	rc = linkmap_walk(p->mem, machine_named(linuxrec_cputype(
	    proc_file(p, "proc"), type, sizeof type)), rec, add_linked, &r);
	if (rc == 0)
		rc = add_mapped(&r, KEPT);
	if (rc == 0)
		rc = add_mapped(&r, DELETED_FILES);
	if (rc == 0)
		rc = add_mapped(&r, AS_MAPPED);
	free(r.exe);
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
	size_t i;

	for (i = 0; i < root->n; i++)
		free(root->f[i].path);
	free(root->f);
	root->f = NULL;
	root->n = 0;
}
