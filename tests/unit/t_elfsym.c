/*
 * Names of functions in ELF files: elf/symbols.c. The files are made here; one
 * is this program.
 */
#include "state/state.h"
#include "trace.h"
#include "util.h"
#include "elf/elf.h"

#include <sys/stat.h>

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYMS = 6, OFF = 0x40000, ADDR = 0x7000000 };

struct elf {
	Elf64_Ehdr	 eh;
	Elf64_Phdr	 ph;
	Elf64_Sym	 sym[SYMS];
	char		 str[64];
	Elf64_Shdr	 sh[3];
};

/*
 * Make a file with a segment at OFF, loaded at ADDR, and six symbols.
 */
static void
elf_make(struct elf *m, uint32_t table)
{
	static const char str[] = "\0one\0alias\0two\0far\0data\0first";
	static const Elf64_Sym sym[SYMS] = {
		{ 1, STT_FUNC, 0, 1, ADDR + 0x100, 0x20 },
		{ 5, STT_FUNC, 0, 1, ADDR + 0x100, 0x20 },
		{ 11, STT_FUNC, 0, 1, ADDR + 0x200, 0 },
		{ 15, STT_FUNC, 0, 1, ADDR + 0x10000, 8 },
		{ 19, STT_OBJECT, 0, 1, ADDR + 0x180, 8 },
		{ 24, STT_FUNC, 0, 1, ADDR, 1 },
	};

	memset(m, 0, sizeof *m);
	memcpy(m->eh.e_ident, ELFMAG, SELFMAG);
	m->eh.e_ident[EI_CLASS] = ELFCLASS64;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	m->eh.e_ident[EI_DATA] = ELFDATA2MSB;
#else
	m->eh.e_ident[EI_DATA] = ELFDATA2LSB;
#endif
	m->eh.e_ident[EI_VERSION] = EV_CURRENT;
	m->eh.e_type = ET_DYN;
	m->eh.e_version = EV_CURRENT;
	m->eh.e_ehsize = sizeof m->eh;
	m->eh.e_phoff = offsetof(struct elf, ph);
	m->eh.e_phentsize = sizeof m->ph;
	m->eh.e_phnum = 1;
	m->eh.e_shoff = offsetof(struct elf, sh);
	m->eh.e_shentsize = sizeof m->sh[0];
	m->eh.e_shnum = 3;
	m->ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = OFF,
	    .p_vaddr = ADDR, .p_filesz = 0x1000, .p_memsz = 0x1000 };
	memcpy(m->sym, sym, sizeof sym);
	memcpy(m->str, str, sizeof str);
	m->sh[1] = (Elf64_Shdr){ .sh_type = table,
	    .sh_offset = offsetof(struct elf, sym), .sh_size = sizeof sym,
	    .sh_link = 2, .sh_entsize = sizeof sym[0], .sh_addralign = 8 };
	m->sh[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
	    .sh_offset = offsetof(struct elf, str),
	    .sh_size = sizeof m->str, .sh_addralign = 1 };
}

static struct elfsyms *
read_bytes(const void *p, size_t len)
{
	char path[] = "/tmp/t_elfsym.XXXXXX";
	struct elfsyms *s;
	int fd;

	fd = mkstemp(path);
	assert_int_not_equal(fd, -1);
	unlink(path);
	assert_int_equal(write(fd, p, len), len);
	s = elfsyms_read(fd);
	close(fd);
	return s;
}

static void
is_at(const struct elfsyms *s, uint64_t off, const char *name, uint64_t at)
{
	const char *got;
	uint64_t into = 0;

	got = elfsyms_find(s, off, &into);
	if (name == NULL) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	assert_int_equal(into, at);
}

static void
test_names(void **state)
{
	static const uint32_t table[] = { SHT_SYMTAB, SHT_DYNSYM };
	struct elfsyms *s;
	struct elf m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof table / sizeof *table; i++) {
		elf_make(&m, table[i]);
		assert_non_null(s = read_bytes(&m, sizeof m));
		is_at(s, OFF, "first", 0);
		is_at(s, OFF + 0xff, NULL, 0);
		is_at(s, OFF + 0x100, "alias", 0);
		is_at(s, OFF + 0x11f, "alias", 0x1f);
		is_at(s, OFF + 0x120, NULL, 0);
		is_at(s, OFF + 0x180, NULL, 0);
		is_at(s, OFF + 0x234, "two", 0x34);
		elfsyms_free(s);
	}
	assert_null(read_bytes("#!/bin/sh\n", 10));
	assert_null(read_bytes("", 0));
	elfsyms_free(NULL);
}

/*
 * Names without a NUL, and tables with huge sizes.
 */
static void
test_malformed(void **state)
{
	struct elfsyms *s;
	struct elf m;

	(void)state;
	elf_make(&m, SHT_SYMTAB);
	m.sh[1].sh_entsize = 1;
	elfsyms_free(read_bytes(&m, sizeof m));
	m.sh[1].sh_entsize = 0;
	assert_non_null(s = read_bytes(&m, sizeof m));
	is_at(s, OFF + 0x100, NULL, 0);
	elfsyms_free(s);
	elf_make(&m, SHT_SYMTAB);
	m.sh[1].sh_size = UINT64_MAX - 100;
	elfsyms_free(read_bytes(&m, sizeof m));
	elf_make(&m, SHT_SYMTAB);
	m.sh[2].sh_size = UINT64_MAX / 2;
	elfsyms_free(read_bytes(&m, sizeof m));
	elf_make(&m, SHT_SYMTAB);
	memset(m.str, 'x', sizeof m.str);
	elfsyms_free(read_bytes(&m, sizeof m));
	elf_make(&m, SHT_SYMTAB);
	m.sym[3].st_value = ADDR + 0x300;
	m.sym[3].st_size = UINT64_MAX;
	assert_non_null(s = read_bytes(&m, sizeof m));
	is_at(s, OFF + 0x310, "far", 0x10);
	elfsyms_free(s);
}

/*
 * If a number is too large for the ELF header, section header 0 has it.
 */
static void
test_counts(void **state)
{
	enum { MANY = 1 << 16 };
	size_t size = sizeof(struct elf) + MANY * sizeof(Elf64_Phdr);
	struct elf *m;

	(void)state;
	assert_non_null(m = calloc(1, size));
	elf_make(m, SHT_SYMTAB);
	m->eh.e_shnum = 0;
	m->sh[0].sh_size = MANY;
	assert_null(read_bytes(m, size));
	assert_string_equal(snap_errstr(), "too many section headers: 65536");
	elf_make(m, SHT_SYMTAB);
	m->eh.e_phnum = PN_XNUM;
	m->sh[0].sh_info = MANY;
	assert_null(read_bytes(m, size));
	assert_string_equal(snap_errstr(),
	    "ELF: too many program headers: 65536");
	free(m);
}

/*
 * A long name is cut: many symbols may share it.
 */
static void
test_long(void **state)
{
	enum { LONG = 100000 };
	struct elfsyms *s;
	const char *name;
	struct elf *m;
	uint64_t into;

	(void)state;
	assert_non_null(m = calloc(1, sizeof *m + LONG + 1));
	elf_make(m, SHT_SYMTAB);
	memset(m + 1, 'y', LONG);
	m->sh[2].sh_offset = sizeof *m;
	m->sh[2].sh_size = LONG + 1;
	assert_non_null(s = read_bytes(m, sizeof *m + LONG + 1));
	assert_non_null(name = elfsyms_find(s, OFF + 0x100, &into));
	assert_int_equal(strlen(name), 255);
	elfsyms_free(s);
	free(m);
}

/*
 * Cut the file at each byte; change each byte of headers and tables.
 */
static void
test_damaged(void **state)
{
	static const uint8_t flip[] = { 0xff, 0x80, 1 };
	struct elf m;
	uint64_t into;
	struct elfsyms *s;
	size_t i, j;

	(void)state;
	elf_make(&m, SHT_SYMTAB);
	for (i = 0; i < sizeof m; i++)
		elfsyms_free(read_bytes(&m, i));
	for (i = 0; i < sizeof m; i++)
		for (j = 0; j < sizeof flip; j++) {
			((uint8_t *)&m)[i] ^= flip[j];
			s = read_bytes(&m, sizeof m);
			if (s != NULL)
				(void)elfsyms_find(s, OFF + 0x100, &into);
			elfsyms_free(s);
			((uint8_t *)&m)[i] ^= flip[j];
		}
}

/*
 * This program's own functions are found, wherever it is loaded.
 */
static void
test_self(void **state)
{
	struct vmas l = { 0 };
	char text[65536];
	const struct vma *v;
	struct elfsyms *s;
	void (*fn)(void **) = test_self;
	uint64_t addr = 0;
	size_t len;
	FILE *f;
	int fd;

	(void)state;
	memcpy(&addr, &fn, sizeof fn);
	assert_non_null(f = fopen("/proc/self/maps", "r"));
	len = fread(text, 1, sizeof text, f);
	fclose(f);
	assert_int_equal(vmas_parse(&l, text, len), 0);
	assert_non_null(v = vmas_find(&l, addr));
	fd = open("/proc/self/exe", O_RDONLY);
	assert_non_null(s = elfsyms_read(fd));
	close(fd);
	is_at(s, addr - v->start + v->off, "test_self", 0);
	elfsyms_free(s);
	vmas_free(&l);
}

/*
 * The open file must be the one that was mapped.
 */
static void
test_inode(void **state)
{
	struct elfsyms *s;
	struct stat st;

	(void)state;
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_null(elfsyms_open("/proc/self/exe", st.st_ino + 1));
	assert_contains(snap_errstr(), "was replaced by another file");
	assert_non_null(s = elfsyms_open("/proc/self/exe", st.st_ino));
	elfsyms_free(s);
	assert_null(elfsyms_open("/dev/null", 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_inode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
