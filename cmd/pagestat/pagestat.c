/*
 * pagestat: count how much memory processes use and share, page by page.
 */
#include "pagestat.h"
#include "bisect.h"

#include <err.h>
#include <time.h>
#include <unistd.h>

struct command {
	struct processes procs;
	struct sources	 sources;
	struct usetable	 table;
	struct matrix	 matrix;
	struct table	*list;	/* owned; table of flags */
	struct snap	*snap;	/* owned; NULL: live processes */
	double		 seconds; /* -w: seconds to wait; 0: do not wait */
	bool		 showflags;
	bool		 showmatrix;
	size_t		 shown;
	size_t		 ended;	/* number of processes that were found by name
				   but have ended */
	bool		 hidden; /* some flags cannot be read without
				    privilege */
};

static struct command command;

static const struct opt opts[] = {
	MOMENT_OPTION(command.sources),
	TABLE_OPTIONS(command.table.opts),
	LIVE_OPTIONS,
	{ 'f', "flags", NULL, "count pages by their kernel flags",
	    .flag = &command.showflags },
	{ 'M', "snapshot", "file", "read this snapshot (same as an operand)",
	    .source = sources_file },
	{ 'm', "mappings", NULL, "also print one line per mapping",
	    .flag = &command.table.mappings },
	{ 's', "shared", NULL, "print how much each pair of processes shares",
	    .flag = &command.showmatrix },
	{ 'w', "wait", "seconds", "also count pages touched within this time",
	    .seconds = &command.seconds },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Print how much memory processes use and share.",
	.synopsis = (const char *const[]){
		"[-bjn] [-f | -m | -s] [-o list] [-w seconds] [-c group]",
		"         [-p pid|name] [-u user] [pid|name ...]",
		"[-bjns] [-@ moment] [-o list] [-p pid|name] file | -M file",
		"         [pid|name ...]",
		NULL
	},
	.opts = opts,
	.sources = &command.sources
};

/*
 * Print the error string as a warning, and mark the result as incomplete.
 */
static void
complain(void)
{
	fflush(stdout);
	program_lose(NULL, snap_errstr());
}

/*
 * Return true if process p ended, and another process has its ID.
 */
static bool
is_another(const struct process *p)
{
	return p->began != 0 && proc_began((pid_t)p->pid) != p->began;
}

static bool
has_ended(const struct process *p)
{
	return proc_ended((pid_t)p->pid) || is_another(p);
}

/*
 * Print why process p cannot be shown. However, if p was found by name and has
 * ended, only count it: this is not an error, because p no longer matches the
 * name.
 */
static void
complain_process(struct command *c, const struct process *p)
{
	if (p->named && has_ended(p))
		c->ended++;
	else
		complain();
}

static void
add_number(struct processes *p, uint64_t pid, bool named)
{
	struct process *same;

	if ((same = SEEK(p->v, p->n, x->pid == pid)) != NULL) {
		same->named &= named;
		return;
	}
	MUST_ROOM(p->v, p->n);
	p->v[p->n++] = (struct process){ .pid = pid, .named = named };
}

/*
 * Add process pid to the processes to show. If pid is the ID of a thread, add
 * its process. If there is no such process or thread, the error is printed
 * later, when the process is to be shown.
 */
static int
add_process(void *arg, pid_t pid, bool named)
{
	struct command *c = arg;
	uint64_t num = (uint64_t)pid;
	pid_t leader;

	if ((leader = proc_leader(pid)) != -1)
		num = (uint64_t)leader;
	add_number(&c->procs, num, named);
	return 0;
}

/*
 * Add the processes that -p selects in the snapshot. Without -p, add all
 * processes that have memory.
 */
static void
add_snapped(struct command *c)
{
	const struct proc *p;
	size_t i;

	for (i = 0; i < c->snap->nproc; i++) {
		p = c->snap->proc[i];
		if (sources_wants(&c->sources, c->snap, p) &&
		    (p->mem != NULL || c->sources.pick.n > 0))
			add_number(&c->procs, p->pid, false);
	}
	sources_check(&c->sources);
}

/*
 * Make the kernel forget which pages each process has touched. If this fails
 * for a process, report it with complain_process() and drop the process. Then
 * wait c->seconds seconds while the processes touch pages again. Record when
 * each of them began, because it may end and its ID be used again.
 */
static void
let_pass(struct command *c)
{
	struct timespec ts;
	struct process *p;
	size_t i, n;

	for (i = n = 0; i < c->procs.n; i++) {
		p = &c->procs.v[i];
		p->began = proc_began((pid_t)p->pid);
		if (touched_forget((pid_t)p->pid) == -1)
			complain_process(c, p);
		else
			c->procs.v[n++] = *p;
	}
	if ((c->procs.n = n) == 0)
		return;
	ts.tv_sec = (time_t)c->seconds;
	ts.tv_nsec = (long)((c->seconds - (double)ts.tv_sec) * 1e9);
	while (nanosleep(&ts, &ts) == -1)
		continue;
}

static int
show_sharing(struct command *c, const struct space *sp)
{
	struct pagelist l = { 0 };
	int rc;

	/* space_snap has found this process */
	rc = c->snap == NULL ? pages_live(&l, sp) :
	    pages_snap(&l, snap_process(c->snap, sp->pid)->mem);
	if (rc == 0)
		matrix_add(&c->matrix, sp, &l);
	pagelist_free(&l);
	return rc;
}

static int
show_once(struct command *c, const struct process *p)
{
	struct space sp;
	int rc;

	if (c->snap != NULL)
		rc = space_snap(&sp, c->snap, p->pid);
	else
		rc = space_live(&sp, (pid_t)p->pid, c->seconds == 0);
	if (rc == 0 && is_another(p))
		rc = errstr_set("%ju: it ended before it was read",
		    (uintmax_t)p->pid);
	if (rc == 0 && c->showmatrix)
		rc = show_sharing(c, &sp);
	else if (rc == 0 && c->showflags)
		rc = flags_add(c->list, &c->table.opts, &sp, c->table.flags,
		    &c->hidden);
	else if (rc == 0)
		rc = table_add(&c->table, &sp);
	space_free(&sp);
	return rc;
}

/*
 * Show process p. Reading a live process can fail because the process executes
 * another program at that moment, so try up to TRIES times.
 */
static void
show(struct command *c, const struct process *p)
{
	enum { TRIES = 3 };
	int i, rc;

	rc = show_once(c, p);
	for (i = 1; i < TRIES && rc == -1 && c->snap == NULL &&
	    !has_ended(p); i++)
		rc = show_once(c, p);
	if (rc == -1)
		complain_process(c, p);
	else
		c->shown++;
}

/*
 * Print the table, and warnings about data that cannot be read without
 * privilege.
 */
static void
finish(struct command *c)
{
	if (c->showmatrix && c->matrix.hidden) {
		(void)errstr_set("cannot compare pages: only root "
		    "(CAP_SYS_ADMIN) may see which are the same");
		complain();
	} else if (c->showmatrix)
		matrix_show(&c->matrix, &c->table.opts);
	else if (c->showflags)
		table_print(c->list);
	else
		table_end(&c->table);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	if (c->table.hidden)
		program_warn("PSS is missing: only root (CAP_SYS_ADMIN) may "
		    "see which processes share a page");
	if (c->hidden)
		program_warn("most flags are missing: only root "
		    "(CAP_SYS_ADMIN) may see them");
}

/*
 * Confine the program, and then read the untrusted snapshot.
 */
static void
open_snap(struct command *c)
{
	struct readopts o = { .warn = program_lose, MOMENT_OF(c->sources) };
	struct confined need = { .in = c->sources.file.v, .nin = 1 };

	program_confine(&need, false);
	if ((c->snap = snap_load(need.in[0], &o)) == NULL)
		errx(1, "%s", snap_errstr());
}

int
main(int argc, char *argv[])
{
	struct command *const c = &command;
	bool missed = false;
	size_t i;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	c->table.touched = c->seconds > 0;
	sources_operands(&c->sources, argv, SOURCES_MAPS);
	if (c->sources.file.n > 0) {
		sources_inside(&c->sources);
		c->showmatrix = true;
	}
	if (c->showflags + c->showmatrix + (c->table.mappings ||
	    c->table.touched) > 1 ||
	    c->sources.file.n + sources_live(&c->sources) != 1 ||
	    (c->sources.moment != NULL && c->sources.file.n == 0))
		options_misuse(&cmdline);
	if (c->sources.file.n > 0) {
		open_snap(c);
		add_snapped(c);
	} else
		missed = !sources_each(&c->sources, add_process, c);
	if (!c->showmatrix) {
		c->table.flags = frames_open("kpageflags");
		c->table.counts = frames_open("kpagecount");
	}
	if (c->showflags)
		c->list = flags_begin(&c->table.opts, c->procs.n > 1);
	else if (!c->showmatrix)
		table_begin(&c->table, c->procs.n > 1);
	if (c->table.touched)
		let_pass(c);
	for (i = 0; i < c->procs.n; i++)
		show(c, &c->procs.v[i]);
	if (c->ended > 0 && c->shown == 0 && !missed && !program_lost()) {
		(void)errstr_set("all matching processes have ended");
		complain();
	}
	finish(c);
	return missed || program_lost() ? 1 : 0;
}
