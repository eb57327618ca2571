/*
 * Memory of System V that processes have attached.  /proc/sysvipc/shm tells of
 * it, and /proc/sys of the limits of its IPC namespace, to who is in that: this
 * thread goes there for a moment, once for all processes of a namespace.
 */
#include "full.h"
#include "state/state.h"
#include "spaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sysv {			/* of an IPC namespace */
	struct sysv	*next;	/* owned */
	char		*ns;	/* owned; as its link tells */
	char		*shm;	/* owned; /proc/sysvipc/shm */
	struct buf	 limits; /* owned; lines of the record */
	struct filelist	 rest;	/* owned; of one that is not the machine's,
				   until a record has it: */
	bool		 told;
};

struct segment_stat {		/* a line of /proc/sysvipc/shm */
	unsigned int	 key;
	int		 id;
	unsigned int	 mode;
	uintmax_t	 size;	/* bytes */
	uintmax_t	 attached; /* mappings of it, of all processes */
	unsigned int	 uid;
	unsigned int	 gid;
	unsigned int	 cuid;	/* of who created it */
	unsigned int	 cgid;
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
	char path[64], *text, *s, *next;
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++) {
		snprintf(path, sizeof path, "/proc/sys/%s", name[i]);
		if ((text = text_read(path)) == NULL)
			continue;
		buf_puts(b, name[i]);
		for (next = text; (s = strsep(&next, " \t\n")) != NULL;)
			if (*s != '\0')
				buf_printf(b, " %s", s);
		buf_puts(b, "\n");
		free(text);
	}
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
	int ns, rc;

	if ((ns = proc_open(p->mmtid, 0, "ns/ipc", O_RDONLY)) == -1)
		return errstr_sys("its IPC namespace");
	if ((rc = visit_begin(&there, VISIT_IPC, ns)) == 0) {
		if ((v->shm = text_read("/proc/sysvipc/shm")) == NULL)
			rc = errstr_sys("/proc/sysvipc/shm");
		limits_read(&v->limits);
		if (strcmp(v->ns, IPC_FIRST) != 0)
			rest_read(v);
		/* where this fails, nothing here needs another one */
		(void)visit_end(&there);
	}
	close(ns);
	return rc;
}

static void
sysv_drop(struct sysv *v)
{
	free(v->ns);
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
	struct sysv *v;
	char *ns;

	if ((ns = proc_link(p->mmtid, 0, "ns/ipc")) == NULL) {
		errstr_sys("its IPC namespace");
		return NULL;
	}
	for (v = l->sysv; v != NULL; v = v->next)
		if (strcmp(v->ns, ns) == 0) {
			free(ns);
			return v;
		}
	if ((v = calloc(1, sizeof *v)) == NULL) {
		free(ns);
		errstr_set("out of memory");
		return NULL;
	}
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
 * Set *st to what a line of text, /proc/sysvipc/shm, tells of segment id.
 * Return false if it has none.
 */
static bool
segment_find(const char *text, int id, struct segment_stat *st)
{
	const char *s;

	for (s = strchr(text, '\n'); s != NULL; s = strchr(s + 1, '\n'))
		if (sscanf(s + 1, "%d %d %o %ju %*d %*d %ju %u %u %u %u",
		    (int *)&st->key, &st->id, &st->mode, &st->size,
		    &st->attached, &st->uid, &st->gid, &st->cuid,
		    &st->cgid) == 9 && st->id == id)
			return true;
	return false;
}

/*
 * Return true if the segment is that of a mapping of this name.  Who goes to
 * another namespace keeps the memory of the one before; and one that is to be
 * removed with its last mapping has lost its key.
 */
static bool
segment_isnamed(const struct segment_stat *st, const char *name)
{
	const unsigned int dest = 01000; /* SHM_DEST of linux/shm.h */
	unsigned int key;

	return sscanf(name, "/SYSV%8x", &key) == 1 && (key == st->key ||
	    (st->key == 0 && st->mode & dest));
}

/*
 * Return true if process p is in an IPC namespace that is not the machine's.
 */
static bool
space_isown(const struct lproc *p)
{
	char *ns;
	bool own;

	ns = proc_link(p->mmtid, 0, "ns/ipc");
	own = ns != NULL && strcmp(ns, IPC_FIRST) != 0;
	free(ns);
	return own;
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
	struct segment_stat st;
	struct buf b = { 0 };
	const struct vma *m;
	size_t i;
	bool tell;

	/* what is not attached belongs to others, too */
	if (p->core == NULL && space_isown(p) && (v = sysv_get(l, p)) == NULL) {
		filelist_text(to, "sysvipc/why", "%s\n", snap_errstr());
		return;
	}
	if ((tell = v != NULL && !v->told)) {
		filelist_join(to, &v->rest);
		v->told = true;
	}
	for (i = 0; i < t->vma.n; i++) {
		m = &t->vma.v[i];
		if (strncmp(m->name, "/SYSV", 5) != 0 || m->off != 0)
			continue;
		if (v == NULL && (v = sysv_get(l, p)) == NULL)
			break;
		if (!segment_find(v->shm, (int)m->ino, &st) ||
		    !segment_isnamed(&st, m->name))
			continue;
		buf_printf(&b, "%d %x %o %ju %u %u %u %u %ju\n", st.id, st.key,
		    st.mode, st.size, st.uid, st.gid, st.cuid, st.cgid,
		    st.attached);
	}
	if (b.len > 0 || tell)
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
