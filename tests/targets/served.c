/*
 * A process with a mapped file of a FUSE file system, which a child of it
 * serves, mounted on DIR in a mount namespace of its own.  The file has the
 * pattern of seed 1; with ELF it begins with the magic number of ELF.
 *
 *	served DIR [ELF] [touch] [args] [passed] [open] [dir] [hang] [exec]
 *	    [closing [seized]] [queue | pipe | epoll | tcp | interrupt]
 *
 * touch: all pages but the last are present, and the second is modified; args:
 * the process's arguments are in the last page (prctl(2), PR_SET_MM_MAP),
 * which is not present; passed: a descriptor of the file is queued in a
 * socket; open: the file stays open; dir: a deleted directory is open; hang:
 * once the target is ready, requests are no longer answered, except FORGET,
 * which has no answer; exec: only reads are not answered, and the process
 * stays in execve(2) of the file until the server is killed; closing:
 * execve(2) of a local program closes the file, and the server prints "ready"
 * instead of an answer; seized: the process is ready before that, and calls
 * execve(2) when it is traced.  The last five imply hang.  With the first four
 * of these, a thread holds a lock of the kernel while it waits for the last
 * page but one: of a UNIX socket or a pipe that it reads, of an epoll set, or
 * of a TCP connection to which it sends. interrupt: a thread reads the file;
 * the server answers only when that call is interrupted, and then with
 * EINTR.  Later requests are answered.
 */
#include "target.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <linux/fuse.h>
#include <netinet/in.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#define LEN	(PAGES * PAGE)

enum { PAGES = 32, NODE = 2, DIRECTORY = 3 };

static char content[PAGES * MAX_PAGE];
static bool closing, exec, interrupt, seized;

/*
 * Answer a request, or fail it.
 */
static void
answer(int dev, uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header *h;
	static char buf[sizeof *h + sizeof content];

	h = (struct fuse_out_header *)(void *)buf;
	h->len = (uint32_t)(sizeof *h + len);
	h->error = error;
	h->unique = unique;
	if (len > 0)
		memcpy(buf + sizeof *h, data, len);
	if (write(dev, buf, h->len) == -1 && errno != ENOENT)
		err(1, "/dev/fuse: write");
}

static void
attr_set(struct fuse_attr *a, uint64_t node)
{
	a->ino = node;
	a->nlink = node == NODE ? 1 : 2;
	a->mode = node == NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	a->size = node == NODE ? LEN : 0;
	a->blksize = PAGE;
}

static void
serve(int dev, const char *buf)
{
	const struct fuse_in_header *h = (const void *)buf;
	const struct fuse_read_in *r = (const void *)(h + 1);
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
	    .minor = 31, .max_write = PAGE, .max_background = 8 };
	struct fuse_entry_out entry = { .nodeid = NODE, .attr_valid = 1000,
	    .entry_valid = 1000 };
	struct fuse_attr_out attr = { .attr_valid = 1000 };
	struct fuse_open_out open = { .fh = 1 };
	struct fuse_statfs_out statfs = { 0 };
	const char *name = (const char *)(h + 1);

	switch (h->opcode) {
	case FUSE_INIT:
		answer(dev, h->unique, 0, &init, sizeof init);
		break;
	case FUSE_LOOKUP:
		if (strcmp(name, "dir") == 0)
			entry.nodeid = DIRECTORY;
		attr_set(&entry.attr, entry.nodeid);
		answer(dev, h->unique, 0, &entry, sizeof entry);
		break;
	case FUSE_GETATTR:
		attr_set(&attr.attr, h->nodeid);
		answer(dev, h->unique, 0, &attr, sizeof attr);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(dev, h->unique, 0, &open, sizeof open);
		break;
	case FUSE_STATFS:
		answer(dev, h->unique, 0, &statfs, sizeof statfs);
		break;
	case FUSE_READ:
		answer(dev, h->unique, 0, content + r->offset, r->offset +
		    r->size > (uint64_t)LEN ? (uint64_t)LEN - r->offset :
		    r->size);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_RMDIR:
		answer(dev, h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(dev, h->unique, -ENOSYS, NULL, 0);
	}
}

/*
 * Serve until stop has a byte or end of file; then answer no more, or with exec
 * all but reads, and write a byte to asked for each read.  With interrupt,
 * serve again after a request was interrupted.  With closing, print "ready"
 * when the file is closed.
 */
static void __attribute__((noreturn))
server_main(int dev, int stop, int asked)
{
	static char buf[64 * 1024] __attribute__((aligned(16)));
	const struct fuse_in_header *h = (const void *)buf;
	struct pollfd p[2] = {
		{ .fd = dev, .events = POLLIN },
		{ .fd = stop, .events = POLLIN }
	};
	bool again = false;

	end_with_parent();
	for (;;) {
		if (poll(p, 2, -1) == -1)
			err(1, "poll");
		if (p[1].revents != 0)
			p[1].fd = -1;
		if (p[0].revents & (POLLERR | POLLHUP))
			exit(0);
		if (p[0].revents == 0)
			continue;
		/* a caller sleeps in state D until its request is answered */
		if (read(dev, buf, sizeof buf) == -1) {
			if (errno == ENODEV)
				exit(0);
			continue;
		}
		if (interrupt && h->opcode == FUSE_INTERRUPT) {
			answer(dev, ((const struct fuse_interrupt_in *)
			    (const void *)(h + 1))->unique, -EINTR, NULL, 0);
			again = true;
		} else if (p[1].fd != -1 || again ||
		    (exec && h->opcode != FUSE_READ))
			serve(dev, buf);
		else if (closing && h->opcode == FUSE_FLUSH) {
			if (!seized)
				ready();
		} else if (h->opcode == FUSE_READ && write(asked, "", 1) == -1)
			exit(0);
	}
}

/*
 * Tell the kernel that the arguments are in the page at p.
 */
static void
args_move(const char *p)
{
	struct prctl_mm_map m = { 0 };
	unsigned long long v[52] = { 0 };
	char buf[4096], *s;
	int fd, i, n;

	fd = open("/proc/self/stat", O_RDONLY);
	n = (int)read(fd, buf, sizeof buf - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	if ((s = strrchr(buf, ')')) == NULL)
		errx(1, "/proc/self/stat");
	for (i = 3, s += 3; i < 52; i++, s += strcspn(s, " "), s += *s == ' ')
		v[i] = strtoull(s, NULL, 10);
	m.start_code = v[26];
	m.end_code = v[27];
	m.start_stack = v[28];
	m.start_data = v[45];
	m.end_data = v[46];
	m.start_brk = v[47];
	m.brk = (uintptr_t)sbrk(0);
	m.arg_start = m.env_start = (uintptr_t)p;
	m.arg_end = m.env_end = (uintptr_t)p + PAGE;
	m.exe_fd = (uint32_t)-1;
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof m, 0) == -1)
		err(1, "PR_SET_MM_MAP");
}

/*
 * Mount DIR and fork the server.  Return the pipe that stops its answers, and
 * in asked the pipe that has a byte for each later read.
 */
static int
server_begin(const char *dir, int *asked)
{
	char opts[128];
	int dev, stop[2], ask[2];

	if (unshare(CLONE_NEWNS) == -1 || mount(NULL, "/", NULL, MS_REC |
	    MS_PRIVATE, NULL) == -1)
		err(1, "mount namespace");
	if ((dev = open("/dev/fuse", O_RDWR | O_CLOEXEC)) == -1)
		err(1, "/dev/fuse");
	snprintf(opts, sizeof opts, "fd=%d,rootmode=40755,user_id=%d,"
	    "group_id=0,allow_other", dev, (int)getuid());
	if (mount("served", dir, "fuse", MS_NOSUID | MS_NODEV, opts) == -1)
		err(1, "%s", dir);
	if (pipe(stop) == -1 || pipe(ask) == -1)
		err(1, "pipe");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		close(stop[1]);
		server_main(dev, stop[0], ask[1]);
	}
	close(stop[0]);
	close(ask[1]);
	close(dev);
	*asked = ask[0];
	return stop[1];
}

/*
 * Send a descriptor of the file to this process.
 */
static void
pass(const char *path)
{
	union {
		struct cmsghdr	h;
		char		room[CMSG_SPACE(sizeof(int))];
	} u = { 0 };
	struct iovec v = { (char[]){ "x" }, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = &u, .msg_controllen = sizeof u };
	int fd, pair[2];

	if ((fd = open(path, O_RDONLY)) == -1)
		err(1, "%s", path);
	u.h.cmsg_level = SOL_SOCKET;
	u.h.cmsg_type = SCM_RIGHTS;
	u.h.cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(&u.h), &fd, sizeof fd);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1 ||
	    sendmsg(pair[0], &m, 0) != 1)
		err(1, "sendmsg");
	close(fd);
}

/*
 * Open a directory and delete it.
 */
static void
deleted_open(const char *mount)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/dir", mount);
	if (open(path, O_RDONLY | O_DIRECTORY) == -1 || rmdir(path) == -1)
		err(1, "%s", path);
}

struct locking {		/* of the locking thread */
	const char	*how;
	char		*page;
	int		 fd[2];
	ssize_t		 got;	/* result of pread(2) */
};

/*
 * Make a TCP connection within this process.
 */
static void
connection(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int l;

	l = socket(AF_INET, SOCK_STREAM, 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&a, len) == -1 || listen(l, 1) == -1 ||
	    getsockname(l, (struct sockaddr *)&a, &len) == -1 ||
	    connect(fd[0], (struct sockaddr *)&a, len) == -1 ||
	    (fd[1] = accept(l, NULL, NULL)) == -1)
		err(1, "connect");
	close(l);
}

/*
 * Create the file that the thread locks.
 */
static void
locking_begin(struct locking *k)
{
	struct epoll_event e = { .events = EPOLLIN };
	int rc;

	if (strcmp(k->how, "queue") == 0)
		rc = socketpair(AF_UNIX, SOCK_STREAM, 0, k->fd);
	else if (strcmp(k->how, "pipe") == 0)
		rc = pipe(k->fd);
	else if (strcmp(k->how, "epoll") == 0) {
		k->fd[0] = epoll_create1(0);
		k->fd[1] = eventfd(1, 0);
		rc = epoll_ctl(k->fd[0], EPOLL_CTL_ADD, k->fd[1], &e);
	} else {
		connection(k->fd);
		return;
	}
	if (rc == -1 || (strcmp(k->how, "epoll") != 0 &&
	    write(k->fd[1], "hello", 5) != 5))
		err(1, "%s", k->how);
}

static void *
locking_main(void *arg)
{
	struct locking *k = arg;

	if (interrupt)
		k->got = pread(k->fd[0], k->page, PAGE, 0);
	else if (strcmp(k->how, "epoll") == 0)
		(void)epoll_wait(k->fd[0], (struct epoll_event *)(void *)
		    k->page, 1, -1);
	else if (strcmp(k->how, "tcp") == 0)
		(void)send(k->fd[0], k->page, 100, 0);
	else
		(void)!read(k->fd[0], k->page, 100);
	return NULL;
}

/*
 * Close the file by running this program again, with the argument -.
 */
static void
close_by_exec(void)
{
	char status[4096];
	ssize_t n;
	int fd;

	if (seized)
		ready();
	do {
		fd = open("/proc/self/status", O_RDONLY);
		n = read(fd, status, sizeof status - 1);
		status[n > 0 ? n : 0] = '\0';
		close(fd);
	} while (seized && strstr(status, "TracerPid:\t0\n") != NULL);
	(void)execl("/proc/self/exe", "served", "-", (char *)NULL);
	err(1, "execl");
}

int
main(int argc, char *argv[])
{
	static char own[MAX_PAGE] __attribute__((aligned(MAX_PAGE)));
	struct locking k = { 0 };
	pthread_t thread;
	bool elf = false, touch = false, args = false, hang = false;
	bool passed = false, dir = false, keep = false;
	char path[PATH_MAX], *p, c;
	int asked, fd, i, stop;

	if (argc == 2 && strcmp(argv[1], "-") == 0) {
		ready_await();
		return 0;
	}
	for (i = 2; i < argc; i++) {
		closing |= strcmp(argv[i], "closing") == 0;
		seized |= strcmp(argv[i], "seized") == 0;
		keep |= strcmp(argv[i], "open") == 0;
		elf |= strcmp(argv[i], "ELF") == 0;
		touch |= strcmp(argv[i], "touch") == 0;
		args |= strcmp(argv[i], "args") == 0;
		hang |= strcmp(argv[i], "hang") == 0;
		passed |= strcmp(argv[i], "passed") == 0;
		exec |= strcmp(argv[i], "exec") == 0;
		dir |= strcmp(argv[i], "dir") == 0;
		interrupt |= strcmp(argv[i], "interrupt") == 0;
		if (interrupt || strcmp(argv[i], "queue") == 0 ||
		    strcmp(argv[i], "pipe") == 0 ||
		    strcmp(argv[i], "epoll") == 0 ||
		    strcmp(argv[i], "tcp") == 0)
			k.how = argv[i];
	}
	if (argc < 2)
		errx(2, "usage: served dir [ELF] [touch] [args] [passed] "
		    "[open] [dir] [hang] [exec] [closing [seized]] "
		    "[queue | pipe | epoll | tcp | interrupt]");
	pattern_fill(content, LEN, 1);
	if (elf)
		memcpy(content, "\177ELF", 4);
	stop = server_begin(argv[1], &asked);
	snprintf(path, sizeof path, "%s/file", argv[1]);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		err(1, "%s", path);
	p = mmap(NULL, LEN, PROT_READ | PROT_WRITE | (elf ? PROT_EXEC : 0),
	    MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || madvise(p, LEN, MADV_RANDOM) == -1)
		err(1, "mmap");
	if (!keep && !closing)
		close(fd);
	for (i = 0; i < PAGES - 1 && touch; i++)
		(void)*(volatile char *)(p + i * PAGE);
	if (touch)
		region("modified", p + PAGE, PAGE, 7);
	printf("file served %#jx %d 1 %d\n", (uintmax_t)(uintptr_t)p + 2 *
	    PAGE, LEN - 2 * PAGE, 2 * PAGE);
	if (passed)
		pass(path);
	if (dir)
		deleted_open(argv[1]);
	if (args)
		args_move(p + LEN - PAGE);
	/* a wait for a page of the cache cannot be interrupted */
	if (interrupt && (k.fd[0] = open(path, O_RDONLY | O_DIRECT)) == -1)
		err(1, "%s", path);
	if (k.how != NULL && !interrupt)
		locking_begin(&k);
	if ((hang || closing || k.how != NULL) && write(stop, "", 1) != 1)
		err(1, "pipe");
	k.page = interrupt ? own : p + LEN - 2 * PAGE;
	if (k.how != NULL && (pthread_create(&thread, NULL, locking_main,
	    &k) != 0 || read(asked, &c, 1) != 1))
		errx(1, "a thread");
	if (closing)
		close_by_exec();
	if (exec) {
		ready();
		(void)execl(path, path, (char *)NULL);
	}
	ready_await();
	if (interrupt && pthread_join(thread, NULL) == 0)
		printf("report interrupted %d\n", k.got != PAGE);
	return 0;
}
