/*
 * Many descriptors: files, pipes and sockets with unread bytes, epoll, timers.
 * Afterwards the pipes and sockets must have their bytes.
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <fcntl.h>

enum { SETS = 40 };

int
main(void)
{
	int p[SETS][2], s[SETS][2], i, f;
	char buf[8];
	long lost;

	for (i = 0; i < SETS; i++) {
		if (pipe(p[i]) == -1 ||
		    socketpair(AF_UNIX, i % 2 ? SOCK_STREAM : SOCK_DGRAM, 0,
		    s[i]) == -1 || write(p[i][1], "pipe", 4) != 4 ||
		    write(s[i][1], "sock", 4) != 4)
			err(1, "pair %d", i);
		(void)socket(i % 2 ? AF_INET : AF_INET6, SOCK_STREAM, 0);
		(void)epoll_create1(0);
		(void)eventfd(3, 0);
		(void)timerfd_create(CLOCK_MONOTONIC, 0);
		f = open("/", O_RDONLY | (i % 2 ? O_DIRECTORY : O_PATH));
		printf("fd %d\n", f);
	}
	ready_await();
	for (lost = 0, i = 0; i < SETS; i++) {
		lost += read(p[i][0], buf, 8) != 4 || memcmp(buf, "pipe", 4);
		lost += read(s[i][0], buf, 8) != 4 || memcmp(buf, "sock", 4);
	}
	report("lost", lost);
	return 0;
}
