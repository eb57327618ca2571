/*
 * CRIU images made from the records of live processes: criu/make/ and
 * record/words.c.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
test_process(void **state)
{
	struct criuopts o = { 0 };
	struct part m, core;

	(void)state;
	process_record(7);
	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "");
	m = frame("inventory.img", 0);
	assert_int_equal(number(m, "1"), 2);
	assert_int_equal(number(m, "2"), 1);
	m = frame("pstree.img", 0);
	assert_int_equal(number(m, "1"), 7);
	assert_int_equal(number(m, "2"), 0);
	assert_int_equal(number(m, "5"), 7);
	core = frame("core-7.img", 0);
	assert_int_equal(count(core, 3), 1);
	assert_int_equal(number(core, "2.1"), 0x7ffe0010);
	assert_int_equal(number(core, "2.2.1"), 100);
	assert_int_equal(number(core, "3.5"), 0x200);
	assert_int_equal(number(core, "3.7.1.1"), 1);
	assert_int_equal(number(core, "3.7.1.2"), 1);
	assert_int_equal(number(core, "3.7.1.4"), 2);
	assert_int_equal(number(core, "3.7.4.1"), 3);
	assert_int_equal(number(core, "3.7.4.2"), (uint32_t)-6);
	assert_int_equal(number(core, "3.7.4.9"), 9);
	assert_int_equal(number(core, "3.8.1#3.1"), 8388608);
	assert_int_equal(number(core, "3.13"), 1000);
	assert_true(number(core, "3.8.1#4.1") == UINT64_MAX);
	assert_int_equal(number(core, "3.15#1.1"), 0x400123);
	assert_int_equal(number(core, "3.15#61.2"), 0x4000000);
	/* a nice value of -5, zigzag */
	assert_int_equal(number(core, "5.3"), 9);
	assert_int_equal(number(core, "5.17"), 40000);
	assert_int_equal(number(core, "5.10.3"), 2);
	assert_int_equal(number(core, "5.10.11"), 0xff);
	assert_int_equal(number(core, "5.10.11#1"), 1);
	assert_int_equal(number(core, "5.10.14#1"), 10);
	assert_int_equal(number(frame("fs-7.img", 0), "3"), 022);
}

/*
 * A process that had a pending SIGSTOP when it was captured, for itself or a
 * thread, is restored as stopped.
 */
static void
test_stopped(void **state)
{
	static const char *const name[] = {
		"sigpending/process", "sigpending/thread"
	};
	enum { SIGINFO = 128, STOPPED = 3 };
	uint8_t b[2 * SIGINFO] = { 0 };
	struct criuopts o = { 0 };
	struct part core;
	size_t i;

	(void)state;
	b[0] = SIGUSR1;
	b[SIGINFO] = SIGSTOP;
	for (i = 0; i < 2; i++) {
		process_record(7);
		set_bytes(name[i], b, sizeof b);
		assert_int_equal(load_one(&o), 0);
		core = frame("core-7.img", 0);
		assert_int_equal(number(core, "3.1"), STOPPED);
		assert_int_equal(number(core, "3.21"), SIGSTOP);
	}
	process_record(7);
	set_bytes(name[0], b, SIGINFO);
	assert_int_equal(load_one(&o), 0);
	assert_int_equal(number(frame("core-7.img", 0), "3.1"), 1);
	process_record(7);
	set_bytes(name[0], b, SIGINFO - 1);
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(snap_errstr(), "process 7: sigpending/process: "
	    "127 bytes, not a multiple of 128");
}

static void
test_memory(void **state)
{
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	process_record(7);
	assert_int_equal(load_one(&o), 0);
	m = frame("mm-7.img", 0);
	assert_int_equal(number(m, "1"), 4194304);
	assert_int_equal(number(m, "7"), 0x405000);
	assert_int_equal(count(m, 14), 3);
	assert_int_equal(number(m, "14.7"), 0x41);
	assert_int_equal(number(m, "14#1.7"), 0x221);
	assert_int_equal(number(m, "14#1.6"), 0x22);
	assert_int_equal(number(m, "14#2.6"), 0x122);
	m = frame("pagemap-7.img", 1);
	assert_true(number(m, "1") == DATA);
	assert_int_equal(number(m, "2"), 2);
	assert_int_equal(number(m, "4"), 6);
	m = frame("pagemap-7.img", 2);
	assert_true(number(m, "1") == STACK + PAGE);
	assert_int_equal(number(m, "4"), 4);
	image_get("pages-1.img");
	assert_int_equal(image.n, 3 * PAGE);
	assert_int_equal(image.b[0], 'x');
}

/*
 * System calls that the stop interrupted are restarted: the new ax and ip.
 */
static void
test_restart(void **state)
{
	static const struct {
		int64_t		 ax, orig;
		uint64_t	 newax, newip;
	} cases[] = {
		{ -512, 230, 230, 0x3ffffe }, { -513, 7, 7, 0x3ffffe },
		{ -514, 7, 7, 0x3ffffe }, { -516, 7, (uint64_t)-4, 0x400000 },
		{ -512, -1, (uint64_t)-512, 0x400000 },
		{ 0, 7, 0, 0x400000 }
	};
	struct criuopts o = { 0 };
	struct part m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set_regs((uint64_t)cases[i].ax, (uint64_t)cases[i].orig, CODE);
		assert_int_equal(load_one(&o), 0);
		m = frame("core-7.img", 0);
		assert_true(number(m, "2.2.11") == cases[i].newax);
		assert_true(number(m, "2.2.17") == cases[i].newip);
	}
}

/*
 * Set the file name to n words: v, v + 1 and so on.
 */
static void
set_words(const char *name, uint64_t v, size_t n)
{
	uint8_t b[66 * 8];
	size_t i;

	assert_true(n <= sizeof b / 8);
	for (i = 0; i < n; i++)
		put64(b + i * 8, v + i);
	set_bytes(name, b, n * 8);
}

/*
 * Begin a record of arm64 with the pointer authentication of Linux 5.4.
 */
static void
arm64_record(void)
{
	process_record(7);
	set_words("regset/prstatus", 100, 34);
	set_words("regset/fpregs", 200, 66);
	set_words("regset/401", 300, 1);
	set_words("regset/407", 400, 8);
	set_words("regset/408", 500, 2);
}

static struct part
arm64_core(void)
{
	struct criuopts o = { 0 };

	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "");
	return frame("core-7.img", 0);
}

static void
arm64_refused(const char *why)
{
	struct criuopts o = { 0 };

	assert_int_equal(load_one(&o), -1);
	assert_contains(warned, why);
}

/*
 * Registers of arm64: later kernels have larger sets, earlier ones have fewer.
 * SVE and SME may consist of a header only.
 */
static void
test_arm64(void **state)
{
	static const uint8_t sve[20] = { [12] = 1 }, fpsimd[20] = { 0 };
	struct part m;

	(void)state;
	machine = "arm64";
	arm64_record();
	m = arm64_core();
	assert_int_equal(number(m, "1"), 3);
	assert_int_equal(number(m, "8.2"), 300);
	assert_int_equal(number(m, "8.3.1#30"), 130);
	assert_int_equal(number(m, "8.3.3"), 132);
	assert_int_equal(number(m, "8.4.1#63"), 263);
	assert_int_equal(number(m, "8.5.6.8"), 407);
	assert_int_equal(number(m, "8.5.6.9"), 0xf);
	assert_int_equal(number(m, "8.5.7.2"), 501);
	arm64_record();
	set_words("regset/401", 310, 2);	/* TPIDR2_EL0, Linux 6.2 */
	set_words("regset/40a", 3, 1);
	set_bytes("regset/405", fpsimd, sizeof fpsimd);
	set_bytes("regset/40b", fpsimd, sizeof fpsimd);
	set_bytes("regset/40c", sve, 16);
	set_words("regset/409", 0, 1);
	m = arm64_core();
	assert_int_equal(number(m, "8.2"), 310);
	assert_int_equal(number(m, "8.5.6.9"), 3);
	arm64_record();
	set_bytes("regset/401", NULL, 0);
	arm64_refused("its thread pointer is not in the snapshot");
	arm64_record();
	set_bytes("regset/405", sve, sizeof sve);
	arm64_refused("it is using SVE registers");
	arm64_record();
	set_bytes("regset/40b", sve, sizeof sve);
	arm64_refused("it is using SME registers");
	arm64_record();
	set_bytes("regset/40c", fpsimd, sizeof fpsimd);
	arm64_refused("it is using SME registers");
	arm64_record();
	set_words("regset/409", 1, 1);
	arm64_refused("it is using tagged addresses");
	machine = "amd64";
}

static void
test_threads(void **state)
{
	struct criuopts o = { 0 };
	struct snap *s;
	struct part m;

	(void)state;
	s = begin();
	process_record(7);
	finish(s, 7);
	thread_record(8);
	set("thread", "7\n");
	finish(s, 8)->leader = 7;
	assert_int_equal(load(s, &o), 0);
	m = frame("pstree.img", 0);
	assert_int_equal(count(m, 5), 2);
	assert_int_equal(number(m, "5#1"), 8);
	m = frame("core-8.img", 0);
	assert_int_equal(count(m, 3), 0);
	assert_int_equal(number(m, "5.6"), 0x200);
}

/*
 * Write the current record, which has an object of the kind word. leaving: 0,
 * no kinds are left out; 1, all others; 2, this one. Only in the last case are
 * images written. The message says why.
 */
static int
load_leaving(const char *word, const char *why, int leaving)
{
	struct criuopts o = { 0 };
	uint64_t kind, other;
	char want[256];

	kind = other = 0;
	assert_int_equal(criu_leave(word, &kind), 0);
	assert_int_equal(criu_leave(strcmp(word, "locks") == 0 ? "other" :
	    "locks", &other), 0);
	o.leave = leaving == 0 ? 0 : leaving == 1 ? ~kind : kind | other;
	if (leaving == 2) {
		snprintf(want, sizeof want, "%s: left out\n", why);
		assert_int_equal(load_one(&o), 0);
		assert_string_equal(warned, want);
		return 0;
	}
	assert_int_equal(load_one(&o), -1);
	snprintf(want, sizeof want, "%s: cannot be restored (-f %s leaves it "
	    "out)\n", why, word);
	assert_string_equal(warned, want);
	snprintf(want, sizeof want, "nothing is written (-f %s writes the "
	    "rest)", word);
	assert_string_equal(snap_errstr(), want);
	return -1;
}

/* control characters of a terminal */
#define CC	"000102030405060708090a0b0c0d0e0f101112"
#define MODES	"termios 1 2 3 4 5\ntermioscc " CC "\ntermlock 0 0 0 0 0\n" \
		"termlockcc " CC "\nwinsize 6 7 8 9\n"
#define INET "type inet\nflags 2\nino 5\nfamily 4\n"
#define INET6 "type inet\nflags 2\nino 5\nfamily 6\n"

/*
 * Open files that cannot be restored.
 */
static void
test_refused(void **state)
{
	static const struct {
		const char *word, *file, *why;
	} cases[] = {
		{ "tcp", "type inet\nino 5\nflags 2\nwhy connected to "
		    "1.2.3.4:5\n",
		    "an IP socket: connected to 1.2.3.4:5" },
		{ "tcp", "type inet\nprotocol 6\n",
		    "an IP socket: it is not fully recorded" },
		{ "udp", "type inet\nprotocol 17\n",
		    "an IP socket: it is not fully recorded" },
		{ "raw", "type inet\nprotocol 1\n",
		    "an IP socket: it is not fully recorded" },
		{ "tcp", INET "protocol 6\nsocket 1 1 0 0 0\nulp tls\n",
		    "an IP socket: with a protocol on top of TCP, such as "
		    "kernel TLS" },
		{ "tcp", INET "protocol 262\nsocket 1 1 0 0 0\n"
		    "local 1.2.3.4 5\n",
		    "an IP socket: an MPTCP connection" },
		{ "raw", INET "protocol 132\nsocket 1 10 0 5 0\n",
		    "an IP socket: of a protocol that criu does not support" },
		{ "raw", INET "protocol 6\nsocket 3 1 0 0 0\n"
		    "remote 1.2.3.4 5\n",
		    "an IP socket: raw, and connected" },
		{ "udp", INET "protocol 17\nsocket 2 1 0 0 0\n"
		    "remote 255.255.255.255 5\n",
		    "an IP socket: connected to a broadcast address" },
		{ "udp", INET "protocol 17\nsocket 2 7 0 0 0\n"
		    "option UDP_CORK 1\n",
		    "an IP socket: with an unsent packet (UDP_CORK)" },
		{ "udp", INET6 "protocol 17\nsocket 2 7 0 0 0\n"
		    "local fe80::1 5\n",
		    "an IP socket: on an unknown link" },
		{ "udp", INET6 "protocol 17\nsocket 2 1 0 0 0\n"
		    "local :: 5\nremote fe80::1 5\n",
		    "an IP socket: connected on an unknown link" },
		{ "tty", "type tty\npath /dev/pts/3\nflags 2\npos 0\n",
		    "a terminal of an unknown kind: /dev/pts/3" },
		{ "tty", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n",
		    "a terminal that is not fully recorded: /dev/pts/3" },
		{ "tty", "type tty\npath /dev/ptmx\nrdev 05:02\nindex 3\n"
		    "master 1\nwaiting 2\n" MODES,
		    "a terminal with unread bytes: /dev/ptmx" },
		{ "tty", "type tty\npath /dev/tty\nrdev 05:00\n" MODES,
		    "the terminal of a session, which is not open by its own "
		    "name: /dev/tty" },
		{ "netlink", "type netlink\nflags 2\n",
		    "a netlink socket that is not fully recorded" },
		{ "netlink", "type netlink\nflags 2\nino 5\n"
		    "netlink 3 15 0 0 0\nmember 2\n",
		    "a netlink socket in a group, without an address" },
		{ "packet", "type packet\nflags 2\n",
		    "a packet socket that is not fully recorded" },
		{ "packet", "type packet\nflags 2\nino 5\nbound 3 3 1\n"
		    "frames 0 0 0 0 1\nlistens 1 2 1 -\n",
		    "a packet socket with a repeated membership, or one that "
		    "criu does not support" },
		{ "inotify", "type inotify\nflags 2\nwaiting 16\n",
		    "an inotify set with unread events" },
		{ "inotify", "type inotify\nflags 2\n"
		    "watch 1 2 08:01 9 1 0102 -\n", "an inotify set that "
		    "watches a file whose path is not known" },
		{ "inotify", "type inotify\nflags 2\n"
		    "watch 1 2 08:01 9 1 0102 (deleted)\n", "an inotify set "
		    "that watches a file whose path is not known" },
		{ "fanotify", "type fanotify\nflags 2\n",
		    "a fanotify group that is not fully recorded" },
		{ "namespaces", "type namespace\nspace mnt\nino 5\nflags 0\n",
		    "a namespace of a kind that cannot be opened again" },
		{ "namespaces", "type namespace\nspace net\nino 5\nflags 0\n",
		    "a namespace that the process is not in" },
		{ "pidfd", "type pidfd\nflags 2\n",
		    "a pidfd of an unknown process" },
		{ "pidfd", "type pidfd\nflags 2\npid 9\n",
		    "a pidfd of a process outside the snapshot" },
		{ "pidfd", "type pidfd\nflags 202\npid 7\n",
		    "a pidfd of a thread" },
		{ "io_uring", "type io_uring\nflags 2\n", "io_uring" },
		{ "device", "type device\npath /dev/fuse\n",
		    "a device: /dev/fuse" },
		{ "pipe", "type pipe\nino 9\nflags 1\n",
		    "a pipe whose reader is not in the snapshot" },
		{ "unix", "type unix\nino 9\nflags 2\nsocket 1 1 10 0 0\n",
		    "a socket whose other end is not in the snapshot" },
		{ "unix", "type unix\nino 9\nflags 2\nsocket 1 7 0 0 0\n"
		    "passed 0 8\n", "a socket with a queued descriptor that is "
		    "not recorded" },
		{ "unix", "type unix\nino 9\nwhy it is shy\n",
		    "it is shy" },
		{ "epoll", "type epoll\nflags 2\ntarget 5 1 2 -\n",
		    "an epoll set with a file for which the process has no "
		    "descriptor" },
		{ "epoll", "type epoll\nflags 2\ntarget 5 1 2 2\n"
		    "target 4 1 3 2\n", "an epoll set that has a file twice, "
		    "once by a closed descriptor" },
		{ "eventfd", "type eventfd\nflags 2\ncount 1\n"
		    "semaphore 1\n", "an eventfd with EFD_SEMAPHORE, which "
		    "criu does not support" },
		{ "eventfd", "type eventfd\nflags 2\ncount 4294967296\n",
		    "an eventfd with a count of more than 32 bits" },
		{ "deleted", "type reg\npath /x\nflags 2\ndeleted 1\n",
		    "a deleted file whose content is not in the snapshot: "
		    "/x" },
		{ "deleted", "type fifo\npath /x\nflags 2\ndeleted 1\n"
		    "why it is deleted\n", "it is deleted: /x" },
		{ "deleted", "type fifo\npath /x\nino 9\nflags 0\ndeleted 1\n",
		    "a FIFO with unread bytes, or deleted, whose other end is "
		    "not in the snapshot: /x" },
		{ "shm", "type memfd\npath /memfd:x\nflags 2\n",
		    "a memfd whose content is not in the snapshot: /memfd:x" },
		{ "other", "type unheard\n", "a file of a kind that criu "
		    "cannot open" },
		{ "other", "type other\nwhy a file of no known kind\n",
		    "a file of no known kind" },
		{ "deleted", "type reg\npathbytes 2f0a78\nflags 2\ndeleted 1\n",
		    "a deleted file whose content is not in the snapshot: "
		    "/\nx" },
		{ "other", "type reg\nwhy it is strange\n",
		    "it is strange" }
	};
	char why[256];
	size_t i;

	(void)state;
	for (i = 0; i < 3 * (sizeof cases / sizeof *cases); i++) {
		process_record(7);
		set("files", "3 1\n4 2\n");
		set("file/1", cases[i / 3].file);
		set("file/2", "type reg\npath /etc/passwd\nflags 100000\n"
		    "pos 3\nmode 100644\nsize 12\n");
		snprintf(why, sizeof why, "process 7, descriptor 3: %s",
		    cases[i / 3].why);
		if (load_leaving(cases[i / 3].word, why, (int)(i % 3)) == -1)
			continue;
		assert_int_equal(number(frame("fdinfo-2.img", 0), "4"), 4);
		image_get("fdinfo-2.img");
		assert_int_equal(image.n, 8 + 4 + 8);
	}
}

/*
 * A socket is restored without the properties that criu lacks.
 */
static void
test_without(void **state)
{
	static const char *const cases[][3] = {
		{ "multicast", INET "protocol 17\ngroup 239.1.2.3 eth0\n",
		    "process 7, descriptor 3: a member of the multicast group "
		    "239.1.2.3 of eth0" },
		{ "sockopt", INET "protocol 17\noption SO_TIMESTAMP 1\n",
		    "process 7, descriptor 3: the option SO_TIMESTAMP of a "
		    "socket" },
		{ "sockopt", INET6 "protocol 17\noption IP_PKTINFO 1\n",
		    "process 7, descriptor 3: the option IP_PKTINFO of a "
		    "socket" },
		{ "sockopt", "type unix\nflags 2\nino 5\n"
		    "option SO_TIMESTAMP 1\n", "process 7, descriptor 3: the "
		    "option SO_TIMESTAMP of a socket" }
	};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < 3 * (sizeof cases / sizeof *cases); i++) {
		process_record(7);
		set("files", "3 1\n");
		snprintf(text, sizeof text, "%ssocket 2 7 0 0 0\n",
		    cases[i / 3][1]);
		set("file/1", text);
		if (load_leaving(cases[i / 3][0], cases[i / 3][2],
		    (int)(i % 3)) == 0)
			assert_int_equal(number(frame("fdinfo-2.img", 0), "4"),
			    3);
	}
}

/*
 * Mappings that cannot be restored.
 */
static void
test_unmapped(void **state)
{
	static const struct {
		const char *word, *name, *flags, *why;
	} cases[] = {
		{ "sysv", "/SYSV00000001 (deleted)", "rd sh",
		    "System V shared memory that is not in the record" },
		{ "io_uring", "anon_inode:[io_uring]", "rd sh",
		    "a ring of io_uring" },
		{ "aio", "/[aio] (deleted)", "rd sh",
		    "a ring of io_setup(2) that is not in the snapshot" },
		{ "secretmem", "/secretmem (deleted)", "rd sh",
		    "memory that only the process can read" },
		{ "hugetlb", "/huge/some", "rd ht",
		    "huge pages of a hugetlbfs file" },
		{ "shstk", "", "rd wr ss", "a shadow stack" },
		{ "userfaultfd", "", "rd wr um", "memory registered with "
		    "userfaultfd" },
		{ "device", "/some/where", "rd wr pf", "a device" },
		{ "device", "/dev/mem", "rd wr", "a device" },
		{ "packet", "socket:[7]", "rd wr",
		    "not a packet socket for which the process has a "
		    "descriptor" },
		{ "other", "pipe:[7]", "rd wr", "a file that criu cannot map" }
	};
	char why[256], line[256], text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < 3 * (sizeof cases / sizeof *cases); i++) {
		process_record(7);
		snprintf(line, sizeof line, "500000-501000 r--s 00000000 00:09 "
		    "77 %s\n", cases[i / 3].name);
		snprintf(text, sizeof text, "400000-402000 r-xp 00000000 08:01 "
		    "9 /bin/one\n%s", line);
		set("maps", text);
		snprintf(text, sizeof text, "%sVmFlags: %s \n", line,
		    cases[i / 3].flags);
		set("smaps", text);
		snprintf(why, sizeof why, "process 7: mapping at 500000%s%s: "
		    "%s", *cases[i / 3].name == '\0' ? "" : " of ",
		    cases[i / 3].name, cases[i / 3].why);
		if (load_leaving(cases[i / 3].word, why, (int)(i % 3)) == -1)
			continue;
		/* the mapping of the executable is left */
		assert_int_equal(count(frame("mm-7.img", 0), 14), 1);
	}
}

/*
 * Images that are in the snapshot already are ignored unless they have names of
 * files.
 */
static void
test_view(void **state)
{
	static const uint8_t pagemap[] = { 0x19, 0x43, 0x56, 0x54, 0x25, 0x40,
	    0x08, 0x56, 2, 0, 0, 0, 8, 1 };
	struct criuopts o = { .warn = note_warning };
	struct criuview *v;
	struct snap *s;

	(void)state;
	process_record(7);
	set("criu/inventory.img", "x");
	set("criu/a/b", "x");
	set_bytes("criu/pagemap-7/8.img", pagemap, sizeof pagemap);
	s = begin();
	finish(s, 7);
	assert_non_null(v = criuview_new(s, &o));
	assert_int_equal(v->n, 1);
	assert_string_equal(v->v[0]->name, "inventory.img");
	criuview_free(v);
	snap_free(s);
}

/*
 * A hundred thousand sockets, each waiting in the queue of the previous one.
 * Each is visited once, or the test would not end.
 */
static void
test_nested(void **state)
{
	enum { SOCKETS = 100000 };
	struct criuopts o = { 0 };
	struct file *f;
	struct snap *s;
	size_t i, n;

	(void)state;
	process_record(7);
	set("files", "3 100000\n");
	assert_non_null(f = calloc(FILES + SOCKETS, sizeof *f));
	for (n = 0; n < rec.n; n++) {
		f[n].name = rec.e[n].name;
		f[n].data = (uint8_t *)rec.e[n].data;
		f[n].len = rec.e[n].len;
	}
	for (i = 1; i <= SOCKETS; i++, n++) {
		assert_true(asprintf(&f[n].name, "file/%zu", i) > 0);
		f[n].len = (size_t)asprintf((char **)&f[n].data, "type unix\n"
		    "ino %zu\nflags 2\nsocket 1 10 0 5 0\n"
		    "options 4608 4608 0\npassed 0 %zu\n", i,
		    i == 1 ? (size_t)SOCKETS : i - 1);
	}
	s = begin();
	i = rec.n;
	finish_with(s, 7, f, n);
	assert_int_equal(load(s, &o), 0);
	while (i < n) {
		free(f[i].name);
		free(f[i++].data);
	}
	free(f);
}

/*
 * Load a process with mappings of a System V segment of two pages. If ns is not
 * NULL, the segment is embedded as one of the IPC namespace ns.
 */
static int
load_sysv(struct criuopts *o, const char *maps, const char *shm, const char *ns)
{
	char path[] = "/SYSV00000007 (deleted)", text[1024];
	struct vma v = { .dev = makedev(0, 1), .ino = 5, .name = path };
	struct file f = { .name = (char[]){ "ns/ipc" } };
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	process_record(7);
	snprintf(text, sizeof text, "400000-402000 r-xp 00000000 08:01 9 "
	    "/bin/one\n%s", maps);
	set("maps", text);
	set("smaps", "");
	set("ns/ipc", "ipc:[4026531839]");
	set("sysvipc/shm", shm);
	set("sysvipc/limits", "kernel/sem 1 2 3 4\nkernel/shmmax 77\n"
	    "kernel/new 1 2\n");
	s = begin();
	finish(s, 7);
	if (ns == NULL)
		return load(s, o);
	m = memsource_new(s, 8, KB);
	memset(m->data, 'y', 8 * KB);
	assert_non_null(p = embedded_new(s, &v));
	segment_add(p, IMAGE_MEM, 0, 8 * KB, &m->src, 0);
	f.data = (uint8_t *)strdup(ns);
	f.len = strlen(ns);
	assert_int_equal(linuxrec_pack(p, machine, &f, 1), 0);
	free(f.data);
	return load(s, o);
}

/*
 * A System V segment is restored if all of it is in the snapshot and no process
 * outside has it attached.
 */
static void
test_sysv(void **state)
{
#define SYSV "500000-501000 rw-s 00000000 00:01 5 /SYSV00000007 (deleted)\n" \
	"501000-502000 r--s 00001000 00:01 5 /SYSV00000007 (deleted)\n"
#define SEGMENT "5 7 1640 8000 11 12 13 14 "
#define SPACE "ipc:[4026531839]"
	static const struct {
		const char	*maps, *shm, *ns, *why;
	} cases[] = {
		{ SYSV, SEGMENT "3\n", SPACE, "System V shared memory "
		    "that a process outside the snapshot has" },
		{ SYSV, SEGMENT "2\n", "ipc:[1]", "System V shared memory "
		    "that is not in the snapshot" },
		{ SYSV, SEGMENT "2\n", NULL, "System V shared memory that is "
		    "not in the snapshot" },
		{ SYSV, "6 7 1640 8000 11 12 13 14 2\n", SPACE, "System V "
		    "shared memory that is not in the record" },
		{ SYSV, "5 7 1640 8200 11 12 13 14 2\n", SPACE, "System V "
		    "shared memory that is mapped only in part" }
	};
	struct criuopts o = { .note = note_warning };
	struct part m;
	char want[512];
	size_t i;

	(void)state;
	assert_int_equal(load_sysv(&o, SYSV, SEGMENT "2\n", SPACE), 0);
	assert_string_equal(warned, "process 7: System V shared memory 5 is "
	    "not marked for removal when it is restored\n"
	    "process 7: it is restored in an IPC namespace of its own, with "
	    "its System V shared memory, but without semaphores and queues\n");
	m = frame("mm-7.img", 0);
	assert_int_equal(number(m, "14#1.4"), 5);
	assert_int_equal(number(m, "14#1.7"), 0x501);
	assert_int_equal(number(m, "14#2.3"), PAGE);
	assert_int_equal(number(frame("ids-7.img", 0), "7"), 5);
	assert_int_equal(number(frame("inventory.img", 0), "3.7"), 1);
	m = frame("ipcns-var-5.img", 0);
	assert_int_equal(number(m, "1#3"), 4);
	assert_int_equal(number(m, "6"), 77);
	assert_int_equal(number(m, "8"), 4096);
	m = frame("ipcns-shm-5.img", 0);
	assert_int_equal(number(m, "1.1"), 7);
	assert_int_equal(number(m, "1.2"), 11);
	assert_int_equal(number(m, "1.5"), 14);
	assert_int_equal(number(m, "1.6"), 01640);
	assert_int_equal(number(m, "1.7"), 5);
	assert_int_equal(number(m, "2"), 8000);
	assert_int_equal(number(frame("pagemap-shmem-5.img", 1), "2"), 2);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(load_sysv(&o, cases[i].maps, cases[i].shm,
		    cases[i].ns), -1);
		snprintf(want, sizeof want, "process 7: mapping at 500000 of "
		    "/SYSV00000007 (deleted): %s: cannot be restored (-f sysv "
		    "leaves it out)\n", cases[i].why);
		assert_int_equal(strncmp(warned, want, strlen(want)), 0);
	}
	assert_int_equal(load_sysv(&o, SYSV, "5 7 1680 8000 1 1 1 1 2\n",
	    SPACE), -1);
	assert_string_equal(snap_errstr(), "process 7: sysvipc/shm: line 1: "
	    "expected \"id key (x) mode (octal) size uid gid cuid cgid "
	    "attached\"");
}

/*
 * Load a process in an IPC namespace with these objects.
 */
static int
load_space(struct criuopts *o, const char *detached, const char *sem,
    const char *msg)
{
	static const uint8_t values[] = { 1, 2, 255, 127 };

	process_record(7);
	set("ns/ipc", "ipc:[7]");
	set("sysvipc/detached", detached);
	set("sysvipc/sem", sem);
	set("sysvipc/msg", msg);
	set_bytes("sysvipc/semaphores/5", values, sizeof values);
	set("sysvipc/messages/6", "9 3\nabc10 0\n11 8\n12345678");
	set("sysvipc/messages/8", "9 4\nabc");
	set("sysvipc/limits", "kernel/msgmnb 9\n");
	return load_one(o);
}

/*
 * Semaphores and message queues are restored with their namespace.
 */
static void
test_space(void **state)
{
#define OF "process 7: System V %s in its IPC namespace: %s"
	static const struct {
		const char	*detached, *sem, *msg, *what, *why;
	} cases[] = {
		{ "4 7 600 1 2 3 4 99\n", NULL, NULL, "segment 4",
		    "no process has it attached" },
		{ NULL, "5 7 600 1 2 3 4 3\n", NULL, "semaphore set 5",
		    "its values are not in the snapshot" },
		{ NULL, NULL, "6 7 600 1 2 3 4 99 2\n", "queue 6",
		    "its messages are not in the snapshot" },
		{ NULL, NULL, "7 7 600 1 2 3 4 99 1\n", "queue 7",
		    "its messages are not in the snapshot" },
		{ NULL, NULL, "8 7 600 1 2 3 4 99 1\n", "queue 8",
		    "its messages are malformed" }
	};
	struct criuopts o = { .note = note_warning };
	char want[512];
	struct part m;
	size_t i;

	(void)state;
	assert_int_equal(load_space(&o, NULL, "5 7 600 1 2 3 4 2\n",
	    "6 8 640 5 6 7 8 99 3\n"), 0);
	assert_string_equal(warned, "");
	assert_int_equal(number(frame("ids-7.img", 0), "7"), 5);
	/* length of the first message */
	assert_int_equal(number(frame("ipcns-var-5.img", 0), "3"), 11);
	m = frame("ipcns-sem-5.img", 0);
	assert_int_equal(number(m, "1.7"), 5);
	assert_int_equal(number(m, "2"), 2);
	assert_memory_equal(m.p + m.n, "\1\2\377\177\0\0\0\0", 8);
	assert_ptr_equal(m.p + m.n + 8, image.b + image.n);
	m = frame("ipcns-msg-5.img", 0);
	assert_int_equal(number(m, "1.1"), 8);
	assert_int_equal(number(m, "3"), 3);
	m = frame("ipcns-msg-5.img", 1);
	assert_int_equal(number(m, "1"), 9);
	assert_int_equal(number(m, "2"), 3);
	assert_memory_equal(m.p + m.n, "abc\0\0\0\0\0", 8);
	assert_memory_equal(image.b + image.n - 8, "12345678", 8);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(load_space(&o, cases[i].detached,
		    cases[i].sem, cases[i].msg), -1);
		snprintf(want, sizeof want, OF ": cannot be restored (-f sysv "
		    "leaves it out)\n", cases[i].what, cases[i].why);
		assert_string_equal(warned, want);
	}
	assert_int_equal(load_space(&o, NULL, "5 7 600 1 2 3 4\n", NULL), -1);
	assert_string_equal(snap_errstr(), "process 7: sysvipc/sem: line 1: "
	    "expected \"id key (x) mode (octal) uid gid cuid cgid count\"");
	process_record(7);
	set("ns/ipc", "ipc:[7]");
	set("sysvipc/why", "its IPC namespace: not allowed\n");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(warned, "process 7: its System V objects cannot "
	    "be read: its IPC namespace: not allowed: cannot be restored (-f "
	    "sysv leaves it out)\n");
}

/*
 * Return the number of POSIX timers in the image of process 7.
 */
static size_t
posix_timers(void)
{
	struct part tc, timers;
	uint64_t v;

	assert_true(field_find(frame("core-7.img", 0), 3, 0, &v, &tc));
	assert_true(field_find(tc, 7, 0, &v, &timers));
	return count(timers, 4);
}

/*
 * A timer for a missing thread and a user namespace can be left out.
 */
static void
test_left(void **state)
{
	int i;

	(void)state;
	process_record(7);
	set("posix_timers", "3 1 0 4 7f 7 0 0 9000000001\n");
	assert_int_equal(load_one(&(struct criuopts){ 0 }), 0);
	assert_int_equal(posix_timers(), 1);
	for (i = 0; i < 3; i++) {
		process_record(7);
		set("posix_timers", "3 1 0 4 7f 8 0 0 9000000001\n");
		if (load_leaving("timer", "process 7: timer 3: it is for "
		    "thread 8, which is not in the snapshot", i) == 0)
			assert_int_equal(posix_timers(), 0);
	}
	for (i = 0; i < 3; i++) {
		process_record(7);
		set("ns/user", "user:[4026532001]");
		load_leaving("userns", "process 7: its user namespace", i);
	}
}

/*
 * An inotify set, with watches in the order of their numbers.
 */
static void
test_watches(void **state)
{
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type inotify\nflags 4000\n"
	    "watch 3 2 08:01 9 1 0102030405060708ff /a b\n"
	    "watch 1 100 08:01 8 1 01 /c\n");
	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	m = frame("files.img", 0);
	assert_int_equal(number(m, "1"), 8);
	assert_int_equal(number(m, "13.2"), 04000);
	assert_int_equal(number(m, "13.5#0.6"), 1);
	assert_int_equal(number(m, "13.5#0.3"), 0x100);
	assert_int_equal(number(m, "13.5#1.2"), 9);
	assert_int_equal(number(m, "13.5#1.6"), 3);
	assert_int_equal(number(m, "13.5#1.7.1"), 9);
	assert_true(number(m, "13.5#1.7.3#0") == 0x0807060504030201);
	assert_int_equal(number(m, "13.5#1.7.3#1"), 0xff);
	/* its length is wrong */
	assert_int_equal(number(m, "13.5#1.7.4"), 4);
	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type inotify\nwatch 3 2 08:01 9 1 0102\n");
	assert_int_equal(load_one(&o), -1);
	assert_contains(snap_errstr(), "process 7: file/1: line 2: "
	    "expected \"watch wd");
}

/*
 * Seccomp filters: the oldest of a thread comes last. Filters of all threads
 * are stored with the first one.
 */
static void
test_filters(void **state)
{
	static const char allow[8] = { 6, 0, 0, 0, 0, 0, (char)0xff, 0x7f };
	static const char deny[8] = { 6, 0, 0, 0, 1, 0, 5, 0 };
	static const char ask[8] = { 6, 0, 0, 0, 0, 0, (char)0xc0, 0x7f };
	static const char *const has[] = { "0 0\n1 2\n", "0 0\n1 2\n",
	    "0 0\n" };
	struct criuopts o = { 0 };
	struct snap *s;
	struct part m;
	size_t i;

	(void)state;
	for (i = 1; i < 3; i++) {
		s = begin();
		process_record(7);
		set("seccomp-filters", has[0]);
		set_bytes("seccomp/0", allow, sizeof allow);
		set_bytes("seccomp/1", deny, sizeof deny);
		finish(s, 7);
		thread_record(8);
		set("thread", "7\n");
		set("seccomp-filters", has[i]);
		finish(s, 8)->leader = 7;
		if (load(s, &o) == -1)
			fail_msg("%s%s", warned, snap_errstr());
		m = frame("core-7.img", 0);
		assert_int_equal(number(m, "5.11"), 2);
		assert_int_equal(number(m, "5.12"), 1);
		m = frame("seccomp.img", 0);
		assert_int_equal(count(m, 1), i == 1 ? 2 : 3);
		assert_int_equal(number(m, "1#0.3"), i == 1 ? 3 : 2);
		assert_int_equal(number(m, "1#1.2"), 0);
		assert_int_equal(number(m, "1#1.3"), i == 1 ? 1 : 0);
		if (i == 1)
			continue;
		m = frame("core-8.img", 0);
		assert_int_equal(number(m, "5.12"), 2);
	}
	for (i = 0; i < 2; i++) {
		process_record(7);
		set("seccomp-filters", "0 0\n");
		set_bytes("seccomp/0", i == 0 ? ask : NULL, sizeof ask);
		assert_int_equal(load_one(&o), -1);
		assert_string_equal(warned, i == 0 ? "process 7: a seccomp "
		    "filter that asks another process: cannot be restored\n" :
		    "process 7: a seccomp filter is not in the snapshot: "
		    "cannot be restored\n");
	}
}

/*
 * A pidfd of the process itself, and one of a process that was waited for.
 */
static void
test_pidfds(void **state)
{
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	process_record(7);
	set("files", "3 1\n4 2\n");
	set("file/1", "type pidfd\npid 7\nino 5\nflags 4002\n");
	set("file/2", "type pidfd\npid -1\nino 6\nflags 2\n");
	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	m = frame("files.img", 0);
	assert_int_equal(number(m, "1"), 20);
	assert_int_equal(number(m, "22.3"), 04000);
	assert_int_equal(number(m, "22.4"), 7);
	m = frame("files.img", 1);
	assert_int_equal(number(m, "22.2"), 6);
	assert_int_equal(number(m, "22.4"), UINT64_MAX);
}

/*
 * Begin process 7, in a session with the controlling terminal /dev/pts/3.
 */
static void
on_terminal(const char *session)
{
	char text[256];

	process_record(7);
	snprintf(text, sizeof text, "7 (x) S 1 7 %s %s", session, "34819 8 64 "
	    "0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 4194304 4194305 2147352576 0 0 "
	    "0 0 0 0 0 0 0 17 0 0 0 0 0 0 4206592 4206600 4210688 2147352577 "
	    "2147352578 2147352579 2147352580 0\n");
	set("stat", text);
	snprintf(text, sizeof text, "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3"
	    "\t4\nGid:\t5\t6\t7\t8\nGroups:\t\nNSpid:\t7\nNSpgid:\t7\n"
	    "NSsid:\t%s\nCapEff:\t0\nSeccomp:\t0\n", session);
	set("status", text);
}

/*
 * A pseudoterminal with both ends open that is the terminal of its session. A
 * terminal with the other end outside becomes that of criu, as does the
 * controlling terminal of a session without its leader.
 */
static void
test_terminals(void **state)
{
	unsigned int need = 0;
	struct criuopts o = { .note = note_warning, .need = &need };
	struct part m;

	(void)state;
	on_terminal("7");
	set("files", "3 1\n4 2\n5 3\n6 4\n");
	set("file/1", "type tty\npath /dev/ptmx\nrdev 05:02\nindex 3\n"
	    "master 1\npacket 1\nuid 3\ngid 4\n" MODES);
	set("file/2", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	set("file/3", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    "flags 1\n" MODES);
	set("file/4", "type tty\npath /dev/tty\nrdev 05:00\n" MODES);
	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	m = frame("tty-info.img", 0);
	assert_int_equal(number(m, "1"), 3 << 1 | 1);
	assert_int_equal(number(m, "2"), 1);
	assert_int_equal(number(m, "5"), 1);
	assert_int_equal(number(m, "6"), 7);
	assert_int_equal(number(m, "7"), 7);
	assert_int_equal(number(m, "8"), 0x502);
	assert_int_equal(number(m, "9.1"), 1);
	assert_int_equal(number(m, "9.5"), 5);
	assert_int_equal(number(m, "9.8#0"), 0x03020100);
	assert_int_equal(number(m, "9.8#4"), 0x121110);
	assert_int_equal(number(m, "11.4"), 9);
	assert_int_equal(number(m, "12.1"), 3);
	assert_int_equal(number(m, "14"), 3);
	m = frame("tty-info.img", 1);
	assert_int_equal(number(m, "1"), 3 << 1);
	m = frame("tty-info.img", 2);
	assert_int_equal(number(m, "1"), 1006 << 1);
	assert_int_equal(number(m, "2"), 4);
	image_get("tty-info.img");
	process_record(7);
	set("files", "3 1\n4 2\n5 2\n");
	set("file/1", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	set("file/2", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(warned, "process 7, descriptor 3: /dev/pts/3 "
	    "becomes the terminal on criu's standard input when it is "
	    "restored\n");
	assert_int_equal(need, CRIU_MADE | CRIU_SHELL_JOB | CRIU_TERMINAL);
	/* the session loses its controlling terminal */
	on_terminal("7");
	set("files", "3 1\n");
	set("file/1", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	assert_int_equal(load_one(&o), 0);
	assert_contains(warned, "process 7: its session has no controlling "
	    "terminal when it is restored\n");
	on_terminal("7");
	set("files", "3 1\n4 2\n");
	set("file/1", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	set("file/2", "type tty\npath /dev/tty\nrdev 05:00\n" MODES);
	assert_int_equal(load_one(&o), -1);
	assert_contains(warned, "descriptor 4: the terminal of a session, "
	    "which is not open by its own name: /dev/tty");
	/* /dev/tty can be opened if the terminal is that of criu's session */
	on_terminal("5");
	set("files", "4 2\n");
	set("file/2", "type tty\npath /dev/tty\nrdev 05:00\n" MODES);
	need = 0;
	assert_int_equal(load_one(&o), 0);
	assert_contains(warned, "process 7, descriptor 4: /dev/tty becomes the "
	    "terminal of criu's session when it is restored\n");
	assert_int_equal(need, CRIU_MADE | CRIU_SHELL_JOB | CRIU_TERMINAL);
	process_record(7);
	set("files", "3 1\n4 2\n");
	set("file/1", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n"
	    MODES);
	set("file/2", "type tty\npath /dev/pts/4\nrdev 88:04\nindex 4\n"
	    MODES);
	assert_int_equal(load_one(&o), -1);
	assert_contains(warned, "one of several terminals whose");
}

/*
 * The foreground process group of a terminal is that of a process in the
 * session: group 8, or group 7 of the leader if 8 is in another session.
 */
static void
test_foreground(void **state)
{
	static const int session[] = { 7, 8 };
	static const uint64_t group[] = { 8, 7 };
	struct criuopts o = { 0 };
	struct snap *s;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		s = begin();
		on_terminal("7");
		set("files", "3 1\n4 2\n");
		set("file/1", "type tty\npath /dev/ptmx\nrdev 05:02\nindex 3\n"
		    "master 1\n" MODES);
		set("file/2", "type tty\npath /dev/pts/3\nrdev 88:03\nindex 3"
		    "\n" MODES);
		finish(s, 7);
		process_record(8);
		snprintf(text, sizeof text, "8 (x) S 7 8 %d 34819 8 64 0 0 0 0 "
		    "0 0 0 0 20 0 1 0 0 0 0 0 4194304 4194305 2147352576 0 0 0 "
		    "0 0 0 0 0 0 17 0 0 0 0 0 0 4206592 4206600 4210688 "
		    "2147352577 2147352578 2147352579 2147352580 0\n",
		    session[i]);
		set("stat", text);
		snprintf(text, sizeof text, "Name:\tone\nUmask:\t0022\nUid:\t"
		    "1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t\nNSpid:\t8\n"
		    "NSpgid:\t8\nNSsid:\t%d\nCapEff:\t0\nSeccomp:\t0\n",
		    session[i]);
		set("status", text);
		set("shares", "vm 8\nfiles 8\nfs 8\nsighand 8\n");
		finish(s, 8);
		if (load(s, &o) == -1)
			fail_msg("%s%s", warned, snap_errstr());
		assert_int_equal(number(frame("tty-info.img", 0), "7"),
		    group[i]);
	}
}

/*
 * File locks: a lock of a process is written for each process with the file, a
 * lock of an open file once. An unknown lock is left out without its file.
 */
static void
test_locks(void **state)
{
#define FLOCK	"lock:\t1: FLOCK  ADVISORY  WRITE 7 08:01:9 0 EOF\n"
#define POSIX	"lock:\t2: POSIX  ADVISORY  READ 7 08:01:9 5 9\n"
	static const char *const ways[] = { "1", "2", "3", "4", "5", "6" };
	static const uint64_t want[][6] = {
		{ 2, 1, 7, 3, 0, 0 }, { 1, 0, 7, 3, 5, 5 },
		{ 8, 6, 7, 5, 0, 0 }, { 1, 0, 8, 9, 5, 5 }
	};
	unsigned int need = 0;
	struct criuopts o = { .need = &need };
	struct snap *s;
	size_t i, k;

	(void)state;
	s = begin();
	process_record(7);
	set("files", "3 1\n4 1\n5 2\n");
	set("file/1", "type reg\npath /x\nflags 2\nlock 1\n");
	set("file/2", "type reg\npath /y\nflags 2\nlock 1\n");
	set("fdinfo/3", "flags:\t02\n" FLOCK POSIX);
	set("fdinfo/4", "flags:\t02\n" FLOCK POSIX);
	set("fdinfo/5", "flags:\t02\nlock:\t1: LEASE  BREAKING  UNLCK 7 "
	    "08:01:9 0 EOF\n");
	finish(s, 7);
	process_record(8);
	set("stat", "8 (x) S 7 7 7 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 "
	    "4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 "
	    "4206592 4206600 4210688 2147352577 2147352578 2147352579 "
	    "2147352580 0\n");
	set("shares", "vm 8\nfiles 8\nfs 8\nsighand 8\n");
	set("files", "9 1\n");
	set("fdinfo/9", "flags:\t02\n" FLOCK POSIX);
	finish(s, 8);
	if (load(s, &o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_int_equal(need, CRIU_MADE | CRIU_FILE_LOCKS);
	for (i = 0; i < 4; i++)
		for (k = 0; k < 6; k++)
			assert_int_equal(number(frame("filelocks.img", i),
			    ways[k]), want[i][k]);
	for (i = 0; i < 3; i++) {
		process_record(7);
		set("files", "3 1\n");
		set("file/1", "type reg\npath /x\nflags 2\nlock 1\n");
		set("fdinfo/3", "lock:\t1: DELEG ACTIVE READ 7 1:1:9 0 EOF\n");
		if (load_leaving("locks", "process 7, descriptor 3: a lock of "
		    "a kind that criu does not support", (int)i) == 0)
			assert_int_equal(number(frame("fdinfo-2.img", 0), "4"),
			    3);
	}
#undef FLOCK
#undef POSIX
}

/*
 * Images are written if all kinds that apply are left out.
 */
static void
test_kinds(void **state)
{
	struct criuopts o = { 0 };
	int i;

	(void)state;
	assert_int_equal(criu_leave("tty,tpc", &o.leave), -1);
	assert_contains(snap_errstr(), "tpc: not one of aio, ");
	assert_contains(snap_errstr(), ", tcp, timer, tty, udp, ");
	assert_int_equal(criu_leave("", &o.leave), -1);
	assert_contains(snap_errstr(), ": not one of aio, ");
	assert_int_equal(criu_leave("tty,", &o.leave), -1);
	for (i = 0; i < 3; i++) {
		o.leave = 0;
		if (i > 0)
			assert_int_equal(criu_leave("tty", &o.leave), 0);
		if (i > 1)
			assert_int_equal(criu_leave("pidfd,tcp", &o.leave), 0);
		process_record(7);
		set("files", "3 1\n4 2\n");
		set("file/1", "type tty\nflags 2\n");
		set("file/2", "type inet\nflags 2\n");
		assert_int_equal(load_one(&o), i == 2 ? 0 : -1);
		assert_int_equal(strstr(warned, "a terminal") != NULL, i != 1);
		assert_contains(warned, "an IP socket");
		if (i < 2)
			assert_string_equal(snap_errstr(), "nothing is "
			    "written (-f tcp,tty writes the rest)");
	}
	/* some obstacles cannot be left out */
	o.leave = UINT64_MAX;
	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type tty\nflags 2\n");
	set("exe", "bin/one");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(warned, "process 7: its executable is not "
	    "known\n");
	assert_string_equal(snap_errstr(), "nothing is written");
}

/*
 * Malformed lines.
 */
static void
test_malformed(void **state)
{
	static const struct {
		const char *name, *text, *error;
	} cases[] = {
		{ "brk", "zz\n",
		    "process 7: brk: line 1: expected \"address (x)\"" },
		{ "brk", "1\n2\n", "process 7: brk: line 1" },
		{ "brk", "1", "process 7: brk: expected lines of text" },
		{ "sigaltstack", "0 0\n", "process 7: sigaltstack: line 1" },
		{ "rseq", "1\n", "process 7: rseq: line 1" },
		{ "sigaction", "1 0 0 0 0\n3 0 0 0 0\n",
		    "process 7: sigaction: line 2" },
		{ "itimers", "real 1 2\n", "process 7: itimers: line 1" },
		{ "posix_timers", "1 2 3\n",
		    "process 7: posix_timers: line 1" },
		{ "shares", "vm x\n", "process 7: shares: line 1" },
		{ "pages", "403000 403000\n", "process 7: pages: line 1" },
		{ "pages", "404000 405000\n403000 404000\n",
		    "process 7: pages: line 2" },
		{ "files", "3  1\n", "process 7: files: line 1" },
		{ "files", "4 9\n4 9\n", "process 7: files: line 2" },
		{ "file/1", "type reg\nflags 8\n", "process 7: file/1: line 2: "
		    "expected \"flags and 1 number\"" },
		{ "file/1", "type eventfd\npassed 0 9\n", "process 7: file/1: "
		    "line 2: passed is not a key of type eventfd" },
		{ "file/1", "type unix\nflags 2\npassed 0 9 \n",
		    "line 3: expected \"passed packet id\"" },
		{ "file/1", "type epoll\ntarget 4 1 2\n",
		    "line 2: expected \"target descriptor events (x)" },
		{ "file/1", "type inotify\nwatch 1 2 3:4 5 6 00\n",
		    "line 2: expected \"watch wd mask (x) dev inode type "
		    "handle" },
		{ "file/1", "passed 0 9\ntype eventfd\n", "process 7: file/1: "
		    "line 1: passed is not a key of type eventfd" },
		{ "file/1", "type inet\nlocal 1.2.3 5\n", "process 7: "
		    "file/1: line 2: expected \"address and port\"" },
		{ "file/1", "type inet\nremote ::1 65536\n", "process 7: "
		    "file/1: line 2: expected \"address and port\"" },
		{ "file/1", "type inet\noption SO_MARK x\n", "process 7: "
		    "file/1: line 2: expected \"option, name and number\"" },
		{ "file/1", "type inet\nfilter z\n", "process 7: file/1: "
		    "line 2: expected \"filter, 16 digits (x)\"" },
		{ "file/1", "type inet\ngroup 224.1.2.3\n", "process 7: "
		    "file/1: line 2: expected \"group, address and "
		    "interface\"" },
		{ "file/1", "type inet\nicmp 1 2\n", "process 7: file/1: "
		    "line 2: expected \"icmp, one or eight numbers (x)\"" },
		{ "file/1", "path /x\n",
		    "process 7: file/1: no type line" },
		{ "file/x", "type reg\n", "process 7: file/x: not a number" },
		{ "limits", "Limit\nMax\n", "process 7: limits: line 2" },
		{ "stat", "7 (x) S 1 2\n",
		    "process 7: stat: expected 52 fields" },
		{ "status", "Name:\tone\n", "process 7: status: no NSpid" },
		{ "clocks", "monotonic 1\n", "process 7: clocks: line 1" },
		{ "sigpending/thread", "x", "process 7: sigpending/thread" }
	};
	struct criuopts o = { .leave = UINT64_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set(cases[i].name, cases[i].text);
		assert_int_equal(load_one(&o), -1);
		assert_contains(snap_errstr(), cases[i].error);
	}
}

/*
 * Sockets bound to paths: permissions, and the directory of relative ones.
 */
static void
test_sockets(void **state)
{
	static const char text[] = "type unix\nino 9\nflags 2\nmode 140711\n"
	    "uid 3\ngid 4\nsocket 1 10 0 5 0\nname 6e65617200\n"
	    "options 4608 4608 0\ntimeouts 0 33000002\n";
	struct criuopts o = { 0 };
	char file[256];
	struct part m;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		process_record(7);
		set("files", "3 1\n");
		snprintf(file, sizeof file, "%spath /run/%s/near\ndeleted 1\n",
		    text, i == 0 ? "a" : "a/b");
		set("file/1", file);
		assert_int_equal(load_one(&o), 0);
		m = frame("files.img", 0);
		assert_int_equal(number(m, "16.13.1"), 0140711);
		assert_int_equal(number(m, "16.13.2"), 3);
		assert_int_equal(number(m, "16.13.3"), 4);
		/* length of "/run/a/" */
		assert_int_equal(number(m, "16.14"), i == 0 ? 7 : 9);
		assert_int_equal(number(m, "16.15"), 1);
		assert_int_equal(number(m, "16.10.5"), 33);
		assert_int_equal(number(m, "16.10.6"), 2);
	}
	process_record(7);
	set("files", "3 1\n");
	set("file/1", text);
	assert_int_equal(load_one(&o), -1);
	assert_contains(warned, "bound to a path relative to an unknown");
}

/*
 * A socket whose file was renamed is bound to the new name, unless that is too
 * long. The directory of the name may be a symbolic link.
 */
static void
test_renamed(void **state)
{
	static const char form[] = "type unix\nino 9\nflags 2\n"
	    "name 2f762f782e7400\noptions 4608 4608 0\n"
	    "path %s\n%s";	/* the name is /v/x.t */
	static const char listens[] = "socket 1 10 0 5 0\n";
	static const struct {
		const char *path, *more, *name;
	} cases[] = {
		{ "/r/x.t", listens, "/v/x.t" },
		{ "/r/x.t.o", "socket 1 10 0 5 0\ndeleted 1\n", "/v/x.t" },
		/* an accepted connection whose client has ended */
		{ "/r/x", "socket 1 1 0 0 3\n", "/v/x.t" },
		{ "/r/x", listens, "/r/x" },
		{ "/v/ax.t", "socket 2 7 0 0 0\n", "/v/ax.t" }
	};
	struct criuopts o = { .note = note_warning };
	char file[512], path[109];
	struct part name;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("files", "3 1\n");
		snprintf(file, sizeof file, form, cases[i].path, cases[i].more);
		set("file/1", file);
		assert_int_equal(load_one(&o), 0);
		name = inner(frame("files.img", 0), "16.11");
		assert_int_equal(name.n, strlen(cases[i].name) + 1);
		assert_memory_equal(name.p, cases[i].name, name.n);
		snprintf(file, sizeof file, "process 7, descriptor 3: is bound "
		    "to %s when it is restored\n", cases[i].name);
		assert_string_equal(warned, i < 3 ? "" : file);
	}
	for (i = 107; i <= 108; i++) {
		memset(path, '/', i);
		path[i - 1] = 'x';
		path[i] = '\0';
		process_record(7);
		set("files", "3 1\n");
		snprintf(file, sizeof file, form, path, listens);
		set("file/1", file);
		assert_int_equal(load_one(&o), i == 107 ? 0 : -1);
	}
	assert_contains(warned, "renamed to one that is too long");
}

/*
 * IP sockets: the properties with which they are created.
 */
static void
test_inet(void **state)
{
	static const char text[] = INET "protocol 6\nsocket 1 10 0 55 0\n"
	    "local 127.0.0.1 7701\ndevice lo\noptions 16384 131072 2\n"
	    "timeouts 3000001 4000002\noption SO_REUSEADDR 1\n"
	    "option SO_LINGER 5\noption SO_BUF_LOCK 0\noption IP_TTL 64\n"
	    "option TCP_KEEPIDLE 7200\nfilter 0015000100000007\n"
	    "filter 0006000000000001\n";
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	process_record(7);
	set("files", "3 1\n4 2\n5 3\n");
	set("file/1", text);
	set("file/2", "type inet\nflags 4002\nino 6\nfamily 6\nprotocol 17\n"
	    "socket 2 1 0 0 2\nlocal fe80::1 9\nremote fe80::2 10\n"
	    "device eth0\noption IPV6_V6ONLY 1\n");
	set("file/3", INET "protocol 1\nsocket 3 7 0 0 0\nlocal 0.0.0.0 1\n"
	    "option IP_NODEFRAG 1\nicmp ab\n");
	if (load_one(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "");
	assert_int_equal(count(frame("inventory.img", 0), 10), 0);
	m = frame("files.img", 0);
	assert_int_equal(number(m, "1"), 4);
	assert_int_equal(number(m, "4.3"), 2);
	assert_int_equal(number(m, "4.6"), 10);
	assert_int_equal(number(m, "4.7"), 7701);
	assert_int_equal(number(m, "4.8"), 0);
	assert_int_equal(number(m, "4.10"), 55);
	/* in network byte order, read as a little-endian number */
	assert_int_equal(number(m, "4.11"), 0x0100007f);
	assert_int_equal(number(m, "4.14.3"), 3);
	assert_int_equal(number(m, "4.14.6"), 2);
	assert_int_equal(number(m, "4.14.7"), 1);
	assert_int_equal(number(m, "4.14.12"), 1);
	assert_true(number(m, "4.14.16#1") == 0x0006000000000001);
	assert_int_equal(number(m, "4.14.17"), 0);
	assert_int_equal(number(m, "4.14.24"), 5);
	assert_int_equal(number(m, "4.14.25"), 0);
	assert_int_equal(number(m, "4.16.7"), 64);
	assert_int_equal(number(m, "4.20.4"), 7200);
	m = frame("files.img", 1);
	assert_int_equal(number(m, "4.3"), 10);
	assert_int_equal(number(m, "4.9"), 04002);
	assert_int_equal(number(m, "4.11#3"), 0x01000000);
	assert_int_equal(number(m, "4.12#3"), 0x02000000);
	assert_int_equal(number(m, "4.15"), 1);
	assert_int_equal(number(m, "4.17"), 4);
	assert_int_equal(number(m, "4.19"), 2);
	m = frame("files.img", 2);
	assert_int_equal(number(m, "4.16.4.2"), 1);
	assert_int_equal(number(m, "4.16.4.4"), 0xab);
}

static char noted[8192];

static void
note_note(void *arg, const char *text)
{
	size_t n;

	(void)arg;
	n = strlen(noted);
	snprintf(noted + n, sizeof noted - n, "%s\n", text);
}

/*
 * TCP connections are restored if all can be.
 */
static void
test_streams(void **state)
{
	static const char text[] = INET "protocol 6\nsocket 1 8 0 0 0\n"
	    "local 1.2.3.4 5\nremote 6.7.8.9 10\n"
	    "stream 4000000000 3 7 4 1\nagreed 7 9 8 1448 77\n"
	    "window 1 2 3 4 5\noption TCP_NODELAY 1\n"
	    "option TCP_KEEPCNT 3\n";
	static const char name[] = "tcp-stream-5.img";
	unsigned int need = 0;
	struct criuopts o = { .need = &need, .note = note_note };
	struct part m;

	(void)state;
	process_record(7);
	set("netlock", "nft CRIU-0123\n");
	set("files", "3 1\n4 2\n");
	set("file/1", text);
	set("stream/5", "inbyout");
	/* one that was reset */
	set("file/2", "type inet\nino 10\nfamily 4\nprotocol 6\n"
	    "socket 1 7 0 0 0\nlocal 1.2.3.4 5\nremote 6.7.8.9 11\n"
	    "stream 9 0 9 0 0\nagreed 7 9 8 1448 77\nwindow 1 2 3 4 5\n");
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(noted, "");
	assert_int_equal(need, CRIU_MADE | CRIU_TCP_ESTABLISHED);
	m = frame("inventory.img", 0);
	assert_int_equal(count(m, 10), 0);
	assert_int_equal(number(m, "11"), 1);
	assert_int_equal(number(m, "13"), 4);
	m = frame("files.img", 0);
	assert_int_equal(number(m, "4.8"), 10);
	/* the fields of criu before 4.0 and of later versions */
	assert_int_equal(number(m, "4.14.20"), 3);
	assert_int_equal(number(m, "4.20.3"), 3);
	assert_int_equal(number(m, "4.20.2"), 1);
	m = frame(name, 0);
	assert_int_equal(number(m, "1"), 3);
	assert_true(number(m, "2") == 4000000000);
	assert_int_equal(number(m, "3"), 4);
	assert_int_equal(number(m, "4"), 7);
	assert_int_equal(number(m, "5"), 7);
	assert_int_equal(number(m, "6"), 9);
	assert_int_equal(number(m, "7"), 1448);
	assert_int_equal(number(m, "8"), 8);
	assert_int_equal(number(m, "9"), 77);
	assert_int_equal(count(m, 10), 0);
	assert_int_equal(number(m, "11"), 1);
	assert_int_equal(number(m, "12"), 1);
	assert_int_equal(number(m, "14"), 2);
	assert_int_equal(number(m, "17"), 5);
	assert_memory_equal(m.p + m.n, "inbyout", 7);
	assert_int_equal(number(frame("files.img", 1), "4.8"), 11);
	assert_int_equal(number(frame("tcp-stream-a.img", 0), "2"), 9);

	/* the same with iptables */
	process_record(7);
	set("netlock", "iptables\n");
	set("files", "3 1\n");
	set("file/1", text);
	set("stream/5", "inbyout");
	need = 0;
	assert_int_equal(load_one(&o), 0);
	assert_int_equal(need, CRIU_MADE | CRIU_TCP_ESTABLISHED);
	m = frame("inventory.img", 0);
	assert_int_equal(count(m, 11), 1);
	assert_int_equal(number(m, "11"), 0);
	assert_int_equal(count(m, 13), 0);

	/* they can be restored, but the user wants them closed */
	process_record(7);
	set("netlock", "nft CRIU-0123\n");
	set("files", "3 1\n");
	set("file/1", text);
	set("stream/5", "inbyout");
	need = 0;
	*noted = '\0';
	o.tcp_close = true;
	assert_int_equal(load_one(&o), 0);
	o.tcp_close = false;
	assert_int_equal(need, CRIU_MADE | CRIU_TCP_CLOSE);
	assert_string_equal(noted, "process 7, descriptor 3: the connection of "
	    "1.2.3.4:5 to 6.7.8.9:10 is closed when it is restored\n"
	    "needs criu 4.0 or newer for TCP_NODELAY and TCP_CORK\n");

	/* the other cannot be restored: both are closed */
	process_record(7);
	set("netlock", "nft CRIU-0123\n");
	set("files", "3 1\n4 2\n");
	set("file/1", text);
	set("stream/5", "inbyout");
	set("file/2", INET "protocol 6\nsocket 1 1 0 0 0\nlocal 1.2.3.4 6\n"
	    "remote 6.7.8.9 10\n");
	need = 0;
	assert_int_equal(load_one(&o), 0);
	assert_int_equal(need, CRIU_MADE | CRIU_TCP_CLOSE);
	assert_contains(noted, "descriptor 3: the connection of 1.2.3.4:5 to");
	assert_contains(noted, "descriptor 4: the connection of 1.2.3.4:6 to");

	/* one that was reset is not restored: a byte of it is lost */
	process_record(7);
	set("files", "3 1\n");
	set("file/1", INET "protocol 6\nsocket 1 7 0 0 0\nlocal 1.2.3.4 5\n"
	    "remote 6.7.8.9 11\nunread 1\n");
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(noted, "process 7, descriptor 3: 1 byte of the "
	    "ended connection with 6.7.8.9:11, not yet read: not restored\n");

	process_record(7);
	set("netlock", "nft CRIU-0123\n");
	set("files", "3 1\n");
	set("file/1", text);
	set("stream/5", "inbyou");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(snap_errstr(), "stream/5: found 6 bytes, "
	    "expected 3 incoming and 4 outgoing");
}

/*
 * A note names features that need a newer criu. Guard pages are entries after
 * the mappings.
 */
static void
test_newer(void **state)
{
	static const char inet[] = INET "protocol 6\nsocket 1 10 0 55 0\n"
	    "local 127.0.0.1 7701\noption TCP_NODELAY 1\noption IP_TTL 3\n";
	struct criuopts o = { .note = note_note };
	struct part m;

	(void)state;
	assert_int_equal(criu_leave("pages", &o.leave), 0);
	process_record(7);
	set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
	    "Gid:\t5\t6\t7\t8\nNSpid:\t7\nNSpgid:\t7\nNSsid:\t7\n"
	    "CapAmb:\t0000000000000001\nNoNewPrivs:\t1\n");
	set("files", "3 1\n4 2\n");
	set("file/1", "type pidfd\nino 5\nflags 2\npid 7\n");
	set("file/2", inet);
	set("pages", "403000 404000\n7ffe1000 7ffe2000\n");
	set("missing", "1000-2000 guard\n404000-7ffe1000 guard\n"
	    "7ffe1000-7ffe2000 poison\n");
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(noted, "needs criu 4.2 or newer for guard pages; "
	    "4.1 or newer for ambient capabilities, pidfds; 4.0 or newer for "
	    "IP_TTL, TCP_NODELAY and TCP_CORK; 3.19 or newer for "
	    "no_new_privs\n");
	m = frame("mm-7.img", 0);
	assert_int_equal(count(m, 14), 5);
	assert_true(number(m, "14#3.1") == DATA + PAGE);
	assert_true(number(m, "14#3.2") == DATA + 2 * PAGE);
	assert_int_equal(number(m, "14#3.7"), 0x10000);
	assert_true(number(m, "14#4.1") == STACK);
	assert_true(number(m, "14#4.2") == STACK + PAGE);
	assert_int_equal(number(m, "14#4.7"), 0x10000);

	assert_int_equal(criu_leave("guard", &o.leave), 0);
	process_record(7);
	set("pages", "403000 404000\n7ffe1000 7ffe2000\n");
	set("missing", "404000-405000 guard\n");
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(warned, "process 7: guard pages: left out\n");
	assert_string_equal(noted, "");
	assert_int_equal(count(frame("mm-7.img", 0), 14), 3);
}

/*
 * Registers in use that CRIU images have no place for.
 */
static void
test_unwritten(void **state)
{
	static const struct {
		uint64_t use;
		const char *said;
	} cases[] = {
		{ 0x2e7, NULL },
		{ 1 << 17 | 7, "process 7: registers of AMX (xstate 20000) are "
		    "in use, which criu does not restore: cannot be "
		    "restored\n" },
		{ 1 << 18, "of AMX (xstate 40000)" },
		{ 1 << 19, "of APX (xstate 80000)" },
		{ 1 << 16, "of a kind (xstate 10000)" }
	};
	struct criuopts o = { .leave = UINT64_MAX };
	uint8_t x[4096] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		put64(x + 512, cases[i].use);
		set_bytes("regset/xstate", x, sizeof x);
		assert_int_equal(load_one(&o), cases[i].said == NULL ? 0 : -1);
		if (cases[i].said != NULL)
			assert_contains(warned, cases[i].said);
	}
}

/*
 * Profiles of Linux Security Modules.
 */
static void
test_profiles(void **state)
{
	static const struct {
		const char *text, *profile;
		int lsm;
	} cases[] = {
		{ "docker-default (enforce)\n", "docker-default", 2 },
		{ "unconfined\n", NULL, 0 },
		{ "my name (complain)\n", "my name", 2 },
		{ ":ns:name (enforce)\n", NULL, 0 },
		{ "u:r:t:s0-s0:c0.c1023\n", "u:r:t:s0-s0:c0.c1023", 1 },
		{ "u:r:t:s0", "u:r:t:s0", 1 },
		{ "_\n", NULL, 0 }
	};
	struct criuopts o = { .note = note_note };
	struct part m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("attr/current", cases[i].text);
		*noted = '\0';
		assert_int_equal(load_one(&o), 0);
		assert_int_equal(*noted != '\0', cases[i].text[0] == ':');
		m = frame("inventory.img", 0);
		assert_int_equal(count(m, 6), cases[i].lsm != 0);
		if (cases[i].lsm != 0)
			assert_int_equal(number(m, "6"), cases[i].lsm);
		m = inner(frame("core-7.img", 0), "5.10");
		assert_int_equal(count(m, 15), cases[i].profile != NULL);
		if (cases[i].profile == NULL)
			continue;
		m = inner(m, "15");
		assert_int_equal(m.n, strlen(cases[i].profile));
		assert_memory_equal(m.p, cases[i].profile, m.n);
	}
}

/*
 * Return the milliseconds of CPU time that it takes to make images of n runs of
 * memory with n missing ranges between them.
 */
static double
runs_time(uint64_t n)
{
	const uint64_t base = 0x10000000;
	struct buf maps = { 0 }, pages = { 0 }, missing = { 0 };
	struct timespec from, to;
	struct criuopts o = { 0 };
	uint64_t i, at;

	process_record(7);
	buf_printf(&maps, "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "%" PRIx64 "-%" PRIx64 " rw-p 00000000 00:00 0 \n", base,
	    base + n * 2 * PAGE);
	for (i = 0; i < n; i++) {
		at = base + i * 2 * PAGE;
		buf_printf(&pages, "%" PRIx64 " %" PRIx64 "\n", at, at + PAGE);
		buf_printf(&missing, "%" PRIx64 "-%" PRIx64 " guard\n",
		    at + PAGE, at + 2 * PAGE);
	}
	assert_int_equal(buf_check(&maps) | buf_check(&pages) |
	    buf_check(&missing), 0);
	set_bytes("maps", maps.data, maps.len);
	set_bytes("smaps", NULL, 0);
	set_bytes("pages", pages.data, pages.len);
	set_bytes("missing", missing.data, missing.len);
	buf_free(&maps);
	buf_free(&pages);
	buf_free(&missing);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	(void)load_one(&o);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e3 +
	    (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

/*
 * The time to look up missing ranges does not grow with the square of the
 * number of runs.
 */
static void
test_runs(void **state)
{
	double few, many;

	(void)state;
	few = runs_time(6000);
	many = runs_time(48000);
	if (many > 24 * few)
		fail_msg("%.1f ms, and %.1f of eight times as much", few,
		    many);
}

/*
 * Attributes that criu cannot restore, but the process can live without, are
 * noted.
 */
static void
test_lost(void **state)
{
	struct criuopts o = { .note = note_note };

	(void)state;
	process_record(7);
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(noted, "");
	process_record(7);
	set("personality", "00040000\n");
	set("scheduling", "1073741830 0 0\n");
	set("smaps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "ProtectionKey:         3\n"
	    "VmFlags: rd ex mr mw me sl lo lf \n");
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(noted,
	    "process 7: its deadlines (SCHED_DEADLINE) are not restored\n"
	    "process 7: its personality, 40000, is not restored\n"
	    "process 7: the protection keys of its memory are not restored\n"
	    "process 7: the seals of its memory are not restored\n"
	    "process 7: the locks of its memory (MLOCK_ONFAULT) are not "
	    "restored\n"
	    "needs criu 4.0 or newer for SCHED_RESET_ON_FORK\n");
}

/*
 * Connections that are closed are noted, the first ones by name, the others as
 * a number. A connection that has ended is shut down.
 */
static void
test_connections(void **state)
{
	unsigned int need = 0;
	struct criuopts o = { .note = note_note, .need = &need };
	char files[512], name[16];
	struct part m;
	size_t n;
	int i;

	(void)state;
	process_record(7);
	set("files", "3 1\n4 1\n5 2\n6 3\n");
	set("file/1", INET "protocol 6\nsocket 1 1 0 0 0\nlocal 1.2.3.4 5\n"
	    "remote 6.7.8.9 10\n");
	set("file/2", INET6 "protocol 6\nsocket 1 7 0 0 0\nlocal ::1 5\n"
	    "remote ::2 6\n");
	set("file/3", INET "protocol 262\nsocket 1 10 0 9 0\nwaiting 2\n"
	    "option TCP_FASTOPEN 5\ncongestion dctcp\n");
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_string_equal(warned, "");
	assert_string_equal(noted,
	    "process 7, descriptor 3: the connection of 1.2.3.4:5 to "
	    "6.7.8.9:10 is closed when it is restored\nprocess 7, descriptor "
	    "6: 2 connections not yet accepted: not restored\nprocess 7, "
	    "descriptor 6: an MPTCP socket becomes a TCP socket\nprocess 7, "
	    "descriptor 6: TCP_CONGESTION dctcp is not restored\nprocess 7, "
	    "descriptor 6: TCP_FASTOPEN is not restored\n");
	assert_int_equal(need, CRIU_MADE | CRIU_TCP_CLOSE);
	assert_int_equal(number(frame("inventory.img", 0), "10"), 1);
	assert_int_equal(number(frame("files.img", 0), "4.8"), 10);
	m = frame("files.img", 1);
	assert_int_equal(number(m, "4.7"), 0);
	assert_int_equal(number(m, "4.8"), 0);
	assert_int_equal(number(m, "4.19"), 3);
	assert_int_equal(number(frame("files.img", 2), "4.5"), 6);

	process_record(7);
	for (n = 0, i = 1; i <= 20; i++) {
		n += (size_t)snprintf(files + n, sizeof files - n, "%d %d\n",
		    i, i);
		snprintf(name, sizeof name, "file/%d", i);
		set(name, INET "protocol 6\nsocket 1 1 0 0 0\n"
		    "local 1.2.3.4 5\nremote 6.7.8.9 10\n");
	}
	set("files", files);
	*noted = '\0';
	assert_int_equal(load_one(&o), 0);
	assert_contains(noted, "descriptor 16: ");
	assert_null(strstr(noted, "descriptor 17: "));
	assert_contains(noted, "4 more connections are closed when they are "
	    "restored");
}

/*
 * A socket connected to one with a higher number comes after it, unless both
 * are connected to each other. If its peer is connected to a third one, it is
 * refused.
 */
static void
test_peers(void **state)
{
	static const char form[] = "type unix\nino %d\nflags 2\nsocket 2 %d "
	    "%d 0 0\nname 0061%02x\noptions 4608 4608 0\n";
	/* the peers of 11 to 14, and their order in the image */
	static const struct {
		int	 peer[4];
		int	 order[4];	/* 0: refused */
	} cases[] = {
		{ { 0, 0, 0, 0 }, { 11, 12, 13, 14 } },
		{ { 14, 0, 14, 0 }, { 14, 11, 12, 13 } },
		{ { 11, 11, 12, 12 }, { 0 } },
		{ { 11, 0, 12, 12 }, { 11, 12, 13, 14 } },
		{ { 12, 11, 14, 13 }, { 11, 12, 13, 14 } },
		{ { 12, 13, 0, 0 }, { 0 } },
		{ { 12, 13, 11, 0 }, { 0 } },
		{ { 13, 0, 14, 13 }, { 0 } }
	};
	struct criuopts o = { 0 };
	char name[16], text[256];
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("files", "3 1\n4 2\n5 3\n6 4\n");
		for (k = 0; k < 4; k++) {
			snprintf(name, sizeof name, "file/%d", k + 1);
			snprintf(text, sizeof text, form, k + 11,
			    cases[i].peer[k] == 0 ? 7 : 1, cases[i].peer[k],
			    k);
			set(name, text);
		}
		assert_int_equal(load_one(&o), *cases[i].order == 0 ? -1 : 0);
		if (*cases[i].order == 0) {
			assert_contains(warned, "a socket whose other end is "
			    "connected to a third socket: cannot be restored "
			    "(-f unix leaves it out)");
			continue;
		}
		for (k = 0; k < 4; k++)
			assert_int_equal(number(frame("files.img", (size_t)k),
			    "16.2"), cases[i].order[k]);
	}
}

/*
 * Load processes 6 to 9: 6 is the parent of 7, and 7 the parent of 8 and 9. 8
 * and 9 share with 6 the object named shares. Process from and its descendants
 * are written.
 */
static int
load_family(const char *shares, uint64_t from)
{
	struct criuopts o = { .root = from };
	char text[512], *s;
	struct snap *s3;
	int pid;

	s3 = begin();
	for (pid = 6; pid <= 9; pid++) {
		process_record(pid);
		snprintf(text, sizeof text, "%d (x) S %d %s", pid,
		    pid == 6 ? 1 : pid == 7 ? 6 : 7,
		    "7 7 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 4194304 "
		    "4194305 2147352576 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 "
		    "4206592 4206600 4210688 2147352577 2147352578 2147352579 "
		    "2147352580 0\n");
		set("stat", text);
		snprintf(text, sizeof text, "vm %d\nfiles %d\nfs %d\n"
		    "sighand %d\n", pid, pid, pid, pid);
		s = strstr(text, shares);
		if (pid >= 8 && s != NULL)
			memcpy(strchr(s, ' ') + 1, "6", 1);
		set("shares", text);
		finish(s3, (uint64_t)pid);
	}
	return load(s3, &o);
}

/*
 * Processes that share an object with an unselected process share it with each
 * other.
 */
static void
test_shares(void **state)
{
	(void)state;
	assert_int_equal(load_family("none", 7), 0);
	assert_int_equal(load_family("vm", 7), -1);
	assert_contains(warned, "process 9: shares its memory with process 8");
	assert_int_equal(load_family("vm", 8), 0);
	assert_int_equal(load_family("files", 7), -1);
	assert_contains(warned, "process 9: shares its descriptors with "
	    "process 8, but not with its parent");
	assert_int_equal(load_family("files", 8), 0);
}

/*
 * IDs and names that two processes may share.
 */
static void
test_names(void **state)
{
	struct criuopts o = { 0 };
	struct snap *s;

	(void)state;
	process_record(7);
	set("ns/user", "user:[4026531837]");
	assert_int_equal(load_one(&o), 0);
	process_record(7);
	set("exe", "bin/one");
	assert_int_equal(load_one(&o), -1);
	assert_contains(warned, "process 7: its executable is not known");
	/* two threads with ID 8 in the namespace */
	s = begin();
	process_record(7);
	finish(s, 7);
	thread_record(8);
	set("thread", "7\n");
	finish(s, 8)->leader = 7;
	thread_record(8);
	set("thread", "7\n");
	finish(s, 9)->leader = 7;
	assert_int_equal(load(s, &o), -1);
	assert_string_equal(snap_errstr(), "two processes or threads have the "
	    "same ID: both need image core-8.img");
}

/*
 * Load an init in its own mount namespace. inside lists its mounts, outside
 * those of snap.
 */
static int
load_mounted(struct criuopts *o, const char *inside, const char *outside)
{
	struct snap *s;

	process_record(1);
	set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
	    "Gid:\t5\t6\t7\t8\nGroups:\t\nNSpid:\t9\t1\nNSpgid:\t9\t1\n"
	    "NSsid:\t9\t1\nCapEff:\t0\nSeccomp:\t0\n");
	set("shares", "vm 1\nfiles 1\nfs 1\nsighand 1\n");
	set("namespaces", "mnt pid\n");
	set("mounts/inside", inside);
	set("mounts/outside", outside);
	set("mounts/tmpfs/0:20", "an archive");
	s = begin();
	finish(s, 1);
	return load(s, o);
}

static int
load_mounts(struct criuopts *o, const char *inside)
{
	return load_mounted(o, inside, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	    "2 1 0:31 / /host/sys rw - sysfs sysfs rw\n"
	    "3 1 0:40 / /covered rw - ext4 /dev/sdb rw\n"
	    "4 3 0:41 / /covered rw - ext4 /dev/sdc rw\n");
}

/*
 * Long lists in which each mount may be covered by each other one are checked
 * in little time.
 */
static void
test_covered(void **state)
{
	enum { MOUNTS = 2000 };
	struct buf inside = { 0 }, outside = { 0 };
	struct criuopts o = { .note = note_warning };
	size_t i;

	(void)state;
	buf_puts(&inside, "10 9 8:1 / / rw - ext4 /dev/sda1 rw\n");
	buf_puts(&outside, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	for (i = 0; i < MOUNTS; i++) {
		buf_printf(&inside, "%zu 10 8:2 / /%zu rw - xfs x rw\n",
		    i + 20, i);
		buf_printf(&outside, "%zu 1 8:2 / /a rw - xfs x rw\n",
		    i + 20);
	}
	buf_printf(&outside, "9 1 8:3 / /a rw - xfs x rw\n");
	buf_add(&inside, "", 1);
	buf_add(&outside, "", 1);
	assert_int_equal(load_mounted(&o, (char *)inside.data,
	    (char *)outside.data), -1);
	assert_string_equal(snap_errstr(), "process 1: mounts/outside: too "
	    "many mounts cover others");
	buf_free(&inside);
	buf_free(&outside);
}

/*
 * Mounts are written as criu expects them, or the reason why they cannot be.
 */
static void
test_mounts(void **state)
{
#define TOP "10 9 8:1 /srv/c / rw,relatime - ext4 /dev/sda1 rw\n"
	static const struct {
		const char	*inside, *why;
	} cases[] = {
		{ "11 10 0:30 / /proc rw - proc proc rw\n", "process 1: the "
		    "root of its mount namespace is not in the snapshot" },
		{ TOP TOP, "process 1: another mount covers the root" },
		{ TOP "11 10 0:33 / /t rw - tmpfs own rw\n", "process 1: mount "
		    "of own, of type tmpfs, on /t: its files are not in the "
		    "snapshot" },
		{ TOP "11 10 0:31 / /t rw,idmapped - sysfs s rw\n",
		    "process 1: mount of s, of type sysfs, on /t: it is "
		    "ID-mapped" },
		{ TOP "11 10 0:31 /x//deleted /t rw - sysfs s rw\n",
		    "process 1: mount of s, of type sysfs, on /t: its "
		    "directory is deleted" },
		{ TOP "11 10 0:30 /x /t rw - proc s rw\n", "process 1: mount "
		    "of s, of type proc, on /t: part of a file system that is "
		    "mounted nowhere else" },
		{ TOP "11 10 0:40 / /t rw - ext4 s rw\n", "process 1: mount of "
		    "s, of type ext4, on /t: it is mounted nowhere else, and "
		    "criu cannot create it" }
	};
	static const char *const bad[] = { "x\n", TOP "11 10 0:30 / /proc rw\n",
	    "11 10 0:30 a / rw - proc proc rw\n" };
	struct buf words = { 0 };
	struct criuopts o = { .note = note_warning, .words = &words };
	char path[PATH_MAX];
	struct part m;
	size_t i;

	(void)state;
	assert_int_equal(load_mounts(&o, TOP
	    "11 10 0:30 / /proc rw,nosuid - proc proc rw\n"
	    "12 10 0:31 / /sys ro,nosuid,nodev,noexec,nodiratime shared:3 - "
	    "sysfs sysfs rw\n"
	    "13 10 0:31 /a /two ro - sysfs sysfs rw\n"
	    "14 10 0:32 / /t\\040mp rw master:9 - tmpfs t "
	    "rw,size=1k,mode=700\n"), 0);
	assert_string_equal(warned, "process 1: new mounts outside its mount "
	    "namespace no longer appear on /t mp when it is restored\n");
	buf_add(&words, "", 1);
	assert_string_equal((char *)words.data, " --root /srv/c --external "
	    "'mnt[/sys]:/host/sys'");
	buf_free(&words);
	assert_int_equal(number(frame("ids-1.img", 0), "9"), 2);
	m = frame("mountpoints-2.img", 0);
	assert_int_equal(number(m, "1"), 0);
	assert_int_equal(number(m, "3"), 8 << 20 | 1);
	assert_int_equal(number(m, "5"), 1 << 21);
	m = frame("mountpoints-2.img", 2);
	assert_int_equal(number(m, "1"), 2);
	assert_int_equal(number(m, "5"), 1 | 2 | 4 | 8 | 1 << 11 | 1 << 20 |
	    1 << 24);
	assert_int_equal(number(m, "10"), 3);
	m = frame("mountpoints-2.img", 4);
	assert_int_equal(number(m, "1"), 5);
	assert_int_equal(number(m, "2"), 14);
	assert_int_equal(number(m, "4"), 10);
	assert_int_equal(number(m, "11"), 0);
	snprintf(path, sizeof path, "%s/tmpfs-dev-32.tar.gz.img", dir);
	assert_int_equal(access(path, F_OK), 0);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(load_mounts(&o, cases[i].inside), -1);
		assert_memory_equal(warned, cases[i].why, strlen(cases[i].why));
	}
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(load_mounts(&o, bad[i]), -1);
		assert_non_null(strstr(snap_errstr(), ": not a mount"));
	}
	buf_free(&words);
#undef TOP
}

static void
test_trees(void **state)
{
	unsigned int need = 0;
	struct criuopts o = { 0 };
	struct snap *s;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		s = begin();
		process_record(7);
		finish(s, 7);
		process_record(9);
		finish(s, 9);
		o.root = i == 1 ? 7 : i == 2 ? 8 : 0;
		assert_int_equal(load(s, &o), i == 1 ? 0 : -1);
		if (i != 1)
			assert_string_equal(snap_errstr(), i == 0 ?
			    "several process trees, but only one can be "
			    "restored; use -p with one of 7, 9" :
			    "no process 8 in the snapshot");
	}
	/* a session whose leader is not in the snapshot */
	o = (struct criuopts){ .note = note_warning, .need = &need };
	s = begin();
	process_record(9);
	finish(s, 9);
	assert_int_equal(load(s, &o), 0);
	assert_string_equal(warned, "process 9: joins the session of criu when "
	    "it is restored: the leader of its own, 7, is not in the "
	    "snapshot\n");
	assert_int_equal(need, CRIU_MADE | CRIU_SHELL_JOB);
}

/*
 * The sets of processes and the cgroup trees of each hierarchy.
 */
static void
test_cgroups(void **state)
{
	static const char told[] = "directory cpu,cpuacct 755 0 0 /a/b\n"
	    "cpu.shares 644 1 2 9223372036854775807\n"
	    "memory.oom_control 644 0 0 oom_kill_disable 1\\012under_oom 0\n"
	    "tasks 644 0 0 \n"
	    "directory cpu,cpuacct 700 3 4 /a/b/c d\n"
	    "directory cpu,cpuacct 755 0 0 /a/b-c\n"
	    "directory - 755 0 0 /a\n"
	    "cgroup.subtree_control 644 0 0 pids\n"
	    "directory - 755 0 0 /a/b\n"
	    "pids.max 644 0 0 5\nmemory.max 644 0 0 max\n"
	    "io.weight 644 0 0 default 1\\0128:0 \\1342\n"
	    "directory name=x 755 0 0 /z\n";
	struct part m, c;
	char path[128];

	(void)state;
	assert_int_equal(load_cgroups(CGROUPS_SOFT, "3:name=y:/\n"
	    "2:name=x:/z\n1:cpu,cpuacct:/a/b\n0::/a/b\n", told), 0);
	assert_string_equal(warned, "");
	m = frame("core-7.img", 0);
	assert_int_equal(number(m, "5.16"), 2);
	assert_int_equal(number(m, "3.9"), 2);
	m = frame("inventory.img", 0);
	assert_int_equal(number(m, "5"), 1);
	m = frame("cgroup.img", 0);
	assert_int_equal(count(m, 1), 1);
	assert_int_equal(number(m, "1.1"), 2);
	/* without name=y: all processes are in its root */
	assert_int_equal(count(inner(m, "1"), 2), 3);
	assert_text(m, "1.2.1", "");
	assert_text(m, "1.2#1.1", "cpu,cpuacct");
	assert_text(m, "1.2#1.2", "/a/b");
	assert_text(m, "1.2#2.1", "name=x");
	assert_int_equal(count(m, 2), 3);

	/* version 2, from the root, without properties of several lines */
	c = inner(m, "2");
	assert_text(c, "2.1", "a");
	assert_text(c, "2.3.2", "pids");
	assert_int_equal(number(c, "2.4.1"), 040755);
	assert_text(c, "2.2.1", "b");
	assert_int_equal(count(inner(c, "2.2"), 3), 1);
	assert_text(c, "2.2.3.1", "pids.max");
	assert_int_equal(number(c, "2.2.3.3.1"), 0100644);
	assert_int_equal(number(c, "3"), 0);

	c = inner(m, "2#1");
	assert_text(c, "1#1", "cpuacct");
	assert_int_equal(count(c, 2), 1);
	assert_text(c, "2.1", "a/b");
	assert_text(c, "2.3.2", "-1");
	assert_int_equal(number(c, "2.3.3.3"), 2);
	assert_text(c, "2.3#1.2", "1");
	assert_int_equal(count(inner(c, "2"), 2), 1);
	assert_text(c, "2.2.1", "c d");
	assert_int_equal(number(c, "2.2.4.2"), 3);
	assert_int_equal(number(c, "3"), 1);
	assert_text(m, "2#2.2.1", "z");

	/* full mode: default values, no parent directories */
	assert_int_equal(load_cgroups(CGROUPS_FULL, "0::/a/b\n", told), 0);
	m = frame("cgroup.img", 0);
	assert_text(m, "2.2.1", "a/b");
	assert_int_equal(count(inner(m, "2.2"), 3), 2);

	/* a cgroup without properties; no cgroups; none requested */
	assert_int_equal(load_cgroups(CGROUPS_SOFT, "0::/z\n", told), 0);
	assert_string_equal(warned, "process 7: properties of its cgroup /z "
	    "are unknown and not restored\n");
	m = frame("cgroup.img", 0);
	assert_text(m, "2.2.1", "z");
	assert_int_equal(load_cgroups(CGROUPS_SOFT, "0::/\n", ""), 0);
	assert_int_equal(load_cgroups(CGROUPS_IGNORE, "0::/a\n", "?\n"), 0);
	snprintf(path, sizeof path, "%s/cgroup.img", dir);
	assert_int_equal(access(path, F_OK), -1);
}

/*
 * Malformed lists are errors, and no image is written.
 */
static void
test_badcgroups(void **state)
{
	static const char *const bad[] = {
		"directory - 755 0 /a\n", "directory - 789 0 0 /a\n",
		"directory - 755 0 4294967296 /a\n", "directory\n",
		"directory - 755 0 0 a\n", "directory - 755 0 0 /a/../b\n",
		"directory - 755 0 0 /a//b\n", "directory - 755 0 0 /a/\n",
		"directory - 755 0 0 /./a\n", "pids.max 644 0 0 1\n",
		"directory - 755 0 0 /a\npids.max 644 0 0\n",
		"directory - 755 0 0 /a\n../x 644 0 0 1\n",
		"directory - 755 0 0 /a"
	};
	char path[3000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(load_cgroups(CGROUPS_SOFT, "0::/a\n", bad[i]),
		    -1);
		assert_contains(snap_errstr(), "process 7: cgroups/directories:"
		    " ");
	}
	/* a cgroup that snap could not see is left out */
	assert_int_equal(load_cgroups(CGROUPS_SOFT, "0::/../a\n", ""), 0);
	assert_string_equal(warned, "cgroups: /../a, of process 7, is "
	    "outside the root that snap saw: left out\n");
	snprintf(path, sizeof path, "%s/cgroup.img", dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(load_cgroups(CGROUPS_SOFT, NULL, ""), 0);
	assert_string_equal(warned, "cgroups: those of process 7 are not in "
	    "the snapshot: left out\n");
	assert_int_equal(load_cgroups(CGROUPS_SOFT, "", ""), 0);
	memset(path, 'a', sizeof path);
	memcpy(path, "0::/", 4);
	memcpy(path + sizeof path - 2, "\n", 2);
	assert_int_equal(load_cgroups(CGROUPS_SOFT, path, ""), 0);
	assert_contains(warned, ": left out\n");
}

/*
 * Paths in a cgroup namespace begin with the path of its root.
 */
static void
test_cgroupspace(void **state)
{
	struct criuopts o = { .cgroups = CGROUPS_SOFT, .note = note_warning };
	struct part m;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		process_record(7);
		set("cgroup", "1:cpu:/\n0::/a/b\n");
		set("cgroups/directories", "directory - 755 0 0 /a/b\n");
		set("namespaces", "cgroup\n");
		set("ns/cgroup", "cgroup:[5]");
		set("cgroups/roots", i == 0 ? "cpu /\n- /a\n" : i == 1 ?
		    "- a\n" : NULL);
		assert_int_equal(load_one(&o), i == 1 ? -1 : 0);
		if (i == 1)
			continue;
		assert_string_equal(warned, i == 0 ? "" : "process 7: it is "
		    "restored in criu's cgroup namespace: the root of its own "
		    "is unknown\n");
		m = frame("cgroup.img", 0);
		assert_int_equal(count(inner(m, "1.2"), 3), i == 0);
		assert_int_equal(count(inner(m, "1.2#1"), 3), 0);
		if (i == 0)
			assert_int_equal(number(m, "1.2.3"), 2);
		m = frame("ids-7.img", 0);
		assert_int_equal(count(m, 11), i == 0);
	}
}

static int
try_sockets(void *arg)
{
	struct criuopts o = { 0 };

	(void)arg;
	process_record(7);
	set("files", "3 1\n");
	set("file/1", INET "protocol 1\nsocket 3 7 0 0 0\nlocal 0.0.0.0 1\n"
	    "icmp ab\n");
	return load_one(&o);
}

static int
try_cgroups(void *arg)
{
	(void)arg;
	return load_cgroups(CGROUPS_SOFT, "0::/a\n",
	    "directory - 755 0 0 /a\npids.max 644 0 0 5\n");
}

static int
try_mounts(void *arg)
{
	struct buf words = { 0 };
	struct criuopts o = { .note = note_warning, .words = &words };
	int rc;

	(void)arg;
	rc = load_mounts(&o, "10 9 8:1 / / rw - ext4 /dev/sda1 rw\n"
	    "14 10 0:32 / /t rw - tmpfs t rw\n");
	buf_free(&words);
	return rc;
}

static void
arm(bool on)
{
	armed = on;
}

/*
 * If memory runs out, no images are written and an error is returned.
 */
static void
test_exhausted(void **state)
{
	(void)state;
	on_write = arm;
	images_forget();
	each_failure(try_sockets, NULL);
	images_forget();
	each_failure(try_cgroups, NULL);
	images_forget();
	each_failure(try_mounts, NULL);
	on_write = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_watches),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_pidfds),
		cmocka_unit_test(test_terminals),
		cmocka_unit_test(test_foreground),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_badcgroups),
		cmocka_unit_test(test_cgroupspace),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_inet),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_newer),
		cmocka_unit_test(test_unwritten),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_connections),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_view),
		cmocka_unit_test(test_sysv),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_covered),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
