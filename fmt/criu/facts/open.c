/*
 * Read the open files of processes from their Linux records: the files file/ID
 * and files.
 */
#include "facts.h"
#include "bisect.h"

#include <fcntl.h>

/*
 * Find the directory that the name of socket f is relative to: f->path without
 * the name at its end. Write it to dir, which has room for size bytes. Set dir
 * to "" if the name is not a relative path. Return false if the name is
 * relative but the directory is unknown.
 */
bool
makeopen_dir(const struct makeopen *f, char *dir, size_t size)
{
	size_t n, len;

	*dir = '\0';
	if (f->namelen == 0 || f->name[0] == '\0' || f->name[0] == '/')
		return true;
	n = strnlen((const char *)f->name, f->namelen);
	len = f->path == NULL ? 0 : strlen(f->path);
	if (len < n + 1 || len - n > size || *f->path != '/' ||
	    f->path[len - n - 1] != '/' ||
	    memcmp(f->path + len - n, f->name, n) != 0)
		return false;
	snprintf(dir, size, "%.*s", (int)(len - n), f->path);
	return true;
}

/*
 * Set the path of f to f->link, another name of the file, because the name by
 * which f was opened has been deleted.
 */
static void
link_use(struct makeopen *f)
{
	const size_t n = f->path == NULL ? 0 : strlen(f->path);

	/* if the name itself ends in " (deleted)", the path lacks this end */
	f->renamed = n == 0 || strncmp(f->link, f->path, n) != 0 ||
	    strcmp(f->link + n, " (deleted)") != 0;
	f->path = f->link;
	if (makeopen_has(f, OK_DELETED))
		f->v[OK_DELETED][0] = 0;
	f->linked = true;
}

CMP2(line_cmp, struct openline, key, line)

/*
 * Parse r, the file called name in t's record, as an open file, and add the
 * open file to m->open. key is its number.
 */
static int
open_read(struct criumake *m, const struct maketask *t,
    const struct recfile *r, const char *name, uint64_t key)
{
	static uint64_t none[OPEN_NUMBERS]; /* zeros, which are never changed */
	struct makeopen *f;
	struct words w;
	enum openkey k;
	int rc;

	if (POOL_ROOM(&m->pool, m->open, m->nopen) == -1 ||
	    (f = pool_new(&m->pool, 1, sizeof *f)) == NULL)
		return -1;
	for (k = 0; k < OK_MAX; k++)
		f->v[k] = none;
	m->open[m->nopen++] = f;
	f->key = key;
	rc = words_open(&w, &m->pool, &t->rec, t->proc->pid, name);
	if (rc == 1 && !makekeys_type(f, r))
		rc = errstr_set("process %" PRIu64 ": %s: no type line",
		    t->proc->pid, name);
	while (rc != -1 && (rc = words_key(&w)) == 1)
		rc = makekeys_read(f, &w);
	SORT(f->line, f->nline, line_cmp);
	if (rc == 0 && f->link != NULL)
		link_use(f);
	return rc;
}

/*
 * Read all open files of the snapshot into m->open. Include the files of
 * processes that are not to be restored: only the record of the first process
 * that has an open file describes it. Return 0, or -1 with errstr set.
 */
int
makeopen_read(struct criumake *m)
{
	static const char prefix[] = "file/";
	struct maketask *t;
	struct recfile f;
	char name[WORDS_NAME];
	uint64_t key;
	size_t i, k;

	for (i = 0; i < m->snap->nproc; i++)
		for (t = m->task[i], k = 0; t != NULL && k < t->rec.n; k++) {
			linuxrec_get(&t->rec, k, &f);
			if (f.namelen >= sizeof name ||
			    strncmp(f.name, prefix, sizeof prefix - 1) != 0)
				continue;
			snprintf(name, sizeof name, "%.*s", (int)f.namelen,
			    f.name);
			if (!number_parse(name + sizeof prefix - 1, 'd', &key))
				return errstr_set("process %" PRIu64 ": %s: "
				    "not a number", t->proc->pid, name);
			if (open_read(m, t, &f, name, key) == -1)
				return -1;
		}
	return makefind_opens(m);
}

/*
 * Add descriptor fd, which refers to the open file numbered id, to t->fd. If
 * that file is not in the snapshot, record a reason instead.
 */
static int
fd_add(struct criumake *m, struct maketask *t, uint64_t fd, uint64_t id)
{
	struct fdinfo info;
	struct recfile text;
	struct makeopen *f;
	struct makefd *v;
	char name[32];

	if ((f = makefind_open(m, id)) == NULL)
		return make_refuse(m, t, &(struct makefd){ .fd = fd },
		    WHY_OTHER, "its open file is not in the snapshot");
	if (POOL_ROOM(&m->pool, t->fd, t->nfd) == -1)
		return -1;
	v = &t->fd[t->nfd++];
	v->fd = fd;
	snprintf(name, sizeof name, "fdinfo/%" PRIu64, fd);
	linuxrec_find(&t->rec, name, &text);
	fdinfo_parse(&info, text.data, text.len);
	v->cloexec = (info.flags & O_CLOEXEC) != 0;
	v->open = f;
	f->mount = info.mount;
	if (!f->used || t->pid < f->user->pid)
		f->user = t;
	f->used = true;
	return 0;
}

/*
 * Read the descriptors of process t, which is to be restored, into t->fd. Do
 * nothing if t shares the descriptors of another process. Mark the open files
 * of the descriptors as used. Record a reason for each descriptor that cannot
 * be restored. Return 0, or -1 with errstr set.
 */
int
makeopen_fds(struct criumake *m, struct maketask *t)
{
	struct words w;
	uint64_t n[2] = { 0 }, next;
	int rc;

	if (maketask_ended(t) || t->files != t)
		return 0;
	if ((rc = maketask_words(t, "files", &w)) == 0)
		rc = make_never(m, t, "the snapshot does not list its open "
		    "files");
	for (next = 0; rc != -1 && (rc = words_next(&w)) == 1;
	    next = n[0] + 1)
		if (!words_form(&w, 0, "dd", n) || n[0] < next ||
		    n[0] > INT32_MAX)
			return words_bad(&w, "descriptor id, ascending");
		else
			rc = fd_add(m, t, n[0], n[1]);
	return rc == -1 ? -1 : makefind_fds(m, t);
}

/*
 * Return true if f has an owner that is not to be restored, is a process group
 * without its leader, or a thread: criu opens files before it creates threads.
 * The owner receives signals for f (F_SETOWN in fcntl(2)).
 */
bool
makeopen_orphan(const struct criumake *m, const struct makeopen *f)
{
	const uint64_t pid = f->v[OK_OWNER][1];
	const struct maketask *p = maketask_find(m, pid);

	return pid != 0 && (p == NULL || !p->chosen);
}

/*
 * Set *o to the owner of f: the process or process group that receives signals
 * for f (F_SETOWN in fcntl(2)). Set no owner if f is NULL or has none, or if
 * the owner is not to be restored.
 */
static void
fown_set(const struct criumake *m, const struct makeopen *f, Criu__Fown *o)
{
	const struct maketask *t;
	const uint64_t *v;

	criu__fown__init(o);
	o->has_uid = o->has_euid = o->has_signum = o->has_pid_type =
	    o->has_pid = true;
	if (f == NULL || !makeopen_has(f, OK_OWNER) || makeopen_orphan(m, f))
		return;
	v = f->v[OK_OWNER];
	t = maketask_find(m, v[1]);
	o->pid_type = (uint32_t)v[0];
	o->pid = t == NULL ? 0 : t->pid;
	o->signum = (uint32_t)v[2];
	o->uid = makeusers_uid(m, v[3]);
	o->euid = makeusers_uid(m, v[4]);
}

/*
 * Add an entry with this type and id to files.img. Store message e in the
 * entry's field at offset off, and set the ID in e. If e has a field for the
 * owner of an open file (F_SETOWN in fcntl(2)), set it to the owner of f. f may
 * be NULL.
 */
void
makeopen_entry(struct criumake *m, const struct makeopen *f,
    enum criu_fdtype type, size_t off, uint32_t id, ProtobufCMessage *e)
{
	Criu__FileEntry entry = CRIU__FILE_ENTRY__INIT;
	const ProtobufCFieldDescriptor *to;
	Criu__Fown fown, *owner = &fown;

	fown_set(m, f, &fown);
	to = protobuf_c_message_descriptor_get_field_by_name(e->descriptor,
	    "fown");
	if (to != NULL)
		memcpy((char *)e + to->offset, &owner, sizeof owner);
	msg_fill(e, "id", (uint64_t[]){ id });
	entry.id = id;
	entry.type = type;
	memcpy((char *)&entry + off, &e, sizeof e);
	criuimg_add(m->files, &entry.base);
}
