/*
 * What all kinds of open files have in common: the lines that each may have,
 * what its fdinfo says, and a duplicate of it.
 *
 * Some facts are told only to who has the file open.  They are asked of a
 * duplicate, pidfd_getfd(2), that is closed at once: never one of a device or
 * a regular file, whose close may have an effect, or wait for a server; but of
 * one that has a lease and lies on this machine.
 */
#include "calls.h"
#include "filerec.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* as in linux/fcntl.h, which does not go with fcntl.h */
enum { GETOWNER_UIDS = 17 };

/*
 * Note why file t cannot be told of in full, in words for a user, made of fmt
 * as printf(3) does: they are the line "why", and only those of the first call
 * count.
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
 * Write the line that file t begins with: of what type it is.
 */
void
filerec_type(struct filerec *t, const char *type)
{
	buf_printf(&t->out, "type %s\n", type);
}

/*
 * Tell of t, as the line key, a number that an ioctl(2) of t->dup with that
 * request gives, unless it is 0.
 */
void
filerec_ioctl(struct filerec *t, const char *key, unsigned long request)
{
	int v = 0;

	if (call_ioctl(t->dup, request, &v) == 0 && v != 0)
		buf_printf(&t->out, "%s %d\n", key, v);
}

/*
 * Find the first line of info, a text of fdinfo, that begins with key.  Return
 * what stands behind that, or NULL where there is none.
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
 * Tell of the signals that a file was asked to send, by F_SETOWN and F_SETSIG
 * of fcntl(2).
 */
static void
owner_record(struct filerec *t)
{
	struct f_owner_ex o;
	uid_t uid[2];
	int sig;

	if ((sig = fcntl(t->dup, F_GETSIG)) == -1 ||
	    fcntl(t->dup, F_GETOWN_EX, &o) == -1)
		return;
	if (sig == 0 && o.pid == 0)
		return;
	if (fcntl(t->dup, GETOWNER_UIDS, uid) == -1) {
		memset(uid, 0, sizeof uid);
		tell_why(t, "the kernel does not tell the user of its owner");
	}
	buf_printf(&t->out, "owner %d %d %d %u %u\n", o.type, o.pid, sig,
	    uid[0], uid[1]);
}

/*
 * Have a duplicate of a file in t->dup, and tell what only that tells of any
 * kind.  Return false, and say why, where there is none to be had.
 */
bool
filerec_dup(struct filerec *t)
{
	if (t->flags & O_PATH) {
		tell_why(t, "it was opened with O_PATH");
		return false;
	}
	if (S_ISSOCK(t->mode) && t->tagged) {
		tell_why(t, "its network class would change when looked at");
		return false;
	}
	t->dup = t->pidfd == -1 ? -1 : (int)syscall(SYS_pidfd_getfd, t->pidfd,
	    t->fd, 0);
	if (t->dup == -1) {
		tell_why(t, "no duplicate of it can be had");
		return false;
	}
	owner_record(t);
	return true;
}

/*
 * Return whom the proxy of a lane asks about file t: its words for a user are
 * in what, of size bytes.
 */
struct proxy_key
filerec_key(const struct filerec *t, size_t lane, char *what, size_t size)
{
	/* both ends of a pipe have one lock */
	const struct proxy_key k = { KEY_OPEN, S_ISFIFO(t->mode) ?
	    UINT64_C(1) << 63 | t->ino : t->file->id, what, lane };

	snprintf(what, size, "process %d: %s", t->proc->pid, t->link);
	return k;
}

/*
 * Have the proxy of a lane run fn with len bytes of arg and a duplicate of fd,
 * unless that is -1, to find out something of file t.  *answer is the
 * caller's.  Return 0, or -1 with errstr.
 */
int
filerec_ask(struct filerec *t, size_t lane, proxy_fn fn, const void *arg,
    size_t len, int fd, struct bytes *answer)
{
	struct bulk b = { .full = true };	/* in memory */
	char what[256];
	const struct proxy_key k = filerec_key(t, lane, what, sizeof what);
	int rc;

	if ((rc = proxy_fetch(&k, fn, arg, len, fd, &b)) == -1)
		bulk_free(&b);
	else
		rc = bulk_finish(&b, &answer->data, &answer->len);
	return rc == -1 && errno == ETIMEDOUT ?
	    errstr_set("no answer in time") : rc;
}

/*
 * Tell of t the path that the file has or had, from what its link below /proc
 * says.
 */
void
filerec_path(struct filerec *t, const char *link)
{
	size_t len, i;

	len = strlen(link);
	if (path_isdeleted(link))
		len -= sizeof DELETED - 1;
	if (memchr(link, '\n', len) == NULL) {
		buf_printf(&t->out, "path %.*s\n", (int)len, link);
		return;
	}
	buf_puts(&t->out, "pathbytes ");
	for (i = 0; i < len; i++)
		buf_printf(&t->out, "%02x", (uint8_t)link[i]);
	buf_puts(&t->out, "\n");
}
