/*
 * Run a command as if the kernel were older: older COMMAND [ARG ...].  Only
 * PAGEMAP_SCAN (Linux 6.7) and PROCMAP_QUERY (6.11) are missing.
 */
#include "target.h"

#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <stddef.h>

#define LACKS(request) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY)
#define LOW(arg) \
	(offsetof(struct seccomp_data, args[arg]) + \
	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

enum {
	SCAN = 0xc0606610,	/* in linux/fs.h */
	QUERY = 0xc0686611
};

int
main(int argc, char *argv[])
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW(1)),
		LACKS(SCAN),
		LACKS(QUERY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog prog = { sizeof filter / sizeof *filter, filter };

	if (argc < 2)
		errx(1, "usage: older command [arg ...]");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == -1)
		err(1, "seccomp");
	execvp(argv[1], argv + 1);
	err(1, "%s", argv[1]);
}
