/*
 * A Linux process as a Plan 9 process: plan9.c, plan9/regs.c. The expected
 * bytes are those that Plan 9's programs read.
 */
#include "model.h"
#include "space.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static char empty[] = "", stack[] = "[stack]", heap[] = "[heap]",
    cat[] = "/bin/cat", fb[] = "/dev/fb0", home[] = "/usr/ann";

static void
assert_text(struct proc *p, const char *name, const char *want)
{
	struct file *f;
	char *got;

	f = proc_file(p, name);
	assert_non_null(f);
	got = strndup((char *)f->data, f->len);
	assert_string_equal(got, want);
	assert_int_equal(f->len, strlen(want));
	free(got);
}

static struct proc *
made_of(struct snap *s, const char *cputype, const struct task *t)
{
	struct proc *p;

	p = snap_add(s, s->nproc + 1);
	assert_non_null(p);
	if (plan9_files(p, cputype, t) == -1)
		fail_msg("%s", snap_errstr());
	return p;
}

static struct proc *
made(struct snap *s, const struct task *t)
{
	return made_of(s, "amd64", t);
}

static void
test_segment(void **state)
{
	struct vma v[] = {
		{ 0x200000, 0x231000, 0, 1, 2, VMA_READ | VMA_EXEC, cat },
		{ 0x231000, 0x232000, 0, 1, 2, VMA_READ, cat },
		{ 0x232000, 0x233000, 0, 1, 2, VMA_READ | VMA_WRITE, cat },
		{ 0x12345000, 0x123456000, 0, 0, 0, VMA_READ | VMA_WRITE,
		    heap },
		{ 0x7f0000000000, 0x7f0000001000, 0, 0, 0, 0, empty },
		{ 0x7f0000002000, 0x7f0000003000, 0, 1, 9, VMA_READ |
		    VMA_WRITE | VMA_SHARED, cat },
		{ 0x7f0000004000, 0x7f0000005000, 0, 1, 9, VMA_READ |
		    VMA_WRITE | VMA_SHARED | VMA_DEVICE, fb },
		{ 0x7ffffeffe000, 0x7fffffffe000, 0, 0, 0, VMA_READ |
		    VMA_WRITE | VMA_GROWSDOWN, stack },
	};
	struct task t = { .vma = { v, sizeof v / sizeof *v } };
	struct snap *s;

	(void)state;
	s = snap_new();
	assert_text(made(s, &t), "segment",
	    "Stack     7ffffeffe000 7fffffffe000    1\n"
	    "Text   R    200000   231000    1\n"
	    "Data   R    231000   232000    1\n"
	    "Data        232000   233000    1\n"
	    "Bss       12345000 123456000    1\n"
	    "Bss    R  7f0000000000 7f0000001000    1\n"
	    "Shared    7f0000002000 7f0000003000    1\n"
	    "Phys      7f0000004000 7f0000005000    1\n");
	t.vma.n = 0;
	assert_null(proc_file(made(s, &t), "segment"));
	snap_free(s);
}

static void
test_fd(void **state)
{
	static char notes[] = "/usr/ann/notes", pipe[] = "pipe:[771]",
	    sock[] = "socket:[5]", tty[] = "/dev/pts/3", odd[] = "/a b\n\033[c",
	    dir[] = "/usr";
	struct openfile f[] = {
		{ 0, O_RDWR, 0, 0, 0x5, 1024, S_IFCHR, tty },
		{ 1, O_WRONLY | O_APPEND, 0, 13, 771, 4096, S_IFIFO, pipe },
		{ 4, O_RDONLY | O_CLOEXEC, 512, 12, 0x1a2b, 8192, S_IFREG,
		    notes },
		{ 5, O_RDWR, 0, 8, 5, 4096, S_IFSOCK, sock },
		{ 17, O_RDONLY | O_DIRECTORY, 3, 12, 2, 4096, S_IFDIR, dir },
		{ 255, O_WRONLY, 123456789012, 12, UINT64_MAX, 4096, S_IFREG,
		    odd },
	};
	struct task t = { .cwd = home, .open = f,
	    .nopen = sizeof f / sizeof *f };
	struct snap *s;

	(void)state;
	s = snap_new();
	assert_text(made(s, &t), "fd",
	    "/usr/ann\n"
	    "  0 rw c    0 (0000000000000005 0 00)  1024        0 /dev/pts/3\n"
	    "  1 w  |   13 (0000000000000303 0 00)  4096        0 pipe:[771]\n"
	    "  4 r  M   12 (0000000000001a2b 0 00)  8192      512 "
	    "/usr/ann/notes\n"
	    "  5 rw I    8 (0000000000000005 0 00)  4096        0 socket:[5]\n"
	    " 17 r  M   12 (0000000000000002 0 80)  4096        3 /usr\n"
	    "255 w  M   12 (ffffffffffffffff 0 00)  4096 123456789012 "
	    "/a b??[c\n");
	t.nopen = 0;
	assert_text(made(s, &t), "fd", "/usr/ann\n");
	t.cwd = NULL;
	assert_null(proc_file(made(s, &t), "fd"));
	snap_free(s);
}

static void
test_ns(void **state)
{
	static char mounts[] =
	    "29 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	    "23 29 0:22 / /proc ro,nosuid - proc proc rw\n"
	    "110 29 0:50 / /mnt/it's\\040mine rw shared:9 master:2 - nfs "
	    "host:/a\\011b rw\n"
	    "30 29 254:1 /sub /mnt/sub rw,noatime - ext4 /dev/vda1 rw\n"
	    "4 29 0:3\n"
	    "5 29 - proc\n"
	    "\n";
	static char blank[] = "/usr/a b";
	struct task t = { .cwd = home };
	struct snap *s;

	(void)state;
	t.mounts.data = (uint8_t *)mounts;
	t.mounts.len = sizeof mounts - 1;
	s = snap_new();
	assert_text(made(s, &t), "ns",
	    "mount  proc /proc\n"
	    "mount -c /dev/vda1 /\n"
	    "mount -c /dev/vda1 /mnt/sub /sub\n"
	    "mount -c 'host:/a?b' '/mnt/it''s mine'\n"
	    "cd /usr/ann\n");
	t.cwd = blank;
	t.mounts.len = 1;
	assert_text(made(s, &t), "ns", "cd '/usr/a b'\n");
	t.mounts.len = 0;
	assert_null(proc_file(made(s, &t), "ns"));
	snap_free(s);
}

static void
test_noteid(void **state)
{
	struct task t = { .pgrp = 771 };
	struct snap *s;

	(void)state;
	s = snap_new();
	assert_text(made(s, &t), "noteid", "        771 ");
	t.pgrp = 4194304;
	assert_text(made(s, &t), "noteid", "    4194304 ");
	snap_free(s);
}

static void
test_status(void **state)
{
	struct task t = { .comm = "tickd", .user = "ann", .state = 'S',
	    .utime = 40, .stime = 10, .age = 93000, .cutime = 1, .cstime = 2,
	    .memkb = 1184 };
	struct snap *s;

	(void)state;
	s = snap_new();
	assert_text(made(s, &t), "status",
	    "tickd                       "
	    "ann                         "
	    "Wakeme      "
	    "         40          10       93000           1           2"
	    "           0        1184          10          10\n");
	t.age = UINT64_MAX;
	t.nice = 19;
	t.state = 'Z';
	assert_text(made(s, &t), "status",
	    "tickd                       "
	    "ann                         "
	    "Moribund    "
	    "         40          10 99999999999           1           2"
	    "           0        1184           1           1\n");
	snap_free(s);
}

/*
 * Names of all lengths and kinds: 176 bytes with twelve words.
 */
static void
test_words(void **state)
{
	static const struct {
		const char	*comm;
		const char	*want;
	} name[] = {
		{ "a b\tc\n", "a_b_c_" },
		{ "kworker/u8:3-events_unbound",
		    "kworker/u8:3-events_unbound" },
		{ "kworker/u8:3-events_unbound_x",
		    "kworker/u8:3-events_unbound" },
		{ "abcdefghijklmnopqrstuvwxyz\303\251",
		    "abcdefghijklmnopqrstuvwxyz" },
		{ "abcdefghijklmnopqrstuvwxy\303\251",
		    "abcdefghijklmnopqrstuvwxy\303\251" },
		{ "abcdefghijklmnopqrstuvwxy\360\237\220\200",
		    "abcdefghijklmnopqrstuvwxy" },
		{ "\200\200\200\200\200\200\200\200\200\200\200\200\200\200"
		  "\200\200\200\200\200\200\200\200\200\200\200\200\200\200",
		    NULL },
		{ "", NULL }
	};
	static const char states[] = "RSDTtZXIPWx";
	struct task t;
	struct snap *s;
	struct file *f;
	char text[200], *word, *last;
	size_t i, n, k;

	(void)state;
	s = snap_new();
	for (k = 0; k < sizeof states - 1; k++)
		for (i = 0; i < sizeof name / sizeof *name; i++) {
			memset(&t, 0, sizeof t);
			t.state = states[k];
			strlcpy(t.comm, name[i].comm, sizeof t.comm);
			strlcpy(t.user, name[i].comm, sizeof t.user);
			f = proc_file(made(s, &t), "status");
			assert_int_equal(f->len, 176);
			assert_int_equal(f->data[175], '\n');
			memcpy(text, f->data, 176);
			text[176] = '\0';
			n = 0;
			for (word = strtok_r(text, " \n", &last);
			    word != NULL; word = strtok_r(NULL, " \n", &last))
				if (n++ < 2 && name[i].want != NULL)
					assert_string_equal(word,
					    name[i].want);
			assert_int_equal(n, 12);
		}
	snap_free(s);
}


/*
 * Byte i of the registers is i, so that each byte shows its origin.
 */
static void
test_regs(void **state)
{
	static const uint8_t want[184] = {
		0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57,	/* ax */
		0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f,	/* bx */
		0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f,	/* cx */
		0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67,	/* dx */
		0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,	/* si */
		0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77,	/* di */
		0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,	/* bp */
		0x48, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f,	/* r8 */
		0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
		0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f,
		0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,
		0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,	/* r12 */
		0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
		0xb8, 0xb9, 0xc0, 0xc1, 0xc8, 0xc9, 0xd0, 0xd1,	/* ds.. */
		64, 0, 0, 0, 0, 0, 0, 0,			/* type */
		0, 0, 0, 0, 0, 0, 0, 0,				/* error */
		0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,	/* pc */
		0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,	/* cs */
		0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,	/* flags */
		0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,	/* sp */
		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7	/* ss */
	};
	uint8_t regs[216], outside[184];
	struct task t = { 0 };
	struct snap *s;
	struct file *f;
	int i;

	(void)state;
	for (i = 0; i < 216; i++)
		regs[i] = (uint8_t)i;
	t.reg[REGSET_PRSTATUS].data = regs;
	t.reg[REGSET_PRSTATUS].len = sizeof regs;
	s = snap_new();
	f = proc_file(made(s, &t), "regs");
	assert_non_null(f);
	assert_int_equal(f->len, 184);
	assert_memory_equal(f->data, want, 184);
	memset(regs + 120, 0xff, 8);	/* orig_rax -1: no system call */
	f = proc_file(made(s, &t), "regs");
	memcpy(outside, want, 184);
	outside[128] = 0;
	assert_memory_equal(f->data, outside, 184);
	t.reg[REGSET_PRSTATUS].len = 100;
	assert_null(proc_file(made(s, &t), "regs"));
	t.reg[REGSET_PRSTATUS].data = NULL;
	assert_null(proc_file(made(s, &t), "regs"));
	snap_free(s);
}

/*
 * A 32-bit process: bx cx dx si di bp ax ds es fs gs orig pc cs flags sp ss,
 * four bytes each.
 */
static void
test_regs32(void **state)
{
	static const uint8_t want[184] = {
		0x18, 0x19, 0x1a, 0x1b, 0, 0, 0, 0,		/* ax */
		0x00, 0x01, 0x02, 0x03, 0, 0, 0, 0,		/* bx */
		0x04, 0x05, 0x06, 0x07, 0, 0, 0, 0,		/* cx */
		0x08, 0x09, 0x0a, 0x0b, 0, 0, 0, 0,		/* dx */
		0x0c, 0x0d, 0x0e, 0x0f, 0, 0, 0, 0,		/* si */
		0x10, 0x11, 0x12, 0x13, 0, 0, 0, 0,		/* di */
		0x14, 0x15, 0x16, 0x17, 0, 0, 0, 0,		/* bp */
		[120] = 0x1c, 0x1d, 0x20, 0x21, 0x24, 0x25, 0x28, 0x29,
		[128] = 64,
		[144] = 0x30, 0x31, 0x32, 0x33, 0, 0, 0, 0,	/* pc */
		0x34, 0x35, 0x36, 0x37, 0, 0, 0, 0,		/* cs */
		0x38, 0x39, 0x3a, 0x3b, 0, 0, 0, 0,		/* flags */
		0x3c, 0x3d, 0x3e, 0x3f, 0, 0, 0, 0,		/* sp */
		0x40, 0x41, 0x42, 0x43, 0, 0, 0, 0		/* ss */
	};
	uint8_t regs[68];
	struct task t = { 0 };
	struct snap *s;
	struct file *f;
	int i;

	(void)state;
	for (i = 0; i < 68; i++)
		regs[i] = (uint8_t)i;
	t.reg[REGSET_PRSTATUS].data = regs;
	t.reg[REGSET_PRSTATUS].len = sizeof regs;
	s = snap_new();
	f = proc_file(made(s, &t), "regs");
	assert_non_null(f);
	assert_int_equal(f->len, 184);
	assert_memory_equal(f->data, want, 184);
	snap_free(s);
}

/*
 * FXSAVE is unchanged. With AVX there are 832 bytes, where the kernel's own
 * part (464..511) and parts of the header unknown to 9front are zero.
 */
static void
test_fpregs(void **state)
{
	uint8_t fx[512], x[2696], want[832];
	struct task t = { 0 };
	struct snap *s;
	struct file *f;
	struct rng r;

	(void)state;
	rng_init(&r, "fpregs", 95);
	rng_bytes(&r, fx, sizeof fx);
	rng_bytes(&r, x, sizeof x);
	s = snap_new();
	assert_null(proc_file(made(s, &t), "fpregs"));
	t.reg[REGSET_FPREGS].data = fx;
	t.reg[REGSET_FPREGS].len = sizeof fx;
	f = proc_file(made(s, &t), "fpregs");
	assert_int_equal(f->len, 512);
	assert_memory_equal(f->data, fx, 512);

	t.reg[REGSET_XSTATE].data = x;
	t.reg[REGSET_XSTATE].len = sizeof x;
	x[464] = 0xe7;		/* the processor has AVX */
	x[512] = 0xe6;		/* in use: SSE, AVX and newer sets */
	memset(want, 0, sizeof want);
	memcpy(want, x, 464);
	want[512] = 6;
	memcpy(want + 576, x + 576, 256);
	f = proc_file(made(s, &t), "fpregs");
	assert_int_equal(f->len, 832);
	assert_memory_equal(f->data, want, 832);

	x[512] = 3;		/* AVX is not in use */
	want[512] = 3;
	memset(want + 576, 0, 256);
	f = proc_file(made(s, &t), "fpregs");
	assert_int_equal(f->len, 832);
	assert_memory_equal(f->data, want, 832);

	x[464] = 3;		/* the processor has no AVX */
	f = proc_file(made(s, &t), "fpregs");
	assert_int_equal(f->len, 512);
	assert_memory_equal(f->data, fx, 512);

	x[464] = 7;
	t.reg[REGSET_XSTATE].len = 576;
	f = proc_file(made(s, &t), "fpregs");
	assert_int_equal(f->len, 512);
	snap_free(s);
}

/*
 * Registers of the other machines of Plan 9: for each Ureg word, its word in
 * Linux's registers, whose byte i is i. 255: none; 64: the number of a trap.
 */
static void
test_machines(void **state)
{
	static const struct {
		const char *cputype;
		size_t linux, ureg, in, out;	/* sizes; of a word */
		uint8_t want[35];
	} t[] = {
		{ "arm64", 272, 280, 8, 8, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
		    26, 27, 28, 29, 30, 31, 32, 33, 255 } },
		{ "arm64", 72, 280, 4, 8, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		    11, 12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
		    255, 255, 255, 255, 255, 255, 255, 14, 13, 15, 16, 255 } },
		{ "386", 68, 76, 4, 4, { 4, 3, 5, 255, 0, 2, 1, 6, 10, 9, 8, 7,
		    64, 255, 12, 13, 14, 15, 16 } },
		{ "arm", 72, 72, 4, 4, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
		    12, 13, 14, 255, 16, 15 } },
	};
	uint8_t regs[272], want[280];
	struct task task = { 0 };
	struct snap *s;
	struct file *f;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof regs; i++)
		regs[i] = (uint8_t)(i % 255);	/* a missing word is 0xff */
	s = snap_new();
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		task.reg[REGSET_PRSTATUS].data = regs;
		task.reg[REGSET_PRSTATUS].len = t[i].linux;
		memset(want, 0, sizeof want);
		for (k = 0; k < t[i].ureg / t[i].out; k++)
			if (t[i].want[k] == 64)
				want[k * t[i].out] = 64;
			else if (t[i].want[k] != 255)
				memcpy(want + k * t[i].out,
				    regs + t[i].want[k] * t[i].in, t[i].in);
		f = proc_file(made_of(s, t[i].cputype, &task), "regs");
		assert_non_null(f);
		assert_int_equal(f->len, t[i].ureg);
		assert_memory_equal(f->data, want, t[i].ureg);
		task.reg[REGSET_PRSTATUS].len--;
		assert_null(proc_file(made_of(s, t[i].cputype, &task),
		    "regs"));
	}
	task.reg[REGSET_PRSTATUS].len = 216;	/* size of amd64's registers */
	assert_null(proc_file(made_of(s, "s390x", &task), "regs"));
	assert_null(proc_file(made_of(s, "arm64", &task), "regs"));
	snap_free(s);
}

/*
 * On arm64, control and status are exchanged. On 386, the data is FXSAVE
 * without the part that the kernel added, or FSAVE.
 */
static void
test_fpmachines(void **state)
{
	uint8_t fp[528], x[576], want[520] = { 0 };
	struct task t = { 0 };
	struct snap *s;
	struct file *f;
	struct rng r;

	(void)state;
	rng_init(&r, "fpmachines", 96);
	rng_bytes(&r, fp, sizeof fp);
	rng_bytes(&r, x, sizeof x);
	s = snap_new();
	t.reg[REGSET_FPREGS].data = fp;
	t.reg[REGSET_FPREGS].len = 528;
	memcpy(want, fp, 512);
	memcpy(want + 512, fp + 516, 4);
	memcpy(want + 516, fp + 512, 4);
	f = proc_file(made_of(s, "arm64", &t), "fpregs");
	assert_int_equal(f->len, 520);
	assert_memory_equal(f->data, want, 520);
	assert_null(proc_file(made_of(s, "amd64", &t), "fpregs"));
	assert_null(proc_file(made_of(s, "arm", &t), "fpregs"));

	t.reg[REGSET_FPREGS].len = 108;
	assert_null(proc_file(made_of(s, "arm64", &t), "fpregs"));
	f = proc_file(made_of(s, "386", &t), "fpregs");
	assert_int_equal(f->len, 108);
	assert_memory_equal(f->data, fp, 108);
	t.reg[REGSET_XSTATE].data = x;
	t.reg[REGSET_XSTATE].len = 511;	/* too short for FXSAVE */
	f = proc_file(made_of(s, "386", &t), "fpregs");
	assert_int_equal(f->len, 108);
	t.reg[REGSET_XSTATE].len = 512;
	memset(want, 0, sizeof want);
	memcpy(want, x, 464);
	f = proc_file(made_of(s, "386", &t), "fpregs");
	assert_int_equal(f->len, 512);
	assert_memory_equal(f->data, want, 512);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segment),
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_ns),
		cmocka_unit_test(test_noteid),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_regs),
		cmocka_unit_test(test_regs32),
		cmocka_unit_test(test_fpregs),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_fpmachines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
