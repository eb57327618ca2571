/*
 * What a snapshot tells of what crashed: that process of it which was taken as
 * it dumped core.  All of it may be a stranger's.
 */
#include "crash.h"
#include "signame.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SECONDS = 60 };

/*
 * Put the name of signal sig, and what it means, into s, of size bytes.
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
 * A process of a snapshot that dumped core, which may have several.
 */
struct fell {
	const struct proc *p;
	uint64_t	 pid;	/* that it had */
	uint64_t	 part;	/* of the snapshot */
	uint64_t	 time;	/* it was taken */
};

/*
 * Set *o to what the record of a process tells of that, if it dumped core:
 * true.  Set part of any.
 */
static bool
fell_get(struct fell *o, const struct snap *s, const struct proc *p)
{
	struct header h;
	struct linuxrec r;
	char line[512];
	bool is;

	*o = (struct fell){ .p = p, .pid = p->pid };
	if (linuxrec_open(&r, proc_file(p, "proc")) != 0)
		return false;
	header_parse(&h, s->header);
	o->time = h.timed ? h.time : 0;
	if (linuxrec_line(&r, "origin", line, sizeof line))
		(void)sscanf(line, "%" SCNu64 " %" SCNu64, &o->pid, &o->time);
	if (linuxrec_line(&r, "part", line, sizeof line))
		o->part = strtoull(line, NULL, 10);
	is = linuxrec_line(&r, "observed", line, sizeof line) &&
	    strcmp(line, "it dumps core") == 0;
	linuxrec_close(&r);
	return is;
}

/*
 * Find in a snapshot what crashed: of several, that with the number and time
 * that the crash is named after.  Return false if there is none.
 */
static bool
fell_find(struct fell *o, const struct crash *c, const struct snap *s)
{
	const uint64_t pid = crash_pid(c);
	const uint64_t when = (uint64_t)c->when.tv_sec;
	uint64_t far, least = UINT64_MAX;
	struct fell f;
	size_t i;

	o->p = NULL;
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried != NULL ||
		    proc_isthread(s->proc[i]) || !fell_get(&f, s, s->proc[i]))
			continue;
		far = f.time > when ? f.time - when : when - f.time;
		if (f.pid != pid)
			far |= (uint64_t)1 << 63;
		if (o->p == NULL || far < least) {
			least = far;
			*o = f;
		}
	}
	return o->p != NULL;
}

/*
 * Set *part to the part of snapshot s that crash c is.  Return 0, or -1 with
 * errstr.
 */
int
crash_part(const struct crash *c, const struct snap *s, uint64_t *part)
{
	struct fell f;

	if (!fell_find(&f, c, s) || (c->links > 1 && f.pid != crash_pid(c)))
		return errstr_set("it is not in %s", c->file);
	*part = f.part;
	return 0;
}

/*
 * Set *f to what the record of the process tells that crashed.
 */
static void
crashed_get(struct crashed *f, const struct proc *p)
{
	struct linuxrec r;

	if (linuxrec_open(&r, proc_file(p, "proc")) != 0)
		return;
	line_get(&r, "comm", f->name, sizeof f->name);
	line_get(&r, "exe", f->exe, sizeof f->exe);
	line_get(&r, "unit", f->place, sizeof f->place);
	if (strcmp(f->place, "-") == 0)
		line_get(&r, "container", f->place, sizeof f->place);
	status_word(p, STATUS_USER, sizeof f->user - 1, f->user);
	f->threads = 1;
	linuxrec_close(&r);
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
 * Set *f to what a snapshot tells of what crashed; pid stays 0 if that is not
 * there.
 */
static void
facts_find(struct crashed *f, const struct crash *c, struct snap *s)
{
	struct fell who, k;
	const size_t *at;
	unsigned int sig;
	size_t i, n;

	if (!fell_find(&who, c, s))
		return;
	crashed_get(f, who.p);
	/* memory that a program wants to be in no core has another reason */
	for (i = 0; who.p->mem != NULL && i < who.p->mem->nmissing; i++)
		if (strcmp(who.p->mem->missing[i].reason, "excluded") == 0)
			f->missing += who.p->mem->missing[i].end -
			    who.p->mem->missing[i].start;
	f->pid = who.pid;
	f->number = who.p->pid;
	f->tid = f->pid;
	f->signal = thread_signal(who.p);
	for (i = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried != NULL || proc_isthread(s->proc[i]) ||
		    s->proc[i] == who.p)
			continue;
		(void)fell_get(&k, s, s->proc[i]);
		f->others += k.part == who.part;
		f->joined |= k.part != who.part;
	}
	if (snap_threads(s, f->number, &at, &n) == -1)
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
 * Do nothing from here on but read the snapshots of the n crashes at c: they
 * hold what strangers want.  Exit with 1 if that cannot be.
 */
void
crashes_confine(const struct crash *c, size_t n)
{
	struct confined need = { 0 };
	char **files;
	size_t i;

	if ((files = calloc(n + 1, sizeof *files)) == NULL)
		err(1, NULL);
	for (i = 0; i < n; i++)
		files[i] = c[i].file;
	need.in = files;
	need.nin = n;
	program_confine(&need, false);
	free(files);
}

/*
 * Read what the snapshot of crash c tells, into c->facts.  Return 0, or -1 with
 * errstr.
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
	facts_find(c->facts, c, s);
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
 * Learn from the snapshot that is open as file which thread of f fell, and of
 * what signal, if the kernel did not tell.  Who reads it can do nothing else.
 */
void
falling_read(struct falling *f, int file)
{
	const struct readopts o = { .nodata = true, .brief = true };
	const struct confined need = { 0 };
	const struct crash named = { .id = f->id };
	struct crashed c = { 0 };
	const pid_t self = getpid();
	struct snap *s;
	uint64_t said[2];
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1)
		return;
	if ((pid = fork()) == 0) {
		reader_become();
		program_tie(self);
		if (dup2(file, STDIN_FILENO) == -1 ||
		    lseek(STDIN_FILENO, 0, SEEK_SET) == -1)
			_exit(1);
		program_confine(&need, false);
		if ((s = snap_open("-", &o)) == NULL)
			_exit(1);
		facts_find(&c, &named, s);
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
