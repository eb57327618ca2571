/*
 * Keep a SIGSTOP pending in a stopped process.
 *
 * SIGSTOP cannot be blocked, so a thread consumes it when we let it run. That
 * has no effect on a stopped process, but the signal is no longer pending.
 * Therefore a pending SIGSTOP is recorded before the thread runs, and sent
 * again at the end. Its sender, which only a tracer can see, is then our
 * process if it came from kill(2) or tgkill(2), because only the process itself
 * may forge that.
 */
#include "run.h"
#include "bisect.h"
#include "vec.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <signal.h>
#include <unistd.h>

struct waiting {		/* a pending SIGSTOP */
	pid_t		 tid;	/* thread for which the SIGSTOP is pending; 0:
				   it is pending for the process */
	siginfo_t	 info;
};

/*
 * Return true if a SIGSTOP is pending for thread tid or, if shared is set, for
 * its process. Describe it in *si. No more than one can be pending. One behind
 * MAX_PENDING others is not found; SIGCONT would discard it anyway.
 */
static bool
stop_peek(pid_t tid, bool shared, siginfo_t *si)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 16 };
	const siginfo_t *found;
	siginfo_t v[16];
	long n;

	args.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0;
	for (; args.off < MAX_PENDING &&
	    (n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, v)) > 0;
	    args.off += (uint64_t)n)
		if ((found = SEEK(v, (size_t)n, x->si_signo == SIGSTOP)) !=
		    NULL) {
			*si = *found;
			return true;
		}
	return false;
}

static int
stop_note(struct inject *inj, pid_t tid)
{
	struct waiting new = { .tid = tid };

	if (SEEK(inj->stops, inj->nstops, x->tid == tid) != NULL ||
	    !stop_peek(inj->tid, tid == 0, &new.info))
		return 0;
	return VEC_ADD(inj->stops, inj->nstops, new);
}

/*
 * If the process of inj is stopped, record the SIGSTOPs that its thread is
 * about to consume. If the process is not stopped, a SIGSTOP that has just
 * arrived stops it when we leave. Return 0, or -1 with errstr set.
 */
int
stops_note(struct inject *inj)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, inj->tid, NULL, &si) == -1)
		return inject_refused(inj, "siginfo");
	inj->stopped = si.si_code >> 8 == PTRACE_EVENT_STOP &&
	    si.si_signo != SIGTRAP;
	if (!inj->stopped || stop_note(inj, inj->tid) == -1)
		return inj->stopped ? -1 : 0;
	return inj->tid == inj->pid ? stop_note(inj, 0) : 0;
}

/*
 * Send again the SIGSTOPs that the threads of inj consumed. All threads must be
 * stopped. If the process was continued in the meantime, then also send
 * SIGCONT, to discard the SIGSTOPs just sent.
 */
void
stops_send(struct inject *inj)
{
	struct waiting *w;
	bool queued;

	if (inj->nstops == 0 || !inj->stopped)
		return;
	for (w = inj->stops; w < inj->stops + inj->nstops; w++) {
		queued = w->info.si_code < 0 && w->info.si_code != SI_TKILL;
		if (w->tid == 0)
			(void)(queued ? (int)syscall(SYS_rt_sigqueueinfo,
			    inj->pid, SIGSTOP, &w->info) :
			    kill(inj->pid, SIGSTOP));
		else
			(void)(queued ? syscall(SYS_rt_tgsigqueueinfo,
			    inj->pid, w->tid, SIGSTOP, &w->info) :
			    syscall(SYS_tgkill, inj->pid, w->tid, SIGSTOP));
	}
	if (inject_halt(inj) == 0 && !inj->stopped)
		(void)kill(inj->pid, SIGCONT);
}
