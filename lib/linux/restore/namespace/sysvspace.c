/*
 * Record System V semaphores and message queues, of an IPC namespace other than
 * the initial one, where nothing shows whose they are. This thread has entered
 * the namespace. Reading changes nothing: msgrcv(2) with MSG_COPY leaves the
 * message, and does not update the queue's last reader.
 */
#include "spaces.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#ifndef MSG_COPY
enum { MSG_COPY = 040000 };	/* from linux/msg.h */
#endif

enum {			/* limits, because stopped processes wait for the
			   reads */
	MAX_QUEUED = 8 * 1024 * 1024, /* maximum size of all messages, in
					 bytes */
	MAX_MESSAGES = 2048, /* maximum number of messages: the kernel walks the
				queue for each */
	MAX_VALUES = 65536,	/* maximum number of semaphores */
	MAX_SETS = 1024,	/* maximum number of semaphore sets */
	MAX_QUEUES = 1024
};

struct reading {		/* how much of each limit is left */
	size_t		 bytes;
	size_t		 messages;
	size_t		 values;
	size_t		 sets;
	size_t		 queues;
	struct filelist	*to;	/* borrowed; list that files are added to */
};

static void
owned_put(struct buf *b, const struct owned *o)
{
	buf_printf(b, "%d %x %o %u %u %u %u", o->id, (unsigned int)o->key,
	    o->mode, o->uid, o->gid, o->cuid, o->cgid);
}

/*
 * Record the values of the n semaphores in the set with this ID, unless they
 * exceed the limits in r.
 */
static void
values_read(struct reading *r, int id, size_t n)
{
	unsigned short *v;
	char name[64];
	size_t i;
	int got;

	if (r->sets == 0 || n > r->values || (v = calloc(n + 1, sizeof *v)) ==
	    NULL)
		return;
	r->sets--;
	r->values -= n;
	snprintf(name, sizeof name, "sysvipc/semaphores/%d", id);
	/* GETALL has no limit, and a larger set may have this ID by now */
	for (i = 0; i < n && (got = semctl(id, (int)i, GETVAL)) != -1; i++)
		v[i] = (unsigned short)got;
	if (i == n)
		filelist_copy(r->to, name, v, n * sizeof *v);
	free(v);
}

/*
 * line is a line of /proc/sysvipc/sem, for a semaphore set. Append a line for
 * the set to b, and record the values of the set.
 */
static void
semaphores_line(struct reading *r, struct buf *b, const char *line)
{
	struct owned o;
	size_t n;

	if (sscanf(line, "%d %d %o %zu %u %u %u %u", &o.key, &o.id, &o.mode,
	    &n, &o.uid, &o.gid, &o.cuid, &o.cgid) != 8)
		return;
	owned_put(b, &o);
	buf_printf(b, " %zu\n", n);
	values_read(r, o.id, n);
}

/*
 * Record the messages of the queue with this ID, or none if they exceed the
 * limits in r. count is the number of messages. The record of a message is a
 * line with its type and size, followed by its bytes.
 */
static void
messages_read(struct reading *r, int id, size_t count)
{
	struct buf b = { 0 };
	char name[64], *msg;
	size_t i;
	ssize_t n;
	long type;

	if (count == 0 || r->queues == 0 || count > r->messages ||
	    (msg = malloc(sizeof type + r->bytes)) == NULL)
		return;
	r->queues--;
	r->messages -= count;
	for (i = 0; i < count; i++) {
		/* a message longer than r->bytes is an error */
		n = msgrcv(id, msg, r->bytes, (long)i, MSG_COPY | IPC_NOWAIT);
		if (n == -1)
			break;
		memcpy(&type, msg, sizeof type);
		buf_printf(&b, "%ld %zd\n", type, n);
		buf_add(&b, msg + sizeof type, (size_t)n);
		r->bytes -= (size_t)n;
	}
	free(msg);
	snprintf(name, sizeof name, "sysvipc/messages/%d", id);
	if (i == count)
		filelist_buf(r->to, name, &b);
	else
		buf_free(&b);
}

/*
 * line is a line of /proc/sysvipc/msg, for a message queue. Append a line for
 * the queue to b, and record the messages of the queue.
 */
static void
queue_line(struct reading *r, struct buf *b, const char *line)
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
	messages_read(r, o.id, n);
}

/*
 * Set *g to the segment described by line, a line of /proc/sysvipc/shm. Return
 * false if line does not describe one.
 */
bool
segment_parse(const char *line, struct ipcsegment *g)
{
	struct owned *o = &g->o;

	return sscanf(line, "%d %d %o %ju %*d %*d %ju %u %u %u %u", &o->key,
	    &o->id, &o->mode, &g->size, &g->attached, &o->uid, &o->gid,
	    &o->cuid, &o->cgid) == 9;
}

static const char *
line_behind(const char *s)
{
	s = strchr(s, '\n');
	return s == NULL || s[1] == '\0' ? NULL : s + 1;
}

/*
 * Add to l the System V objects of the IPC namespace that this thread is in, as
 * files of the record (snap-linux(6), sysvipc). shm, sem and msg are the
 * contents of the files with these names in /proc/sysvipc, with the header
 * line, or NULL.
 */
void
sysvspace_read(struct filelist *l, const char *shm, const char *sem,
    const char *msg)
{
	struct reading r = { MAX_QUEUED, MAX_MESSAGES, MAX_VALUES,
	    MAX_SETS, MAX_QUEUES, l };
	struct buf b[3] = { { 0 }, { 0 }, { 0 } };
	static const char *const name[3] = { "sysvipc/detached", "sysvipc/sem",
	    "sysvipc/msg" };
	struct ipcsegment g;
	size_t i;

	/* without contents: only a process that attaches a segment reads it */
	while (shm != NULL && (shm = line_behind(shm)) != NULL)
		if (segment_parse(shm, &g) && g.attached == 0) {
			owned_put(&b[0], &g.o);
			buf_printf(&b[0], " %ju\n", g.size);
		}
	while (sem != NULL && (sem = line_behind(sem)) != NULL)
		semaphores_line(&r, &b[1], sem);
	while (msg != NULL && (msg = line_behind(msg)) != NULL)
		queue_line(&r, &b[2], msg);
	for (i = 0; i < 3; i++)
		if (b[i].len > 0)
			filelist_buf(l, name[i], &b[i]);
}
