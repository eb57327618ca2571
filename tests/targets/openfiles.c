/*
 * One open file of each kind, some shared with children, and memory of its own
 * and of files.  It prints what a record must contain, from its own system
 * calls; afterwards it reads all queues, and must find every byte.
 *
 *	fd FD KEY VALUE...	a line of the file of descriptor FD
 *	whole FD		the file has no line "why"
 *	same FD FD PID		FD and the FD of PID are one open file
 *	differ FD FD		they are two
 *	target FD N EVENTS DATA FD2 PID	of epoll set FD; FD2 is the descriptor
 *				in PID, -1 if none is left
 *	bytes NAME HEX		a file of the record
 *	none NAME		there is no such file
 *	count N			number of descriptors
 *	shares WHAT PID		shared with PID by clone(2)
 *	carried DEV INO SIZE SEED AT	an embedded file, all zero but for a
 *				page of the pattern at AT
 *	own ADDR LEN		private pages
 *	foreign ADDR LEN	other pages, or none
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>

#ifdef __aarch64__
enum { LARGE = 0400000 };	/* O_LARGEFILE of the kernel */
#else
enum { LARGE = 0100000 };
#endif

static long lost;
static int pipes[2], fifo, rights[2], dgram[2], seqpacket[2], stream[2];
static int event, shm;
static char *shared;

static int
must(int n, const char *what)
{
	if (n == -1)
		err(1, "%s", what);
	return n;
}

static void
put_hex(const void *p, size_t n)
{
	const unsigned char *s = p;

	for (; n > 0; n--)
		printf("%02x", *s++);
	puts("");
}

static uintmax_t
inode(int fd)
{
	struct stat st;

	must(fstat(fd, &st), "fstat");
	return (uintmax_t)st.st_ino;
}

/*
 * Print type and flags of any descriptor.
 */
static void
common(int fd, const char *type)
{
	/* the kernel sets O_LARGEFILE, which is 0 in C */
	int large = strcmp(type, "reg") == 0 || strcmp(type, "dir") == 0 ||
	    strcmp(type, "chr") == 0 || strcmp(type, "fifo") == 0 ||
	    strcmp(type, "memfd") == 0 ? LARGE : 0;

	printf("fd %d type %s\n", fd, type);
	printf("fd %d flags %o\n", fd, (unsigned)fcntl(fd, F_GETFL) |
	    (unsigned)large);
}

static void
named(int fd, const char *type, const char *path)
{
	struct stat st;

	common(fd, type);
	must(fstat(fd, &st), path);
	printf("fd %d path %s\nfd %d mode %o\nfd %d size %jd\n", fd, path, fd,
	    st.st_mode, fd, (intmax_t)st.st_size);
	printf("fd %d ino %ju\nfd %d dev %02x:%02x\nfd %d rdev %02x:%02x\n",
	    fd, (uintmax_t)st.st_ino, fd, major(st.st_dev), minor(st.st_dev),
	    fd, major(st.st_rdev), minor(st.st_rdev));
	printf("fd %d mtime %jd\n", fd, (intmax_t)st.st_mtime);
	if (S_ISREG(st.st_mode))
		printf("fd %d pos %jd\n", fd,
		    (intmax_t)lseek(fd, 0, SEEK_CUR));
}

/*
 * Give a file three pages and 100 bytes, with a pattern in the second page.
 */
static void
content(int fd, unsigned int seed)
{
	char page[MAX_PAGE];
	struct stat st;

	pattern_fill(page, PAGE, seed);
	must(ftruncate(fd, 3 * PAGE + 100), "ftruncate");
	if (pwrite(fd, page, PAGE, PAGE) != PAGE)
		err(1, "pwrite");
	must(fstat(fd, &st), "fstat");
	printf("carried %02x:%02x %ju %jd %u %d\n", major(st.st_dev),
	    minor(st.st_dev), (uintmax_t)st.st_ino, (intmax_t)st.st_size,
	    seed, PAGE);
}

static void
open_pipes(void)
{
	int lone[2];

	must(pipe2(pipes, O_NONBLOCK), "pipe");
	must(fcntl(pipes[1], F_SETPIPE_SZ, 16 * PAGE * 4), "F_SETPIPE_SZ");
	if (write(pipes[1], "in the ", 7) != 7 || write(pipes[1], "pipe", 4) !=
	    4)
		err(1, "write");
	common(pipes[0], "pipe");
	common(pipes[1], "pipe");
	printf("fd %d capacity %d\nfd %d ino %ju\nbytes pipe/%ju ", pipes[0],
	    fcntl(pipes[0], F_GETPIPE_SZ), pipes[0], inode(pipes[0]),
	    inode(pipes[0]));
	put_hex("in the pipe", 11);
	printf("differ %d %d\nwhole %d\nwhole %d\n", pipes[0], pipes[1],
	    pipes[0], pipes[1]);
	must(pipe(lone), "pipe");
	close(lone[1]);
	common(lone[0], "pipe");
	printf("fd %d alone 1\nwhole %d\n", lone[0], lone[0]);
	must(mkfifo("fifo", 0600), "mkfifo");
	fifo = must(open("fifo", O_RDWR | O_NONBLOCK), "fifo");
	if (write(fifo, "fifo", 4) != 4)
		err(1, "write");
	common(fifo, "fifo");
	printf("bytes pipe/%ju ", inode(fifo));
	put_hex("fifo", 4);
	printf("whole %d\n", fifo);
	must(fcntl(fifo, F_SETOWN, getpid()), "F_SETOWN");
	must(fcntl(fifo, F_SETSIG, SIGUSR1), "F_SETSIG");
	printf("fd %d owner 1 %d %d %u %u\n", fifo, getpid(), SIGUSR1,
	    getuid(), geteuid());
}

static void
open_files(const char *dir)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof path, "%s/append", dir);
	fd = must(open("append", O_RDWR | O_CREAT | O_APPEND, 0640), "append");
	if (write(fd, "12345", 5) != 5)
		err(1, "write");
	must(flock(fd, LOCK_EX), "flock");
	named(fd, "reg", path);
	printf("fd %d lock 1\nwhole %d\n", fd, fd);
	snprintf(path, sizeof path, "%s/gone", dir);
	fd = must(open("gone", O_RDWR | O_CREAT, 0600), "gone");
	content(fd, 11);
	must((int)lseek(fd, 77, SEEK_SET), "lseek");
	must(unlink("gone"), "unlink");
	named(fd, "reg", path);
	printf("fd %d deleted 1\nwhole %d\n", fd, fd);
	fd = must(open("/dev/null", O_RDWR), "/dev/null");
	named(fd, "chr", "/dev/null");
	printf("whole %d\n", fd);
	must(mkdir("sub", 0755), "mkdir");
	fd = must(open("sub", O_RDONLY | O_DIRECTORY), "sub");
	snprintf(path, sizeof path, "%s/sub", dir);
	named(fd, "dir", path);
	fd = must(memfd_create("sealed", MFD_ALLOW_SEALING), "memfd");
	content(fd, 12);
	must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "seals");
	named(fd, "memfd", "/memfd:sealed");
	printf("fd %d seals 6\nwhole %d\n", fd, fd);
	fd = must(memfd_create("empty", 0), "memfd");
	named(fd, "memfd", "/memfd:empty");
	printf("whole %d\ncarried 00:01 %ju 0 0 0\n", fd, inode(fd));
	fd = must(inotify_init(), "inotify");
	common(fd, "inotify");
	printf("whole %d\n", fd);
	fd = must(inotify_init(), "inotify");
	must(inotify_add_watch(fd, ".", IN_DELETE), "inotify_add_watch");
	printf("whole %d\n", fd);
}

/*
 * Return whether fdinfo of a descriptor has key.  Since Linux 6.5 it shows
 * semaphores.
 */
static int
info_has(int fd, const char *key)
{
	char path[64], text[1024];
	ssize_t n;
	int info;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	info = must(open(path, O_RDONLY), path);
	n = read(info, text, sizeof text - 1);
	close(info);
	text[n < 0 ? 0 : n] = '\0';
	return strstr(text, key) != NULL;
}

static void
open_events(pid_t *child)
{
	const struct itimerspec when = { { 5, 7 }, { 1000, 0 } };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int fd, ep, gone;
	sigset_t set;

	event = must(eventfd(42, EFD_SEMAPHORE | EFD_NONBLOCK), "eventfd");
	common(event, "eventfd");
	printf("fd %d count 42\nwhole %d\n", event, event);
	if (info_has(event, "eventfd-semaphore:"))
		printf("fd %d semaphore 1\n", event);
	fd = must(timerfd_create(CLOCK_BOOTTIME, 0), "timerfd");
	must(timerfd_settime(fd, 0, &when, NULL), "timerfd_settime");
	common(fd, "timerfd");
	printf("fd %d clock %d\nfd %d interval 5000000007\nfd %d ticks 0\n"
	    "fd %d settime 0\nwhole %d\n", fd, CLOCK_BOOTTIME, fd, fd, fd, fd);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	fd = must(signalfd(-1, &set, SFD_NONBLOCK), "signalfd");
	common(fd, "signalfd");
	printf("fd %d mask 801\nwhole %d\n", fd, fd);

	ep = must(epoll_create1(EPOLL_CLOEXEC), "epoll");
	common(ep, "epoll");
	ev.data.u64 = 0x123456789abcdef0;
	must(epoll_ctl(ep, EPOLL_CTL_ADD, pipes[0], &ev), "epoll_ctl");
	/* the kernel adds EPOLLERR and EPOLLHUP */
	printf("target %d %d 80000019 123456789abcdef0 %d %d\n", ep,
	    pipes[0], pipes[0], getpid());
	ev.events = 0;
	must(epoll_ctl(ep, EPOLL_CTL_ADD, event, &ev), "epoll_ctl");
	printf("target %d %d 18 123456789abcdef0 %d %d\n", ep, event, event,
	    getpid());
	/* open only in a child; another file gets its number */
	gone = must(eventfd(1, 0), "eventfd");
	must(epoll_ctl(ep, EPOLL_CTL_ADD, gone, &ev), "epoll_ctl");
	fflush(stdout);
	if ((*child = fork()) == 0) {
		end_with_parent();
		for (;;)
			pause();
	}
	must(dup2(pipes[1], gone), "dup2");
	printf("target %d %d 18 123456789abcdef0 %d %d\n", ep, gone, gone,
	    *child);
	printf("whole %d\nsame %d %d %d\n", ep, gone, pipes[1], getpid());
}

static void
unix_socket(int fd, int type, int state, int peer)
{
	int buf[2];
	socklen_t n = sizeof buf[0];

	common(fd, "unix");
	must(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buf[0], &n), "SO_SNDBUF");
	must(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buf[1], &n), "SO_RCVBUF");
	printf("fd %d ino %ju\nfd %d options %d %d 0\n", fd, inode(fd), fd,
	    buf[0], buf[1]);
	if (peer != -1)
		printf("fd %d socket %d %d %ju 0 0\n", fd, type, state,
		    inode(peer));
}

/*
 * Return the state of a datagram socket that has a peer.
 */
static int
connected(void)
{
	struct utsname u;
	int major, minor;

	must(uname(&u), "uname");
	if (sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    major * 100 + minor < 515)
		return 7;
	return 1;
}

static int
bound(const char *name, size_t len, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	memcpy(a.sun_path, name, len);
	fd = must(socket(AF_UNIX, type, 0), "socket");
	must(bind(fd, (struct sockaddr *)&a, (socklen_t)(len +
	    offsetof(struct sockaddr_un, sun_path))), "bind");
	printf("fd %d name ", fd);
	put_hex(name, len);
	return fd;
}

static void
open_sockets(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	char control[CMSG_SPACE(sizeof(int))];
	char byte = 'r';
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = control, .msg_controllen = sizeof control };
	char name[32];		/* abstract; unique, as tests run at once */
	int fd, len;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, stream), "stream");
	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, dgram), "dgram");
	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, seqpacket), "seqpacket");
	if (write(stream[0], "str", 3) != 3 ||
	    write(stream[0], "eam", 3) != 3 ||
	    write(dgram[0], "one", 3) != 3 || send(dgram[0], "", 0, 0) != 0 ||
	    write(dgram[0], "three", 5) != 5 ||
	    write(seqpacket[1], "first", 5) != 5 ||
	    write(seqpacket[1], "2", 1) != 1)
		err(1, "write");
	unix_socket(stream[0], SOCK_STREAM, 1, stream[1]);
	unix_socket(stream[1], SOCK_STREAM, 1, stream[0]);
	unix_socket(dgram[0], SOCK_DGRAM, connected(), dgram[1]);
	unix_socket(seqpacket[0], SOCK_SEQPACKET, 1, seqpacket[1]);
	printf("bytes socket/%ju ", inode(stream[1]));
	put_hex("6\nstream", 8);
	printf("bytes socket/%ju ", inode(dgram[1]));
	put_hex("3\none0\n5\nthree", 14);
	printf("bytes socket/%ju ", inode(seqpacket[0]));
	put_hex("5\nfirst1\n2", 10);
	printf("none socket/%ju\nwhole %d\nwhole %d\nwhole %d\n",
	    inode(stream[0]), stream[1], dgram[1], seqpacket[0]);

	len = snprintf(name, sizeof name, "%ctarget of snap %d", '\0',
	    getpid());
	fd = bound(name, (size_t)len, SOCK_STREAM);
	must(listen(fd, 9), "listen");
	printf("fd %d socket 1 10 0 9 0\nwhole %d\n", fd, fd);
	fd = bound("socket", 7, SOCK_DGRAM);
	printf("fd %d socket 2 7 0 0 0\nwhole %d\n", fd, fd);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, rights), "rights");
	memset(control, 0, sizeof control);
	CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
	CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
	CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
	must((int)sendmsg(rights[0], &m, 0), "SCM_RIGHTS");
	printf("whole %d\nwhole %d\nbytes socket/%ju ", rights[1], rights[0],
	    inode(rights[1]));
	put_hex("1\nr", 3);
	fd = must(socket(AF_INET, SOCK_STREAM, 0), "inet");
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(bind(fd, (struct sockaddr *)&in, sizeof in), "bind");
	must(listen(fd, 1), "listen");
	printf("fd %d type inet\nfd %d socket 1 10 0 1 0\nfd %d family 4\n"
	    "whole %d\n", fd, fd, fd, fd);
}

static void
map_memory(const char *self)
{
	struct stat st;
	char *p, *file;
	int fd;

	shared = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = must(open(self, O_RDONLY), self);
	file = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
	    0);
	if (shared == MAP_FAILED || p == MAP_FAILED || file == MAP_FAILED)
		err(1, "mmap");
	close(fd);
	pattern_fill(shared + PAGE, PAGE, 13);
	printf("foreign %#jx %d\n", (uintmax_t)(uintptr_t)shared, 3 * PAGE);
	snprintf((char *)p, PAGE, "/proc/self/map_files/%jx-%jx",
	    (uintmax_t)(uintptr_t)shared, (uintmax_t)(uintptr_t)shared +
	    3 * PAGE);
	must(stat(p, &st), "map_files");
	printf("carried %02x:%02x %ju %d 13 %d\n", major(st.st_dev),
	    minor(st.st_dev), (uintmax_t)st.st_ino, 3 * PAGE, PAGE);
	(void)*(volatile char *)(p + 2 * PAGE);	/* the zero page */
	p[4 * PAGE] = p[5 * PAGE] = 1;
	must(mprotect(p + 5 * PAGE, PAGE, PROT_NONE), "mprotect");
	printf("own %#jx %d\nforeign %#jx %d\nown %#jx %d\nforeign %#jx %d\n",
	    (uintmax_t)(uintptr_t)p, PAGE, (uintmax_t)(uintptr_t)p + PAGE,
	    3 * PAGE, (uintmax_t)(uintptr_t)p + 4 * PAGE, 2 * PAGE,
	    (uintmax_t)(uintptr_t)p + 6 * PAGE, 2 * PAGE);
	(void)*(volatile char *)file;
	file[PAGE] = 1;
	printf("foreign %#jx %d\nown %#jx %d\n", (uintmax_t)(uintptr_t)file,
	    PAGE, (uintmax_t)(uintptr_t)file + PAGE, PAGE);
}

static int
count_fds(void)
{
	DIR *d;
	int n;

	if ((d = opendir("/proc/self/fd")) == NULL)
		err(1, "/proc/self/fd");
	for (n = 0; readdir(d) != NULL; n++)
		continue;
	closedir(d);
	return n - 3;		/* ., .., and the directory's own */
}

/*
 * Check that a read returns exactly this.
 */
static void
expect(int fd, const char *want, size_t n)
{
	char buf[64];
	ssize_t got;

	got = read(fd, buf, sizeof buf);
	lost += got != (ssize_t)n || memcmp(buf, want, n) != 0;
}

/*
 * Check that the socket still peeks at its first packet, repeatedly.
 */
static void
expect_peek(int fd, const char *want, size_t n)
{
	char buf[64];
	socklen_t size = sizeof(int);
	int i, off;

	for (i = 0; i < 2; i++)
		lost += recv(fd, buf, sizeof buf, MSG_PEEK) != (ssize_t)n ||
		    memcmp(buf, want, n) != 0;
	off = 0;
	lost += getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, &size) == -1 ||
	    off != -1;
}

static void
read_all(void)
{
	uint64_t v;

	expect(pipes[0], "in the pipe", 11);
	expect(fifo, "fifo", 4);
	expect_peek(dgram[1], "one", 3);
	expect(dgram[1], "one", 3);
	expect(dgram[1], "", 0);
	expect(dgram[1], "three", 5);
	expect_peek(seqpacket[0], "first", 5);
	expect(seqpacket[0], "first", 5);
	expect(seqpacket[0], "2", 1);
	expect_peek(stream[1], "stream", 6);
	expect(stream[1], "stream", 6);
	for (v = 0; read(event, &v, sizeof v) == sizeof v; shm++)
		lost += v != 1;
	lost += shm != 42;
	lost += pattern_check(shared + PAGE, PAGE, 13);
}

int
main(int argc, char *argv[])
{
	char dir[4096], self[4096];
	pid_t child, twin;
	ssize_t n;
	int fds;

	if (argc != 2 || (n = readlink("/proc/self/exe", self, sizeof self -
	    1)) == -1)
		errx(1, "usage: openfiles DIR");
	self[n] = '\0';
	must(chdir(argv[1]), argv[1]);
	if (getcwd(dir, sizeof dir) == NULL)
		err(1, "getcwd");
	open_pipes();
	open_files(dir);
	open_events(&child);
	open_sockets();
	map_memory(self);
	fflush(stdout);
	twin = (pid_t)syscall(SYS_clone, CLONE_FILES | CLONE_FS | SIGCHLD, 0,
	    0, 0, 0);
	if (twin == 0) {
		end_with_parent();
		for (;;)
			pause();
	}
	fds = count_fds();
	printf("count %d\nshares vm %d\nshares files %d\nnone socket/0\n",
	    fds, getpid(), getpid());
	printf("of %d\nshares vm %d\nshares files %d\nsame %d %d %d\n", child,
	    child, child, event, event, getpid());
	printf("of %d\nshares vm %d\nshares files %d\nshares fs %d\n"
	    "shares sighand %d\ncount %d\n", twin, twin, getpid(), getpid(),
	    twin, fds);
	ready_await();
	report("descriptors", count_fds() - fds);
	read_all();
	report("lost", lost);
	kill(child, SIGKILL);
	kill(twin, SIGKILL);
	report("children", (wait(NULL) == -1) + (wait(NULL) == -1));
	return 0;
}
