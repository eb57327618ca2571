/*
 * A 32-bit process without libraries: it writes a pattern, waits in
 * epoll_wait(2) for its standard input, and reports.  Built with
 * -m32 -static -nostdlib -ffreestanding.
 */
enum {
	SYS_EXIT = 1, SYS_READ = 3, SYS_WRITE = 4, SYS_EPOLL_CREATE1 = 329,
	SYS_EPOLL_CTL = 255, SYS_EPOLL_WAIT = 256,
	EINTR = 4
};

struct event {
	unsigned int	 events;
	unsigned int	 data[2];
} __attribute__((packed));

void	_start(void) __attribute__((force_align_arg_pointer));

static unsigned int kept[4096] __attribute__((aligned(4096)));

static long
sys(long n, long a, long b, long c, long d)
{
	long r;

	__asm__ volatile("int $0x80" : "=a" (r) : "a" (n), "b" (a), "c" (b),
	    "d" (c), "S" (d) : "memory");
	return r;
}

static void
say(const char *s)
{
	long n;

	for (n = 0; s[n] != '\0'; n++)
		continue;
	sys(SYS_WRITE, 1, (long)s, n, 0);
}

static void
say_hex(unsigned int v)
{
	char s[11] = "0x";
	int i;

	for (i = 0; i < 8; i++)
		s[2 + i] = "0123456789abcdef"[v >> (28 - 4 * i) & 15];
	s[10] = '\0';
	say(s);
}

void
_start(void)
{
	struct event e = { 1, { 0, 0 } };
	long ep, rc, interrupted, i;

	/* the words count up from an odd number */
	for (i = 0; i < 4096; i++)
		kept[i] = 0x10203041U + (unsigned int)i;
	ep = sys(SYS_EPOLL_CREATE1, 0, 0, 0, 0);
	sys(SYS_EPOLL_CTL, ep, 1, 0, (long)&e);
	say("words kept ");
	say_hex((unsigned int)kept);
	say(" 16384 0x10203041\nready\n");
	interrupted = 0;
	while ((rc = sys(SYS_EPOLL_WAIT, ep, (long)&e, 1, -1)) == -EINTR)
		interrupted = 1;
	say(interrupted ? "report eintr 1\n" : "report eintr 0\n");
	say(rc == 1 ? "report early 0\n" : "report early 1\n");
	sys(SYS_EXIT, 0, 0, 0, 0);
}
