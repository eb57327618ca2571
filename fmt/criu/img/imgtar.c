/*
 * Read an image directory in an archive, as container engines write them:
 * podman, and those that a kubelet uses (CRI-O, containerd).
 *
 *	config.dump, spec.dump	description of the container
 *	checkpoint/		the images
 *	pre-checkpoint/		images that they are stacked on; checkpoint/
 *				has a link "parent" to it
 *	rootfs-diff.tar, ...	files of the container
 *
 * containerd's own archives have the images at the top. One made by hand may
 * have them in a directory of any name.
 */
#include "img.h"
#include "vec.h"

static const char inventory[] = "inventory.img";

static struct imgdir *
imgtar_new(struct tar *t, const char *at, size_t n)
{
	struct imgdir *d;

	d = imgdir_new(-1, str_printf("%s%s%.*s", t->in->name, n > 0 ? "/" :
	    "", n > 0 ? (int)n - 1 : 0, at));
	if (d == NULL)
		return NULL;
	d->tar = t;
	if ((d->at = mem_dup(at, n)) == NULL) {
		imgdir_free(d);
		return NULL;
	}
	return d;
}

/*
 * Return the archive member for the file called name in directory d, or NULL if
 * there is none.
 */
static const struct tarmember *
member_find(const struct imgdir *d, const char *name)
{
	const struct tarmember *m;
	char *full;

	if ((full = str_printf("%s%s", d->at, name)) == NULL)
		return NULL;
	m = tar_find(d->tar, full);
	free(full);
	return m;
}

/*
 * If archive member m is called inventory.img, in any directory, return the
 * length of that directory's path, including the "/" at its end. Otherwise
 * return -1.
 */
static ssize_t
inventory_dir(const struct tarmember *m)
{
	size_t n, k = sizeof inventory - 1;

	n = strlen(m->name);
	return n >= k && strcmp(m->name + n - k, inventory) == 0 &&
	    (n == k || m->name[n - k - 1] == '/') ? (ssize_t)(n - k) : -1;
}

/*
 * Find the image directory in archive t. Try the directory checkpoint, as in a
 * container's archive, then the top directory. If neither has an inventory, use
 * the only directory that has one. Return the image directory, or NULL with
 * errstr set.
 */
static struct imgdir *
images_find(struct tar *t)
{
	static const char checkpoint[] = "checkpoint/";
	const struct tarmember *found;
	size_t i;

	if (tar_find(t, "checkpoint/inventory.img") != NULL)
		return imgtar_new(t, checkpoint, sizeof checkpoint - 1);
	if (tar_find(t, inventory) != NULL)
		return imgtar_new(t, "", 0);
	for (found = NULL, i = 0; i < t->n; i++) {
		if (inventory_dir(&t->v[i]) == -1)
			continue;
		if (found != NULL && strcmp(found->name, t->v[i].name) != 0) {
			errstr_set("%s: several checkpoints in the archive: "
			    "%s, %s", t->in->name, found->name, t->v[i].name);
			return NULL;
		}
		found = &t->v[i];
	}
	if (found != NULL)
		return imgtar_new(t, found->name,
		    (size_t)inventory_dir(found));
	errstr_set("%s: no criu checkpoint in the archive: no %s",
	    t->in->name, inventory);
	return NULL;
}

/*
 * Resolve a symbolic link in directory dir, and append the path of its target
 * to out. The text of the symbolic link is in link. The path is relative to the
 * archive, and ends in "/", or is empty for the top directory. Return 0, or -1
 * if the target is outside the archive.
 */
static int
link_follow(const char *dir, const char *link, struct buf *out)
{
	size_t n;

	if (*link == '/')
		return -1;
	for (buf_puts(out, dir); *link != '\0'; link += n) {
		link += strspn(link, "/");
		n = strcspn(link, "/");
		if (n == 0 || (n == 1 && *link == '.'))
			continue;
		if (n != 2 || strncmp(link, "..", 2) != 0) {
			buf_add(out, link, n);
			buf_puts(out, "/");
			continue;
		}
		if (out->len == 0)
			return -1;
		for (out->len--; out->len > 0 &&
		    out->data[out->len - 1] != '/';)
			out->len--;
	}
	return 0;
}

/*
 * Open the parent of d, the directory that d is stacked on. This is an
 * imgparent_fn.
 */
static int
parent_find(struct imgdir *top, struct imgdir *d, size_t depth)
{
	const struct tarmember *m;
	struct buf out = { 0 };
	const char *why;

	(void)top;
	if ((m = member_find(d, "parent")) == NULL || m->type != TAR_LINK)
		return 0;
	why = NULL;
	if (link_follow(d->at, m->link, &out) == -1)
		why = "leads out of the archive";
	else if (depth >= MAX_STACK)
		why = "has too many parents, or leads back to itself";
	if (buf_check(&out) == 0 && why == NULL)
		d->parent = imgtar_new(d->tar, out.len == 0 ? "" :
		    (const char *)out.data, out.len);
	else if (why != NULL && asprintf(&d->why, "%s/parent %s", d->path,
	    why) == -1)
		d->why = NULL;
	buf_free(&out);
	if (d->parent == NULL && d->why == NULL)
		return errstr_set("out of memory");
	return 0;
}

/*
 * Open the directory of images in archive t, and the directories that it is
 * stacked on. t must outlive them. Return the directory, or NULL with errstr
 * set.
 */
struct imgdir *
imgtar_open(struct tar *t)
{
	return imgdir_stack(images_find(t), parent_find);
}

static int
notfile_error(const struct imgdir *d, const struct tarmember *m,
    const char *name)
{
	return errstr_set(m->type == TAR_SPARSE ? "%s/%s: cannot read a sparse "
	    "file from an archive; create it with tar without -S" :
	    "%s/%s: not a regular file", d->path, name);
}

/*
 * Call fn(arg, name) for each regular file in d, a directory in an archive, as
 * imgdir_list() does.
 */
int
imgtar_list(const struct imgdir *d, imgdir_fn fn, void *arg)
{
	const struct tarmember *m, *end = d->tar->v + d->tar->n;
	const char *name;
	size_t n;

	n = strlen(d->at);
	for (m = d->tar->v; m < end; m++) {
		name = m->name + n;
		if (strncmp(m->name, d->at, n) != 0 || *name == '\0' ||
		    strchr(name, '/') != NULL ||
		    (m + 1 < end && strcmp(m[1].name, m->name) == 0))
			continue;
		if (m->type != TAR_FILE && img_isname(name))
			return notfile_error(d, m, name);
		if (m->type == TAR_FILE && fn(arg, name) == -1)
			return -1;
	}
	return 0;
}

/*
 * Find the regular file called name in directory d, and set *m to it. Return 1
 * on success, 0 with errstr set if there is no such file, or -1 with errstr set
 * on any other error.
 */
static int
file_find(const struct imgdir *d, const char *name,
    const struct tarmember **m)
{
	if ((*m = member_find(d, name)) == NULL) {
		errstr_set("%s/%s: not in the archive", d->path, name);
		return 0;
	}
	return (*m)->type == TAR_FILE ? 1 : notfile_error(d, *m, name);
}

/*
 * Open the file called name in d, a directory in an archive, as imgdir_input()
 * does. path is the name of the file in messages.
 */
int
imgtar_input(const struct imgdir *d, const char *name, const char *path,
    struct input **in)
{
	const struct tarmember *m;
	int rc;

	if ((rc = file_find(d, name, &m)) != 1)
		return rc;
	*in = tar_input(d->tar, m, path);
	return *in == NULL ? -1 : 1;
}

/*
 * Set *src to the file called name in d, a directory in an archive, as
 * imgdir_source() does.
 */
int
imgtar_source(const struct imgdir *d, const char *name, struct snap *s,
    struct imgsource *src)
{
	const struct tarmember *m;
	int rc;

	if ((rc = file_find(d, name, &m)) != 1)
		return rc;
	src->src = tar_source(d->tar, s);
	src->loc = (uint64_t)d->tar->in->origin + m->pos;
	src->size = m->size;
	return src->src == NULL ? -1 : 1;
}
