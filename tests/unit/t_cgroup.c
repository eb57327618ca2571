/*
 * The memory and the number of processes that cgroups have left: cgroup.c, with
 * made-up trees.
 */
#include "util.h"

#include "linux/clone/cloning.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TWO[] = "0::/a/b\n";
static const char ONE[] = "9:name=systemd:/x\n4:cpu,memory:/a/b\n0::/\n";
static char root[64], mounts[3][256], got[1024];

/*
 * Write a file of the tree. Make its directory.
 */
static void
put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", root, dir);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof path, "%s%s/%s", root, dir, name);
	assert_non_null(f = fopen(path, "w"));
	fputs(text, f);
	fclose(f);
}

static int
setup(void **state)
{
	(void)state;
	strlcpy(root, "/tmp/t_cgroup.XXXXXX", sizeof root);
	assert_non_null(mkdtemp(root));
	snprintf(mounts[0], sizeof mounts[0], "31 23 0:28 / /sys rw - sysfs "
	    "sysfs rw\n33 31 0:30 / %s rw - cgroup cgroup rw,cpu,memory\n",
	    root);
	snprintf(mounts[1], sizeof mounts[1], "41 31 0:30 / %s rw,relatime "
	    "shared:9 - cgroup2 cgroup2 rw\n", root);
	snprintf(mounts[2], sizeof mounts[2], "33 31 0:30 / /no rw - cgroup "
	    "cgroup rw,memory\n34 31 0:31 / %s rw - cgroup cgroup "
	    "rw,cpu,pids\n", root);
	put("/a", "x", "");
	put("/a/b", "x", "");
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

/*
 * Append a line for a level: its directory below the root, the amount left and
 * the limit.
 */
static int
told(void *arg, const struct cglevel *l)
{
	uint64_t left, limit;
	size_t n;

	(void)arg;
	n = strlen(got);
	left = cgroup_left(l, &limit);
	if (limit != UINT64_MAX)
		snprintf(got + n, sizeof got - n, "%s %ju of %ju\n",
		    l->dir + strlen(root), (uintmax_t)left, (uintmax_t)limit);
	else
		snprintf(got + n, sizeof got - n, "%s\n",
		    l->dir + strlen(root));
	return 0;
}

static const char *
levels_of(enum cgkind kind, const char *membership, const char *mountinfo)
{
	got[0] = '\0';
	assert_int_equal(cgroup_levels(kind, scan_begin(membership,
	    strlen(membership)), scan_begin(mountinfo, strlen(mountinfo)),
	    told, NULL), 0);
	return got;
}

static const char *
levels(const char *membership, const char *mountinfo)
{
	return levels_of(CGROUP_MEMORY, membership, mountinfo);
}

/*
 * Processes and threads: the page cache does not count.
 */
static void
test_tasks(void **state)
{
	(void)state;
	put("/a", "pids.max", "max\n");
	put("/a", "pids.current", "9\n");
	put("/a/b", "pids.max", "12\n");
	put("/a/b", "pids.current", "7\n");
	put("/a/b", "memory.max", "1\n");
	put("/a/b", "memory.stat", "inactive_file 3\n");
	assert_string_equal(levels_of(CGROUP_TASKS, TWO, mounts[1]),
	    "/a/b 5 of 12\n/a\n\n");
	put("/a", "pids.max", "9\n");
	assert_string_equal(levels_of(CGROUP_TASKS, TWO, mounts[1]),
	    "/a/b 5 of 12\n/a 0 of 9\n\n");
	/* in version 1, pids and memory may have different cgroups */
	assert_string_equal(levels_of(CGROUP_TASKS, "4:cpu,pids:/a\n"
	    "3:memory:/a/b\n", mounts[2]), "/a 0 of 9\n\n");
}

static void
test_two(void **state)
{
	(void)state;
	put("/a", "memory.max", "1000\n");
	put("/a", "memory.high", "max\n");
	put("/a", "memory.current", "900\n");
	put("/a/b", "memory.max", "max\n");
	put("/a/b", "memory.high", "max\n");
	put("/a/b", "memory.current", "700\n");
	assert_string_equal(levels(TWO, mounts[1]),
	    "/a/b\n/a 100 of 1000\n\n");
	put("/a/b", "memory.max", "800\n");
	put("/a/b", "memory.high", "750\n");
	assert_string_equal(levels(TWO, mounts[1]),
	    "/a/b 50 of 750\n/a 100 of 1000\n\n");
	put("/a", "memory.stat", "anon 9\ninactive_file 30\nfile 50\n");
	put("/a/b", "memory.high", "600\n");
	assert_string_equal(levels(TWO, mounts[1]),
	    "/a/b 0 of 600\n/a 130 of 1000\n\n");
}

static void
test_one(void **state)
{
	(void)state;
	put("/a/b", "memory.limit_in_bytes", "9223372036854771712\n");
	put("/a/b", "memory.usage_in_bytes", "700\n");
	put("/a", "memory.limit_in_bytes", "1000\n");
	put("/a", "memory.usage_in_bytes", "900\n");
	put("/a", "memory.stat", "inactive_file 5\ntotal_inactive_file 20\n"
	    "hierarchical_memory_limit 9223372036854771712\n");
	assert_string_equal(levels(ONE, mounts[0]),
	    "/a/b\n/a 120 of 1000\n\n");
	put("/a/b", "memory.memsw.limit_in_bytes", "800\n");
	put("/a/b", "memory.memsw.usage_in_bytes", "790\n");
	assert_string_equal(levels(ONE, mounts[0]),
	    "/a/b 10 of 800\n/a 120 of 1000\n\n");
}

/*
 * Cgroups above the mount point are hidden, as in a container.
 */
static void
test_hidden(void **state)
{
	char text[256];

	(void)state;
	put("/a", "memory.stat", "hierarchical_memory_limit 500\n");
	put("/a", "memory.usage_in_bytes", "100\n");
	snprintf(text, sizeof text, "1 0 0:3 /pod %s rw - cgroup none "
	    "rw,memory\n", root);
	assert_string_equal(levels("4:memory:/pod/a\n", text),
	    "/a 400 of 500\n\n");
	assert_string_equal(levels("4:memory:/podium/a\n", text), "");
	assert_string_equal(levels("4:memory:/other\n", text), "");
	assert_string_equal(levels("4:memory:/../a\n", mounts[0]), "");
	assert_string_equal(levels("4:memory:/gone\n", mounts[0]),
	    "/gone\n\n");
	assert_string_equal(levels("4:memory:/\n", mounts[0]), "\n");
	assert_string_equal(levels(TWO, mounts[0]), "");
	assert_string_equal(levels("", mounts[0]), "");
	assert_string_equal(levels("nonsense\n::\n:", mounts[0]), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hidden, setup, teardown)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
