/*
 * A process that most system calls kill (seccomp(2)).
 */
#include "target.h"

#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stddef.h>

#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int
main(void)
{
	static char kept[4 * MIN_PAGE];
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_restart_syscall),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	};
	struct sock_fprog prog = { sizeof filter / sizeof *filter, filter };

	region("kept", kept, sizeof kept, 1);
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == -1)
		err(1, "seccomp");
	ready_await();
	report("pattern", pattern_check(kept, sizeof kept, 1));
	return 0;
}
