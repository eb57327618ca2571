/*
 * State that several processes share is in the record of the first of them. If
 * that process is left out, the files are moved to the record of the first that
 * is kept.
 */
#include "merge.h"
#include "bisect.h"
#include "digits.h"
#include "vec.h"

static const size_t nobody = SIZE_MAX;

/* files whose names end in a number by which other files refer to them */
enum kind { KIND_FILE, KIND_INODE, KIND_FILTER };

static const struct {
	const char	*prefix;
	enum kind	 kind;
} numbered[] = {
	{ "file/", KIND_FILE },
	{ "pipe/", KIND_INODE },
	{ "socket/", KIND_INODE },
	{ "stream/", KIND_INODE },
	{ "seccomp/", KIND_FILTER }
};

/*
 * Other shared files: processes share the files that begin with prefix if their
 * files called same are equal; if same is NULL, all processes of a part share
 * them.
 */
static const struct {
	const char	*prefix;
	const char	*same;
} common[] = {
	{ "cgroups/directories", "cgroup" },
	{ "cgroups/roots", "ns/cgroup" },
	{ "mounts/", "ns/mnt" },
	{ "mqueues", "ns/ipc" },
	{ "net/", "ns/net" },
	{ "netlock", "ns/net" },
	{ "sysvipc/", "ns/ipc" },
	{ "taken", NULL }
};

enum {
	NUMBERED = sizeof numbered / sizeof *numbered,
	COMMON = sizeof common / sizeof *common
};

struct shared {			/* a record file whose name ends in a number */
	uint64_t	 part;
	enum kind	 kind;
	uint64_t	 num;
	size_t		 proc;	/* index of the process whose record contains
				   the file */
	size_t		 user;	/* index of the first kept process that uses the
				   file; the constant "nobody": none */
	struct recfile	 f;
};

struct moved {			/* a file to be added to the record of
				   another process */
	size_t		 to;
	struct file	 file; /* the file's name is owned, its data borrowed */
};

struct moving {
	const struct keeping *k; /* borrowed */
	struct shared	*v;	/* owned, like "todo" and "move"; sorted */
	size_t		 n;
	size_t		*todo;	/* indexes into "v": files whose references must
				   still be followed */
	size_t		 ntodo;
	struct moved	*move;
	size_t		 nmove;
	size_t		 now;	/* index of the process whose record is being
				   changed */
};

CMP_BY(shared_cmp, struct shared, x->part != y->part ?
    ORDER(x->part, y->part) : x->kind != y->kind ? ORDER(x->kind, y->kind) :
    ORDER(x->num, y->num))

/*
 * Add to m->v those files of process i that have a name ending in a number (see
 * numbered[]).
 */
static int
shared_add(struct moving *m, size_t i)
{
	struct shared e = { .user = nobody, .proc = i,
	    .part = m->k->part[i] };
	size_t j, w;

	for (j = 0; j < m->k->rec[i].n; j++) {
		linuxrec_get(&m->k->rec[i], j, &e.f);
		for (w = 0; w < NUMBERED && !recfile_number(&e.f,
		    numbered[w].prefix, &e.num);)
			w++;
		if (w == NUMBERED)
			continue;
		e.kind = numbered[w].kind;
		if (VEC_ADD(m->v, m->n, e) == -1)
			return -1;
	}
	return 0;
}

/*
 * Record that the kept process with index user uses the files of this kind with
 * number num.
 */
static int
shared_use(struct moving *m, size_t user, enum kind kind, uint64_t num)
{
	const struct shared key = { .part = m->k->part[user], .kind = kind,
	    .num = num };
	size_t i;

	i = BISECT_WHILE(j, m->n, shared_cmp(&m->v[j], &key) < 0);
	for (; i < m->n && shared_cmp(&m->v[i], &key) == 0; i++) {
		if (m->v[i].user != nobody)
			continue;
		m->v[i].user = user;
		if (VEC_ADD(m->todo, m->ntodo, i) == -1)
			return -1;
	}
	return 0;
}

/*
 * Record that kept process i uses the objects that are listed in its file
 * called name. Each line of that file has the number of one object of this
 * kind. word is the index, counted from 0, of the word with the number.
 */
static int
lines_use(struct moving *m, size_t i, const char *name, size_t word,
    enum kind kind)
{
	struct recfile f;
	const char *s;
	size_t off, n, len;
	uint64_t num;

	linuxrec_find(&m->k->rec[i], name, &f);
	for (off = 0; line_next(f.data, f.len, &off, &s, &n);)
		if (line_number(s, n, word, &num, &len) != NULL &&
		    shared_use(m, i, kind, num) == -1)
			return -1;
	return 0;
}

/*
 * Record that a process which uses an open file also uses the objects that the
 * file refers to. These are other open files, and the data waiting in a pipe or
 * socket. e describes the open file, and e.user is the index of the process.
 */
static int
open_use(struct moving *m, struct shared e)
{
	const char *s;
	size_t off, n;
	uint64_t num;

	for (off = 0; line_next(e.f.data, e.f.len, &off, &s, &n);)
		if (line_refers(s, n, &num) &&
		    shared_use(m, e.user, KIND_FILE, num) == -1)
			return -1;
	s = recfile_value(&e.f, "ino ", &n);
	return s != NULL && digits_number(s, n, 10, &num) ?
	    shared_use(m, e.user, KIND_INODE, num) : 0;
}

/*
 * Schedule file f of a dropped process to be moved to the record of the process
 * with index dest.
 */
static int
move_file(struct moving *m, size_t dest, const struct recfile *f)
{
	struct file copy = { mem_dup(f->name, f->namelen),
	    (uint8_t *)(uintptr_t)f->data, f->len };

	if (copy.name != NULL &&
	    VEC_ADD(m->move, m->nmove, (struct moved){ dest, copy }) == 0)
		return 0;
	free(copy.name);
	return -1;
}

/*
 * Return true if name is NULL, or if processes a and b have identical files
 * called name.
 */
static bool
file_same(const struct keeping *k, size_t a, size_t b, const char *name)
{
	struct recfile x, y;

	return name == NULL || (linuxrec_find(&k->rec[a], name, &x) &&
	    linuxrec_find(&k->rec[b], name, &y) && x.len == y.len &&
	    memcmp(x.data, y.data, x.len) == 0);
}

static bool
begins(const struct recfile *f, const char *s)
{
	const size_t n = strlen(s);

	return f->namelen >= n && memcmp(f->name, s, n) == 0;
}

/*
 * Schedule each shared file of dropped process i to be moved to a kept process
 * that shares the file.
 */
static int
move_common(struct moving *m, size_t i)
{
	const struct keeping *k = m->k;
	struct recfile f;
	size_t j, w, to;

	for (j = 0; j < k->rec[i].n; j++) {
		linuxrec_get(&k->rec[i], j, &f);
		for (w = 0; w < COMMON && !begins(&f, common[w].prefix);)
			w++;
		/* attached System V segments belong to the process alone */
		if (w == COMMON || begins(&f, "sysvipc/shm"))
			continue;
		for (to = 0; to < k->n && (!k->keep[to] ||
		    k->part[to] != k->part[i] ||
		    !file_same(k, i, to, common[w].same));)
			to++;
		if (to < k->n && move_file(m, to, &f) == -1)
			return -1;
	}
	return 0;
}

CMP_BY(moved_cmp, struct moved, x->to != y->to ? ORDER(x->to, y->to) :
    strcmp(x->file.name, y->file.name))

/*
 * Find the files to move.
 */
static int
moves_find(struct moving *m)
{
	const struct keeping *k = m->k;
	const struct shared *e;
	size_t i;
	int rc = 0;

	for (i = 0; i < k->n && rc == 0; i++)
		rc = shared_add(m, i);
	SORT(m->v, m->n, shared_cmp);
	for (i = 0; i < k->n && rc == 0; i++)
		if (!k->keep[i])
			rc = move_common(m, i);
		else if ((rc = lines_use(m, i, "files", 1, KIND_FILE)) == 0)
			rc = lines_use(m, i, "seccomp-filters", 0,
			    KIND_FILTER);
	while (m->ntodo > 0 && rc == 0) {
		e = &m->v[m->todo[--m->ntodo]];
		if (e->kind == KIND_FILE)
			rc = open_use(m, *e);
	}
	for (i = 0; i < m->n && rc == 0; i++)
		if (m->v[i].user != nobody && !k->keep[m->v[i].proc])
			rc = move_file(m, m->v[i].user, &m->v[i].f);
	SORT(m->move, m->nmove, moved_cmp);
	return rc;
}

/*
 * Return the ID of the first kept process that shares the resource called key.
 * To find that process, compare IDs: all processes that share the resource have
 * the same ID in their file "shares". The n digits at num are this ID. If no
 * earlier kept process shares the resource, return the ID of the process whose
 * record is being changed.
 */
static uint64_t
shares_first(const struct moving *m, const char *key, const char *num,
    size_t n)
{
	const struct keeping *k = m->k;
	struct recfile f;
	const char *s;
	size_t i, len;

	for (i = 0; i < m->now; i++)
		if (k->keep[i] && linuxrec_find(&k->rec[i], "shares", &f) &&
		    (s = recfile_value(&f, key, &len)) != NULL && len == n &&
		    memcmp(s, num, n) == 0)
			break;
	return k->s->proc[i]->pid;
}

/*
 * Change one file in the record of a kept process. Drop CRIU images, which are
 * useful only if all processes are kept. In the file "shares", replace the IDs
 * of dropped processes. This is a recedit_fn; its arg is a struct moving.
 */
static int
record_edit(void *arg, const struct recfile *f, char *name, struct buf *b)
{
	static const char *const keys[] = { "vm ", "files ", "fs ",
	    "sighand " };
	const struct moving *m = arg;
	const char *s;
	size_t i, n;

	if (strncmp(name, "criu/", 5) == 0)
		return EDIT_DROP;
	if (strcmp(name, "shares") != 0)
		return EDIT_KEEP;
	for (i = 0; i < sizeof keys / sizeof *keys; i++)
		if ((s = recfile_value(f, keys[i], &n)) != NULL)
			buf_printf(b, "%s%" PRIu64 "\n", keys[i],
			    shares_first(m, keys[i], s, n));
	return EDIT_CHANGE;
}

/*
 * Return true if any process is dropped that is in the same part of the
 * snapshot as process i.
 */
static bool
part_cut(const struct keeping *k, size_t i)
{
	size_t j;

	for (j = 0; j < k->n && (k->keep[j] || k->part[j] != k->part[i]);)
		j++;
	return j < k->n;
}

/*
 * Change the records of the kept processes. Go from the last record to the
 * first, because changing a record may need earlier records in their old state.
 */
static int
records_change(struct moving *m)
{
	const struct keeping *k = m->k;
	struct file *more;
	size_t i, j, n;
	int rc = 0;

	if ((more = calloc(m->nmove + 1, sizeof *more)) == NULL)
		return errstr_set("out of memory");
	for (i = k->n, j = m->nmove; i-- > 0 && rc == 0;) {
		for (n = 0; j > 0 && m->move[j - 1].to == i; j--)
			if (n == 0 || strcmp(m->move[j - 1].file.name,
			    more[n - 1].name) != 0)
				more[n++] = m->move[j - 1].file;
		m->now = i;
		if (k->keep[i] && k->rec[i].n > 0 && part_cut(k, i) &&
		    linuxrec_edit(k->s->proc[i], "", record_edit, m, more,
		    n) == -1)
			rc = errstr_wrap("process %" PRIu64,
			    k->s->proc[i]->pid);
	}
	free(more);
	return rc;
}

/*
 * Change the records of the kept processes so that they do not depend on
 * dropped processes. k says which processes are kept. Return 0, or -1 with
 * errstr set.
 */
int
common_move(const struct keeping *k)
{
	struct moving m = { .k = k };
	size_t i;
	int rc;

	if ((rc = moves_find(&m)) == 0)
		rc = records_change(&m);
	for (i = 0; i < m.nmove; i++)
		free(m.move[i].file.name);
	free(m.move);
	free(m.todo);
	free(m.v);
	return rc;
}
