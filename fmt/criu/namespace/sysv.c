/*
 * Write System V shared memory as CRIU images: ipcns-var-N.img and
 * ipcns-shm-N.img, and pagemap-shmem-ID.img for each segment.
 *
 * criu restores such memory only in an IPC namespace that it creates, where
 * segments get their old IDs and keys. So a process outside the snapshot
 * cannot share a segment, and the new namespace has nothing but the segments of
 * the processes.
 */
#include "namespace.h"
#include "bisect.h"

#include <sys/mman.h>

enum { MAX_SEGMENTS = 4096 };	/* SHMMNI from linux/shm.h */

/*
 * Return true if v is a mapping of System V shared memory.
 */
bool
makesysv_is(const struct vma *v)
{
	return v->flags & VMA_SHARED && strncmp(v->name, "/SYSV", 5) == 0;
}

static struct makesysv *
sysv_find(const struct criumake *m, uint64_t id)
{
	return SEEK(m->sysv, m->nsysv, x->v[SYSV_ID] == id);
}

/*
 * Return the embedded file with the content of a System V segment. id is the ID
 * of the segment in the IPC namespace of t. Return NULL if the snapshot has
 * none.
 */
static struct proc *
sysv_content(const struct criumake *m, const struct maketask *t, uint64_t id)
{
	const struct embedded *c;
	struct linuxrec r;
	struct recfile f, g;
	struct proc *p;
	size_t i;
	bool same;

	if (!linuxrec_find(&t->rec, "ns/ipc", &f))
		return NULL;
	for (i = 0; i < m->snap->nproc; i++) {
		p = m->snap->proc[i];
		c = p->embedded;
		if (c == NULL || c->ino != id ||
		    strncmp(c->path, "/SYSV", 5) != 0)
			continue;
		same = linuxrec_open(&r, proc_file(p, "proc")) == 0 &&
		    linuxrec_find(&r, "ns/ipc", &g) && f.len == g.len &&
		    memcmp(f.data, g.data, f.len) == 0;
		linuxrec_close(&r);
		if (same)
			return p;
	}
	return NULL;
}

/*
 * Count t's mappings of each segment, and add the count to the segment's member
 * mapped.
 */
static int
sysv_count(struct criumake *m, const struct maketask *t)
{
	struct vmas maps = { 0 };
	struct makesysv *o;
	size_t i;
	int rc;

	if ((rc = proc_vmas(t->proc, &maps)) == -1)
		errstr_wrap("process %" PRIu64, t->proc->pid);
	for (i = 0; i < maps.n && rc == 0; i++)
		if (makesysv_is(&maps.v[i]) &&
		    (o = sysv_find(m, maps.v[i].ino)) != NULL)
			o->mapped++;
	vmas_free(&maps);
	return rc;
}

/*
 * Read the segments in t's record into m->sysv, and count t's mappings of
 * segments.
 */
static int
sysv_task(struct criumake *m, const struct maketask *t)
{
	uint64_t v[SYSV_NUMBERS];
	struct makesysv *o;
	struct words w;
	int rc;

	if ((rc = maketask_words(t, "sysvipc/shm", &w)) != 1)
		return rc;
	while ((rc = words_next(&w)) == 1) {
		if (!words_form(&w, 0, "dxodddddd", v) ||
		    v[SYSV_ID] > INT32_MAX || v[SYSV_SIZE] > INT64_MAX)
			return words_bad(&w, "id key (x) mode (octal) size uid "
			    "gid cuid cgid attached");
		if (sysv_find(m, v[SYSV_ID]) != NULL)
			continue;
		if (m->nsysv == MAX_SEGMENTS)
			return errstr_set("more than %d System V shared "
			    "memory segments", MAX_SEGMENTS);
		if (POOL_ROOM(&m->pool, m->sysv, m->nsysv) == -1)
			return -1;
		o = &m->sysv[m->nsysv++];
		memset(o, 0, sizeof *o);
		memcpy(o->v, v, sizeof v);
		o->proc = sysv_content(m, t, v[SYSV_ID]);
	}
	return rc == -1 ? -1 : sysv_count(m, t);
}

/*
 * Read the segments of all processes to restore, and find a record that
 * describes their IPC namespace. Return 0, or -1 with errstr set.
 */
int
makesysv_read(struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->norder; i++)
		if (sysv_task(m, m->order[i]) == -1)
			return -1;
	return makespace_read(m);
}

/*
 * Return true if v is one of a sequence of mappings of t that cover all of
 * segment o. The mappings must be adjacent and in order, as after shmat(2). len
 * is the size of the segment in bytes, rounded up to whole pages. The caller
 * must pass the first mapping of a sequence first, since that call sets
 * o->whole.
 */
static bool
is_whole(struct makesysv *o, const struct maketask *t, const struct vma *v,
    uint64_t len)
{
	const struct vma *w, *end = t->maps.v + t->maps.n;

	if (v->off > 0)
		return o->whole == t && v->start < o->wholeend;
	for (w = v; w < end && w->start - v->start < len; w++)
		if (!makesysv_is(w) || w->ino != v->ino ||
		    w->off != w->start - v->start ||
		    (w > v && w->start != w[-1].end))
			return false;
	o->whole = w > v && w[-1].end - v->start == len ? t : NULL;
	o->wholeend = v->start + len;
	return o->whole != NULL;
}

/*
 * Return the reason why segment o, which may be NULL, cannot be restored.
 * Return NULL if it can.
 */
static const char *
segment_obstacle(const struct makesysv *o)
{
	return o == NULL ? "System V shared memory that is not in the record" :
	    o->proc == NULL ?
	    "System V shared memory that is not in the snapshot" :
	    o->v[SYSV_ATTACHED] > o->mapped ? "System V shared memory "
	    "that a process outside the snapshot has" : NULL;
}

/*
 * Set e, the entry for mapping v of t, to map System V shared memory. Return 1
 * on success, 0 if v cannot be restored (the reason is recorded), or -1 with
 * errstr set.
 */
int
makesysv_mapped(struct criumake *m, struct maketask *t, const struct vma *v,
    Criu__Vma *e)
{
	enum { DEST = 01000 };	/* SHM_DEST of linux/shm.h */
	const uint64_t page = snap_page(m->snap, t->proc);
	struct makesysv *o;
	const char *why;

	o = sysv_find(m, v->ino);
	why = segment_obstacle(o);
	if (why == NULL &&
	    !is_whole(o, t, v, (o->v[SYSV_SIZE] + page - 1) / page * page))
		why = "System V shared memory that is mapped only in part";
	if (why != NULL)
		return make_unmapped(m, t, v, WHY_SYSV, why);
	if (!o->used && o->v[SYSV_MODE] & DEST && make_note(m, t, NULL,
	    "System V shared memory %" PRIu64 " is not marked for removal "
	    "when it is restored", o->v[SYSV_ID]) == -1)
		return -1;
	o->used = true;
	if (m->lastsysv < v->ino)
		m->lastsysv = (uint32_t)v->ino;
	e->shmid = v->ino;
	e->flags |= MAP_ANONYMOUS;
	e->status |= CRIU_ANON_SHARED | CRIU_SYSVIPC;
	return 1;
}

/*
 * Return true if criu creates an IPC namespace.
 */
bool
makesysv_space(const struct criumake *m)
{
	return m->space != NULL || SEEK(m->sysv, m->nsysv,
	    segment_obstacle(x) == NULL) != NULL;
}

/* SHMMAX of linux/shm.h: ULONG_MAX - (1UL << 24) */
#define MAX_SHM	(UINT64_MAX - (1 << 24))
#define NONE	UINT64_MAX	/* not set in a new namespace */

static const struct {		/* limits of an IPC namespace */
	const char	*name;	/* path below /proc/sys */
	const char	*field;
	uint64_t	 of_new; /* value in a new namespace, or NONE */
	bool		 wide;	/* the field in the message has 64 bits */
} limit[] = {
	{ "kernel/msgmax", "msg_ctlmax", 8192, false },
	{ "kernel/msgmnb", "msg_ctlmnb", 16384, false },
	{ "kernel/msgmni", "msg_ctlmni", 32000, false },
	{ "kernel/auto_msgmni", "auto_msgmni", 0, false },
	{ "kernel/shmmax", "shm_ctlmax", MAX_SHM, true },
	{ "kernel/shmall", "shm_ctlall", MAX_SHM, true },
	{ "kernel/shmmni", "shm_ctlmni", 4096, false },
	{ "kernel/shm_rmid_forced", "shm_rmid_forced", 0, false },
	{ "fs/mqueue/queues_max", "mq_queues_max", 256, false },
	{ "fs/mqueue/msg_max", "mq_msg_max", 10, false },
	{ "fs/mqueue/msgsize_max", "mq_msgsize_max", 8192, false },
	{ "fs/mqueue/msg_default", "mq_msg_default", 10, false },
	{ "fs/mqueue/msgsize_default", "mq_msgsize_default", 8192, false },
	{ "kernel/msg_next_id", "msg_next_id", NONE, false },
	{ "kernel/sem_next_id", "sem_next_id", NONE, false },
	{ "kernel/shm_next_id", "shm_next_id", NONE, false }
};

/*
 * Set in e the limit that the current line of w gives. Skip an unknown limit.
 */
static int
limit_line(const struct words *w, Criu__IpcVar *e)
{
	uint64_t v[4];
	size_t i;

	if (strcmp(w->word[0], "kernel/sem") == 0) {
		if (!words_form(w, 1, "dddd", v))
			return words_bad(w, "kernel/sem, four numbers");
		for (i = 0; i < 4; i++)
			e->sem_ctls[i] = (uint32_t)v[i];
		return 0;
	}
	for (i = 0; i < sizeof limit / sizeof *limit; i++) {
		if (strcmp(limit[i].name, w->word[0]) != 0)
			continue;
		/* no ID is requested for the next object */
		if (limit[i].of_new == NONE && w->n > 1 &&
		    strcmp(w->word[1], "-1") == 0)
			continue;
		if (!words_form(w, 1, "d", v) ||
		    (v[0] > UINT32_MAX && !limit[i].wide))
			return words_bad(w, "name number");
		MSG_FILL(e, limit[i].field, v);
	}
	return 0;
}

/*
 * Set the limits in e to those in t's record.
 */
static int
limits_read(const struct maketask *t, Criu__IpcVar *e)
{
	struct words w;
	int rc;

	rc = maketask_words(t, "sysvipc/limits", &w);
	while (rc != -1 && (rc = words_next(&w)) == 1)
		rc = limit_line(&w, e);
	return rc;
}

/*
 * Write ipcns-var-N.img with the limits of the IPC namespace. For a limit that
 * no record has, write the value that the limit has in a new namespace.
 */
static int
limits_write(struct criumake *m)
{
	uint32_t sem[4] = { 32000, 1024000000, 500, 32000 };
	Criu__IpcVar e = CRIU__IPC_VAR__INIT;
	size_t i;

	for (i = 0; i < sizeof limit / sizeof *limit; i++)
		if (limit[i].of_new != NONE)
			MSG_FILL(&e, limit[i].field, &limit[i].of_new);
	e.sem_ctls = sem;
	e.n_sem_ctls = 4;
	for (i = 0; i < m->norder; i++)
		if (limits_read(m->order[i], &e) == -1)
			return -1;
	if (m->space != NULL && limits_read(m->space, &e) == -1)
		return -1;
	/* the limit of a single queue may have been raised above the default */
	if (e.msg_ctlmnb < m->queued)
		e.msg_ctlmnb = (uint32_t)m->queued;
	return make_message(m, CRIU_IPC_VAR, &e.base, "ipcns-var-%d.img",
	    MADE_IPC);
}

/*
 * Append segment o to im, which is ipcns-shm-N.img, and write its pages.
 */
static int
segment_write(struct criumake *m, const struct makesysv *o, struct made *im)
{
	Criu__IpcShm e = CRIU__IPC_SHM__INIT;
	Criu__IpcDesc d;

	makespace_desc(m, &d, o->v, o->v + SYSV_UID);
	e.desc = &d;
	e.size = o->v[SYSV_SIZE];
	e.has_in_pagemaps = e.in_pagemaps = true;
	criuimg_add(&im->b, &e.base);
	return makeshm_content(m, o->proc, d.id);
}

/*
 * Write the images of the IPC namespace, if criu creates one. Return 0, or -1
 * with errstr set.
 */
int
makesysv_write(struct criumake *m)
{
	struct made *im;
	size_t i;
	const char *ns;

	if (!makesysv_space(m))
		return 0;
	if (makespace_write(m) == -1 || limits_write(m) == -1)
		return -1;
	im = make_image(m, CRIU_IPC_SHM, "ipcns-shm-%d.img", MADE_IPC);
	if (im == NULL)
		return -1;
	for (i = 0; i < m->nsysv; i++)
		if (m->sysv[i].used &&
		    segment_write(m, &m->sysv[i], im) == -1)
			return -1;
	ns = maketask_text(m->root, "ns/ipc");
	return ns == NULL || strcmp(ns, IPC_FIRST) != 0 ? 0 : make_note(m,
	    m->root, NULL, "it is restored in an IPC namespace of its own, "
	    "with its System V shared memory, but without semaphores and "
	    "queues");
}
