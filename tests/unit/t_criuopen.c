/*
 * Open files in CRIU images: criu/open/.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <sys/sysmacros.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODES	"termios 1 2 3 4 5\n" \
		"termioscc 000102030405060708090a0b0c0d0e0f101112\n" \
		"termlock 6 7 8 9 10\n" \
		"termlockcc 202122232425262728292a2b2c2d2e2f303132\n" \
		"winsize 6 7 8 9\n"
#define RESTORED(f, flags) "type reg\npath " f "\nflags " flags "\npos 0\n" \
		"mode 100644\n"
#define MAPPING	"400000-402000 r-xp 00000000 08:01 9 /bin/one\n"

static void
load_files(struct criuopts *o)
{
	if (load_one(o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
}

/*
 * Packet sockets: options, memberships and rings.
 */
static void
test_packet(void **state)
{
	static const char *const file[] = {
		"type packet\nflags 2\nino 5\nbound 3 800 7\n"
		    "frames 1 2 3 4 1e\nlistens 7 1 2 0102\nlistens 8 1 1 -\n"
		    "rxring 1 2 3 4 5 6 7\ntxring 8 9 10 11 12 13 14\n"
		    "fanout ab\n",
		"type packet\nflags 2\nino 6\nbound 3 3 1\nframes 1 2 3 4 2\n",
		"type packet\nflags 2\nino 7\nbound 3 3 1\nframes 1 2 3 4 4\n",
		"type packet\nflags 2\nino 8\nbound 3 3 1\nframes 1 2 3 4 8\n",
		"type packet\nflags 2\nino 9\nbound 3 3 1\nframes 1 2 3 4 10\n",
		"type packet\nflags 2\nino 10\nbound 3 3 1\nframes 1 2 3 4 1\n"
	};
	struct criuopts o = { 0 };
	struct snap *s;
	struct part m;
	uint64_t id;
	size_t i;
	int k;

	(void)state;
	OPEN_RECORD(file);
	set("maps", MAPPING
	    "500000-501000 rw-s 00000000 00:09 5 socket:[5]\n");
	set("smaps", "");
	load_files(&o);
	m = frame("files.img", 0);
	id = number(m, "2");
	NUMBERS(m, "6.2 6.3 6.4 6.5 6.8 6.9 6.15 6.14 6.17", 3, 8, 2, 7, 1, 2,
	    3, 4, 0xab);
	NUMBERS(m, "6.10 6.11 6.12 6.13", 1, 1, 1, 1);
	NUMBERS(m, "6.16#0.1 6.16#0.2 6.16#1.1 6.16#1.2", 7, 2, 8, 1);
	assert_int_equal(inner(m, "6.16#0.3").n, 2);
	assert_memory_equal(inner(m, "6.16#0.3").p, "\1\2", 2);
	assert_int_equal(inner(m, "6.16#1.3").n, 0);
	NUMBERS(m, "6.18.1 6.18.7 6.19.1 6.19.7", 1, 7, 8, 14);
	for (i = 1; i < 6; i++) {
		m = frame("files.img", i);
		NUMBERS(m, "6.10 6.11 6.12 6.13", i == 1, i == 2, i == 3,
		    i == 4);
		assert_int_equal(count(inner(m, "6"), 18), 0);
		assert_int_equal(count(inner(m, "6"), 19), 0);
	}
	assert_int_equal(number(frame("mm-7.img", 0), "14#1.4"), id);

	/* if k is 1, only another process has the mapped socket open */
	for (k = 0; k < 2; k++) {
		s = begin();
		process_record(7);
		set("maps", MAPPING
		    "500000-501000 rw-s 00000000 00:09 5 socket:[5]\n");
		set("smaps", "");
		set("files", k == 0 ? "3 1\n" : "");
		set("file/1", file[0]);
		finish(s, 7);
		process_record(8);
		set("stat", "8 (x) S 7 7 7 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 0 "
		    "0 0 0 4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 0 "
		    "0 0 0 0 0 4206592 4206600 4210688 2147352577 2147352578 "
		    "2147352579 2147352580 0\n");
		set("shares", "vm 8\nfiles 8\nfs 8\nsighand 8\n");
		set("files", "3 1\n");
		finish(s, 8);
		assert_int_equal(load(s, &o), -k);
		if (k == 1)
			assert_contains(warned, "process 7: mapping at 500000 "
			    "of socket:[5]: not a packet socket for which the "
			    "process has a descriptor");
	}
}

/*
 * Terminals of all kinds.
 */
static void
test_terminals(void **state)
{
	static const char *const file[] = {
		"type tty\npath /dev/ptmx\nrdev 05:02\nindex 3\nmaster 1\n"
		    MODES,
		"type tty\npath /dev/pts/3\nrdev 88:03\nindex 3\n" MODES,
		"type tty\npath /dev/console\nrdev 05:01\n" MODES,
		"type tty\npath /dev/tty63\nrdev 04:3f\n" MODES,
		"type tty\npath /dev/ttyUSB0\nrdev bc:00\n" MODES,
		"type tty\npath /dev/ttyAMA0\nrdev cc:40\n" MODES
	};
	static const uint64_t want[][2] = {
		{ 3 << 1 | 1, 1 }, { 3 << 1, 1 }, { 1002 << 1, 2 },
		{ 1004 << 1, 3 }, { 1010 << 1, 6 }
	};
	unsigned int need = 0;
	struct criuopts o = { .note = note_warning, .need = &need };
	struct part m;
	size_t i;

	(void)state;
	OPEN_RECORD(file);
	load_files(&o);
	assert_string_equal(warned, "");
	assert_int_equal(need, CRIU_MADE);
	for (i = 0; i < 5; i++) {
		m = frame("tty-info.img", i);
		NUMBERS(m, "1 2 9.1 9.8#0 10.1 10.5 10.8#0", want[i][0],
		    want[i][1], 1, 0x03020100, 6, 10, 0x23222120);
		assert_int_equal(number(m, "10.8#4"), 0x323130);
	}
	/* both serial lines have one index */
	m = frame("tty-info.img", 4);
	assert_ptr_equal(m.p + m.n, image.b + image.n);
	assert_int_equal(number(frame("files.img", 11), "19.2"), 1010 << 1);

	/* another file with the number of a terminal is not its master */
	process_record(7);
	set("files", "3 1\n4 2\n");
	set("file/1", file[1]);
	set("file/2", RESTORED("/x", "0"));
	assert_int_equal(load_one(&o), 0);
	assert_int_equal(need, CRIU_MADE | CRIU_SHELL_JOB | CRIU_TERMINAL);
}

/*
 * UNIX sockets: options, queues and waiting connections.
 */
static void
test_unix(void **state)
{
	static const char *const file[] = {
		"type unix\nino 11\nflags 2\nsocket 1 1 12 0 0\n"
		    "options 4608 4608 1\n",
		"type unix\nino 12\nflags 2\nsocket 1 1 11 0 0\n"
		    "options 4608 4608 2\n",
		"type unix\nino 20\nflags 2\nsocket 1 10 0 5 0\nname 0061\n"
		    "caller 21\noptions 4608 4608 3\n",
		"type unix\nino 21\nflags 2\nsocket 1 1 0 0 0\n"
		    "options 4608 4608 0\n",
		"type unix\nino 30\nflags 2\nsocket 2 1 99 0 0\n"
		    "peer 2f782f79\noptions 4608 4608 0\n",
		"type unix\nino 31\nflags 2\nsocket 2 1 98 0 0\n"
		    "peer 007a\noptions 4608 4608 0\n",
		"type unix\nino 32\nflags 2\nsocket 2 7 0 0 0\nname 0062\n"
		    "options 4608 4608 0\noption SO_PRIORITY 3\n"
		    "option SO_RCVLOWAT 5\noption SO_LINGER 0\ndevice lo\n"
		    "filter 0006000000000001\n"
	};
	struct criuopts o = { .note = note_warning };
	struct part m;
	uint64_t id;
	size_t i;

	(void)state;
	OPEN_RECORD(file);
	set("socket/11", "5\nhello");
	set("socket/32", "1\na");
	load_files(&o);
	assert_string_equal(warned, "process 7, descriptor 7: is connected to "
	    "/x/y when it is restored\nprocess 7, descriptor 8: is connected "
	    "to @z when it is restored\nprocess 7, descriptor 9: the senders "
	    "of unread datagrams are not restored\n");
	id = number(frame("files.img", 0), "2");
	m = frame("sk-queues.img", 0);
	NUMBERS(m, "1 2", id, 5);
	assert_memory_equal(m.p + m.n, "hello", 5);
	for (i = 0; i < 4; i++) {
		m = frame("files.img", i);
		NUMBERS(m, "16.2 16.8 16.10.11 16.10.12",
		    ((const uint64_t[]){ 11, 12, 20, 21 })[i],
		    ((const uint64_t[]){ 12, 11, 0, 20 })[i],
		    ((const uint64_t[]){ 1, 0, 1, 0 })[i],
		    ((const uint64_t[]){ 0, 1, 1, 0 })[i]);
	}
	/* after the peers of 30 and 31 */
	m = frame("files.img", 8);
	NUMBERS(m, "16.2 16.10.8 16.10.9 16.10.24 16.10.16", 32, 3, 5, 0,
	    0x0006000000000001);
	assert_text(m, "16.10.15", "lo");
}

/*
 * A connection that was shut down before a process outside the snapshot
 * accepted it is restored without that process's socket.
 */
static void
test_unaccepted(void **state)
{
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type unix\nino 21\nflags 2\nsocket 1 1 0 0 3\n"
	    "options 4608 4608 0\n");
	set("file/2", "type unix\nino 20\nflags 2\nsocket 1 10 0 5 0\n"
	    "name 2f61\npath /a\ncaller 21\noptions 4608 4608 0\n");
	load_files(&o);
	m = frame("files.img", 0);
	NUMBERS(m, "16.2 16.8", 21, 0);
	assert_int_equal(count(frame("files.img", 1), 16), 0);
}

/*
 * Pipes: with both ends in the snapshot, with one end, and as standard streams
 * whose other ends are outside.
 */
static void
test_pipes(void **state)
{
	struct buf words = { 0 };
	struct criuopts o = { .note = note_warning, .words = &words };
	struct part m;
	int i;

	(void)state;
	process_record(7);
	set("files", "0 3\n2 4\n3 1\n4 2\n");
	set("file/1", "type pipe\nino 31\nflags 0\ncapacity 4096\n");
	set("file/2", "type pipe\nino 31\nflags 1\ncapacity 4096\n");
	set("file/3", "type pipe\nino 30\nflags 0\n");
	set("file/4", "type unix\nino 40\nflags 2\nsocket 1 1 41 0 0\n"
	    "options 4608 4608 0\n");
	set("socket/40", "2\nab4\ncdef");
	set("pipe/30", "abc");
	set("pipe/31", "defg");
	load_files(&o);
	assert_string_equal(warned, "process 7, descriptor 0: 3 unread bytes "
	    "in it are lost when it is restored\nprocess 7, descriptor 0: "
	    "becomes the standard input of criu when it is restored\n"
	    "process 7, descriptor 2: 6 unread bytes in it are lost when it is "
	    "restored\nprocess 7, descriptor 2: becomes the standard error of "
	    "criu when it is restored\n");
	buf_add(&words, "", 1);
	assert_string_equal((char *)words.data, " --inherit-fd 'fd[0]:pipe:"
	    "[30]' --inherit-fd 'fd[2]:socket:[40]'");
	buf_free(&words);
	m = frame("pipes-data.img", 0);
	NUMBERS(m, "1 2 3", 31, 4, 4096);
	assert_memory_equal(m.p + m.n, "defg", 4);

	process_record(7);
	set("files", "3 1\n");
	set("file/1", "type pipe\nino 30\nflags 0\n");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(warned, "process 7, descriptor 3: a pipe whose "
	    "writer is not in the snapshot: cannot be restored (-f pipe leaves "
	    "it out)\n");

	for (i = 0; i < 2; i++) {
		process_record(7);
		set("files", "3 1\n4 2\n");
		set("file/1", "type pipe\nino 30\nflags 0\n");
		set("file/2", "type pipe\nino 30\nflags 40001\n");
		if (i == 1)
			set("pipe/30", "abc");
		assert_int_equal(load_one(&o), -i);
	}
	assert_contains(warned, "process 7, descriptor 4: a pipe with unread "
	    "packets (O_DIRECT): cannot be restored");
}

/*
 * criu creates an epoll set in the process with the lowest ID, and adds this
 * process's descriptors.
 */
static void
test_lowest(void **state)
{
	struct criuopts o = { .note = note_warning };
	struct snap *s;
	struct part m;

	(void)state;
	s = begin();
	process_record(7);
	set("files", "3 1\n4 2\n");
	set("file/1", "type epoll\nflags 2\ntarget 4 1 2 2\n");
	set("file/2", RESTORED("/x", "0") "owner 2 99 0 0 0\n");
	finish(s, 7);
	process_record(5);
	set("stat", "5 (x) S 7 7 7 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 "
	    "4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 "
	    "4206592 4206600 4210688 2147352577 2147352578 2147352579 "
	    "2147352580 0\n");
	set("shares", "vm 5\nfiles 5\nfs 5\nsighand 5\n");
	set("files", "3 1\n6 2\n");
	finish(s, 5);
	if (load(s, &o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "process 7, descriptor 4: the owner that "
	    "gets its signals (F_SETOWN) is not restored\n");
	m = frame("files.img", 0);
	NUMBERS(m, "9.4.1 9.4.2", number(m, "2"), 6);
}

/*
 * Owners that get signals for a file (F_SETOWN_EX): a process, a thread, and a
 * process that is its own first thread.
 */
static void
test_owners(void **state)
{
	struct criuopts o = { .note = note_warning };
	struct snap *s;

	(void)state;
	s = begin();
	process_record(7);
	set("files", "3 1\n4 2\n5 3\n");
	set("file/1", RESTORED("/x", "0") "owner 1 7 10 0 0\n");
	set("file/2", RESTORED("/x", "0") "owner 0 8 10 0 0\n");
	set("file/3", RESTORED("/x", "0") "owner 0 7 10 0 0\n");
	finish(s, 7);
	thread_record(8);
	set("thread", "7\n");
	finish(s, 8)->leader = 7;
	if (load(s, &o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "process 7, descriptor 4: the owner that "
	    "gets its signals (F_SETOWN) is not restored\n");
	NUMBERS(frame("files.img", 0), "3.5.4 3.5.5", 1, 7);
	NUMBERS(frame("files.img", 1), "3.5.4 3.5.5", 0, 0);
	NUMBERS(frame("files.img", 2), "3.5.4 3.5.5", 0, 7);
}

/*
 * Files without a path.
 */
static void
test_others(void **state)
{
	static const char *const file[] = {
		"type fanotify\nflags 2\ncreated 1 2\n"
		    "mark 40 20 3 08:01 9 1 0102 /a\n"
		    "mountmark 0 20 0 5 /mnt\n",
		"type netlink\nflags 2\nino 5\nnetlink 3 15 77 0 2\n"
		    "member 1\nmember 3\n",
		"type netlink\nflags 2\nino 6\nnetlink 3 16 0 0 0\n",
		"type namespace\nspace net\nino 5\nflags 0\n",
		"type namespace\nspace uts\nino 6\nflags 0\n",
		"type inet\nflags 2\nino 7\nfamily 6\nprotocol 136\n"
		    "socket 2 7 0 0 0\nlocal :: 0\n",
		"type inet\nflags 2\nino 8\nfamily 4\nprotocol 136\n"
		    "socket 2 7 0 0 0\nlocal 0.0.0.0 0\n",
		"type epoll\nflags 2\ntarget 4 1 2 2\n"
	};
	struct criuopts o = { 0 };
	struct part m;

	(void)state;
	OPEN_RECORD(file);
	set("ns/net", "net:[5]");
	set("ns/uts", "uts:[6]");
	load_files(&o);
	m = frame("files.img", 0);
	NUMBERS(m, "14.4 14.5 14.6.1 14.6.2 14.6.3 14.6.4 14.6.5 14.6.6", 1, 2,
	    number(m, "2"), 1, 0x40, 0x20, 3, makedev(8, 1));
	NUMBERS(m, "14.6.7.1 14.6.7.2.1 14.6.7.2.2 14.6.7.2.3#0", 9, 2, 1,
	    0x201);
	assert_text(m, "14.6.7.2.4", "/a");
	assert_text(m, "14.6#1.8.2", "/mnt");
	NUMBERS(m, "14.6#1.2 14.6#1.4", 2, 0x20);
	m = frame("files.img", 1);
	NUMBERS(m, "7.2 7.3 7.4 7.7 7.8 7.10", 5, 15, 1, 77, 5, 2);
	m = frame("files.img", 2);
	NUMBERS(m, "7.2 7.3 7.4 7.10", 6, 16, 0, 0);
	assert_int_equal(count(inner(m, "7"), 8), 0);
	NUMBERS(frame("files.img", 3), "5.2 5.3", 17, 0x40000000);
	NUMBERS(frame("files.img", 4), "5.2 5.3", 19, 0x4000000);
	NUMBERS(frame("ids-7.img", 0), "6 8", 17, 19);
	NUMBERS(frame("files.img", 5), "4.3 4.5", 10, 136);
	NUMBERS(frame("files.img", 6), "4.3 4.5", 2, 136);
	m = frame("files.img", 7);
	NUMBERS(m, "9.4.1 9.4.2 9.4.3", number(m, "2"), 4, 1);
}

/*
 * An armed timerfd keeps TFD_TIMER_ABSTIME if its clock is the real time.
 */
static void
test_timers(void **state)
{
	static const struct {
		int		 clock;
		uint64_t	 left;
		uint64_t	 flags;
	} cases[] = {
		{ 0, 1500000000, 3 }, { 8, 1500000000, 3 }, { 0, 0, 2 },
		{ 1, 1500000000, 2 }, { 7, 1500000000, 2 }, { 1, 0, 2 }
	};
	struct criuopts o = { 0 };
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("files", "3 1\n");
		snprintf(text, sizeof text, "type timerfd\nflags 2\nclock %d\n"
		    "settime 3\ninterval 0\nleft %" PRIu64 "\nticks 0\n",
		    cases[i].clock, cases[i].left);
		set("file/1", text);
		load_files(&o);
		NUMBERS(frame("files.img", 0), "12.6 12.7 12.8",
		    cases[i].flags, cases[i].left / 1000000000,
		    cases[i].left % 1000000000);
	}
}

static void
arm(bool on)
{
	armed = on;
}

/*
 * If images are written, they are complete.
 */
static int
try_files(void *arg)
{
	static const char *const file[] = {
		"type packet\nflags 2\nino 5\nbound 3 800 7\n"
		    "frames 1 2 3 4 1e\nlistens 7 1 2 0102\n"
		    "rxring 1 2 3 4 5 6 7\n",
		"type tty\npath /dev/tty63\nrdev 04:3f\n" MODES,
		"type fanotify\nflags 2\ncreated 1 2\n"
		    "mark 40 20 3 08:01 9 1 0102 /a\n"
		    "mountmark 0 20 0 5 /mnt\n",
		"type netlink\nflags 2\nino 5\nnetlink 3 15 77 0 2\n"
		    "member 1\nmember 3\n",
		"type unix\nino 31\nflags 2\nsocket 2 1 98 0 0\n"
		    "peer 007a\noptions 4608 4608 0\n",
		"type chr\npath /t/d\nflags 0\npos 0\ndev 08:01\nino 80\n"
		    "mode 20666\nrdev 01:03\ndeleted 1\n"
	};
	struct criuopts o = { .note = note_warning };
	struct part m;
	size_t n;

	(void)arg;
	OPEN_RECORD(file);
	if (load_one(&o) == -1)
		return -1;
	assert_string_equal(warned, "process 7, descriptor 3: the rings of a "
	    "packet socket are empty when it is restored\nprocess 7, "
	    "descriptor 7: is connected to @z when it is restored\n");
	assert_int_equal(number(frame("tty-info.img", 0), "10.5"), 10);
	assert_int_equal(number(frame("remap-fpath.img", 0), "3"), 1);
	for (n = 0, m = frame("files.img", 0); m.p + m.n < image.b + image.n;)
		m = frame("files.img", ++n);
	/* including other ends, paths, the executable and directories */
	assert_int_equal(n + 1, 11);
	return 0;
}

static void
test_exhausted(void **state)
{
	(void)state;
	on_write = arm;
	images_forget();
	each_failure(try_files, NULL);
	on_write = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_terminals),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_unaccepted),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_lowest),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_timers),
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
