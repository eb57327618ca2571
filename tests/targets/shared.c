/*
 * Shared memory of each kind: this process has touched its first and sixth
 * page, a child that has ended the second and fourth, nobody the others.
 */
#include "target.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include <fcntl.h>

static void
fill(const char *name, char *p, uint64_t seed)
{
	pid_t pid;
	int status;

	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		pattern_fill(p + PAGE, PAGE, seed + 1);
		pattern_fill(p + 3 * PAGE, PAGE, seed + 2);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "child");
	region(name, p, PAGE, seed);
	region(name, p + 5 * PAGE, PAGE, seed + 3);
	printf("object %s-other %#jx %d %ju\n", name,
	    (uintmax_t)(uintptr_t)p + PAGE, PAGE, (uintmax_t)seed + 1);
	printf("object %s-after %#jx %d %ju\n", name,
	    (uintmax_t)(uintptr_t)p + 3 * PAGE, PAGE, (uintmax_t)seed + 2);
}

static void
sysv(const char *name, uint64_t seed)
{
	char *p;
	int id;

	if ((id = shmget(IPC_PRIVATE, 8 * PAGE, IPC_CREAT | 0600)) == -1)
		err(1, "shmget");
	if ((p = shmat(id, NULL, 0)) == (void *)-1)
		err(1, "shmat");
	if (shmctl(id, IPC_RMID, NULL) == -1)
		err(1, "shmctl");
	fill(name, p, seed);
	printf("shmid %d\n", id);
}

int
main(int argc, char *argv[])
{
	char *p;
	int fd;

	p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	fill("anonymous", p, 100);
	if ((fd = memfd_create("a name", 0)) == -1 ||
	    ftruncate(fd, 8 * PAGE) == -1)
		err(1, "memfd");
	p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fill("memfd", p, 200);
	sysv("sysv", 300);
	sysv("sysv2", 400);
	if (argc > 1) {
		fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd == -1 || ftruncate(fd, 8 * PAGE) == -1)
			err(1, "%s", argv[1]);
		p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
		fill("named", p, 500);
	}
	ready_await();
	return 0;
}
