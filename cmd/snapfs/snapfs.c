/*
 * snapfs: mount snapshots and live processes as files, or serve them over
 * 9P2000. The snapshots are read and checked before anything is mounted; then
 * serve.c answers the kernel, or ninep.c answers clients.
 */
#define FUSE_USE_VERSION 312

#include "snapfs.h"

#include <sys/xattr.h>

#include <err.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct sources sources;
static struct options options;
static struct momentset input;	/* the snapshots that are shown */
static char *mountpoint;
static bool listed;		/* a snapshot file has an access control
				   list */

/*
 * Append arg, the argument of -o, to the mount options.
 */
static void
add_option(int letter, char *arg)
{
	if (fuse_opt_add_opt(&options.opts, arg) == -1)
		errx(1, "-%c: out of memory", letter);
}

static const struct opt opts[] = {
	MOMENT_OPTION(sources),
	{ 'a', "over", NULL, "mount over a directory that is not empty",
	    .flag = &options.over },
	{ 'c', "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'd', "debug", NULL, "stay in the foreground and print each request",
	    .flag = &options.debug },
	{ 'f', "foreground", NULL, "stay in the foreground",
	    .flag = &options.foreground },
	{ 'm', "mount", "mtpt", "mount on mtpt instead of on the last operand",
	    .word = &mountpoint },
	{ 'o', "option", "opt",
	    "mount option; see mount.fuse3(8)",
	    .call = add_option },
	{ 'p', "pid", "pid|name", "only this process; without file: a live one",
	    .source = sources_pick },
	{ 's', "serve", "address",
	    "serve 9P2000 at a socket or tcp!host!port; no mount",
	    .word = &options.address },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Mount snapshots as files, or serve them over 9P2000.",
	.synopsis = (const char *const[]){
		"[-adf] [-@ moment] [-c group] [-o opt] [-p pid|name]",
		"       [file | pid | name ...] mtpt",
		"[-adf] [-@ moment] [-c group] [-o opt] [-p pid|name] -m mtpt",
		"       [file | pid | name ...]",
		"[-f] [-@ moment] [-c group] [-p pid|name] -s address",
		"       [file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &sources
};

static bool reported;		/* libfuse has printed an error */

/*
 * Print a libfuse message without its prefix "fuse: ". Any thread may call
 * this, even with partial lines.
 */
static void
fuse_message(enum fuse_log_level level, const char *fmt, va_list ap)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char line[1024];
	static size_t n;
	char *s;

	pthread_mutex_lock(&lock);
	reported |= level <= FUSE_LOG_ERR;
	vsnprintf(line + n, sizeof line - n, fmt, ap);
	n = strlen(line);
	if (n + 1 == sizeof line || (n > 0 && line[n - 1] == '\n')) {
		s = strncmp(line, "fuse: ", 6) == 0 ? line + 6 : line;
		line[n - 1] = '\0';
		program_warn("%s", s);
		n = 0;
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Return the time of snapshot s from its first line. If this line has no time,
 * return the time when the snapshot file was last written or, if that is not a
 * regular file, the current time.
 */
static time_t
snap_time(const struct snap *s)
{
	struct header h;

	header_parse(&h, s->header);
	if (h.timed && h.time <= INT64_MAX)
		return (time_t)h.time;
	return S_ISREG(s->st.st_mode) ? s->st.st_mtim.tv_sec : time(NULL);
}

/*
 * Return true if group is one of our groups. The answer is false if memory runs
 * out.
 */
static bool
is_ours(gid_t group)
{
	const int n = getgroups(0, NULL);
	gid_t *v = calloc(n > 0 ? (size_t)n : 1, sizeof *v);
	bool found = group == getegid();
	int i, got;

	got = v == NULL ? 0 : getgroups(n, v);
	for (i = 0; i < got; i++)
		found |= v[i] == group;
	free(v);
	return found;
}

/*
 * Return true if only an access control list (acl(5)) can let us read the file
 * with status st. This is so if we are not root, do not own the file, are not
 * in its group, and its mode does not let others read it.
 */
static bool
by_list(const struct stat *st)
{
	return geteuid() != 0 && st->st_uid != geteuid() &&
	    !is_ours(st->st_gid) && (st->st_mode & S_IROTH) == 0;
}

/*
 * Return true if the file at path, or standard input if path is "-", has an
 * access control list. Then the bits of its mode for the group are the mask of
 * that list, not what the group may do.
 */
static bool
has_list(const char *path)
{
	static const char name[] = "system.posix_acl_access";

	return (strcmp(path, "-") == 0 ? fgetxattr(STDIN_FILENO, name, NULL,
	    0) : getxattr(path, name, NULL, 0)) > 0;
}

/*
 * Set *o to a file of snapshot s, and choose who may read its files in the
 * mount: anybody who may read the snapshot file. However, if that depends on an
 * access control list, or if the snapshot file is not a regular file, let
 * nobody but us read them.
 */
static void
origin_set(struct origin *o, const struct snap *s)
{
	const struct stat *st = &s->st;
	mode_t r = 0400;

	o->uid = getuid();
	o->gid = getgid();
	if (S_ISREG(st->st_mode))
		o->size = (uint64_t)st->st_size;
	if (S_ISREG(st->st_mode) && !listed && !by_list(st)) {
		r = st->st_mode & 0444;
		o->uid = st->st_uid;
		o->gid = st->st_gid;
	}
	o->mode = r | r >> 2;
	o->time = snap_time(s);
}

/*
 * Return true if the user selected a process of s.
 */
static bool
is_wanted(struct snap *s)
{
	bool wanted = false;
	size_t i;

	for (i = 0; i < s->nproc; i++)
		wanted |= sources_wants(&sources, s, s->proc[i]);
	return wanted;
}

/*
 * Reduce *s to the selected processes, and add it to tree t. Set *o to its
 * attributes. Exit with status 1 if that fails, or if there are no such
 * processes.
 */
static void
tree_add(struct fstree *t, struct snap **s, struct origin *o)
{
	if (*s == NULL || (*s = sources_keep(&sources, *s)) == NULL)
		errx(1, "%s", snap_errstr());
	origin_set(o, *s);
	if (fstree_add(t, *s, o) == -1)
		errx(1, "%s", snap_errstr());
}

/*
 * Add the snapshot at path to t. If it is a series, add each moment in a
 * directory of its own, which is empty if -p selects no process there. Return
 * the attributes of the snapshots in input.
 */
static struct origin *
tree_series(struct fstree *t, const char *path)
{
	const struct readopts ro = { .warn = program_lose,
	    .note = program_say };
	struct origin *o;
	bool empty = true;
	size_t i;

	if (momentset_load(&input, path, &ro) == -1)
		errx(1, "%s", snap_errstr());
	o = must(calloc(input.n, sizeof *o));
	for (i = 0; i < input.n; i++) {
		if (input.whole != NULL)
			fstree_moment(t);
		if (input.whole == NULL || is_wanted(input.v[i])) {
			tree_add(t, &input.v[i], &o[i]);
			empty = false;
		} else
			origin_set(&o[i], input.v[i]);
	}
	if (empty) {
		sources_check(&sources);
		exit(1);
	}
	return o;
}

/*
 * Add the n snapshots at path to t. Return the attributes of the snapshots in
 * input.
 */
static struct origin *
tree_files(struct fstree *t, char *const *path, size_t n)
{
	const struct readopts ro = { .warn = program_lose, MOMENT_OF(sources) };
	struct origin *o = must(calloc(n, sizeof *o));

	input.v = must(calloc(n, sizeof *input.v));
	for (; input.n < n; input.n++) {
		input.v[input.n] = snap_load(path[input.n], &ro);
		tree_add(t, &input.v[input.n], &o[input.n]);
	}
	return o;
}

/*
 * Set *root to the attributes of the root directory for the n snapshots at o.
 * If all have the same owner and group, these also own the root directory.
 * Otherwise we own it, and everybody may read it; the directories below it keep
 * their owners.
 */
static void
root_make(struct origin *root, const struct origin *o, size_t n)
{
	size_t i;

	*root = o[0];
	for (i = 1; i < n; i++) {
		root->mode |= o[i].mode;
		root->size += o[i].size;
		if (o[i].time > root->time)
			root->time = o[i].time;
		if (o[i].uid != root->uid || o[i].gid != root->gid) {
			root->uid = getuid();
			root->gid = getgid();
			root->mode = 0555;
		}
	}
}

/*
 * Confine the program so that it can open only the n input files. The helper
 * mounts m or, if l has an address, makes the socket of l.
 */
static void
confine_server(char **file, size_t n, struct mount *m, struct listening *l)
{
	struct confined need = { .in = file, .nin = n, .act = mount_make,
	    .undo = mount_end, .arg = m };
	size_t i;

	if (l->opts->address != NULL) {
		need.act = listen_make;
		need.undo = listen_end;
		need.arg = l;
	}
	for (i = 0; i < n; i++)
		listed |= has_list(file[i]);
	threads_prepare();
	program_confine(&need, m->opts->debug);
}

static int
serve_files(char **file, size_t n, const char *mtpt, struct options *o)
{
	struct mount m = { .name = file[0], .mtpt = mtpt, .opts = o,
	    .reported = &reported };
	struct listening l = { .opts = o };
	struct served sv = { 0 };
	struct origin *origin;
	int rc;

	if (!o->foreground)
		daemon_begin();
	confine_server(file, n, &m, &l);
	sv.tree = must(fstree_new(program_say, NULL));
	origin = n == 1 && sources.moment == NULL ?
	    tree_series(sv.tree, file[0]) : tree_files(sv.tree, file, n);
	sources_check(&sources);
	root_make(&sv.root, origin, input.n);
	sv.status = program_lost() ||
	    (input.whole != NULL && input.whole->broken != NULL);
	rc = o->address != NULL ? listen_serve(&l, &sv) : mount_serve(&m, &sv);
	fstree_free(sv.tree);
	momentset_close(&input);
	free(origin);
	return rc == 0 ? sv.status : rc;
}

/*
 * Return true if word is one of the words in list, which are separated by
 * commas.
 */
static bool
has_option(const char *list, const char *word)
{
	size_t n;

	for (n = strlen(word); list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, word, n) == 0 &&
		    (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

int
main(int argc, char *argv[])
{
	char *mtpt = NULL;
	bool mounts, last;
	int n, rc;

	program_descriptors();
	/* SIGUSR1 asks other programs of snap for their progress */
	signal(SIGUSR1, SIG_IGN);
	argv = options_take(&cmdline, argc, argv);
	options.foreground = options.foreground || options.debug;
	mounts = options.address == NULL;
	last = mounts && mountpoint == NULL;
	n = argc - optind;
	if (n < last || (sources.pick.n + sources.cgroup.n == 0 &&
	    n < 1 + last) || (!mounts && (mountpoint != NULL || options.over ||
	    options.debug || options.opts != NULL)))
		options_misuse(&cmdline);
	if (last) {
		mountpoint = argv[--n];
		argv[n] = NULL;
	}
	sources_operands(&sources, argv, SOURCES_FILES);
	if (has_option(options.opts, "allow_other") && !others_allowed())
		errx(1, "allow_other: not permitted without user_allow_other "
		    "in /etc/fuse.conf");
	if (mounts)
		mtpt = mount_point(mountpoint, options.over);
	sources_capture(&sources);
	if (sources.file.n == 0)
		return 1;
	fuse_set_log_func(fuse_message);
	rc = serve_files(sources.file.v, sources.file.n, mtpt, &options);
	free(options.opts);
	free(mtpt);
	return rc;
}
