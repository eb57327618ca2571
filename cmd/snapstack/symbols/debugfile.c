/*
 * Find files of this machine by build ID: in directories given by the user,
 * below /usr/lib/debug, where distributions install them, and from debuginfod
 * servers.
 */
#include "snapstack/snapstack.h"

#include <elfutils/libdwelf.h>

#include <fcntl.h>
#include <unistd.h>

struct words debugfile_dirs;	/* directories, searched in this order */

/*
 * Return true if the build ID of ELF file fd is the len bytes at id.
 */
static bool
has_id(int fd, const void *id, size_t len)
{
	const void *found;
	ssize_t n;
	Elf *e;

	if (elf_sections(fd) == -1 ||
	    (e = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL)) == NULL)
		return false;
	n = dwelf_elf_gnu_build_id(e, &found);
	n = n > 0 && (size_t)n == len && memcmp(found, id, len) == 0;
	elf_end(e);
	return n != 0;
}

/*
 * Open the file at path if its build ID is the len bytes at id. Return its
 * descriptor, and set *found to path, which the caller frees. Otherwise free
 * path and return -1.
 */
static int
open_same(char *path, const void *id, size_t len, char **found)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    has_id(fd, id, len)) {
		*found = path;
		return fd;
	}
	fd_drop(fd);
	free(path);
	return -1;
}

/*
 * Return the path in dir of the file whose build ID is the len bytes at id. If
 * debug is true, return the path of its debugging information instead. See
 * "Separate Debug Files" of gdb(1). The caller frees the path. Return NULL on
 * failure.
 */
static char *
path_of(const char *dir, const uint8_t *id, size_t len, bool debug)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/.build-id/%02x/", dir, id[0]);
	buf_hex(&b, id + 1, len - 1);
	buf_puts(&b, debug ? ".debug" : "");
	return buf_text(&b);
}

/*
 * Open the file whose build ID is the len bytes at id. If debug is true, open
 * its debugging information instead. The last components of the paths name and
 * link, which may be NULL, are file names to try as well. Set *found to the
 * path of the file, or to "debuginfod" if a server sent it; the caller frees
 * *found. Return a descriptor, or -1 if there is no such file.
 */
int
debugfile_open(const void *id, size_t len, bool debug, const char *name,
    const char *link, char **found)
{
	const char *const file[] = { link, name };
	const char *const suffix[] = { ".debug", "" };
	const char *dir, *base;
	char *path;
	size_t i, k;
	int fd;

	if (len < 2)
		return -1;
	for (i = 0; i < debugfile_dirs.n; i++) {
		dir = debugfile_dirs.v[i];
		path = path_of(dir, id, len, debug);
		if (path != NULL &&
		    (fd = open_same(path, id, len, found)) != -1)
			return fd;
		for (k = 0; k < 4; k++) {
			if (file[k / 2] == NULL || (!debug && k % 2 == 0))
				continue;
			base = path_base(file[k / 2]);
			if (*base != '\0' && (path = str_printf("%s/%s%s", dir,
			    base, suffix[k % 2])) != NULL &&
			    (fd = open_same(path, id, len, found)) != -1)
				return fd;
		}
	}
	if ((fd = fetch_open(id, len, debug)) == -1)
		return -1;
	if (has_id(fd, id, len) && (*found = strdup("debuginfod")) != NULL)
		return fd;
	close(fd);
	return -1;
}
