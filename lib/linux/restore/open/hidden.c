/*
 * Find files that their paths in /proc do not lead to. If a mount was detached
 * (umount(8) -l), or is in another mount namespace, the kernel shows paths
 * relative to that mount; and another mount may cover a file. A restored
 * process would then get another file that has this path.
 *
 * A path leads to a file if the mount at that path is the mount of the file.
 * Only if it is not, the path is looked up, because that may ask a file server.
 */
#include "bisect.h"
#include "calls.h"
#include "linux/file/file.h"
#include "opened.h"
#include "vec.h"

#include <unistd.h>

enum { MAX_SPOTS = 1024 };	/* maximum number of files in a question */

struct point {			/* a mount */
	uint64_t	 id;
	uint64_t	 parent; /* ID of the mount that this one is on */
	const char	*path;	/* borrowed; where it is mounted */
	bool		 far;	/* a lookup may ask a file server */
};

struct mountview {			/* the mounts that a process sees */
	struct point	*v;	/* the pool of the set owns it */
	size_t		 n;
	struct lproc	 proc;	/* only "mmtid" is set: a thread with the same
				   root directory */
	uint64_t	 root;	/* ID of the mount of that directory */
};

struct spot {			/* where a process has a file */
	pid_t		 pid;
	uint64_t	 start;	/* addresses of its mapping; 0: the file is the
				   current directory */
	uint64_t	 end;
};

struct spots {			/* files whose mounts are asked for */
	struct spot	 v[MAX_SPOTS];
	const char	*link[MAX_SPOTS];	/* borrowed; their paths */
	void		**cell[MAX_SPOTS];	/* borrowed; for the results */
	size_t		 n;
};

static const char fine[] = "";	/* result for a file that is not hidden */

/*
 * Return a view of the mounts in the mountinfo text, as seen by thread pid. The
 * root directory of that thread is on the mount with ID root. Return NULL if
 * memory runs out.
 */
static struct mountview *
view_make(struct live *l, const struct bytes *text, pid_t pid, uint64_t root)
{
	struct scan t = scan_begin(text->data, text->len);
	struct mountinfo m;
	struct mountview *w;
	char *path;

	if ((w = pool_new(&l->pool, 1, sizeof *w)) == NULL)
		return NULL;
	w->proc.mmtid = pid;
	w->root = root;
	while (mountinfo_next(&t, &m)) {
		path = pool_dup(&l->pool, m.point.s, scan_len(&m.point));
		if (path == NULL || POOL_ADD(&l->pool, w->v, w->n,
		    (struct point){ m.id, m.parent, text_unescape(path),
		    !localfs_canlook(&m) }) == -1)
			return NULL;
	}
	return w;
}

/*
 * Return the view of our own process, which is made once for set l. Return NULL
 * if the mounts cannot be read.
 */
static struct mountview *
view_ours(struct live *l)
{
	void **cell = live_cell(l, "our view");
	struct filemount root;
	struct bytes text;

	if (cell == NULL || *cell != NULL ||
	    call_filemount(AT_FDCWD, "/proc/self/root", &root) == -1 ||
	    root.mount == -1 ||
	    proc_read(getpid(), 0, "mountinfo", &text) == -1)
		return cell == NULL ? NULL : *cell;
	*cell = view_make(l, &text, getpid(), (uint64_t)root.mount);
	free(text.data);
	return *cell;
}

/*
 * Set w to the views in which files of process p are looked up. rec is its
 * record. Set w->own to NULL if paths of p cannot be looked up: p is in another
 * mount namespace, and its root directory is not the root of that namespace.
 */
void
hidden_begin(struct viewer *w, struct live *l, const struct lproc *p,
    const struct filelist *rec)
{
	const struct file *root = filelist_find(rec, "root");
	void **cell;

	*w = (struct viewer){ l, p, NULL, NULL };
	if (!l->opts.restore || p->core != NULL || p->mounts == NULL ||
	    p->root.ino == 0)
		return;
	w->ours = view_ours(l);
	if (ns_number(p->mmtid, "mnt") == ns_number(getpid(), "mnt")) {
		w->own = w->ours;
		return;
	}
	if (root == NULL || root->len != 1 || (cell = live_cell(l, "view %p",
	    (const void *)p->mounts)) == NULL)
		return;
	if (*cell == NULL)
		*cell = view_make(l, p->mounts, p->mmtid, p->root.mount);
	w->own = *cell;
}

static bool
is_below(const char *path, const char *dir)
{
	const size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

/*
 * Return the ID of the mount that path leads to in view w. Set *far if looking
 * up the path may ask a file server.
 */
static uint64_t
view_find(const struct mountview *w, const char *path, bool *far)
{
	const struct point *p, *next;
	uint64_t id = w->root;
	size_t i;

	next = SEEK(w->v, w->n, x->id == id);
	*far = next != NULL && next->far;
	for (i = 0; i < w->n; i++) {
		for (next = NULL, p = w->v; p < w->v + w->n; p++)
			/* a mount on / does not change the root directory of
			   a process */
			if (p->parent == id && p->path[1] != '\0' &&
			    is_below(path, p->path) && (next == NULL ||
			    strlen(p->path) < strlen(next->path)))
				next = p;
		if (next == NULL)
			break;
		id = next->id;
		*far |= next->far;
	}
	return id;
}

/*
 * Return true if path leads to the file f in view w. If the file is deleted,
 * return true if its directory is on the same device. path is modified.
 */
static bool
view_leads(const struct mountview *w, char *path, bool deleted,
    const struct filemount *f)
{
	struct filemount m;
	bool leads;
	int fd;

	if (deleted)
		strrchr(path, '/')[1] = '\0';
	if ((fd = file_walk(&w->proc, path)) == -1)
		return false;
	leads = call_filemount(fd, "", &m) == 0 && m.dev == f->dev &&
	    (deleted || m.ino == f->ino);
	close(fd);
	return leads;
}

static bool
view_has(const struct mountview *w, uint64_t mount)
{
	return w != NULL && SEEK(w->v, w->n, x->id == mount) != NULL;
}

/*
 * Return the reason why file f of the process of w cannot be opened by its
 * path, or NULL if it can, or if this is not known. link is the link to the
 * file in /proc.
 */
const char *
hidden_why(const struct viewer *w, const char *link, const struct filemount *f)
{
	const uint64_t mount = (uint64_t)f->mount;
	const size_t n = path_stem(link);
	char path[PATH_MAX];
	bool far;

	if (w->own == NULL || *link != '/' || n >= sizeof path)
		return NULL;
	snprintf(path, sizeof path, "%.*s", (int)n, link);
	if (view_find(w->own, path, &far) == mount || (w->ours != NULL &&
	    view_find(w->ours, path, &far) == mount) ||
	    view_leads(w->own, path, link[n] != '\0', f))
		return NULL;
	return view_has(w->own, mount) || view_has(w->ours, mount) ?
	    "a file that another mount covers" :
	    "a file of a mount that is detached or in another namespace";
}

/*
 * Return true if f, a file of the process of w, is in the directory of a
 * process in /proc, and no longer exists there, for example because that
 * process has ended. link is as in hidden_why().
 */
bool
hidden_ended(const struct viewer *w, const char *link,
    const struct filemount *f)
{
	char path[PATH_MAX];

	if (w->own == NULL || strncmp(link, "/proc/", 6) != 0 ||
	    link[6] < '1' || link[6] > '9')
		return false;
	snprintf(path, sizeof path, "%.*s", (int)path_stem(link), link);
	return !view_leads(w->own, path, false, f);
}

/*
 * In the proxy, answer with a struct filemount for each struct spot in the
 * argument. If it is not known, its member "mount" is -1.
 */
static int
spots_serve(struct serving *s)
{
	const size_t n = s->len / sizeof(struct spot);
	struct filemount f;
	struct spot p;
	char path[96];
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&p, (const uint8_t *)s->arg + i * sizeof p, sizeof p);
		if (p.end == 0)
			snprintf(path, sizeof path, "/proc/%d/cwd", p.pid);
		else
			snprintf(path, sizeof path,
			    "/proc/%d/map_files/%jx-%jx", p.pid,
			    (uintmax_t)p.start, (uintmax_t)p.end);
		memset(&f, 0, sizeof f);
		if (call_filemount(AT_FDCWD, path, &f) == -1)
			f.mount = -1;
		serve_put(s, &f, sizeof f);
	}
	return 0;
}

/*
 * Make the proxy look at the spots in q, set the results, and empty q. If it
 * gives no answer, no file is hidden.
 */
static void
spots_ask(const struct viewer *w, struct spots *q)
{
	struct filemount f[MAX_SPOTS];
	char what[64];
	const struct proxy_key k = { KEY_OPEN, (uint64_t)w->proc->mmtid << 32 |
	    UINT32_MAX, what, 0 };
	const char *why;
	size_t i;
	bool known;

	snprintf(what, sizeof what, "process %d: its mapped files",
	    w->proc->pid);
	known = q->n > 0 && proxy_call(&k, spots_serve, q->v, q->n *
	    sizeof *q->v, -1, f, sizeof f, NULL) == (ssize_t)(q->n * sizeof *f);
	for (i = 0; i < q->n; i++) {
		why = known && f[i].mount != -1 ?
		    hidden_why(w, q->link[i], &f[i]) : NULL;
		*q->cell[i] = (void *)(uintptr_t)(why == NULL ? fine : why);
	}
	q->n = 0;
}

/*
 * Add a file of the process of w to q, unless its result is known, or a server
 * might be asked for it. v is the mapping of the file, or all zeros for the
 * current directory. link is its path, and cell the place for the result.
 */
static void
spots_add(const struct viewer *w, struct spots *q, const struct vma *v,
    const char *link, void **cell)
{
	bool far;

	if (cell == NULL || *cell != NULL)
		return;
	(void)view_find(w->own, link, &far);
	*cell = (void *)(uintptr_t)fine;
	if (far)
		return;
	q->v[q->n] = (struct spot){ w->proc->mmtid, v->start, v->end };
	q->link[q->n] = link;
	q->cell[q->n++] = cell;
	if (q->n == MAX_SPOTS)
		spots_ask(w, q);
}

/*
 * Return the place for the result for the file of mapping v. Return NULL if the
 * file has no name, or is on a mount of the kernel that is nowhere visible.
 */
static void **
map_cell(const struct viewer *w, const struct vma *v)
{
	static const char *const kernels[] = { "/memfd:", "/SYSV",
	    "/anon_hugepage", "/dev/zero (deleted)", "/[aio]" };

	return v->name[0] != '/' || SEEK_IN(kernels, strncmp(v->name, *x,
	    strlen(*x)) == 0) != NULL ? NULL : live_cell(w->live,
	    "named %p %ju %ju %s", (const void *)w->own, (uintmax_t)v->dev,
	    (uintmax_t)v->ino, v->name);
}

/*
 * Add to rec, the record of the process of w, which of its directories and
 * mapped files cannot be opened by their paths: snap-linux(6), mounts/hidden.
 * The process must be stopped.
 */
void
hidden_record(const struct viewer *w, struct filelist *rec)
{
	static struct spots q;
	const struct lproc *p = w->proc;
	const struct vmas *maps = &p->task.vma;
	const struct file *root = filelist_find(rec, "root");
	const struct vma *v, none = { 0 };
	const char *why;
	struct buf b = { 0 };
	void *cwd = NULL, **cell;
	char *link;

	if (w->own == NULL)
		return;
	link = root == NULL ? NULL : strndup((const char *)root->data,
	    root->len);
	why = link == NULL ? NULL : hidden_why(w, link, &(struct filemount){
	    .mount = (int64_t)p->root.mount, .dev = p->root.dev,
	    .ino = p->root.ino });
	if (why != NULL)
		buf_printf(&b, "root %s\n", why);
	free(link);
	if (p->task.cwd != NULL)
		spots_add(w, &q, &none, p->task.cwd, &cwd);
	for (v = maps->v; v < maps->v + maps->n; v++)
		if (v == maps->v || strcmp(v->name, v[-1].name) != 0)
			spots_add(w, &q, v, v->name, map_cell(w, v));
	spots_ask(w, &q);
	if (cwd != NULL && *(const char *)cwd != '\0')
		buf_printf(&b, "cwd %s\n", (const char *)cwd);
	for (v = maps->v; v < maps->v + maps->n; v++)
		if ((cell = map_cell(w, v)) != NULL && *cell != NULL &&
		    *(const char *)*cell != '\0')
			buf_printf(&b, "%" PRIx64 " %s\n", v->start,
			    (const char *)*cell);
	if (b.len > 0 || b.failed)
		filelist_buf(rec, "mounts/hidden", &b);
}
