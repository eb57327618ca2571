/*
 * Semaphores and message queues of System V, of an IPC namespace that processes
 * have for themselves: in that of the machine nothing tells whose they are.
 * This thread is in the namespace.  Nothing of what is read is changed thereby:
 * MSG_COPY of msgrcv(2) leaves a message, and the queue knows of no reader.
 */
#include "taking.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MSG_COPY
enum { MSG_COPY = 040000 };	/* linux/msg.h */
#endif

enum {
	QUEUED_MOST = 8 * 1024 * 1024, /* bytes of messages that are read */
	VALUES_MOST = 65536	/* of semaphores of a set; SEMMSL may be more */
};

union semun {			/* semctl(2) */
	int		 val;
	unsigned short	*array;
};

struct owned {			/* what all of them have: struct ipc_perm */
	int		 key;
	int		 id;
	unsigned int	 mode;
	unsigned int	 uid;
	unsigned int	 gid;
	unsigned int	 cuid;
	unsigned int	 cgid;
};

static void
owned_put(struct buf *b, const struct owned *o)
{
	buf_printf(b, "%d %x %o %u %u %u %u", o->id, (unsigned int)o->key,
	    o->mode, o->uid, o->gid, o->cuid, o->cgid);
}

/*
 * Add to l the values of n semaphores of set id, if they can be had.
 */
static void
values_read(struct filelist *l, int id, size_t n)
{
	union semun arg;
	char name[64];

	if (n > VALUES_MOST || (arg.array = calloc(n + 1,
	    sizeof *arg.array)) == NULL)
		return;
	snprintf(name, sizeof name, "sysvipc/semaphores/%d", id);
	if (semctl(id, 0, GETALL, arg) != -1)
		filelist_copy(l, name, arg.array, n * sizeof *arg.array);
	free(arg.array);
}

/*
 * Add to b a line for a set of semaphores that a line of /proc/sysvipc/sem
 * tells of, and to l its values.
 */
static void
semaphores_line(struct filelist *l, struct buf *b, const char *line)
{
	struct owned o;
	size_t n;

	if (sscanf(line, "%d %d %o %zu %u %u %u %u", &o.key, &o.id, &o.mode,
	    &n, &o.uid, &o.gid, &o.cuid, &o.cgid) != 8)
		return;
	owned_put(b, &o);
	buf_printf(b, " %zu\n", n);
	values_read(l, o.id, n);
}

/*
 * Add to l the messages of queue id, if all of them can be had: for each a line
 * with its type and size, and the bytes.  left is how many bytes may be read.
 */
static void
messages_read(struct filelist *l, int id, size_t *left)
{
	struct buf b = { 0 };
	char name[64], *msg;
	ssize_t n;
	long type, i;

	if ((msg = malloc(sizeof type + *left)) == NULL)
		return;
	for (i = 0; (n = msgrcv(id, msg, *left, i, MSG_COPY | IPC_NOWAIT)) !=
	    -1; i++) {
		memcpy(&type, msg, sizeof type);
		buf_printf(&b, "%ld %zd\n", type, n);
		buf_add(&b, msg + sizeof type, (size_t)n);
		*left -= (size_t)n;
	}
	free(msg);
	snprintf(name, sizeof name, "sysvipc/messages/%d", id);
	/* no message has that place; else it is too long for what is left */
	if (errno == ENOMSG && b.len > 0)
		filelist_buf(l, name, &b);
	else
		buf_free(&b);
}

/*
 * The same as semaphores_line of a queue, of /proc/sysvipc/msg.
 */
static void
queue_line(struct filelist *l, struct buf *b, const char *line, size_t *left)
{
	struct msqid_ds ds;
	struct owned o;
	size_t n;

	if (sscanf(line, "%d %d %o %*u %zu %*d %*d %u %u %u %u", &o.key, &o.id,
	    &o.mode, &n, &o.uid, &o.gid, &o.cuid, &o.cgid) != 8)
		return;
	if (msgctl(o.id, IPC_STAT, &ds) == -1)
		ds.msg_qbytes = 0;
	owned_put(b, &o);
	buf_printf(b, " %ju %zu\n", (uintmax_t)ds.msg_qbytes, n);
	messages_read(l, o.id, left);
}

/*
 * Add to b a line for each segment of /proc/sysvipc/shm that nobody has
 * attached: what is in it cannot be had without that.
 */
static void
segment_line(struct buf *b, const char *line)
{
	uintmax_t size, attached;
	struct owned o;

	if (sscanf(line, "%d %d %o %ju %*d %*d %ju %u %u %u %u", &o.key, &o.id,
	    &o.mode, &size, &attached, &o.uid, &o.gid, &o.cuid, &o.cgid) != 9 ||
	    attached > 0)
		return;
	owned_put(b, &o);
	buf_printf(b, " %ju\n", size);
}

static const char *
line_behind(const char *s)
{
	s = strchr(s, '\n');
	return s == NULL || s[1] == '\0' ? NULL : s + 1;
}

/*
 * Add to l what is in the IPC namespace that this thread is in, as files of the
 * record: snap(6), sysvipc.  The arguments are what /proc/sysvipc tells, each
 * with a head line, or NULL.
 */
void
sysvspace_read(struct filelist *l, const char *shm, const char *sem,
    const char *msg)
{
	struct buf b[3] = { { 0 }, { 0 }, { 0 } };
	static const char *const name[3] = { "sysvipc/detached", "sysvipc/sem",
	    "sysvipc/msg" };
	size_t i, left = QUEUED_MOST;

	while (shm != NULL && (shm = line_behind(shm)) != NULL)
		segment_line(&b[0], shm);
	while (sem != NULL && (sem = line_behind(sem)) != NULL)
		semaphores_line(l, &b[1], sem);
	while (msg != NULL && (msg = line_behind(msg)) != NULL)
		queue_line(l, &b[2], msg, &left);
	for (i = 0; i < 3; i++)
		if (b[i].len > 0)
			filelist_buf(l, name[i], &b[i]);
}
