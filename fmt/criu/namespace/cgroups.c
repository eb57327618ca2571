/*
 * Write the cgroups of processes as a CRIU image, cgroup.img. It has two
 * parts:
 *
 *	sets		combinations of cgroups that processes are in: an ID,
 *			and for each hierarchy a path and how much of it is the
 *			root of the cgroup namespace, if one is created; each
 *			core image has the ID of a set
 *	controllers	each hierarchy and the cgroups in it, with their
 *			properties, which criu creates if they are missing
 *
 * These are the cgroups of processes, all below them and, in version 2, all
 * above them, because cgroup.subtree_control above decides which properties
 * exist. The root of a hierarchy always exists.
 */
#include "cgroups.h"

static const char *const mode_word[] = {
	[CGROUPS_IGNORE] = "ignore", [CGROUPS_NONE] = "none",
	[CGROUPS_PROPS] = "props", [CGROUPS_SOFT] = "soft",
	[CGROUPS_FULL] = "full", [CGROUPS_STRICT] = "strict"
};

/*
 * Set *mode to the value of enum criu_cgroups for word, an argument of criu's
 * option --manage-cgroups. Return 0, or -1 with errstr set to a message that
 * lists all words.
 */
int
criu_cgroups(const char *word, unsigned int *mode)
{
	unsigned int i;

	for (i = 0; i < sizeof mode_word / sizeof *mode_word; i++)
		if (strcmp(word, mode_word[i]) == 0) {
			*mode = i;
			return 0;
		}
	return errstr_set("%s: not one of ignore, none, props, soft, full, "
	    "strict", word);
}

/*
 * Set the prefix of each cgroup path that is at or below root, the root of the
 * cgroup namespace in one hierarchy. Do this only in that hierarchy, which has
 * the controllers in list. list and root come from a line of cgroups/roots.
 */
static void
prefix_set(struct makecgroups *c, const char *list, const char *root)
{
	struct cgmember *v;
	size_t i, k;

	if (strcmp(root, "/") == 0)
		return;
	for (i = 0; i < c->nset; i++)
		for (k = 0; k < c->set[i].n; k++) {
			v = &c->set[i].v[k];
			if (strcmp(v->list, list) == 0 &&
			    path_isbelow(v->path, root)) {
				v->prefix = strlen(root);
				c->space = true;
			}
		}
}

/*
 * Find the roots of the root process's cgroup namespace in a record, and set
 * the prefixes of cgroup paths. Return 1 on success, 0 if no record has the
 * roots, or -1 with errstr set.
 */
static int
roots_read(struct criumake *m)
{
	const struct maketask *t;
	struct words w;
	int rc;

	t = maketask_beside(m, m->root, "ns/cgroup", "cgroups/roots");
	if (t == NULL)
		return 0;
	if ((rc = maketask_words(t, "cgroups/roots", &w)) != 1)
		return rc;
	while ((rc = words_key(&w)) == 1 && cgpath_sound(w.rest))
		prefix_set(m->cgroups, strcmp(w.word[0], "-") == 0 ? "" :
		    w.word[0], w.rest);
	return rc == 0 ? 1 : words_bad(&w, "hierarchy path");
}

/*
 * If the root process was in a cgroup namespace other than snap's, read the
 * roots of that namespace, so that criu creates one like it. Record a note if
 * the roots are unknown. criu restores all processes in one cgroup namespace.
 * Record a note for each process that was in a different one from the root
 * process.
 */
static int
space_read(struct criumake *m)
{
	struct recfile f;
	size_t i;
	int rc;

	if (!linuxrec_find(&m->root->rec, "ns/cgroup", &f))
		return 0;
	rc = maketask_isapart(m->root, "cgroup") ? roots_read(m) : 1;
	if (rc == 0)
		rc = make_note(m, m->root, NULL, "it is restored in criu's "
		    "cgroup namespace: the root of its own is unknown");
	for (i = 1; i < m->norder && rc != -1; i++)
		if (linuxrec_find(&m->order[i]->rec, "ns/cgroup", &f) &&
		    !maketask_same(m->root, m->order[i], "ns/cgroup"))
			rc = make_note(m, m->order[i], NULL, "it is restored "
			    "in the cgroup namespace of process %" PRIu64 ", "
			    "not one of its own", m->root->proc->pid);
	return rc == -1 ? -1 : 0;
}

/*
 * Drop all cgroups, so that the processes are restored in criu's own cgroups.
 */
static void
cgroups_drop(struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->nbypid; i++)
		m->bypid[i]->cgset = 0;
	m->cgroups = NULL;
}

/*
 * Read the cgroups of the processes into m->cgroups. Do nothing if the user
 * chose to ignore them. If the cgroups of any process cannot be restored,
 * record a reason and restore no cgroups. Return 0, or -1 with errstr set.
 */
int
makecgroup_read(struct criumake *m)
{
	const size_t refused = m->nreason;

	if (m->opts->cgroups == CGROUPS_IGNORE)
		return 0;
	m->cgroups = pool_new(&m->pool, 1, sizeof *m->cgroups);
	if (m->cgroups == NULL || cgsets_read(m) == -1)
		return -1;
	if (m->nreason > refused) {
		cgroups_drop(m);
		return 0;
	}
	return space_read(m) == -1 ? -1 : cgdirs_read(&m->cgroups->dirs, m);
}

/*
 * Add the cgroup sets of m to e. m->msgs owns the parts of e.
 */
static int
sets_put(struct criumake *m, Criu__Cgroup *e)
{
	const struct makecgroups *c = m->cgroups;
	const struct cgset *s;
	Criu__CgMember *v;
	Criu__CgSet *set;
	size_t i, k;

	if ((set = MSG_MANY(&m->msgs, e, sets, c->nset)) == NULL)
		return -1;
	for (i = 0; i < c->nset; i++) {
		s = &c->set[i];
		set[i].id = (uint32_t)(CGROUP_CRIUS + 1 + i);
		if ((v = MSG_MANY(&m->msgs, &set[i], ctls, s->n)) == NULL)
			return -1;
		for (k = 0; k < s->n; k++) {
			v[k].name = (char *)(uintptr_t)s->v[k].list;
			v[k].path = (char *)(uintptr_t)s->v[k].path;
			v[k].has_cgns_prefix = s->v[k].prefix > 0;
			v[k].cgns_prefix = (uint32_t)s->v[k].prefix;
		}
	}
	return 0;
}

/*
 * Write cgroup.img, and add --manage-cgroups to criu's command line. Return 0,
 * or -1 with errstr set.
 */
int
makecgroup_write(struct criumake *m)
{
	const struct makecgroups *c = m->cgroups;
	Criu__Cgroup e = CRIU__CGROUP__INIT;

	if (c == NULL || c->nset == 0)
		return 0;
	if (sets_put(m, &e) == -1 || cgtrees_make(m, &e) == -1 ||
	    make_message(m, CRIU_CGROUP, &e.base, "cgroup.img") == -1)
		return -1;
	if (m->opts->words != NULL)
		buf_printf(m->opts->words, " --manage-cgroups=%s",
		    mode_word[m->opts->cgroups]);
	return 0;
}
