/*
 * What a thread of arm64 goes on with that was stopped.
 */
#include "arm64.h"
#include "linux/proc/proc.h"
#include "restart.h"

#ifdef __aarch64__

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {				/* that not all headers have */
	NR_EPOLL_PWAIT2 = 441, NR_FUTEX_WAITV = 449
};

#define EVENTS	"anon_inode:[eventpoll]"
#define RING	"anon_inode:[io_uring]"
#define SOCKET	"socket:["

#define SLEEPS	"voluntary_ctxt_switches"

/*
 * System calls that wait.  Those that give up with EINTR when a thread is
 * stopped do so although no signal is delivered: signal(7), "Interruption of
 * system calls and library functions by stop signals"; of what also waits for
 * other files, only what waits for a socket with a timeout does.
 */
static const struct call {
	uint16_t	 nr;
	bool		 gives_up;
	bool		 always;	/* it ends with EINTR when a signal is
					   handled meanwhile, also if the
					   handler has SA_RESTART */
	const char	*file;		/* what its first argument is open to,
					   if it gives up: begin of the link */
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
	{ SYS_sendfile, false, false, NULL },
	{ SYS_pselect6, false, true, NULL },
	{ SYS_ppoll, false, true, NULL },
	{ SYS_vmsplice, false, false, NULL },
	{ SYS_splice, false, false, NULL },
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
	{ SYS_io_pgetevents, true, true, NULL },
	{ SYS_io_uring_enter, true, true, RING },
	{ NR_EPOLL_PWAIT2, true, true, EVENTS },
	{ NR_FUTEX_WAITV, false, false, NULL },
};

/*
 * Return the one with a number, or NULL.
 */
static const struct call *
call_find(uint64_t nr)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (nr == calls[i].nr)
			return &calls[i];
	return NULL;
}

/*
 * Return the call that a thread, with these registers, gave up, as it seems;
 * NULL: none.
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
 * Return true if a signal is to be handled that is not blocked, or is the one
 * that a thread was stopped with: then its call did not give up for us.  Set
 * *sleeps to how often the thread has gone to sleep.
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
 * Read the first argument that the call of a stopped thread had into *v: it is
 * in no register any more, and in no register set.  The kernel tells it in
 * /proc/TID/syscall of who is in a call; so the thread, which has left it, is
 * told to be in one meanwhile.  Newer kernels, 6.1.192 among them, take what is
 * in x0 by now for the argument then (update_syscall_orig_x0_after_ptrace of
 * arch/arm64/kernel/ptrace.c).  Return 0, or -1.
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
	if (note_write(tid, NOTE_SYSTEM_CALL, &none, sizeof none) == -1)
		return -1;
	return rc;
}

/*
 * Return true if the first argument of call c is such as the call takes.
 */
static bool
is_taken(pid_t tid, const struct call *c, uint64_t first)
{
	char name[32], *file;
	bool is;

	if (c->file == NULL || first > INT32_MAX)
		return false;
	snprintf(name, sizeof name, "fd/%d", (int)first);
	if ((file = proc_link(tid, 0, name)) == NULL)
		return false;
	is = strncmp(file, c->file, strlen(c->file)) == 0;
	free(file);
	return is;
}

/*
 * Return true if a thread that was seen in a call is in that still, by these
 * registers, and has gone to sleep once since, which was to stop.
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
 * Find the first argument of call c that a thread, with these registers, gave
 * up, as it seems.  Return true, and set *v, if it made that call: it was seen
 * in that, or the argument is such as the call takes.  A thread that comes from
 * a handler, by rt_sigreturn(2), has the registers of the call that the signal
 * ended; but what is taken for the first argument is that of rt_sigreturn(2)
 * then, which has none.
 */
static bool
first_find(pid_t tid, const struct call *c, const struct gregs *r,
    const struct seencall *seen, uint64_t sleeps, uint64_t *v)
{
	if (first_argument(tid, c->nr, v) == -1)
		return false;
	if (*v != r->word[X0])
		return (seen->nr == c->nr && seen->arg[0] == *v) ||
		    is_taken(tid, c, *v);
	*v = seen->arg[0];
	return is_seen(r, seen, sleeps) &&
	    (c->file == NULL || is_taken(tid, c, *v));
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
 * The kernel has put the thread before the call, and keeps until it runs on how
 * the call ended (do_signal of arch/arm64/kernel/signal.c); or restart_call
 * has, and it is to end as if the kernel had.  That follows from the call, but
 * whether it was in one that waits for a time, or had yet to begin it.
 */
struct again
again_look(pid_t tid, const struct gregs *r)
{
	enum { ABSTIME = 1 };	/* TIMER_ABSTIME */
	const uint64_t nr = r->word[X8];
	const struct call *c;

	if (code_at(tid, r->word[PC]) != (uint32_t)SVC)
		return (struct again){ 0, false };
	if (nr == SYS_restart_syscall)
		return (struct again){ ERESTART_RESTARTBLOCK, false };
	if (nr == SYS_nanosleep ||
	    (nr == SYS_clock_nanosleep && !(r->word[X0 + 1] & ABSTIME)) ||
	    (nr == SYS_futex && r->word[X0 + 3] != 0))
		return (struct again){ ERESTART_RESTARTBLOCK, true };
	if ((c = call_find(nr)) != NULL)
		return (struct again){ c->always ? ERESTARTNOHAND :
		    ERESTARTSYS, false };
	return (struct again){ 0, false };
}

uint64_t
again_first(const struct gregs *r)
{
	return r->word[X0];
}

void
again_load(struct gregs *r, int code)
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
