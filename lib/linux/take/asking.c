/*
 * Make stopped processes run one system call. Most of the time for one process
 * is spent switching to it and back, so several are asked at once, and none is
 * waited for alone.
 */
#include "taking.h"

/*
 * Mark a as failed, so that no more calls are injected for it. Keep errstr,
 * which has the reason, for asking_result().
 */
void
asking_failed(struct asking *a)
{
	strlcpy(a->why, snap_errstr(), sizeof a->why);
	a->rc = -1;
}

/*
 * Return 0 if no call injected for a has failed. Otherwise return -1 with
 * errstr set to the reason.
 */
int
asking_result(const struct asking *a)
{
	return a->rc == 0 ? 0 : errstr_set("%s", a->why);
}

/*
 * Make system call nr with arguments arg in each of the n processes v. Set
 * member ret of each to the result. If room is not 0, it is the index of an
 * argument; replace that argument with the address of scratch memory in the
 * process.
 */
void
ask_each(struct asking *v, size_t n, long nr, const uint64_t arg[6],
    size_t room)
{
	struct asking *a;

	for (a = v; a < v + n; a++) {
		memcpy(a->arg, arg, sizeof a->arg);
		if (room > 0 && room < sizeof a->arg / sizeof *a->arg)
			a->arg[room] = inject_scratch(a->in);
		if (a->rc == 0 && inject_callbegin(a->in, a->arg) == -1)
			asking_failed(a);
	}
	for (a = v; a < v + n; a++)
		if (a->rc == 0 && inject_callstart(a->in, nr, a->arg) == -1)
			asking_failed(a);
	for (a = v; a < v + n; a++)
		if (a->rc == 0 && inject_callend(a->in, &a->ret) == -1)
			asking_failed(a);
}

/*
 * Read into buf the first len bytes of the scratch memory of a, which the last
 * call of ask_each() has set. Return false if that call failed or was not made.
 */
bool
asking_got(struct asking *a, void *buf, size_t len)
{
	if (a->rc == -1 || a->ret < 0)
		return false;
	if (len > 0 && inject_read(a->in, buf, len) == -1)
		asking_failed(a);
	return a->rc == 0;
}

/*
 * For each of the n processes v, move the answers in its member told to the
 * record of the process, as a file called name. Discard the answers of a
 * process for which a call failed.
 */
void
asking_reported(struct asking *v, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].rc == 0)
			filelist_buf(v[i].to, name, &v[i].told);
		else
			buf_free(&v[i].told);
}

/*
 * For each of the n processes v, record the value that system call nr returns
 * if its first argument is option, as a file called name. If size is not 0, the
 * call stores the value, which has size bytes; otherwise the value is the
 * result of the call. If hex is set, write it in hexadecimal.
 */
void
ask_number(struct asking *v, size_t n, const char *name, long nr, long option,
    size_t size, bool hex)
{
	const uint64_t arg[6] = { (uint64_t)option };
	struct asking *a;
	uint64_t got;

	ask_each(v, n, nr, arg, size > 0 ? 1 : 0);
	for (a = v; a < v + n; a++) {
		got = size > 0 ? 0 : (uint64_t)a->ret;
		if (asking_got(a, &got, size))
			filelist_text(a->to, name, hex ? "%jx\n" : "%ju\n",
			    (uintmax_t)got);
	}
}
