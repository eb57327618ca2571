/*
 * A process with a ring of io_uring(7) and the kernel's threads for it: one
 * that polls for submissions (SQPOLL), and one that reads from a pipe to which
 * nothing is written.  It exits with 2 if a ring is not permitted.
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/io_uring.h>
#include <stdatomic.h>

enum { ENTRIES = 4, IDLE_MS = 1000 };

static void *
ring_map(int fd, size_t len, off_t off)
{
	void *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
	    fd, off);
	if (p == MAP_FAILED)
		err(2, "ring");
	return p;
}

int
main(void)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SQPOLL,
	    .sq_thread_idle = IDLE_MS };
	struct io_uring_sqe *sqe;
	static char buf[64];
	unsigned int *array;
	char *sq;
	int fd, quiet[2];

	if (pipe(quiet) == -1 || (fd = (int)syscall(SYS_io_uring_setup,
	    ENTRIES, &p)) == -1)
		err(2, "io_uring");
	sq = ring_map(fd, p.sq_off.array + ENTRIES * sizeof *array,
	    IORING_OFF_SQ_RING);
	sqe = ring_map(fd, ENTRIES * sizeof *sqe, IORING_OFF_SQES);
	memset(sqe, 0, sizeof *sqe);
	sqe->opcode = IORING_OP_READ;
	sqe->flags = IOSQE_ASYNC;
	sqe->fd = quiet[0];
	sqe->addr = (uintptr_t)buf;
	sqe->len = sizeof buf;
	array = (unsigned int *)(void *)(sq + p.sq_off.array);
	array[0] = 0;
	atomic_store((_Atomic unsigned int *)(void *)(sq + p.sq_off.tail), 1);
	if (syscall(SYS_io_uring_enter, fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL,
	    0) == -1)
		err(2, "io_uring");
	ready_await();
	report("early", buf[0] != '\0');
	return 0;
}
