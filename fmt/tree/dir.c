/*
 * List the directories of the tree, and look up names in them.
 */
#include "criu/write/write.h"
#include "model.h"
#include "tree.h"

/*
 * Set name to the name of mapping v's file in map/: START-END.PERMS.NAME, cut
 * to NAME_MAX bytes. NAME is the last component of the mapping's name.
 */
static void
map_name(const struct vma *v, char name[NAME_MAX + 1])
{
	const char *s;
	char perm[5];
	size_t n;

	vma_perms(v, perm);
	n = (size_t)snprintf(name, NAME_MAX + 1, "%08jx-%08jx.%s",
	    (uintmax_t)v->start, (uintmax_t)v->end, perm);
	s = v->name;
	if (*s == '/')
		s = strrchr(s, '/') + 1;
	if (*s == '\0')
		return;
	name[n++] = '.';
	for (; *s != '\0' && n < NAME_MAX; s++)
		name[n++] = *s == '/' ? '_' : *s;
	/* do not cut a UTF-8 character in two */
	if (*s != '\0' && (*s & 0xc0) == 0x80) {
		while ((name[n - 1] & 0xc0) == 0x80)
			n--;
		n--;
	}
	name[n] = '\0';
	text_clean(name, '_');
}

static void
member_name(const struct member *m, char *name, size_t n)
{
	if (m->serial == 1)
		snprintf(name, n, "%" PRIu64, m->proc->pid);
	else
		snprintf(name, n, "%" PRIu64 ".%u", m->proc->pid, m->serial);
}

/*
 * Set *ino to the inode number of the directory of the moment called name.
 * Return false if there is none.
 */
static bool
find_moment(const struct fstree *t, const char *name, uint64_t *ino)
{
	char want[24];
	const unsigned long long n = strtoull(name, NULL, 10);

	snprintf(want, sizeof want, "%llu", n);
	*ino = fsnode_ino(0, FS_MOMENT, 1, (size_t)n);
	return n > 0 && n <= t->moments && strcmp(name, want) == 0;
}

/*
 * Set *ino to the inode number of the process directory called name in the
 * directory of the given moment, or in the root directory if that is 0. name is
 * PID or PID.SERIAL, as member_name() makes it. Return false if there is no
 * such process.
 */
static bool
find_member(const struct fstree *t, size_t moment, const char *name,
    uint64_t *ino)
{
	char want[40];
	const char *dot;
	size_t i;

	dot = strchr(name, '.');
	i = fstree_index(t, moment, strtoull(name, NULL, 10), dot == NULL ? 1 :
	    (unsigned int)strtoul(dot + 1, NULL, 10));
	if (i == t->n || t->m[i]->moment != moment)
		return false;
	member_name(t->m[i], want, sizeof want);
	*ino = fsnode_ino(i, FS_PROC, 1, 0);
	return strcmp(name, want) == 0;
}

/*
 * Set *e to the entry at position slot in the directory of process m. proc is
 * the number of m in the tree. Return false if m has no such file.
 */
static bool
proc_entry(struct member *m, size_t proc, size_t slot, struct fsentry *e)
{
	enum fsclass class;
	size_t i;

	class = slot < FSOWN_MAX ? fsown[slot].class : FS_FILE;
	i = slot < FSOWN_MAX ? slot : slot - FSOWN_MAX + FILE_SMALL;
	e->dir = class != FS_FILE;
	e->next = slot + 1;
	e->ino = e->dir ? fsnode_ino(proc, class, 1, 0) :
	    fsnode_ino(proc, class, 0, i);
	if (e->dir ? !member_hasdir(m, class) : !member_hasfile(m, i))
		return false;
	e->name = slot < FSOWN_MAX ? fsown[slot].name :
	    m->proc->file[slot - FSOWN_MAX].name;
	return true;
}

static bool
find_file(struct member *m, size_t proc, const char *name, uint64_t *ino)
{
	struct fsentry e;
	size_t i;

	for (i = 0; i < FSOWN_MAX + m->proc->nfile; i++)
		if (strcmp(name, i < FSOWN_MAX ? fsown[i].name :
		    m->proc->file[i - FSOWN_MAX].name) == 0 &&
		    proc_entry(m, proc, i, &e)) {
			*ino = e.ino;
			return true;
		}
	return false;
}

static bool
find_map(struct member *m, size_t proc, const char *name, uint64_t *ino)
{
	char want[NAME_MAX + 1];
	const struct vma *v;

	v = vmas_find(&m->vmas, strtoull(name, NULL, 16));
	if (v == NULL || !member_hasmap(m, (size_t)(v - m->vmas.v)))
		return false;
	map_name(v, want);
	*ino = fsnode_ino(proc, FS_MAP, 0, (size_t)(v - m->vmas.v));
	return strcmp(name, want) == 0;
}

static bool
find_image(struct member *m, size_t proc, const char *name, uint64_t *ino)
{
	size_t i;

	if (member_images(m) == 0 || !criuview_find(m->view, name, &i) ||
	    i >= FS_INDEX_MAX)
		return false;
	*ino = fsnode_ino(proc, FS_CRIU, 0, i);
	return true;
}

static uint64_t
path_ino(size_t proc, const struct fsnode *n, const struct pathent *e)
{
	return fsnode_ino(proc, n->class, e->dir ? n->depth + 2 : 0, e->first);
}

/*
 * Look up name in the directory with inode number dir of t. Set *ino to the
 * inode number found. Return 1; 0 if there is no such name; or -1 with errstr
 * set if dir is not a directory.
 */
int
fstree_lookup(struct fstree *t, uint64_t dir, const char *name,
    uint64_t *ino)
{
	struct pathent e;
	struct paths ps;
	struct fsnode n;
	size_t proc;

	if (fsnode_get(t, dir, &n) == -1)
		return -1;
	if (!n.dir)
		return errstr_set("not a directory");
	proc = (size_t)(dir >> FS_PROC_SHIFT);
	switch (n.class) {
	case FS_TOP:
	case FS_MOMENT:
		return n.class == FS_TOP && t->moments > 0 ?
		    find_moment(t, name, ino) :
		    find_member(t, n.index, name, ino);
	case FS_PROC:
		return find_file(n.m, proc, name, ino);
	case FS_MAP:
		return find_map(n.m, proc, name, ino);
	case FS_CRIU:
		return find_image(n.m, proc, name, ino);
	default:
		ps = member_paths(n.m, n.class);
		if (!paths_find(&ps, n.depth, n.index, name, &e))
			return 0;
		*ino = path_ino(proc, &n, &e);
		return 1;
	}
}

/*
 * Return the inode number of the parent of directory dir, whose node is n.
 */
static uint64_t
parent_ino(uint64_t dir, const struct fsnode *n)
{
	struct paths ps;
	size_t proc;

	proc = (size_t)(dir >> FS_PROC_SHIFT);
	if (n->class == FS_PROC && n->m->moment > 0)
		return fsnode_ino(0, FS_MOMENT, 1, n->m->moment);
	if (n->class == FS_TOP || n->class == FS_MOMENT || n->class == FS_PROC)
		return FSTREE_ROOT;
	if (n->class == FS_MAP || n->class == FS_CRIU || n->depth == 0)
		return fsnode_ino(proc, FS_PROC, 1, 0);
	ps = member_paths(n->m, n->class);
	return fsnode_ino(proc, n->class, n->depth, n->depth == 1 ? 0 :
	    paths_parent(&ps, n->depth, n->index));
}

/*
 * Set *e to the directory of the moment at position pos of the root directory.
 * buf has room for its name. Return false after the last one.
 */
static bool
moment_at(const struct fstree *t, size_t pos, struct fsentry *e, char *buf)
{
	snprintf(buf, NAME_MAX + 1, "%zu", pos + 1);
	e->ino = fsnode_ino(0, FS_MOMENT, 1, pos + 1);
	e->dir = true;
	return pos < t->moments;
}

/*
 * Set *e to the entry at position pos of directory dir, or to the next one that
 * exists. n is the node of dir. buf has room for the name of the entry. Return
 * false after the last entry.
 */
static bool
entry_at(struct fstree *t, uint64_t dir, const struct fsnode *n, size_t pos,
    struct fsentry *e, char buf[NAME_MAX + 1])
{
	struct pathent pe;
	struct paths ps;
	size_t proc;

	proc = (size_t)(dir >> FS_PROC_SHIFT);
	e->name = buf;
	e->next = pos + 1;
	switch (n->class) {
	case FS_TOP:
		if (t->moments > 0)
			return moment_at(t, pos, e, buf);
		/* FALLTHROUGH */
	case FS_MOMENT:
		if (pos == 0)
			pos = fstree_index(t, n->index, 0, 0);
		if (pos >= t->n || t->m[pos]->moment != n->index)
			return false;
		e->next = pos + 1;
		member_name(t->m[pos], buf, NAME_MAX + 1);
		e->ino = fsnode_ino(pos, FS_PROC, 1, 0);
		e->dir = true;
		return true;
	case FS_PROC:
		for (; pos < FSOWN_MAX + n->m->proc->nfile; pos++)
			if (proc_entry(n->m, proc, pos, e))
				return true;
		return false;
	case FS_MAP:
		while (pos < n->m->vmas.n && !member_hasmap(n->m, pos))
			pos++;
		if (pos >= n->m->vmas.n)
			return false;
		e->next = pos + 1;
		map_name(&n->m->vmas.v[pos], buf);
		e->ino = fsnode_ino(proc, FS_MAP, 0, pos);
		e->dir = false;
		return true;
	case FS_CRIU:
		if (pos >= member_images(n->m))
			return false;
		e->name = n->m->view->v[pos]->name;
		e->ino = fsnode_ino(proc, FS_CRIU, 0, pos);
		e->dir = false;
		return true;
	default:
		ps = member_paths(n->m, n->class);
		if (pos < n->index)
			pos = n->index;
		if (!paths_entry(&ps, n->depth, n->index, pos, &pe))
			return false;
		snprintf(buf, NAME_MAX + 1, "%.*s", (int)pe.len, pe.name);
		e->ino = path_ino(proc, n, &pe);
		e->dir = pe.dir;
		e->next = pe.next;
		return true;
	}
}

/*
 * List the directory with inode number dir of t. fn(arg, entry) is called for
 * each entry until it returns false. The argument from is the position of the
 * first entry to list: 0, or the value of "next" in the entry before it. Return
 * 0, or -1 with errstr set if dir is not a directory.
 */
int
fstree_list(struct fstree *t, uint64_t dir, uint64_t from,
    bool (*fn)(void *, const struct fsentry *), void *arg)
{
	char buf[NAME_MAX + 1];
	struct fsentry e;
	struct fsnode n;

	if (fsnode_get(t, dir, &n) == -1)
		return -1;
	if (!n.dir)
		return errstr_set("not a directory");
	for (; from < 2; from++) {
		e.name = from == 0 ? "." : "..";
		e.ino = from == 0 ? dir : parent_ino(dir, &n);
		e.dir = true;
		e.next = from + 1;
		if (!fn(arg, &e))
			return 0;
	}
	for (; entry_at(t, dir, &n, (size_t)(from - 2), &e, buf);
	    from = e.next) {
		e.next += 2;
		if (!fn(arg, &e))
			return 0;
	}
	return 0;
}
