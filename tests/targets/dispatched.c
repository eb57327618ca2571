/*
 * A process whose system calls are dispatched to itself as SIGSYS most of the
 * time (prctl(2), PR_SET_SYSCALL_USER_DISPATCH), as in Wine.  At the end it
 * reports whether that still works.
 */
#include "target.h"

#include <sys/syscall.h>

#include <poll.h>

enum {
	SET_DISPATCH = 59, DISPATCH_ON = 1,	/* linux/prctl.h */
	ALLOW = 0, BLOCK = 1,
	ROUNDS = 1000000
};

static volatile char selector = ALLOW;
static volatile sig_atomic_t handled;

static void
handler(int sig)
{
	(void)sig;
	selector = ALLOW;
	handled++;
}

int
main(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	volatile int i;

	signal(SIGSYS, handler);
	if (prctl(SET_DISPATCH, DISPATCH_ON, 0, 0, &selector) == -1) {
		printf("none\n");
		ready_await();
		return 0;
	}
	ready();
	do {
		selector = BLOCK;
		for (i = 0; i < ROUNDS; i++)
			continue;
		selector = ALLOW;
	} while (poll(&p, 1, 0) == 0);
	report("early", handled);
	selector = BLOCK;
	(void)syscall(SYS_getppid);
	report("handled", handled - 1);
	return 0;
}
