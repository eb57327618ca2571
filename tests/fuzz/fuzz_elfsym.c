/*
 * Any bytes as an ELF file: its function names, build ID and segment
 * permissions are read, or it has none.
 */
#include "elf/elf.h"
#include "fuzz_snap.h"
#include "../../fmt/core/read/read.h"
#include "space.h"
#include "trace.h"

#ifdef LIBFUZZER
#include "fuzz_mutate.h"

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	mutate_seed(seed);
	return mutate_pick(4) == 0 ? mutate_text(p, n, max) :
	    mutate_binary(p, n, max);
}
#endif

static void
check_names(const struct elfsyms *e, uint64_t off)
{
	const char *name;
	uint64_t into;

	if ((name = elfsyms_find(e, off, &into)) == NULL)
		return;
	MUST(*name != '\0' && strlen(name) < 256);
	MUST(into <= off);
}

static void
check_symbols(const uint8_t *data, size_t n)
{
	struct elfsyms *e;
	uint64_t off;
	int fd;

	fd = memory_file(data, n);
	e = elfsyms_read(fd);
	close(fd);
	if (e == NULL) {
		MUST(*snap_errstr() != '\0');
		return;
	}
	for (off = 0; off < n + 64; off += 16)
		check_names(e, off);
	check_names(e, UINT64_MAX);
	check_names(e, (uint64_t)1 << 63);
	elfsyms_free(e);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buildid b, c;
	unsigned int perms;
	uint64_t off;

	check_symbols(data, n);
	if (buildid_parse(&b, data, n) == 0) {
		MUST(b.len <= sizeof b.id);
		MUST(buildid_parse(&c, data, n) == 0);
		MUST(buildid_same(&b, &c) == (b.len > 0));
	}
	for (off = 0; off < 0x10000; off += 0x1000) {
		perms = elf_perms(data, n, 0x1000, off);
		MUST((perms & ~(unsigned int)(VMA_READ | VMA_WRITE |
		    VMA_EXEC)) == 0);
	}
	(void)elf_perms(data, n, 0x10000, UINT64_MAX);
	return 0;
}
