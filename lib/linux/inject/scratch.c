/*
 * Memory of a process for what its system calls take and give.
 */
#include "run.h"

#include <sys/uio.h>

#include <string.h>
#include <unistd.h>

/*
 * Write the len bytes at buf to address at of the memory of pid, a process, or
 * a clone, that we have stopped.  Unlike to /proc/PID/mem, that takes no right
 * to write the files of another user.  Return 0, or -1 with errstr.
 */
int
inject_put(pid_t pid, const void *buf, size_t len, uint64_t at)
{
	struct iovec from, to;

	memcpy(&from.iov_base, &buf, sizeof buf);
	memcpy(&to.iov_base, &at, sizeof at);
	from.iov_len = to.iov_len = len;
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)len)
		return errstr_sys("memory of %d", pid);
	return 0;
}

/*
 * Return where in the process of in bytes are for what calls take and give:
 * INJECT_ROOM that it has mapped for us, else isa.stage on the dead part of its
 * stack, where a frame that unmaps nothing has none.
 */
uint64_t
inject_scratch(const struct inject *in)
{
	return in->map != 0 ? in->map : in->dead;
}

/*
 * Return 0 if len bytes fit there, else -1 with errstr.
 */
static int
scratch_fits(const struct inject *in, size_t len)
{
	const size_t room = in->map != 0 ? INJECT_ROOM : isa.stage;

	return len <= room ? 0 : errstr_set("process %d: %zu bytes of scratch "
	    "memory, not %zu", in->pid, room, len);
}

/*
 * Read into buf the len bytes that a call of in left for us: inject_scratch.
 * Return 0, or -1 with errstr.
 */
int
inject_read(struct inject *in, void *buf, size_t len)
{
	if (scratch_fits(in, len) == -1)
		return -1;
	if (pread(in->mem, buf, len, (off_t)inject_scratch(in)) !=
	    (ssize_t)len)
		return errstr_sys("/proc/%d/mem", in->pid);
	return 0;
}

/*
 * Write the len bytes at buf there, likewise.  Return 0, or -1 with errstr.
 */
int
inject_write(struct inject *in, const void *buf, size_t len)
{
	return scratch_fits(in, len) == -1 ? -1 :
	    inject_put(in->pid, buf, len, inject_scratch(in));
}
