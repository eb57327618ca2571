/*
 * Record System V shared memory that processes have attached, and other System
 * V objects.  /proc/sysvipc/shm and the limits in /proc/sys are those of the
 * reader's IPC namespace. So this thread enters the namespace and returns,
 * once for all processes in it.
 */
#include "full.h"
#include "state/state.h"
#include "spaces.h"
#include "vec.h"

#include <fcntl.h>

/* number of the initial IPC namespace: PROC_IPC_INIT_INO of linux/proc_ns.h */
#define SPACE_FIRST	UINT64_C(4026531839)

struct sysv {			/* an IPC namespace */
	char		*shm;	/* text of /proc/sysvipc/shm */
	char		*limits; /* lines for the file "sysvipc/limits" */
	struct filelist	 rest;	/* owned; other files of the record, until
				   they are recorded; empty for the initial
				   namespace */
	bool		 recorded;
};

/*
 * Return the contents of the file at path as a string, which the caller frees,
 * or NULL.
 */
static char *
text_read(const char *path)
{
	struct buf b = { 0 };

	if (full_readfile(AT_FDCWD, path, &b) == 0)
		return buf_text(&b);
	buf_free(&b);
	return NULL;
}

/*
 * Append to b a line for each limit of the IPC namespace that this thread is
 * in. The line has the name of the limit below /proc/sys, and its values.
 */
static void
limits_read(struct buf *b)
{
	static const char *const name[] = {
		"kernel/sem", "kernel/msgmax", "kernel/msgmnb",
		"kernel/auto_msgmni", "kernel/msgmni", "kernel/shmmax",
		"kernel/shmall", "kernel/shmmni", "kernel/shm_rmid_forced",
		"fs/mqueue/queues_max", "fs/mqueue/msg_max",
		"fs/mqueue/msgsize_max", "fs/mqueue/msg_default",
		"fs/mqueue/msgsize_default", "kernel/msg_next_id",
		"kernel/sem_next_id", "kernel/shm_next_id"
	};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		setting_add(b, "/proc/sys", name[i]);
}

/*
 * Enter the IPC namespace of process p, whose number is ns, read its contents,
 * and leave it again. Return the contents, which set l owns, or NULL with
 * errstr set.
 */
static struct sysv *
sysv_read(struct live *l, const struct lproc *p, uint64_t ns)
{
	struct buf limits = { 0 };
	struct visit there;
	struct sysv *v;
	char *sem, *msg;

	if ((v = pool_new(&l->pool, 1, sizeof *v)) == NULL ||
	    visit_begin(&there, VISIT_IPC, p->mmtid) == -1)
		return NULL;
	v->shm = pool_own(&l->pool, text_read("/proc/sysvipc/shm"));
	if (v->shm == NULL)
		errstr_sys("/proc/sysvipc/shm");
	limits_read(&limits);
	v->limits = pool_own(&l->pool, buf_text(&limits));
	if (v->shm != NULL && v->limits != NULL && ns != SPACE_FIRST &&
	    p->core == NULL) {
		sem = text_read("/proc/sysvipc/sem");
		msg = text_read("/proc/sysvipc/msg");
		sysvspace_read(&v->rest, v->shm, sem, msg);
		mqueues_read(&v->rest);
		free(sem);
		free(msg);
	}
	/* if it fails: nothing in this process needs our own IPC namespace */
	(void)visit_end(&there);
	return v->shm == NULL || v->limits == NULL ? NULL : v;
}

/*
 * Return the contents of the IPC namespace of process p. They are read on the
 * first call for that namespace. Return NULL with errstr set on error.
 */
static struct sysv *
sysv_get(struct live *l, const struct lproc *p)
{
	const uint64_t ns = ns_number(p->mmtid, "ipc");
	void **v;

	if (ns == 0) {
		errstr_sys("its IPC namespace");
		return NULL;
	}
	if ((v = live_cell(l, "sysv %ju", (uintmax_t)ns)) == NULL)
		return NULL;
	if (*v == NULL)
		*v = sysv_read(l, p, ns);
	return *v;
}

/*
 * Set *g to the segment with this id in text, the contents of
 * /proc/sysvipc/shm. Return false if there is no such segment.
 */
static bool
segment_find(const char *text, int id, struct ipcsegment *g)
{
	const char *s;

	for (s = strchr(text, '\n'); s != NULL; s = strchr(s + 1, '\n'))
		if (segment_parse(s + 1, g) && g->o.id == id)
			return true;
	return false;
}

/*
 * Return true if a mapping called name can be a mapping of segment o, which has
 * the same ID. The ID alone does not prove it, because a process that moved to
 * another IPC namespace keeps its mappings. So the key in name must be that of
 * o. A segment that is marked for removal has lost its key; accept it with any
 * key in name.
 */
static bool
segment_isnamed(const struct owned *o, const char *name)
{
	const unsigned int dest = 01000; /* SHM_DEST of linux/shm.h */
	unsigned int key;

	return sscanf(name, "/SYSV%8x", &key) == 1 && (key ==
	    (unsigned int)o->key || (o->key == 0 && o->mode & dest));
}

/*
 * Add to rec, the record of process p, the System V segments that p has mapped
 * (snap-linux(6), sysvipc). t is the task of p. If p is the first process of l
 * in its IPC namespace, also add all other objects of the namespace, or the
 * reason why they cannot be read. In the initial namespace, leave the other
 * objects out.
 */
void
sysv_record(struct live *l, const struct lproc *p, const struct task *t,
    struct filelist *rec)
{
	struct sysv *v = NULL;
	struct ipcsegment g;
	struct buf b = { 0 };
	const struct vma *m;
	const uint64_t ns = ns_number(p->mmtid, "ipc");
	size_t i;
	bool record;

	/* in the initial namespace, unattached objects may belong to anyone */
	if (p->core == NULL && ns != 0 && ns != SPACE_FIRST &&
	    (v = sysv_get(l, p)) == NULL) {
		filelist_text(rec, "sysvipc/why", "%s\n", snap_errstr());
		return;
	}
	if ((record = v != NULL && !v->recorded)) {
		filelist_join(rec, &v->rest);
		v->recorded = true;
	}
	for (i = 0; i < t->vma.n; i++) {
		m = &t->vma.v[i];
		if (strncmp(m->name, "/SYSV", 5) != 0 || m->off != 0)
			continue;
		if (v == NULL && (v = sysv_get(l, p)) == NULL)
			break;
		if (!segment_find(v->shm, (int)m->ino, &g) ||
		    !segment_isnamed(&g.o, m->name))
			continue;
		buf_printf(&b, "%d %x %o %ju %u %u %u %u %ju\n", g.o.id,
		    (unsigned int)g.o.key, g.o.mode, g.size, g.o.uid, g.o.gid,
		    g.o.cuid, g.o.cgid, g.attached);
	}
	if (b.len > 0 || record)
		filelist_text(rec, "sysvipc/limits", "%s", v->limits);
	if (b.len > 0)
		filelist_buf(rec, "sysvipc/shm", &b);
}
