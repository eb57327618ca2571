/*
 * Take a snapshot of live processes.
 */
#include "library.h"
#include "snap_capture.h"
#include "vec.h"

struct snap_capture {
	struct liveopts	 opts;
	struct live	*live;	/* owned; NULL until a process is added */
	snap_warn_fn	 warn;
	void		*arg;	/* first argument of warn */
};

/*
 * Pass a warning on to the caller. This is the warn callback of the set of live
 * processes.
 */
static void
capture_warn(void *capture, const char *text)
{
	const struct snap_capture *c = capture;

	if (c->warn != NULL)
		c->warn(c->arg, text);
}

struct snap_capture *
snap_capture_new(snap_warn_fn warn, void *arg)
{
	struct snap_capture *c;

	if ((c = mem_new(1, sizeof *c)) == NULL)
		return NULL;
	*c = (struct snap_capture){ .warn = warn, .arg = arg,
	    .opts = { .out = -1, .clone = true, .perfmaps = true,
	    .warn = capture_warn, .arg = c } };
	return c;
}

int
snap_capture_set(struct snap_capture *c, enum snap_capture_option option,
    uint64_t value)
{
	struct liveopts *o = &c->opts;

	if (c->live != NULL)
		return errstr_set("options must be set before processes "
		    "are added");
	switch (option) {
	case SNAP_DESCENDANTS:
		o->descendants = value != 0;
		return 0;
	case SNAP_RESTORABLE:
		o->restore = value != 0;
		return 0;
	case SNAP_PASSIVE:
		o->no_inject = value != 0;
		o->clone = value == 0;
		return 0;
	case SNAP_DATA_FILES:
		o->datafiles = value != 0;
		return 0;
	case SNAP_TIMEOUT:
		if (value > INT_MAX)
			return errstr_set("timeout: too large");
		o->timeout = (unsigned int)value;
		return 0;
	case SNAP_MEMORY:
		o->memory = value;
		return 0;
	default:
		return errstr_set("no such option");
	}
}

/*
 * Return the set of live processes of c, and create it if it does not exist.
 * Return NULL with errstr set on failure.
 */
static struct live *
capture_live(struct snap_capture *c)
{
	if (c->live == NULL)
		c->live = live_new(&c->opts);
	return c->live;
}

int
snap_capture_pid(struct snap_capture *c, pid_t pid)
{
	struct live *l = capture_live(c);

	return l == NULL ? -1 : live_addpid(l, pid);
}

int
snap_capture_name(struct snap_capture *c, const char *name)
{
	struct live *l = capture_live(c);

	return l == NULL ? -1 : live_addname(l, name);
}

int
snap_capture_cgroup(struct snap_capture *c, const char *group)
{
	struct live *l = capture_live(c);

	return l == NULL ? -1 : live_addcgroup(l, group);
}

/*
 * Make the small files of snap(6) and the Linux record of p. This is the
 * callback of live_take().
 */
static int
take(void *arg, struct proc *p, const struct task *t, const struct file *rec,
    size_t n)
{
	(void)arg;
	if (t != NULL && plan9_files(p, plan9_cputype(), t) == -1)
		return -1;
	return linuxrec_pack(p, plan9_cputype(), rec, n);
}

/*
 * Stop the processes of c and write them as snapshot s to out.
 */
static int
capture_write(struct snap_capture *c, struct snap *s, struct output *out)
{
	struct snap6 *w;
	struct proc *p;
	int rc;

	if (live_stop(c->live) == -1 ||
	    live_take(c->live, s, take, NULL) == -1 ||
	    (w = snap6_begin(out, s->header, capture_warn, c)) == NULL)
		return -1;
	while ((rc = live_next(c->live, &p)) == 1)
		if (snap6_put(w, p) == -1) {
			rc = -1;
			break;
		}
	return snap6_end(w, rc == 0) == -1 ? -1 : rc;
}

int
snap_capture_save(struct snap_capture *c, const char *path, unsigned int flags)
{
	struct output *out = NULL;
	struct snap *s;
	int rc = -1;

	if (c->live == NULL)
		return errstr_set("no process was added");
	if ((s = snap_new()) != NULL &&
	    (s->header = live_header(plan9_cputype())) != NULL &&
	    (out = output_begin(path, flags & SNAP_COMPRESS, NULL)) != NULL) {
		live_output(c->live, output_fd(out));
		rc = capture_write(c, s, out);
	}
	live_thaw(c->live);
	snap_free(s);
	if (rc == -1) {
		output_abort(out);
		return -1;
	}
	return output_commit(out) == -1 ? -1 : live_incomplete(c->live);
}

void
snap_capture_free(struct snap_capture *c)
{
	if (c == NULL)
		return;
	live_free(c->live);
	free(c);
}
