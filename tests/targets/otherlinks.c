/*
 * A process with open files whose names are deleted, but which have other
 * names: otherlinks LOG.  A line of apart.h for each says whether data written
 * to it can be read by its other name, and its link count is the same.
 *
 *	beside below above	where the other name is, seen from the old one
 *	tmpfile			there never was an old name
 *	literal			not deleted: its name ends in " (deleted)"
 *	removed			the directory of the old name is removed
 *	mapped			also mapped shared
 */
#include "apart.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <limits.h>
#include <stdbool.h>

static struct file {
	const char	*name;
	const char	*was;	/* old name below LOG.d, or NULL */
	const char	*is;
	char		 path[PATH_MAX];
	int		 fd;
	nlink_t		 nlink;
} files[] = {
	{ .name = "beside", .was = "a/old", .is = "a/beside" },
	{ .name = "below", .was = "a/old", .is = "a/x/y/below" },
	{ .name = "above", .was = "a/x/y/old", .is = "above" },
	{ .name = "tmpfile", .was = NULL, .is = "a/x/tmpfile" },
	{ .name = "literal", .was = NULL, .is = "a/literal (deleted)" },
	{ .name = "removed", .was = "a/gone/old", .is = "a/x/removed" },
	{ .name = "mapped", .was = "a/old", .is = "a/mapped" }
};

enum { MANY = sizeof files / sizeof *files };

static char *mapped;

static void
dirs_make(const char *log)
{
	static const char *const dir[] = { "", "/a", "/a/x", "/a/x/y",
	    "/a/gone" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof dir / sizeof *dir; i++) {
		snprintf(path, sizeof path, "%s.d%s", log, dir[i]);
		must(mkdir(path, 0755) == 0);
	}
}

static void
names_make(const char *log, struct file *f)
{
	char was[PATH_MAX], self[64];

	snprintf(f->path, sizeof f->path, "%s.d/%s", log, f->is);
	snprintf(was, sizeof was, "%s.d/%s", log, f->was == NULL ? "a" :
	    f->was);
	if (strcmp(f->name, "literal") == 0)
		f->fd = open(f->path, O_RDWR | O_CREAT, 0600);
	else if (f->was == NULL)
		f->fd = open(was, O_RDWR | O_TMPFILE, 0600);
	else
		f->fd = open(was, O_RDWR | O_CREAT, 0600);
	must(f->fd != -1 && ftruncate(f->fd, PAGE) == 0);
	if (strcmp(f->name, "literal") == 0)
		return;
	snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
	must(linkat(AT_FDCWD, self, AT_FDCWD, f->path,
	    AT_SYMLINK_FOLLOW) == 0);
	if (f->was != NULL)
		must(unlink(was) == 0);
	if (strcmp(f->name, "removed") == 0) {
		*strrchr(was, '/') = '\0';
		must(rmdir(was) == 0);
	}
}

static void
file_make(const char *log, struct file *f)
{
	struct stat st;

	names_make(log, f);
	must(fstat(f->fd, &st) == 0);
	f->nlink = st.st_nlink;
}

static long
file_check(const struct file *f, uint64_t n)
{
	struct stat a, b;
	uint64_t got;
	long wrong;
	int fd;

	if (strcmp(f->name, "mapped") == 0)
		memcpy(mapped, &n, sizeof n);
	else if (pwrite(f->fd, &n, sizeof n, 0) != sizeof n)
		return 100;
	if ((fd = open(f->path, O_RDONLY)) == -1)
		return 101;
	wrong = read(fd, &got, sizeof got) != sizeof got || got != n;
	wrong += fstat(f->fd, &a) == -1 || fstat(fd, &b) == -1 ||
	    a.st_ino != b.st_ino || a.st_nlink != f->nlink;
	close(fd);
	return wrong;
}

int
main(int argc, char **argv)
{
	uint64_t n;
	size_t i;

	if (argc != 2)
		return 2;
	apart(argv[1]);
	dirs_make(argv[1]);
	for (i = 0; i < MANY; i++)
		file_make(argv[1], &files[i]);
	mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    files[MANY - 1].fd, 0);
	must(mapped != MAP_FAILED);
	for (n = 1;; n++) {
		tick();
		for (i = 0; i < MANY; i++)
			tell(files[i].name, n, file_check(&files[i], n));
	}
}
