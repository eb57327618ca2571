/*
 * Map user and group IDs for the user namespace that criu creates: CRIU images
 * have the IDs inside this namespace. A record has those that snap(1) saw.
 */
#include "facts.h"
#include "bisect.h"

enum { NOBODY = 65534 }; /* overflowuid, used for unmapped IDs */

/*
 * Read into ids the ID map (proc_pid_uid_map(5)) from the file called name in
 * the root process's record.
 */
static int
map_read(struct criumake *m, const char *name, struct makeids *ids)
{
	char *line, *next;
	struct makeidmap e;

	next = maketask_text(m->root, name);
	while ((line = strsep(&next, "\n")) != NULL)
		if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu32, &e.first,
		    &e.lower, &e.count) == 3 &&
		    POOL_ADD(&m->pool, ids->v, ids->n, e) == -1)
			return -1;
	return 0;
}

/*
 * Set m->users to true, and read the ID maps, if criu must create a user
 * namespace. It must if the root process is an init (the first process of a pid
 * namespace) and was in user and mount namespaces other than snap's. The mount
 * namespace matters because criu has the right to mount /proc only in a mount
 * namespace that it creates. If the user leaves namespaces out, do nothing.
 * Return 0, or -1 with errstr set.
 */
int
makeusers_read(struct criumake *m)
{
	const uint64_t left = m->opts->leave;
	uint64_t v;

	if (!maketask_isinit(m->root) || status_inner(m->root->status.data,
	    m->root->status.len, "NSpid", &v) < 2 ||
	    !maketask_isapart(m->root, "user") ||
	    !maketask_isapart(m->root, "mnt") || left >> WHY_NAMESPACES & 1)
		return 0;
	if (map_read(m, "uid_map", &m->uids) == -1 ||
	    map_read(m, "gid_map", &m->gids) == -1)
		return -1;
	m->users = m->uids.n > 0 && m->gids.n > 0;
	return 0;
}

static uint32_t
id_map(const struct criumake *m, const struct makeids *ids, uint64_t id)
{
	const struct makeidmap *e;

	if (!m->users)
		return (uint32_t)id;
	e = SEEK(ids->v, ids->n, id >= x->lower && id - x->lower < x->count);
	return e == NULL ? NOBODY : e->first + (uint32_t)(id - e->lower);
}

/*
 * Translate id, a user ID from a record, to an ID in the user namespace that
 * criu creates. Return id itself if criu creates none.
 */
uint32_t
makeusers_uid(const struct criumake *m, uint64_t id)
{
	return id_map(m, &m->uids, id);
}

/*
 * Translate id, a group ID from a record, to an ID in the user namespace that
 * criu creates. Return id itself if criu creates none.
 */
uint32_t
makeusers_gid(const struct criumake *m, uint64_t id)
{
	return id_map(m, &m->gids, id);
}
