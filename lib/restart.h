/*
 * Results inside the kernel of an interrupted system call that is to be
 * restarted: include/linux/errno.h. Programs never see them.
 */
#ifndef RESTART_H
#define RESTART_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ERESTARTSYS = 512,	/* restart the call, unless a handler without
				   SA_RESTART runs */
	ERESTARTNOINTR = 513,	/* always restart the call */
	ERESTARTNOHAND = 514,	/* restart the call, unless a handler runs */
	ERESTART_RESTARTBLOCK = 516	/* restart the call with
					   restart_syscall(2), unless a handler
					   runs */
};

const char	*restart_name(const char *wchan, uint64_t arg);

#endif
