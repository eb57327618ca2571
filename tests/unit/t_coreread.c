/*
 * Reading ELF cores: core/read/. Some cores are made by tests/fuzz/cores.py,
 * some here.
 */
#include "core/read/read.h"
#include "elf/elf.h"
#include "model.h"
#include "num.h"
#include "space.h"
#include "util.h"
#include "record/record.h"
#include "state/state.h"

#include <sys/mman.h>

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char warned[4096];	/* a line for each warning */
static size_t nwarned;

static void
note_warning(void *arg, const char *text)
{
	size_t n;

	(void)arg;
	nwarned++;
	n = strlen(warned);
	snprintf(warned + n, sizeof warned - n, "%s\n", text);
}

static struct readopts opts = { .warn = note_warning };

/*
 * The bytes of a core made by cores.py.
 */
static void
fixture(const char *name, struct buf *b)
{
	char path[256];
	uint8_t *p;
	FILE *f;

	memset(b, 0, sizeof *b);
	snprintf(path, sizeof path, "tests/fuzz/corpus/core/%s", name);
	if ((f = fopen(path, "rb")) == NULL)
		fail_msg("%s is not there (not in the top directory?)", path);
	p = buf_room(b, 65536);
	assert_non_null(p);
	b->len = fread(p, 1, 65536, f);
	fclose(f);
}

/*
 * Read a core; return the result of snap_load().
 */
static struct snap *
try_read(const struct buf *b)
{
	struct stream st;
	struct snap *s;

	warned[0] = '\0';
	nwarned = 0;
	stream_file(&st, b->data, b->len);
	s = snap_load(st.path, &opts);
	stream_close(&st);
	return s;
}

static struct snap *
read_fixture(const char *name)
{
	struct buf b;
	struct snap *s;

	fixture(name, &b);
	if ((s = try_read(&b)) == NULL)
		fail_msg("%s", snap_errstr());
	buf_free(&b);
	return s;
}

/*
 * Return a file of a Linux record as a string, with | for NUL.
 */
static const char *
rec_string(const struct proc *p, const char *name)
{
	static char text[8192];
	struct linuxrec r;
	struct recfile f;
	size_t i;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	if (!linuxrec_find(&r, name, &f))
		strlcpy(text, "(none)", sizeof text);
	else {
		assert_true(f.len < sizeof text);
		for (i = 0; i < f.len; i++)
			text[i] = f.data[i] == '\0' ? '|' : (char)f.data[i];
		text[f.len] = '\0';
	}
	linuxrec_close(&r);
	return text;
}

static size_t
rec_len(const struct proc *p, const char *name)
{
	struct linuxrec r;
	struct recfile f;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	if (!linuxrec_find(&r, name, &f))
		f.len = SIZE_MAX;
	linuxrec_close(&r);
	return f.len;
}

static const char full_maps[] =
    "00007000-00007400 r-xp 00000000 00:00 0"
    "                                  [vdso]\n"
    "00009000-00009400 rw-p 00000000 00:00 0"
    "                                  [stack]\n"
    "00400000-00401000 r--p 00000000 00:00 0"
    "                                  /no/such/program\n"
    "00401000-00402000 r-xp 00001000 00:00 0"
    "                                  /no/such/program\n"
    "00500000-00501000 r--p 00000000 00:00 0"
    "                                  /no/such\\012library\n";

/*
 * The state that the reader stores equals the state parsed from the record.
 */
static void
test_known(void **state)
{
	struct taskstate was;
	struct snap *s;
	struct proc *p;
	size_t i;

	(void)state;
	s = read_fixture("full");
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		assert_non_null(p->state);
		was = *p->state;
		free(p->state);
		p->state = NULL;
		assert_non_null(state_get(p));
		assert_memory_equal(&was, p->state, sizeof was);
	}
	snap_free(s);
}

static void
test_leader(void **state)
{
	struct snap *s;
	struct proc *p;

	(void)state;
	s = read_fixture("full");
	assert_int_equal(strncmp(s->header, "process snapshot ", 17), 0);
	assert_contains(s->header, " 1000@unknown amd64 0 ");
	assert_int_equal(s->nproc, 2);
	p = s->proc[0];
	assert_int_equal(p->pid, 7);
	assert_int_equal(p->leader, 0);
	assert_string_equal(rec_string(p, "stat"), "7 (prog) S 1 7 7 0 -1 "
	    "4195840 0 0 0 0 102 0 0 0 20 0 2 0 0 14336 2 "
	    "18446744073709551615 0 0 36880 11501803794301884824 "
	    "9765639646188044672 0 16 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 "
	    "0 0\n");
	assert_string_equal(rec_string(p, "status"), "Name:\tprog\n"
	    "State:\tS\nTgid:\t7\nPid:\t7\nPPid:\t1\n"
	    "Uid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\n"
	    "Threads:\t2\n"
	    "SigPnd:\t0000000000000000\nSigBlk:\t0000000000000010\n");
	assert_string_equal(rec_string(p, "comm"), "prog\n");
	assert_string_equal(rec_string(p, "cmdline"), "prog|-x|arg|");
	assert_string_equal(rec_string(p, "exe"), "/no/such/program");
	assert_string_equal(rec_string(p, "maps"), full_maps);
	assert_string_equal(rec_string(p, "missing"),
	    "400400-402000 core\n500000-501000 core\n");
	assert_string_equal(rec_string(p, "sigmask"), "\20|||||||");
	assert_int_equal(rec_len(p, "siginfo"), 128);
	assert_string_equal(rec_string(p, "cursig"), "11\n");
	assert_int_equal(rec_len(p, "regset/prstatus"), 216);
	assert_int_equal(rec_len(p, "regset/fpregs"), 512);
	assert_int_equal(rec_len(p, "regset/xstate"), 832);
	assert_int_equal(rec_len(p, "auxv"), 80);
	assert_int_equal(proc_file(p, "regs")->len, 184);
	assert_int_equal(proc_file(p, "status")->len, 176);
	assert_int_equal(nwarned, 1);
	assert_contains(warned, "/no/such/program: No such file");
	assert_contains(warned, "-e\n");
	snap_free(s);
}

static void
test_thread(void **state)
{
	struct snap *s;
	struct proc *p;

	(void)state;
	s = read_fixture("full");
	p = s->proc[1];
	assert_int_equal(p->pid, 8);
	assert_int_equal(p->leader, 7);
	assert_null(p->mem);
	assert_string_equal(rec_string(p, "thread"), "7\n");
	assert_int_equal(rec_len(p, "siginfo"), SIZE_MAX);
	assert_int_equal(rec_len(p, "maps"), SIZE_MAX);
	assert_int_equal(rec_len(p, "regset/prstatus"), 216);
	assert_int_equal(rec_len(p, "regset/xstate"), SIZE_MAX);
	assert_int_equal(rec_len(p, "regset/200"), 16);
	snap_free(s);
}

/*
 * A core made from a snapshot describes the same process. A core has the state
 * of the first thread only.
 */
static void
test_back(void **state)
{
	static const char maps[] =
	    "00010000-00018000 rw-p 00000000 00:00 0 \n";
	static const uint64_t times[] = { 123456, 456, 78900, 50 };
	struct buf rec = { 0 }, core = { 0 };
	const struct taskstate *st;
	uint8_t regs[216] = { 1 };
	struct snap *s, *back;
	struct memsource *m;
	struct proc *p;
	struct core *c;
	size_t i;

	(void)state;
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 1 \"x\"");
	m = memsource_new(s, 12, KB);
	memset(memsource_kb(m, 0), 'm', 12 * KB);
	for (i = 0; i < 2; i++) {
		assert_non_null(p = snap_add(s, 7 + i));
		if (i > 0)
			testrec_text(&rec, "thread", "7\n");
		else
			testrec_text(&rec, "maps", maps);
		testrec_text(&rec, "stat", "7 (prog) T 3 4 5 0 -1 4194304 1 "
		    "2 3 4 123456 456 78900 50 20 -5 2 0");
		testrec_file(&rec, "regset/prstatus", regs, sizeof regs);
		testrec_give(&rec, p);
	}
	p = s->proc[0];
	segment_add(p, IMAGE_MEM, 0x10000, 0x2000, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x15000, 0x1000, &m->src, 8 * KB);
	assert_non_null(c = core_new(s, p));
	assert_non_null(buf_room(&core, core_size(c)));
	core.len = core_size(c);
	assert_int_equal(core_pread(c, core.data, core.len, 0), core.len);
	core_free(c);
	if ((back = try_read(&core)) == NULL)
		fail_msg("%s", snap_errstr());
	buf_free(&core);
	assert_int_equal(back->nproc, 2);
	assert_string_equal(rec_string(back->proc[0], "maps"), maps);
	for (i = 0; i < 2; i++) {
		assert_non_null(st = state_get(back->proc[i]));
		assert_int_equal(st->stat.state, i == 0 ? 'T' : 'S');
		assert_memory_equal(&st->stat.v[STAT_UTIME], times,
		    sizeof times);
		assert_true(st->stat.v[STAT_NICE] == (uint64_t)-5);
		assert_int_equal(rec_len(back->proc[i], "regset/prstatus"),
		    216);
	}
	snap_free(back);
	snap_free(s);
}

static void
test_machines(void **state)
{
	static const struct {
		const char	*name;
		size_t		 regs;
		size_t		 ureg;	/* size of Plan 9's Ureg */
	} m[] = {
		{ "amd64", 216, 184 }, { "386", 68, 76 },
		{ "arm64", 272, 280 }, { "arm", 72, 72 },
	};
	struct snap *s;
	struct proc *p;
	char word[32], bytes[KB];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof m / sizeof *m; i++) {
		s = read_fixture(m[i].name);
		p = s->proc[0];
		assert_int_equal(p->pid, 7);
		assert_string_equal(linuxrec_cputype(proc_file(p, "proc"),
		    word, sizeof word), m[i].name);
		assert_contains(s->header, m[i].name);
		assert_int_equal(rec_len(p, "regset/prstatus"), m[i].regs);
		assert_non_null(proc_file(p, "regs"));
		assert_int_equal(proc_file(p, "regs")->len, m[i].ureg);
		assert_contains(rec_string(p, "status"), "Uid:\t1000\t");
		assert_contains(rec_string(p, "stat"),
		    "7 (prog) S 1 7 7 0 -1 4195840 0 0 0 0 102 0 ");
		assert_string_equal(rec_string(p, "cmdline"), "prog|-x|arg|");
		/* no NT_SIGINFO, but a signal */
		assert_int_equal(rec_string(p, "siginfo")[0], 11);
		assert_int_equal(image_read(p->mem, 0x10000, bytes, KB), 0);
		assert_memory_equal(bytes, "abcdabcd", 8);
		snap_free(s);
	}
}

static void
assert_refused(const struct buf *b, const char *why)
{
	if (try_read(b) != NULL)
		fail_msg("taken, not refused with \"%s\"", why);
	assert_memory_equal(snap_errstr(), "/proc/self/fd/", 14);
	assert_contains(snap_errstr(), why);
}

static void
test_refused(void **state)
{
	static const struct {
		const char	*name;
		size_t		 at;
		uint8_t		 byte;
		const char	*why;
	} bad[] = {
		{ "amd64", 16, ET_EXEC, "but not a core: an executable" },
		{ "amd64", 16, ET_DYN, "but not a core: an executable or" },
		{ "amd64", 16, ET_REL, "but not a core: a relocatable file" },
		{ "amd64", 16, 77, "but not a core" },
		{ "amd64", 18, EM_PPC64, "a core from 64-bit PowerPC" },
		{ "amd64", 18, EM_RISCV, "cannot read a core from RISC-V" },
		{ "amd64", 18, 199, "cannot read a core from machine 199" },
		{ "amd64", 18, EM_386, "386: unsupported ELF class" },
		{ "386", 18, EM_X86_64, "amd64: unsupported ELF class" },
		{ "amd64", 54, 55, "each program header has 55 bytes" },
		{ "amd64", 57, 0x70, "truncated within its program headers" },
		{ "xnum", 40, 0xff, "truncated: the number of its" },
		{ "overlap", 0, 0x7f, "at 10400 overlaps the one at 10000" },
		{ "threadless", 0, 0x7f, "no thread in it" },
	};
	struct buf b;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		fixture(bad[i].name, &b);
		b.data[bad[i].at] = bad[i].byte;
		if (bad[i].at == 40)
			b.data[44] = 0xff;
		assert_refused(&b, bad[i].why);
		buf_free(&b);
	}
	assert_null(snap_load("/proc/self/exe", NULL));
	assert_contains(snap_errstr(), "an ELF file, but not a core");
}

/*
 * A cut core is refused, or a warning is printed.
 */
static void
test_cut(void **state)
{
	static const char *const name[] = { "full", "386", "odd", "xnum" };
	struct snap *s;
	struct buf b;
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		fixture(name[i], &b);
		len = b.len;
		for (b.len = 0; b.len < len; b.len++) {
			if ((s = try_read(&b)) == NULL)
				continue;
			if (strstr(warned, "truncated: ") == NULL)
				fail_msg("%s: %zu bytes are enough", name[i],
				    b.len);
			assert_contains(rec_string(s->proc[0], "missing"),
			    " truncated\n");
			snap_free(s);
		}
		buf_free(&b);
	}
}

/*
 * Change each byte of headers and notes to random values.
 */
static void
test_flipped(void **state)
{
	static const char *const name[] = { "full", "386", "xnum", "bare" };
	struct snap *s;
	struct vmas l;
	struct rng r;
	struct buf b;
	size_t i, k, at;
	uint8_t was;

	(void)state;
	rng_init(&r, "flipped", 3);
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		fixture(name[i], &b);
		for (at = 4; at < b.len; at++)
			for (k = 0; k < 2; k++) {
				was = b.data[at];
				b.data[at] = k == 0 ? 0xff :
				    (uint8_t)rng_next(&r);
				s = try_read(&b);
				if (s != NULL) {
					memset(&l, 0, sizeof l);
					assert_int_equal(proc_vmas(s->proc[0],
					    &l), 0);
					vmas_free(&l);
				}
				snap_free(s);
				b.data[at] = was;
			}
		buf_free(&b);
	}
}

static void
test_odd(void **state)
{
	struct snap *s;
	struct image *im;
	uint8_t bytes[1500];

	(void)state;
	s = read_fixture("odd");
	im = s->proc[0]->mem;
	assert_int_equal(image_read(im, 0x20001, bytes, 1500), 0);
	assert_int_equal(bytes[0], 'x');
	assert_int_equal(bytes[1499], 'x');
	assert_int_equal(image_read(im, 0x20001 + 1500, bytes, 1), -1);
	assert_int_equal(image_read(im, 0x7fffffffffff0000, bytes, 10), 0);
	assert_memory_equal(bytes, "yyyyyyyyyy", 10);
	assert_string_equal(rec_string(s->proc[0], "missing"),
	    "205dd-20bb9 core\n30000-10000030000 core\n"
	    "7fffffffffff000a-7fffffffffff1388 truncated\n");
	assert_contains(warned, "truncated: 1 segments");
	snap_free(s);
}

/*
 * A core read from a pipe gives the same snapshot.
 */
static void
test_pipe(void **state)
{
	static const char *const name[] = { "full", "odd", "xnum", "386" };
	struct snap *s, *t;
	struct buf b;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		fixture(name[i], &b);
		s = stream_read(b.data, b.len, false);
		t = stream_read(b.data, b.len, true);
		assert_true(s != NULL && t != NULL);
		free(t->header);
		t->header = strdup(s->header);	/* times differ */
		assert_snaps_equal(s, t);
		snap_free(s);
		snap_free(t);
		buf_free(&b);
	}
}

/*
 * Threads without an ID, or with one that is in use, get new IDs.
 */
static void
test_numbers(void **state)
{
	struct snap *s;

	(void)state;
	s = read_fixture("numbers");
	assert_int_equal(s->nproc, 4);
	assert_int_equal(s->proc[0]->pid, 9);	/* a process that had ended */
	assert_int_equal(rec_len(s->proc[0], "regset/prstatus"), SIZE_MAX);
	assert_contains(rec_string(s->proc[0], "stat"), "9 (prog) Z 1 7 7 0 ");
	assert_int_equal(s->proc[1]->pid, 7);
	assert_int_equal(s->proc[2]->pid, 4194305);
	assert_int_equal(s->proc[3]->pid, 4194306);
	assert_int_equal(s->proc[3]->leader, 9);
	assert_contains(rec_string(s->proc[2], "stat"), "7 (prog) ");
	assert_contains(warned, "2 threads get new IDs");
	snap_free(s);
}

/*
 * Append a structure of elf(5), n bytes, in the byte order of a core.
 */
static void
put_elf(struct buf *b, Elf_Type type, void *p, size_t n)
{
	Elf_Data from = { .d_buf = p, .d_type = type, .d_size = n,
	    .d_version = EV_CURRENT };
	Elf_Data to = from;

	elf_version(EV_CURRENT);
	to.d_buf = buf_room(b, n);
	assert_non_null(elf64_xlatetof(&to, &from, ELFDATA2LSB));
	b->len += n;
}

/*
 * Append the ELF header and the program headers of a 64-bit core.
 */
static void
put_head(struct buf *b, size_t nload, uint64_t notes, uint64_t shoff)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
	    ELFDATA2LSB, EV_CURRENT }, .e_type = ET_CORE,
	    .e_machine = EM_X86_64, .e_version = 1, .e_phoff = sizeof h,
	    .e_ehsize = sizeof h, .e_phentsize = sizeof(Elf64_Phdr),
	    .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_align = 4 };

	h.e_phnum = nload + 1 < PN_XNUM ? (uint16_t)(nload + 1) : PN_XNUM;
	h.e_shoff = shoff;
	h.e_shnum = shoff != 0;
	put_elf(b, ELF_T_EHDR, &h, sizeof h);
	ph.p_offset = sizeof h + (nload + 1) * sizeof ph;
	ph.p_filesz = notes;
	put_elf(b, ELF_T_PHDR, &ph, sizeof ph);
}

/*
 * Convert n words to the byte order of a core.
 */
static void
words_order(uint64_t *w, size_t n)
{
	for (; n > 0; w++, n--)
		num_put((uint8_t *)w, *w, sizeof *w);
}

static uint32_t load_flags = PF_R | PF_W;	/* of the following segments */

static void
put_load(struct buf *b, uint64_t addr, uint64_t off, uint64_t filesz,
    uint64_t memsz)
{
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = load_flags,
	    .p_vaddr = addr, .p_offset = off, .p_filesz = filesz,
	    .p_memsz = memsz };

	put_elf(b, ELF_T_PHDR, &ph, sizeof ph);
}

static void
put_note(struct buf *b, uint32_t type, const void *data, size_t n)
{
	num_add(b, 5, 4);
	num_add(b, n, 4);
	num_add(b, type, 4);
	buf_add(b, "CORE\0\0\0", 8);
	buf_add(b, data, n);
	buf_add(b, "\0\0\0", -n & 3);
}

static void
put_thread(struct buf *b, uint32_t pid)
{
	uint8_t st[336] = { 0 };

	num_put(st + 32, pid, 4);
	put_note(b, NT_PRSTATUS, st, sizeof st);
}

enum { THREAD_NOTE = 12 + 8 + 336 };

/*
 * More segments than e_phnum can hold, with all permissions.
 */
static void
test_many_segments(void **state)
{
	enum { N = 70000 };
	struct buf b = { 0 };
	Elf64_Shdr sh = { .sh_info = N + 1, .sh_size = 1 };
	struct vmas l = { 0 };
	struct snap *s;
	uint64_t data;
	size_t i;
	char c;

	(void)state;
	data = sizeof(Elf64_Ehdr) + (N + 1) * sizeof(Elf64_Phdr) +
	    THREAD_NOTE;
	put_head(&b, N, THREAD_NOTE, data + KB);
	for (i = 0; i < N; i++) {
		load_flags = (uint32_t)i % 8;	/* of PF_R, PF_W and PF_X */
		put_load(&b, (uint64_t)i * 0x100000, data, i % 2 * KB, 4096);
	}
	load_flags = PF_R | PF_W;
	put_thread(&b, 1);
	memset(buf_room(&b, KB), 'm', KB);
	b.len += KB;
	put_elf(&b, ELF_T_SHDR, &sh, sizeof sh);
	assert_int_equal(buf_check(&b), 0);
	s = try_read(&b);
	assert_non_null(s);
	assert_int_equal(proc_vmas(s->proc[0], &l), 0);
	assert_int_equal(l.n, N);
	for (i = 0; i < N; i++) {
		assert_int_equal(l.v[i].flags & VMA_READ, i & PF_R ?
		    VMA_READ : 0);
		assert_int_equal(l.v[i].flags & VMA_WRITE, i & PF_W ?
		    VMA_WRITE : 0);
		assert_int_equal(l.v[i].flags & VMA_EXEC, i & PF_X ?
		    VMA_EXEC : 0);
	}
	assert_int_equal(image_read(s->proc[0]->mem,
	    (uint64_t)(N - 1) * 0x100000, &c, 1), 0);
	assert_int_equal(c, 'm');
	vmas_free(&l);
	snap_free(s);
	buf_free(&b);
}

/*
 * A sparse file with room for four million program headers.
 */
static void
test_many_headers(void **state)
{
	Elf64_Shdr sh = { .sh_info = (1 << 22) + 1, .sh_size = 1 };
	struct buf b = { 0 };
	struct stream st;

	(void)state;
	put_head(&b, PN_XNUM, 0, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
	put_elf(&b, ELF_T_SHDR, &sh, sizeof sh);
	stream_file(&st, b.data, b.len);
	assert_int_equal(ftruncate(st.fd, 1 << 30), 0);
	assert_null(snap_load(st.path, NULL));
	assert_contains(snap_errstr(), "too many program headers: 4194305");
	stream_close(&st);
	buf_free(&b);
}

/*
 * A segment that ends within a kilobyte, followed closely by another one.
 */
static void
test_tail(void **state)
{
	struct buf b = { 0 };
	struct snap *s;
	uint64_t data;
	char c[0x1200];

	(void)state;
	data = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) + THREAD_NOTE;
	put_head(&b, 2, THREAD_NOTE, 0);
	put_load(&b, 0x10000, data, sizeof c, sizeof c);
	put_load(&b, 0x11400, data, KB, KB);
	put_thread(&b, 1);
	memset(buf_room(&b, sizeof c), 't', sizeof c);
	b.len += sizeof c;
	assert_int_equal(buf_check(&b), 0);
	s = try_read(&b);
	assert_non_null(s);
	assert_int_equal(image_read(s->proc[0]->mem, 0x10000, c, sizeof c), 0);
	assert_int_equal(c[0x1000], 't');
	assert_int_equal(c[sizeof c - 1], 't');
	assert_int_equal(image_read(s->proc[0]->mem, 0x11400, c, 1), 0);
	assert_int_equal(c[0], 't');
	snap_free(s);
	buf_free(&b);
}

/*
 * A million notes, one of them useful.
 */
static void
test_many_notes(void **state)
{
	struct buf b = { 0 };
	struct snap *s;
	size_t n = 12 * 1000000;

	(void)state;
	put_head(&b, 0, THREAD_NOTE + n, 0);
	put_thread(&b, 1);
	memset(buf_room(&b, n), 0, n);
	b.len += n;
	s = try_read(&b);
	assert_non_null(s);
	assert_int_equal(s->nproc, 1);
	snap_free(s);
	buf_free(&b);
}

/*
 * The user ID of a process without NT_PRPSINFO.
 */
static void
test_user(void **state)
{
	uint64_t auxv[] = { AT_UID, 1234, AT_GID, 99, AT_NULL, 0 };
	struct buf b, n;
	const struct file *f;
	struct snap *s;
	int known;

	(void)state;
	words_order(auxv, 6);
	for (known = 0; known < 2; known++) {
		memset(&b, 0, sizeof b);
		memset(&n, 0, sizeof n);
		put_thread(&n, 1);
		if (known)
			put_note(&n, NT_AUXV, auxv, sizeof auxv);
		put_head(&b, 0, n.len, 0);
		buf_add(&b, n.data, n.len);
		assert_non_null(s = try_read(&b));
		assert_non_null(f = proc_file(s->proc[0], "status"));
		assert_memory_equal(f->data + 28, known ? "1234 " : "-    ",
		    5);
		if (known)
			assert_non_null(strstr(rec_string(s->proc[0],
			    "status"), "Gid:\t99\t"));
		snap_free(s);
		buf_free(&b);
		buf_free(&n);
	}
}

/*
 * Sizes larger than the file; the same bytes used many times.
 */
static void
test_claims(void **state)
{
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_filesz = INT64_MAX,
	    .p_align = 4 };
	uint64_t file[] = { 1, 4096, 0x1000, 0x2000, 0, '/' };
	struct buf b = { 0 };
	struct snap *s;
	size_t i;

	(void)state;
	put_head(&b, 0, (uint64_t)1 << 50, 0);
	assert_refused(&b, "truncated within its notes");
	b.len = 0;
	put_head(&b, 5000, THREAD_NOTE, 0);
	for (i = 0; i < 5000; i++)
		put_elf(&b, ELF_T_PHDR, &ph, sizeof ph);
	put_thread(&b, 1);
	assert_refused(&b, "notes are too large");
	b.len = 0;
	put_head(&b, 1, THREAD_NOTE, 0);
	put_load(&b, 0x1000, 0, 0, UINT64_MAX - 0x1000 + 1);
	put_thread(&b, 1);
	assert_refused(&b, "at 1000 ends beyond 2^64");
	b.len = 0;
	put_head(&b, 1, THREAD_NOTE, 0);
	put_load(&b, 0x1000, UINT64_MAX - 1, 4096, 4096);
	put_thread(&b, 1);
	assert_refused(&b, "at 1000 ends beyond 2^64");
	/* a billion section headers */
	num_put(b.data + offsetof(Elf64_Ehdr, e_shoff), b.len, 8);
	num_put(b.data + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	for (i = 0; i < sizeof(Elf64_Shdr); i++)
		buf_add(&b, "\x30", 1);
	assert_refused(&b, "section headers");
	/* the same in a big-endian file */
	b.data[EI_DATA] = ELFDATA2MSB;
	num_put(b.data + offsetof(Elf64_Ehdr, e_shoff),
	    __builtin_bswap64(b.len - sizeof(Elf64_Shdr)), 8);
	assert_refused(&b, "section headers");
	buf_free(&b);

	/* one file with a short name fits, two do not */
	words_order(file, 6);
	for (i = 1; i <= 2; i++) {
		num_put((uint8_t *)file, i, 8);
		memset(&b, 0, sizeof b);
		put_head(&b, 1, THREAD_NOTE + 12 + 8 + sizeof file - 4, 0);
		put_load(&b, 0x1000, 0, 0, 4096);
		put_thread(&b, 1);
		put_note(&b, NT_FILE, file, sizeof file - 6);
		if (i == 2)
			assert_refused(&b, "NT_FILE: 2 files do not fit");
		else {
			assert_non_null(s = try_read(&b));
			snap_free(s);
		}
		buf_free(&b);
	}
}

/*
 * A core of a terabyte, most of which is a hole.
 */
static void
test_sparse(void **state)
{
	static const uint64_t size = (uint64_t)1 << 40;
	struct buf b = { 0 };
	struct stream st;
	struct snap *s;
	struct image *im;
	uint64_t data, at, raw;
	size_t i, k, next;
	char c[3];

	(void)state;
	put_head(&b, 1, THREAD_NOTE, 0);
	data = 1 << 16;
	put_load(&b, 0x10000, data + 1, size - 1, size);
	put_thread(&b, 1);
	stream_file(&st, b.data, b.len);
	assert_int_equal(ftruncate(st.fd, (off_t)(data + size)), 0);
	for (i = 0; i < 10; i++) {
		at = data + (i + 1) * (size / 11) / 4096 * 4096;
		assert_int_equal(pwrite(st.fd, "abc", 3, (off_t)at), 3);
	}
	s = snap_load(st.path, NULL);
	if (s == NULL)
		fail_msg("%s", snap_errstr());
	im = s->proc[0]->mem;
	for (i = next = raw = 0; i < im->nseg; i++)
		for (k = 0; k < im->seg[i]->next; k++) {
			next++;
			if (im->seg[i]->ext[k].src != NULL)
				raw += im->seg[i]->ext[k].n;
		}
	assert_true(next < 40);
	assert_true(raw < 100);		/* kilobytes to be read */
	for (i = 0; i < 10; i++) {
		at = (i + 1) * (size / 11) / 4096 * 4096 - 1;
		assert_int_equal(image_read(im, 0x10000 + at, c, 3), 0);
		assert_memory_equal(c, "abc", 3);
		assert_int_equal(image_read(im, 0x10000 + at + 3, c, 1), 0);
		assert_int_equal(c[0], 0);
	}
	assert_int_equal(image_bytes(im), size - 1);
	snap_free(s);
	stream_close(&st);
	buf_free(&b);
}

/*
 * A core of a process that mapped this program. The core has the program's
 * first page, and NT_FILE lists the rest.
 */
static void
make_mapped(struct buf *b, const char *exe, const char *lib, uint64_t size,
    uint32_t flags)
{
	uint64_t auxv[] = { AT_PHDR, 0x400040, AT_NULL, 0 };
	struct buf n = { 0 }, f = { 0 };
	uint64_t head[] = { 2, 4096, 0x400000, 0x400000 + size, 0,
	    0x40000000, 0x40000000 + size, 0 };
	uint8_t page[4096];
	int fd;

	fd = open(exe, O_RDONLY);
	assert_true(fd != -1);
	assert_int_equal(read(fd, page, sizeof page), sizeof page);
	close(fd);
	words_order(auxv, 4);
	words_order(head, 8);
	buf_add(&f, head, sizeof head);
	buf_add(&f, exe, strlen(exe) + 1);
	buf_add(&f, lib, strlen(lib) + 1);
	put_thread(&n, 1);
	put_note(&n, NT_AUXV, auxv, sizeof auxv);
	put_note(&n, NT_FILE, f.data, f.len);
	memset(b, 0, sizeof *b);
	put_head(b, 2, n.len, 0);
	load_flags = flags;
	put_load(b, 0x400000, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) +
	    n.len, 4096, 8192);
	put_load(b, 0x40000000, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) +
	    n.len, 4096, 4096);
	load_flags = PF_R | PF_W;
	buf_add(b, n.data, n.len);
	buf_add(b, page, sizeof page);
	buf_free(&n);
	buf_free(&f);
}

static void
assert_file_at(struct image *im, uint64_t addr, const char *path,
    uint64_t size)
{
	uint8_t *got, *want;
	int fd;

	got = calloc(1, size);
	want = calloc(1, size);
	assert_true(got != NULL && want != NULL);
	fd = open(path, O_RDONLY);
	assert_true(fd != -1);
	assert_true(read(fd, want, size) > 0);
	close(fd);
	if (image_read(im, addr, got, size) == -1)
		fail_msg("%s", snap_errstr());
	assert_memory_equal(got, want, size);
	free(got);
	free(want);
}

/*
 * A read stops at the end of its segment, although other bytes follow in the
 * file.
 */
static void
test_peek(void **state)
{
	struct coreseg load[] = {
		{ .addr = 0x1000, .len = 0x1000, .there = 16 },
		{ .addr = 0x2000, .len = 8, .off = 16, .there = 8 },
	};
	struct corereader r = { .core = { .load = load, .nload = 2 } };
	uint8_t got[32];
	int fd;

	(void)state;
	assert_true((fd = memfd_create("peek", 0)) != -1);
	assert_int_equal(pwrite(fd, "0123456789abcdefABCDEFGH", 24, 0), 24);
	assert_non_null(r.snap = snap_new());
	assert_non_null(r.src = source_file(r.snap, fd, "peek", KB));
	memset(got, '.', sizeof got);
	assert_int_equal(elfcore_peek(&r, 0x1004, got, sizeof got), 12);
	assert_memory_equal(got, "456789abcdef....", 16);
	assert_int_equal(elfcore_peek(&r, 0x2000, got, 3), 3);
	assert_memory_equal(got, "ABC", 3);
	assert_int_equal(elfcore_peek(&r, 0x100f, got, 2), 1);
	assert_int_equal(elfcore_peek(&r, 0x1010, got, 1), 0);
	assert_int_equal(elfcore_peek(&r, 0x2008, got, 1), 0);
	assert_int_equal(elfcore_peek(&r, 0xfff, got, 1), 0);
	snap_free(r.snap);
}

/*
 * Files on this machine with the same build ID or with another one.
 */
static void
test_files(void **state)
{
	char exe[PATH_MAX] = "", lib[] = "/tmp/t_coreread.XXXXXX";
	char command[2 * PATH_MAX];
	struct buildid id;
	struct snap *s;
	struct buf b;
	uint8_t *note;
	uint64_t size;
	int fd;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	assert_true((fd = mkstemp(lib)) != -1);
	snprintf(command, sizeof command, "cat '%s' > %s", exe, lib);
	assert_int_equal(system(command), 0);
	size = ((uint64_t)lseek(fd, 0, SEEK_END) + 4095) / 4096 * 4096;
	close(fd);
	make_mapped(&b, exe, lib, size, PF_R);
	note = b.data + b.len - 4096;
	assert_int_equal(buildid_parse(&id, note, 4096), 0);
	if (id.len == 0)
		skip_because("the linker gives no build ids");
	assert_non_null(s = try_read(&b));
	assert_string_equal(warned, "");
	assert_non_null(s->proc[0]->text);
	assert_file_at(s->proc[0]->text, 0, exe, size - 4096);
	assert_file_at(s->proc[0]->mem, 0x400000, exe, size);
	assert_file_at(s->proc[0]->mem, 0x40000000, lib, size);
	assert_string_equal(rec_string(s->proc[0], "missing"), "(none)");
	assert_int_equal(s->nproc, 2);
	assert_string_equal(s->proc[1]->embedded->path, lib);
	assert_file_at(s->proc[1]->text, 0, lib, size - 4096);
	snap_free(s);

	opts.exe = lib;
	assert_non_null(s = try_read(&b));
	assert_string_equal(warned, "");
	assert_file_at(s->proc[0]->mem, 0x400000, lib, size);
	snap_free(s);

	/* the file is not used for writable memory */
	buf_free(&b);
	make_mapped(&b, exe, lib, size, PF_R | PF_W);
	note = b.data + b.len - 4096;
	opts.exe = NULL;
	assert_non_null(s = try_read(&b));
	assert_int_equal(image_read(s->proc[0]->mem, 0x401000, command, 1),
	    -1);
	assert_contains(rec_string(s->proc[0], "missing"),
	    "401000-402000 core");
	snap_free(s);
	opts.exe = lib;

	note = memmem(note, 4096, id.id, id.len);
	note[0] ^= 1;
	assert_non_null(s = try_read(&b));
	assert_contains(warned, "is not the executable that was run");
	assert_contains(warned, "a library is missing or changed");
	assert_non_null(s->proc[0]->text);
	assert_int_equal(image_read(s->proc[0]->mem, 0x402000, command, 1),
	    -1);
	assert_int_equal(s->nproc, 1);
	snap_free(s);

	opts.exe = NULL;
	assert_non_null(s = try_read(&b));
	assert_contains(warned, "differs from that in the core; name it");
	assert_null(s->proc[0]->text);
	assert_int_equal(image_read(s->proc[0]->mem, 0x401000, command, 1),
	    -1);
	snap_free(s);

	opts.exe = "/no/such/file";
	assert_refused(&b, "/no/such/file: No such file");
	opts.exe = "/dev/null";
	assert_refused(&b, "/dev/null: not a regular file");
	opts.exe = NULL;
	unlink(lib);
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_leader),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_many_segments),
		cmocka_unit_test(test_many_headers),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_many_notes),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_peek),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
