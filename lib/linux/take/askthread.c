/*
 * What a thread is asked, of which /proc and ptrace(2) tell nothing.
 */
#include "asking.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <signal.h>

enum { GET_TID_ADDRESS = 40 };	/* of prctl(2), since Linux 3.5 */

/*
 * Ask the thread that a->in is in.  Return 0, or -1 with errstr.
 */
int
ask_thread(struct asking *a)
{
	const uint64_t arg[6] = { 0, inject_scratch(a->in) };
	stack_t ss;
	int rc;

	if ((rc = ask(a, SYS_sigaltstack, arg, &ss, sizeof ss)) == -1)
		return -1;
	if (rc == 1)
		filelist_text(a->to, "sigaltstack", "%jx %zu %x\n",
		    (uintmax_t)(uintptr_t)ss.ss_sp, ss.ss_size,
		    (unsigned int)ss.ss_flags);
	if (ask_prctl(a, "tid_address", GET_TID_ADDRESS, 8, true) == -1 ||
	    ask_prctl(a, "pdeath_signal", PR_GET_PDEATHSIG, 4, false) == -1)
		return -1;
	return ask_prctl(a, "securebits", PR_GET_SECUREBITS, 0, true);
}
