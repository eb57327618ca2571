/*
 * Where and how it is mounted, until it is unmounted.
 */
#define FUSE_USE_VERSION 312

#include "snapfs.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
dir_empty(const char *path)
{
	struct dirent *d;
	bool empty;
	DIR *dir;

	if ((dir = opendir(path)) == NULL)
		err(1, "%s", path);
	for (empty = true; empty && (d = readdir(dir)) != NULL;)
		empty = strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0;
	closedir(dir);
	return empty;
}

/*
 * The mount point as an absolute path.  It is a directory; unless over is
 * true, one where nothing is covered.
 */
char *
mount_point(const char *path, bool over)
{
	char real[PATH_MAX], up[PATH_MAX + 4];
	struct stat st, above;

	if (realpath(path, real) == NULL || stat(real, &st) == -1)
		err(1, "%s", path);
	if (!S_ISDIR(st.st_mode))
		errx(1, "%s: not a directory", path);
	snprintf(up, sizeof up, "%s/..", real);
	if (stat(up, &above) == -1)
		err(1, "%s", up);
	if (!over && st.st_dev != above.st_dev)
		errx(1, "%s: busy: something is mounted there "
		    "(-a covers it)", path);
	if (!over && !dir_empty(real))
		errx(1, "%s: busy: it is not empty (-a covers it)", path);
	return strdup(real);
}

/*
 * Others than root may let others in if the administrator lets them.
 */
bool
others_allowed(void)
{
	char line[256];
	bool allowed;
	FILE *f;

	if (getuid() == 0)
		return true;
	if ((f = fopen("/etc/fuse.conf", "r")) == NULL)
		return false;
	for (allowed = false; fgets(line, sizeof line, f) != NULL;) {
		line[strcspn(line, " \t\n")] = '\0';
		if (strcmp(line, "user_allow_other") == 0)
			allowed = true;
	}
	fclose(f);
	return allowed;
}

/*
 * Ours behind those of the user, so that they hold.
 */
static struct fuse_session *
session_new(const char *name, struct options *o, struct served *sv)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *se;
	char *fsname, *opts;
	int rc;

	opts = NULL;
	if (asprintf(&fsname, "fsname=%s", name) == -1)
		err(1, NULL);
	rc = fuse_opt_add_arg(&args, "snapfs") |
	    fuse_opt_add_opt_escaped(&opts, fsname) |
	    fuse_opt_add_opt(&opts, "subtype=snapfs");
	if (o->opts != NULL)
		rc |= fuse_opt_add_opt(&opts, o->opts);
	rc |= fuse_opt_add_opt(&opts, "ro,nosuid,nodev,noexec,"
	    "default_permissions");
	rc |= fuse_opt_add_arg(&args, "-o") | fuse_opt_add_arg(&args, opts);
	if (o->debug)
		rc |= fuse_opt_add_arg(&args, "-d");
	if (rc != 0)
		errx(1, "out of memory");
	if ((se = serve_new(&args, sv)) == NULL)
		exit(2);
	fuse_opt_free_args(&args);
	free(fsname);
	free(opts);
	return se;
}

/*
 * Mount a snapshot of that name and serve it until it is unmounted or a
 * signal comes: the exit status.  *told is set when libfuse has said what
 * is wrong.
 */
int
mount_serve(const char *name, const char *mtpt, struct options *o,
    struct served *sv, const bool *told)
{
	struct fuse_session *se;
	int fd, rc;

	se = session_new(name, o, sv);
	if ((fd = open("/dev/fuse", O_RDWR | O_CLOEXEC)) == -1)
		errx(1, "/dev/fuse: %s; is FUSE there?", strerror(errno));
	close(fd);
	if (fuse_set_signal_handlers(se) == -1)
		errx(1, "cannot catch signals");
	if (fuse_session_mount(se, mtpt) != 0) {
		if (!*told)
			program_warn("%s: cannot mount there", mtpt);
		exit(1);
	}
	rc = fuse_daemonize(o->foreground) == -1 ? EAGAIN : serve_loop(se);
	streams_end();
	if (rc != 0)
		program_warn("%s: %s", mtpt, strerror(rc));
	fuse_session_unmount(se);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	return rc == 0 ? 0 : 1;
}
