/*
 * An x86-64 process without libraries, whose code lacks gadgets of other
 * programs: a syscall before a ret, and a pop %rax before a ret.  It has the
 * code to which signal handlers return.  It computes with many registers and
 * checks them, and waits between these rounds, until it can read its standard
 * input; then it reports.  Built with -static -nostdlib -ffreestanding.
 */
enum {
	SYS_WRITE = 1, SYS_POLL = 7, SYS_RT_SIGACTION = 13,
	SYS_GETPID = 39, SYS_EXIT = 60, SYS_KILL = 62,
	SIGUSR1 = 10,
	SA_RESTORER = 0x04000000,
	POLLIN = 1,
	ROUNDS = 1000000
};

struct pollfd {
	int		 fd;
	short		 events;
	short		 revents;
};

struct action {
	void		(*handler)(int);
	unsigned long	 flags;
	void		(*restorer)(void);
	unsigned long	 mask;
};

void	_start(void) __attribute__((force_align_arg_pointer));
void	sigreturn(void);

static volatile long handled;

__asm__(".text\n"
    ".type sigreturn, @function\n"
    "sigreturn:\n\t"
    "movl $15, %eax\n\t"
    "syscall\n\t"
    "hlt\n"
    ".size sigreturn, . - sigreturn");

static long
sys(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall\n\tnop" : "=a" (r) : "a" (n), "D" (a),
	    "S" (b), "d" (c), "r" (r10) : "rcx", "r11", "memory");
	return r;
}

static void
handler(int sig)
{
	handled += sig == SIGUSR1;
}

static void
say(const char *s)
{
	long n;

	for (n = 0; s[n] != '\0'; n++)
		continue;
	sys(SYS_WRITE, 1, (long)s, n, 0);
}

/*
 * Return whether registers change that this code does not change.
 */
static int
changed(void)
{
	unsigned long a = 0x1111111111111111, b = 0x2222222222222222,
	    c = 0x3333333333333333, d = 0x4444444444444444,
	    e = 0x5555555555555555, f = 0x6666666666666666,
	    g = 0x7777777777777777, n = ROUNDS;
	double x = 1.5, y = 2.5;

	__asm__ volatile("1:\n\tdecq %[n]\n\tjnz 1b" : [n] "+r" (n), "+r" (a),
	    "+r" (b), "+r" (c), "+r" (d), "+r" (e), "+r" (f), "+r" (g),
	    "+x" (x), "+x" (y));
	return n != 0 || a != 0x1111111111111111 || b != 0x2222222222222222 ||
	    c != 0x3333333333333333 || d != 0x4444444444444444 ||
	    e != 0x5555555555555555 || f != 0x6666666666666666 ||
	    g != 0x7777777777777777 || x != 1.5 || y != 2.5;
}

void
_start(void)
{
	struct action act = { handler, SA_RESTORER, sigreturn, 0 };
	struct pollfd p = { 0, POLLIN, 0 };
	int wrong;

	sys(SYS_RT_SIGACTION, SIGUSR1, (long)&act, 0, sizeof act.mask);
	sys(SYS_KILL, sys(SYS_GETPID, 0, 0, 0, 0), SIGUSR1, 0, 0);
	say("ready\n");
	wrong = 0;
	while (sys(SYS_POLL, (long)&p, 1, 1, 0) == 0)
		wrong |= changed();
	say(wrong ? "report registers 1\n" : "report registers 0\n");
	say(handled == 1 ? "report handled 0\n" : "report handled 1\n");
	sys(SYS_EXIT, 0, 0, 0, 0);
}
