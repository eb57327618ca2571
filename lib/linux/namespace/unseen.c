/*
 * File systems of the kernel's own, mounted where nobody sees them: fsopen(2),
 * since Linux 5.2.
 */
#include "spaces.h"

#include <sys/syscall.h>

#include <linux/mount.h>

#include <unistd.h>

/*
 * Mount the file system that fs, of fsopen(2), was told of; fs is closed.
 * Return its root, of O_PATH, which ends when that is closed; or -1.
 */
int
unseen_mount(int fs)
{
	int root = -1;

	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return root;
}
