/*
 * The descriptors that are restored: fdinfo-N.img; and where a process is:
 * fs-N.img.
 */
#include "open.h"

#include <stdlib.h>
#include <string.h>

/*
 * Make fdinfo-N.img: the descriptors of process t.
 */
static int
fdinfo_write(struct criumake *m, struct maketask *t)
{
	Criu__Fdinfo e = CRIU__FDINFO__INIT;
	struct made *im;
	size_t i;

	im = make_image(m, CRIU_FDINFO, "fdinfo-%u.img", maketask_id(t));
	if (im == NULL)
		return -1;
	for (i = 0; i < t->nfd; i++) {
		if (t->fd[i].open->why != NULL)
			continue;
		e.id = t->fd[i].open->id;
		e.fd = (uint32_t)t->fd[i].fd;
		e.flags = t->fd[i].cloexec;
		e.type = makekind_get(t->fd[i].open)->fd;
		criuimg_add(&im->b, &e.base);
	}
	return 0;
}

/*
 * Set *id to the number, in files.img, of a directory that is deleted, which
 * a link of the record leads to.  Return 1; 0, if too little is known of it;
 * or -1.
 */
static int
gone_get(struct criumake *m, struct maketask *t, const char *name,
    const char *path, uint32_t *id)
{
	struct makeinode n = { 0 };
	char file[32];
	uint64_t v[7];
	int rc;

	snprintf(file, sizeof file, "%s-deleted", name);
	rc = maketask_one(t, file, "omdddii", "mode dev ino uid gid atime "
	    "mtime", v);
	if (rc != 1)
		return rc;
	n.mode = (uint32_t)v[0];
	n.dev = v[1];
	n.ino = v[2];
	n.uid = (uint32_t)v[3];
	n.gid = (uint32_t)v[4];
	n.timed = true;
	n.atime = v[5];
	n.mtime = v[6];
	return makereg_path(m, path, id) == -1 ||
	    makeghost_add(m, *id, NULL, &n) == -1 ? -1 : 1;
}

/*
 * Set *id to the number, in files.img, of the directory that a link of the
 * record leads to, cwd or root.
 */
static int
dir_get(struct criumake *m, struct maketask *t, const char *name, uint32_t *id)
{
	static const char gone[] = " (deleted)";
	char *path;
	size_t n;
	int rc;

	path = words_text(&t->rec, name);
	n = path == NULL ? 0 : strlen(path);
	rc = 0;
	if (n > sizeof gone - 1 && *path == '/' &&
	    strcmp(path + n - (sizeof gone - 1), gone) == 0) {
		path[n - (sizeof gone - 1)] = '\0';
		rc = gone_get(m, t, name, path, id);
		path[n - (sizeof gone - 1)] = ' ';
	} else if (n > 0 && *path == '/')
		rc = makereg_path(m, path, id) == -1 ? -1 : 1;
	if (rc == 0)
		rc = make_never(m, t, "its %s is %s: cannot be restored", name,
		    n == 0 ? "not known" :
		    path);
	free(path);
	return rc == -1 ? -1 : 0;
}

/*
 * Make fs-N.img of t, and fdinfo-N.img unless it is another's.  Return 0, or -1
 * with errstr.
 */
int
makefd_write(struct criumake *m, struct maketask *t)
{
	Criu__Fs fs = CRIU__FS__INIT;
	uint64_t umask;

	if (dir_get(m, t, "cwd", &fs.cwd_id) == -1 ||
	    dir_get(m, t, "root", &fs.root_id) == -1)
		return -1;
	if (maketask_status(t, "Umask", 8, &umask, 1) == 1) {
		fs.has_umask = true;
		fs.umask = (uint32_t)umask;
	}
	if (make_message(m, CRIU_FS, &fs.base, "fs-%u.img", t->pid) == -1)
		return -1;
	return t->files != t ? 0 : fdinfo_write(m, t) == -1 ? -1 :
	    makelocks_write(m, t);
}
