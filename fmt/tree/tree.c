/*
 * Present snapshots as a tree of files:
 *
 *	PID/		ctl text mem core and the small files, map/, linux/,
 *			root/, criu/
 *	TID/		a thread: its small files, text and mem, linux/
 *	PID.2/		from another snapshot that has the same PID
 *	MOMENT/		of a series: the same for each of its moments
 *
 * There are no node structures: an inode number identifies a file.
 *
 *	63    41   38      26       0
 *	| proc | fsclass | depth | index |
 *
 * depth is 0 for a file, and 1 or more for a directory. Below linux/ and
 * root/, index is that of the directory's first name, and depth - 1 is the
 * depth in paths.c; in map/ index is that of the mapping, and in criu/ that of
 * the image. For the directory of a moment, proc is 0 and index its number.
 */
#include "criu/write/write.h"
#include "record/record.h"
#include "tree.h"
#include "bisect.h"
#include "vec.h"

enum { PROC_MAX = 1 << (64 - FS_PROC_SHIFT) };

/*
 * Entries of a process directory that are not small files; those of enum fsfile
 * come first.
 */
const struct fsown fsown[FSOWN_MAX] = {
	[FILE_CTL] = { "ctl", FS_FILE },
	[FILE_TEXT] = { "text", FS_FILE },
	[FILE_MEM] = { "mem", FS_FILE },
	[FILE_CORE] = { "core", FS_FILE },
	{ "map", FS_MAP },
	{ "linux", FS_LINUX },
	{ "root", FS_ROOT },
	{ "criu", FS_CRIU }
};

/*
 * Return a new tree without snapshots, or NULL with errstr set. Any thread that
 * uses the tree calls warn(arg, sentence) if something cannot be shown
 * completely. warn may be NULL.
 */
struct fstree *
fstree_new(void (*warn)(void *, const char *), void *arg)
{
	struct fstree *t;

	if ((t = mem_new(1, sizeof *t)) == NULL)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->warn = warn;
	t->arg = arg;
	return t;
}

/*
 * Free tree t, which may be NULL, but not its snapshots. The snapshots belong
 * to the caller, and may be freed afterwards.
 */
void
fstree_free(struct fstree *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++)
		member_free(t->m[i]);
	free(t->m);
	roots_free(t);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

CMP_BY(member_cmp, struct member *const,
    (*x)->moment != (*y)->moment ? ORDER((*x)->moment, (*y)->moment) :
    ORDER((*x)->proc->pid, (*y)->proc->pid) != 0 ?
    ORDER((*x)->proc->pid, (*y)->proc->pid) : ORDER((*x)->seq, (*y)->seq))

static int
member_add(struct fstree *t, struct snap *s, struct proc *p, void *tag)
{
	struct member *m;

	if (t->n == PROC_MAX)
		return errstr_set("more than %d processes", PROC_MAX);
	if (VEC_ROOM(t->m, t->n) == -1 ||
	    (m = mem_new(1, sizeof *m)) == NULL)
		return -1;
	pthread_mutex_init(&m->lock, NULL);
	m->tree = t;
	m->snap = s;
	m->proc = p;
	m->tag = tag;
	m->seq = t->n;
	m->moment = t->moments;
	m->thread = proc_isthread(p);
	m->leader = m;
	t->m[t->n++] = m;
	return 0;
}

/*
 * Return true if m comes before the process with this pid and serial number in
 * the directory of this moment.
 */
static bool
is_before(const struct member *m, size_t moment, uint64_t pid,
    unsigned int serial)
{
	if (m->moment != moment)
		return m->moment < moment;
	return m->proc->pid != pid ? m->proc->pid < pid : m->serial < serial;
}

/*
 * Return the index in t->m of the process with this pid and serial number in
 * the directory of this moment. If there is none, return the index at which it
 * would be.
 */
size_t
fstree_index(const struct fstree *t, size_t moment, uint64_t pid,
    unsigned int serial)
{
	return BISECT_WHILE(i, t->n, is_before(t->m[i], moment, pid, serial));
}

/*
 * Give serial numbers to the members with the same pid, from t->m[first] on,
 * which are those of the last moment. Warn of those in snapshot s whose pid is
 * also in another snapshot.
 */
static void
members_number(struct fstree *t, const struct snap *s, size_t first)
{
	const struct member *clash;
	char line[200];
	size_t i, n;

	SORT(t->m + first, t->n - first, member_cmp);
	clash = NULL;
	for (i = first, n = 0; i < t->n; i++) {
		t->m[i]->serial = i > first && t->m[i]->proc->pid ==
		    t->m[i - 1]->proc->pid ? t->m[i - 1]->serial + 1 : 1;
		if (t->m[i]->snap != s || t->m[i]->serial == 1)
			continue;
		if (clash == NULL)
			clash = t->m[i];
		n++;
	}
	if (n == 0 || t->warn == NULL)
		return;
	snprintf(line, sizeof line, "process %" PRIu64 " is in another "
	    "snapshot as well: here it is %" PRIu64 ".%u", clash->proc->pid,
	    clash->proc->pid, clash->serial);
	if (n > 1)
		snprintf(line + strlen(line), sizeof line - strlen(line),
		    "; and %zu others", n - 1);
	t->warn(t->arg, line);
}

/*
 * Set the leader of each thread of snapshot s to the thread's process. The
 * members of s are in t->m[first] and after it.
 */
static void
members_join(struct fstree *t, const struct snap *s, size_t first)
{
	struct member *m, *leader;
	size_t i, k;

	for (i = first; i < t->n; i++) {
		m = t->m[i];
		if (m->snap != s || !m->thread)
			continue;
		for (k = fstree_index(t, m->moment, m->proc->leader, 1);
		    k < t->n; k++) {
			leader = t->m[k];
			if (leader->proc->pid != m->proc->leader)
				break;
			if (leader->snap == s && !leader->thread)
				m->leader = leader;
		}
	}
}

/*
 * Show the snapshots that are added from now on in a directory of their own,
 * which is named by its number, from 1.
 */
void
fstree_moment(struct fstree *t)
{
	t->moments++;
}

/*
 * Add snapshot s, which must outlive the tree, to t. tag is returned with the
 * attributes of the files of s. All inode numbers given out before become
 * invalid. Return 0, or -1 with errstr set.
 */
int
fstree_add(struct fstree *t, struct snap *s, void *tag)
{
	const size_t first = fstree_index(t, t->moments, 0, 0);
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (s->proc[i]->embedded == NULL &&
		    member_add(t, s, s->proc[i], tag) == -1)
			return -1;
	members_number(t, s, first);
	members_join(t, s, first);
	return 0;
}

/*
 * Return the inode number of a file or directory of member number proc. The
 * file or directory has the given class, and index is its number within the
 * class. depth is 0 for a file, or the directory's depth plus 1.
 */
uint64_t
fsnode_ino(size_t proc, enum fsclass class, size_t depth, size_t index)
{
	return (uint64_t)proc << FS_PROC_SHIFT |
	    (uint64_t)class << (FS_INDEX_BITS + FS_DEPTH_BITS) |
	    (uint64_t)depth << FS_INDEX_BITS | index;
}

/*
 * Return true if a small file called name can be shown. Its name must be valid,
 * and not one of the names in fsown.
 */
static bool
small_shown(const char *name)
{
	return SEEK(fsown, FSOWN_MAX, strcmp(name, x->name) == 0) == NULL &&
	    text_isname(name, strlen(name));
}

/*
 * Return true if member m has file number i, which is one of enum fsfile or a
 * small file.
 */
bool
member_hasfile(struct member *m, size_t i)
{
	switch (i) {
	case FILE_CTL:
	case FILE_MEM:
		return true;
	case FILE_TEXT:
		return m->leader->proc->text != NULL;
	case FILE_CORE:
		if (m->thread)
			return false;
		member_need(m, PART_CORE);
		return m->core != NULL;
	default:
		return i - FILE_SMALL < m->proc->nfile &&
		    small_shown(m->proc->file[i - FILE_SMALL].name);
	}
}

/*
 * Return true if m has a directory of CRIU images. It has one if its parent is
 * not in the snapshot, or if its record has the images of a checkpoint.
 */
static bool
member_isroot(struct member *m)
{
	struct recfile f;

	if (m->thread)
		return false;
	member_need(m, PART_RECORD);
	return linuxrec_find(&m->record, "criu/" INVENTORY, &f) ||
	    roots_have(m->tree, m->snap, m->proc->pid);
}

/*
 * Return true if m has a directory of the given class: map/, linux/, root/ or
 * criu/.
 */
bool
member_hasdir(struct member *m, enum fsclass class)
{
	if (class == FS_LINUX)
		return member_paths(m, class).n > 0;
	if (m->thread)
		return false;
	if (class == FS_ROOT)
		return member_paths(m, class).n > 0;
	if (class == FS_CRIU)
		return member_isroot(m);
	member_need(m, PART_MAPS);
	return m->vmas.n > 0;
}

/*
 * Return the number of images in the directory criu/ of m.
 */
size_t
member_images(struct member *m)
{
	size_t n;

	member_need(m, PART_IMAGES);
	n = m->view == NULL ? 0 : m->view->n;
	return n < FS_INDEX_MAX ? n : FS_INDEX_MAX;
}

static bool
node_exists(struct member *m, const struct fsnode *n)
{
	struct paths ps;

	switch (n->class) {
	case FS_PROC:
		return n->dir && n->depth == 0 && n->index == 0;
	case FS_FILE:
		return !n->dir && member_hasfile(m, n->index);
	case FS_MAP:
		return member_hasdir(m, FS_MAP) && (n->dir ? n->depth == 0 &&
		    n->index == 0 : n->index < m->vmas.n &&
		    member_hasmap(m, n->index));
	case FS_CRIU:
		return member_hasdir(m, FS_CRIU) && (n->dir ? n->depth == 0 &&
		    n->index == 0 : n->index < member_images(m));
	case FS_LINUX:
	case FS_ROOT:
		if (!member_hasdir(m, n->class))
			return false;
		ps = member_paths(m, n->class);
		return n->dir ? paths_isdir(&ps, n->depth, n->index) :
		    n->index < ps.n;
	default:
		return false;
	}
}

/*
 * Set *n to the file or directory with inode number ino in t. Return 0, or -1
 * with errstr set if there is none.
 */
int
fsnode_get(struct fstree *t, uint64_t ino, struct fsnode *n)
{
	size_t depth, proc;

	memset(n, 0, sizeof *n);
	if (ino == FSTREE_ROOT) {
		n->class = FS_TOP;
		n->dir = true;
		return 0;
	}
	proc = (size_t)(ino >> FS_PROC_SHIFT);
	n->class = (enum fsclass)(ino >> (FS_INDEX_BITS + FS_DEPTH_BITS) &
	    ((1 << FS_CLASS_BITS) - 1));
	depth = (size_t)(ino >> FS_INDEX_BITS & ((1 << FS_DEPTH_BITS) - 1));
	n->dir = depth > 0;
	n->depth = n->dir ? depth - 1 : 0;
	n->index = (size_t)(ino & (FS_INDEX_MAX - 1));
	if (n->class == FS_MOMENT) {
		proc = fstree_index(t, n->index, 0, 0);
		if (proc < t->n && t->m[proc]->moment == n->index)
			n->m = t->m[proc];
		if (n->dir && n->depth == 0 && n->index > 0 &&
		    n->index <= t->moments)
			return 0;
	} else if (proc < t->n) {
		n->m = t->m[proc];
		if (node_exists(n->m, n))
			return 0;
	}
	return errstr_set("no file has inode number %jx", (uintmax_t)ino);
}
