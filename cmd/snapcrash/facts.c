/*
 * Read facts about the crashed process from a snapshot. This is the process
 * that was captured while it dumped core. All data is untrusted.
 */
#include "crash.h"
#include "model.h"

#include <signal.h>

/*
 * Write the name and meaning of signal sig to s, which has room for size bytes.
 */
void
signal_text(unsigned int sig, char *s, size_t size)
{
	const char *name = signal_name(sig);

	if (name == NULL)
		snprintf(s, size, "signal %u", sig);
	else
		snprintf(s, size, "SIG%s (%s)", name, strsignal((int)sig));
}

/*
 * Copy the line called name in record r to word, which has room for size bytes.
 * Replace control characters. If there is no such line, copy "-".
 */
static void
line_get(const struct linuxrec *r, const char *name, char *word, size_t size)
{
	if (!linuxrec_line(r, name, word, size) || *word == '\0')
		strlcpy(word, "-", size);
	text_sanitize(word);
}

/*
 * Return true if process p was dumping core when it was captured.
 */
static bool
proc_fell(struct proc *p)
{
	char line[32];

	return p->embedded == NULL && !proc_isthread(p) &&
	    linuxrec_line(proc_record(p), "observed", line, sizeof line) &&
	    strcmp(line, "it dumps core") == 0;
}

/*
 * Return the process of s that crashed. Of the processes that were dumping
 * core, this is the one whose ID is in the name of c, or else the first one.
 * Return NULL if there is none.
 */
static struct proc *
crashed_find(const struct crash *c, const struct snap *s)
{
	struct proc *first = NULL;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		if (!proc_fell(s->proc[i]))
			continue;
		if (s->proc[i]->pid == c->pid)
			return s->proc[i];
		if (first == NULL)
			first = s->proc[i];
	}
	return first;
}

/*
 * Set the strings of *f from the record of p, the process that crashed.
 */
static void
crashed_get(struct crashed *f, struct proc *p)
{
	const struct linuxrec *r = proc_record(p);

	line_get(r, "comm", f->name, sizeof f->name);
	line_get(r, "exe", f->exe, sizeof f->exe);
	line_get(r, "unit", f->place, sizeof f->place);
	if (strcmp(f->place, "-") == 0)
		line_get(r, "container", f->place, sizeof f->place);
	status_word(p, STATUS_USER, sizeof f->user - 1, f->user);
	f->threads = 1;
}

/*
 * Return the signal that caused the core dump, if thread p received it.
 * Otherwise return 0.
 */
static unsigned int
thread_signal(struct proc *p)
{
	const struct linuxrec *r = proc_record(p);
	struct recfile x;
	char line[16];

	return linuxrec_find(r, "siginfo", &x) &&
	    linuxrec_line(r, "cursig", line, sizeof line) ?
	    (unsigned int)strtoul(line, NULL, 10) : 0;
}

/*
 * Fill in *f from snapshot s of crash c. If no process in s crashed, leave
 * f->pid 0.
 */
static void
facts_find(struct crashed *f, const struct crash *c, struct snap *s)
{
	struct proc *p;
	const size_t *at;
	size_t i, n;

	if ((p = crashed_find(c, s)) == NULL)
		return;
	crashed_get(f, p);
	/* memory left out because of MADV_DONTDUMP has another reason */
	for (i = 0; p->mem != NULL && i < p->mem->nmissing; i++)
		if (strcmp(p->mem->missing[i].reason, "excluded") == 0)
			f->missing += p->mem->missing[i].end -
			    p->mem->missing[i].start;
	f->pid = p->pid;
	f->signal = thread_signal(p);
	for (i = 0; i < s->nproc; i++)
		f->others += s->proc[i]->embedded == NULL &&
		    !proc_isthread(s->proc[i]) && s->proc[i] != p;
	if (snap_threads(s, f->pid, &at, &n) == -1)
		return;
	for (i = 0; i < n; i++) {
		if (!proc_isthread(s->proc[at[i]]))
			continue;
		f->threads++;
		if (f->signal == 0)
			f->signal = thread_signal(s->proc[at[i]]);
	}
}

/*
 * Confine this program to reading the snapshots of the n crashes at c, whose
 * contents are untrusted. Exit with status 1 on failure.
 */
void
crashes_confine(const struct crash *c, size_t n)
{
	struct confined need = { 0 };
	char **files;
	size_t i;

	files = must(calloc(n + 1, sizeof *files));
	for (i = 0; i < n; i++)
		files[i] = c[i].file;
	need.in = files;
	need.nin = n;
	program_confine(&need, false);
	free(files);
}

/*
 * Read the facts of the snapshot of crash c into c->facts. Return 0, or -1
 * with errstr set.
 */
int
crash_facts(struct crash *c)
{
	const struct readopts o = { .nodata = true, .brief = true };
	struct snap *s;

	if ((s = snap_load(c->file, &o)) == NULL)
		return -1;
	c->facts = must(calloc(1, sizeof *c->facts));
	facts_find(c->facts, c, s);
	snap_free(s);
	if (c->facts->pid != 0) {
		signal_text(c->facts->signal, c->facts->reason,
		    sizeof c->facts->reason);
		return 0;
	}
	free(c->facts);
	c->facts = NULL;
	return errstr_set("%s: contains no crashed process", c->file);
}
