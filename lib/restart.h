/*
 * What the kernel has a system call return that is to be made again, unless a
 * signal is handled first: include/linux/errno.h.  Programs never see these.
 */
#ifndef RESTART_H
#define RESTART_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ERESTARTSYS = 512,	/* again, if the handler has SA_RESTART */
	ERESTARTNOINTR = 513,	/* again, whatever the handler is */
	ERESTARTNOHAND = 514,	/* again only if there is none */
	ERESTART_RESTARTBLOCK = 516	/* as restart_syscall(2), likewise */
};

const char	*restart_name(const char *wchan, uint64_t first);

#endif
