/*
 * Mount the file system and serve it until it is unmounted. The confined
 * program may not mount and unmount, so its helper process does (confine_act).
 */
#define FUSE_USE_VERSION 312

#include "snapfs.h"
#include "worker.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <signal.h>
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
 * Check that path is a directory on which we may mount. Unless cover is true,
 * also check that it is empty and that no other file system is mounted there.
 * Exit with status 1 if a check fails. Return path as an absolute path, which
 * the caller frees.
 */
char *
mount_point(const char *path, bool cover)
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
	if (!cover && st.st_dev != above.st_dev)
		errx(1, "%s: a file system is mounted there (use -a to mount "
		    "over it)", path);
	if (!cover && !dir_empty(real))
		errx(1, "%s: directory is not empty (use -a to mount over "
		    "it)", path);
	return must(strdup(real));
}

/*
 * Return true if we may use allow_other: if we are root, or if the
 * administrator allows it in /etc/fuse.conf (mount.fuse3(8)).
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
 * Return a new FUSE session that serves sv and is not mounted yet. name is
 * shown as the source of the mount. Our options follow those of the user, and
 * so override them.
 */
static struct fuse_session *
session_new(const char *name, struct options *o, struct served *sv)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *se;
	char *fsname, *opts;
	int rc;

	opts = NULL;
	fsname = must(str_printf("fsname=%s", name));
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
	must_do(rc == 0 ? 0 : -1);
	if ((se = serve_new(&args, sv)) == NULL)
		exit(2);
	fuse_opt_free_args(&args);
	free(fsname);
	free(opts);
	return se;
}

/*
 * Mount arg, a struct mount. This runs in the helper, which is outside the
 * confined program. Return the descriptor of the mount, for the confined
 * program, or -1 after a message.
 */
int
mount_make(void *arg)
{
	struct mount *m = arg;
	static struct served unused;
	int fd;

	m->session = session_new(m->name, m->opts, &unused);
	if ((fd = open("/dev/fuse", O_RDWR | O_CLOEXEC)) == -1) {
		program_warn(
		    "/dev/fuse: %s (is FUSE available?)", strerror(errno));
		return -1;
	}
	close(fd);
	if (fuse_session_mount(m->session, m->mtpt) != 0) {
		if (!*m->reported)
			program_warn("%s: cannot mount there", m->mtpt);
		return -1;
	}
	m->mounted = true;
	if (!m->opts->foreground)
		daemon_leave(STDIN_FILENO);
	return fcntl(fuse_session_fd(m->session), F_DUPFD_CLOEXEC, 3);
}

/*
 * Unmount arg, a struct mount, if it is mounted.
 */
void
mount_end(void *arg)
{
	struct mount *m = arg;

	if (m->mounted)
		fuse_session_unmount(m->session);
}

static void *
thread_wait(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/*
 * Create and cancel a thread, so that the C library loads the code that it
 * needs to end threads. It could not load this code after confinement.
 */
void
threads_prepare(void)
{
	pthread_t t;

	if (worker_start(&t, thread_wait, NULL) != 0)
		errx(1, "cannot create threads");
	pthread_cancel(t);
	pthread_join(t, NULL);
}

/*
 * Mount m and serve sv until it is unmounted or a signal arrives. Return the
 * exit status.
 */
int
mount_serve(const struct mount *m, struct served *sv)
{
	struct fuse_session *se;
	char path[32];
	int fd, rc;

	se = session_new(m->name, m->opts, sv);
	if (fuse_set_signal_handlers(se) == -1)
		errx(1, "cannot catch signals");
	if ((rc = confine_act(&fd)) == -1)
		program_warn("%s: %s", m->mtpt, snap_errstr());
	if (rc != 0)
		exit(1);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	if (fuse_session_mount(se, path) != 0)
		errx(1, "%s: cannot serve the mount", m->mtpt);
	daemon_ready(sv->status);
	rc = serve_loop(se);
	streams_end();
	if (rc != 0)
		program_warn("%s: %s", m->mtpt, strerror(rc));
	/* a second signal must not kill us during the clean-up */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	return rc == 0 ? 0 : 1;
}
