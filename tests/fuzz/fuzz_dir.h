/*
 * Functions of targets whose input is a directory of CRIU images.
 *
 * An input consists of files: one byte that selects a name below, two bytes
 * with a length, and that number of bytes. If bit 7 of the first byte is set,
 * the length is a number of zero pages instead, at most 4095.
 */
#ifndef FUZZ_DIR_H
#define FUZZ_DIR_H

#include "fuzz_snap.h"

#include <sys/stat.h>

#include <limits.h>

enum { PAGE = 4096, PAGEMOST = 4095, FILEMOST = 64 };

static const char *const name[] = { "inventory.img", "pstree.img",
    "core-7.img", "core-8.img", "core-9.img", "ids-7.img", "mm-7.img",
    "fs-7.img", "fdinfo-70.img", "files.img", "memfd.img", "pagemap-7.img",
    "pages-3.img", "pagemap-shmem-61.img", "pages-1.img",
    "pagemap-shmem-62.img", "pages-2.img", "parent/pagemap-7.img",
    "parent/pages-3.img", "parent/pagemap-shmem-61.img", "seccomp.img",
    "dump.log", "remap-fpath.img", "ghost-file-1.img", "pipes-data.img",
    "fifo-data.img", "sk-queues.img", "timens-0.img", "core-10.img",
    "mm-8.img", "pagemap-8.img", "ids-8.img", "fs-8.img", "fdinfo-71.img",
    "parent/pages-1.img", "parent/inventory.img" };

enum { NAMES = sizeof name / sizeof *name };

static char dir[64], out[80];

static void
path_of(char *path, const char *d, const char *file)
{
	snprintf(path, PATH_MAX, "%s/%s", d, file);
}

static void
remove_all(void)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < NAMES; i++) {
		path_of(path, dir, name[i]);
		unlink(path);
		path_of(path, out, name[i]);
		unlink(path);
	}
	rmdir(out);
}

static void
remove_dirs(void)
{
	char path[PATH_MAX];

	remove_all();
	path_of(path, dir, "parent");
	rmdir(path);
	rmdir(dir);
}

static void
make_dirs(void)
{
	char path[PATH_MAX];

	if (*dir != '\0')
		return;
	snprintf(dir, sizeof dir, "%s/fuzz_criu.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	MUST(mkdtemp(dir) != NULL);
	path_of(path, dir, "parent");
	MUST(mkdir(path, 0700) == 0);
	snprintf(out, sizeof out, "%s/out", dir);
	atexit(remove_dirs);
}

static void
write_file(const char *file, const uint8_t *data, size_t n, bool pages)
{
	char path[PATH_MAX];
	int fd;

	path_of(path, dir, file);
	MUST((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
	    0600)) != -1);
	if (pages)
		MUST(ftruncate(fd, (off_t)n * PAGE) == 0);
	else
		MUST(write(fd, data, n) == (ssize_t)n);
	close(fd);
}

static void
write_files(const uint8_t *data, size_t n)
{
	size_t i, len;

	for (i = 0; i < FILEMOST && n >= 3; i++) {
		len = data[1] | (size_t)data[2] << 8;
		if (data[0] & 0x80) {
			write_file(name[(data[0] & 0x7f) % NAMES], NULL,
			    len & PAGEMOST, true);
			len = 0;
		} else {
			len = len < n - 3 ? len : n - 3;
			write_file(name[data[0] % NAMES], data + 3, len,
			    false);
		}
		data += 3 + len;
		n -= 3 + len;
	}
}

static void
ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static struct snap *
read_images(const char *d)
{
	static const struct readopts opts = { .warn = ignore };
	struct snap *s;

	s = snap_load(d, &opts);
	MUST(s != NULL || *snap_errstr() != '\0');
	return s;
}

#endif
