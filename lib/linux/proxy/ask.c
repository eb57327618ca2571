/*
 * What the proxy (main.c) is asked for, as it may never come back: a
 * file or a page that another process or machine serves, the path to a file,
 * and those files of /proc for which the kernel reads the memory of a target,
 * or waits until its mappings do not change.
 */
#include "model.h"
#include "proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Ask, and wait for the one answer.  Return as proxy_receive.
 */
static ssize_t
ask_once(const struct proxy_key *k, const struct proxy_ask *q, int at,
    struct proxy_answer *a, void *buf, size_t len, int *fd)
{
	uint64_t allowed;
	ssize_t n;

	proxy_lock();
	if (proxy_ask(k, q, at, &allowed) == -1)
		n = -1;
	else if (proxy_await(&allowed))
		n = proxy_receive(a, buf, len, fd);
	else {
		proxy_abandon();
		n = proxy_miss(k);
	}
	proxy_unlock();
	return n;
}

/*
 * Receive what a file of /proc has.
 */
static int
proc_receive(const struct proxy_key *k, uint64_t allowed, struct bulk *b)
{
	struct proxy_answer a = { 0 };
	uint8_t piece[PROXY_MOST];
	ssize_t n;

	do {
		if (!proxy_await(&allowed)) {
			proxy_abandon();
			return proxy_miss(k);
		}
		n = proxy_receive(&a, piece, sizeof piece, NULL);
		if (n > 0)
			bulk_add(b, piece, (size_t)n);
	} while (n > 0);
	return (int)n;
}

/*
 * Read the whole file path, of process pid, and add what it has to *out.
 * Return 0, or -1 with errno when it cannot be read.
 */
int
proxy_proc(pid_t pid, const char *path, struct bulk *out)
{
	const struct proxy_key k = { KEY_PROC, (uint64_t)pid, path };
	struct proxy_ask q = { .what = PROXY_PROC };
	uint64_t allowed;
	int rc;

	strlcpy(q.name, path, sizeof q.name);
	proxy_lock();
	rc = proxy_ask(&k, &q, -1, &allowed);
	if (rc == 0)
		rc = proc_receive(&k, allowed, out);
	proxy_unlock();
	return rc;
}

static int
ask_walk(enum proxy_what what, int root, const char *path)
{
	const struct proxy_key k = { KEY_WALK, 0, path };
	struct proxy_ask q = { .what = what };
	struct proxy_answer a = { 0 };
	int fd = -1;

	if (strlcpy(q.name, path, sizeof q.name) >= sizeof q.name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return ask_once(&k, &q, root, &a, NULL, 0, &fd) == -1 ? -1 : fd;
}

/*
 * Look up a path as a process does whose root is the directory root.  Return a
 * descriptor with O_PATH, the caller's, or -1 with errno.
 */
int
proxy_walk(int root, const char *path)
{
	return ask_walk(PROXY_WALK, root, path);
}

/*
 * Do the same with name in the directory that is open as dir, which fails if it
 * is a link or something is mounted there.  Return a descriptor, or -1 with
 * errno.
 */
int
proxy_step(int dir, const char *name)
{
	return ask_walk(PROXY_STEP, dir, name);
}

/*
 * Have the proxy open the file that at, a descriptor with O_PATH, leads to,
 * and set *a to what it tells of it.  number is the file's from now on, which
 * no other has; dev that of its file system; name is for the user.  Return 0,
 * or -1 with errno.
 */
int
proxy_open(int at, uint64_t number, uint64_t dev, const char *name,
    struct proxy_answer *a)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name };
	const struct proxy_ask q = { .what = PROXY_OPEN, .file = number };

	return ask_once(&k, &q, at, a, NULL, 0, NULL) == -1 ? -1 : 0;
}

/*
 * Read up to len bytes, PROXY_MOST at the most, at off of the file number that
 * proxy_open opened through at into buf. dev and name are its device and its
 * name, for who does not answer.  Return how many, 0 at its end, or -1 with
 * errno.
 */
ssize_t
proxy_read(int at, uint64_t number, uint64_t dev, const char *name, void *buf,
    size_t len, uint64_t off)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name };
	const struct proxy_ask q = { .what = PROXY_READ, .file = number,
	    .at = off, .len = len < PROXY_MOST ? len : PROXY_MOST };
	struct proxy_answer a = { 0 };

	return ask_once(&k, &q, at, &a, buf, len, NULL);
}

/*
 * Return how many of len bytes at addr one answer has room for, which end with
 * a page if they are not all.  page is how many bytes one has.
 */
size_t
proxy_fits(size_t len, uint64_t addr, uint64_t page)
{
	size_t most;

	most = (size_t)(PROXY_MOST - addr % page);
	return len < most ? len : most;
}

/*
 * Read up to len bytes, PROXY_MOST at the most, at addr of the memory of a
 * process into buf. mem is open as that, pid is a thread of the process; file
 * tells that the bytes are of a mapped file, and unmodified.  Return how many,
 * or -1 with errno.
 */
ssize_t
proxy_memory(int mem, pid_t pid, bool file, void *buf, size_t len,
    uint64_t addr)
{
	const struct proxy_ask q = { .what = file ? PROXY_FILE : PROXY_PAGES,
	    .pid = pid, .at = addr, .len = len < PROXY_MOST ? len :
	    PROXY_MOST };
	struct proxy_answer a = { 0 };
	struct proxy_key k = { KEY_MEMORY, (uint64_t)pid, NULL };
	char what[64];

	snprintf(what, sizeof what, "memory of %d", pid);
	k.what = what;
	return ask_once(&k, &q, mem, &a, buf, len, NULL);
}
