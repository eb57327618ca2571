/*
 * Write System V semaphores and message queues as CRIU images: ipcns-sem-N.img
 * and ipcns-msg-N.img. The entry of a set is followed by its values, the entry
 * of a queue by its messages, each with its bytes padded to a multiple of
 * eight.
 */
#include "namespace.h"

enum {				/* indexes of the numbers in a line of
				   sysvipc/sem or sysvipc/msg */
	OWNED_ID, OWNED_KEY, OWNED_MODE, OWNED_UID, OWNED_GID, OWNED_CUID,
	OWNED_CGID, OWNED_SIZE, OWNED_COUNT, OWNED_MAX,
	MAX_MESSAGE = 8192	/* MSGMAX: size of criu's buffer in bytes */
};

/*
 * Set the members of d that all System V objects have. v has the ID, the key
 * and the mode. owner has the user and group of the owner, then those of the
 * creator.
 */
void
makespace_desc(const struct criumake *m, Criu__IpcDesc *d, const uint64_t *v,
    const uint64_t *owner)
{
	criu__ipc_desc__init(d);
	MSG_FILL(d, "id key mode", v);
	d->uid = makeusers_uid(m, owner[0]);
	d->gid = makeusers_gid(m, owner[1]);
	d->cuid = makeusers_uid(m, owner[2]);
	d->cgid = makeusers_gid(m, owner[3]);
}

/*
 * Append the len bytes at data to b, padded with zeros to a multiple of eight.
 */
static void
filled_add(struct buf *b, const uint8_t *data, size_t len)
{
	static const uint8_t zero[8];

	buf_add(b, data, len);
	buf_add(b, zero, (8 - len % 8) % 8);
}

/*
 * Set *f to the file with the content of a System V object. The file is in t's
 * record, in the directory called folder. v has the numbers of the object. If
 * there is no such file, set f->len to 0.
 */
static void
content_find(const struct maketask *t, const char *folder,
    const uint64_t v[OWNED_MAX], struct recfile *f)
{
	char name[64];

	snprintf(name, sizeof name, "%s/%" PRIu64, folder, v[OWNED_ID]);
	if (!linuxrec_find(&t->rec, name, f))
		f->len = 0;
}

/*
 * Record that a System V object in t's IPC namespace cannot be restored. kind
 * names the kind of the object, id is its ID, and why is the reason.
 */
static int
space_refuse(struct criumake *m, const struct maketask *t, const char *kind,
    uint64_t id, const char *why)
{
	return make_refuse(m, t, NULL, WHY_SYSV, "System V %s %" PRIu64 " "
	    "in its IPC namespace: %s", kind, id, why);
}

/*
 * Parse the current line of w, which is from sysvipc/detached. Record that the
 * segment on this line cannot be restored.
 */
static int
detached_line(struct criumake *m, const struct maketask *t, struct words *w,
    struct buf *b)
{
	uint64_t v[OWNED_MAX];

	(void)b;
	if (!words_form(w, 0, "dxoddddd", v))
		return words_bad(w, "id key (x) mode (octal) uid gid cuid cgid "
		    "size");
	return space_refuse(m, t, "segment", v[OWNED_ID],
	    "no process has it attached");
}

/*
 * Parse the current line of w, which is from sysvipc/sem, and append the
 * semaphore set and its values to b.
 */
static int
semaphores_line(struct criumake *m, const struct maketask *t, struct words *w,
    struct buf *b)
{
	Criu__IpcSem e = CRIU__IPC_SEM__INIT;
	uint64_t v[OWNED_MAX];
	struct recfile f;
	Criu__IpcDesc d;

	if (!words_form(w, 0, "dxoddddd", v) || v[OWNED_SIZE] > UINT16_MAX)
		return words_bad(w, "id key (x) mode (octal) uid gid cuid cgid "
		    "count");
	content_find(t, "sysvipc/semaphores", v, &f);
	if (f.len != v[OWNED_SIZE] * 2)
		return space_refuse(m, t, "semaphore set", v[OWNED_ID],
		    "its values are not in the snapshot");
	makespace_desc(m, &d, v, v + OWNED_UID);
	e.desc = &d;
	e.nsems = (uint32_t)v[OWNED_SIZE];
	criuimg_add(b, &e.base);
	filled_add(b, f.data, f.len);
	return 0;
}

/*
 * Read the next message of f, and advance f past it. Set e to the message's
 * type and size, and *data to its bytes. Return false if there is no message or
 * it is malformed.
 */
static bool
message_next(struct recfile *f, Criu__IpcMsg *e, const uint8_t **data)
{
	const uint8_t *end;
	uint64_t type, size;
	char line[48];
	size_t n;
	int at;

	if ((end = memchr(f->data, '\n', f->len)) == NULL ||
	    (n = (size_t)(end - f->data)) >= sizeof line)
		return false;
	memcpy(line, f->data, n);
	line[n++] = '\0';
	at = 0;
	if (sscanf(line, "%" SCNu64 " %" SCNu64 "%n", &type, &size, &at) != 2 ||
	    line[at] != '\0' || size > f->len - n)
		return false;
	criu__ipc_msg__init(e);
	e->mtype = type;
	e->msize = (uint32_t)size;
	*data = f->data + n;
	n += (size_t)size;
	f->data += n;
	f->len -= n;
	return size <= UINT32_MAX;
}

/*
 * Return the reason why the messages in f cannot be restored, or NULL if they
 * can. One reason is that f does not have count messages. Set *bytes to the
 * total size of the messages.
 */
static const char *
messages_obstacle(struct recfile f, uint64_t count, uint64_t *bytes)
{
	const uint8_t *data;
	Criu__IpcMsg e;
	uint64_t i;

	for (*bytes = i = 0; f.len > 0; i++, *bytes += e.msize) {
		if (!message_next(&f, &e, &data))
			return "its messages are malformed";
		if (e.msize > MAX_MESSAGE)
			return "a message is longer than criu restores";
	}
	return i == count ? NULL : "its messages are not in the snapshot";
}

/*
 * Parse the current line of w, which is from sysvipc/msg, and append the queue
 * and its messages to b.
 */
static int
queue_line(struct criumake *m, const struct maketask *t, struct words *w,
    struct buf *b)
{
	Criu__IpcMsgQueue e = CRIU__IPC_MSG_QUEUE__INIT;
	uint64_t v[OWNED_MAX], bytes;
	const uint8_t *data;
	struct recfile f;
	Criu__IpcMsg msg;
	Criu__IpcDesc d;
	const char *why;

	if (!words_form(w, 0, "dxodddddd", v) || v[OWNED_COUNT] > UINT32_MAX)
		return words_bad(w, "id key (x) mode (octal) uid gid cuid cgid "
		    "bytes count");
	content_find(t, "sysvipc/messages", v, &f);
	if ((why = messages_obstacle(f, v[OWNED_COUNT], &bytes)) != NULL)
		return space_refuse(m, t, "queue", v[OWNED_ID], why);
	if (m->queued < bytes)
		m->queued = bytes;
	makespace_desc(m, &d, v, v + OWNED_UID);
	e.desc = &d;
	e.qbytes = (uint32_t)v[OWNED_SIZE];
	e.qnum = (uint32_t)v[OWNED_COUNT];
	criuimg_add(b, &e.base);
	while (f.len > 0 && message_next(&f, &msg, &data)) {
		criuimg_add(b, &msg.base);
		filled_add(b, data, msg.msize);
	}
	return 0;
}

/*
 * Return true if t is the init of a pid namespace and was not in snap's IPC
 * namespace.
 */
static bool
is_inits(const struct maketask *t)
{
	return maketask_isinit(t) && maketask_isapart(t, "ipc");
}

/*
 * Record that the POSIX message queue on the current line of w cannot be
 * restored, because criu mounts an empty file system for the queues. The line
 * is from the file mqueues. Record nothing if the root process is not an init:
 * the queue may still exist where criu runs.
 */
static int
mqueue_line(struct criumake *m, const struct maketask *t, struct words *w,
    struct buf *b)
{
	uint64_t waiting;

	(void)b;
	if (w->n != 2 || !number_parse(w->word[0], 'd', &waiting))
		return words_bad(w, "messages name");
	if (!is_inits(m->root))
		return 0;
	return make_refuse(m, t, NULL, WHY_MQUEUE, "POSIX message queue %s in "
	    "its IPC namespace, with %" PRIu64 " message%s", w->word[1],
	    waiting, waiting == 1 ? "" : "s");
}

/*
 * Write the images of semaphores and message queues from the record of
 * m->space. If m->space is NULL, write empty images. Record a reason for each
 * object that cannot be restored. Return 0, or -1 with errstr set.
 */
int
makespace_write(struct criumake *m)
{
	static const struct {
		const char	*name;
		uint32_t	 magic;	/* 0: no image */
		const char	*image;
		int		(*take)(struct criumake *,
				    const struct maketask *, struct words *,
				    struct buf *);
	} kind[] = {
		{ "sysvipc/detached", 0, NULL, detached_line },
		{ "sysvipc/sem", CRIU_IPC_SEM, "ipcns-sem", semaphores_line },
		{ "sysvipc/msg", CRIU_IPC_MSG, "ipcns-msg", queue_line },
		{ "mqueues", 0, NULL, mqueue_line }
	};
	const struct maketask *t = m->space;
	struct made *im = NULL;
	struct words w;
	size_t i;
	int rc;

	for (rc = 0, i = 0; rc != -1 && i < sizeof kind / sizeof *kind; i++) {
		if (kind[i].magic != 0 && (im = make_image(m, kind[i].magic,
		    "%s-%d.img", kind[i].image, MADE_IPC)) == NULL)
			return -1;
		if (t == NULL)
			continue;
		rc = maketask_words(t, kind[i].name, &w);
		while (rc != -1 && (rc = words_next(&w)) == 1)
			rc = kind[i].take(m, t, &w, im == NULL ? NULL :
			    &im->b);
	}
	return rc;
}

/*
 * Set m->space to a process whose record describes the IPC namespace, or to
 * NULL. Record a reason if the namespace could not be read. Return 0, or -1
 * with errstr set.
 */
int
makespace_read(struct criumake *m)
{
	static const char *const name[] = { "sysvipc/sem", "sysvipc/msg",
	    "sysvipc/detached", "sysvipc/limits" };
	enum { NAMES = sizeof name / sizeof *name };
	const struct maketask *t;
	size_t i, n;
	const char *why;

	/* for an init an IPC namespace counts even if it is empty */
	n = is_inits(m->root) ? NAMES : NAMES - 1;
	for (i = 0; i < n && m->space == NULL; i++)
		m->space = maketask_beside(m, m->root, "ns/ipc", name[i]);
	if (m->space != NULL || (t = maketask_beside(m, m->root, "ns/ipc",
	    "sysvipc/why")) == NULL)
		return 0;
	return (why = maketask_line(t, "sysvipc/why")) == NULL ? -1 :
	    make_refuse(m, t, NULL, WHY_SYSV, "its System V objects cannot be "
	    "read: %s", why);
}
