/*
 * procmap: show the address spaces of processes, live or in a snapshot.
 */
#include "procmap.h"
#include "bisect.h"

#include <err.h>
#include <unistd.h>

enum { SNAPS = 2 }; /* maximum number of snapshots; two are compared */

struct command {
	struct options	 opts;
	struct sources	 sources;
	struct snap	*snap[SNAPS]; /* owned; NULL: live processes */
	size_t		 nsnap;
	uint64_t	*pid;	/* owned; process IDs to show */
	size_t		 npid;
	struct space	*space;	/* owned; address spaces that were read */
	size_t		 nspace;
	struct slots	 total;
	char		 title[256]; /* title of the picture */
	bool		 failed;
};

static struct command command = { .sources.kernel = true };

/*
 * Handle the option with this letter, which is P or selects a style.
 */
static void
parse(int letter, char *arg)
{
	static const char styles[] = "mldsaxr"; /* option letters, in the order
						   of enum style */
	static char self[16];

	if (letter == 'P') {
		snprintf(self, sizeof self, "%d", getpid());
		sources_pick(&command.sources, self);
	} else
		command.opts.styles |= 1U << (strchr(styles, letter) - styles);
	(void)arg;
}

static const struct opt opts[] = {
	MOMENT_OPTION(command.sources),
	LIVE_OPTIONS,
	{ 'A', "amap", NULL, "print how many anonymous pages each mapping has",
	    .flag = &command.opts.amap },
	{ 'a', "all", NULL, "print one line per mapping (default)",
	    .call = parse },
	{ 'D', "uvm", "number",
	    "print OpenBSD UVM structures: 1, 2, 8 or any sum",
	    .number = &command.opts.debug, 0, DEBUG_ALL },
	{ 'd', "ddb", NULL,
	    "print in the style of OpenBSD's ddb(4)", .call = parse },
	{ 'e', "everything", NULL, "with -g and two files: also draw "
	    "unchanged mappings", .flag = &command.opts.everything },
	{ 'g', "picture", "file.svg", "draw a picture; with two files, of the "
	    "changes", .outfile = &command.opts.picture },
	{ 'J', "json", NULL, NULL, .flag = &command.opts.json },
	{ 'j', "json", NULL, "print JSON, one object per mapping",
	    .flag = &command.opts.json },
	{ 'l', "linux", NULL,
	    "print in the style of /proc/PID/maps", .call = parse },
	{ 'M', "snapshot", "file", "read this snapshot (same as an operand)",
	    .source = sources_file },
	{ 'm', "map", NULL, "print in the style of UVM's map", .call = parse },
	{ 'N', "system", "file", NULL, .flag = NULL },
	{ 'P', "self", NULL, "show procmap itself", .call = parse },
	{ 'r', "reserved", NULL, "print how far the heap and stack can grow",
	    .call = parse },
	{ 's', "solaris", NULL,
	    "print in the style of Solaris", .call = parse },
	{ 'v', "verbose", NULL, "print more in styles -a, -m and -d",
	    .flag = &command.opts.verbose },
	{ 'x', "resident", NULL, "print resident, shared and private sizes",
	    .call = parse },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Show the mappings of processes and their memory.",
	.synopsis = (const char *const[]){
		"[-AadejlmPrsvx] [-@ moment] [-c group] [-D number] "
		    "[-g picture]",
		"        [-M file] [-N system] [-p pid|name] [-u user]",
		"        [file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &command.sources,
	.ordered = true
};

/*
 * Open the snapshots. Read their pages only if two are compared. Report missing
 * pages only if a picture is drawn.
 */
static void
open_snaps(struct command *c)
{
	char *const *path = c->sources.file.v;
	struct readopts o = { .nodata = c->nsnap < SNAPS,
	    .warn = c->opts.picture != NULL ? program_say : NULL,
	    MOMENT_OF(c->sources) };
	size_t i;

	for (i = 0; i < c->nsnap; i++) {
		c->snap[i] = snap_load(path[i], &o);
		if (c->snap[i] == NULL)
			errx(1, "%s", snap_errstr());
		strlcat(c->title, i == 0 ? "" : " to ", sizeof c->title);
		strlcat(c->title, path[i], sizeof c->title);
	}
}

static void
pid_add(struct command *c, uint64_t pid)
{
	MUST_ROOM(c->pid, c->npid);
	c->pid[c->npid++] = pid;
}

/*
 * Add live process pid. If found is true, the process was found by name or by
 * cgroup: do not add it again if it was added before.
 */
static int
pid_found(void *arg, pid_t pid, bool found)
{
	struct command *c = arg;

	if (!found || SEEK(c->pid, c->npid, *x == (uint64_t)pid) == NULL)
		pid_add(c, (uint64_t)pid);
	return 0;
}

/*
 * Return true if p is a process with mappings, even if its memory was not
 * captured.
 */
static bool
has_map(const struct proc *p)
{
	struct vmas l = { 0 };
	bool any;

	if (p->embedded != NULL || proc_isthread(p))
		return false;
	any = p->mem != NULL || (proc_vmas(p, &l) == 0 && l.n > 0);
	vmas_free(&l);
	return any;
}

/*
 * Add all processes of snapshot s that have mappings. If other, a snapshot, is
 * not NULL, leave out the processes that are also in other.
 */
static void
pid_addall(struct command *c, const struct snap *s, struct snap *other)
{
	const struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (has_map(p) && (other == NULL ||
		    snap_find(other, p->pid) == NULL))
			pid_add(c, p->pid);
	}
}

static int
space_get(struct command *c, uint64_t pid, struct space *sp)
{
	int rc;

	if (c->nsnap == SNAPS) {
		rc = space_snap(sp, c->snap[1], pid);
		if (rc == -1 && sp->gone) {
			space_free(sp);
			rc = space_snap(sp, c->snap[0], pid);
		}
		return rc;
	}
	if (c->nsnap > 0)
		return space_snap(sp, c->snap[0], pid);
	return pid == 0 ? space_kernel(sp) : space_live(sp, (pid_t)pid, false);
}

/*
 * Print why the address space of a process could not be read.
 */
static void
space_fail(struct command *c, const struct space *sp)
{
	c->failed = true;
	fflush(stdout);
	if (!sp->denied)
		program_warn("%s", snap_errstr());
	else if (geteuid() != 0)
		program_warn("kernel map is restricted");
	else
		program_warn("kernel map is restricted: %s", snap_errstr());
}

static void
show_process(struct command *c, uint64_t pid)
{
	struct space sp;
	bool text;
	int rc;

	text = c->opts.styles != 0 || c->opts.debug != 0;
	rc = space_get(c, pid, &sp);
	if (text && c->npid > 1 && !sp.gone) {
		if (pid == 0)
			printf("kernel:\n");
		else
			printf("process %ju:\n", (uintmax_t)pid);
	}
	if (rc == -1) {
		space_fail(c, &sp);
		space_free(&sp);
		return;
	}
	if (sp.moving) {
		fflush(stdout);
		program_warn("%ju: mappings changed while they were read",
		    (uintmax_t)pid);
	}
	if (text || c->opts.json)
		space_print(&sp, &c->opts, &c->total);
	c->space[c->nspace++] = sp;
}

static void
make_picture(struct command *c)
{
	struct album a = { .everything = c->opts.everything };
	int rc;

	if (c->nspace == 0) {
		program_warn("no mappings to draw");
		c->failed = true;
		return;
	}
	program_signals();
	if (c->nsnap == 0)
		strlcpy(c->title, "live processes", sizeof c->title);
	if (c->nsnap == SNAPS)
		rc = album_compare(&a, c->snap[0], c->snap[1], c->space,
		    c->nspace);
	else if (c->nsnap > 0)
		rc = album_snap(&a, c->snap[0], c->space, c->nspace);
	else
		rc = album_live(&a, c->space, c->nspace);
	c->failed = c->failed || rc == 1;
	if (rc == -1 || picture_write(&a, c->title, c->opts.picture) == -1) {
		program_warn("%s", snap_errstr());
		c->failed = true;
	}
	album_free(&a);
}

/*
 * Add the processes that word selects in the snapshots. If word is a process
 * ID, add this ID even if no process has it. If word is a name, add all
 * processes with that name.
 */
static void
pid_pick(struct command *c, const char *word)
{
	const size_t before = c->npid;
	struct snap *s;
	size_t i, k;

	if (program_isnumber(word)) {
		pid_add(c, options_number('p', word, 0, INT32_MAX));
		return;
	}
	for (k = c->nsnap; k-- > 0;)
		for (s = c->snap[k], i = 0; i < s->nproc; i++)
			if (has_map(s->proc[i]) && source_is(word, s,
			    s->proc[i]))
				(void)pid_found(c, (pid_t)s->proc[i]->pid,
				    true);
	if (c->npid == before) {
		program_warn("no process %s in the snapshot", word);
		c->failed = true;
	}
}

/*
 * Choose the processes to show: those that the user named. If there are none,
 * choose all processes with mappings in the snapshots or, without a snapshot,
 * the parent process.
 */
static void
choose(struct command *c)
{
	size_t i;

	for (i = 0; i < c->sources.pick.n; i++)
		pid_pick(c, c->sources.pick.v[i]);
	if (!sources_each(&c->sources, pid_found, c))
		c->failed = true;
	if (c->npid == 0 && c->nsnap > 0 && !c->failed) {
		pid_addall(c, c->snap[c->nsnap - 1], NULL);
		if (c->nsnap == SNAPS && (c->npid != 1 || pid_before(c->snap[0],
		    c->snap[1], c->pid[0]) == c->pid[0]))
			pid_addall(c, c->snap[0], c->snap[1]);
		if (c->npid == 0)
			errx(1, "no process in the snapshot has mappings");
	} else if (c->npid == 0 && !c->failed)
		pid_add(c, (uint64_t)getppid());
	c->space = must(mem_new(c->npid, sizeof *c->space));
}

static void
finish(struct command *c)
{
	if (c->opts.amap)
		printf("total amap mapped slots: %ju\ntotal amap used slots: "
		    "%ju\n", (uintmax_t)c->total.mapped,
		    (uintmax_t)c->total.used);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	if (c->opts.picture != NULL)
		make_picture(c);
}

int
main(int argc, char *argv[])
{
	struct command *const c = &command;
	size_t i;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	sources_operands(&c->sources, argv, SOURCES_MAPS);
	if ((c->nsnap = c->sources.file.n) > SNAPS)
		options_misuse(&cmdline);
	if (c->nsnap > 0)
		sources_inside(&c->sources);
	if (c->nsnap == SNAPS && c->opts.picture == NULL)
		errx(2, "comparing two files requires -g");
	if (c->nsnap == 0 && c->sources.moment != NULL)
		errx(2, "-@ requires a snapshot (-M)");
	if (c->nsnap > 0 && sources_live(&c->sources))
		options_misuse(&cmdline);
	if (c->nsnap < SNAPS && c->opts.everything)
		errx(2, "-e requires two files to compare");
	if (c->opts.json && (c->opts.amap || c->opts.styles != 0 ||
	    c->opts.debug != 0))
		options_misuse(&cmdline);
	if (!c->opts.json && (c->opts.amap ?
	    (c->opts.styles & STYLE_LINES) == 0 :
	    c->opts.styles == 0 && c->opts.picture == NULL))
		c->opts.styles |= STYLE_ALL;
	if (c->nsnap > 0)
		program_confine(&(struct confined){ .in = c->sources.file.v,
		    .nin = c->nsnap, .out = c->opts.picture },
		    c->opts.verbose);
	open_snaps(c);
	choose(c);
	for (i = 0; i < c->npid; i++)
		show_process(c, c->pid[i]);
	finish(c);
	return c->failed ? 1 : 0;
}
