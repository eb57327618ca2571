/*
 * The files of a directory of CRIU images: those that belong to one process
 * are read as such, and all others travel with the first one.
 */
#include "read.h"
#include "snap6/snap6.h"
#include "vec.h"
#include "bisect.h"

#include <stdlib.h>
#include <string.h>

CMP_BY(name_cmp, struct criuname, strcmp(x->name, y->name))

static int
name_add(void *arg, const char *name)
{
	struct criureader *r = arg;
	struct criuname *v;

	if (VEC_ROOM(r->name, r->nname) == -1)
		return -1;
	v = &r->name[r->nname];
	if ((v->name = str_dup(name)) == NULL)
		return -1;
	v->used = false;
	r->nname++;
	return 0;
}

static bool
has_suffix(const char *s, const char *suffix)
{
	size_t n, k;

	n = strlen(s);
	k = strlen(suffix);
	return n >= k && strcmp(s + n - k, suffix) == 0;
}

/*
 * Know the names of all regular files of r's directory.  Return 0, or -1 with
 * errstr.
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
 * Return whether r has an image file of that name.
 */
bool
criudir_has(const struct criureader *r, const char *name)
{
	return name_find(r, name) != NULL;
}

/*
 * Let the image file of that name go with one process.  Return true if r has it
 * and it went with none so far.
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
 * Set b, which is empty, to the bytes of the image file of that name.  Return
 * 0; -1 with errstr, also if r does not have it.
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
		errstr_set("%s: %ju bytes: too large an image to be carried "
		    "along", in->name, (uintmax_t)in->size);
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
 * Add b, the bytes of the image file of that name, to record rec.  Return 0, or
 * -1 with errstr; b is empty then.
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
 * Read the image of that name, with that magic number, of one message of the
 * type d, which r must have, set *msg to that, the caller's, and have it in
 * rec, the record of the process that it goes with.  What is behind the message
 * means nothing.  Return 0, or -1 with errstr.
 */
int
criudir_message(struct criureader *r, struct filelist *rec, const char *name,
    uint32_t magic, const ProtobufCMessageDescriptor *d, void *msg)
{
	struct criuimg im = { 0 };
	struct buf b = { 0 };
	char *path;
	int rc;

	if (criudir_slurp(r, name, &b) == -1 ||
	    (path = str_printf("%s/%s", r->dir, name)) == NULL) {
		buf_free(&b);
		return -1;
	}
	rc = criuimg_memory(&im, path, b.data, b.len, magic);
	if (rc == 0)
		rc = criuimg_next(&im, d, msg);
	if (rc == 0)
		rc = criuimg_error(&im, "no message %s", d->short_name);
	criuimg_close(&im);
	free(path);
	(void)criudir_use(r, name);
	return criudir_keep(rec, name, &b) == -1 || rc == -1 ? -1 : 0;
}

/*
 * Have all image files of r that go with no process alone in rec: neither
 * pages, which are memory, nor logs.  Return 0, or -1 with errstr.
 */
int
criudir_rest(struct criureader *r, struct filelist *rec)
{
	struct criuname *v;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < r->nname; i++) {
		v = &r->name[i];
		if (v->used || has_suffix(v->name, ".log") ||
		    strncmp(v->name, "pagemap-", 8) == 0 ||
		    strncmp(v->name, "pages-", 6) == 0)
			continue;
		if (strchr(v->name, '\n') != NULL)
			return errstr_set("%s: a name of a file has a "
			    "newline, which a snapshot cannot hold", r->dir);
		if (criudir_slurp(r, v->name, &b) == -1 ||
		    criudir_keep(rec, v->name, &b) == -1)
			return -1;
	}
	return 0;
}
