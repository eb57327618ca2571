/*
 * A process with deleted files, and memory, with large holes: ghosts LOG.  A
 * line of apart.h for each says whether size, holes, contents, times, owner and
 * mode are the same.
 *
 *	sparse		some data in a gigabyte
 *	far		data at 5 GiB, and a hole after it
 *	empty		only a hole; none: an empty file
 *	anew		a new file has its name; over: one was renamed to it
 *	mapped		without a descriptor
 *	memfd shared	memory of a gigabyte
 */
#include "apart.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <limits.h>
#include <stdbool.h>

#define PATTERN	(3 * PAGE)

enum { SEED = 61, MANY = 6 };

static const off_t MB = 1 << 20, GB = 1 << 30;

static struct ghost {
	const char	*name;
	off_t		 size;
	off_t		 at[4];	/* of PATTERN bytes of data; 0: none */
	int		 fd;
	struct stat	 st;
} ghosts[MANY];

static char *mapped, *shared;
static int object;

static void
file_make(const char *log, struct ghost *g, const char *name, off_t size,
    const off_t *at)
{
	static const struct timespec when[2] = {
		{ 1000, 123456000 }, { -5, 700000000 }
	};
	char path[PATH_MAX], buf[3 * MAX_PAGE];
	size_t i;

	g->name = name;
	g->size = size;
	snprintf(path, sizeof path, "%s.%s", log, name);
	g->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOATIME, 0600);
	must(g->fd != -1 && ftruncate(g->fd, size) == 0);
	for (i = 0; i < 4 && at != NULL && at[i] != 0; i++) {
		g->at[i] = at[i];
		pattern_fill(buf, sizeof buf, SEED + i);
		must(pwrite(g->fd, buf, PATTERN, at[i]) == PATTERN);
	}
	must(fchown(g->fd, 12, 34) == 0 && fchmod(g->fd, 04751) == 0);
	must(futimens(g->fd, when) == 0);
	must(unlink(path) == 0 && fstat(g->fd, &g->st) == 0);
}

static void
over_make(const char *log)
{
	char path[2][PATH_MAX];
	int fd;

	snprintf(path[0], PATH_MAX, "%s.over", log);
	snprintf(path[1], PATH_MAX, "%s.new", log);
	fd = open(path[1], O_WRONLY | O_CREAT, 0600);
	must(fd != -1 && write(fd, "new", 3) == 3 && close(fd) == 0);
	fd = open(path[0], O_RDWR | O_CREAT, 0640);
	must(fd != -1 && write(fd, "old", 3) == 3);
	must(rename(path[1], path[0]) == 0);
	ghosts[4].name = "over";
	ghosts[4].size = 3;
	ghosts[4].fd = fd;
	must(fstat(fd, &ghosts[4].st) == 0);
}

static void
all_make(const char *log)
{
	const off_t some[] = { 16 * PAGE, MB + PAGE, GB - PATTERN, 0 };
	const off_t one[] = { 5 * GB, 0 };
	char path[PATH_MAX];
	int fd;

	file_make(log, &ghosts[0], "sparse", GB, some);
	file_make(log, &ghosts[1], "far", 6 * GB + 7, one);
	file_make(log, &ghosts[2], "empty", MB, NULL);
	file_make(log, &ghosts[3], "none", 0, NULL);
	over_make(log);
	file_make(log, &ghosts[5], "anew", 5 * PAGE, NULL);
	snprintf(path, sizeof path, "%s.anew", log);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	must(fd != -1 && write(fd, "new", 3) == 3 && close(fd) == 0);

	snprintf(path, sizeof path, "%s.mapped", log);
	fd = open(path, O_RDWR | O_CREAT, 0604);
	must(fd != -1 && ftruncate(fd, GB) == 0 && unlink(path) == 0);
	mapped = mmap(NULL, (size_t)GB, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	must(mapped != MAP_FAILED && close(fd) == 0);
	pattern_fill(mapped + 100 * MB, PAGE, SEED);
	object = memfd_create("ghost", 0);
	must(object != -1 && ftruncate(object, GB) == 0);
	must(pwrite(object, "end", 3, GB - 3) == 3);
	shared = mmap(NULL, (size_t)GB, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED);
	pattern_fill(shared + 200 * MB, PAGE, SEED);
}

/*
 * Return the number of things that are different.
 */
static long
ghost_check(const struct ghost *g)
{
	char buf[3 * MAX_PAGE];
	struct stat st;
	off_t data;
	long wrong;
	size_t i;

	if (fstat(g->fd, &st) == -1)
		return 100;
	wrong = st.st_size != g->size;
	wrong += st.st_mode != g->st.st_mode || st.st_uid != g->st.st_uid ||
	    st.st_gid != g->st.st_gid;
	wrong += st.st_nlink != 0;
	/* criu keeps microseconds */
	wrong += st.st_mtim.tv_sec != g->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec / 1000 != g->st.st_mtim.tv_nsec / 1000;
	wrong += strcmp(g->name, "over") != 0 &&
	    (st.st_atim.tv_sec != g->st.st_atim.tv_sec ||
	    st.st_atim.tv_nsec / 1000 != g->st.st_atim.tv_nsec / 1000);
	wrong += st.st_blocks > g->st.st_blocks;
	for (data = 0, i = 0; i < 4 && g->at[i] != 0; i++) {
		data = lseek(g->fd, data, SEEK_DATA);
		wrong += data != g->at[i];
		wrong += pread(g->fd, buf, PATTERN, g->at[i]) != PATTERN ||
		    pattern_check(buf, PATTERN, SEED + i) != 0;
		data = lseek(g->fd, g->at[i], SEEK_HOLE);
		wrong += data != g->at[i] + PATTERN;
	}
	if (strcmp(g->name, "over") == 0)
		wrong += pread(g->fd, buf, 4, 0) != 3 ||
		    memcmp(buf, "old", 3) != 0;
	else
		wrong += data < g->size &&
		    lseek(g->fd, data, SEEK_DATA) != -1;
	return wrong;
}

static long
object_check(void)
{
	struct stat st;
	char end[4] = "";

	return fstat(object, &st) == -1 || st.st_size != GB ||
	    st.st_blocks * 512 > MB || pread(object, end, 3, GB - 3) != 3 ||
	    strcmp(end, "end") != 0;
}

/*
 * Check that a page of a mapping has the pattern, and its file few other
 * blocks.
 */
static long
memory_check(const char *p, size_t page, unsigned int mode)
{
	char path[PATH_MAX];
	struct stat st;
	long wrong;

	snprintf(path, sizeof path, "/proc/self/map_files/%jx-%jx",
	    (uintmax_t)(uintptr_t)p, (uintmax_t)(uintptr_t)p + (size_t)GB);
	wrong = pattern_check(p + page, PAGE, SEED);
	if (stat(path, &st) == -1)
		return wrong + 1;
	wrong += st.st_size != GB || st.st_blocks * 512 > MB;
	return wrong + ((st.st_mode & mode) != mode);
}

int
main(int argc, char **argv)
{
	uint64_t n;
	size_t i;

	if (argc != 2)
		return 2;
	apart(argv[1]);
	all_make(argv[1]);
	for (n = 1;; n++) {
		tick();
		for (i = 0; i < MANY; i++)
			tell(ghosts[i].name, n, ghost_check(&ghosts[i]));
		tell("mapped", n, memory_check(mapped, 100 << 20,
		    0604));
		tell("shared", n, memory_check(shared, 200 << 20, 0));
		tell("memfd", n, object_check());
	}
}
