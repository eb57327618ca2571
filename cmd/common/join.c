/*
 * Write one snapshot from any number of inputs: snapcat, and the same for
 * snapcore -r and snapload -u.
 */
#include "common.h"
#include "model.h"

static struct progress progress;

/*
 * Return 1 if p is not an early copy. This is a snap_want function.
 */
static int
is_final(void *arg, struct snap *s, struct proc *p)
{
	(void)arg;
	(void)s;
	return !proc_isearly(p);
}

/*
 * Read the snapshot in a file. If it is the stream of a move, remove the early
 * copies from it. Return the snapshot, or NULL with errstr set.
 */
static struct snap *
final_load(const char *file, const struct readopts *o)
{
	bool live = false, early = false;
	struct snap *s;
	size_t i;

	if ((s = snap_load(file, o)) == NULL)
		return NULL;
	for (i = 0; i < s->nproc; i++) {
		live |= proc_file(s->proc[i], "proc") != NULL;
		early |= proc_isearly(s->proc[i]);
	}
	return live && early ? snap_keep(s, is_final, NULL) : s;
}

/*
 * Read the input files of j into one snapshot and keep only the processes
 * selected with -p. Return the snapshot, or NULL with errstr set.
 */
static struct snap *
join_read(const struct joining *j)
{
	const struct readopts o = { .exe = j->exe, .salvage = j->salvage,
	    MOMENT_OF(*j->from),
	    .warn = program_lose, .progress = &progress };
	const struct words *file = &j->from->file;
	struct snap *s, *t;
	size_t i;
	int rc;

	if ((s = final_load(file->v[0], &o)) == NULL)
		return NULL;
	for (i = 1, rc = 0; i < file->n && rc == 0; i++) {
		if ((t = final_load(file->v[i], &o)) == NULL)
			rc = -1;
		else if ((rc = snap_merge(s, t)) == -1)
			errstr_wrap("%s", file->v[i]);
		snap_free(t);
	}
	if (rc == 0 && (s = sources_keep(j->from, s)) != NULL) {
		sources_check(j->from);
		if (j->exclude != NULL)
			rc = exclude_snap(j->exclude, s, program_lose, NULL);
	}
	if (rc == 0)
		return s;
	snap_free(s);
	return NULL;
}

/*
 * Print the files that process p maps but snapshot s lacks: files that are
 * missing from this machine or have changed. p must come from a core or from
 * CRIU images. Debuggers will lack these files.
 */
static void
say_absent(struct snap *s, struct proc *p)
{
	struct vmas l = { 0 };
	char exe[PATH_MAX] = "";
	const char *last;
	size_t i;

	(void)linuxrec_line(proc_record(p), "exe", exe, sizeof exe);
	if (proc_vmas(p, &l) == -1)
		program_warn("process %" PRIu64 ": %s", p->pid, snap_errstr());
	for (i = 0, last = ""; i < l.n; last = l.v[i++].name)
		if (*l.v[i].name == '/' && l.v[i].ino == 0 &&
		    strcmp(l.v[i].name, last) != 0 &&
		    mapped_file(s, p, exe, &l.v[i]) == NULL)
			program_warn("process %" PRIu64 ": file missing or "
			    "changed: %s", p->pid, l.v[i].name);
	vmas_free(&l);
}

/*
 * Write one snapshot of all inputs of j. Return 0, or -1 with errstr set.
 */
static int
join_write(const struct joining *j)
{
	char text[240], plan9[240];
	struct output *out;
	struct snap *s;
	size_t i;
	bool many;

	s = NULL;
	if ((out = output_begin(j->path, j->compress, &progress)) == NULL ||
	    (s = join_read(j)) == NULL ||
	    snap6_write(s, out, program_lose, NULL) == -1 ||
	    output_end(out) == -1) {
		output_abort(out);
		snap_free(s);
		return -1;
	}
	totals_text(s, out, text, sizeof text);
	many = totals_plan9(s, plan9, sizeof plan9);
	for (i = 0; j->verbose && i < s->nproc; i++)
		say_absent(s, s->proc[i]);
	snap_free(s);
	if (output_commit(out) == -1)
		return -1;
	progress_hide();
	if (j->verbose)
		program_warn("%s", text);
	if (j->verbose && many)
		program_warn("%s", plan9);
	return 0;
}

/*
 * Write one snapshot of all inputs of j. First confine this program to these
 * inputs and the output. Print what is missing from the snapshot. Return the
 * exit status of the program.
 */
int
join_run(const struct joining *j)
{
	const struct confined need = { .in = j->from->file.v,
	    .nin = j->from->file.n, .out = j->path };
	int rc;

	program_signals();
	program_confine(&need, j->verbose);
	progress_show(&progress);
	rc = need.nin == 0 ? 0 : join_write(j);
	progress_hide();
	if (rc == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && !program_lost() ? 0 : 1;
}
