/*
 * One question to a stopped process: a system call that it is made to run.
 */
#include "asking.h"

#include <sys/syscall.h>

/*
 * Make call nr with arguments arg in the thread of a, whose answer is not its
 * result, but what it leaves in len bytes of scratch memory, which go to buf.
 * Return 1, 0 if the call fails, or -1 with errstr.
 */
int
ask(struct asking *a, long nr, const uint64_t arg[6], void *buf, size_t len)
{
	int64_t ret;

	if (inject_call(a->in, &ret, nr, arg) == -1)
		return -1;
	if (ret < 0)
		return 0;
	return inject_read(a->in, buf, len) == -1 ? -1 : 1;
}

/*
 * Record as that name, in hexadecimal with hex, the number that prctl(2) leaves
 * for an option in memory of the thread of a, of size bytes, or, if that is 0,
 * returns.  Return 0, or -1 with errstr.
 */
int
ask_prctl(struct asking *a, const char *name, long option, size_t size,
    bool hex)
{
	uint64_t arg[6] = { (uint64_t)option };
	int64_t ret;
	uint64_t v;

	arg[1] = size > 0 ? inject_scratch(a->in) : 0;
	if (inject_call(a->in, &ret, SYS_prctl, arg) == -1)
		return -1;
	if (ret < 0)
		return 0;
	v = size > 0 ? 0 : (uint64_t)ret;
	if (size > 0 && inject_read(a->in, &v, size) == -1)
		return -1;
	filelist_text(a->to, name, hex ? "%jx\n" : "%ju\n", (uintmax_t)v);
	return 0;
}
