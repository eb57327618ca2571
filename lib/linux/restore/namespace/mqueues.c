/*
 * Record POSIX message queues of an IPC namespace other than the initial one:
 * mq_overview(7). This thread has entered the namespace. The file system is
 * mounted where no process sees it, and no trace is left. A queue reports its
 * number of messages without reading one or changing its times.
 */
#include "spaces.h"

#include <sys/syscall.h>

#include <linux/mount.h>
#include <linux/mqueue.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_QUEUES = 1024 };

/*
 * Open the directory of the message queues of the IPC namespace that this
 * thread is in. Return a descriptor, or -1.
 */
static int
queues_open(void)
{
	int fs, top, dir;

	fs = (int)syscall(SYS_fsopen, "mqueue", FSOPEN_CLOEXEC);
	if (fs == -1 || (top = unseen_mount(fs, 0)) == -1)
		return -1;
	/* top is an O_PATH descriptor */
	dir = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(top);
	return dir;
}

/*
 * Append a line for the queue called name to b. The line has the number of
 * messages, and the name with blanks, control characters and backslashes in
 * octal.
 */
static void
queue_line(struct buf *b, const char *name)
{
	const unsigned char *s;
	struct mq_attr attr;
	int q;

	q = (int)syscall(SYS_mq_open, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC,
	    0, NULL);
	if (q == -1)
		return;
	if (syscall(SYS_mq_getsetattr, q, NULL, &attr) == 0) {
		buf_printf(b, "%jd /", (intmax_t)attr.mq_curmsgs);
		for (s = (const unsigned char *)name; *s != '\0'; s++)
			if (*s <= ' ' || *s == '\\' || *s == 0177)
				buf_printf(b, "\\%03o", *s);
			else
				buf_add(b, s, 1);
		buf_puts(b, "\n");
	}
	close(q);
}

/*
 * Add to l the POSIX message queues (snap-linux(6), mqueues) of the IPC
 * namespace that this thread is in, if there are any.
 */
void
mqueues_read(struct filelist *l)
{
	struct buf b = { 0 };
	struct dirent *e;
	size_t n;
	DIR *d;
	int fd;

	if ((fd = queues_open()) == -1)
		return;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	for (n = 0; n < MAX_QUEUES && (e = readdir(d)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0) {
			queue_line(&b, e->d_name);
			n++;
		}
	closedir(d);
	if (b.len > 0)
		filelist_buf(l, "mqueues", &b);
}
