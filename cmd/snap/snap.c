/*
 * snap: take a snapshot of live processes.
 */
#include "at.h"
#include "message.h"
#include "move.h"
#include "note.h"

#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool incomplete;
static struct buf taken;	/* how: the file of that name, */
static bool noted;		/* which the first process has already */
static struct exclude *exclude;	/* secrets that are left out; or NULL */

struct taking {			/* while it lasts: to live_thaw */
	struct snap	*s;
	bool		 told;	/* that there are no registers */
};
static struct progress progress;
static struct choosing choosing;
static struct move move;

static void
say_lost(void *arg, const char *text)
{
	incomplete = true;
	say(arg, text);
}

/*
 * Note how the snapshot was taken, with the first process of it.
 */
static int
take_note(struct proc *p)
{
	static char name[] = "taken";
	struct file f = { name, taken.data, taken.len };

	if (noted || proc_isthread(p))
		return 0;
	noted = true;
	return linuxrec_put(p, &f) == -1 ? -1 : 0;
}

/*
 * Leave secrets out of a process or file that is ready to be written.
 */
static int
take_exclude(const struct taking *k, struct proc *p)
{
	return exclude == NULL ? 0 :
	    exclude_proc(exclude, k->s, p, say_lost, NULL);
}

/*
 * A thread's small files and its Linux record.
 */
static int
take(void *arg, struct proc *p, const struct task *t, const struct file *rec,
    size_t n)
{
	struct taking *k = arg;
	struct buf b = { 0 };

	if (t == NULL)
		return linuxrec_pack(p, plan9_cputype(), rec, n) == -1 ? -1 :
		    take_exclude(k, p);
	if (plan9_files(p, t) == -1 ||
	    linuxrec_pack(p, plan9_cputype(), rec, n) == -1 ||
	    take_note(p) == -1 || take_exclude(k, p) == -1)
		return -1;
	/* without registers, is it because we know none of this machine? */
	if (!k->told && proc_file(p, "regs") == NULL &&
	    plan9_regs(&b, t) == -1) {
		k->told = true;
		say(NULL, snap_errstr());
	}
	buf_free(&b);
	return 0;
}

/*
 * Take all of what is stopped, and check whether it can be restored.
 */
static int
check_live(struct live *l, struct snap *s)
{
	struct proc *p;
	int rc;

	while ((rc = live_next(l, &p)) == 1)
		continue;
	if (rc == -1 || move_check(&move, l, s, say) == -1)
		return -1;
	if (move.dry)
		say(NULL, "all can be restored");
	return 0;
}

/*
 * Write what is taken of snapshot s, each process as soon as it is.
 */
static int
write_taken(struct live *l, struct snap *s, struct output *out)
{
	struct snap6 *w;
	struct proc *p;
	size_t i;
	int rc;

	if ((w = snap6_begin(out, s->header, say_lost, NULL)) == NULL)
		return -1;
	rc = 0;
	if (move.kill)
		for (i = 0; i < s->nproc && rc == 0; i++)
			rc = snap6_put(w, s->proc[i]);
	else
		while ((rc = live_next(l, &p)) == 1)
			if (snap6_put(w, p) == -1) {
				rc = -1;
				break;
			}
	if (rc == 0 && move.kill && incomplete && !move.force)
		rc = errstr_set("nothing is killed: some of the memory is "
		    "missing");
	return snap6_end(w, rc == 0) == -1 ? -1 : rc;
}

/*
 * Take what is stopped and write it; unless that is only tried.
 */
static int
write_live(struct live *l, struct snap *s, struct output *out)
{
	static struct taking k;	/* the taking ends with live_thaw only */

	k.s = s;
	if (live_take(l, s, take, &k) == -1)
		return -1;
	if ((move.kill || move.dry) && check_live(l, s) == -1)
		return -1;
	return move.dry ? 0 : write_taken(l, s, out);
}

/*
 * Return true if the taking failed because a clone was killed, so that it is to
 * be done again without.
 */
static bool
is_again(const struct live *l, const struct liveopts *o)
{
	return o->again && live_lost(l);
}

/*
 * Stop the processes, take the snapshot and write it, let them go, or end them;
 * *out is NULL if it was committed before.
 */
static int
snap_live(struct live *l, struct output **out, const struct liveopts *o)
{
	struct snap *s;
	char *header;
	int rc;

	rc = -1;
	s = snap_new();
	header = live_header(plan9_cputype());
	if (s == NULL || header == NULL ||
	    asprintf(&s->header, "process snapshot %s", header) == -1)
		goto out;
	say_hold();
	noted = false;
	progress_phase(&progress, 0);
	rc = live_stop(l);
	if (rc == 0)
		rc = write_live(l, s, *out);
	if (rc == 0 && o->verbose && move.kill)
		rc = say_totals(s, *out);
	if (rc == 0 && move.kill)
		rc = move_end(l, out);
out:
	live_thaw(l);
	say_kept(rc == -1 && is_again(l, o));
	if (rc == 0 && o->verbose && !move.kill && !move.dry)
		rc = say_totals(s, *out);
	free(header);
	snap_free(s);
	return rc;
}

static int
add(void *arg, pid_t pid, bool found)
{
	(void)found;
	return live_addpid(arg, pid);
}

/*
 * Add the processes that are meant: those of operands, which end in NULL, and
 * of options.
 */
static int
add_all(struct live *l, char *const arg[])
{
	bool operands = *arg != NULL;
	size_t i;

	for (; *arg != NULL; arg++)
		if ((**arg != '\0' && strspn(*arg, "0123456789") !=
		    strlen(*arg) ? live_addname(l, *arg) :
		    choosing_one(&choosing, *arg, add, l)) == -1)
			return -1;
	for (i = 0; i < choosing.n; i++)
		if (live_addcgroup(l, choosing.cgroup[i]) == -1)
			return -1;
	return operands || choosing.n > 0 ? 0 : live_addname(l, NULL);
}

/*
 * Take the processes that the arguments name.  The set is the caller's to
 * free, also where it fails.
 */
static int
snap_named(struct live **l, const struct liveopts *o, struct output **out,
    char *const arg[])
{
	if ((*l = live_new(o)) == NULL)
		return -1;
	if (add_all(*l, arg) == -1)
		return -1;
	return snap_live(*l, out, o);
}

/*
 * The same into a new output of that path, and once more without clones where
 * one of these was killed: all is of one instant again.
 */
static int
snap_output(struct live **l, struct liveopts *o, struct output **out,
    const char *path, bool compress, char *const arg[])
{
	char text[1100];

	o->out = -1;
	if (!move.dry) {
		if ((*out = output_begin(path, compress, &progress)) == NULL ||
		    move_ready(&move, *out) == -1)
			return -1;
		o->out = output_fd(*out);
		o->again = o->clone && output_isnew(*out);
	}
	if (snap_named(l, o, out, arg) == 0)
		return 0;
	if (*l == NULL || !is_again(*l, o))
		return -1;
	snprintf(text, sizeof text, "%s: all are taken again, and stay "
	    "stopped while they are written", snap_errstr());
	say(NULL, text);
	live_free(*l);
	*l = NULL;
	output_abort(*out);
	o->clone = false;
	return snap_output(l, o, out, path, compress, arg);
}

/*
 * To be stopped would keep others stopped.
 */
static void
ignore_stops(void)
{
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

/*
 * Take the processes that arg names, and write them to path: the exit status.
 */
static int
run(struct liveopts *o, const char *path, bool compress, char *const arg[])
{
	struct output *out = NULL;
	struct live *l = NULL;
	int rc;

	program_signals();
	ignore_stops();
	program_files();	/* each mapped file takes one */
	progress_show(&progress, getprogname());
	rc = snap_output(&l, o, &out, path, compress, arg);
	if (rc == -1) {
		progress_hide();
		program_warn("%s", snap_errstr());
		output_abort(out);
		live_free(l);
		return 1;
	}
	rc = out == NULL ? 0 : output_commit(out);
	progress_hide();
	if (rc == -1)
		errx(1, "%s", snap_errstr());
	/* a zombie lacks nothing that moving it takes */
	if (live_incomplete(l) && ((!move.kill && !move.dry) || !live_whole(l)))
		incomplete = true;
	live_free(l);
	return incomplete ? 1 : 0;
}

enum { OPT_AT = OPT_LONG };

static const struct opt opts[] = {
	{ 'a', "all", NULL, "unmodified pages of mapped data files, too" },
	{ 'c', "cgroup", "group",
	    "processes of a unit, container, pod or cgroup" },
	{ 'd', "dry-run", NULL,
	    "tell what cannot be restored, and write nothing" },
	{ 'f', "force", NULL, "kill in spite of what cannot be restored" },
	{ 'k', "kill", NULL,
	    "kill them when all is written, to go on elsewhere" },
	{ 'l', "let-go", NULL, NULL },
	{ 'm', "message", "text", "note why it was taken" },
	{ 'n', "no-inject", NULL, "run nothing in the processes" },
	{ 'o', "output", "file", "write to file, when the snapshot is whole" },
	{ 'r', "descendants", NULL, "all descendants of the processes, too" },
	{ 's', "stop", NULL, "keep them stopped until all is written" },
	{ 't', "timeout", "seconds",
	    "wait so long for file servers, not 5 seconds" },
	{ 'u', "user", "user", "only processes of user; alone: all of them" },
	{ 'v', "verbose", NULL,
	    "tell what was written, and what was stopped how long" },
	{ 'x', "exclude", "what", "leave out secrets, dontdump, "
	    "env=PATTERN, START-END" },
	{ 'z', "compress", NULL, "compress, as gzip(1) does" },
	{ OPT_AT, "at", "time", "take it at that time of day" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Write a snapshot of running processes, all at one instant.",
	.synopsis = (const char *const[]){
		"[-adfklnrsvz] [--at time] [-c group] [-m text] [-o file]",
		"     [-t seconds] [-u user] [-x what] [pid|name ...]",
		NULL
	},
	.opts = opts
};

int
main(int argc, char *argv[])
{
	struct liveopts o = { .clone = true, .warn = say,
	    .progress = &progress };
	const char *bad, *path, *why;
	bool compress;
	time_t at = 0;
	int c;

	program_descriptors();
	path = why = NULL;
	compress = false;
	while ((c = options_next(&cmdline, argc, argv)) != -1)
		switch (c) {
		case 'a':
			o.datafiles = true;
			break;
		case 'c':
			choosing_cgroup(&choosing, optarg);
			break;
		case 'd':
			move.dry = true;
			break;
		case 'f':
			move.force = true;
			break;
		case 'k':
			move.kill = true;
			break;
		case 'l':
			break;
		case 'm':
			if ((why = note_check(optarg)) == NULL)
				errx(2, "-m: %s", snap_errstr());
			break;
		case 'n':
			o.observe = true;
			o.clone = false;
			break;
		case 'o':
			path = program_outfile(argv, c, &cmdline);
			break;
		case 'r':
			o.descendants = true;
			break;
		case 's':
			o.clone = false;
			break;
		case 't':
			o.patience = (unsigned int)strtonum(optarg, 1, 86400,
			    &bad);
			if (bad != NULL)
				errx(2, "-t %s: %s", optarg, bad);
			break;
		case 'u':
			choosing_user(&choosing, optarg);
			o.user = choosing_whose(&choosing);
			break;
		case 'v':
			o.verbose = true;
			break;
		case OPT_AT:
			if ((c = at_parse(&at, optarg)) != 0)
				errx(c == 1 ? 1 : 2, "--at: %s",
				    snap_errstr());
			break;
		case 'x':
			if ((exclude == NULL &&
			    (exclude = exclude_new()) == NULL) ||
			    exclude_add(exclude, optarg) == -1)
				errx(2, "-x %s", snap_errstr());
			o.flags = true;
			break;
		case 'z':
			compress = true;
			break;
		}
	if ((optind == argc && choosing.n == 0 && !choosing.user) ||
	    (move.force && !move.kill))
		options_misuse(&cmdline);
	if (o.observe && (move.dry || (move.kill && !move.force)))
		errx(2, "-n: what was only looked at cannot be restored");
	if (move.kill || move.dry)
		o.clone = false;
	if (at != 0)
		at_wait(at);
	note_make(&taken, argv, why);
	if (buf_check(&taken) == -1)
		errx(1, "%s", snap_errstr());
	return run(&o, path, compress, argv + optind);
}
