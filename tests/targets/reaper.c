/*
 * A program that has one child after another, and counts for each: one SIGCHLD,
 * with its process ID; one status from wait, waitpid or waitid, in turn; and
 * then no other child.  reaper x has one child more, which stays, and a thread
 * that waits for it.
 */
#include "target.h"

#include <sys/wait.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static atomic_long signals, bogus, children, statuses, others, none;
static _Atomic pid_t current;
static atomic_bool over;
static pid_t keeps;
static long kept = 1;

static void
on_chld(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	signals++;
	if (current != 0 && si->si_pid != current)
		bogus++;
	if (si->si_code != CLD_EXITED)
		bogus++;
}

/*
 * Wait for a child in one of four ways; return its exit status, or -1.
 */
static int
reap(pid_t pid, long how)
{
	siginfo_t si = { .si_pid = 0 };
	int status = 0;
	pid_t got;

	if (how % 4 == 3) {
		if (waitid(P_PID, (id_t)pid, &si, WEXITED) == -1)
			return -1;
		return si.si_pid == pid ? si.si_status : -1;
	}
	/* with a child that stays, wait for this one only */
	if (how % 4 == 0 && keeps == 0)
		got = wait(&status);
	else
		got = waitpid(how % 4 == 1 && keeps == 0 ? -1 : pid, &status,
		    WUNTRACED);
	return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Check that there is no other child to wait for.
 */
static void
nobody(void)
{
	siginfo_t si = { .si_pid = 0 };
	pid_t got;

	got = waitpid(-1, NULL, WNOHANG | WUNTRACED | WCONTINUED);
	none += keeps == 0 ? got != -1 || errno != ECHILD : got != 0;
	if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) ==
	    -1)
		none += keeps != 0 || errno != ECHILD;
	else
		none += keeps == 0 || si.si_pid != 0;
}

static void *
reaper(void *arg)
{
	const struct timespec nap = { 0, 200000 };
	sigset_t open;
	long n;
	pid_t pid;

	(void)arg;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &open);
	sigdelset(&open, SIGCHLD);
	for (n = 0; !over; n++) {
		current = 0;
		if ((pid = fork()) == -1) {
			others++;
			break;
		}
		if (pid == 0) {
			(void)nanosleep(&nap, NULL);
			_exit((int)(n & 127));
		}
		current = pid;
		children++;
		while (signals < children)
			sigsuspend(&open);
		if (reap(pid, n) == (int)(n & 127))
			statuses++;
		nobody();
	}
	return NULL;
}

static void *
keeper(void *arg)
{
	int status;

	(void)arg;
	kept = waitpid(keeps, &status, 0) != keeps || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGTERM;
	return NULL;
}

int
main(int argc, char *argv[])
{
	struct sigaction sa = { .sa_sigaction = on_chld,
	    .sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_t t, k;
	sigset_t chld;

	(void)argv;
	(void)sigaction(SIGCHLD, &sa, NULL);
	if (argc > 1 && (keeps = fork()) == 0) {
		end_with_parent();
		for (;;)
			pause();
	}
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	/* only reaper() unblocks it, in sigsuspend(2) */
	(void)pthread_sigmask(SIG_BLOCK, &chld, NULL);
	if (keeps != 0 && pthread_create(&k, NULL, keeper, NULL) != 0)
		errx(1, "no thread");
	if (pthread_create(&t, NULL, reaper, NULL) != 0)
		errx(1, "no thread");
	ready();
	await();
	over = true;
	(void)pthread_join(t, NULL);
	report("children", children == 0);
	report("signals", signals - children);
	report("statuses", statuses - children);
	report("bogus", bogus);
	report("none", none);
	report("others", others);
	if (keeps != 0) {
		(void)kill(keeps, SIGTERM);
		(void)pthread_join(k, NULL);
		report("kept", kept);
	}
	return 0;
}
