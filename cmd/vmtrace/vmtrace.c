/*
 * vmtrace: page faults and changes of mappings, as they happen.
 */
#include "vmtrace.h"
#include "linux/live.h"

#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 50 };		/* what happens is told this late at most */

struct command {		/* one that we start */
	pid_t	 pid;		/* 0: none */
	int	 go;		/* it starts when this is closed */
	int	 why;		/* errno comes from here, if it does not */
};

static volatile sig_atomic_t ended;

static void __attribute__((noreturn))
usage(void)
{
	fprintf(stderr, "usage: vmtrace [-cks] [-n count] [-t seconds] "
	    "pid ... | command [arg ...]\n");
	exit(2);
}

static void
on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/*
 * From here on, signals come only while we wait; those that are ignored
 * stay so.  Returns the mask for that time.
 */
static void
signals_begin(sigset_t *wait)
{
	static const int sig[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t block;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		if (signal(sig[i], SIG_IGN) != SIG_IGN) {
			sigaction(sig[i], &sa, NULL);
			sigaddset(&block, sig[i]);
		}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, wait);
	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		sigdelset(wait, sig[i]);
}

static void
parse_count(struct options *o, const char *s)
{
	const char *why;

	o->count = (uint64_t)strtonum(s, 1, LLONG_MAX, &why);
	if (why != NULL)
		errx(2, "-n %s: %s", s, why);
}

static void
parse_seconds(struct options *o, const char *s)
{
	double v;
	char *end;

	v = strtod(s, &end);
	if (end == s || *end != '\0' || !isfinite(v) || v <= 0 || v > 1e9)
		errx(2, "-t %s: not a number of seconds", s);
	o->ns = (uint64_t)(v * 1e9);
}

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/*
 * Start a command as far as to where it waits for us; if we die, it does not
 * start at all.
 */
static void
command_begin(struct command *c, char **argv)
{
	int go[2], why[2], e;
	char ch;

	if (pipe2(go, O_CLOEXEC) == -1 || pipe2(why, O_CLOEXEC) == -1)
		err(1, "pipe");
	if ((c->pid = fork()) == -1)
		err(1, "fork");
	if (c->pid == 0) {
		close(go[1]);
		if (read(go[0], &ch, 1) != 1)
			_exit(1);
		execvp(argv[0], argv);
		e = errno;
		(void)!write(why[1], &e, sizeof e);
		_exit(127);
	}
	close(go[0]);
	close(why[1]);
	c->go = go[1];
	c->why = why[0];
}

/*
 * Let a command start; an error if there is none.
 */
static void
command_go(struct command *c, const char *name)
{
	int e;

	if (write(c->go, "", 1) != 1)
		err(1, "%s", name);
	close(c->go);
	if (read(c->why, &e, sizeof e) == sizeof e) {
		(void)waitpid(c->pid, NULL, 0);
		errx(1, "%s: %s", name, strerror(e));
	}
	close(c->why);
}

/*
 * Say how a command ended, if it has and not well.
 */
static void
command_end(const struct command *c, const char *name)
{
	int status;

	if (c->pid == 0 || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	if (WIFSIGNALED(status))
		warnx("%s: killed by signal %d (%s)", name, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		warnx("%s: exit status %d", name, WEXITSTATUS(status));
}

/*
 * Why a process has nothing to trace, or NULL.
 */
static const char *
unfit(pid_t pid)
{
	struct task t;

	if (proc_stat(pid, 0, &t) == -1)
		return "No such process";
	if (t.kernel)
		return "a thread of the kernel has no page faults";
	if (t.state == 'Z' || t.state == 'X')
		return "a zombie has no page faults";
	return NULL;
}

/*
 * Trace the processes that are named: how many there are.
 */
static size_t
processes_add(struct tracer *t, struct stream *s, char **argv, bool *failed)
{
	const char *why;
	struct process *p;
	long long pid;
	size_t n;

	for (n = 0; *argv != NULL; argv++) {
		pid = strtonum(*argv, 1, INT_MAX, &why);
		if (why == NULL)
			why = unfit((pid_t)pid);
		else
			why = "No such process";
		if (why == NULL && tracer_addprocess(t, (pid_t)pid) == -1) {
			why = snap_errstr();
			if (errno == ESRCH)
				why = "No such process";
			else if (errno == EACCES || errno == EPERM)
				why = "it is not ours to trace";
		}
		if (why != NULL) {
			warnx("%s: %s", *argv, why);
			*failed = true;
			continue;
		}
		n++;
		p = process_new(&s->tasks, (pid_t)pid);
		if (p == NULL || process_read(p) == -1)
			warnx("%s: mappings have no names", snap_errstr());
	}
	return n;
}

/*
 * Tell of what happens until it is over.
 */
static int
trace(struct tracer *t, struct stream *s, const sigset_t *mask)
{
	const struct options *o = s->out.opts;
	uint64_t gone;
	int ms, over, rc;

	for (over = rc = 0; rc == 0 && !over && !ended;) {
		ms = WAIT_MS;
		gone = now_ns() - s->out.start;
		if (o->ns != 0 && gone + WAIT_MS * 1000000ULL > o->ns)
			ms = gone >= o->ns ? 0 :
			    (int)((o->ns - gone) / 1000000) + 1;
		over = tracer_wait(t, ms, mask);
		if (o->ns != 0 && now_ns() - s->out.start >= o->ns)
			over = 1;
		rc = tracer_read(t, false, stream_take, s);
		if (fflush(stdout) == EOF || ferror(stdout))
			return errstr_sys("standard output");
	}
	tracer_stop(t);
	if (rc == 0)
		rc = tracer_read(t, true, stream_take, s);
	if (s->nomem)
		return errstr_set("out of memory");
	if (rc == -1 && !s->out.full)
		return -1;
	stream_end(s);
	return 0;
}

static void
say_lacks(const struct tracer *t)
{
	char lacks[512];

	tracer_lacks(t, lacks, sizeof lacks);
	if (*lacks != '\0')
		warnx("not shown: %s", lacks);
}

/*
 * Print what was counted, and say what was not seen.
 */
static void
finish(struct tracer *t, struct stream *s, bool *failed)
{
	uint64_t lost;

	if (s->out.opts->totals)
		total_print(&s->out);
	if (s->out.opts->totals && s->out.opts->histogram)
		putchar('\n');
	if (s->out.opts->histogram)
		histogram_print(&s->out);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	if ((lost = tracer_lost(t)) > 0) {
		warnx("%ju events were lost", (uintmax_t)lost);
		*failed = true;
	}
}

static void
run(const struct options *o, char **argv, bool *failed)
{
	struct command c = { 0 };
	struct stream s = { 0 };
	struct tracer *t;
	sigset_t mask;

	if (!is_number(argv[0]))
		command_begin(&c, argv);
	signals_begin(&mask);
	if ((t = tracer_new(o->kernel)) == NULL)
		errx(1, "%s", snap_errstr());
	if (lines_begin(&s.out, o, now_ns()) == -1)
		errx(1, "%s", snap_errstr());
	say_lacks(t);
	if (c.pid == 0) {
		if (processes_add(t, &s, argv, failed) == 0)
			exit(1);
	} else if (tracer_add(t, c.pid, true) == -1 ||
	    process_new(&s.tasks, c.pid) == NULL)
		errx(1, "%s", snap_errstr());
	s.out.start = now_ns();
	if (c.pid != 0)
		command_go(&c, argv[0]);
	if (!o->totals && !o->histogram)
		lines_heading();
	if (trace(t, &s, &mask) == -1) {
		warnx("%s", snap_errstr());
		*failed = true;
	} else
		finish(t, &s, failed);
	command_end(&c, argv[0]);
	tracer_free(t);
	tasks_free(&s.tasks);
	lines_end(&s.out);
}

int
main(int argc, char *argv[])
{
	struct options o = { 0 };
	bool failed = false;
	int ch, i;

	program_descriptors();
	while ((ch = getopt(argc, argv, "+ckn:st:")) != -1)
		switch (ch) {
		case 'c':
			o.totals = true;
			break;
		case 'k':
			o.kernel = true;
			break;
		case 'n':
			parse_count(&o, optarg);
			break;
		case 's':
			o.histogram = true;
			break;
		case 't':
			parse_seconds(&o, optarg);
			break;
		default:
			usage();
		}
	if (optind == argc)
		usage();
	if (is_number(argv[optind]))
		for (i = optind; i < argc; i++)
			if (!is_number(argv[i]))
				errx(2, "%s: not a process id", argv[i]);
	run(&o, argv + optind, &failed);
	return failed ? 1 : 0;
}
