/*
 * Read the files of a directory of CRIU images. An image of one process goes
 * into the record of that process; all others go into the record of the first
 * process.
 */
#include "num.h"
#include "read.h"
#include "snap6/snap6.h"
#include "bisect.h"

CMP_BY(name_cmp, struct criuname, strcmp(x->name, y->name))

static int
name_add(void *arg, const char *name)
{
	struct criureader *r = arg;
	char *copy = pool_string(&r->pool, name);

	return copy == NULL ? -1 : POOL_ADD(&r->pool, r->name, r->nname,
	    (struct criuname){ copy, false });
}

/*
 * Set r->name to a sorted list of the regular files in r's directory. Return 0,
 * or -1 with errstr set.
 */
int
criudir_list(struct criureader *r)
{
	int rc;

	rc = imgdir_list(r->images, name_add, r);
	SORT(r->name, r->nname, name_cmp);
	return rc;
}

static struct criuname *
name_find(const struct criureader *r, const char *name)
{
	struct criuname key = { .name = (char *)(uintptr_t)name };

	return FIND_BY(&key, r->name, r->nname, name_cmp);
}

/*
 * Return true if r has an image file called name.
 */
bool
criudir_has(const struct criureader *r, const char *name)
{
	return name_find(r, name) != NULL;
}

/*
 * Mark the image file called name as used by a process. Return true if r has
 * the file and this is the first call for it.
 */
bool
criudir_use(struct criureader *r, const char *name)
{
	struct criuname *v;

	if ((v = name_find(r, name)) == NULL || v->used)
		return false;
	v->used = true;
	return true;
}

/*
 * Read the image file called name into b, which must be empty. A missing file
 * is an error. Return 0, or -1 with errstr set.
 */
int
criudir_slurp(struct criureader *r, const char *name, struct buf *b)
{
	struct input *in;
	size_t n;
	int rc;

	if (imgdir_input(r->images, name, &in) != 1)
		return -1;
	if (in->size > SNAP6_DATA || in->size > input_room(in)) {
		errstr_set("%s: %ju bytes: image too large to embed",
		    in->name, (uintmax_t)in->size);
		input_close(in);
		return -1;
	}
	while ((n = input_fill(in, 1)) > 0 && !b->failed) {
		buf_add(b, in->buf + in->start, n);
		input_skip(in, n);
	}
	rc = buf_check(b);
	if (rc == 0 && input_end(in) == -1)
		rc = errstr_wrap("%s", in->name);
	input_close(in);
	if (rc == -1)
		buf_free(b);
	return rc;
}

/*
 * Add an image file to record rec. name is its name, and b has its bytes. Leave
 * b empty. Return 0, or -1 with errstr set.
 */
int
criudir_keep(struct filelist *rec, const char *name, struct buf *b)
{
	char *path;

	if ((path = str_printf("criu/%s", name)) == NULL) {
		buf_free(b);
		return -1;
	}
	filelist_buf(rec, path, b);
	free(path);
	return 0;
}

/*
 * Read the first message, which has type d, from the image file called name.
 * The file must exist and have this magic number. Ignore any further messages.
 * Set *msg to the message, which the caller frees. Add the file to rec, the
 * record of its process. Return 0, or -1 with errstr set.
 */
int
criudir_message(struct criureader *r, struct filelist *rec, const char *name,
    uint32_t magic, const ProtobufCMessageDescriptor *d, void *msg)
{
	struct criuimg im = { 0 };
	struct buf b = { 0 };
	char *path;
	int rc;

	if ((path = pool_own(&r->pool, str_printf("%s/%s", r->dir, name))) ==
	    NULL || criudir_slurp(r, name, &b) == -1)
		return -1;
	rc = criuimg_memory(&im, path, b.data, b.len, magic);
	im.unknown = r->images->unknown;
	if (rc == 0)
		rc = criuimg_next(&im, d, msg);
	if (rc == 0)
		rc = criuimg_error(&im, "missing message %s", d->short_name);
	criuimg_close(&im);
	(void)criudir_use(r, name);
	return criudir_keep(rec, name, &b) == -1 || rc == -1 ? -1 : 0;
}

/*
 * Add to rec all image files that no process used. Leave out logs. Also leave
 * out pages and pagemaps, which become memory. Return 0, or -1 with errstr set.
 */
int
criudir_rest(struct criureader *r, struct filelist *rec)
{
	struct criuname *v;
	struct buf b = { 0 };
	size_t i, n;

	for (i = 0; i < r->nname; i++) {
		v = &r->name[i];
		n = strlen(v->name);
		if (v->used ||
		    (n >= 4 && strcmp(v->name + n - 4, ".log") == 0) ||
		    strncmp(v->name, "pagemap-", 8) == 0 ||
		    strncmp(v->name, "pages-", 6) == 0)
			continue;
		if (strchr(v->name, '\n') != NULL)
			return errstr_set("%s: the name of a file in it "
			    "contains a newline, which a snapshot cannot hold",
			    r->dir);
		if (criudir_slurp(r, v->name, &b) == -1)
			return -1;
		if (strcmp(v->name, "inventory.img") == 0 &&
		    inventory_pack(&b, 0) == -1) {
			buf_free(&b);
			return -1;
		}
		if (criudir_keep(rec, v->name, &b) == -1)
			return -1;
	}
	return 0;
}
