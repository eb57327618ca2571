/*
 * Read and write the memory that system calls of a process use for arguments
 * and results.
 */
#include "run.h"

#include <sys/uio.h>

#include <unistd.h>

/*
 * Write len bytes from buf to the memory of process or clone pid, at address
 * addr. The process must be stopped. Unlike a write to /proc/PID/mem, this
 * needs no right to write to files of other users. Return 0, or -1 with errstr
 * set.
 */
int
inject_put(pid_t pid, const void *buf, size_t len, uint64_t addr)
{
	struct iovec from, to;

	memcpy(&from.iov_base, &buf, sizeof buf);
	memcpy(&to.iov_base, &addr, sizeof addr);
	from.iov_len = to.iov_len = len;
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)len)
		return errstr_sys("memory of process %d", pid);
	return 0;
}

/*
 * Return the address of the scratch memory in the process of inj. It is at the
 * start of our mapping, and has INJECT_ROOM bytes. Without a mapping, it is at
 * the start of the unused stack, and has isa.stage bytes.
 */
uint64_t
inject_scratch(const struct inject *inj)
{
	return inj->map != 0 ? inj->map : inj->unused;
}

/*
 * Return 0 if len bytes fit into the scratch memory of inj, else -1 with errstr
 * set.
 */
static int
scratch_fits(const struct inject *inj, size_t len)
{
	const size_t room = inj->map != 0 ? INJECT_ROOM : isa.stage;

	return len <= room ? 0 : errstr_set("process %d: scratch memory has "
	    "%zu bytes, but %zu are needed", inj->pid, room, len);
}

/*
 * Read the result of a call, len bytes of the scratch memory of inj, into buf.
 * Return 0, or -1 with errstr set.
 */
int
inject_read(struct inject *inj, void *buf, size_t len)
{
	if (scratch_fits(inj, len) == -1)
		return -1;
	if (pread(inj->mem, buf, len, (off_t)inject_scratch(inj)) !=
	    (ssize_t)len)
		return errstr_sys("/proc/%d/mem", inj->pid);
	return 0;
}

/*
 * Write the arguments of a call, len bytes at buf, to the scratch memory of
 * inj. Return 0, or -1 with errstr set.
 */
int
inject_write(struct inject *inj, const void *buf, size_t len)
{
	return scratch_fits(inj, len) == -1 ? -1 :
	    inject_put(inj->pid, buf, len, inject_scratch(inj));
}
