/*
 * rooted DIR: make DIR, which has this program and a directory proc, the root
 * of a mount namespace, and count there: a line "count N wrong" each time in
 * /log.  If DIR has a directory tmp, mount a tmpfs of user 5 there, with a file
 * of user 7.  It is linked statically, so that DIR needs no libraries.
 */
#include <sys/mount.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void
count(void)
{
	const uid_t uid = getuid();
	int fd, i;

	fd = open("/log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	for (i = 1;; i++) {
		dprintf(fd, "count %d %d\n", i, getuid() != uid);
		usleep(10000);
	}
}

static void
tmp_make(void)
{
	int fd;

	if (mount("own", "/tmp", "tmpfs", 0, "uid=5,gid=6,mode=700") == -1)
		return;
	fd = open("/tmp/file", O_WRONLY | O_CREAT, 0600);
	(void)!fchown(fd, 7, 8);
	close(fd);
}

int
main(int argc, char *argv[])
{
	int fd;

	if (argc == 1)
		count();
	setsid();
	for (fd = 0; fd < 1024; fd++)
		close(fd);
	if (mount(argv[1], argv[1], NULL, MS_BIND, NULL) == -1 ||
	    chdir(argv[1]) == -1 ||
	    mount("proc", "proc", "proc", 0, NULL) == -1 ||
	    syscall(SYS_pivot_root, ".", ".") == -1 ||
	    umount2(".", MNT_DETACH) == -1 || chdir("/") == -1)
		return 1;
	tmp_make();
	execl("/rooted", "rooted", (char *)NULL);
	return 1;
}
