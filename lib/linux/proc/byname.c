/*
 * Processes by their names, as ps(1) shows them, and by their threads.
 */
#include "proc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct byname {
	const char	*name;
	int		(*fn)(void *, pid_t);
	void		*arg;
	size_t		 found;
	size_t		 foreign;	/* of other users */
};

/*
 * Return true if a process has a name.  The kernel keeps 15 bytes of it; a
 * longer one is compared with what the process was started as.
 */
static bool
is_called(pid_t pid, const char *name)
{
	enum { COMMLEN = 15 };
	struct task t;
	struct bytes b;
	bool is;

	if (proc_stat(pid, 0, &t) == -1 || t.kernel ||
	    strncmp(t.comm, name, COMMLEN) != 0)
		return false;
	if (strlen(name) <= COMMLEN)
		return strcmp(t.comm, name) == 0;
	if (proc_read(pid, 0, "cmdline", &b) == -1)
		return false;
	is = b.len > 0 && memchr(b.data, '\0', b.len) != NULL &&
	    strcmp(basename((char *)b.data), name) == 0;
	free(b.data);
	return is;
}

static int
byname_pid(void *arg, long pid)
{
	struct byname *by = arg;
	long uid;

	if (pid == getpid() || !is_called((pid_t)pid, by->name) ||
	    (uid = proc_status((pid_t)pid, 0, "Uid")) == -1)
		return 0;
	if (uid != (long)getuid()) {
		by->foreign++;
		return 0;
	}
	by->found++;
	return by->fn(by->arg, (pid_t)pid);
}

/*
 * Call fn for each process of a name that the user owns, but for this one,
 * until it returns -1; set *foreign to how many others own.  Return 0, or -1
 * with errstr; it is an error if there is none.
 */
int
proc_named(const char *name, int (*fn)(void *, pid_t), void *arg,
    size_t *foreign)
{
	struct byname by = { name, fn, arg, 0, 0 };

	if (proc_list(0, NULL, byname_pid, &by) == -1)
		return -1;
	*foreign = by.foreign;
	return by.found > 0 ? 0 : errstr_set("no process of yours is called "
	    "\"%s\"%s", name, by.foreign > 0 ? " (others' are; use their "
	    "pids)" : "");
}

/*
 * Return the number of the process that a thread belongs to, or -1 if there is
 * none.
 */
pid_t
proc_leader(pid_t tid)
{
	return (pid_t)proc_status(tid, 0, "Tgid");
}

/*
 * Return true if a process has ended: there is none of that number, or it is a
 * zombie whose last thread has gone.
 */
bool
proc_ended(pid_t pid)
{
	return proc_died(pid, 0) && proc_status(pid, 0, "Threads") <= 1;
}
