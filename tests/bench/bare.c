/*
 * The minimum cost of a snapshot: bare PID reads every present page of a
 * process into one buffer, in blocks like snap's, and discards it.  It reads
 * /proc/PID/mem; with -v it calls process_vm_readv(2), for unshared pages.
 */
#include <sys/uio.h>

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCK = 256 * 1024, ENTRIES = 512 };

static char buf[BLOCK];
static uint64_t total;
static int mem;
static bool vm;
static pid_t pid;

static ssize_t
read_block(uint64_t start, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(uintptr_t)start,
	    len };

	return vm ? process_vm_readv(pid, &to, 1, &from, 1, 0) :
	    pread(mem, buf, len, (off_t)start);
}

static void
read_range(uint64_t start, uint64_t end)
{
	size_t len;

	for (; start < end; start += len) {
		len = end - start < BLOCK ? end - start : BLOCK;
		if (read_block(start, len) > 0)
			total += len;
	}
}

static void
read_mapping(int pagemap, uint64_t start, uint64_t end)
{
	uint64_t v[ENTRIES], first, addr;
	ssize_t i, n;

	for (first = addr = start; addr < end;) {
		n = pread(pagemap, v, sizeof v, (off_t)(addr / PAGE * 8));
		for (i = 0; i < n / 8 && addr < end; i++, addr += PAGE)
			if (!(v[i] >> 63)) {
				read_range(first, addr);
				first = addr + PAGE;
			}
		if (n <= 0)
			break;
	}
	read_range(first, addr);
}

int
main(int argc, char *argv[])
{
	unsigned long long start, end;
	char path[64], line[4400];
	FILE *maps;
	int pagemap;

	vm = argc == 3 && strcmp(argv[1], "-v") == 0;
	if (argc != 2 + vm)
		errx(2, "usage: bare [-v] pid");
	pid = (pid_t)strtol(argv[argc - 1], NULL, 10);
	snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
	pagemap = open(path, O_RDONLY);
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	if ((maps = fopen(path, "r")) == NULL || pagemap == -1 || mem == -1)
		err(1, "%s", path);
	while (fgets(line, sizeof line, maps) != NULL)
		if (sscanf(line, "%llx-%llx rw", &start, &end) == 2)
			read_mapping(pagemap, start, end);
	printf("%llu\n", (unsigned long long)total);
	return 0;
}
