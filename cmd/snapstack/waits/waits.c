/*
 * Describe the system call in which a thread waits, with the descriptor, the
 * futex and its owner, the child or the time for which it waits.
 */
#include "num.h"
#include "restart.h"
#include "waits.h"

#include <elf.h>

/*
 * Set *nr and arg to the number and arguments of the call in the thread's
 * record (proc_pid_syscall(5)). Set wchan, which has room for size bytes, to
 * the kernel function in which the thread slept (proc_pid_wchan(5)). Both were
 * recorded before the thread was stopped. Return false if the record has no
 * call, or if the thread has moved since then. A thread without registers did
 * not stop: then only the record is known. The record of a kernel thread has
 * zeros.
 */
static bool
call_recorded(const struct stack *st, int64_t *nr, uint64_t arg[6],
    char *wchan, size_t size)
{
	const struct linuxrec *rec = proc_record(st->thread);
	uint64_t sp, pc;
	char line[256];
	bool recorded;

	recorded = linuxrec_line(rec, "syscall", line, sizeof line) &&
	    sscanf(line, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64
	    " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, nr,
	    &arg[0], &arg[1], &arg[2], &arg[3], &arg[4], &arg[5], &sp,
	    &pc) == 9 && (st->regs.n == 0 ? pc != 0 : sp == st->regs.sp &&
	    pc == st->regs.pc);
	if (recorded && !linuxrec_line(rec, "wchan", wchan, size))
		wchan[0] = '\0';
	return recorded;
}

/*
 * Find out whether the stop interrupted a system call of the thread with
 * registers r. If so, set *nr and arg to the number and arguments of the call,
 * and return true. The result of the call is then EINTR, or ERESTARTSYS or a
 * similar code of linux/errno.h, which means that the call will be restarted.
 */
static bool
call_interrupted(const struct registers *r, int64_t *nr, uint64_t arg[6])
{
	int64_t result;

	result = r->word == 8 ? (int64_t)r->v[0] : (int32_t)r->v[0];
	if (r->call < 0 || r->call > 4096 ||
	    (result != -4 && (result < -516 || result > -512)))
		return false;
	*nr = r->call;
	memcpy(arg, r->arg, sizeof r->arg);
	return true;
}

static bool
is_one(const char *name, const char *list)
{
	size_t n = strlen(name);
	const char *p;

	for (p = list; (p = strstr(p, name)) != NULL; p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' ||
		    p[n] == '\0'))
			return true;
	return false;
}

/*
 * Return the name of the call that restart_syscall(2) resumes, or NULL if it is
 * not known. This is how a thread that was stopped earlier resumes a call with
 * a timeout. On amd64, take the call number from the instruction before the
 * syscall instruction, which loads it.
 */
static const char *
code_name(struct target *t, const struct registers *r)
{
	uint8_t p[7];		/* machine code of "mov $N,%eax; syscall" */
	const char *name;

	if (r->machine != EM_X86_64 ||
	    !target_read(t, r->pc - sizeof p, p, sizeof p) || p[0] != 0xb8 ||
	    p[5] != 0x0f || p[6] != 0x05)
		return NULL;
	name = call_name(r->machine, (int64_t)num_get(p + 1, 4));
	return name != NULL && is_one(name, "poll nanosleep futex "
	    "clock_nanosleep") ? name : NULL;
}

/*
 * Return the name of system call number nr, which c describes. For
 * restart_syscall(2), return the name of the call being resumed instead, if
 * wchan or the code at the program counter identifies it. Return NULL if the
 * call has no name.
 */
static const char *
call_first(const struct call *c, int64_t nr, const char *wchan)
{
	const struct registers *r = &c->st->regs;
	const char *first, *name = call_name(r->machine, nr);

	if (name == NULL || strcmp(name, "restart_syscall") != 0)
		return name;
	first = restart_name(wchan, c->arg[0]);
	if (first == NULL)
		first = code_name(c->u->target, r);
	return first != NULL ? first : name;
}

static void
put_thread(struct call *c, uint64_t tid)
{
	const struct stack *st = thread_find(c->u, c->u->inner, tid);

	if (st != NULL)
		buf_printf(c->b, "thread %" PRIu64 " (%s)", st->tid, st->comm);
	else
		buf_printf(c->b, "thread %" PRIu64, tid);
}

/*
 * If the call is waiting for a thread to end, as pthread_join(3) does, append
 * that thread and return true. The kernel clears the futex at address addr when
 * the thread ends. word is the value of the futex. If the snapshot does not
 * record the address that the kernel clears, recognize glibc's struct pthread,
 * in which the head of the robust mutex list follows the thread ID.
 */
static bool
put_join(struct call *c, uint64_t addr, uint64_t word)
{
	enum { BEHIND = 32 };
	const struct stack *st;

	if (addr == 0)
		return false;
	if ((st = thread_find(c->u, c->u->clears, addr)) == NULL &&
	    ((st = thread_find(c->u, c->u->inner, word)) == NULL ||
	    st->robust <= addr || st->robust - addr > BEHIND))
		return false;
	buf_puts(c->b, ", for the end of ");
	put_thread(c, st->inner);
	return true;
}

/*
 * Append the thread, or the owner of the mutex, that the call is waiting for
 * with futex(2). In a musl mutex, and in a glibc mutex that inherits priority
 * or is robust, the owner is in the futex itself. In other glibc mutexes, the
 * owner is two words after the futex (struct __pthread_mutex_s).
 */
static void
put_futex(struct call *c)
{
	enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13,
	    COMMAND = 0x7f, CONTENDED = 2, TID = 0x3fffffff };
	const uint32_t waiters = 0x80000000;
	const unsigned int op = (unsigned int)c->arg[1] & COMMAND;
	struct target *t = c->u->target;
	uint64_t word, owner;

	c->futex = c->arg[0];
	if (!target_word(t, c->arg[0], 4, &word))
		return;
	if (op == LOCK_PI || op == LOCK_PI2 || ((op == WAIT ||
	    op == WAIT_BITSET) && (word & waiters) != 0 &&
	    (uint32_t)c->arg[2] == word &&
	    thread_find(c->u, c->u->inner, word & TID) != NULL))
		owner = word & TID;
	else if ((op != WAIT && op != WAIT_BITSET) ||
	    put_join(c, c->arg[0], word) || word != CONTENDED ||
	    (uint32_t)c->arg[2] != CONTENDED ||
	    !target_word(t, c->arg[0] + 8, 4, &owner) ||
	    thread_find(c->u, c->u->inner, owner) == NULL)
		return;
	buf_puts(c->b, ", a mutex of ");
	put_thread(c, owner);
}

/*
 * Append a timeout of s seconds and ns nanoseconds to the text of c. word is
 * "for" or "until".
 */
static void
put_seconds(struct call *c, const char *word, uint64_t s, uint64_t ns)
{
	c->bare = c->b->len;
	buf_printf(c->b, ", %s %" PRIu64 ".%03" PRIu64 " s", word, s,
	    ns / 1000000);
}

/*
 * Append the time in the struct timespec at address addr. It is a point in time
 * if until is true, and otherwise a duration. Calls named *time64 and
 * epoll_pwait2(2) use the struct of 64-bit systems.
 */
static void
put_time(struct call *c, uint64_t addr, bool until)
{
	const unsigned int word = strstr(c->name, "time64") != NULL ||
	    strcmp(c->name, "epoll_pwait2") == 0 ? 8 : c->st->regs.word;
	uint64_t s, ns;

	if (addr != 0 && target_word(c->u->target, addr, word, &s) &&
	    target_word(c->u->target, addr + word, word, &ns) &&
	    ns < 1000000000)
		put_seconds(c, until ? "until" : "for", s, ns);
}

/*
 * Append the timeout of a call, if it has one. The timeout is a struct timespec
 * or a number of milliseconds.
 */
static void
put_limit(struct call *c)
{
	enum { WAIT_BITSET = 9, COMMAND = 0x7f };
	const int32_t ms = (int32_t)c->arg[strcmp(c->name, "poll") == 0 ? 2 :
	    3];

	if (is_one(c->name, "poll epoll_wait epoll_pwait")) {
		if (ms >= 0)
			put_seconds(c, "for", (uint64_t)ms / 1000,
			    (uint64_t)ms % 1000 * 1000000);
	} else if (is_one(c->name, "ppoll ppoll_time64"))
		put_time(c, c->arg[2], false);
	else if (is_one(c->name, "epoll_pwait2"))
		put_time(c, c->arg[3], false);
	else if (is_one(c->name, "pselect6 pselect6_time64"))
		put_time(c, c->arg[4], false);
	else if (is_one(c->name, "futex futex_time64") &&
	    (c->arg[1] & COMMAND) == 0)
		put_time(c, c->arg[3], false);
	else if (is_one(c->name, "futex futex_time64") &&
	    (c->arg[1] & COMMAND) == WAIT_BITSET)
		put_time(c, c->arg[3], true);
}

/*
 * Append the path at address addr of the thread's memory.
 */
static void
put_path(struct call *c, uint64_t addr)
{
	char path[256];
	size_t n;

	for (n = 0; n < sizeof path - 1; n++)
		if (!target_read(c->u->target, addr + n, &path[n], 1) ||
		    path[n] == '\0')
			break;
	path[n] = '\0';
	if (n > 0)
		buf_printf(c->b, " of %s%s", path, n == sizeof path - 1 ?
		    "..." : "");
}

static void
put_child(struct call *c, int64_t pid)
{
	struct proc *p;
	char name[64];

	if (pid <= 0) {
		buf_puts(c->b, pid == -1 ? ", for any child" :
		    ", for a child of a process group");
		return;
	}
	buf_printf(c->b, ", for child %" PRId64, pid);
	/* pid is a number of the thread's own PID namespace, not of the
	   snapshot */
	if (c->st->inner != c->st->tid)
		return;
	p = snap_find(c->u->target->snap, (uint64_t)pid);
	if (p != NULL && linuxrec_line(proc_record(p), "comm", name,
	    sizeof name))
		buf_printf(c->b, " (%s)", name);
}

/*
 * Append what a call is waiting for, according to its arguments.
 */
static void
put_what(struct call *c)
{
	enum { PIDFD = 3 };	/* P_PIDFD of waitid(2) */
	const char *s = c->name;
	const int64_t pid = (int32_t)c->arg[0];

	if (is_one(s, "futex futex_time64"))
		put_futex(c);
	else if (is_one(s, "poll ppoll ppoll_time64"))
		put_poll(c);
	else if (strcmp(s, "select") == 0 && c->st->regs.word == 4)
		put_oldselect(c);
	else if (is_one(s, "select _newselect pselect6 pselect6_time64"))
		put_select(c);
	else if (strcmp(s, "nanosleep") == 0)
		put_time(c, c->arg[0], false);
	else if (is_one(s, "clock_nanosleep clock_nanosleep_time64"))
		put_time(c, c->arg[2], (c->arg[1] & 1) != 0);
	else if (is_one(s, "wait4 waitpid"))
		put_child(c, pid);
	else if (strcmp(s, "waitid") == 0 && pid == PIDFD) {
		buf_puts(c->b, ", for the child of ");
		put_descriptor(c, (int)c->arg[1]);
	} else if (strcmp(s, "waitid") == 0)
		put_child(c, pid == 0 ? -1 : pid == 1 ?
		    (int32_t)c->arg[1] : 0);
	else if (is_one(s, "pause rt_sigsuspend rt_sigtimedwait"))
		buf_puts(c->b, ", for a signal");
	else if (is_one(s, "read readv pread64 preadv preadv2 write writev "
	    "pwrite64 pwritev pwritev2 recvfrom recvmsg recvmmsg sendto "
	    "sendmsg sendmmsg recv send accept accept4 connect ioctl fcntl "
	    "flock fsync fdatasync epoll_wait epoll_pwait epoll_pwait2 "
	    "mq_timedreceive mq_timedsend getdents64 fallocate ftruncate "
	    "sendfile splice tee")) {
		buf_puts(c->b, " of ");
		put_descriptor(c, (int)c->arg[0]);
	} else if (is_one(s, "open stat lstat access chdir mkdir rmdir unlink "
	    "readlink statfs execve truncate rename link symlink"))
		put_path(c, c->arg[0]);
	else if (is_one(s, "openat openat2 newfstatat statx faccessat "
	    "faccessat2 mkdirat unlinkat readlinkat execveat"))
		put_path(c, c->arg[1]);
	put_limit(c);
}

/*
 * Set st->wait to a line that says what thread st of u is waiting for, if it is
 * in a system call.
 */
void
wait_find(struct unwinder *u, struct stack *st)
{
	struct call c = { .u = u, .st = st };
	struct buf b = { 0 };
	char wchan[64] = "";
	int64_t nr;

	if (st->regs.machine == 0)
		return;
	if ((!call_recorded(st, &nr, c.arg, wchan, sizeof wchan) &&
	    !call_interrupted(&st->regs, &nr, c.arg)) || nr < 0)
		return;
	c.b = &b;
	c.name = call_first(&c, nr, wchan);
	if (c.name == NULL)
		buf_printf(&b, "call %" PRId64, nr);
	else {
		buf_puts(&b, c.name);
		put_what(&c);
	}
	st->futex = c.futex;
	st->bare = c.bare != 0 ? c.bare : b.len;
	st->wait = pool_own(&u->target->pool, buf_text(&b));
}
