/*
 * Restart the system call of an arm64 thread that was interrupted by our stop.
 */
#include "arm64.h"
#include "bisect.h"
#include "linux/proc/proc.h"
#include "restart.h"

#ifdef __aarch64__

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum {				/* system call numbers that older headers
				   lack */
	NR_EPOLL_PWAIT2 = 441, NR_FUTEX_WAITV = 449
};

#define EVENTS	"anon_inode:[eventpoll]"
#define RING	"anon_inode:[io_uring]"
#define SOCKET	"socket:["

#define SLEEPS	"voluntary_ctxt_switches"

/*
 * System calls that can block. gives_up: it fails with EINTR when a thread is
 * stopped, although no signal is delivered: signal(7), "Interruption of system
 * calls and library functions by stop signals". Calls that work on any file do
 * so only on a socket with a timeout.
 */
static const struct call {
	uint16_t	 nr;
	bool		 gives_up;
	bool		 always;	/* the call fails with EINTR when a
					   signal is handled, even if the
					   handler has SA_RESTART */
	const char	*file;		/* if the call gives up, the
					   /proc/PID/fd link of its first
					   argument begins with this; for
					   splice, also the third argument */
} calls[] = {
	{ SYS_io_getevents, true, true, NULL },
	{ SYS_epoll_pwait, true, true, EVENTS },
	{ SYS_fcntl, false, false, NULL },
	{ SYS_ioctl, false, false, NULL },
	{ SYS_flock, false, false, NULL },
	{ SYS_openat, false, false, NULL },
	{ SYS_read, true, false, SOCKET },
	{ SYS_write, true, false, SOCKET },
	{ SYS_readv, true, false, SOCKET },
	{ SYS_writev, true, false, SOCKET },
	{ SYS_sendfile, true, false, SOCKET },
	{ SYS_pselect6, false, true, NULL },
	{ SYS_ppoll, false, true, NULL },
	{ SYS_vmsplice, false, false, NULL },
	{ SYS_splice, true, false, SOCKET },
	{ SYS_tee, false, false, NULL },
	{ SYS_waitid, false, false, NULL },
	{ SYS_futex, false, false, NULL },
	{ SYS_clock_nanosleep, false, true, NULL },
	{ SYS_rt_sigsuspend, false, true, NULL },
	{ SYS_rt_sigtimedwait, true, true, NULL },
	{ SYS_mq_timedsend, false, false, NULL },
	{ SYS_mq_timedreceive, false, false, NULL },
	{ SYS_msgrcv, true, true, NULL },
	{ SYS_msgsnd, true, true, NULL },
	{ SYS_semtimedop, true, true, NULL },
	{ SYS_semop, true, true, NULL },
	{ SYS_accept, true, false, SOCKET },
	{ SYS_connect, true, false, SOCKET },
	{ SYS_sendto, true, false, SOCKET },
	{ SYS_recvfrom, true, false, SOCKET },
	{ SYS_sendmsg, true, false, SOCKET },
	{ SYS_recvmsg, true, false, SOCKET },
	{ SYS_accept4, true, false, SOCKET },
	{ SYS_recvmmsg, true, false, SOCKET },
	{ SYS_wait4, false, false, NULL },
	{ SYS_sendmmsg, true, false, SOCKET },
	{ SYS_preadv2, true, false, SOCKET },
	{ SYS_pwritev2, true, false, SOCKET },
	{ SYS_io_pgetevents, true, true, NULL },
	{ SYS_io_uring_enter, true, true, RING },
	{ NR_EPOLL_PWAIT2, true, true, EVENTS },
	{ NR_FUTEX_WAITV, false, false, NULL },
};

/*
 * Return the entry of call nr in calls, or NULL if there is none.
 */
static const struct call *
call_find(uint64_t nr)
{
	return SEEK_IN(calls, nr == x->nr);
}

/*
 * Return the call that thread tid with registers r appears to have given up
 * with EINTR. Return NULL if there is none.
 */
static const struct call *
gave_up(const struct gregs *r, pid_t tid)
{
	const struct call *c;

	if (r->word[WIDE] == 0 || (int64_t)r->word[X0] != -EINTR ||
	    (c = call_find(r->word[X8])) == NULL || !c->gives_up)
		return NULL;
	return code_at(tid, r->word[PC] - BYTES) == (uint32_t)SVC ? c : NULL;
}

bool
restart_counts(int64_t nr)
{
	const struct call *c;

	return nr >= 0 && (c = call_find((uint64_t)nr)) != NULL && c->gives_up;
}

/*
 * Return true if the call of thread tid may have failed because of a signal
 * that is to be handled: a caught signal that is pending and not blocked, or
 * that stopped the thread. Set *sleeps to the number of voluntary context
 * switches of the thread, or to 0 if that is unknown.
 */
static bool
is_signalled(pid_t tid, uint64_t *sleeps)
{
	uint64_t caught, waits, blocked;
	siginfo_t si;
	struct bytes b;
	bool yes;

	*sleeps = 0;
	if (proc_read(tid, 0, "status", &b) == -1)
		return true;
	*sleeps = status_first(b.data, b.len, SLEEPS, 10);
	caught = waits = blocked = 0;
	yes = status_list(b.data, b.len, "SigCgt", 16, &caught, 1) != 1 ||
	    status_list(b.data, b.len, "SigBlk", 16, &blocked, 1) != 1;
	if (status_list(b.data, b.len, "SigPnd", 16, &waits, 1) == 1)
		yes |= (waits & caught & ~blocked) != 0;
	if (status_list(b.data, b.len, "ShdPnd", 16, &waits, 1) == 1)
		yes |= (waits & caught & ~blocked) != 0;
	free(b.data);
	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &si) == 0 &&
	    si.si_code >> 8 != PTRACE_EVENT_STOP && si.si_signo >= 1 &&
	    si.si_signo <= 64)
		yes |= (caught >> (si.si_signo - 1) & 1) != 0;
	return yes;
}

/*
 * Set *v to the first argument of call nr, from which stopped thread tid has
 * returned. Return 0, or -1.
 *
 * The registers no longer have the argument, but /proc/TID/syscall shows it
 * while a thread is in a call. So mark the thread as being in the call while
 * that file is read. Newer kernels, such as 6.1.192, show the current x0
 * instead (update_syscall_orig_x0_after_ptrace of arch/arm64/kernel/ptrace.c).
 */
static int
first_argument(pid_t tid, uint64_t nr, uint64_t *v)
{
	const int32_t in = (int32_t)nr, none = -1;
	struct bytes b;
	char first[24];
	unsigned long arg;
	int rc;

	if (note_write(tid, NOTE_SYSTEM_CALL, &in, sizeof in) == -1)
		return -1;
	rc = -1;
	if (proc_read(tid, 0, "syscall", &b) == 0) {
		if (sscanf((const char *)b.data, "%23s %lx", first, &arg) ==
		    2) {
			*v = arg;
			rc = 0;
		}
		free(b.data);
	}
	return note_write(tid, NOTE_SYSTEM_CALL, &none, sizeof none) == -1 ?
	    -1 : rc;
}

/*
 * Return true if descriptor fd of thread tid is a file whose link begins with
 * kind.
 */
static bool
is_kind(pid_t tid, uint64_t fd, const char *kind)
{
	char name[32], *file;
	bool is;

	if (fd > INT32_MAX)
		return false;
	snprintf(name, sizeof name, "fd/%d", (int)fd);
	if ((file = proc_link(tid, 0, name)) == NULL)
		return false;
	is = strncmp(file, kind, strlen(kind)) == 0;
	free(file);
	return is;
}

/*
 * Return true if thread tid with registers r may have given up call c when it
 * was stopped: the call was made on a file of kind c->file. first is the
 * presumed first argument of the call, the descriptor of that file. For
 * splice(2), the second descriptor may be that file instead.
 */
static bool
is_taken(pid_t tid, const struct call *c, const struct gregs *r,
    uint64_t first)
{
	return c->file != NULL && (is_kind(tid, first, c->file) ||
	    (c->nr == SYS_splice &&
	    is_kind(tid, r->word[X0 + 2], c->file)));
}

/*
 * Return true if a thread with registers r is still in the call that seen
 * describes. Since it was seen there, the thread must have made only one
 * voluntary context switch, the one with which it stopped. sleeps is its
 * current number of voluntary context switches.
 */
static bool
is_seen(const struct gregs *r, const struct seencall *seen, uint64_t sleeps)
{
	return seen->nr == (int64_t)r->word[X8] && seen->sleeps != 0 &&
	    seen->sleeps + 1 == sleeps && seen->sp == r->word[SP] &&
	    seen->pc == r->word[PC] && memcmp(&seen->arg[1], &r->word[X0 + 1],
	    sizeof seen->arg - sizeof *seen->arg) == 0;
}

/*
 * Set *v to the first argument of call c, which thread tid with registers r
 * appears to have given up. Return true if the thread really made that call: it
 * was seen in the call, or the argument is a file of the right kind.
 *
 * After returning from a signal handler, a thread also has the registers of a
 * call: the one that the signal interrupted. But the argument found then comes
 * from rt_sigreturn(2), which takes none.
 */
static bool
first_find(pid_t tid, const struct call *c, const struct gregs *r,
    const struct seencall *seen, uint64_t sleeps, uint64_t *v)
{
	if (first_argument(tid, c->nr, v) == -1)
		return false;
	if (*v != r->word[X0])
		return (seen->nr == c->nr && seen->arg[0] == *v) ||
		    is_taken(tid, c, r, *v);
	*v = seen->arg[0];
	return is_seen(r, seen, sleeps) &&
	    (c->file == NULL || is_taken(tid, c, r, *v));
}

bool
restart_call(pid_t tid, const struct seencall *seen)
{
	const struct call *c;
	struct gregs r;
	uint64_t first, sleeps;

	if (gregs_read(tid, &r) == -1 || (c = gave_up(&r, tid)) == NULL ||
	    is_signalled(tid, &sleeps) ||
	    !first_find(tid, c, &r, seen, sleeps, &first))
		return false;
	r.word[X0] = first;
	r.word[PC] -= BYTES;
	return gregs_write(tid, &r) == 0;
}

/*
 * Return how to restart the interrupted call of thread tid, whose registers are
 * r. For a call with a timeout, only the next call of the thread shows whether
 * the wait had begun.
 *
 * The kernel moved the thread back to before the call. Until the thread
 * resumes, the kernel keeps the ERESTART code with which the call ended
 * (do_signal of arch/arm64/kernel/signal.c). That code is known from the number
 * of the call. The code is the same if restart_call() moved the thread.
 */
struct restartinfo
restartinfo_read(pid_t tid, const struct gregs *r)
{
	enum { ABSTIME = 1 };	/* TIMER_ABSTIME */
	const uint64_t nr = r->word[X8];
	const struct call *c;

	if (code_at(tid, r->word[PC]) != (uint32_t)SVC)
		return (struct restartinfo){ 0, false };
	if (nr == SYS_restart_syscall)
		return (struct restartinfo){ ERESTART_RESTARTBLOCK, false };
	if (nr == SYS_nanosleep ||
	    (nr == SYS_clock_nanosleep && !(r->word[X0 + 1] & ABSTIME)) ||
	    (nr == SYS_futex && r->word[X0 + 3] != 0))
		return (struct restartinfo){ ERESTART_RESTARTBLOCK, true };
	if ((c = call_find(nr)) != NULL)
		return (struct restartinfo){ c->always ? ERESTARTNOHAND :
		    ERESTARTSYS, false };
	return (struct restartinfo){ 0, false };
}

uint64_t
restartinfo_arg(const struct gregs *r)
{
	return r->word[X0];
}

void
restartinfo_load(struct gregs *r, int code)
{
	r->word[NUMBER] = r->word[X8];
	r->word[PC] += BYTES;
	r->word[X0] = (uint64_t)-(int64_t)code;
}

bool
restart_due(const void *now, size_t len)
{
	struct gregs r;

	if (len != NPRSTATUS * 8)
		return false;
	memcpy(&r, now, len);
	return (int64_t)r.word[X0] == -EINTR;
}

#endif
