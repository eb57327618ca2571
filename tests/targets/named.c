/*
 * Names with terminal escapes, wherever a process can choose a name: its own,
 * a child's, a memfd, files that are open and mapped in the directory argv[1],
 * the same deleted, FIFOs, sockets, its current directory.  They contain
 * control characters, C1 controls as UTF-8 and as bytes, and characters that
 * change the direction of text.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>

static const char *const evil[] = {
	"\033]0;title\a\033[31mred", "c1\302\2331;31m\302\205",
	"raw\2331;31m\205", "bidi\342\200\256txt.\342\201\246\342\200\217",
};

static void
map_file(int fd, uint64_t seed)
{
	char *p;

	if (fd == -1 || ftruncate(fd, 2 * PAGE) == -1 ||
	    (p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0)) == MAP_FAILED)
		err(1, "a file");
	pattern_fill(p, PAGE, seed);
}

static void
listen_at(const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd;

	memcpy(un.sun_path, name, strnlen(name, sizeof un.sun_path - 1));
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (fd == -1 || bind(fd, (struct sockaddr *)&un, sizeof un) == -1)
		err(1, "a socket");
}

int
main(int argc, char *argv[])
{
	char name[200];
	uint64_t i;

	if (argc != 2 || chdir(argv[1]) == -1)
		err(1, "chdir");
	for (i = 0; i < sizeof evil / sizeof *evil; i++) {
		map_file(memfd_create(evil[i], 0), i + 1);
		snprintf(name, sizeof name, "lib%s.so", evil[i]);
		map_file(open(name, O_RDWR | O_CREAT, 0755), i + 10);
		snprintf(name, sizeof name, "gone%s", evil[i]);
		map_file(open(name, O_RDWR | O_CREAT, 0755), i + 20);
		(void)unlink(name);
		snprintf(name, sizeof name, "fifo%s", evil[i]);
		if (mkfifo(name, 0600) == -1 || open(name, O_RDWR) == -1)
			err(1, "a fifo");
		snprintf(name, sizeof name, "sock%s", evil[i]);
		listen_at(name);
		if (mkdir(evil[i], 0700) == -1 || chdir(evil[i]) == -1)
			err(1, "a directory");
		if (i % 2 == 0 && fork() == 0) {
			prctl(PR_SET_NAME, evil[i + 1]);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	prctl(PR_SET_NAME, evil[0]);
	ready_await();
	return 0;
}
