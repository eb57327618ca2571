/*
 * Answer the kernel's requests about the tree. Nothing in it ever changes, so
 * the kernel may cache all answers.
 */
#define FUSE_USE_VERSION 312

#include "calls.h"
#include "snapfs.h"

#include <sys/statvfs.h>

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <unistd.h>

enum {
	READ_SIZE = 1024 * 1024, /* preferred length of a read, in bytes */
	READ_PAGES = 256,	/* maximum length of a read, in pages: the
				   kernel's FUSE_MAX_MAX_PAGES */
	THREADS = 16
};

static const double forever = 1e8;	/* cache timeout in seconds */

static struct served *
served(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/*
 * Set *st to the attributes of file ino. Return 0, or -1 if there is no such
 * file.
 */
int
serve_stat(const struct served *sv, uint64_t ino, struct stat *st)
{
	const struct origin *o;
	struct fsattr a;

	if (fstree_attr(sv->tree, ino, &a) == -1)
		return -1;
	o = a.tag != NULL ? a.tag : &sv->root;
	memset(st, 0, sizeof *st);
	st->st_ino = ino;
	st->st_nlink = 1;
	st->st_uid = o->uid;
	st->st_gid = o->gid;
	if (a.dir)
		st->st_mode = S_IFDIR | o->mode;
	else
		st->st_mode = S_IFREG | (o->mode & (a.exec ? 0555 : 0444));
	st->st_size = (off_t)a.size;
	st->st_blocks = (blkcnt_t)(a.data / 512 + (a.data % 512 != 0));
	st->st_blksize = READ_SIZE;
	st->st_atim.tv_sec = st->st_mtim.tv_sec = st->st_ctim.tv_sec =
	    o->time;
	return 0;
}

static void
serve_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_read = ((struct served *)arg)->max_read;
	conn->max_background = 64;
	conn->congestion_threshold = 48;
	conn->max_readahead = READ_SIZE;
	conn->time_gran = 1000000000;
}

static void
serve_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	uint64_t ino;
	int n;

	n = fstree_lookup(served(req)->tree, parent, name, &ino);
	memset(&e, 0, sizeof e);
	e.attr_timeout = e.entry_timeout = forever;
	if (n == 1 && serve_stat(served(req), ino, &e.attr) == -1)
		n = -1;
	if (n == -1) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e.ino = n == 1 ? ino : 0;
	e.generation = 1;
	fuse_reply_entry(req, &e);
}

static void
serve_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	(void)fi;
	if (serve_stat(served(req), ino, &st) == -1)
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_attr(req, &st, forever);
}

/*
 * Open a file. Reads of memory bypass the page cache, because memory is large
 * and mostly read once from start to end. Other files are cached.
 */
static void
serve_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fstree *tree = served(req)->tree;
	struct stream *s;
	struct fsattr a;

	if ((fi->flags & ACCESS_MODE) != O_RDONLY) {
		fuse_reply_err(req, EROFS);
		return;
	}
	if (fstree_attr(tree, ino, &a) == -1) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fi->keep_cache = 1;
	if (a.memory) {
		if ((s = stream_new(tree, ino)) == NULL) {
			fuse_reply_err(req, ENOMEM);
			return;
		}
		fi->direct_io = 1;
		fi->fh = (uintptr_t)s;
	}
	fuse_reply_open(req, fi);
}

static void
serve_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	if (fi->fh != 0)
		stream_close((struct stream *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

static void
serve_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->cache_readdir = 1;
	fuse_reply_open(req, fi);
}

struct listing {		/* directory entries for the kernel */
	fuse_req_t	 req;
	char		*buf;	/* owned */
	size_t		 size;
	size_t		 used;
};

static bool
list_entry(void *arg, const struct fsentry *e)
{
	struct listing *l = arg;
	struct stat st;
	size_t n;

	memset(&st, 0, sizeof st);
	st.st_ino = e->ino;
	st.st_mode = e->dir ? S_IFDIR : S_IFREG;
	n = fuse_add_direntry(l->req, l->buf + l->used, l->size - l->used,
	    e->name, &st, (off_t)e->next);
	if (n > l->size - l->used)
		return false;
	l->used += n;
	return true;
}

static void
serve_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
    struct fuse_file_info *fi)
{
	struct listing l = { req, NULL, size, 0 };

	(void)fi;
	if ((l.buf = malloc(size)) == NULL)
		fuse_reply_err(req, ENOMEM);
	else if (fstree_list(served(req)->tree, ino, (uint64_t)off,
	    list_entry, &l) == -1)
		fuse_reply_err(req, ENOTDIR);
	else
		fuse_reply_buf(req, l.buf, l.used);
	free(l.buf);
}

static pthread_key_t read_key;	/* key of each thread's read buffer */

/*
 * Return a buffer of this thread for a read of size bytes, or NULL if memory
 * runs out or the kernel never reads that much at once.
 */
static uint8_t *
read_buffer(size_t size)
{
	const size_t most = READ_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *buf;

	if (size > most)
		return NULL;
	if ((buf = pthread_getspecific(read_key)) == NULL) {
		buf = malloc(most);
		(void)pthread_setspecific(read_key, buf);
	}
	return buf;
}

/*
 * Read size bytes at offset off of file ino into this thread's buffer, and
 * answer the request. A direct read, which has a lock owner, returns the bytes
 * before the first unreadable one. A read into the page cache, as for a mapped
 * file, fails instead: the kernel would mistake a short answer for the end of
 * the file. After the error, the kernel asks for single pages.
 */
static void
read_answer(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
    bool direct)
{
	struct served *sv = served(req);
	uint8_t *buf, byte;
	ssize_t n;

	if ((buf = read_buffer(size)) == NULL) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	n = fstree_read(sv->tree, ino, buf, size, (uint64_t)off);
	if (n >= 0 && (size_t)n < size && !direct &&
	    fstree_read(sv->tree, ino, &byte, 1, (uint64_t)(off + n)) != 0)
		n = -1;
	if (n == -1) {
		fuse_log(FUSE_LOG_DEBUG, "read: %s\n", snap_errstr());
		fuse_reply_err(req, EIO);
		return;
	}
	fuse_reply_buf(req, (char *)buf, (size_t)n);
}

static void
serve_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
    struct fuse_file_info *fi)
{
	struct stream *s;
	struct reading r;
	size_t n;

	if (fi->fh == 0 || fi->lock_owner == 0) {
		read_answer(req, ino, size, off, false);
		return;
	}
	s = (struct stream *)(uintptr_t)fi->fh;
	if ((n = stream_begin(s, (uint64_t)off, size, &r)) > 0)
		fuse_reply_buf(req, (const char *)r.buf, n);
	else
		read_answer(req, ino, size, off, true);
	stream_end(s, &r);
}

static void
serve_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence,
    struct fuse_file_info *fi)
{
	int64_t at;

	(void)fi;
	if (off < 0 || (at = fstree_seek(served(req)->tree, ino,
	    (uint64_t)off, whence)) < 0)
		fuse_reply_err(req, ENXIO);
	else
		fuse_reply_lseek(req, at);
}

static void
serve_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs v;

	(void)ino;
	memset(&v, 0, sizeof v);
	v.f_bsize = v.f_frsize = KB;
	v.f_blocks = served(req)->root.size / KB;
	v.f_namemax = 255;
	fuse_reply_statfs(req, &v);
}

static const struct fuse_lowlevel_ops ops = {
	.init = serve_init,
	.lookup = serve_lookup,
	.getattr = serve_getattr,
	.open = serve_open,
	.read = serve_read,
	.release = serve_release,
	.lseek = serve_lseek,
	.opendir = serve_opendir,
	.readdir = serve_readdir,
	.statfs = serve_statfs
};

/*
 * option max_read, which libfuse parses but does not pass on
 */
static const struct fuse_opt max_read[] = {
	{ "max_read=%u", offsetof(struct served, max_read), 0 },
	FUSE_OPT_KEY("max_read=", FUSE_OPT_KEY_KEEP),
	FUSE_OPT_END
};

/*
 * Return a new session with options args that serves sv and is not mounted yet.
 * Return NULL if the options are wrong; libfuse has then logged why.
 */
struct fuse_session *
serve_new(struct fuse_args *args, struct served *sv)
{
	if (fuse_opt_parse(args, sv, max_read, NULL) == -1)
		return NULL;
	if ((errno = pthread_key_create(&read_key, free)) != 0) {
		fuse_log(FUSE_LOG_ERR, "%s\n", strerror(errno));
		return NULL;
	}
	return fuse_session_new(args, &ops, sizeof ops, sv);
}

/*
 * Serve se until it is unmounted or a signal arrives. Return 0 or an errno
 * value.
 */
int
serve_loop(struct fuse_session *se)
{
	struct fuse_loop_config *cfg;
	int rc;

	if ((cfg = fuse_loop_cfg_create()) == NULL)
		return ENOMEM;
	fuse_loop_cfg_set_max_threads(cfg, THREADS);
	fuse_loop_cfg_set_idle_threads(cfg, THREADS);
	fuse_loop_cfg_set_clone_fd(cfg, 0);
	rc = fuse_session_loop_mt(se, cfg);
	fuse_loop_cfg_destroy(cfg);
	return rc < 0 ? -rc : 0;
}
