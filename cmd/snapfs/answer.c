/*
 * Answer the requests of 9P2000 clients about the tree. Each function answers
 * the request in its argument, and returns 0 or an errno value.
 */
#include "ninep.h"
#include "bisect.h"

enum { MAX_FIDS = 8192 };	/* maximum number of fids of a connection */

#define NOFID	UINT32_MAX
#define DMDIR	0x80000000

CMP(fid_cmp, struct fid, id)
TREE_GENERATE(fids, fid, entry, fid_cmp)

static struct fid *
fid_find(struct client *c, uint64_t id)
{
	struct fid key = { .id = id };

	return RB_FIND(fids, &c->fids, &key);
}

static void
fid_free(struct client *c, struct fid *f)
{
	RB_REMOVE(fids, &c->fids, f);
	c->nfid--;
	free(f);
}

void
fids_free(struct client *c)
{
	struct fid *f;

	while ((f = RB_ROOT(&c->fids)) != NULL)
		fid_free(c, f);
}

/*
 * Let fid id be the file with inode number ino and the given name.
 */
static int
fid_set(struct client *c, uint64_t id, uint64_t ino, const char *name)
{
	struct fid *f;

	if ((f = fid_find(c, id)) == NULL) {
		if (c->nfid == MAX_FIDS)
			return EMFILE;
		if ((f = calloc(1, sizeof *f)) == NULL)
			return ENOMEM;
		f->id = id;
		RB_INSERT(fids, &c->fids, f);
		c->nfid++;
	}
	f->ino = ino;
	strlcpy(f->name, name, sizeof f->name);
	return 0;
}

/*
 * Agree on version 9P2000. A dot in the client's version precedes the name of
 * an extension, of which we know none.
 */
int
answer_version(struct client *c)
{
	static const char version[] = "9P2000";
	const size_t n = sizeof version - 1;
	const struct str *s = &c->str[0];
	bool known;

	if (c->num[0] < MSIZE_MIN)
		return EMSGSIZE;
	fids_free(c);
	c->msize = c->num[0] < MSIZE_MAX ? (size_t)c->num[0] : MSIZE_MAX;
	known = s->len >= n && memcmp(s->s, version, n) == 0 &&
	    (s->len == n || s->s[n] == '.');
	msg_put(c, c->msize, 4);
	msg_putstring(c, known ? version : "unknown");
	if (!known)
		c->msize = 0;
	return 0;
}

int
answer_attach(struct client *c)
{
	if (c->num[1] != NOFID)
		return EOPNOTSUPP;
	if (c->num[0] == NOFID || fid_find(c, c->num[0]) != NULL)
		return EBUSY;
	msg_putqid(c, FSTREE_ROOT, true);
	return fid_set(c, c->num[0], FSTREE_ROOT, "/");
}

struct search {			/* a search for an entry of a directory */
	bool		 byname;
	char		 name[NAME_MAX + 1];
	uint64_t	 ino;
};

static bool
search_entry(void *arg, const struct fsentry *e)
{
	struct search *s = arg;

	if (s->byname ? strcmp(e->name, s->name) != 0 : e->ino != s->ino)
		return true;
	s->ino = e->ino;
	strlcpy(s->name, e->name, sizeof s->name);
	return false;
}

static uint64_t
dir_parent(struct fstree *t, uint64_t dir)
{
	struct search s = { true, "..", dir };

	(void)fstree_list(t, dir, 0, search_entry, &s);
	return s.ino;
}

/*
 * Go from the directory with inode number *ino to its parent, and set name to
 * the name of the parent.
 */
static void
walk_up(struct fstree *t, uint64_t *ino, char *name)
{
	struct search s = { false, "/", dir_parent(t, *ino) };

	*ino = s.ino;
	if (s.ino != FSTREE_ROOT)
		(void)fstree_list(t, dir_parent(t, s.ino), 0, search_entry,
		    &s);
	strlcpy(name, s.name, NAME_MAX + 1);
}

/*
 * Go from the file with inode number *ino to the file s in it. Set *ino and
 * name, and put the qid. Return false if there is no such file.
 */
static bool
walk_one(struct client *c, const struct str *s, uint64_t *ino, char *name)
{
	struct fstree *t = c->sv->tree;
	struct fsattr a;
	uint64_t to;

	if (fstree_attr(t, *ino, &a) == -1 || !a.dir || s->len > NAME_MAX)
		return false;
	memcpy(name, s->s, s->len);
	name[s->len] = '\0';
	if (strlen(name) != s->len)
		return false;
	if (strcmp(name, "..") == 0)
		walk_up(t, ino, name);
	else if (fstree_lookup(t, *ino, name, &to) == 1)
		*ino = to;
	else
		return false;
	if (fstree_attr(t, *ino, &a) == -1)
		return false;
	msg_putqid(c, *ino, a.dir);
	return true;
}

int
answer_walk(struct client *c)
{
	const struct fid *from = fid_find(c, c->num[0]);
	char name[NAME_MAX + 1];
	uint64_t ino;
	size_t i;

	if (from == NULL || c->num[1] == NOFID)
		return EBADF;
	if (from->open || (c->num[1] != c->num[0] &&
	    fid_find(c, c->num[1]) != NULL))
		return EBUSY;
	ino = from->ino;
	strlcpy(name, from->name, sizeof name);
	msg_put(c, 0, 2);
	for (i = 0; i < c->nstr && walk_one(c, &c->str[i], &ino, name);)
		i++;
	if (i == 0 && c->nstr > 0)
		return ENOENT;
	msg_putat(c, HEADER, i, 2);
	return i < c->nstr ? 0 : fid_set(c, c->num[1], ino, name);
}

int
answer_open(struct client *c)
{
	enum { OREAD = 0, OEXEC = 3, OCEXEC = 32 };
	const uint64_t mode = c->num[1] & ~(uint64_t)OCEXEC;
	struct fid *f = fid_find(c, c->num[0]);
	struct fsattr a;

	if (f == NULL)
		return EBADF;
	if (f->open)
		return EBUSY;
	if (mode != OREAD && mode != OEXEC)
		return EROFS;
	if (fstree_attr(c->sv->tree, f->ino, &a) == -1)
		return ENOENT;
	f->open = true;
	f->dir = a.dir;
	msg_putqid(c, f->ino, a.dir);
	msg_put(c, 0, 4);
	return 0;
}

/*
 * Put the stat(5) of the file with inode number ino and the given name.
 */
static int
put_stat(struct client *c, uint64_t ino, const char *name)
{
	const size_t start = c->n;
	struct stat st;
	char user[16], group[16];
	bool dir;

	if (serve_stat(c->sv, ino, &st) == -1)
		return ENOENT;
	dir = S_ISDIR(st.st_mode);
	snprintf(user, sizeof user, "%u", st.st_uid);
	snprintf(group, sizeof group, "%u", st.st_gid);
	msg_put(c, 0, 2 + 2 + 4);	/* size, type and dev */
	msg_putqid(c, ino, dir);
	msg_put(c, (st.st_mode & 0777) | (dir ? DMDIR : 0), 4);
	msg_put(c, (uint64_t)st.st_atim.tv_sec, 4);
	msg_put(c, (uint64_t)st.st_mtim.tv_sec, 4);
	msg_put(c, dir ? 0 : (uint64_t)st.st_size, 8);
	msg_putstring(c, name);
	msg_putstring(c, user);
	msg_putstring(c, group);
	msg_putstring(c, user);	/* muid */
	msg_putat(c, start, c->n - start - 2, 2);
	return 0;
}

int
answer_stat(struct client *c)
{
	const struct fid *f = fid_find(c, c->num[0]);
	int rc;

	if (f == NULL)
		return EBADF;
	msg_put(c, 0, 2);
	rc = put_stat(c, f->ino, f->name);
	msg_putat(c, HEADER, c->n - HEADER - 2, 2);
	return rc;
}

struct dirread {
	struct client	*c;
	struct fid	*f;
	size_t		 end;	/* maximum size of the answer */
	bool		 full;	/* an entry did not fit */
};

static bool
dirread_entry(void *arg, const struct fsentry *e)
{
	struct dirread *d = arg;
	const size_t n = d->c->n;

	if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0 &&
	    put_stat(d->c, e->ino, e->name) == 0 && d->c->n > d->end) {
		d->c->n = n;
		d->full = true;
		return false;
	}
	d->f->pos = e->next;
	return true;
}

/*
 * Put as many entries of directory f as fit into count bytes. off is 0, or the
 * offset at which the previous read ended.
 */
static int
read_dir(struct client *c, struct fid *f, uint64_t off, size_t count)
{
	struct dirread d = { c, f, READ_HEADER + count, false };

	if (off == 0)
		f->at = f->pos = 0;
	else if (off != f->at)
		return EINVAL;
	if (fstree_list(c->sv->tree, f->ino, f->pos, dirread_entry, &d) == -1)
		return EIO;
	f->at += c->n - READ_HEADER;
	return d.full && c->n == READ_HEADER ? EMSGSIZE : 0;
}

int
answer_read(struct client *c)
{
	struct fid *f = fid_find(c, c->num[0]);
	const uint64_t off = c->num[1];
	size_t count = c->msize - READ_HEADER;
	ssize_t n;
	int rc = 0;

	if (f == NULL || !f->open)
		return EBADF;
	if (off > INT64_MAX)
		return EINVAL;
	if (c->num[2] < count)
		count = (size_t)c->num[2];
	msg_put(c, 0, 4);
	if (f->dir)
		rc = read_dir(c, f, off, count);
	else if ((n = fstree_read(c->sv->tree, f->ino, c->out + c->n, count,
	    off)) == -1)
		rc = EIO;
	else
		c->n += (size_t)n;
	msg_putat(c, HEADER, c->n - READ_HEADER, 4);
	return rc;
}

int
answer_clunk(struct client *c)
{
	struct fid *f = fid_find(c, c->num[0]);

	if (f == NULL)
		return EBADF;
	fid_free(c, f);
	return 0;
}

/*
 * Free the fid, although no file is ever removed.
 */
int
answer_remove(struct client *c)
{
	const int rc = answer_clunk(c);

	return rc != 0 ? rc : EROFS;
}
