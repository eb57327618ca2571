/*
 * Facts of a process and their changes: record/facts.c, record/factstate.c,
 * record/factlist.c
 */
#include "record/record.h"
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static char got[3000];

/*
 * Make a process with these files of its record: name, text, ..., NULL.
 */
static struct proc *
process(struct snap *s, uint64_t pid, ...)
{
	struct buf rec = { 0 };
	const char *name;
	struct proc *p;
	va_list ap;

	va_start(ap, pid);
	while ((name = va_arg(ap, const char *)) != NULL)
		testrec_text(&rec, name, va_arg(ap, const char *));
	va_end(ap);
	assert_non_null(p = snap_add(s, pid));
	testrec_give(&rec, p);
	return p;
}

static void
say(const char *fmt, ...)
{
	size_t n = strlen(got);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(got + n, sizeof got - n, fmt, ap);
	va_end(ap);
}

/*
 * Return the facts of p, one per line: subject, key, value, and more.
 */
static const char *
facts(struct snap *s, struct proc *p)
{
	struct factlist l = { 0 };
	size_t i;

	*got = '\0';
	if (proc_facts(&l, s, p) == -1)
		fail_msg("%s", snap_errstr());
	for (i = 0; i < l.n; i++)
		say("%s|%s|%s|%s\n", subject_word(l.v[i].subject), l.v[i].key,
		    l.v[i].value, l.v[i].more == NULL ? "" : l.v[i].more);
	factlist_free(&l);
	return got;
}

/*
 * Return the changes between process p of a and process q of b.
 */
static const char *
changes(struct snap *a, struct proc *p, struct snap *b, struct proc *q)
{
	static const char how[] = { [CHANGE_ADDED] = '+',
	    [CHANGE_REMOVED] = '-', [CHANGE_CHANGED] = '!' };
	struct factlist old = { 0 }, new = { 0 };
	struct changes l = { 0 };
	size_t i;

	*got = '\0';
	assert_int_equal(proc_facts(&old, a, p), 0);
	assert_int_equal(proc_facts(&new, b, q), 0);
	assert_int_equal(factlist_diff(&l, &old, &new), 0);
	for (i = 0; i < l.n; i++)
		say("%c%s|%s|%s|%s\n", how[l.v[i].how],
		    subject_word(l.v[i].subject), l.v[i].key,
		    l.v[i].was == NULL ? "" : l.v[i].was,
		    l.v[i].is == NULL ? "" : l.v[i].is);
	free(l.v);
	factlist_free(&old);
	factlist_free(&new);
	return got;
}

static void
test_state(void **state)
{
	struct snap *s = snap_new();
	struct proc *p;

	(void)state;
	p = process(s, 7, "comm", "prog\n", "stat", "7 (prog) S 3 4 5",
	    "exe", "/bin/prog", "cwd", "/", "cgroup", "0::/a\n",
	    "ns/net", "net:[1]", "ns/pid_for_children", "pid:[2]",
	    "environ", "A=1", "limits",
	    "Limit                     Soft Limit           Hard Limit        "
	    "   Units     \n"
	    "Max cpu time              unlimited            unlimited         "
	    "   seconds   \n"
	    "Max open files            1024                 4096              "
	    "   files     \n",
	    "status", "Name:\tprog\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
	    "Groups:\t9 10 \nCapEff:\t000000000000003f\n"
	    "SigIgn:\t0000000000001000\n",
	    "sigaction", "1 0 0 0 0\n2 1 0 0 0\n11 5000 4 0 3\n65 1 0 0 0\n",
	    NULL);
	process(s, 9, "thread", "7\n", "comm", "worker\n", "stat",
	    "9 (worker) S 3 4 5", NULL);
	assert_string_equal(facts(s, p),
	    "name||prog|\n"
	    "parent||3|\n"
	    "executable||/bin/prog|\n"
	    "directory||/|\n"
	    "cgroup||0::/a|\n"
	    "namespace|net|net:[1]|\n"
	    "thread|9|worker|\n"
	    "environment|A|1|\n"
	    "limit|Max cpu time|unlimited of unlimited|\n"
	    "limit|Max open files|1024 of 4096|\n"
	    "credential|Uid|1 2 3 4|\n"
	    "credential|Gid|5 6 7 8|\n"
	    "credential|Groups|9 10|\n"
	    "credential|CapEff|000000000000003f|\n"
	    "signal|1 SIGHUP|default|\n"
	    "signal|2 SIGINT|ignored|\n"
	    "signal|11 SIGSEGV|handler 5000 flags 4 mask 3|\n"
	    "signals|SigIgn|0000000000001000|\n");
	snap_free(s);
}

static void
test_descriptors(void **state)
{
	struct snap *s = snap_new();
	struct linuxrec r;
	struct proc *p, *none;
	uint64_t id;

	(void)state;
	p = process(s, 7, "files", "5 60\n0 50\n3 70\n", "fd/0", "/dev/null",
	    "fdinfo/0", "pos:\t-5\nflags:\t0100002\n", "fd/3", "socket:[77]",
	    "fd/4", "socket:[78]", "fd/5", "socket:[79]", "fd/10", "pipe:[1]",
	    "fd/x", "no", "fdinfo/3", "pos:\t5\n", "file/70",
	    "type tcp\nlocal 127.0.0.1:80\nremote 10.0.0.1:5000\nino 77\n",
	    "file/60", "ino 79\n", "status", "Gid:\t5\t6\t7\t8\n", NULL);
	none = process(s, 8, "comm", "x\n", NULL);
	assert_string_equal(facts(s, p),
	    "name|||\n"
	    "descriptor|0|/dev/null|\n"
	    "descriptor|3|socket:[77]|tcp local 127.0.0.1:80 remote "
	    "10.0.0.1:5000\n"
	    "descriptor|4|socket:[78]|\n"
	    "descriptor|5|socket:[79]|\n"
	    "descriptor|10|pipe:[1]|\n"
	    "position|0|-5|\n"
	    "flags|0|0100002|\n"
	    "credential|Gid|5 6 7 8|\n");
	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	assert_true(linuxrec_opened(&r, 3, &id));
	assert_int_equal(id, 70);
	assert_false(linuxrec_opened(&r, 4, &id));
	linuxrec_close(&r);
	assert_int_equal(linuxrec_open(&r, proc_file(none, "proc")), 0);
	assert_false(linuxrec_opened(&r, 3, &id));
	linuxrec_close(&r);
	snap_free(s);
}

static void
test_changes(void **state)
{
	struct snap *a = snap_new(), *b = snap_new();
	struct proc *p, *q;

	(void)state;
	p = process(a, 7, "comm", "old\n", "exe", "/same", "cwd", "/old",
	    "root", "/", "files", "", "fd/0", "/dev/null", "fdinfo/0",
	    "pos:\t1\nflags:\t01\n", "fd/1", "/a", "fdinfo/1",
	    "pos:\t1\nflags:\t01\n", "fd/2", "/gone", "fdinfo/2",
	    "pos:\t1\nflags:\t01\n", "environ", "A=1", "sigaction",
	    "1 0 0 0 0\n", "status", "SigIgn:\t01\n", NULL);
	q = process(b, 8, "comm", "new\n", "exe", "/same", "cwd", "/new",
	    "files", "", "fd/0", "/dev/null", "fdinfo/0",
	    "pos:\t2\nflags:\t02\n", "fd/1", "/b", "fdinfo/1",
	    "pos:\t2\nflags:\t01\n", "fd/3", "/new", "fdinfo/3",
	    "pos:\t1\nflags:\t01\n", "environ", "B=1", "sigaction",
	    "1 1 0 0 0\n", "status", "SigIgn:\t02\n", NULL);
	assert_string_equal(changes(a, p, b, q),
	    "!name||old|new\n"
	    "!directory||/old|/new\n"
	    "!descriptor|1|/a|/b\n"
	    "-descriptor|2|/gone|\n"
	    "+descriptor|3||/new\n"
	    "!position|0|1|2\n"
	    "!flags|0|01|02\n"
	    "-environment|A|1|\n"
	    "+environment|B||1\n"
	    "!signal|1 SIGHUP|default|ignored\n");
	assert_string_equal(changes(a, p, a, p), "");
	snap_free(a);
	snap_free(b);
}

/*
 * The record of a thread is damaged.
 */
static void
test_damaged(void **state)
{
	static const char record[] = "linux amd64 1\ncomm\n         99 x";
	struct factlist l = { 0 };
	struct snap *s = snap_new();
	struct proc *p, *t;

	(void)state;
	p = process(s, 7, "comm", "prog\n", NULL);
	assert_non_null(t = snap_add(s, 9));
	t->leader = 7;
	assert_int_equal(proc_setfile(t, "proc", (uint8_t *)strdup(record),
	    strlen(record)), 0);
	assert_int_equal(proc_facts(&l, s, p), -1);
	assert_contains(snap_errstr(), "process 7: ");
	factlist_free(&l);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
