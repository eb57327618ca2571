/*
 * Memory of System V that processes have attached.  /proc/sysvipc/shm tells of
 * it, and /proc/sys of the limits of its IPC namespace, to who is in that: this
 * thread goes there for a moment, once for all processes of a namespace.
 */
#include "full.h"
#include "state/state.h"
#include "spaces.h"
#include "vec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PROC_IPC_INIT_INO of linux/proc_ns.h: the number of the machine's */
#define SPACE_FIRST	UINT64_C(4026531839)

struct sysv {			/* of an IPC namespace */
	struct sysv	*next;	/* owned */
	uint64_t	 ns;	/* its number */
	char		*shm;	/* owned; /proc/sysvipc/shm */
	struct buf	 limits; /* owned; lines of the record */
	struct filelist	 rest;	/* owned; of one that is not the machine's,
				   until a record has it: */
	bool		 recorded;
};

/*
 * Return all of the file of a path as a string, the caller's, or NULL.
 */
static char *
text_read(const char *path)
{
	struct buf b = { 0 };
	int rc;

	rc = full_readfile(AT_FDCWD, path, &b);
	buf_add(&b, "", 1);
	if (rc == -1 || b.failed) {
		buf_free(&b);
		return NULL;
	}
	return (char *)b.data;
}

/*
 * Write to b the limits of the IPC namespace that this thread is in, a line for
 * each: its name below /proc/sys, and its numbers.
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
		"fs/mqueue/msgsize_default"
	};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		setting_add(b, "/proc/sys", name[i]);
}

/*
 * Read into v all that is in its namespace, where this thread is.
 */
static void
rest_read(struct sysv *v)
{
	char *sem, *msg;

	sem = text_read("/proc/sysvipc/sem");
	msg = text_read("/proc/sysvipc/msg");
	sysvspace_read(&v->rest, v->shm, sem, msg);
	mqueues_read(&v->rest);
	free(sem);
	free(msg);
}

/*
 * Read into v what is told in the IPC namespace of process p, and come back
 * from there.  Return 0, or -1 with errstr.
 */
static int
sysv_read(const struct lproc *p, struct sysv *v)
{
	struct visit there;
	int rc;

	if (visit_begin(&there, VISIT_IPC, p->mmtid) == -1)
		return -1;
	rc = (v->shm = text_read("/proc/sysvipc/shm")) == NULL ?
	    errstr_sys("/proc/sysvipc/shm") : 0;
	limits_read(&v->limits);
	if (v->ns != SPACE_FIRST)
		rest_read(v);
	/* where this fails, nothing here needs another one */
	(void)visit_end(&there);
	return rc;
}

static void
sysv_drop(struct sysv *v)
{
	free(v->shm);
	buf_free(&v->limits);
	filelist_free(&v->rest);
	free(v);
}

/*
 * Return what is told in the IPC namespace of process p, kept for all that are
 * in it; or NULL with errstr.
 */
static struct sysv *
sysv_get(struct live *l, const struct lproc *p)
{
	const uint64_t ns = ns_number(p->mmtid, "ipc");
	struct sysv *v;

	if (ns == 0) {
		errstr_sys("its IPC namespace");
		return NULL;
	}
	for (v = l->sysv; v != NULL; v = v->next)
		if (v->ns == ns)
			return v;
	if ((v = mem_new(1, sizeof *v)) == NULL)
		return NULL;
	v->ns = ns;
	if (sysv_read(p, v) == -1) {
		sysv_drop(v);
		return NULL;
	}
	v->next = l->sysv;
	l->sysv = v;
	return v;
}

/*
 * Set *g to what a line of text, /proc/sysvipc/shm, tells of segment id.
 * Return false if it has none.
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
 * Return true if the segment is that of a mapping of this name.  Who goes to
 * another namespace keeps the memory of the one before; and one that is to be
 * removed with its last mapping has lost its key.
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
 * Record in to the memory of System V that process p of set l has attached, as
 * the mappings of its task t tell; and with the first one of a namespace that
 * is not the machine's, all else that is there, or with each why that cannot be
 * had: snap(6), sysvipc.
 */
void
sysv_record(struct live *l, const struct lproc *p, const struct task *t,
    struct filelist *to)
{
	struct sysv *v = NULL;
	struct ipcsegment g;
	struct buf b = { 0 };
	const struct vma *m;
	const uint64_t ns = ns_number(p->mmtid, "ipc");
	size_t i;
	bool record;

	/* in the machine's, what is not attached belongs to others, too */
	if (p->core == NULL && ns != 0 && ns != SPACE_FIRST &&
	    (v = sysv_get(l, p)) == NULL) {
		filelist_text(to, "sysvipc/why", "%s\n", snap_errstr());
		return;
	}
	if ((record = v != NULL && !v->recorded)) {
		filelist_join(to, &v->rest);
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
		filelist_copy(to, "sysvipc/limits", v->limits.data,
		    v->limits.len);
	if (b.len > 0)
		filelist_buf(to, "sysvipc/shm", &b);
}

/*
 * Free what was read of set l.
 */
void
sysv_free(struct live *l)
{
	struct sysv *v;

	while ((v = l->sysv) != NULL) {
		l->sysv = v->next;
		sysv_drop(v);
	}
}
