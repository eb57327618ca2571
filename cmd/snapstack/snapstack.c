/*
 * snapstack: what the processes of a snapshot were doing: the stack of each
 * thread, and what it waits for.
 */
#include "snapstack.h"
#include "vec.h"

#include <err.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool		 all;	/* threads with the same stack, too */
	bool		 folded;
	bool		 json;
	int64_t		 pid;	/* only this process; -1: all */
	int64_t		 tid;	/* only this thread; -1: all */
} asked = { .pid = -1, .tid = -1 };

static struct progress progress;

/*
 * Set what is known of a thread beside its stack.
 */
static void
thread_facts(struct stack *st)
{
	const struct file *proc = proc_file(st->thread, "proc");
	struct linuxrec rec;
	struct recfile f;
	char *text, *p;

	st->inner = st->tid;
	if (proc == NULL || linuxrec_open(&rec, proc) == -1)
		return;
	if (!linuxrec_line(&rec, "comm", st->comm, sizeof st->comm))
		*st->comm = '\0';
	if (linuxrec_find(&rec, "status", &f) &&
	    (text = strndup((const char *)f.data, f.len)) != NULL) {
		if ((p = strstr(text, "\nState:")) != NULL)
			(void)sscanf(p + 7, " %*c (%15[a-z -])", st->state);
		if ((p = strstr(text, "\nNSpid:")) != NULL) {
			p[strcspn(p + 1, "\n") + 1] = '\0';
			if ((p = strrchr(p, '\t')) != NULL)
				st->inner = strtoull(p + 1, NULL, 10);
		}
		free(text);
	}
	linuxrec_close(&rec);
}

static int
thread_add(struct unwinder *u, struct proc *p)
{
	struct stack *st;

	if (VEC_ROOM(u->stack, u->n) == -1)
		return -1;
	st = &u->stack[u->n++];
	memset(st, 0, sizeof *st);
	st->thread = p;
	st->tid = p->pid;
	thread_facts(st);
	return 0;
}

/*
 * Find the threads of a process, its first one first.
 */
static int
threads_find(struct unwinder *u, struct snap *s, struct proc *p)
{
	const size_t *at;
	size_t i, n;

	if (thread_add(u, p) == -1 ||
	    snap_threads(s, p->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (s->proc[at[i]] != p &&
		    thread_add(u, s->proc[at[i]]) == -1)
			return -1;
	return 0;
}

/*
 * Keep one thread alone.
 */
static void
threads_choose(struct unwinder *u, uint64_t tid)
{
	size_t i, k;

	for (i = k = 0; i < u->n; i++)
		if (u->stack[i].tid == tid)
			u->stack[k++] = u->stack[i];
	u->n = k;
}

/*
 * Find the stacks of a process.
 */
static int
stacks_find(struct unwinder *u, struct snap *s, struct proc *p)
{
	struct header h;
	char word[32];
	const char *type;
	struct stack *st;
	size_t i;

	header_parse(&h, s->header == NULL ? "" : s->header);
	if (threads_find(u, s, p) == -1)
		return -1;
	for (i = 0; i < u->n; i++) {
		st = &u->stack[i];
		type = linuxrec_cputype(proc_file(st->thread, "proc"), word,
		    sizeof word);
		if (!registers_get(&st->regs, st->thread, *type == '\0' ?
		    h.cputype : type))
			continue;
		if (asked.tid == -1 || (uint64_t)asked.tid == st->tid)
			stack_unwind(u, st);
		wait_find(u, st);
	}
	if (asked.tid != -1)
		threads_choose(u, (uint64_t)asked.tid);
	stacks_group(u->stack, u->n, asked.all || asked.json);
	return 0;
}

static int
tell_process(struct snap *s, struct proc *p, const char *path, bool first)
{
	struct unwinder u = { 0 };
	struct target t;
	int rc;

	guard_process(p->pid);
	rc = target_open(&t, s, p);
	if (rc == 0)
		rc = unwinder_open(&u, &t);
	if (rc == 0)
		rc = stacks_find(&u, s, p);
	if (rc == -1)
		errstr_wrap("process %" PRIu64, p->pid);
	else if (asked.json)
		objects_process(&u, path);
	else if (asked.folded)
		folded_process(&u);
	else {
		if (!first)
			printf("\n");
		print_process(&u);
	}
	unwinder_close(&u);
	target_close(&t);
	return rc;
}

/*
 * Return whether the process p of snapshot s was asked for.
 */
static bool
is_asked(struct snap *s, const struct proc *p)
{
	if (!proc_isprocess(p))
		return false;
	if (asked.pid != -1 && (uint64_t)asked.pid != p->pid)
		return false;
	return asked.tid == -1 || snap_process(s, (uint64_t)asked.tid) == p;
}

static int
tell_file(const char *path)
{
	struct readopts o = { .warn = program_lose, .progress = &progress };
	struct snap *s;
	size_t i, n;
	int rc;

	if ((s = snap_open(path, &o)) == NULL) {
		program_warn("%s", snap_errstr());
		return -1;
	}
	for (i = n = 0, rc = 0; i < s->nproc; i++) {
		if (!is_asked(s, s->proc[i]))
			continue;
		if (tell_process(s, s->proc[i], path, n++ == 0) == -1) {
			program_warn("%s", snap_errstr());
			rc = -1;
		}
	}
	if (n == 0) {
		program_warn("%s: %s", path, asked.pid == -1 &&
		    asked.tid == -1 ? "it has no processes" :
		    "it has no such process or thread");
		rc = -1;
	}
	elfimage_forget();
	snap_free(s);
	return rc;
}

static const struct opt opts[] = {
	{ 'a', "all", NULL, "threads with the same stack one by one" },
	{ 'd', "debug", "dir", "look for debugging information there, too" },
	{ 'f', "folded", NULL, "a line a stack, to draw flame graphs of" },
	{ 'j', "json", NULL, "as JSON, an object a thread, for programs" },
	{ 'p', "pid", "pid", "of this process only" },
	{ 't', "thread", "tid", "of this thread only" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Tell what processes of a snapshot were doing: the stack of "
	    "each thread.",
	.synopsis = (const char *const[]){
		"[-a | -f | -j] [-d dir] [-p pid] [-t tid] [file ...]",
		NULL
	},
	.opts = opts
};

static int64_t
number_get(const char *what)
{
	const char *bad;
	int64_t n;

	n = strtonum(optarg, 0, INT64_MAX, &bad);
	if (bad != NULL) {
		program_warn("%s is not a %s id", optarg, what);
		options_misuse(&cmdline);
	}
	return n;
}

/*
 * Confine the program to the snapshots that it reads, and to debugging
 * information.
 */
static void
confine_all(char *const argv[], size_t n)
{
	struct confined need = { 0 };
	char *const *dir;
	char **in;
	size_t i, ndir;

	dir = debugfile_dirs(&ndir);
	if ((in = calloc(n + ndir + 1, sizeof(char *))) == NULL)
		err(1, NULL);
	for (i = 0; i < n; i++)
		in[i] = argv[i];
	if (n == 0)
		in[i++] = NULL;	/* standard input */
	for (need.nin = i; ndir > 0; ndir--)
		in[need.nin++] = *dir++;
	need.in = in;
	program_confine(&need, false);
	free(in);
}

int
main(int argc, char *argv[])
{
	static char system_dir[] = "/usr/lib/debug";
	int c, i, rc;

	/* it asks others of ours how far they are */
	signal(SIGUSR1, SIG_IGN);
	program_descriptors();
	while ((c = options_next(&cmdline, argc, argv)) != -1)
		switch (c) {
		case 'a':
			asked.all = true;
			break;
		case 'd':
			debugfile_dir(optarg);
			break;
		case 'f':
			asked.folded = true;
			break;
		case 'j':
			asked.json = true;
			break;
		case 'p':
			asked.pid = number_get("process");
			break;
		case 't':
			asked.tid = number_get("thread");
			break;
		}
	if (asked.all + asked.folded + asked.json > 1)
		options_misuse(&cmdline);
	debugfile_dir(system_dir);
	demangle_begin();
	guard_begin();
	confine_all(argv + optind, (size_t)(argc - optind));
	progress_show(&progress, getprogname());
	rc = 0;
	if (optind == argc)
		rc = tell_file("-");
	for (i = optind; i < argc; i++)
		if (tell_file(argv[i]) == -1)
			rc = -1;
	progress_hide();
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return rc == 0 && !program_lost() ? 0 : 1;
}
