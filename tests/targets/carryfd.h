/*
 * The descriptors of carryon, and checks of them.
 */
#ifndef CARRYFD_H
#define CARRYFD_H

#include "apart.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include <stdatomic.h>
#include <stdbool.h>

enum {
	FILEBYTES = 64 << 10,	/* size of the deleted file, of the memfd */
	MAPBYTES = 256 << 10,
	STANDING = 5000,	/* unread bytes in a pipe */
	PACKETS = 3,		/* unread in a socket */
	KEPT = 5,		/* the count of an eventfd */
	IDLE_BACK = 20		/* numbers from the child before it idles */
};

enum { SEED_FILE = 11, SEED_MEMFD, SEED_MAP, SEED_PIPE, SEED_PACKET };

enum { EV_TIMER = 0x7001, EV_EVENT, EV_SIGNAL, EV_BACK };

static int deleted[2];		/* one open file, read in turn */
static int alone;		/* the same file, another open file */
static int object;		/* a memfd, sealed, not mapped */
static int standing[2];
static int packets[2];
static int keeper, adder;	/* eventfds */
static int ticker, signals, set;
static char *mapped, *changed, *written;
static int writtenfd;		/* reads the file of written */
static uint64_t added;
static bool idle;		/* stop after some rounds */
static char content[FILEBYTES];	/* of the deleted file */

static inline int
made(int fd)
{
	if (fd == -1)
		_exit(3);
	return fd;
}

/*
 * Create LOG.EXT with len bytes of a pattern.
 */
static inline int
file_make(const char *log, const char *ext, size_t len, uint64_t seed,
    char *path, size_t size)
{
	static char buf[MAPBYTES];
	int fd;

	snprintf(path, size, "%s.%s", log, ext);
	fd = made(open(path, O_RDWR | O_CREAT | O_TRUNC, 0640));
	pattern_fill(buf, len, seed);
	must(write(fd, buf, len) == (ssize_t)len);
	return fd;
}

static inline char *
file_map(int fd, int flags)
{
	char *p;

	p = mmap(NULL, MAPBYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	must(p != MAP_FAILED);
	return p;
}

static inline void
files_make(const char *log)
{
	char path[4096];
	int fd;

	deleted[0] = file_make(log, "gone", FILEBYTES, SEED_FILE, path,
	    sizeof path);
	must(lseek(deleted[0], 0, SEEK_SET) == 0);
	deleted[1] = made(dup(deleted[0]));
	alone = made(open(path, O_RDONLY | O_CLOEXEC));
	must(lseek(alone, 1000, SEEK_SET) == 1000 && unlink(path) == 0);
	pattern_fill(content, FILEBYTES, SEED_FILE);

	fd = file_make(log, "map", MAPBYTES, SEED_MAP, path, sizeof path);
	mapped = file_map(fd, MAP_PRIVATE);
	changed = file_map(fd, MAP_PRIVATE);
	pattern_fill(changed + PAGE, PAGE, SEED_MAP + 100);
	(void)close(fd);
	fd = file_make(log, "shared", MAPBYTES, SEED_MAP, path, sizeof path);
	written = file_map(fd, MAP_SHARED);
	(void)close(fd);
	writtenfd = made(open(path, O_RDONLY));

	object = made(memfd_create("carried", MFD_ALLOW_SEALING));
	must(write(object, content, FILEBYTES) == FILEBYTES &&
	    lseek(object, 4321, SEEK_SET) == 4321 &&
	    fcntl(object, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
}

static inline void
packets_fill(void)
{
	char buf[STANDING];
	int i;

	pattern_fill(buf, sizeof buf, SEED_PIPE);
	must(write(standing[1], buf, sizeof buf) == sizeof buf);
	pattern_fill(buf, sizeof buf, SEED_PACKET);
	for (i = 1; i <= PACKETS; i++)
		must(send(packets[0], buf, (size_t)(i * 16), 0) == i * 16);
}

static inline void
events_add(int fd, uint64_t what, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.u64 = what };

	must(epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) == 0);
}

/*
 * Create the epoll set; it also has the descriptor back.  When idle, its timer
 * does not expire soon.
 */
static inline void
events_make(int back, const sigset_t *mask)
{
	struct itimerspec often = {
		{ 0, 25 * 1000000 }, { 0, 25 * 1000000 }
	};

	if (idle)
		often.it_value.tv_sec = 100000;
	must(pipe(standing) == 0 &&
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, packets) == 0);
	packets_fill();
	keeper = made(eventfd(KEPT, EFD_CLOEXEC));
	adder = made(eventfd(0, EFD_NONBLOCK));
	ticker = made(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
	must(timerfd_settime(ticker, 0, &often, NULL) == 0);
	signals = made(signalfd(-1, mask, SFD_NONBLOCK));
	set = made(epoll_create1(EPOLL_CLOEXEC));
	events_add(ticker, EV_TIMER, EPOLLIN);
	events_add(adder, EV_EVENT, EPOLLIN | EPOLLET);
	events_add(signals, EV_SIGNAL, EPOLLIN);
	events_add(back, EV_BACK, EPOLLIN | EPOLLRDHUP);
}

/*
 * Read the next word of the deleted file, with either descriptor in turn.
 */
static inline long
deleted_check(uint64_t n)
{
	struct stat st;
	uint64_t w;
	off_t at;
	long wrong;

	at = (off_t)((n - 1) * 8 % FILEBYTES);
	if (at == 0)
		(void)lseek(deleted[1], 0, SEEK_SET);
	wrong = lseek(deleted[0], 0, SEEK_CUR) != at;
	wrong += read(deleted[n % 2], &w, 8) != 8 ||
	    memcmp(&w, content + at, 8) != 0;
	wrong += fstat(alone, &st) == -1 || st.st_nlink != 0 ||
	    st.st_size != FILEBYTES || (st.st_mode & 07777) != 0640;
	wrong += lseek(alone, 0, SEEK_CUR) != 1000 ||
	    fcntl(alone, F_GETFD) != FD_CLOEXEC ||
	    (fcntl(alone, F_GETFL) & O_ACCMODE) != O_RDONLY;
	/* one file: alone reads what deleted writes */
	wrong += pwrite(deleted[0], &n, 8, FILEBYTES - 8) != 8 ||
	    pread(alone, &w, 8, FILEBYTES - 8) != 8 || w != n;
	memcpy(content + FILEBYTES - 8, &n, 8);
	return wrong;
}

static inline long
memfd_check(void)
{
	static char buf[FILEBYTES];
	long wrong;

	wrong = lseek(object, 0, SEEK_CUR) != 4321 ||
	    fcntl(object, F_GET_SEALS) != (F_SEAL_SHRINK | F_SEAL_GROW);
	wrong += pread(object, buf, FILEBYTES, 0) != FILEBYTES;
	return wrong + pattern_check(buf, FILEBYTES - 8, SEED_FILE);
}

static inline long
mapped_check(uint64_t n)
{
	uint64_t w;
	long wrong;

	wrong = pattern_check(mapped, MAPBYTES, SEED_MAP) +
	    pattern_check(changed, PAGE, SEED_MAP) +
	    pattern_check(changed + PAGE, PAGE, SEED_MAP + 100) +
	    pattern_check(written, MAPBYTES - PAGE, SEED_MAP);
	/* the file may be newer than the snapshot */
	memcpy(&w, written + MAPBYTES - PAGE, 8);
	wrong += n > 1 && w < n - 1;
	memcpy(written + MAPBYTES - PAGE, &n, 8);
	wrong += pread(writtenfd, &w, 8, MAPBYTES - PAGE) != 8 || w != n;
	return wrong;
}

/*
 * Read the pipe, the socket and the eventfd, and write the same to them again.
 */
static inline long
standing_check(void)
{
	char buf[STANDING + 1];
	uint64_t kept;
	long wrong;
	int i;

	(void)fcntl(standing[0], F_SETFL, O_NONBLOCK);
	wrong = read(standing[0], buf, sizeof buf) != STANDING;
	wrong += pattern_check(buf, STANDING, SEED_PIPE);
	for (i = 1; i <= PACKETS; i++) {
		wrong += recv(packets[1], buf, sizeof buf, MSG_DONTWAIT) !=
		    i * 16;
		wrong += pattern_check(buf, (size_t)(i * 16), SEED_PACKET);
	}
	wrong += recv(packets[1], buf, sizeof buf, MSG_DONTWAIT) != -1;
	if (wrong == 0)
		packets_fill();
	kept = 0;
	wrong += read(keeper, &kept, 8) != 8 || kept != KEPT;
	kept = KEPT;
	return wrong + (write(keeper, &kept, 8) != 8);
}

/*
 * Read the events of the epoll set all the time, and count each kind.
 */
static void *
events_run(void *arg)
{
	static uint64_t count[4], total, last;
	struct epoll_event ev;
	struct signalfd_siginfo si;
	uint64_t v;
	long wrong;

	for (;;) {
		if (epoll_wait(set, &ev, 1, -1) != 1)
			continue;
		wrong = 0;
		v = 0;
		switch (ev.data.u64) {
		case EV_TIMER:
			wrong = read(ticker, &v, 8) != 8 || v == 0;
			tell("timerfd", ++count[0], wrong);
			break;
		case EV_EVENT:
			wrong = read(adder, &v, 8) != 8 ||
			    (total += v) > added;
			tell("eventfd", ++count[1], wrong);
			break;
		case EV_SIGNAL:
			wrong = read(signals, &si, sizeof si) != sizeof si ||
			    si.ssi_signo != SIGUSR2;
			tell("signalfd", ++count[2], wrong);
			break;
		case EV_BACK:
			wrong = read((int)(intptr_t)arg, &v, 8) != 8 ||
			    v != last + 1;
			last = v;
			tell("back", ++count[3], wrong);
			while (idle && last == IDLE_BACK)
				pause();
			break;
		default:
			tell("epoll", 1, 1);
		}
	}
	return NULL;
}

#endif
