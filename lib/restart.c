/*
 * Name the system call that a thread in restart_syscall(2) continues after a
 * stop.
 */
#include "restart.h"

#include <string.h>

/*
 * Return true if name contains one of the words of a list that ends with NULL.
 */
static bool
has_word(const char *name, const char *const *word)
{
	while (*word != NULL && strstr(name, *word) == NULL)
		word++;
	return *word != NULL;
}

/*
 * Return the name of the system call that a thread in restart_syscall(2)
 * continues.  It sleeps in kernel function wchan, as in proc_pid_wchan(5), and
 * first is the first argument of its call.  Return NULL if wchan does not show
 * it.  The calls are those that use set_restart_fn of linux/thread_info.h.
 * wchan omits functions of the scheduler, so that a thread in a timed sleep may
 * show the system call's entry function; then first decides, since an address
 * is never as low as the number of a clock.
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
