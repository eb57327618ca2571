/*
 * A program whose action for SIGUSR1 and whose program break are others at any
 * moment.  While it changes them, the first word tells which number they are
 * to have; then the second one has it, too.  It prints, before "ready",
 *
 *	turning ADDR BREAK
 *
 * where ADDR is that of the two words, and BREAK what the break is without a
 * number.
 */
#include "target.h"

#include <poll.h>
#include <stdatomic.h>

enum {
	FIRST = 16,		/* no number of an action */
	TURNS = 256,		/* of the break, which are bytes */
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

	/* malloc(3) is not to have anything above the break */
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
