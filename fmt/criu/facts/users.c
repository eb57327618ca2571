/*
 * Users and groups in the user namespace that is made for processes: CRIU
 * images have them as they are known there, a record as snap(1) knew them.
 */
#include "facts.h"
#include "vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = 65534 };	/* who is not known there: overflowuid */

/*
 * Read a map of proc_pid_uid_map(5) of the root, in lines of three numbers.
 */
static int
map_read(struct criumake *m, const char *name, struct makeids *ids)
{
	char *text, *line, *next;
	struct makeidmap e;

	next = text = words_text(&m->root->rec, name);
	while ((line = strsep(&next, "\n")) != NULL) {
		if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu32, &e.first,
		    &e.lower, &e.count) != 3)
			continue;
		if (VEC_ADD(ids->v, ids->n, e) == -1) {
			free(text);
			return -1;
		}
	}
	free(text);
	return 0;
}

/*
 * Find out whether a user namespace is made: for an init that was not in that
 * of snap, and has a mount namespace that is made, too, without which criu has
 * no right to show it /proc.  Return 0, with m->users set to that, or -1.
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
	size_t i;

	if (!m->users)
		return (uint32_t)id;
	for (i = 0; i < ids->n; i++) {
		e = &ids->v[i];
		if (id >= e->lower && id - e->lower < e->count)
			return e->first + (uint32_t)(id - e->lower);
	}
	return NOBODY;
}

/*
 * Return the number by which user id of a record is known to the processes.
 */
uint32_t
makeusers_uid(const struct criumake *m, uint64_t id)
{
	return id_map(m, &m->uids, id);
}

/*
 * Return the number by which group id of a record is known to the processes of
 * m.
 */
uint32_t
makeusers_gid(const struct criumake *m, uint64_t id)
{
	return id_map(m, &m->gids, id);
}

/*
 * Free what m knows of users and groups.
 */
void
makeusers_free(struct criumake *m)
{
	free(m->uids.v);
	free(m->gids.v);
}
