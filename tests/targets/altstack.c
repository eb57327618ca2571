/*
 * Threads that change their alternate signal stack, sigaltstack(2), and record
 * it in memory: all the time, after a nap, or for each message that they
 * receive.  Other threads set it once, and wait.  Those that change it all the
 * time rest after STEPS changes, to leave the processors to others.
 *
 *	altstack TID ADDR	two words at ADDR: the stack to be set next,
 *				and the stack that was set last
 */
#include "target.h"

#include <sys/syscall.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum { EACH = 2, STACK = 64 * 1024, STEPS = 1000, NAPMOST = 8 };

enum role { SPINS, NAPS, LISTENS, WAITS, POLLS, NROLE };

struct changer {
	enum role	 role;
	int		 in;	/* receives messages */
	int		 out;
};

struct state {
	_Atomic uint64_t next;
	_Atomic uint64_t last;
};

static struct state state[NROLE * EACH];
static struct changer changer[NROLE * EACH];
static char area[STACK + STEPS * 16] __attribute__((aligned(16)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static atomic_bool over;
static atomic_long wrong;

static void
change(struct state *s, unsigned int i)
{
	stack_t ss = { .ss_sp = area + i % STEPS * 16, .ss_size = STACK };

	s->next = (uint64_t)(uintptr_t)ss.ss_sp;
	if (syscall(SYS_sigaltstack, &ss, NULL) == -1)
		wrong++;
	s->last = s->next;
}

/*
 * Wait before the i-th change.
 */
static void
lull(const struct changer *c, unsigned int i)
{
	struct timespec nap = { 0, (1 + i % NAPMOST) * 1000000 };
	const struct timespec rest = { 0, 300000 };
	struct pollfd none = { .fd = -1 };
	char byte;

	switch (c->role) {
	case SPINS:
		if (i % STEPS == 0)
			(void)nanosleep(&rest, NULL);
		break;
	case NAPS:
		(void)nanosleep(&nap, NULL);
		break;
	case LISTENS:
		if (read(c->in, &byte, 1) != 1)
			wrong++;
		break;
	case WAITS:
		if (read(c->in, &byte, 1) != 0)
			wrong++;
		break;
	case POLLS:
		while (!over)
			(void)poll(&none, 1, 60000);
		break;
	default:
		break;
	}
}

static void *
run(void *arg)
{
	struct changer *c = arg;
	struct state *s = &state[c - changer];
	volatile char deep[32 * 1024];
	unsigned int i;

	/* map the stack that snap's injected calls need */
	for (i = 0; i < sizeof deep; i += 1024)
		deep[i] = 1;
	pthread_mutex_lock(&lock);
	printf("altstack %ld %#jx\n", syscall(SYS_gettid),
	    (uintmax_t)(uintptr_t)s);
	pthread_mutex_unlock(&lock);
	change(s, 0);
	pthread_barrier_wait(&all);
	for (i = (unsigned int)(c - changer); !over; i++) {
		change(s, i);
		lull(c, i);
	}
	return NULL;
}

/*
 * Send messages to all that listen.
 */
static void *
feed(void *arg)
{
	struct timespec nap = { 0, 30000 };
	struct changer *c;

	while (!over) {
		for (c = changer; c < changer + NROLE * EACH; c++)
			if (c->role == LISTENS && write(c->out, "", 1) != 1)
				wrong++;
		(void)nanosleep(&nap, NULL);
	}
	return arg;
}

int
main(void)
{
	pthread_t t;
	int fds[2], i;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	pthread_barrier_init(&all, NULL, NROLE * EACH + 1);
	for (i = 0; i < NROLE * EACH; i++) {
		if (pipe(fds) == -1)
			err(1, "pipe");
		changer[i] = (struct changer){ (enum role)(i / EACH), fds[0],
		    fds[1] };
		if (pthread_create(&t, NULL, run, &changer[i]) != 0)
			err(1, "pthread_create");
	}
	pthread_barrier_wait(&all);
	usleep(100000);
	if (pthread_create(&t, NULL, feed, NULL) != 0)
		err(1, "pthread_create");
	ready_await();
	report("wrong", wrong);
	return 0;
}
