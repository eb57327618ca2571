/*
 * What a thread waits in that was stopped before, and goes on with
 * restart_syscall(2).
 */
#include "restart.h"

#include <string.h>

/*
 * Return true if a name has one of the words of a list in it, which ends with
 * NULL.
 */
static bool
has_word(const char *name, const char *const *word)
{
	while (*word != NULL && strstr(name, *word) == NULL)
		word++;
	return *word != NULL;
}

/*
 * Return the name of the system call that a thread goes on with which is in
 * restart_syscall(2): it sleeps in the kernel's function wchan, as
 * proc_pid_wchan(5) has it, and first is the first argument of its call.  NULL
 * if wchan does not tell.  The calls are those that set a function for that,
 * set_restart_fn of linux/thread_info.h.  Of who sleeps for a time, wchan may
 * be the function that enters a system call, for it names none of the
 * scheduler's; an address is never as low as the number of a clock.
 */
const char *
restart_name(const char *wchan, uint64_t first)
{
	static const char *const sleeps[] = {
		"sleep", "syscall", "sys_call", "svc", NULL
	};
	enum { CLOCKS = 64 };

	if (strstr(wchan, "poll") != NULL)
		return "poll";
	if (strstr(wchan, "futex") != NULL)
		return "futex";
	if (!has_word(wchan, sleeps))
		return NULL;
	return first < CLOCKS || strstr(wchan, "cpu") != NULL ?
	    "clock_nanosleep" : "nanosleep";
}
