/*
 * Build the record of an open file: the lines that every kind of file may have,
 * parsing of its fdinfo, and a duplicate of its descriptor.
 *
 * Some facts are available only through a descriptor. They are read from a
 * duplicate, pidfd_getfd(2), that is closed at once. Devices and regular files
 * are never duplicated, because closing one may have side effects or wait for a
 * file server. The exception is a regular file with a lease on a local file
 * system.
 */
#include "calls.h"
#include "filerec.h"

#include <sys/syscall.h>

#include <fcntl.h>
#include <unistd.h>

/* from linux/fcntl.h, which conflicts with fcntl.h */
enum { GETOWNER_UIDS = 17 };

/*
 * Set t->why to a message for the user that says why the record of t is
 * incomplete. The message is formatted as by printf(3). Only the first call for
 * t has an effect.
 */
void
tell_why(struct filerec *t, const char *fmt, ...)
{
	va_list ap;

	if (t->why[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof t->why, fmt, ap);
	va_end(ap);
}

/*
 * Append to the record of t its first line, which gives the type of the file.
 */
void
filerec_type(struct filerec *t, const char *type)
{
	buf_printf(&t->out, "type %s\n", type);
}

/*
 * Call ioctl(2) on t->dup with this request, which returns an int. Append a
 * line with key and the int to the record of t. Append nothing if the int is 0
 * or the call fails.
 */
void
filerec_ioctl(struct filerec *t, const char *key, unsigned long request)
{
	int v = 0;

	if (call_ioctl(t->dup, request, &v) == 0 && v != 0)
		buf_printf(&t->out, "%s %d\n", key, v);
}

/*
 * Read the fdinfo of file t again, or for the first time. t->link, t->mode and
 * t->rmajor are valid. Return false if the descriptor no longer exists; then
 * t->info is NULL.
 */
bool
info_read(struct filerec *t)
{
	struct bytes b;

	free(t->info);
	t->info = NULL;
	if (proc_fdinfo(t->pid, t->fd, t->link, t->mode, t->rmajor, &b) == -1)
		return false;
	fdinfo_parse(&t->fdinfo, b.data, b.len);
	t->info = strndup(b.data == NULL ? "" : (const char *)b.data, b.len);
	free(b.data);
	return t->info != NULL;
}

/*
 * Return the text after key in the first line of info that begins with key.
 * info is the text of fdinfo, or NULL. Return NULL if there is no such line.
 */
const char *
info_find(const char *info, const char *key)
{
	size_t n;

	n = strlen(key);
	for (; info != NULL && *info != '\0'; info++) {
		if (strncmp(info, key, n) == 0)
			return info + n;
		if ((info = strchr(info, '\n')) == NULL)
			break;
	}
	return NULL;
}

/*
 * Record the owner and the signal that were set for the file of t with F_SETOWN
 * and F_SETSIG of fcntl(2).
 */
static void
owner_record(struct filerec *t)
{
	struct f_owner_ex o;
	uid_t uid[2];
	int sig;

	if ((sig = fcntl(t->dup, F_GETSIG)) == -1 ||
	    fcntl(t->dup, F_GETOWN_EX, &o) == -1 || (sig == 0 && o.pid == 0))
		return;
	if (fcntl(t->dup, GETOWNER_UIDS, uid) == -1) {
		memset(uid, 0, sizeof uid);
		tell_why(t, "cannot read the user IDs of its signal owner");
	}
	buf_printf(&t->out, "owner %d %d %d %u %u\n", o.type, o.pid, sig,
	    uid[0], uid[1]);
}

/*
 * Duplicate the descriptor of t into t->dup, and record its F_SETOWN owner.
 * Return false with the reason set in t if it cannot be duplicated.
 */
bool
filerec_dup(struct filerec *t)
{
	if (t->flags & O_PATH) {
		tell_why(t, "it was opened with O_PATH");
		return false;
	}
	if (S_ISSOCK(t->mode) && t->tagged) {
		tell_why(t, "reading it would change its network class");
		return false;
	}
	t->dup = (int)syscall(SYS_pidfd_getfd, t->pidfd, t->fd, 0);
	if (t->dup == -1) {
		tell_why(t, "its descriptor cannot be duplicated");
		return false;
	}
	owner_record(t);
	return true;
}

/*
 * Return the key for asking proxy number lane about file t. Write a description
 * of the file, for messages, to buf, which has room for size bytes. The key
 * refers to buf.
 */
struct proxy_key
filerec_key(const struct filerec *t, size_t lane, char *buf, size_t size)
{
	/* both ends of a pipe share one lock */
	const struct proxy_key k = { KEY_OPEN, S_ISFIFO(t->mode) ?
	    UINT64_C(1) << 63 | t->ino : t->file->id, buf, lane };

	snprintf(buf, size, "process %d: %s", t->proc->pid, t->link);
	return k;
}

/*
 * Make proxy number lane run fn for file t, and wait for its answer. fn gets
 * the len bytes of arg, and a duplicate of descriptor fd, unless fd is -1. Set
 * *answer to the answer; the caller frees answer->data. Return 0, or -1 with
 * errstr set.
 */
int
filerec_ask(struct filerec *t, size_t lane, proxy_fn fn, const void *arg,
    size_t len, int fd, struct bytes *answer)
{
	struct bulk b = { .full = true };	/* keep the data in memory */
	char what[256];
	const struct proxy_key k = filerec_key(t, lane, what, sizeof what);

	if (proxy_fetch(&k, fn, arg, len, fd, &b) == 0)
		return bulk_finish(&b, &answer->data, &answer->len);
	bulk_free(&b);
	return -1;
}

/*
 * Append a line with the path of the file to the record of t. link is the
 * target of the file's link in /proc; a suffix " (deleted)" is left out. The
 * line is "path" and the path. If the path has a newline, the line is
 * "pathbytes" and the path in hexadecimal digits.
 */
void
filerec_path(struct filerec *t, const char *link)
{
	const size_t len = path_stem(link);

	if (memchr(link, '\n', len) == NULL) {
		buf_printf(&t->out, "path %.*s\n", (int)len, link);
		return;
	}
	buf_puts(&t->out, "pathbytes ");
	buf_hex(&t->out, link, len);
	buf_puts(&t->out, "\n");
}
