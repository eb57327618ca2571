/*
 * The table of machines.
 */
#include "linux/proxy/proxy.h"
#include "machine.h"
#include "util.h"

#include <linux/audit.h>
#include <stddef.h>
#include <string.h>

/*
 * Each name is listed once, with one size and byte order. The narrow form of
 * each machine has 32 bits.
 */
static void
test_table(void **state)
{
	const struct machine *m, *n;
	char big[200] = "";

	(void)state;
	for (m = NULL; (m = machine_next(m)) != NULL;) {
		if (m->big) {
			strlcat(big, m->name, sizeof big);
			strlcat(big, " ", sizeof big);
		}
		assert_ptr_equal(machine_named(m->name), m);
		assert_true(m->word == 4 || m->word == 8);
		assert_true(m->pages > 0 && m->pages < 2 * MAX_MACHINE_PAGE);
		assert_true(m->regs == 0 || (m->pc + m->word <= m->regs &&
		    m->sp + m->word <= m->regs));
		for (n = m; m->elf != 0 && (n = machine_next(n)) != NULL;)
			assert_false(n->elf == m->elf && n->big == m->big &&
			    n->word == m->word);
		if (m->narrow == NULL)
			continue;
		n = machine_named(m->narrow);
		assert_string_equal(n->name, m->narrow);
		assert_int_equal(n->word, 4);
		assert_true(n->big == m->big);
	}
	assert_string_equal(big, "power64 power s390x s390 mips64 mips sparc64 "
	    "sparc 68020 ");
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(machine_named("vax")->name, "unknown");
	assert_string_equal(machine_named("")->name, "unknown");
}

/*
 * The word size and the byte order are the compiler's.
 */
static void
test_here(void **state)
{
	const struct machine *m = machine_here();

	(void)state;
#ifdef __x86_64__
	assert_string_equal(m->name, "amd64");
#endif
#ifdef __aarch64__
	assert_string_equal(m->name, "arm64");
#endif
	assert_int_equal(m->word, sizeof(void *));
	assert_int_equal(m->big, *(const uint8_t *)&(uint16_t){ 1 } == 0);
}

static void
test_audit(void **state)
{
	static const struct {
		const char *name;
		uint32_t want;
	} t[] = {
		{ "amd64", AUDIT_ARCH_X86_64 }, { "386", AUDIT_ARCH_I386 },
		{ "arm64", AUDIT_ARCH_AARCH64 }, { "arm", AUDIT_ARCH_ARM },
		{ "s390x", AUDIT_ARCH_S390X },
		{ "ppc64le", AUDIT_ARCH_PPC64LE },
		{ "power64", AUDIT_ARCH_PPC64 }, { "power", AUDIT_ARCH_PPC },
		{ "riscv64", AUDIT_ARCH_RISCV64 },
		{ "mips", AUDIT_ARCH_MIPS }, { "spim", AUDIT_ARCH_MIPSEL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++)
		assert_int_equal(machine_audit(machine_named(t[i].name)),
		    t[i].want);
}

/*
 * The page size is a possible one, whatever size is recorded.
 */
static void
test_page(void **state)
{
	static const struct {
		const char *name;
		uint64_t told, want;
	} t[] = {
		{ "amd64", 0, 4096 }, { "amd64", 4096, 4096 },
		{ "amd64", 65536, 4096 }, { "amd64", 1, 4096 },
		{ "arm64", 0, 4096 }, { "arm64", 16384, 16384 },
		{ "arm64", 65536, 65536 }, { "arm64", 65536 + 4096, 4096 },
		{ "arm64", UINT64_MAX, 4096 },
		{ "arm64", (uint64_t)1 << 63, 4096 },
		{ "arm64", (uint64_t)1 << 32 | 4096, 4096 },
		{ "sparc64", 0, 8192 }, { "vax", 65536, 65536 },
		{ "vax", 512, 4096 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++)
		assert_int_equal(machine_page(machine_named(t[i].name),
		    t[i].told), t[i].want);
}

static void
test_order(void **state)
{
	static const uint8_t b[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct machine *little = machine_named("arm64");
	const struct machine *big = machine_named("s390x");

	(void)state;
	assert_true(machine_get(little, b, 8) == 0x0807060504030201);
	assert_true(machine_get(big, b, 8) == 0x0102030405060708);
	assert_true(machine_get(little, b, 2) == 0x0201);
	assert_true(machine_get(big, b, 2) == 0x0102);
}

/*
 * A request to the proxy is not empty and ends with a page, at any address and
 * page size.
 */
static void
test_proxy(void **state)
{
	uint64_t page, addr;
	size_t n;

	(void)state;
	for (page = 4096; page <= MAX_MACHINE_PAGE; page *= 2)
		for (addr = page; addr < 2 * page; addr += KB) {
			assert_int_equal(proxy_fits(KB, addr, page), KB);
			n = proxy_fits(SIZE_MAX, addr, page);
			assert_true(n > 0 && n <= MAX_PROXY);
			assert_int_equal((addr + n) % page, 0);
			assert_true((addr + n - 1) / page - addr / page <
			    MAX_PROXY / page);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_here),
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_proxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
