/*
 * Children of "snapload --receive": wait for one, and end those that a failed
 * restore leaves behind.
 */
#include "receive.h"
#include "bisect.h"

#include "common/common.h"

#include <sys/wait.h>

#include <signal.h>
#include <unistd.h>

static pid_t *inherited;	/* children from before execve(2) */
static size_t ninherited;

/*
 * Wait for the child with process ID pid to end. Return 0 if its exit status is
 * 0, and otherwise -1.
 */
int
child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/*
 * Call fn with the process ID of each child that this process has, and return
 * the sum of its results.
 */
static int
children_each(int (*fn)(pid_t))
{
	char path[64];
	FILE *f;
	int pid, n = 0;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	while (fscanf(f, "%d", &pid) == 1)
		n += fn(pid);
	fclose(f);
	return n;
}

static int
rest_add(pid_t pid)
{
	MUST_ROOM(inherited, ninherited);
	inherited[ninherited++] = pid;
	return 0;
}

/*
 * Before any child is started, remember the children that this process has
 * inherited.
 */
void
rest_begin(void)
{
	(void)children_each(rest_add);
}

/*
 * Unless pid is an inherited child, kill it, wait for it and return 1.
 */
static int
rest_end(pid_t pid)
{
	if (SEEK(inherited, ninherited, *x == pid) != NULL)
		return 0;
	(void)kill(pid, SIGKILL);
	(void)child_wait(pid);
	return 1;
}

/*
 * Kill all processes that criu left behind when it failed. They are our
 * children, since PR_SET_CHILD_SUBREAPER is set.
 */
void
rest_kill(void)
{
	/* the children of those that were killed are ours then */
	while (children_each(rest_end) > 0)
		continue;
}
