/*
 * The question to the far side of a move (--to), before anything is stopped:
 * what the processes need there. Its lines are:
 *
 *	memory KB	kilobytes of their memory, doubled if it is copied early
 *	pid N		a process ID
 *	file PATH	a file that must exist
 *
 * There is no pid line for a process in another PID namespace, and no file line
 * for a process in another mount namespace. The namespace and its files are
 * restored with the process, or cannot be seen from here.
 */
#include "job.h"
#include "bisect.h"

#include <dirent.h>
#include <unistd.h>

/*
 * Return true if process pid is in our namespace called name, such as "mnt".
 */
static bool
is_here(pid_t pid, const char *name)
{
	const uint64_t theirs = ns_number(pid, name);

	return theirs != 0 && theirs == ns_number(getpid(), name);
}

/*
 * Append path to b as a file that must exist, unless it is a device, a file
 * without a name, or a path of more than one line.
 */
static void
file_add(struct buf *b, const char *path)
{
	static const char *const other[] = { "/dev/", "/proc/", "/sys/",
	    "/memfd:", "/SYSV", "/anon_hugepage", "/[" };
	size_t n = strlen(path);

	if (SEEK_IN(other, strncmp(path, *x, strlen(*x)) == 0) != NULL)
		return;
	if (*path == '/' && strpbrk(path, "\n\\") == NULL &&
	    (n < 10 || strcmp(path + n - 10, " (deleted)") != 0))
		buf_printf(b, "file %s\n", path);
}

/*
 * Append to b the files that process pid has mapped.
 */
static void
maps_add(struct buf *b, pid_t pid)
{
	struct vmas l = { 0 };
	const char *last = "";
	size_t i;

	(void)maps_read(pid, &l);
	/* mappings of one file are often adjacent */
	for (i = 0; i < l.n; i++)
		if (*l.v[i].name == '/' && strcmp(l.v[i].name, last) != 0)
			file_add(b, last = l.v[i].name);
	vmas_free(&l);
}

/*
 * Append to b, with file_add(), the path to which the symbolic link
 * /proc/pid/name points.
 */
static void
link_add(struct buf *b, pid_t pid, const char *name)
{
	char path[300], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	if ((n = readlink(path, to, sizeof to - 1)) <= 0)
		return;
	to[n] = '\0';
	file_add(b, to);
}

/*
 * Append the working directory and the open files of process pid to b.
 */
static void
files_add(struct buf *b, pid_t pid)
{
	char path[300];
	struct dirent *e;
	DIR *d;

	link_add(b, pid, "cwd");
	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "fd/%s", e->d_name);
		link_add(b, pid, path);
	}
	closedir(d);
}

/*
 * Return the number of kilobytes of memory that a snapshot of process pid
 * contains: its share of anonymous and shared memory, resident or swapped out.
 */
static uint64_t
memory_kb(pid_t pid)
{
	static const char *const keys[] = { "Pss_Anon:", "Pss_Shmem:",
	    "SwapPss:" };
	char path[64], line[128];
	uint64_t kb = 0;
	size_t i;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		for (i = 0; i < sizeof keys / sizeof *keys; i++)
			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				kb += strtoull(line + strlen(keys[i]), NULL,
				    10);
	fclose(f);
	return kb;
}

struct question {
	struct buf	*b;
	uint64_t	 kb;
};

/*
 * Add what process pid needs to arg, a struct question.
 */
static int
process_add(void *arg, pid_t pid)
{
	struct question *q = arg;

	q->kb += memory_kb(pid);
	if (is_here(pid, "pid"))
		buf_printf(q->b, "pid %d\n", pid);
	if (is_here(pid, "mnt")) {
		maps_add(q->b, pid);
		files_add(q->b, pid);
	}
	return 0;
}

/*
 * Append to b what the processes of l need. early is true if their memory will
 * be copied early. Return 0, or -1 with errstr set.
 */
int
question_make(struct buf *b, struct live *l, bool early)
{
	struct question q = { .b = b };

	if (live_each(l, process_add, &q) == -1)
		return -1;
	/* memory that changes after an early copy is stored twice */
	buf_printf(b, "memory %ju\n", (uintmax_t)(early ? 2 * q.kb : q.kb));
	return buf_check(b);
}
