/*
 * Any bytes as a directory of CRIU images in which a name is a link, a FIFO or
 * a directory: it is refused, or it is a snapshot that can be written.
 *
 * The first byte of an input selects the name; the rest is an input of
 * fuzz_dir.h. 0 selects none. With bit 7 the name becomes a directory, with bit
 * 6 a FIFO, otherwise a link to the former file.
 */
#include "fuzz_dir.h"

enum { DIRECTORY = 0x80, FIFO = 0x40, NAMED = 0x3f };

#ifdef LIBFUZZER
#define LLVMFuzzerCustomMutator dir_mutate
#include "fuzz_proto.h"
#undef LLVMFuzzerCustomMutator

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	if (n < 2 || seed % 16 == 0)
		return LLVMFuzzerMutate(p, n, max);
	return 1 + dir_mutate(p + 1, n - 1, max - 1, seed);
}
#endif

static void
hinder(uint8_t which)
{
	char path[PATH_MAX], aside[PATH_MAX];

	if (which == 0)
		return;
	path_of(path, dir, name[(which & NAMED) % NAMES]);
	path_of(aside, dir, "aside");
	if (which & (DIRECTORY | FIFO))
		(void)unlink(path);
	if (which & DIRECTORY)
		MUST(mkdir(path, 0700) == 0);
	else if (which & FIFO)
		MUST(mkfifo(path, 0600) == 0);
	else if (rename(path, aside) == 0)
		MUST(symlink(aside, path) == 0);
}

static void
unhinder(uint8_t which)
{
	char path[PATH_MAX];

	path_of(path, dir, name[(which & NAMED) % NAMES]);
	if (which & DIRECTORY)
		(void)rmdir(path);
	path_of(path, dir, "aside");
	(void)unlink(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s;

	if (n == 0)
		return 0;
	make_dirs();
	remove_all();
	write_files(data + 1, n - 1);
	hinder(*data);
	if ((s = read_images(dir)) != NULL)
		check_snap(s);
	snap_free(s);
	unhinder(*data);
	return 0;
}
