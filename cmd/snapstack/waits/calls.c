/*
 * Name system calls by number with libseccomp, which knows several machines.
 */
#include "waits.h"

#include <elf.h>
#include <seccomp.h>

/*
 * System calls from 424 on have the same numbers on all machines
 * (asm/unistd.h). Older versions of libseccomp do not know the latest.
 */
enum { FIRST = 424 };

static const char since_424[] =
    "pidfd_send_signal io_uring_setup io_uring_enter "
    "io_uring_register open_tree move_mount fsopen fsconfig "
    "fsmount fspick pidfd_open clone3 close_range openat2 "
    "pidfd_getfd faccessat2 process_madvise epoll_pwait2 "
    "mount_setattr quotactl_fd landlock_create_ruleset "
    "landlock_add_rule landlock_restrict_self memfd_secret "
    "process_mrelease futex_waitv set_mempolicy_home_node "
    "cachestat fchmodat2 map_shadow_stack futex_wake "
    "futex_wait futex_requeue statmount listmount "
    "lsm_get_self_attr lsm_set_self_attr lsm_list_modules "
    "mseal setxattrat getxattrat listxattrat removexattrat "
    "open_tree_attr file_getattr file_setattr";

/*
 * Return the name of system call nr on the given machine, an e_machine of
 * elf(5). The name is valid until the next call. Return NULL if it is not
 * known.
 */
const char *
call_name(uint16_t machine, int64_t nr)
{
	const uint32_t arch = machine == EM_X86_64 ? SCMP_ARCH_X86_64 :
	    machine == EM_386 ? SCMP_ARCH_X86 :
	    machine == EM_AARCH64 ? SCMP_ARCH_AARCH64 : 0;
	static char name[64];
	const char *s = since_424;
	char *known;

	if (arch == 0 || nr < 0 || nr > INT32_MAX)
		return NULL;
	if (nr < FIRST) {
		known = seccomp_syscall_resolve_num_arch(arch, (int)nr);
		if (known == NULL)
			return NULL;
		strlcpy(name, known, sizeof name);
		free(known);
		return name;
	}
	for (; nr > FIRST && s != NULL; nr--)
		if ((s = strchr(s, ' ')) != NULL)
			s++;
	if (s == NULL)
		return NULL;
	strlcpy(name, s, strcspn(s, " ") + 1);
	return name;
}
