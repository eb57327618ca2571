/*
 * What a thread is asked, of which /proc and ptrace(2) tell nothing.
 */
#include "asking.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <signal.h>

enum { GET_TID_ADDRESS = 40 };	/* of prctl(2), since Linux 3.5 */

/*
 * Ask the threads that n processes v are in.
 */
void
ask_thread(struct asking *v, size_t n)
{
	static const uint64_t none[6];
	struct asking *a;
	stack_t ss;

	ask_each(v, n, SYS_sigaltstack, none, 1);
	for (a = v; a < v + n; a++)
		if (asking_got(a, &ss, sizeof ss))
			filelist_text(a->to, "sigaltstack", "%jx %zu %x\n",
			    (uintmax_t)(uintptr_t)ss.ss_sp, ss.ss_size,
			    (unsigned int)ss.ss_flags);
	ask_prctl(v, n, "tid_address", GET_TID_ADDRESS, 8, true);
	ask_prctl(v, n, "pdeath_signal", PR_GET_PDEATHSIG, 4, false);
	ask_prctl(v, n, "securebits", PR_GET_SECUREBITS, 0, true);
}
