/*
 * Parsers of /proc files: lib/state. Each parser gets valid text, and the same
 * text cut at each byte and damaged, in memory that ends with the text.
 */
#include "util.h"
#include "digits.h"
#include "state/state.h"

#include <sys/sysmacros.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s)		(s), sizeof(s) - 1

static const char stat_text[] =
    "7 (a) b\n(c) S 3 -4 5 0 -1 4194304 1 2 3 4 123 456 -7 8 20 -20 2 0 99 "
    "4096 12 18446744073709551615 26 27 28 29 30 31 32 0 0 0 0 0 17 3 0 0 0 "
    "0 -44 45 46 47 48 49 50 51 -52\n";

static const char status_text[] =
    "Name:\ta b\nUmask:\t0022\nState:\tS (sleeping)\nTracerPid:\t0\n"
    "Uid:\t8\t9\t10\t11\nGroups:\t4 24 27 \nGroup:\t1\nNSpid:\t70\t9\t8\n"
    "VmRSS:\t   12 kB\nSigBlk:\tfffffffe7ffbfeff\nSeccomp:\t0\n"
    "Speculation_Store_Bypass:\tthread force mitigated\n";

static const char fdinfo_text[] =
    "pos:\t-5\nflags:\t02100002\nmnt_id:\t15\nino:\t3\n"
    "lock:\t1: FLOCK  ADVISORY  WRITE 5 00:01:2 0 EOF\n";

#define ID	"0123456789abcdef0123456789abcdef" \
		"0123456789abcdef0123456789abcdef"
#define OTHER	"fedcba9876543210fedcba9876543210" \
		"fedcba9876543210fedcba9876543210"
#define UID	"7f3c9e1a-0d1b-4b6e-9a51-2f1c6f0d8e11"
#define UID_	"7f3c9e1a_0d1b_4b6e_9a51_2f1c6f0d8e11"

static const char cgroup_text[] =
    "12:memory:/kubepods/besteffort/pod" UID "/" ID " (deleted)\n"
    "2:cpu,cpuacct:/a\n1:name=systemd:/system.slice/kubelet.service\n0::/\n";

static const char mountinfo_text[] =
    "36 25 0:31 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 "
    "cgroup2 rw,nsdelegate\n"
    "37 25 0:32 /docker/x /cg rw shared:9 master:1 - cgroup none "
    "rw,cpu,cpuacct\n"
    "38 25 8:1 / / rw - ext4 /dev/sda1 rw\n";

static const char limits_text[] =
    "Limit                     Soft Limit           Hard Limit           "
    "Units     \n"
    "Max cpu time              unlimited            unlimited            "
    "seconds   \n"
    "Max stack size            8388608              unlimited            "
    "bytes     \n";

static const char smaps_text[] =
    "1000-3000 rw-s 00000010 08:01 99                   /a b (deleted)\n"
    "Size:                  8 kB\nRss:                   4 kB\n"
    "Shared_Hugetlb:     2048 kB\nSwapPss:   1 kB\n"
    "VmFlags: rd mw gd pf dd \n"
    "fffffffff000-fffffffffffff000 ---p 00000000 00:00 0 \n";

static void
test_scan(void **state)
{
	struct scan t = scan_begin(TEXT("ab\n\n 18446744073709551615 "
	    "18446744073709551616 -12 ff\tfg 99x\nlast")), line;
	char word[3];
	uint64_t v;

	(void)state;
	assert_true(scan_line(&t, &line));
	assert_int_equal(line.end - line.s, 2);
	assert_true(scan_line(&t, &line));
	assert_true(line.s == line.end);
	assert_true(scan_line(&t, &line));
	assert_true(scan_number(&line, 10, &v) && v == UINT64_MAX);
	assert_true(scan_number(&line, 10, &v) && v == UINT64_MAX);
	assert_true(scan_number(&line, 10, &v) && v == (uint64_t)-12);
	assert_false(scan_number(&line, 10, &v));
	assert_true(scan_number(&line, 16, &v) && v == 255);
	assert_true(scan_number(&line, 16, &v) && v == 15);
	assert_true(scan_byte(&line, 'g') && !scan_byte(&line, 'g'));
	assert_true(scan_number(&line, 8, &v) == false);
	assert_int_equal(scan_word(&line, word, sizeof word), 3);
	assert_string_equal(word, "99");
	assert_int_equal(scan_word(&line, word, sizeof word), 0);
	assert_false(scan_number(&line, 10, &v));
	assert_true(scan_line(&t, &line));
	assert_int_equal(line.end - line.s, 4);
	assert_false(scan_line(&t, &line));
	t = scan_begin(NULL, 0);
	assert_false(scan_line(&t, &line) || scan_byte(&t, '\0'));
}

static void
test_stat(void **state)
{
	struct procstat st;
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(stat_parse(&st, TEXT(stat_text)), STAT_EXITCODE);
	assert_string_equal(st.comm, "a) b\n(c");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.v[STAT_PID], 7);
	assert_int_equal(st.v[STAT_PPID], 3);
	assert_true(st.v[STAT_PGRP] == (uint64_t)-4);
	assert_int_equal(st.v[STAT_FLAGS], 4194304);
	assert_int_equal(st.v[STAT_CMINFLT], 2);
	assert_int_equal(st.v[STAT_UTIME], 123);
	assert_true(st.v[STAT_NICE] == (uint64_t)-20);
	assert_true(st.v[STAT_RSSLIM] == UINT64_MAX);
	assert_int_equal(st.v[STAT_EXITSIGNAL], 17);
	assert_int_equal(st.v[STAT_STARTSTACK], 28);
	assert_int_equal(st.v[STAT_BRK], 47);
	assert_true(st.v[STAT_EXITCODE] == (uint64_t)-52);
	stat_print(&b, &st);
	assert_int_equal(b.len, sizeof stat_text - 1);
	assert_memory_equal(b.data, stat_text, b.len);
	buf_free(&b);
}

/*
 * The fields that are read from a malformed stat.
 */
static void
test_oddstat(void **state)
{
	static const struct {
		const char	*text;
		int		 last;
		char		 letter;
	} cases[] = {
		{ "", 0, 0 }, { "7", 0, 0 }, { "7 (a", 0, 0 },
		{ "7 )a(", 0, 0 }, { "7 a) S", 0, 0 }, { "()", 2, 0 },
		{ "7 (a)", 2, 0 }, { "7 (a) ", 2, 0 }, { "7 (a)S 1", 2, 0 },
		{ "7 (a) S", 3, 'S' }, { "7 (a) S ", 3, 'S' },
		{ "7 (a) S 1", 4, 'S' }, { "7 (a) S 1 x 3", 4, 'S' },
		{ "7 (a) S 1 2 3) Z 4", 4, 'Z' }, { "x (a) R 1 2", 5, 'R' }
	};
	char big[200];
	struct procstat st;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(stat_parse(&st, cases[i].text,
		    strlen(cases[i].text)), cases[i].last);
		assert_int_equal(st.state, cases[i].letter);
	}
	memset(big, 'c', sizeof big);
	memcpy(big, "1 (", 3);
	memcpy(big + 190, ") S 9", 5);
	assert_int_equal(stat_parse(&st, big, 195), 4);
	assert_int_equal(strlen(st.comm), sizeof st.comm - 1);
	assert_int_equal(stat_parse(&st, TEXT("1 (a\0b) S 9\0 8")), 4);
	assert_int_equal(stat_parse(&st, TEXT("1 (a) S "
	    "99999999999999999999999999 2")), 5);
	assert_true(st.v[STAT_PPID] == UINT64_MAX);
}

static void
test_status(void **state)
{
	uint64_t v[4] = { 0 };

	(void)state;
	assert_int_equal(status_list(TEXT(status_text), "Uid", 10, v, 4), 4);
	assert_int_equal(v[0], 8);
	assert_int_equal(v[3], 11);
	assert_int_equal(status_list(TEXT(status_text), "Groups", 10, v, 2),
	    3);
	assert_int_equal(v[1], 24);
	assert_int_equal(status_list(TEXT(status_text), "Gid", 10, v, 4), 0);
	assert_int_equal(status_list(TEXT(status_text), "Ui", 10, v, 4), 0);
	assert_int_equal(status_first(TEXT(status_text), "VmRSS", 10), 12);
	assert_true(status_first(TEXT(status_text), "SigBlk", 16) ==
	    0xfffffffe7ffbfeff);
	assert_int_equal(status_first(TEXT(status_text), "State", 10), 0);
	assert_int_equal(status_state(TEXT(status_text)), 'S');
	assert_int_equal(status_state(TEXT("Name:\tState:\tR\n")), 0);
	assert_int_equal(status_state(TEXT("State:\t")), 0);
	assert_int_equal(status_state(TEXT("State:\tt")), 't');
	assert_int_equal(status_inner(TEXT(status_text), "NSpid", v), 3);
	assert_int_equal(v[0], 8);
	assert_int_equal(status_inner(TEXT(status_text), "NSsid", v), 0);
	assert_int_equal(v[0], 8);
	assert_true(status_begins(TEXT(status_text), "State", "S"));
	assert_true(status_begins(TEXT(status_text),
	    "Speculation_Store_Bypass", "thread force mitigated"));
	assert_false(status_begins(TEXT(status_text),
	    "Speculation_Store_Bypass", "thread mitigated"));
	assert_false(status_begins(TEXT(status_text), "State", "S (sleep"));
	assert_false(status_begins(TEXT(status_text), "Shadow", ""));
}

static void
test_oddstatus(void **state)
{
	static const char *const odd[] = {
		"", "\n", "Uid", "Uid\n", "Uid:", "Uid:\n", "Uid:\t\n",
		"Uid:x\n", "Uid\t8\n", "xUid:\t8\n", "x\nUi\nd:\t8"
	};
	uint64_t v = 5;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		assert_int_equal(status_list(odd[i], strlen(odd[i]), "Uid", 10,
		    &v, 1), 0);
		assert_int_equal(status_inner(odd[i], strlen(odd[i]), "Uid",
		    &v), 0);
		assert_int_equal(v, 5);
	}
	assert_int_equal(status_list(TEXT("a\0\nUid:\t8"), "Uid", 10, &v, 1),
	    1);
	assert_int_equal(v, 8);
	assert_int_equal(status_inner(TEXT("NSpid: 1 2\0 3\n"), "NSpid", &v),
	    2);
}

static void
test_fdinfo(void **state)
{
	struct fdinfo f;

	(void)state;
	fdinfo_parse(&f, TEXT(fdinfo_text));
	assert_true(f.has_flags && f.lock);
	assert_int_equal(f.pos, -5);
	assert_int_equal(f.flags, 02100002);
	assert_int_equal(f.mount, 15);
	fdinfo_parse(&f, TEXT("xpos: 3\nflags:\t9\nmnt_id\n lock:\n"));
	assert_true(!f.has_flags && !f.lock && f.pos == 0 && f.mount == 0);
	fdinfo_parse(&f, NULL, 0);
	assert_false(f.has_flags);
}

static void
test_filelocks(void **state)
{
	static const char text[] = "pos:\t0\n"
	    "lock:\t1: POSIX  ADVISORY  WRITE 5 00:01:2 10 19\n"
	    "lock:\t2: OFDLCK ADVISORY  READ -1 00:01:2 30 EOF\nmnt_id:\t9\n"
	    "lock:\t3: LEASE  BREAKING  UNLCK 5 00:01:2 0 EOF\n"
	    "lock:\t4: DELEG  ACTIVE    READ 5 00:01:2 0 EOF\n"
	    "lock:\t5: FLOCK  ADVISORY  READ 5 00:01:2 9 3\n"
	    "lock:\t6: FLOCK  MANDATORY READ 5 00:01:2 0 EOF\n"
	    "lock:\t7: FLOCK\nlock:";
	struct scan t = scan_begin(TEXT(text));
	struct filelock l;
	size_t i;

	(void)state;
	assert_true(filelock_next(&t, &l));
	assert_true(l.kind == LOCK_POSIX && l.type == LOCKED_WRITE &&
	    !l.breaking && l.start == 10 && l.len == 10);
	assert_true(filelock_next(&t, &l));
	assert_true(l.kind == LOCK_OFD && l.type == LOCKED_READ &&
	    l.start == 30 && l.len == 0);
	assert_true(filelock_next(&t, &l));
	assert_true(l.kind == LOCK_LEASE && l.type == LOCKED_NOT &&
	    l.breaking);
	for (i = 0; i < 5; i++)
		assert_true(filelock_next(&t, &l) && l.kind == LOCK_OTHER);
	assert_false(filelock_next(&t, &l));
}

static void
test_limits(void **state)
{
	static const char *const odd[] = {
		"Max stack size", "Max stack size           ",
		"Max stack size            x 1", "Max stack size            1",
		"Max stack size            -1 1",
		"Max stack size            1 18446744073709551616",
		"Max stack size            1 111111111111111111111111111111",
		"Max stack size            1 2x", ""
	};
	struct scan t = scan_begin(TEXT(limits_text));
	struct limit l;
	size_t i;

	(void)state;
	assert_true(limits_next(&t, &l) && !l.valid);
	assert_true(limits_next(&t, &l) && l.valid);
	assert_string_equal(l.name, "Max cpu time");
	assert_true(l.cur == UINT64_MAX && l.max == UINT64_MAX);
	assert_true(limits_next(&t, &l) && l.valid);
	assert_string_equal(l.name, "Max stack size");
	assert_int_equal(l.cur, 8388608);
	assert_false(limits_next(&t, &l));
	for (i = 0; i < sizeof odd / sizeof *odd; i++) {
		t = scan_begin(odd[i], strlen(odd[i]));
		assert_int_equal(limits_next(&t, &l), *odd[i] != '\0');
		assert_false(l.valid);
	}
}

static void
test_smaps(void **state)
{
	static const char *const bad[] = {
		"1000-1000 rw-p 0 0:0 0\n", "1000 rw-p\n", "1000-2000\n",
		"1000-2000 rw-p 0 0:0\n", "1000-2000 rw-p 0 0 0\n", "a\n",
		"1000 -2000 rw-p 0 0:0 0\n", "Rss: 1 kB\n9:\n"
	};
	static const char *const none[] = {
		"", "\n", "1000-2000 rw-p 0 0:0 0", "Rss: 4 kB\n\n",
		"VmFlags: mr", "X\n1000-"
	};
	struct scan t = scan_begin(TEXT(smaps_text));
	struct vmas l = { 0 };
	struct smap m;
	size_t i;

	(void)state;
	assert_int_equal(smap_next(&t, &m), 1);
	assert_true(m.vma.start == 0x1000 && m.vma.end == 0x3000 &&
	    m.vma.off == 16 && m.vma.ino == 99);
	assert_int_equal(m.vma.flags, VMA_READ | VMA_WRITE | VMA_SHARED |
	    VMA_DEVICE | VMA_GROWSDOWN | VMA_DONTDUMP);
	assert_int_equal(m.name.end - m.name.s, 14);
	assert_int_equal(m.mapping.flags, VMF_FLAGS_KNOWN | VMF_SIZES_KNOWN |
	    VMF_MAYWRITE | VMF_GROWSDOWN | VMF_DEVICE | VMF_DONTDUMP);
	assert_int_equal(m.mapping.rss, 2052);
	assert_int_equal(m.mapping.shared, 2048);
	assert_int_equal(m.mapping.swap, 0);
	assert_int_equal(smap_next(&t, &m), 1);
	assert_true(m.mapping.flags == 0 && m.name.s == m.name.end);
	assert_int_equal(smap_next(&t, &m), 0);
	assert_int_equal(vmas_parse(&l, TEXT(smaps_text)), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.v[0].name, "/a b (deleted)");
	assert_int_equal(l.v[0].flags, VMA_READ | VMA_WRITE | VMA_SHARED |
	    VMA_DEVICE | VMA_GROWSDOWN | VMA_DONTDUMP);
	vmas_free(&l);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		t = scan_begin(bad[i], strlen(bad[i]));
		assert_int_equal(smap_next(&t, &m), -1);
	}
	for (i = 0; i < sizeof none / sizeof *none; i++) {
		t = scan_begin(none[i], strlen(none[i]));
		assert_int_equal(smap_next(&t, &m), 0);
	}
	assert_int_equal(vmas_parse(&l, TEXT("1000-2000 r 0 0:0 0 a\0b\n")), 0);
	assert_string_equal(l.v[0].name, "a");
	vmas_free(&l);
}

static void
test_auxv(void **state)
{
	static const uint8_t v[] = { AT_PHDR, 0, 0, 0, 0, 1, 0, 0, AT_PHENT, 0,
	    0, 0, 32, 0, 0, 0, AT_NULL, 0, 0, 0, 0, 0, 0, 0, AT_BASE, 0, 0, 0,
	    1, 0, 0, 0 };
	const struct machine *m = machine_named("amd64");
	size_t n;

	(void)state;
	assert_int_equal(auxv_get(m, v, sizeof v, 4, AT_PHDR), 256);
	assert_int_equal(auxv_get(m, v, sizeof v, 4, AT_PHENT), 32);
	assert_int_equal(auxv_get(m, v, sizeof v, 4, AT_BASE), 0);
	assert_true(auxv_get(m, v, sizeof v, 8, (uint64_t)1 << 40 |
	    AT_PHDR) == ((uint64_t)32 << 32 | AT_PHENT));
	for (n = 0; n < 16; n++)
		assert_int_equal(auxv_get(m, v, n, 4, AT_PHENT), 0);
	assert_int_equal(auxv_get(m, NULL, 0, 8, AT_PHDR), 0);
}

/*
 * The page size of a machine, with words of either size and byte order. An
 * impossible size is not returned.
 */
static void
test_auxvpage(void **state)
{
	static const struct {
		const char *machine;
		size_t word;
		uint64_t told, want;
	} t[] = {
		{ "amd64", 8, 4096, 4096 }, { "amd64", 4, 4096, 4096 },
		{ "amd64", 8, 65536, 0 }, { "arm64", 8, 65536, 65536 },
		{ "arm64", 8, 65537, 0 }, { "arm64", 8, 0, 0 },
		{ "arm64", 4, 16384, 16384 }, { "s390x", 8, 4096, 4096 },
		{ "power64", 8, 65536, 65536 }, { "mips", 4, 16384, 16384 },
		{ "unknown", 8, 65536, 65536 },
	};
	const struct machine *m;
	uint8_t v[48];
	size_t i, n, w;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		m = machine_named(t[i].machine);
		w = t[i].word;
		number_put(m, v, AT_PAGESZ, w);
		number_put(m, v + w, t[i].told, w);
		number_put(m, v + 2 * w, AT_PHENT, w);
		number_put(m, v + 3 * w, w == 8 ? 56 : 32, w);
		number_put(m, v + 4 * w, AT_NULL, w);
		number_put(m, v + 5 * w, 0, w);
		assert_int_equal(auxv_word(m, v, 6 * w), w);
		assert_int_equal(auxv_page(m, v, 6 * w), t[i].want);
		for (n = 0; n < 2 * w; n++)
			assert_int_equal(auxv_page(m, v, n), 0);
		/* without a known word size, the machine's is used */
		for (; n < 4 * w; n++)
			assert_int_equal(auxv_page(m, v, n), w == m->word ?
			    t[i].want : 0);
	}
}

/*
 * All parsers with bytes of other files: they must not read past the text. The
 * results do not matter.
 */
/*
 * Paths of cgroups on real machines.
 */
static void
test_place(void **state)
{
	static const struct {
		const char	*path, *unit, *container, *pod;
	} t[] = {
		{ "/", "", "", "" },
		{ "", "", "", "" },
		{ "/system.slice/nginx.service", "nginx.service", "", "" },
		{ "/system.slice/system-postgresql.slice/"
		    "postgresql@16-main.service",
		    "postgresql@16-main.service", "", "" },
		{ "/system.slice/containerd.service/_cpu.service",
		    "cpu.service", "", "" },
		{ "/init.scope", "init.scope", "", "" },
		{ "/user.slice/user-1000.slice/session-3.scope",
		    "session-3.scope", "", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
		    "app-foo@1.service", "app-foo@1.service", "", "" },
		{ "/docker/" ID, "", ID, "" },
		{ "/docker/" ID "/init.scope", "init.scope", ID, "" },
		{ "/docker/" ID "/docker/" OTHER, "", OTHER, "" },
		{ "/system.slice/docker-" ID ".scope",
		    "docker-" ID ".scope", ID, "" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/"
		    "libpod-" ID ".scope/container",
		    "libpod-" ID ".scope", ID, "" },
		{ "/machine.slice/libpod-" ID ".scope",
		    "libpod-" ID ".scope", ID, "" },
		{ "/machine.slice/libpod-conmon-" ID ".scope",
		    "libpod-conmon-" ID ".scope", "", "" },
		{ "/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-"
		    ID ".scope", "libpod-" ID ".scope", ID, OTHER },
		{ "/libpod_parent/libpod-" ID, "", ID, "" },
		{ "/libpod_parent/" OTHER "/" ID, "", ID, OTHER },
		{ "/kubepods/burstable/pod" UID "/" ID, "", ID, UID },
		{ "/kubepods/pod" UID "/" ID, "", ID, UID },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		    "kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID
		    ".scope", "cri-containerd-" ID ".scope", ID, UID },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID
		    ".scope", "crio-" ID ".scope", ID, UID },
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID
		    ".scope", "crio-conmon-" ID ".scope", "", UID },
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-"
		    "besteffort.slice/kubelet-kubepods-besteffort-pod" UID_
		    ".slice/cri-containerd-" ID ".scope",
		    "cri-containerd-" ID ".scope", ID, UID },
		{ "/system.slice/containerd.service/kubepods-besteffort-pod"
		    UID_ ".slice:cri-containerd:" ID, "containerd.service",
		    ID, UID },
		{ "/kubepods/besteffort/pod" "0123456789abcdef0123456789abcdef"
		    "/" ID, "", ID, "0123456789abcdef0123456789abcdef" },
		{ "/lxc/web/system.slice/ssh.service", "ssh.service", "web",
		    "" },
		{ "/lxc.payload.web", "", "web", "" },
		{ "/lxc.monitor.web", "", "", "" },
		{ "/lxc.payload/web/init.scope", "init.scope", "web", "" },
		/* similar, but different */
		{ "/podcast/podium", "", "", "" },
		{ "/system.slice/.service", "", "", "" },
		{ "/system.slice/a" ID, "", "", "" },
		{ "/run-r0123456789abcdef0123456789abcdef.scope",
		    "run-r0123456789abcdef0123456789abcdef.scope", "", "" },
		{ "/lxc.payload.", "", "", "" },
	};
	struct place pl;
	char line[600];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		snprintf(line, sizeof line, "0::%s\n", t[i].path);
		memset(&pl, 'x', sizeof pl);
		place_cgroup(&pl, line, strlen(line));
		assert_string_equal(pl.unit, t[i].unit);
		assert_string_equal(pl.container, t[i].container);
		assert_string_equal(pl.pod, t[i].pod);
	}
	/* each is taken from the first hierarchy that shows it */
	place_cgroup(&pl, TEXT(cgroup_text));
	assert_string_equal(pl.unit, "kubelet.service");
	assert_string_equal(pl.container, ID);
	assert_string_equal(pl.pod, UID);
	place_cgroup(&pl, TEXT("1:memory:/docker/" ID "\n2:pids:/docker/"
	    OTHER "\n"));
	assert_string_equal(pl.container, OTHER);
	assert_true(place_part(&pl, scan_begin(TEXT("kubepods-pod" UID_
	    ".slice")), scan_begin(NULL, 0)));
	assert_false(place_part(&pl, scan_begin(TEXT("user-1000.slice")),
	    scan_begin(TEXT("user.slice"))));
}

/*
 * The order in which hierarchies are asked for units and containers.
 */
static void
test_cgrouprank(void **state)
{
	struct scan t = scan_begin(TEXT("0::/\n1:name=systemd:/\n2:pids:/\n"
	    "3:cpu,memory:/\n4:name=systemdx,pid,memories:/\n"));
	struct cgroupline l;
	unsigned int i;

	(void)state;
	for (i = 0; cgroup_next(&t, &l); i++)
		assert_int_equal(cgroup_rank(&l), i);
	assert_int_equal(i, CGROUP_RANKS);
}

/*
 * Check that the next mount that shows the cgroup path has its directory at
 * dir. NULL: none does.
 */
static void
locates(struct scan *t, const char *controller, const char *path,
    const char *dir)
{
	char *got;
	size_t top;

	assert_int_equal(cgroup_locate(t, controller, scan_begin(path,
	    strlen(path)), &got, &top), dir != NULL);
	if (dir == NULL)
		return;
	assert_string_equal(got, dir);
	free(got);
}

static void
test_cgrouplocate(void **state)
{
	struct scan t = scan_begin(TEXT(mountinfo_text));

	(void)state;
	locates(&t, "", "/a/b", "/sys/fs/cgroup/unified/a/b");
	locates(&t, "", "/a/b", NULL);
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, NULL, "/docker/x/y",
	    "/sys/fs/cgroup/unified/docker/x/y");
	locates(&t, NULL, "/docker/x/y", "/cg/y");
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, "", "/../a", NULL);
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, "cpuacct", "/docker/x/y", "/cg/y");
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, "cpua", "/docker/x/y", NULL);
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, "memory", "/docker/x/y", NULL);
	t = scan_begin(TEXT(mountinfo_text));
	locates(&t, "cpuacct", "/docker/xy", NULL);
}

/*
 * Octal escapes have three digits and are below 0400. Others are kept.
 */
static void
test_unescape(void **state)
{
	char s[] = "a\\040b\\134040\\/17\\400\\0188\\0/0\\080\\377\\12";

	(void)state;
	assert_string_equal(text_unescape(s),
	    "a b\\040\\/17\\400\\0188\\0/0\\080\377\\12");
}

static void
test_device(void **state)
{
	static const char *const bad[] = {
		"", ":", "8", "8:", ":8", "8:1 ", "8:1:1", "g:1",
		"100000000:1", "1:100000000", "100000000:100000000"
	};
	uint64_t dev;
	size_t i;

	(void)state;
	assert_true(digits_device("ffffffff:ffffffff", 17, &dev));
	assert_true(dev == UINT64_MAX);
	assert_true(digits_device("8:1f", 3, &dev));
	assert_int_equal(dev, makedev(8, 1));
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(digits_device(bad[i], strlen(bad[i]), &dev));
}

static void
test_mountinfo(void **state)
{
	struct scan t = scan_begin(TEXT(mountinfo_text));
	struct mountinfo m;

	(void)state;
	while (mountinfo_next(&t, &m) && !scan_is(&m.type, "cgroup2"))
		continue;
	assert_true(scan_is(&m.point, "/sys/fs/cgroup/unified"));
	assert_true(scan_is(&m.root, "/"));
	assert_true(mountinfo_find(TEXT(mountinfo_text), m.id, &m));
	assert_true(scan_is(&m.type, "cgroup2"));
	assert_false(mountinfo_find(TEXT(mountinfo_text), 12345678, &m));
}

static void
parse_all(const char *text, size_t len)
{
	struct procstat st;
	struct fdinfo f;
	struct limit l;
	struct smap m;
	struct scan t;
	struct place pl;
	struct mountinfo cm;
	uint64_t v[2];
	char *copy;
	int last;

	assert_non_null(copy = malloc(len + 1));
	memcpy(copy + 1, text, len);
	text = copy + 1;
	last = stat_parse(&st, text, len);
	assert_between(last, 0, STAT_EXITCODE);
	assert_non_null(memchr(st.comm, '\0', sizeof st.comm));
	(void)status_list(text, len, "Uid", 10, v, 2);
	(void)status_inner(text, len, "NSpid", v);
	(void)status_first(text, len, "SigBlk", 16);
	(void)status_state(text, len);
	(void)status_begins(text, len, "State", "S (sleeping)");
	fdinfo_parse(&f, text, len);
	for (t = scan_begin(text, len); limits_next(&t, &l);)
		assert_non_null(memchr(l.name, '\0', sizeof l.name));
	for (t = scan_begin(text, len); smap_next(&t, &m) == 1;)
		assert_true(m.name.s >= text && m.name.end <= text + len);
	(void)auxv_get(machine_named("amd64"), text, len, 8, AT_PHDR);
	place_cgroup(&pl, text, len);
	for (t = scan_begin(text, len); mountinfo_next(&t, &cm);)
		assert_true(cm.root.s >= text && cm.opts.end <= text + len);
	free(copy);
}

static void
test_hostile(void **state)
{
	static const struct {
		const char	*text;
		size_t		 len;
	} texts[] = {
		{ TEXT(stat_text) }, { TEXT(status_text) },
		{ TEXT(fdinfo_text) }, { TEXT(limits_text) },
		{ TEXT(smaps_text) }, { TEXT(cgroup_text) },
		{ TEXT(mountinfo_text) }
	};
	char copy[1024];
	struct rng rng;
	size_t i, k, n;

	(void)state;
	rng_init(&rng, "hostile", 1);
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_true(texts[i].len < sizeof copy);
		for (n = 0; n <= texts[i].len; n++)
			parse_all(texts[i].text, n);
		for (n = 0; n < 2000; n++) {
			memcpy(copy, texts[i].text, texts[i].len);
			for (k = rng_below(&rng, 8); k < 8; k++)
				copy[rng_below(&rng, texts[i].len)] =
				    "\0\n ():-9\t\xff"[rng_below(&rng, 10)];
			parse_all(copy, rng_below(&rng, texts[i].len + 1));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_oddstat),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_oddstatus),
		cmocka_unit_test(test_fdinfo),
		cmocka_unit_test(test_filelocks),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_smaps),
		cmocka_unit_test(test_auxv),
		cmocka_unit_test(test_auxvpage),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_cgrouprank),
		cmocka_unit_test(test_cgrouplocate),
		cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_mountinfo),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
