/*
 * A program that changes its action for SIGUSR1 and its program break all the
 * time.  The first word has the number that they are being set to; the second
 * one has it when that is done.  Before "ready" it prints
 *
 *	turning ADDR BREAK
 *
 * where ADDR is the address of the two words, and BREAK the break for number 0.
 */
#include "target.h"

#include <poll.h>
#include <stdatomic.h>

enum {
	FIRST = 16,		/* neither SIG_DFL nor SIG_IGN */
	TURNS = 256,		/* the break moves by up to 255 bytes */
	AT_ONCE = 1000
};

static atomic_ulong word[2];

int
main(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct sigaction sa = { .sa_flags = SA_RESTART };
	static char room[BUFSIZ];
	char *base;
	unsigned long n;
	int i;

	/* malloc(3) must not use memory above the break */
	setvbuf(stdout, room, _IOLBF, sizeof room);
	if ((base = sbrk(PAGE)) == (void *)-1)
		err(1, "sbrk");
	printf("turning %#jx %#jx\n", (uintmax_t)(uintptr_t)word,
	    (uintmax_t)(uintptr_t)base);
	ready();
	n = FIRST;
	do
		for (i = 0; i < AT_ONCE; i++, n++) {
			word[0] = n;
			memcpy(&sa.sa_handler, &n, sizeof n);
			if (sigaction(SIGUSR1, &sa, NULL) == -1 ||
			    brk(base + n % TURNS) == -1)
				err(1, "turning");
			word[1] = n;
		}
	while (poll(&in, 1, 0) == 0);
	report("lost", 0);
	return 0;
}
