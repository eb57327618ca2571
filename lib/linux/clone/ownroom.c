/*
 * How much memory this process may take.
 */
#include "cgroup.h"
#include "cloning.h"
#include "full.h"
#include "state/state.h"

#include <fcntl.h>

/*
 * Lessen the bytes at arg to what cgroup c has left.
 */
static int
room_lessen(void *arg, const struct cglevel *c)
{
	uint64_t *left = arg;

	if (c->limit != UINT64_MAX && c->left < *left)
		*left = c->left;
	return 0;
}

/*
 * Return how many bytes this machine has available, without swap:
 * proc_meminfo(5).
 */
static uint64_t
machine_left(void)
{
	struct buf b = { 0 };
	uint64_t kb;

	kb = full_readfile(AT_FDCWD, "/proc/meminfo", &b) == -1 ? 0 :
	    status_first(b.data, b.len, "MemAvailable", 10);
	buf_free(&b);
	return kb * KB;
}

/*
 * Return how many bytes this process may take: what the machine has available,
 * and the cgroups that we are in; 0 if that is not told.
 */
uint64_t
headroom_ours(void)
{
	struct cgroup c;
	struct buf text = { 0 }, mounts = { 0 };
	uint64_t left;
	int rc;

	rc = full_readfile(AT_FDCWD, "/proc/self/cgroup", &text) == -1 ||
	    full_readfile(AT_FDCWD, "/proc/self/mountinfo", &mounts) == -1 ?
	    -1 : 0;
	/* each ends as a string */
	buf_add(&text, "", 1);
	buf_add(&mounts, "", 1);
	if (rc == 0 && (rc = buf_check(&text)) == 0 &&
	    (rc = buf_check(&mounts)) == 0)
		rc = cgroup_find(&c, CGROUP_MEMORY, (const char *)text.data,
		    (const char *)mounts.data);
	buf_free(&text);
	buf_free(&mounts);
	if (rc == -1)
		return 0;
	left = machine_left();
	(void)cgroup_levels(&c, room_lessen, &left);
	cgroup_free(&c);
	return left;
}
