/*
 * What a snapshot tells of what crashed: that process of it which was taken as
 * it dumped core.  All of it may be a stranger's.
 */
#include "crash.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SECONDS = 60 };

/*
 * Name a signal, and say what it means.
 */
void
signal_text(unsigned int sig, char *s, size_t size)
{
	if (*signal_name(sig) == '-')
		snprintf(s, size, "signal %u", sig);
	else
		snprintf(s, size, "SIG%s (%s)", signal_name(sig),
		    strsignal((int)sig));
}

/*
 * Set word to a line of a record, harmless; "-" where there is none.
 */
static void
line_get(const struct linuxrec *r, const char *name, char *word, size_t size)
{
	if (!linuxrec_line(r, name, word, size) || *word == '\0')
		strlcpy(word, "-", size);
	text_harmless(word);
}

/*
 * Set *f to what the record of a process tells, if it dumped core: true.
 */
static bool
crashed_get(struct crashed *f, const struct proc *p)
{
	char line[64];
	struct recfile x;
	struct linuxrec r;
	bool is;

	if (linuxrec_open(&r, proc_file(p, "proc")) != 0)
		return false;
	is = linuxrec_line(&r, "observed", line, sizeof line) &&
	    strcmp(line, "it dumps core") == 0;
	if (is) {
		f->pid = p->pid;
		line_get(&r, "comm", f->name, sizeof f->name);
		line_get(&r, "exe", f->exe, sizeof f->exe);
		line_get(&r, "unit", f->place, sizeof f->place);
		if (strcmp(f->place, "-") == 0)
			line_get(&r, "container", f->place, sizeof f->place);
		status_word(p, STATUS_USER, sizeof f->user - 1, f->user);
		f->lacks = linuxrec_find(&r, "excluded", &x);
		f->threads = 1;
	}
	linuxrec_close(&r);
	return is;
}

/*
 * Return the signal that a thread of the snapshot got last, if it was what the
 * core was dumped for; 0 if it was not.
 */
static unsigned int
thread_signal(const struct proc *p)
{
	struct linuxrec r;
	struct recfile x;
	unsigned int sig;
	char line[16];

	sig = 0;
	if (linuxrec_open(&r, proc_file(p, "proc")) != 0)
		return 0;
	if (linuxrec_find(&r, "siginfo", &x) &&
	    linuxrec_line(&r, "cursig", line, sizeof line))
		sig = (unsigned int)strtoul(line, NULL, 10);
	linuxrec_close(&r);
	return sig;
}

/*
 * Find in a snapshot what crashed.
 */
static void
facts_find(struct crashed *f, struct snap *s)
{
	const size_t *at;
	unsigned int sig;
	size_t i, n;

	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried != NULL || proc_isthread(s->proc[i]))
			continue;
		if (f->pid == 0 && crashed_get(f, s->proc[i])) {
			f->signal = thread_signal(s->proc[i]);
			f->tid = f->pid;
		} else
			f->others++;
	}
	if (f->pid == 0 || snap_threads(s, f->pid, &at, &n) == -1)
		return;
	for (i = 0; i < n; i++) {
		if (!proc_isthread(s->proc[at[i]]))
			continue;
		f->threads++;
		if (f->signal == 0 && (sig = thread_signal(s->proc[at[i]]))) {
			f->signal = sig;
			f->tid = s->proc[at[i]]->pid;
		}
	}
}

/*
 * Read what the snapshot of a crash tells.  Return 0, or -1 with errstr.
 */
int
crash_facts(struct crash *c)
{
	const struct readopts o = { .nodata = true, .brief = true };
	struct snap *s;

	if (c->facts != NULL)
		return 0;
	if ((s = snap_open(c->file, &o)) == NULL)
		return -1;
	if ((c->facts = calloc(1, sizeof *c->facts)) == NULL)
		err(1, NULL);
	facts_find(c->facts, s);
	snap_free(s);
	if (c->facts->pid != 0) {
		signal_text(c->facts->signal, c->facts->reason,
		    sizeof c->facts->reason);
		return 0;
	}
	free(c->facts);
	c->facts = NULL;
	return errstr_set("%s: nothing in it crashed", c->file);
}

/*
 * Learn from the snapshot in a file which thread of a process fell, and of what
 * signal, if the kernel did not tell.  Who reads it can do nothing else.
 */
void
falling_read(struct falling *f, int file)
{
	const struct readopts o = { .nodata = true, .brief = true };
	const struct confined need = { 0 };
	struct crashed c = { 0 };
	struct snap *s;
	uint64_t said[2];
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1)
		return;
	if ((pid = fork()) == 0) {
		reader_become();
		if (dup2(file, STDIN_FILENO) == -1 ||
		    lseek(STDIN_FILENO, 0, SEEK_SET) == -1)
			_exit(1);
		program_confine(&need, false);
		if ((s = snap_open("-", &o)) == NULL)
			_exit(1);
		facts_find(&c, s);
		said[0] = c.tid;
		said[1] = c.signal;
		_exit(write(fd[1], said, sizeof said) != sizeof said);
	}
	close(fd[1]);
	if (pid != -1 && program_wait(pid, READ_SECONDS) == 0 &&
	    read(fd[0], said, sizeof said) == sizeof said && said[0] > 0 &&
	    said[0] <= INT_MAX) {
		f->tid = (pid_t)said[0];
		if (f->signal == 0 && said[1] < NSIG)
			f->signal = (int)said[1];
	}
	close(fd[0]);
}
