/*
 * Name the system call that a thread in restart_syscall(2) continues after a
 * stop.
 */
#include "restart.h"

#include <string.h>

/*
 * Return true if name contains one of the strings in word, an array that ends
 * with NULL.
 */
static bool
has_word(const char *name, const char *const *word)
{
	while (*word != NULL && strstr(name, *word) == NULL)
		word++;
	return *word != NULL;
}

/*
 * Return the name of the system call that a thread in restart_syscall(2) is
 * resuming. Return NULL if it cannot be determined. wchan is the kernel
 * function in which the thread sleeps, as in proc_pid_wchan(5). arg is the
 * first argument of its call. The candidates are the calls that use
 * set_restart_fn of linux/thread_info.h. wchan omits scheduler functions; in a
 * timed sleep, it may therefore be the entry function of the system call. Then
 * arg decides: an address is never as low as a clock number.
 */
const char *
restart_name(const char *wchan, uint64_t arg)
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
	return arg < CLOCKS || strstr(wchan, "cpu") != NULL ?
	    "clock_nanosleep" : "nanosleep";
}
