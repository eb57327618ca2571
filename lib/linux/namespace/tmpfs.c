/*
 * The files of a tmpfs as an archive of tar(1), which the record has: in the
 * form of POSIX.1-1988, with GNU's entries for names that are longer than 100
 * bytes.  Nothing but the kernel is asked: what is mounted on it is left out,
 * and links are not followed.
 */
#include "model.h"
#include "spaces.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK = 512,		/* bytes: all is a multiple of them */
	DEEPEST = 64,		/* directories in one another */
	NAMEMOST = 100		/* bytes of a name in a header */
};

struct linked {			/* a file that has several names */
	ino_t		 ino;
	char		*name;	/* owned; the first */
};

struct archive {
	struct buf	*to;	/* borrowed */
	size_t		 most;	/* bytes that it may have */
	size_t		 left;	/* files that are still looked at */
	int		 proc;	/* borrowed; /proc */
	dev_t		 dev;	/* of the file system */
	struct linked	*linked; /* owned */
	size_t		 nlinked;
};

/*
 * Add n bytes, and zeros up to the next block.
 */
static void
blocks_add(struct archive *a, const void *data, size_t n)
{
	static const uint8_t zero[BLOCK];

	buf_add(a->to, data, n);
	buf_add(a->to, zero, (BLOCK - n % BLOCK) % BLOCK);
}

/*
 * Put a number into a field of n bytes: octal, or where that has no room for
 * it, in base 256.
 */
static void
number_put(char *field, size_t n, uint64_t v)
{
	const bool octal = v < UINT64_C(1) << (n - 1) * 3;
	size_t i;

	for (i = octal ? n - 1 : n; i-- > 0; v >>= octal ? 3 : 8)
		field[i] = (char)(octal ? '0' + (v & 7) : v & 0xff);
	if (!octal)
		field[0] = (char)0x80;
}

/*
 * Add a header: type is that of tar(5), and link where a link leads, or "".
 */
static void
header_add(struct archive *a, const char *name, const struct stat *st,
    char type, uint64_t size, const char *link)
{
	union {
		char	 bytes[BLOCK];
		struct {
			char	 name[NAMEMOST], mode[8], uid[8], gid[8];
			char	 size[12], mtime[12], sum[8], type;
			char	 link[NAMEMOST], magic[8], uname[32];
			char	 gname[32], major[8], minor[8];
		} f;
	} h = { .bytes = { 0 } };
	unsigned int sum;
	size_t i;

	memcpy(h.f.name, name, strnlen(name, sizeof h.f.name));
	number_put(h.f.mode, sizeof h.f.mode, st->st_mode & 07777);
	number_put(h.f.uid, sizeof h.f.uid, st->st_uid);
	number_put(h.f.gid, sizeof h.f.gid, st->st_gid);
	number_put(h.f.size, sizeof h.f.size, size);
	number_put(h.f.mtime, sizeof h.f.mtime, st->st_mtim.tv_sec < 0 ? 0 :
	    (uint64_t)st->st_mtim.tv_sec);
	memset(h.f.sum, ' ', sizeof h.f.sum);
	h.f.type = type;
	memcpy(h.f.link, link, strnlen(link, sizeof h.f.link));
	memcpy(h.f.magic, "ustar  ", 8);
	if (type == '3' || type == '4') {
		number_put(h.f.major, sizeof h.f.major, major(st->st_rdev));
		number_put(h.f.minor, sizeof h.f.minor, minor(st->st_rdev));
	}
	for (sum = 0, i = 0; i < BLOCK; i++)
		sum += (unsigned char)h.bytes[i];
	snprintf(h.f.sum, sizeof h.f.sum - 1, "%06o", sum);
	blocks_add(a, h.bytes, BLOCK);
}

/*
 * Add an entry, behind those that its name and link take if they are long.
 */
static void
entry_add(struct archive *a, const char *name, const struct stat *st, char type,
    uint64_t size, const char *link)
{
	static const struct stat none = { .st_mode = 0644 };
	const char *const s[] = { link, name };
	size_t i, n;

	for (i = 0; i < 2; i++) {
		if ((n = strlen(s[i])) <= NAMEMOST)
			continue;
		header_add(a, "././@LongLink", &none, i == 0 ? 'K' : 'L', n + 1,
		    "");
		blocks_add(a, s[i], n + 1);
	}
	header_add(a, name, st, type, size, link);
}

/*
 * Add the bytes of a file, so many as its header tells.  It may have become
 * shorter meanwhile, then zeros take their place.
 */
static int
bytes_add(struct archive *a, int fd, size_t size)
{
	uint8_t *p;
	size_t done, room;
	ssize_t n;

	room = (size + BLOCK - 1) / BLOCK * BLOCK;
	if ((p = buf_room(a->to, room)) == NULL)
		return errstr_set("out of memory");
	for (done = 0; done < size; done += (size_t)n) {
		n = read(fd, p + done, size - done);
		if (n == -1)
			return errstr_sys("read");
		if (n == 0)
			break;
	}
	memset(p + done, 0, room - done);
	a->to->len += room;
	return 0;
}

/*
 * Return the name under which a file of several names was added, or NULL: then
 * it has this one from here on.
 */
static const char *
linked_find(struct archive *a, ino_t ino, const char *name)
{
	size_t i;

	for (i = 0; i < a->nlinked; i++)
		if (a->linked[i].ino == ino)
			return a->linked[i].name;
	if (VEC_ROOM(a->linked, a->nlinked) == 0 &&
	    (a->linked[a->nlinked].name = strdup(name)) != NULL)
		a->linked[a->nlinked++].ino = ino;
	return NULL;
}

static int
too_large(const struct archive *a)
{
	return errstr_set("more than %zu megabytes", a->most / KB / KB);
}

/*
 * Open a regular file, and set *st to what it is: others may put a FIFO or a
 * device in its place at any time, and to open or read that does something.
 * Return its descriptor; -1 with errno, ENOENT where it is none any more.
 */
static int
file_open(const struct archive *a, int dir, const char *base, struct stat *st)
{
	char path[48];
	int at, fd, error;

	if ((at = openat(dir, base, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	fd = -1;
	errno = 0;
	if (fstat(at, st) == 0 && (!S_ISREG(st->st_mode) ||
	    st->st_dev != a->dev))
		errno = ENOENT;
	snprintf(path, sizeof path, "thread-self/fd/%d", at);
	if (errno == 0)
		fd = openat(a->proc, path, O_RDONLY | O_NOATIME | O_CLOEXEC);
	error = errno;
	close(at);
	errno = error;
	return fd;
}

/*
 * Add a regular file; of what is mounted on one, a file that is empty.
 */
static int
file_add(struct archive *a, int dir, const char *base, const char *name,
    struct stat *st)
{
	const char *first;
	int fd, rc;

	if (st->st_dev != a->dev) {
		entry_add(a, name, st, '0', 0, "");
		return 0;
	}
	if ((fd = file_open(a, dir, base, st)) == -1)
		return errno == ENOENT ? 0 : errstr_sys("%s", name);
	rc = 0;
	first = st->st_nlink > 1 ? linked_find(a, st->st_ino, name) : NULL;
	if (first != NULL)
		entry_add(a, name, st, '1', 0, first);
	else if ((uint64_t)st->st_size > a->most - a->to->len)
		rc = too_large(a);
	else {
		entry_add(a, name, st, '0', (uint64_t)st->st_size, "");
		rc = bytes_add(a, fd, (size_t)st->st_size);
	}
	close(fd);
	return rc;
}

static int
dir_add(struct archive *a, int dir, const char *name, unsigned int depth);

/*
 * Add what a directory has by the name base; its name in the archive is name.
 */
static int
any_add(struct archive *a, int dir, const char *base, const char *name,
    unsigned int depth)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd, rc;

	if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : errstr_sys("%s", name);
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		entry_add(a, name, &st, '5', 0, "");
		if (st.st_dev != a->dev)
			return 0;
		fd = openat(dir, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_NOATIME | O_CLOEXEC);
		if (fd == -1)
			return errno == ENOENT ? 0 : errstr_sys("%s", name);
		rc = dir_add(a, fd, name, depth + 1);
		close(fd);
		return rc;
	case S_IFREG:
		return file_add(a, dir, base, name, &st);
	case S_IFLNK:
		n = readlinkat(dir, base, target, sizeof target - 1);
		if (n == -1)
			return errno == ENOENT ? 0 : errstr_sys("%s", name);
		target[n] = '\0';
		entry_add(a, name, &st, '2', 0, target);
		return 0;
	case S_IFCHR:
	case S_IFBLK:
		entry_add(a, name, &st, S_ISCHR(st.st_mode) ? '3' : '4', 0, "");
		return 0;
	case S_IFIFO:
		entry_add(a, name, &st, '6', 0, "");
		return 0;
	default:		/* a socket is made by who binds it */
		return 0;
	}
}

/*
 * Add what is in directory dir, whose name ends in a slash or is that of one
 * without.
 */
static int
dir_add(struct archive *a, int dir, const char *name, unsigned int depth)
{
	const struct dirent *e;
	char *path;
	DIR *d;
	int fd, rc;

	if (depth > DEEPEST)
		return errstr_set("more than %d directories in one another",
		    DEEPEST);
	if ((fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_NOATIME |
	    O_CLOEXEC)) == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return errstr_sys("%s", name);
	}
	for (rc = 0; rc == 0 && (e = readdir(d)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (a->to->len > a->most || a->left-- == 0)
			rc = too_large(a);
		else if (asprintf(&path, "%s/%s", name, e->d_name) == -1)
			rc = errstr_set("out of memory");
		else {
			rc = any_add(a, dir, e->d_name, path, depth);
			free(path);
		}
	}
	closedir(d);
	return rc;
}

/*
 * Add to b, which is empty, an archive of all that is below directory dir, the
 * root of a tmpfs, of at most so many bytes.  proc is a descriptor of /proc.
 * Return 0, or -1 with errstr.
 */
int
tmpfs_archive(struct buf *b, int dir, int proc, size_t most)
{
	static const uint8_t end[2 * BLOCK];
	struct archive a = { .to = b, .most = most, .left = most / BLOCK,
	    .proc = proc };
	struct stat st;
	size_t i;
	int rc;

	if (fstat(dir, &st) == -1)
		return errstr_sys("stat");
	a.dev = st.st_dev;
	entry_add(&a, "./", &st, '5', 0, "");
	rc = dir_add(&a, dir, ".", 0);
	buf_add(b, end, sizeof end);
	for (i = 0; i < a.nlinked; i++)
		free(a.linked[i].name);
	free(a.linked);
	return rc == -1 ? -1 : buf_check(b);
}
