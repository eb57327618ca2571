/*
 * Write open namespaces (setns(2)) as CRIU images. An image contains a
 * namespace ID; criu opens the namespace of a process that has this ID. If criu
 * creates a namespace of this kind (namespace/spaces.c), use the ID of the new
 * one. Otherwise the open namespace is the one that criu is in, and the
 * restored processes get an ID for it.
 */
#include "open.h"
#include "bisect.h"

#include <sched.h>

enum { FIRST_ID = 16 }; /* first ID of an open namespace; namespace/spaces.c
			   uses lower IDs */

static const struct nskind {
	const char	*name;
	uint32_t	 flag;
	uint32_t	 made;	/* ID of a namespace that criu creates */
} spaces[] = {
	{ "ipc", CLONE_NEWIPC, MADE_IPC }, { "net", CLONE_NEWNET, MADE_NET },
	{ "pid", CLONE_NEWPID, MADE_PID }, { "uts", CLONE_NEWUTS, MADE_UTS }
};

/*
 * Return the entry for the kind of namespace called name, or NULL if there is
 * none.
 */
static const struct nskind *
space_find(const char *name)
{
	return name == NULL ? NULL : SEEK_IN(spaces, strcmp(x->name, name) ==
	    0);
}

/*
 * Return true if process t is in the namespace that f refers to.
 */
static bool
is_inside(const struct maketask *t, const struct makeopen *f)
{
	char name[32], want[64];

	snprintf(name, sizeof name, "ns/%s", f->space);
	snprintf(want, sizeof want, "%s:[%" PRIu64 "]", f->space,
	    f->v[OK_INO][0]);
	return maketask_is(t, name, want);
}

/*
 * Return the reason why open namespace f cannot be restored, or NULL if it can.
 */
const char *
makens_obstacle(struct criumake *m, const struct makeopen *f)
{
	const struct nskind *s;

	if ((s = space_find(f->space)) == NULL)
		return "a namespace of a kind that cannot be opened again";
	if (m->made & s->flag)
		return is_inside(m->root, f) ? NULL :
		    "a namespace of a kind that is newly created";
	return is_inside(f->user, f) ? NULL :
	    "a namespace that the process is not in";
}

/*
 * Fill in msg, the protobuf message of open namespace f. Return 0.
 */
int
makens_write(struct criumake *m, const struct makeopen *f, void *msg)
{
	const struct nskind *s = space_find(f->space);
	Criu__NsFile *p = msg;

	m->spaces |= s->flag;
	p->ns_id = m->made & s->flag ? s->made :
	    FIRST_ID + (uint32_t)(s - spaces);
	p->ns_cflag = s->flag;
	return 0;
}

/*
 * Return the ID of the open namespace of the kind that flag gives, such as
 * CLONE_NEWNET. Return 0 if no such namespace is open, or if criu creates one
 * of this kind.
 */
uint32_t
makens_id(const struct criumake *m, uint32_t flag)
{
	const struct nskind *s = SEEK_IN(spaces, m->spaces & flag & x->flag);

	return s == NULL ? 0 : FIRST_ID + (uint32_t)(s - spaces);
}
