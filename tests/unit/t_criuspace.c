/*
 * Mounts, users and cgroups in CRIU images: criu/namespace/ and
 * criu/facts/mount*.c and users.c.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <stdlib.h>
#include <string.h>

#define TOP	"10 9 8:1 /srv/c / rw,relatime - ext4 /dev/sda1 rw\n"
#define OUTSIDE	"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"

/*
 * Load an init in its own namespaces, which spaces lists.
 */
static int
load_init(struct criuopts *o, const char *spaces, const char *inside,
    const char *outside)
{
	struct snap *s;

	process_record(1);
	set("status", "Name:\tone\nUmask:\t0022\nUid:\t1001\t1002\t3\t1009\n"
	    "Gid:\t2005\t2000\t2009\t2010\nGroups:\t2001 \nNSpid:\t9\t1\n"
	    "NSpgid:\t9\t1\nNSsid:\t9\t1\nCapEff:\t0\nSeccomp:\t0\n");
	set("shares", "vm 1\nfiles 1\nfs 1\nsighand 1\n");
	set("namespaces", spaces);
	set("ns/user", strstr(spaces, "user") != NULL ? "user:[7]" :
	    "user:[4026531837]");
	set("mounts/inside", inside);
	set("mounts/outside", outside);
	set("uid_map", "0 1000 9\n1009 1009 1\n");
	set("gid_map", "0 2000 10\n");
	s = begin();
	finish(s, 1);
	return load(s, o);
}

/*
 * Types of file systems that criu mounts.
 */
static void
test_types(void **state)
{
	static const struct {
		const char *type;
		unsigned int code;
	} cases[] = {
		{ "proc", 1 }, { "sysfs", 2 }, { "devtmpfs", 3 },
		{ "binfmt_misc", 4 }, { "devpts", 6 }, { "pstore", 8 },
		{ "securityfs", 9 }, { "fusectl", 10 }, { "debugfs", 11 },
		{ "cgroup", 12 }, { "mqueue", 14 }, { "tracefs", 19 },
		{ "cgroup2", 23 }
	};
	struct criuopts o = { .note = note_warning };
	uint64_t root, bin;
	char inside[256];
	struct part m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(inside, sizeof inside, TOP "11 10 0:50 / /m rw - %s s "
		    "rw\n12 10 0:51 / /bin rw - sysfs s rw\n", cases[i].type);
		if (load_init(&o, "mnt pid\n", inside, OUTSIDE) == -1)
			fail_msg("%s: %s%s", cases[i].type, warned,
			    snap_errstr());
		m = frame("mountpoints-2.img", 1);
		assert_int_equal(number(m, "1"), cases[i].code);
		root = number(frame("mountpoints-2.img", 0), "2");
		bin = number(frame("mountpoints-2.img", 2), "2");
		/* the mount ID of each path, zigzag */
		m = frame("files.img", 0);
		assert_text(m, "3.6", "/bin/one");
		assert_int_equal(number(m, "3.7"), 2 * bin);
		m = frame("files.img", 1);
		assert_text(m, "3.6", "/tmp");
		assert_int_equal(number(m, "3.7"), 2 * root);
	}
}

/*
 * Users have their own numbers in a user namespace.
 */
static void
test_users(void **state)
{
	struct criuopts o = { .note = note_warning };
	struct part m;

	(void)state;
	if (load_init(&o, "mnt pid user\n", TOP, OUTSIDE) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "process 1: criu also reads images as user "
	    "1000, the root of its user namespace: run chown -R 1000 and chmod "
	    "-R g+rX\n");
	m = frame("userns-2.img", 0);
	assert_numbers(m, "1.1 1.2 1.3 1#1.1 1#1.2 1#1.3 2.1 2.2 2.3",
	    (const uint64_t[]){ 0, 1000, 9, 1009, 1009, 1, 0, 2000, 10 });
	m = inner(frame("core-1.img", 0), "5.10");
	assert_numbers(m, "1 3 5 7 2 4 6 8 14", (const uint64_t[]){ 1, 2,
	    65534, 1009, 5, 0, 9, 65534, 1 });
	/* there the login UID cannot be set */
	assert_int_equal(count(inner(frame("core-1.img", 0), "3"), 13), 0);

	/* criu mounts inside the user namespace */
	if (load_init(&o, "mnt pid user\n", TOP "11 10 0:50 / /m "
	    "rw,nosymfollow - devpts s rw,uid=1002,gid=2005,mode=620\n",
	    OUTSIDE) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_text(frame("mountpoints-2.img", 1), "9",
	    "uid=2,gid=5,mode=620");
	assert_contains(warned, "process 1: the option nosymfollow of the "
	    "mount on /m is not restored\n");

	/* without a mount namespace, or with another mount below the root */
	assert_int_equal(load_init(&o, "pid user\n", NULL, NULL), -1);
	assert_string_equal(warned, "process 1: its user namespace: cannot be "
	    "restored (-f userns leaves it out)\n");
	assert_int_equal(load_init(&o, "mnt pid user\n", TOP, OUTSIDE
	    "2 1 0:60 / /srv/c/x rw - tmpfs t rw\n"), -1);
	assert_contains(warned, "process 1: its user namespace, which criu "
	    "cannot create with --root /srv/c because /srv/c/x is mounted "
	    "there: cannot be restored");
	assert_int_equal(load_init(&o, "mnt pid user\n", "11 10 0:30 / /proc "
	    "rw - proc proc rw\n", OUTSIDE), -1);
	assert_contains(warned, "the root of its mount namespace is not in");
}

/*
 * Properties of cgroups that each mode writes. CGROUPS_SOFT omits those that a
 * new cgroup has.
 */
static void
test_properties(void **state)
{
	static const struct {
		const char *line;
		bool soft, full;
	} cases[] = {
		{ "memory.low 644 0 0 0", false, true },
		{ "memory.low 644 0 0 1", true, true },
		{ "memory.low 600 0 0 0", true, true },
		{ "memory.low 644 1 0 0", true, true },
		{ "memory.low 644 0 1 0", true, true },
		{ "hugetlb.2MB.max 644 0 0 max", false, true },
		{ "hugetlb.2MB.max 644 0 0 4096", true, true },
		{ "hugetlb.2MB.max 644 0 0 9223372036854771712", false, true },
		{ "cpu.weight 644 0 0 0", false, false },
		{ "cgroup.procs 644 0 0 ", false, false },
		{ "cgroup.procs 600 0 0 ", true, true },
		{ "cpu.max 644 0 0 max 100000", false, true },
		{ "unheard.of 644 0 0 max", true, true }
	};
	char told[256];
	struct part c;
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		k = (int)i / 2;
		snprintf(told, sizeof told, "directory - 755 0 0 /a\n%s\n",
		    cases[k].line);
		assert_int_equal(load_cgroups(i % 2 == 0 ? CGROUPS_SOFT :
		    CGROUPS_FULL, "0::/a\n", told), 0);
		c = inner(frame("cgroup.img", 0), "2.2");
		if (count(c, 3) != (i % 2 == 0 ? cases[k].soft :
		    cases[k].full))
			fail_msg("%s", cases[k].line);
	}
}

/*
 * A cgroup comes before its children, in whatever order they are recorded.
 */
static void
test_order(void **state)
{
	static const char *const line[] = { "/a", "/a/b", "/a/b/c d",
	    "/a/b-c", "/a/b/d" };
	char told[256];
	struct part c;
	size_t i, k, n;

	(void)state;
	for (k = 0; k < 10; k++) {
		for (i = n = 0; i < 5; i++)
			n += (size_t)snprintf(told + n, sizeof told - n,
			    "directory - 755 0 0 %s\n",
			    line[(k < 5 ? i + k : 4 + k - i) % 5]);
		assert_int_equal(load_cgroups(CGROUPS_SOFT, "0::/a\n", told),
		    0);
		c = inner(frame("cgroup.img", 0), "2.2");
		assert_text(c, "1", "a");
		assert_int_equal(count(c, 2), 2);
		assert_text(c, "2#0.1", "b");
		assert_int_equal(count(inner(c, "2#0"), 2), 2);
		assert_text(c, "2#0.2#0.1", "c d");
		assert_text(c, "2#0.2#1.1", "d");
		assert_text(c, "2#1.1", "b-c");
	}
}

static void
test_words(void **state)
{
	static const char *const word[] = { "ignore", "none", "props", "soft",
	    "full", "strict" };
	static const unsigned int mode[] = { CGROUPS_IGNORE, CGROUPS_NONE,
	    CGROUPS_PROPS, CGROUPS_SOFT, CGROUPS_FULL, CGROUPS_STRICT };
	unsigned int got;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof word / sizeof *word; i++) {
		assert_int_equal(criu_cgroups(word[i], &got), 0);
		assert_int_equal(got, mode[i]);
	}
	assert_int_equal(criu_cgroups("", &got), -1);
	assert_string_equal(snap_errstr(), ": not one of ignore, none, props, "
	    "soft, full, strict");
}

/*
 * Limits of an IPC namespace: recorded ones, or those of a new one.
 */
static void
test_limits(void **state)
{
	struct criuopts o = { 0 };
	struct part m;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		process_record(7);
		set("ns/ipc", "ipc:[7]");
		set("sysvipc/sem", "5 7 600 1 2 3 4 1\n");
		set_bytes("sysvipc/semaphores/5", "\1", 2);
		set("sysvipc/limits", i == 0 ? NULL : i == 1 ?
		    "kernel/sem 1 2 3 4\nfs/mqueue/msg_max 5\nkernel/msgmni 6\n"
		    "kernel/msg_next_id -1\nkernel/sem_next_id 7\n" :
		    "kernel/shmmax x\n");
		assert_int_equal(load_one(&o), i == 2 ? -1 : 0);
		if (i == 2) {
			assert_string_equal(snap_errstr(), "process 7: "
			    "sysvipc/limits: line 1: expected \"name "
			    "number\"");
			continue;
		}
		m = frame("ipcns-var-5.img", 0);
		assert_numbers(m, "1 1#1 1#2 1#3 2 3 4 5 8 9 10 11 12 13 14",
		    i == 0 ? (const uint64_t[]){ 32000, 1024000000, 500, 32000,
		    8192, 16384, 32000, 0, 4096, 0, 256, 10, 8192, 10, 8192 } :
		    (const uint64_t[]){ 1, 2, 3, 4, 8192, 16384, 6, 0, 4096, 0,
		    256, 5, 8192, 10, 8192 });
		assert_int_equal(count(m, 15), 0);
		assert_int_equal(count(m, 16), i);
	}
	/* a line without a number, after one whose number is -1 */
	process_record(7);
	set("ns/ipc", "ipc:[7]");
	set("sysvipc/sem", "5 7 600 1 2 3 4 1\n");
	set_bytes("sysvipc/semaphores/5", "\1", 2);
	set("sysvipc/limits", "kernel/msg_next_id -1\nkernel/sem_next_id\n");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(snap_errstr(), "process 7: sysvipc/limits: line 2: "
	    "expected \"name number\"");
	/* overlapping mappings: attached segments cannot be counted */
	process_record(7);
	set("ns/ipc", "ipc:[7]");
	set("sysvipc/shm", "5 7 1640 8000 11 12 13 14 2\n");
	set("maps", "400000-402000 r-xp 00000000 08:01 9 /bin/one\n"
	    "401000-403000 r-xp 00000000 08:01 9 /bin/one\n");
	assert_int_equal(load_one(&o), -1);
	assert_string_equal(snap_errstr(), "process 7: maps: the mapping at "
	    "401000 overlaps the one at 400000");
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
try_users(void *arg)
{
	struct criuopts o = { .note = note_warning };

	(void)arg;
	if (load_init(&o, "mnt pid user\n", TOP, OUTSIDE) == -1)
		return -1;
	assert_contains(warned, "as user 1000");
	assert_int_equal(number(frame("userns-2.img", 0), "2.2"), 2000);
	return 0;
}

static void
test_exhausted(void **state)
{
	(void)state;
	on_write = arm;
	images_forget();
	each_failure(try_users, NULL);
	on_write = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
