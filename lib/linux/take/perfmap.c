/*
 * Names of code that a process generated itself: the map that compilers such as
 * those of Java and Node write for perf(1), /tmp/perf-PID.map, where PID and
 * /tmp are as the process sees them.
 *
 * Anybody may write to /tmp, and a process may have another directory mounted
 * there. So a map is taken only if its owner is trusted and the process could
 * read it.
 */
#include "bisect.h"
#include "linux/file/file.h"
#include "taking.h"

enum { MOST = 64 * 1024 * KB };	/* maximum size of a perf map, in bytes */

/*
 * Return true if a perf map with status st can be trusted, for a process of
 * user uid. The file must belong to uid, or belong to root and be
 * world-readable.
 */
static bool
is_believed(const struct stat *st, uint64_t uid)
{
	return st->st_uid == uid || (st->st_uid == 0 &&
	    (st->st_mode & S_IROTH) != 0);
}

/*
 * Read at most MOST bytes of file f into *map, and drop a partial last line.
 */
static bool
lines_read(const struct targetfile *f, const char *name, struct bytes *map)
{
	struct bulk b = { 0 };

	if (file_fetch(f, name, MOST, &b) <= 0) {
		bulk_free(&b);
		return false;
	}
	if (bulk_finish(&b, &map->data, &map->len) == -1)
		return false;
	while (map->len > 0 && map->data[map->len - 1] != '\n')
		map->len--;
	return true;
}

/*
 * Read the perf map of process p into *map. status has the len bytes of its
 * /proc/PID/status. If ask is true, read the map even from a file server, which
 * may not answer. The caller frees *map with data_free(). Return false if there
 * is no perf map.
 */
static bool
map_read(const struct lproc *p, const void *status, size_t len, bool ask,
    struct bytes *map)
{
	struct targetfile f;
	uint64_t pid, uid[4];
	char name[64], what[96];
	bool done;

	if (status_inner(status, len, "NSpid", &pid) == 0 ||
	    status_list(status, len, "Uid", 10, uid, 4) < 4)
		return false;
	snprintf(name, sizeof name, "perf-%" PRIu64 ".map", pid);
	snprintf(what, sizeof what, "process %d: /tmp/%s", p->pid, name);
	done = file_openin(p, "/tmp", name, ask, &f) == 0 &&
	    is_believed(&f.st, uid[3]) && lines_read(&f, what, map);
	file_close(&f);
	return done;
}

/*
 * If task t has generated code, add the perf map of process p to rec, the
 * record of p. As long as p is stopped, read no file on a file server.
 */
void
perfmap_record(const struct lproc *p, const struct task *t,
    struct filelist *rec)
{
	const struct file *status;
	struct bytes map;

	if (SEEK(t->vma.v, t->vma.n, vma_ismade(x)) != NULL &&
	    (status = filelist_find(rec, "status")) != NULL &&
	    map_read(p, status->data, status->len, p->clone != 0, &map))
		filelist_add(rec, "perfmap", map.data, map.len);
}

/*
 * Append to map the perf map of process pid of set l. The process was released.
 * Return false if it has no perf map, or if it has ended.
 */
bool
live_perfmap(struct live *l, pid_t pid, struct buf *map)
{
	const struct lproc *p = lproc_find(l, pid);
	struct bytes status, b;
	bool there;

	if (p == NULL || p->mmtid == 0 ||
	    proc_read(pid, 0, "status", &status) == -1)
		return false;
	there = map_read(p, status.data, status.len, true, &b);
	free(status.data);
	if (!there)
		return false;
	if (lproc_isthere(p))
		buf_add(map, b.data, b.len);
	data_free(b.data);
	return map->len > 0 && !map->failed;
}
