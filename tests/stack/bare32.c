/*
 * A program of 32 bits without a library, which waits in a function that
 * others called: with LIMITED, for a descriptor and a limited time.
 */
static volatile int counter;

static int
call(int nr, int a, const void *b, int c, const void *d)
{
	int rc;

	__asm__ volatile("int $0x80" : "=a" (rc) : "0" (nr), "b" (a),
	    "c" (b), "d" (c), "S" (d), "D" (0) : "memory");
	return rc;
}

static __attribute__((noinline)) void
wait_here(void)
{
	enum { WRITE = 4, PAUSE = 29, EPOLL_CREATE1 = 329, EPOLL_PWAIT2 = 441 };

	call(WRITE, 1, "ready\n", 6, 0);
#ifdef LIMITED
	static const long long limit[2] = { 1000, 500000000 };
	char event[12];

	call(EPOLL_PWAIT2, call(EPOLL_CREATE1, 0, 0, 0, 0), event, 1, limit);
#endif
	for (;;)
		call(PAUSE, 0, 0, 0, 0);
}

static __attribute__((noinline)) void
middle(int n)
{
	wait_here();
	counter += n;
}

__attribute__((used)) static void
begin(void)
{
	middle(7);
	counter++;
}

__asm__(".globl _start\n"
    "_start:\n"
    ".cfi_startproc\n"
    ".cfi_undefined %eip\n"
    "	call begin\n"
    "	hlt\n"
    ".cfi_endproc\n");
