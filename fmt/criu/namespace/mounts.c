/*
 * Write mounts as CRIU images: mountpoints-N.img, and tmpfs-dev-N.tar.gz.img
 * with the files of each tmpfs that criu creates. Add options for mounts to
 * criu's command line.
 */
#include "namespace.h"
#include "bisect.h"
#include "io/gzip/gzip.h"
#include "tar/tar.h"

/*
 * Append the n bytes at data to b, compressed as a series of gzip(1) members.
 */
static int
packed_add(struct buf *b, const uint8_t *data, size_t n)
{
	z_stream z = { 0 };
	uint8_t *room;
	size_t part, len;

	if (gzip_packer(&z) == -1)
		return -1;
	for (len = 1; n > 0 && len > 0; data += part, n -= part) {
		part = n < GZIP_RAW ? n : GZIP_RAW;
		room = buf_room(b, GZIP_ROOM);
		len = room == NULL ? 0 : gzip_pack(&z, data, part, room);
		b->len += len;
	}
	deflateEnd(&z);
	return len == 0 ? errstr_set("out of memory") : 0;
}

/*
 * Replace a user and a group ID by those in the user namespace that criu
 * creates. arg points to a struct criumake.
 */
static void
owner_map(const void *arg, uint64_t *uid, uint64_t *gid)
{
	*uid = makeusers_uid(arg, *uid);
	*gid = makeusers_gid(arg, *gid);
}

/*
 * Return the options of t's file system, with user and group IDs as in the user
 * namespace in which criu mounts it: mountinfo has those of the initial one.
 * Return NULL with errstr set on error.
 */
static char *
options_map(struct criumake *m, const struct makemount *t)
{
	struct buf b = { 0 };
	const char *s;
	uint64_t id;
	size_t n;

	for (s = t->options; *s != '\0'; s += n) {
		n = strcspn(s, ",");
		if (sscanf(s, "uid=%" SCNu64, &id) == 1)
			buf_printf(&b, "uid=%" PRIu32, makeusers_uid(m, id));
		else if (sscanf(s, "gid=%" SCNu64, &id) == 1)
			buf_printf(&b, "gid=%" PRIu32, makeusers_gid(m, id));
		else
			buf_add(&b, s, n);
		if (s[n] == ',') {
			buf_add(&b, ",", 1);
			n++;
		}
	}
	return pool_own(&m->pool, buf_text(&b));
}

/*
 * Write the image with the files of tmpfs t, unless it is already written.
 */
static int
files_write(struct criumake *m, const struct makemount *t)
{
	struct recfile f;
	struct made *im;
	struct buf b = { 0 };
	char name[64];
	int rc;

	snprintf(name, sizeof name, "tmpfs-dev-%" PRIu64 ".tar.gz.img",
	    t->dev);
	if (PSEEK(m->out->v, m->out->n, strcmp(x->name, name) == 0) != NULL)
		return 0;
	if (!makemount_archive(m, t, &f))
		return errstr_set("no %s", t->archive);
	if ((im = make_image(m, CRIU_RAW, "%s", name)) == NULL)
		return -1;
	if (!m->users)
		return packed_add(&im->b, f.data, f.len);
	buf_add(&b, f.data, f.len);
	rc = buf_check(&b);
	if (rc == 0)
		rc = tar_owners(b.data, b.len, owner_map, m);
	if (rc == 0)
		rc = packed_add(&im->b, b.data, b.len);
	buf_free(&b);
	return rc == 0 ? 0 : errstr_wrap("%s", t->archive);
}

/*
 * Return the name of external mount t in criu's option --external: its mount
 * point, after the number of its namespace if that is not the namespace of the
 * root process. Return NULL with errstr set on error.
 */
static char *
external_key(struct criumake *m, const struct makemount *t)
{
	return t->in->mountsid == MADE_ID ? t->point :
	    pool_own(&m->pool, str_printf("%" PRIu32 ":%s", t->in->mountsid,
	    t->point));
}

/*
 * Add options to criu's command line for the root directory and for bind mounts
 * whose source is outside the mount namespace.
 */
static int
command_report(struct criumake *m)
{
	const struct makemounts *l = &m->inside;
	char *key, *word;
	size_t i;

	make_word(m, "--root", l->top->outside != NULL ? l->top->outside :
	    "ROOT");
	for (i = 0; i < l->n; i++) {
		if (!l->v[i].external)
			continue;
		key = external_key(m, &l->v[i]);
		word = key == NULL ? NULL : pool_own(&m->pool,
		    str_printf("mnt[%s]:%s", key, l->v[i].outside));
		if (word == NULL)
			return -1;
		make_word(m, "--external", word);
	}
	return 0;
}

/*
 * Write the image of the mounts that the record of in lists.
 */
static int
space_write(struct criumake *m, const struct maketask *in)
{
	const struct makemount *t;
	Criu__Mnt e = CRIU__MNT__INIT;
	struct made *im;
	size_t i;

	if ((im = make_image(m, CRIU_MNTS, "mountpoints-%u.img",
	    in->mountsid)) == NULL)
		return -1;
	e.has_shared_id = e.has_master_id = e.has_sb_flags = true;
	for (i = 0; i < m->inside.n; i++) {
		t = &m->inside.v[i];
		if (t->left || t->in != in)
			continue;
		e.fstype = t->code;
		e.mnt_id = t->id;
		e.root_dev = (uint32_t)t->dev;
		e.parent_mnt_id = t->parent;
		e.flags = t->flags;
		e.root = t->root;
		e.mountpoint = t->point;
		e.source = t->source;
		e.options = m->users ? options_map(m, t) : t->options;
		e.shared_id = t->shared;
		e.master_id = t->master;
		e.sb_flags = t->system;
		e.ext_key = NULL;
		if (e.options == NULL || (t->external &&
		    (e.ext_key = external_key(m, t)) == NULL))
			return -1;
		criuimg_add(&im->b, &e.base);
		if (t->code == MAKETMPFS && t->outside == NULL &&
		    t != m->inside.top && strcmp(t->root, "/") == 0 &&
		    files_write(m, t) == -1)
			return -1;
	}
	return 0;
}

/*
 * Write the images of all mounts. Return 0, or -1 with errstr set.
 */
int
makemount_write(struct criumake *m)
{
	size_t i;

	if (!makemount_space(m))
		return 0;
	for (i = 0; i < m->inside.n; i++)
		if (m->inside.v[i].top && space_write(m, m->inside.v[i].in) ==
		    -1)
			return -1;
	return command_report(m);
}
