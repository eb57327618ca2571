/*
 * A process that most system calls kill (seccomp(2), filter mode); with an
 * argument, it is in strict mode.
 */
#include "target.h"

#include <sys/syscall.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

int
main(int argc, char *argv[])
{
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_restart_syscall), ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	};
	struct sock_fprog prog = { sizeof filter / sizeof *filter, filter };
	static char kept[4 * MIN_PAGE];

	(void)argv;
	region("kept", kept, sizeof kept, 3);
	printf("starting\n");
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    (argc > 1 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) :
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) == -1)
		err(1, "seccomp");
	ready_await();
	syscall(argc > 1 ? SYS_exit : SYS_exit_group, 0);
}
