/*
 * Whose thread it is, and whether a process has ended.
 */
#include "proc.h"

/*
 * Return the number of the process that thread tid belongs to, or -1 if there
 * is none.
 */
pid_t
proc_leader(pid_t tid)
{
	return (pid_t)proc_status(tid, 0, "Tgid");
}

/*
 * Return true if process pid has ended: there is none of that number, or it is
 * a zombie whose last thread has gone.
 */
bool
proc_ended(pid_t pid)
{
	return proc_died(pid, 0) && proc_status(pid, 0, "Threads") <= 1;
}
