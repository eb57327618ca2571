/*
 * Decide which namespaces criu creates for the processes. For all other kinds,
 * the processes are restored in criu's own namespace. criu creates a namespace
 * if its ID for the processes differs from that for criu itself:
 * prepare_pstree_kobj_ids() in its criu/pstree.c.
 *
 *	pid	if the root process is the init of a pid namespace
 *	uts	if the record has a host name and a domain name
 *	ipc	if they use System V shared memory (sysv.c); or if they are in
 *		an IPC namespace other than the initial one, and that has
 *		objects or the root process is an init (sysvspace.c)
 *	user	if the root process is an init, and was in user and mount
 *		namespaces other than snap's (users.c)
 *	net	if the root process is an init, and was in a network namespace
 *		other than snap's (netspace.c)
 *	cgroup	if they were in a cgroup namespace other than snap's, and
 *		cgroups are restored (cgroups.c)
 *	mnt	if the root process is an init, and the record has its mounts;
 *		then also all other mount namespaces of the processes (mounts.c)
 */
#include "bisect.h"
#include "cgroups.h"

#include <inttypes.h>
#include <sched.h>

static bool
has_uts(const struct criumake *m)
{
	struct recfile f;

	return linuxrec_find(&m->root->rec, "hostname", &f) &&
	    linuxrec_find(&m->root->rec, "domainname", &f);
}

/*
 * If something is mounted below the directory given with --root, clear m->users
 * and record a reason: criu cannot create the user namespace. criu binds that
 * directory without the mounts below it (do_mount_root_v2() in its mount-v2.c).
 * The kernel forbids this in a user namespace (has_locked_children() in its
 * fs/namespace.c).
 */
static int
users_check(struct criumake *m)
{
	const char *point;

	if (!m->users || (point = makemount_below(m)) == NULL)
		return 0;
	m->users = false;
	return make_refuse(m, m->root, NULL, WHY_USERNS, "its user namespace, "
	    "which criu cannot create with --root %s because %s is mounted "
	    "there", m->inside.top->outside, point);
}

/*
 * The root process is not an init. Record a note if its mount or network
 * namespace differed from snap's: criu creates no such namespace for it.
 */
static int
outside_note(struct criumake *m)
{
	static const char *const kind[] = { "mnt", "net" };
	size_t i;

	for (i = 0; i < sizeof kind / sizeof *kind; i++)
		if (maketask_isapart(m->root, kind[i]) &&
		    make_note(m, m->root, NULL, "it is restored in criu's %s "
		    "namespace, not one of its own (it is not an init)",
		    kind[i]) == -1)
			return -1;
	return 0;
}

/*
 * Record a reason for each namespace of the root process that differs from
 * snap's and that criu cannot create. The process would be restored in criu's
 * namespace, where it would find different files and objects. Record only a
 * note if the process is not an init (the first process of a pid namespace):
 * the user can create namespaces and start criu in them.
 */
static int
root_check(struct criumake *m)
{
	char *text, *name, *rest;
	uint64_t pid;
	bool made;
	int rc;

	if (!maketask_isinit(m->root))
		return outside_note(m);
	/* it was not captured from outside its pid namespace */
	if (status_inner(m->root->status.data, m->root->status.len, "NSpid",
	    &pid) <= 1)
		return 0;
	text = maketask_text(m->root, "namespaces");
	if (text == NULL)
		return make_refuse(m, m->root, NULL, WHY_NAMESPACES, "it is "
		    "an init whose namespaces are not in the snapshot");
	rc = strstr(text, "mnt") != NULL && makemount_read(m) == -1 ? -1 :
	    users_check(m);
	for (name = strtok_r(text, " \n", &rest); name != NULL && rc == 0;
	    name = strtok_r(NULL, " \n", &rest)) {
		made = (strcmp(name, "ipc") == 0 && makesysv_space(m)) ||
		    (strcmp(name, "mnt") == 0 && makemount_space(m));
		if (strcmp(name, "cgroup") == 0 &&
		    m->opts->cgroups == CGROUPS_IGNORE)
			rc = make_note(m, m->root, NULL, "it is restored in "
			    "criu's cgroup namespace, not one of its own "
			    "(--manage-cgroups)");
		else if (strcmp(name, "net") == 0)
			rc = makenet_check(m);
		else if (!made && (strcmp(name, "ipc") == 0 ||
		    strcmp(name, "mnt") == 0))
			rc = make_refuse(m, m->root, NULL, WHY_NAMESPACES,
			    "its %s namespace", name);
	}
	return rc;
}

/*
 * Record a reason for each namespace of the root process that cannot be
 * restored, and for each process that is in another mount namespace than the
 * root process if criu does not create both. Return 0, or -1 with errstr set.
 */
int
makespaces_check(struct criumake *m)
{
	const struct maketask *t;
	struct recfile f;
	bool apart;
	size_t i;

	if (root_check(m) == -1)
		return -1;
	for (i = 0; i < m->norder; i++) {
		t = m->order[i];
		apart = linuxrec_find(&t->rec, "ns/mnt", &f) &&
		    linuxrec_find(&m->root->rec, "ns/mnt", &f) &&
		    !maketask_same(t, m->root, "ns/mnt");
		if ((makemount_space(m) ? t->mounts == NULL : apart) &&
		    make_never(m, t, "in another mnt namespace than process %"
		    PRIu64 ": cannot be restored", m->root->proc->pid) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set the namespace IDs in ids to those of process t, or to those of criu
 * itself if t is NULL.
 */
void
makespaces_ids(const struct criumake *m, Criu__Ids *ids,
    const struct maketask *t)
{
	static const struct {
		const char	*field;
		uint32_t	 flag;
		uint64_t	 made;
	} kind[] = {
		{ "pid_ns_id", CLONE_NEWPID, MADE_PID },
		{ "uts_ns_id", CLONE_NEWUTS, MADE_UTS },
		{ "mnt_ns_id", CLONE_NEWNS, MADE_ID },
		{ "ipc_ns_id", CLONE_NEWIPC, MADE_IPC },
		{ "user_ns_id", CLONE_NEWUSER, MADE_ID },
		{ "net_ns_id", CLONE_NEWNET, MADE_NET },
		{ "cgroup_ns_id", CLONE_NEWCGROUP, MADE_ID }
	};
	uint64_t id;
	size_t i;

	for (i = 0; i < sizeof kind / sizeof *kind; i++) {
		id = !(m->made & kind[i].flag) ? makens_id(m, kind[i].flag) :
		    t == NULL ? CRIUS_IDS : kind[i].flag == CLONE_NEWNS ?
		    t->mounts->mountsid : kind[i].made;
		if (id != 0)
			MSG_FILL(ids, kind[i].field, &id);
	}
}

/*
 * Set m->made to the kinds of namespaces that criu creates.
 */
void
makespaces_made(struct criumake *m)
{
	m->made = (maketask_isinit(m->root) ? CLONE_NEWPID : 0U) |
	    (has_uts(m) ? CLONE_NEWUTS : 0U) |
	    (makemount_space(m) ? CLONE_NEWNS : 0U) |
	    (makesysv_space(m) ? CLONE_NEWIPC : 0U) |
	    (m->users ? CLONE_NEWUSER : 0U) |
	    (m->net != NULL ? CLONE_NEWNET : 0U) |
	    (m->cgroups != NULL && m->cgroups->space ? CLONE_NEWCGROUP : 0U);
}

/*
 * Set the field of e at offset off to the ID map ids. m->msgs owns the parts of
 * e.
 */
static int
map_put(struct criumake *m, Criu__Userns *e, size_t off,
    const struct makeids *ids)
{
	Criu__IdMap *v;
	size_t i;

	if ((v = msg_many(&m->msgs, &e->base, off, ids->n)) == NULL)
		return -1;
	for (i = 0; i < ids->n; i++) {
		v[i].first = ids->v[i].first;
		v[i].lower_first = ids->v[i].lower;
		v[i].count = ids->v[i].count;
	}
	return 0;
}

/*
 * Record a note that criu, once it is in the user namespace, reads some images
 * as the root user of that namespace.
 */
static int
reader_note(struct criumake *m)
{
	const struct makeidmap *e = SEEK(m->uids.v, m->uids.n, x->first == 0);
	const uint32_t uid = e == NULL ? 0 : e->lower;

	return uid == 0 ? 0 : make_note(m, m->root, NULL, "criu also reads "
	    "images as user %u, the root of its user namespace: run chown -R "
	    "%u and chmod -R g+rX", uid, uid);
}

/*
 * Write userns-N.img with the ID maps of the user namespace, if criu creates a
 * user namespace.
 */
static int
users_write(struct criumake *m)
{
	Criu__Userns e = CRIU__USERNS__INIT;

	if (!m->users)
		return 0;
	if (reader_note(m) == -1 ||
	    map_put(m, &e, offsetof(Criu__Userns, uid_map), &m->uids) == -1 ||
	    map_put(m, &e, offsetof(Criu__Userns, gid_map), &m->gids) == -1)
		return -1;
	return make_message(m, CRIU_USERNS, &e.base, "userns-%d.img", MADE_ID);
}

/*
 * Write the images of the network and user namespaces, and utsns-N.img with the
 * host and domain names. Return 0, or -1 with errstr set.
 */
int
makespaces_write(struct criumake *m)
{
	Criu__Utsns uts = CRIU__UTSNS__INIT;

	if (makenet_write(m) == -1 || users_write(m) == -1)
		return -1;
	if (!has_uts(m))
		return 0;
	uts.nodename = maketask_text(m->root, "hostname");
	uts.domainname = maketask_text(m->root, "domainname");
	return make_message(m, CRIU_UTSNS, &uts.base, "utsns-%d.img", MADE_UTS);
}
