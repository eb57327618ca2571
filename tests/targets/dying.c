/*
 * A parent whose N children end one after another, and stay zombies: dying N.
 * It prints their process IDs.  After it reads a byte, one ends every
 * millisecond.
 */
#include "target.h"

#include <sys/wait.h>

int
main(int argc, char *argv[])
{
	int bad, from[2], i, n, status;
	pid_t pid;
	char c;

	if (argc != 2 || (n = (int)strtol(argv[1], NULL, 10)) < 1 ||
	    pipe(from) == -1)
		errx(2, "usage: dying n");
	for (i = 0; i < n; i++) {
		if ((pid = fork()) == -1)
			err(1, "fork");
		if (pid == 0) {
			end_with_parent();
			close(from[1]);
			while (read(from[0], &c, 1) == -1 && errno == EINTR)
				continue;
			_exit(3);
		}
		printf("child %d\n", pid);
	}
	close(from[0]);
	ready_await();
	for (i = 0; i < n; i++) {
		usleep(1000);
		if (write(from[1], "x", 1) != 1)
			err(1, "write");
	}
	await();
	for (bad = 0, i = 0; i < n; i++)
		bad += wait(&status) == -1 || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 3;
	report("children", bad);
	return 0;
}
