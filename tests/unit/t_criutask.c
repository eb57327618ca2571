/*
 * CRIU images of processes and threads: criu/make/.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NEVER	": cannot be restored\n"
#define STATUS	"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t7\n" \
		"NSpgid:\t7\nNSsid:\t7\nSeccomp:\t0\n"

/*
 * A file of the record of process 7 and the reason why it prevents the process
 * from being restored, or NULL if it does not.
 */
static const struct obstacle {
	const char *name, *text, *why;
} obstacles[] = {
	{ "excluded", "env X\n", "process 7: values of its environment are not "
	    "in the snapshot" },
	{ "excluded", "mem 1000 2000\nenv X\n", "process 7: values of its "
	    "environment are not in the snapshot" },
	{ "excluded", "environment\nmem env X\n", NULL },
	{ "ns/pid_for_children", "pid:[6]", "process 7: its children would be "
	    "in another pid namespace" NEVER },
	{ "ns/time_for_children", "time:[6]", "process 7: its children would "
	    "be in another pid namespace" NEVER "process 7: its children would "
	    "be in another time namespace" NEVER },
	{ "apart", "its limits\n", "process 7: not shared with its process: "
	    "its limits" NEVER },
	{ "observed", "-n\n", "process 7: it was only observed (-n), which is "
	    "not enough to restore it" },
	{ "missing", "404000-405000 cut\n", "process 7: its memory from 404000 "
	    "to 405000 is not in the snapshot (cut)" },
	{ "seccomp", "", NULL },
	{ "status", STATUS "untag_mask:\t0xffffffffffffffff\n", NULL },
	{ "status", STATUS "untag_mask:\t0x81ffffffffffffff\n",
	    "process 7: tagged addresses" NEVER }
};

/*
 * Load process 7 with the file of obstacle b. Return -1 unless b->why is
 * reported.
 */
static int
load_obstacle(const struct obstacle *b)
{
	struct criuopts o = { 0 };
	int rc;

	process_record(7);
	set("ns/pid", "pid:[5]");
	set(b->name, b->text);
	rc = load_one(&o);
	if (b->why == NULL)
		return rc;
	assert_int_equal(rc, -1);
	return strncmp(warned, b->why, strlen(b->why)) == 0 ? 0 : -1;
}

static void
test_obstacles(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof obstacles / sizeof *obstacles; i++)
		if (load_obstacle(&obstacles[i]) == -1)
			fail_msg("%s: %s%s", obstacles[i].name, warned,
			    snap_errstr());
}

static int
try_obstacle(void *arg)
{
	return load_obstacle(arg);
}

static void
arm(bool on)
{
	armed = on;
}

/*
 * Nothing is written if there is no memory for the message.
 */
static void
test_exhausted(void **state)
{
	struct obstacle b;
	size_t i;

	(void)state;
	on_write = arm;
	for (i = 0; i < sizeof obstacles / sizeof *obstacles; i++) {
		b = obstacles[i];
		if (b.why != NULL)
			each_failure(try_obstacle, &b);
	}
	on_write = NULL;
}

/*
 * Signals that are pending for a process and its threads.
 */
static void
test_pending(void **state)
{
	enum { SIGINFO = 128 };
	struct criuopts o = { 0 };
	uint8_t process[SIGINFO] = { SIGUSR1 }, thread[SIGINFO] = { SIGUSR2 };
	uint8_t other[SIGINFO] = { SIGHUP };
	struct snap *s;
	struct part m;

	(void)state;
	s = begin();
	process_record(7);
	set_bytes("sigpending/process", process, sizeof process);
	set_bytes("sigpending/thread", thread, sizeof thread);
	finish(s, 7);
	thread_record(8);
	set("thread", "7\n");
	set_bytes("sigpending/thread", other, sizeof other);
	finish(s, 8)->leader = 7;
	assert_int_equal(load(s, &o), 0);
	m = frame("core-7.img", 0);
	assert_int_equal(inner(m, "3.10.1.1").n, SIGINFO);
	assert_int_equal(inner(m, "3.10.1.1").p[0], SIGUSR1);
	assert_int_equal(inner(m, "5.9.1.1").p[0], SIGUSR2);
	assert_int_equal(inner(frame("core-8.img", 0), "5.9.1.1").p[0],
	    SIGHUP);
}

/*
 * Signals that cannot be restored: criu would consume or lose them, or the
 * process would end.
 */
static void
test_signals(void **state)
{
	static const struct {
		int sig;
		bool thread, stopped;
		const char *why;
	} cases[] = {
		{ SIGTRAP, false, false, "criu would take it for its own" },
		{ SIGCHLD, false, false, NULL },
		{ SIGCHLD, true, false, "criu loses it" },
		{ SIGTERM, false, false, NULL },
		{ SIGTERM, false, true, "it would end the stopped process at "
		    "once" },
		{ SIGHUP, false, true, "it would end the stopped process at "
		    "once" },
		{ 10, false, true, NULL },	/* is blocked */
		{ 2, false, true, NULL },	/* has a handler */
		{ SIGCONT, false, true, NULL },
		{ SIGURG, true, true, NULL }, { SIGWINCH, true, true, NULL },
		{ 64, false, true, NULL },
		{ 64, true, true, "it would end the stopped process at once" },
		{ SIGXCPU, true, true, "it would end the stopped process at "
		    "once" }
	};
	struct criuopts o = { 0 };
	uint8_t b[128] = { 0 };
	char text[256];
	struct snap *s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		b[0] = (uint8_t)cases[i].sig;
		s = begin();
		process_record(7);
		if (cases[i].stopped)
			set("stat", "7 (x) T 1 7 7 0 -1 64 0 0 0 0 0 0 0 0 20 "
			    "0 1 0 0 0 0 0 4194304 4194305 2147352576 0 0 0 0 "
			    "0 0 0 0 0 17 0 0 0 0 0 0 4206592 4206600 4210688 "
			    "2147352577 2147352578 2147352579 2147352580 0\n");
		set_bytes("sigpending/process", cases[i].thread ? NULL : b,
		    sizeof b);
		finish(s, 7);
		thread_record(8);
		set("thread", "7\n");
		set_bytes("sigpending/thread", cases[i].thread ? b : NULL,
		    sizeof b);
		finish(s, 8)->leader = 7;
		assert_int_equal(load(s, &o), cases[i].why == NULL ? 0 : -1);
		snprintf(text, sizeof text, "process %d: signal %d is pending: "
		    "%s" NEVER, cases[i].thread ? 8 : 7, cases[i].sig,
		    cases[i].why == NULL ? "" : cases[i].why);
		assert_string_equal(warned, cases[i].why == NULL ? "" : text);
	}
}

/*
 * The signal that stopped a process, from its siginfo.
 */
static void
test_stopped(void **state)
{
	static const struct {
		uint32_t code, sig;
	} cases[] = {
		{ 128 << 8 | SIGTSTP, SIGTSTP }, { 128 << 8 | SIGTTOU,
		    SIGTTOU }, { 128 << 8 | SIGSTOP, SIGSTOP },
		{ SIGTSTP, SIGSTOP }, { 128 << 8 | SIGTRAP, SIGSTOP },
		{ 128 << 8 | (SIGTTOU + 1), SIGSTOP }
	};
	struct criuopts o = { 0 };
	uint8_t b[128] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i <= sizeof cases / sizeof *cases; i++) {
		process_record(7);
		set("stat", "7 (x) T 1 7 7 0 -1 64 0 0 0 0 0 0 0 0 20 0 1 0 0 "
		    "0 0 0 4194304 4194305 2147352576 0 0 0 0 0 0 0 0 0 17 0 "
		    "0 0 0 0 0 4206592 4206600 4210688 2147352577 2147352578 "
		    "2147352579 2147352580 0\n");
		if (i < sizeof cases / sizeof *cases) {
			b[8] = (uint8_t)cases[i].code;
			b[9] = (uint8_t)(cases[i].code >> 8);
			set_bytes("siginfo", b, sizeof b);
		}
		assert_int_equal(load_one(&o), 0);
		assert_int_equal(number(frame("core-7.img", 0), "3.1"), 3);
		assert_int_equal(number(frame("core-7.img", 0), "3.21"),
		    i < sizeof cases / sizeof *cases ? cases[i].sig : SIGSTOP);
	}
}

/*
 * Components of xstate, whose offsets depend on its size.
 */
static void
test_xstate(void **state)
{
	static const struct {
		size_t len;
		uint64_t use, has;
		size_t pkru;		/* its offset */
	} cases[] = {
		{ 4096, 0x2e7, 0x2e7, 2688 }, { 2696, 0x204, 0x204, 2688 },
		{ 2688, 0x204, 0x4, 0 }, { 2440, 0x2e4, 0x2e4, 2432 },
		{ 2432, 0x2e4, 0xe4, 0 }, { 895, 0x204, 0x204, 832 },
		{ 840, 0x204, 0x204, 832 }, { 896, 0x204, 0x4, 0 },
		{ 4096, 0x1f, 0x1f, 0 }
	};
	static uint8_t x[4096];
	struct criuopts o = { .leave = UINT64_MAX };
	struct part m;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		process_record(7);
		for (k = 0; k < sizeof x; k++)
			x[k] = (uint8_t)(k / 8);
		put64(x + 512, cases[i].use);
		set_bytes("regset/xstate", x, cases[i].len);
		if (cases[i].use != cases[i].has) {
			assert_int_equal(load_one(&o), -1);
			assert_contains(warned, "(xstate 200) are in use");
			continue;
		}
		if (load_one(&o) == -1)
			fail_msg("%zu: %s%s", i, warned, snap_errstr());
		m = inner(frame("core-7.img", 0), "2.3.13");
		assert_int_equal(number(m, "1"), cases[i].has);
		assert_int_equal(count(m, 2), cases[i].has >> 2 & 1 ? 64 : 0);
		assert_int_equal(count(m, 3), cases[i].has >> 3 & 1 ? 8 : 0);
		assert_int_equal(count(m, 5), cases[i].has >> 5 & 1 ? 8 : 0);
		assert_int_equal(count(m, 7), cases[i].has >> 7 & 1 ? 128 : 0);
		if (cases[i].has >> 2 & 1)
			assert_int_equal(number(m, "2"), 0x48484848);
		if (cases[i].has >> 5 & 1)
			assert_int_equal(number(m, "5") & 0xff,
			    (cases[i].len >= 2688 ? 1088 : 832) / 8 & 0xff);
		if (cases[i].pkru != 0)
			assert_int_equal(number(m, "8") & 0xff,
			    cases[i].pkru / 8 & 0xff);
	}
	/* the last of 27 registers */
	assert_int_equal(number(frame("core-7.img", 0), "2.2.27"), 122);
	process_record(7);
	set_bytes("regset/prstatus", x, 26 * 8);
	assert_int_equal(load_one(&o), -1);
}

/*
 * Clocks, strict seccomp, and malformed lines.
 */
static void
test_facts(void **state)
{
	static const struct {
		const char *name, *text, *error;
	} bad[] = {
		{ "timerslack_ns", "x\n", "process 7: timerslack_ns: line 1" },
		{ "maps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
		    "401000-403000 r-xp 00000000 08:01 9 /bin/one\n",
		    "process 7: maps: the mapping at 401000 overlaps" },
		{ "smaps", "402000-400000 r-xp 00000000 08:01 9 /bin/one\n",
		    "process 7: maps: cannot parse" }
	};
	static const char *const lines[] = { "brk", "child_subreaper",
		"dumpable", "membarrier", "oom_score_adj", "pdeath_signal",
		"personality", "robust_list", "rseq", "scheduling",
		"sigaltstack", "thp_disable", "tid_address" };
	struct criuopts o = { 0 };
	struct part m;
	char error[64];
	size_t i;

	(void)state;
	process_record(7);
	set("clocks", "monotonic 3000000001\nboottime 5000000002\n");
	set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
	    "Gid:\t5\t6\t7\t8\nNSpid:\t7\nNSpgid:\t7\nNSsid:\t7\n"
	    "Seccomp:\t1\n");
	set("maps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "500000-501000 rw-p 00000000 00:05 9 /dev/zero\n");
	set("smaps", "");
	assert_int_equal(load_one(&o), 0);
	m = frame("timens-0.img", 0);
	assert_int_equal(number(m, "1.1"), 3);
	assert_int_equal(number(m, "1.2"), 1);
	assert_int_equal(number(m, "2.1"), 5);
	assert_int_equal(number(m, "2.2"), 2);
	m = frame("core-7.img", 0);
	assert_int_equal(number(m, "5.11"), 1);
	assert_int_equal(count(inner(m, "5"), 12), 0);
	/* a private mapping of /dev/zero is anonymous */
	assert_int_equal(number(frame("mm-7.img", 0), "14#1.6"), 0x22);
	assert_int_equal(number(frame("mm-7.img", 0), "14#1.7"), 0x201);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		process_record(7);
		set(bad[i].name, bad[i].text);
		assert_int_equal(load_one(&o), -1);
		assert_contains(snap_errstr(), bad[i].error);
	}
	for (i = 0; i < sizeof lines / sizeof *lines; i++) {
		process_record(7);
		set(lines[i], "x\n");
		assert_int_equal(load_one(&o), -1);
		snprintf(error, sizeof error, "process 7: %s: line 1",
		    lines[i]);
		assert_contains(snap_errstr(), error);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_obstacles),
		cmocka_unit_test(test_exhausted),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_xstate),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
