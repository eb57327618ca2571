/*
 * Run a program and have one of its system calls fail, or kill it there:
 *
 *	fault HITS ROLE NUMBER N ERROR PROGRAM [ARGUMENT ...]
 *
 * ROLE is m, the first thread; t, its other threads; g, its child processes; h,
 * their descendants.  Counts the calls of ROLE with this NUMBER, -1 for any.
 * ERROR says what happens at the Nth:
 *
 *	5	the call is not made, and fails with error 5
 *	+5	the call is made, and then fails with error 5
 *	late	the call is made, and then no thread is continued for LATE_NS
 *	kill	the process is killed before the call
 *
 * Writes a line "hit NUMBER" to the file HITS; with role "-" it writes lines
 * "ROLE NUMBER COUNT" at the end.  Ends when all processes have ended, with the
 * exit status of the program; after SECONDS, times FAULT_FACTOR if that is set,
 * it kills them and exits with 124.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
/*
 * Do not make the call that a thread begins.
 */
static void
call_skip(pid_t tid)
{
	(void)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.orig_rax),
	    (void *)-1L);
}

/*
 * Set the result of the call that a thread ends.
 */
static void
call_give(pid_t tid, long result)
{
	(void)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax),
	    (void *)result);
}
#elif defined __aarch64__
static void
call_skip(pid_t tid)
{
	enum { SYSTEM_CALL = 0x404 };	/* NT_ARM_SYSTEM_CALL */
	int nr = -1;
	struct iovec v = { &nr, sizeof nr };

	(void)ptrace(PTRACE_SETREGSET, tid, (void *)SYSTEM_CALL, &v);
}

static void
call_give(pid_t tid, long result)
{
	struct user_regs_struct regs;
	struct iovec v = { &regs, sizeof regs };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v) == -1)
		return;
	regs.regs[0] = (uint64_t)result;
	(void)ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &v);
}
#endif

#if defined __x86_64__ || defined __aarch64__
enum {
	MOST = 256,		/* threads at once */
	CALLS = 512,
	SECONDS = 20,
	LATE_NS = 600000000, /* longer than snap waits for a thread */
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	    PTRACE_O_EXITKILL
};

static FILE *hits;
static const char roles[] = "mtgh";

static struct thread {
	pid_t		 tid;	/* 0: free */
	char		 role;	/* '\0': unknown */
	bool		 halted; /* stopped until it is known */
	long		 result; /* to set for its call; 0: none */
	bool		 late;	/* wait after its call */
} threads[MOST];

static struct {
	char		 role;
	long		 nr;
	long		 n;
	long		 error;
	bool		 made;
	bool		 kills;
	bool		 late;
} fault;

static long counts[sizeof roles][CALLS];
static long seen;		/* calls that match the fault */

static struct thread *
thread_find(pid_t tid)
{
	struct thread *t, *unused;

	unused = NULL;
	for (t = threads; t < threads + MOST; t++) {
		if (t->tid == tid)
			return t;
		if (t->tid == 0 && unused == NULL)
			unused = t;
	}
	if (unused == NULL)
		errx(2, "too many threads");
	memset(unused, 0, sizeof *unused);
	unused->tid = tid;
	return unused;
}

/*
 * Continue thread t to the next begin or end of a call; or, if the fault cannot
 * be in its calls, to the next other event.
 */
static void
go_on(const struct thread *t, long sig)
{
	bool watched = fault.role == '-' || t->result != 0 || t->late ||
	    (t->role == fault.role && seen < fault.n);

	(void)ptrace(watched ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL,
	    (void *)sig);
}

/*
 * A thread begins a call: check whether it is the one to fail.
 */
static void
call_enter(struct thread *t, long nr)
{
	if (nr < 0 || nr >= CALLS)
		return;
	counts[strchr(roles, t->role) - roles][nr]++;
	if (t->role != fault.role || (fault.nr != -1 && nr != fault.nr) ||
	    ++seen != fault.n)
		return;
	fprintf(hits, "hit %ld\n", nr);
	fflush(hits);
	if (fault.kills) {
		(void)kill(t->tid, SIGKILL);
		return;
	}
	t->late = fault.late;
	t->result = -fault.error;
	if (!fault.made)
		call_skip(t->tid);
}

static void
call_edge(struct thread *t)
{
	const struct timespec late = { 0, LATE_NS };
	struct __ptrace_syscall_info si;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, (void *)sizeof si, &si) ==
	    -1)
		return;
	if (si.op == PTRACE_SYSCALL_INFO_ENTRY)
		call_enter(t, (long)si.entry.nr);
	else if (t->result != 0) {
		call_give(t->tid, t->result);
		t->result = 0;
	}
	if (si.op == PTRACE_SYSCALL_INFO_EXIT && t->late) {
		(void)nanosleep(&late, NULL);
		t->late = false;
	}
}

/*
 * A thread has created another: set the role of that one.
 */
static void
made(const struct thread *by, int event)
{
	struct thread *t;
	unsigned long tid;

	if (ptrace(PTRACE_GETEVENTMSG, by->tid, NULL, &tid) == -1)
		return;
	t = thread_find((pid_t)tid);
	if (event == PTRACE_EVENT_CLONE)
		t->role = by->role == 'm' ? 't' : by->role;
	else
		t->role = by->role == 'm' || by->role == 't' ? 'g' : 'h';
	if (t->halted)
		go_on(t, 0);
}

static void
stopped(struct thread *t, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP) {
		t->halted = t->role == '\0';
		if (!t->halted && sig != SIGTRAP)
			(void)ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
		else if (!t->halted)
			go_on(t, 0);
	} else if (event != 0) {
		if (event != PTRACE_EVENT_EXEC)
			made(t, event);
		go_on(t, 0);
	} else if (sig == (SIGTRAP | 0x80)) {
		call_edge(t);
		go_on(t, 0);
	} else
		go_on(t, sig);
}

static void
over(int sig)
{
	(void)sig;
	_exit(124);		/* the kernel kills them all */
}

static void
tell_counts(void)
{
	size_t i, nr;

	for (i = 0; roles[i] != '\0'; i++)
		for (nr = 0; nr < CALLS; nr++)
			if (counts[i][nr] != 0)
				fprintf(hits, "%c %zu %ld\n", roles[i], nr,
				    counts[i][nr]);
}

/*
 * Start the program; it waits until it is traced.
 */
static pid_t
start(char *argv[])
{
	pid_t pid;
	int to[2];
	char c;

	if (pipe(to) == -1 || (pid = fork()) == -1)
		err(2, "start");
	if (pid == 0) {
		close(to[1]);
		(void)!read(to[0], &c, 1);
		close(to[0]);
		execv(argv[0], argv);
		_exit(127);
	}
	thread_find(pid)->role = 'm';
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)OPTIONS) == -1)
		err(2, "ptrace");
	close(to[0]);
	close(to[1]);
	return pid;
}

int
main(int argc, char *argv[])
{
	const char *factor = getenv("FAULT_FACTOR");
	int rc, status;
	pid_t pid, tid;

	if (argc < 7)
		errx(2, "usage: fault hits role number n error program ...");
	fault.role = argv[2][0];
	fault.nr = strtol(argv[3], NULL, 10);
	fault.n = strtol(argv[4], NULL, 10);
	fault.kills = strcmp(argv[5], "kill") == 0;
	fault.late = strcmp(argv[5], "late") == 0;
	fault.made = argv[5][0] == '+' || fault.late;
	fault.error = strtol(argv[5], NULL, 10);
	if ((hits = fopen(argv[1], "we")) == NULL)
		err(2, "%s", argv[1]);
	signal(SIGALRM, over);
	alarm(SECONDS * (unsigned int)(factor == NULL ? 1 :
	    strtol(factor, NULL, 10)));
	pid = start(argv + 6);
	rc = 127;
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			stopped(thread_find(tid), status);
			continue;
		}
		thread_find(tid)->tid = 0;
		if (tid == pid)
			rc = WIFEXITED(status) ? WEXITSTATUS(status) :
			    128 + WTERMSIG(status);
	}
	if (fault.role == '-')
		tell_counts();
	fclose(hits);
	return rc;
}
#else
int
main(void)
{
	errx(77, "not on this machine");
}
#endif
